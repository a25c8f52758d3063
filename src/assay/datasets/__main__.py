"""``python -m assay.datasets titanic`` prints a bundled table as CSV."""

from __future__ import annotations

import sys

from assay.base import ParameterError
from assay.datasets._bundled import path

USAGE = "usage: python -m assay.datasets {pca_example,penguins,restaurant,titanic} > TABLE.csv"


def main(arguments: list[str]) -> int:
    """Print the table named; return 64 if there is no such table, as the command line does."""
    if len(arguments) != 1:
        print(USAGE, file=sys.stderr)
        return 64
    try:
        content = path(arguments[0]).read_bytes()
    except ParameterError as error:
        print(f"{USAGE}\nerror: {error}", file=sys.stderr)
        return 64
    sys.stdout.buffer.write(content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
