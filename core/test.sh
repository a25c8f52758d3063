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

case "${1:-plain}" in
    plain) sanitize="" flags="-O3 -DNDEBUG" ;;
    *) sanitize="$1" flags="-O1 -g1" ;; # -O2 with full debug information takes twice as long to compile
esac
folder="build/test-${1:-plain}"

cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Tests -DCMAKE_CXX_FLAGS_TESTS="$flags" \
    -DASSAY_SANITIZE="$sanitize" -DASSAY_PYTHON=OFF -DASSAY_TESTS=ON -DASSAY_WERROR="${CI:+ON}" --log-level=WARNING
cmake --build "$folder" --parallel "$(nproc)"
# Threads meet in the same places at every CPU level, and ThreadSanitizer is slow: one is enough.
levels=$([ "${1:-plain}" = thread ] && echo core_baseline || echo core_)
ctest --test-dir "$folder" --output-on-failure -R "$levels"
