"""What `fit` and `cluster` print alike: the table, the files, the digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli._errors import printable
from assay.cli._files import size_text

if TYPE_CHECKING:
    from assay.report import HasTable


def show_table(table: HasTable) -> None:
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
