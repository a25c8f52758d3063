"""The command ``assay`` and its subcommands."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from assay import __version__
from assay.cli._cluster import cluster
from assay.cli._completion import completion
from assay.cli._errors import INTERRUPTED, OK, TERMINATED, Terminated, fail
from assay.cli._fit import fit
from assay.cli._inspect import inspect
from assay.cli._predict import predict
from assay.cli._test_set import test

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


# "\b" keeps click from joining the lines that follow.
_ABOUT = """Find the best classical model for a table, and measure how good it really is.

\b
assay fit heart.csv --target disease     write heart.assay and heart.html
assay predict heart.assay new.csv        print one prediction per row
assay test heart.assay heart.csv         open the test set of fit --holdout, once
assay cluster heart.csv                  group rows that are alike
assay inspect heart.assay                show what a model file holds

Exit codes: 0 done, 64 wrong usage, 65 unusable data, 70 internal error, 74 input or output failed,
130 interrupted.
"""


class _InOrder(click.Group):
    """Lists its commands in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names as they were added."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings=_HELP, help=_ABOUT, invoke_without_command=True)
@click.version_option(
    __version__, "-V", "--version", prog_name="assay", message="%(prog)s %(version)s"
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Print the help if there is no command."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (fit, predict, test, cluster, inspect, completion):
    cli.add_command(command)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; by default those of the process.

    Examples
    --------
    >>> main(["--version"])
    assay 0.1.0
    0
    """
    args = sys.argv[1:] if args is None else list(args)
    _forgive_encoding()
    before = _on_terminate(_terminate)
    try:
        code = cli.main(args, prog_name="assay", standalone_mode=False)
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit as error:
        # click answers a request for shell completion this way.
        return error.code if isinstance(error.code, int) else OK
    except (Exception, KeyboardInterrupt) as error:
        return fail(error, args)
    finally:
        if before is not None:
            _on_terminate(before)
    return code if isinstance(code, int) else OK


def run() -> NoReturn:
    """Be the process ``assay``: exit with the code of `main`."""
    code = main()
    if code in (INTERRUPTED, TERMINATED):
        # A thread may be in the middle of a unit, and nobody wants to wait for it. All that is
        # finished is on disk.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _forgive_encoding() -> None:
    # A terminal that cannot show a letter must not stop a fit; files are written as bytes.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise Terminated


def _on_terminate(handler: object) -> object | None:
    try:
        return signal.signal(signal.SIGTERM, handler)  # type: ignore[arg-type]
    except ValueError:
        # Only the main thread may set signals; elsewhere the default stays.
        return None


def _closed_pipe() -> int:
    # Whoever read our output has seen enough; Python would complain again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK
