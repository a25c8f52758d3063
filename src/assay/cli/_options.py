"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

READ_OPTIONS = ("delimiter", "decimal", "encoding", "sheet", "missing", "dayfirst")


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read."""
    options = (
        click.option("--delimiter", metavar="CHAR", help="Column separator; found if not given."),
        click.option("--decimal", type=click.Choice([".", ","]),
                     help="Decimal mark; found if not given."),
        click.option("--encoding", metavar="NAME", help="Text encoding; found if not given."),
        click.option("--sheet", metavar="NAME",
                     help="Sheet of an Excel file; the first if not given."),
        click.option("--missing", metavar="TEXT", multiple=True,
                     help="Text that means missing, besides the usual ones. Repeatable."),
        click.option("--dayfirst/--monthfirst", default=None,
                     help="What comes first in dates such as 03/04/2024; found if not given."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def debug_option(command: Command) -> Command:
    """Add ``--debug``, which `main` looks for when a command fails."""
    return click.option(
        "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
    )(command)


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `assay.table.read` that were given, out of all of a command."""
    found = {name: given[name] for name in READ_OPTIONS if given.get(name) not in (None, "", ())}
    if found.get("delimiter") in ("\\t", "tab"):
        # A shell makes it hard to type the character itself.
        found["delimiter"] = "\t"
    if "missing" in found:
        from assay.table import MISSING_MARKERS  # noqa: PLC0415

        found["missing"] = (*MISSING_MARKERS, *found["missing"])
    return found


def column_kinds(given: Sequence[str]) -> dict[str, str]:
    """Return the kinds of columns that ``--kind COLUMN=KIND`` sets."""
    kinds = {}
    for text in given:
        # A column's name may hold "="; a kind never does.
        column, mark, kind = text.rpartition("=")
        if not mark or not column or not kind:
            raise click.UsageError(
                f"--kind takes COLUMN=KIND, for example zip=nominal; got {text!r}"
            )
        kinds[column] = kind
    return kinds
