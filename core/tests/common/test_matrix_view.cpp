#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "assay/common/matrix_view.hpp"

using assay::MatrixView;

TEST_CASE("matrix view reads rows of the caller's memory") {
    std::vector<double> values = {1, 2, 3, 4, 5, 6};
    const MatrixView<double> matrix{values.data(), 2, 3};
    CHECK(matrix(1, 0) == 4);
    CHECK(matrix.row(1).size() == 3);
    CHECK(matrix.row(1)[2] == 6);
    matrix(0, 1) = 9;
    CHECK(values[1] == 9);
}

TEST_CASE("matrix view turns into a view of constants") {
    std::vector<float> values = {1, 2};
    const MatrixView<float> matrix{values.data(), 1, 2};
    const MatrixView<const float> constant = matrix;
    CHECK(constant.data == values.data());
    CHECK(constant(0, 1) == 2);
}

TEST_CASE("matrix view middle rows share the memory") {
    std::vector<int> values = {1, 2, 3, 4, 5, 6};
    const auto middle = MatrixView<int>{values.data(), 3, 2}.middle_rows(1, 2);
    CHECK(middle.rows == 2);
    CHECK(middle(0, 0) == 3);
    CHECK(middle(1, 1) == 6);
}

TEST_CASE("matrix view visits every entry of a row in order") {
    std::vector<int> values = {1, 0, 3};
    std::vector<int> seen;
    MatrixView<int>{values.data(), 1, 3}.for_each_nonzero(
        0, [&](std::size_t j, int value) { seen.push_back(static_cast<int>(j) * 10 + value); });
    CHECK(seen == std::vector{1, 10, 23});
}

#ifndef NDEBUG
TEST_CASE("a place outside ends a build with asserts") {
    std::vector<int> values = {1, 2, 3, 4};
    const MatrixView<int> matrix{values.data(), 2, 2};
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL);
        _exit(matrix(0, 2) == 3 ? 0 : 1);  // inside the vector: no sanitizer would see it
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
}
#endif
