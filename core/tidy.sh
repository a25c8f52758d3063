#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy says which checks) over all headers and level files of the core.
#
#     core/tidy.sh <folder with clang-tidy and Python>
set -euo pipefail
cd "$(dirname "$0")/.."

bin="$(cd "$1" && pwd)"
cmake -S . -B build/tidy -DASSAY_PYTHON=OFF -DASSAY_TIDY=ON -DCMAKE_CXX_COMPILER_LAUNCHER= \
    --log-level=WARNING >/dev/null
report=build/tidy/report.txt
if ! "$bin/python" "$bin/run-clang-tidy.py" -quiet -clang-tidy-binary "$bin/clang-tidy" -p build/tidy \
    -j "$(nproc)" "$PWD/build/tidy/core/tidy/" >"$report" 2>&1; then
    # Without the progress, and the count of warnings in other people's headers.
    grep -vE '^\[ *[0-9]+/[0-9]+\]|^[0-9]+ warnings? ' "$report"
    exit 1
fi
