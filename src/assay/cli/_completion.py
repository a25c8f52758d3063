"""``assay completion``: lines for the shell's start file."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
# "\b" keeps click from joining the lines that follow.
_ABOUT = """Print the lines that let a shell complete Assay's commands and options.

\b
assay completion bash >> ~/.bashrc
assay completion zsh  >> ~/.zshrc
assay completion fish > ~/.config/fish/completions/assay.fish
"""


@click.command(help=_ABOUT, short_help="Print shell completion.")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the lines for one shell."""
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover  (the choice above allows only known shells)
        raise click.UsageError(f"no completion for {shell}")
    found = kind(context.find_root().command, {}, "assay", "_ASSAY_COMPLETE")
    click.echo(found.source_template % found.source_vars())
