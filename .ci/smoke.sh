#!/usr/bin/env bash
# From a table to answers with the commands of an installed wheel, away from the checkout.
#
#     .ci/smoke.sh <folder of python and assay>
set -euo pipefail
bin="$(cd "$1" && pwd)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$bin/python" -c 'import shutil, assay; shutil.copy(assay.datasets.path("titanic"), "titanic.csv")'
"$bin/assay" fit titanic.csv --target Survived --effort quick
"$bin/assay" predict titanic.assay titanic.csv --out answers.csv
"$bin/assay" inspect titanic.assay
"$bin/assay" cluster titanic.csv --n-clusters 3
for file in titanic.assay titanic.html titanic.clusters.assay titanic.clusters.csv titanic.clusters.html; do
    [ -s "$file" ] || { echo "smoke.sh: $file was not written"; exit 1; }
done
rows="$(wc -l <titanic.csv)"
for file in answers.csv titanic.clusters.csv; do
    [ "$(wc -l <"$file")" = "$rows" ] || { echo "smoke.sh: $file needs $rows lines"; exit 1; }
done
