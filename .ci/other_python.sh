#!/usr/bin/env bash
# Builds the wheel with a newer Python, installs it and runs the quick tests, if there is one.
#
#     .ci/other_python.sh <the Python that the other tests ran on>
set -euo pipefail
cd "$(dirname "$0")/.."

used="$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
found=""
for version in 3.13 3.12; do
    for python in "$(command -v "python$version" || true)" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
        # It must be able to make virtual environments and have the headers to build with.
        if [ -z "$found" ] && [ "$version" != "$used" ] && [ -x "$python" ] && "$python" -c \
            'import ensurepip, os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
            found="$python"
        fi
    done
done
if [ -z "$found" ]; then
    echo "other_python.sh: skipped, neither Python 3.13 nor 3.12 is here (besides $used)"
    exit 0
fi

"$found" --version
venv=build/other-venv
rm -rf "$venv" build/other-dist
"$found" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check -q)
"$found" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
    >build/requires.txt
"${pip[@]}" install -r build/requires.txt 'ninja>=1.11'
"${pip[@]}" wheel . --no-deps --no-build-isolation -w build/other-dist -C build-dir=build/other
"${pip[@]}" install build/other-dist/*.whl 'pytest>=8' 'hypothesis>=6.100'
"$venv/bin/pytest" -q -p no:cacheprovider tests/test_import.py tests/core tests/golden
.ci/smoke.sh "$venv/bin"
