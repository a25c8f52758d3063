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

# Plain: the level files as they are shipped (and found in the compiler's cache), the tests themselves
# at -O1, which takes two thirds of the time to compile. Under the sanitizers, asserts are on.
# Threads meet in the same places at every CPU level, and ThreadSanitizer is slow: the build that any
# processor can run is enough for it (and is tested by it). For the others the lowest level and the
# highest that the machine has; LEVELS=all is for `make test-long`.
case "${1:-plain}" in
    plain) sanitize="" flags="-O3 -DNDEBUG" own=-O1 portable=OFF levels=core_ ;;
    thread) sanitize=thread flags="-Og -g1" own="" portable=ON levels=core_baseline ;;
    *) sanitize="$1" flags="-Og -g1" own="" portable=OFF levels='core_(baseline|avx512)' ;;
esac
[ "${LEVELS:-}" != all ] || levels=core_
folder="build/tests-${1:-plain}"

# Ninja compiles where scikit-build-core does: two folders below the root. The compiler's cache sees
# paths relative to that place, so a level file is compiled once for the extension and the tests.
generator=()
! command -v ninja >/dev/null || generator=(-G Ninja)

# Where the plain tests are built, they tell which of them start threads of the pool, and their text
# which start their own: no other can race.
files=""
plain=build/tests-plain/core/tests/assay_tests
if [ "$sanitize" = thread ] && [ -x "$plain" ]; then
    for test in $(cd core/tests && echo */*.cpp); do
        threads="$(ASSAY_COUNT_THREADS=1 "$plain" --source-file="*/$test" | sed -n 's/^threads: //p')"
        if [ "$threads" != 1 ] || grep -q std::thread "core/tests/$test"; then
            files="$files;$test"
        fi
    done
    echo "core/test.sh: $(echo "$files" | tr -cd ';' | wc -c) tests start threads"
fi

cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Tests -DCMAKE_CXX_FLAGS_TESTS="$flags" \
    -DASSAY_SANITIZE="$sanitize" -DASSAY_PYTHON=OFF -DASSAY_TESTS=ON -DASSAY_WERROR="${CI:+ON}" \
    -DASSAY_TEST_FLAGS="$own" -DASSAY_PORTABLE="$portable" -DASSAY_TEST_FILES="${files#;}" --log-level=WARNING
cmake --build "$folder" --parallel "$(nproc)"
ctest --test-dir "$folder" --output-on-failure --parallel "$(nproc)" -R "$levels"
