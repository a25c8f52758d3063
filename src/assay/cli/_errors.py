"""Every way a command can end: one message on standard error and one exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

OK = 0
USAGE = 64
DATA = 65
INTERNAL = 70
IO = 74
INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """The process was asked to stop (SIGTERM)."""


def fail(error: BaseException, args: Sequence[str]) -> int:
    """Print what went wrong and return the exit code; the traceback only with ``--debug``."""
    if "--debug" in args:
        traceback.print_exception(error)
    code, message = explained(error, args)
    click.echo(f"assay: error: {printable(message)}", err=True)
    return code


def explained(error: BaseException, args: Sequence[str] = ()) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, click.UsageError):
        where = error.ctx.command_path if error.ctx else "assay"
        message = _usage_message(error)
        end = f" See '{where} --help'" if message.endswith("?") else f"; see '{where} --help'"
        return USAGE, message + end
    if isinstance(error, click.ClickException):
        return IO if isinstance(error, click.FileError) else USAGE, error.format_message()
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        stopped = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
        again = " (run the same command again to resume)" if resumable(args) else ""
        code = TERMINATED if stopped else INTERRUPTED
        return code, f"{'terminated' if stopped else 'interrupted'}{again}"
    if isinstance(error, MemoryError):
        return INTERNAL, "not enough memory; try fewer --jobs, or a machine with more"
    if isinstance(error, OSError):
        return IO, _os_message(error)
    kind = _kind_of_failure(error)
    if kind is not None:
        return kind, str(error)
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    return INTERNAL, f"internal error: {what}; run again with --debug to see where"


def _usage_message(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        # click lists all near names in alphabetical order; the first is the nearest.
        return f"No such option {error.option_name!r}. Did you mean {error.possibilities[0]!r}?"
    return error.format_message().rstrip(".")


def resumable(args: Sequence[str]) -> bool:
    """Whether finished work of this command was kept."""
    return "fit" in args and "--no-ledger" not in args


def printable(text: str) -> str:
    r"""Return text that cannot drive a terminal, whatever a column is called.

    Examples
    --------
    >>> printable("no column 'a\x1b[2J'")
    "no column 'a�[2J'"
    """
    return "".join(
        sign if sign.isprintable() or sign == "\n" else " " if sign.isspace() else "\ufffd"
        for sign in text
    )


def _kind_of_failure(error: BaseException) -> int | None:
    # Looked up, not imported: an error of a module that was never loaded cannot have been raised,
    # and a usage error must not wait for scikit-learn.
    base = sys.modules.get("assay.base")
    if base is not None:
        if isinstance(error, base.DataError):
            return DATA
        if isinstance(error, base.ParameterError):
            return USAGE
    sqlite3 = sys.modules.get("sqlite3")
    if sqlite3 is not None and isinstance(error, sqlite3.DatabaseError):
        return IO
    return None


def _os_message(error: OSError) -> str:
    if error.strerror is None:
        # A message of our own: what, where and what to do.
        return str(error)
    if error.filename is None and error.strerror != os.strerror(error.errno or 0):
        return error.strerror  # a message of our own with its number
    where = "input or output failed" if error.filename is None else str(error.filename)
    return f"{where}: {error.strerror.lower()}"
