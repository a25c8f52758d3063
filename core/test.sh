#!/usr/bin/env bash
# Builds and runs the C++ tests, without Python.
#
#     core/test.sh plain | address,undefined | thread
set -euo pipefail
cd "$(dirname "$0")/.."

if ! echo '#include <doctest/doctest.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1; then
    echo "core/test.sh: doctest is missing (Debian: doctest-dev); the C++ tests are skipped"
    exit 0
fi

# Threads meet in the same places at every CPU level, and ThreadSanitizer is slow: the build that
# any processor can run is enough for it (and is tested by it).
case "${1:-plain}" in
    plain) sanitize="" flags="-O3 -DNDEBUG" portable=OFF levels=core_ ;;
    thread) sanitize=thread flags="-Og -g1" portable=ON levels=core_baseline ;;
    *) sanitize="$1" flags="-Og -g1" portable=OFF levels=core_ ;; # -O1: half as long again to compile
esac
folder="build/test-${1:-plain}"

# Where the plain tests are built, they tell which of them start threads of the pool, and their text
# which start their own: no other can race.
files=""
plain=build/test-plain/core/tests/assay_tests
if [ "$sanitize" = thread ] && [ -x "$plain" ]; then
    for test in $(cd core/tests && echo */*.cpp); do
        threads="$(ASSAY_COUNT_THREADS=1 "$plain" --source-file="*/$test" | sed -n 's/^threads: //p')"
        if [ "$threads" != 1 ] || grep -q std::thread "core/tests/$test"; then
            files="$files;$test"
        fi
    done
    echo "core/test.sh: $(echo "$files" | tr -cd ';' | wc -c) tests start threads"
fi

cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Tests -DCMAKE_CXX_FLAGS_TESTS="$flags" \
    -DASSAY_SANITIZE="$sanitize" -DASSAY_PYTHON=OFF -DASSAY_TESTS=ON -DASSAY_WERROR="${CI:+ON}" \
    -DASSAY_PORTABLE="$portable" -DASSAY_TEST_FILES="${files#;}" --log-level=WARNING
cmake --build "$folder" --parallel "$(nproc)"
ctest --test-dir "$folder" --output-on-failure --parallel "$(nproc)" -R "$levels"
