"""What `fit` and `cluster` tell in the same words: the table, the files, the digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from assay.cli._errors import printable
from assay.cli._files import size_text


def table_summary(
    record: Mapping[str, Any], files: Mapping[str, Path], digest: str
) -> dict[str, Any]:
    """Return the part of the JSON summary that is the same for every command that reads a table."""
    dropped = record["rows"]["dropped"]
    return {
        "rows": {
            "read": record["rows"]["read"],
            "used": record["rows"]["used"],
            "dropped": sum(entry["count"] for entry in dropped),
            "reasons": dropped,
        },
        "columns": [
            {name: column.get(name) for name in ("name", "kind", "role", "reason")}
            for column in record["columns"]
        ],
        "files": {name: str(path) for name, path in files.items()},
        "digest": digest,
        "table_digest": record["digest"],
    }


def show_table(table: dict[str, Any]) -> None:
    """Print what was read."""
    from assay.report import overview_text  # noqa: PLC0415

    click.echo(overview_text(table))


def show_found(text: str, files: Iterable[tuple[Path, str]], digest: str) -> None:
    """Print the result, then each file with its size and use, then the digest of the model."""
    click.echo()
    click.echo(text)
    click.echo()
    listed = list(files)
    width = max(len(str(path)) for path, _ in listed)
    for at, (path, use) in enumerate(listed):
        head = "Files" if at == 0 else ""
        click.echo(printable(f"{head:<11}{path!s:<{width}}  {size_text(path):>8}  {use}"))
    click.echo(f"{'Digest':<11}{digest}")
