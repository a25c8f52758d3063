// The tests' main. With ASSAY_COUNT_THREADS it also says how many threads there are at the end;
// those of the pool stay to the end.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

int main(int argc, char** argv) {
    const int failed = doctest::Context(argc, argv).run();
    if (std::getenv("ASSAY_COUNT_THREADS") != nullptr) {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& each :
             std::filesystem::directory_iterator("/proc/self/task")) {
            ++count;
        }
        std::printf("threads: %zu\n", count);
    }
    return failed;
}
