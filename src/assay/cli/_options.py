"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

READ_OPTIONS = ("delimiter", "decimal", "encoding", "sheet", "missing", "dayfirst")


class _SectionOption(click.Option):
    """An option that is listed under a heading of its own in the help."""

    def __init__(self, *args: Any, section: str, **given: Any) -> None:
        super().__init__(*args, **given)
        self.section = section


class SectionCommand(click.Command):
    """A command whose help lists its options by section, in the order they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one block per section; options without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if isinstance(option, click.Argument):
                continue
            record = option.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(option, "section", "Other"), []).append(record)
        sections["Other"] = sections.pop("Other", [])
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def in_section(section: str) -> Callable[..., Callable[[Command], Command]]:
    """Return a decorator like `click.option` for the options of one section."""

    def option(*names: str, **given: Any) -> Callable[[Command], Command]:
        return click.option(*names, cls=_SectionOption, section=section, **given)

    return option


KIND_HELP = (
    "Set a column's kind: numeric, nominal, boolean, datetime, identifier or ordinal. Give the "
    "order of an ordinal column as ordinal:a<b<c, in quotes. Repeatable."
)


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read."""
    option = in_section("Table")
    options = (
        option("--delimiter", metavar="CHAR", help="Column separator; detected by default."),
        option("--decimal", type=click.Choice([".", ","]),
               help="Decimal mark; detected by default."),
        option("--encoding", metavar="NAME", help="Text encoding; detected by default."),
        option("--sheet", metavar="NAME", help="Sheet of an Excel file; by default the first."),
        option("--missing", metavar="TEXT", multiple=True,
               help="Text that means missing, besides the usual ones. Repeatable."),
        option("--dayfirst/--monthfirst", default=None,
               help="What comes first in dates such as 03/04/2024; detected by default."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def debug_option(command: Command) -> Command:
    """Add ``--debug``, which `main` looks for when a command fails."""
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        help="Show the traceback of an error.",
    )(command)


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `assay.table.read` that were given."""
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
