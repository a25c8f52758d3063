"""``assay test``: open the test set of a model, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.cli._errors import printable
from assay.cli._files import check_input
from assay.cli._options import debug_option, read_options, table_options

_SHOWN = ("when", "rows", "scores")


@click.command(short_help="Open the test set of a model, once.")
@click.argument("model")
@click.argument("file")
@click.option(
    "--again",
    is_flag=True,
    help="Open the test set again; the score is marked as not from untouched rows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@table_options
@debug_option
def test(model: str, file: str, *, again: bool, as_json: bool, **options: Any) -> None:
    """Score a model on the rows that 'assay fit --holdout' set aside.

    FILE is the table that the model was fitted on (the test rows are found in it), or the file
    given as --holdout. A test set that influences the model is no longer a test, so it opens once:
    scores and time are written to NAME.opened.json and into the report, and a second opening is
    refused without --again.
    """
    check_input(model)
    check_input(file)

    from assay import study as studies  # noqa: PLC0415
    from assay.report import opening_text  # noqa: PLC0415

    study = studies.load(model)
    if isinstance(study, studies.Clustering):
        raise click.UsageError(f"{model} holds clusters, which have no test set")
    opening = study.open_holdout(file, again=again, **read_options(options))
    page = Path(model).with_suffix(".html")
    if page.is_file():
        study.report(page)
    record = study.full_record
    assert record.holdout is not None
    assert record.holdout.openings
    entry = record.holdout.openings[-1]
    book = studies.book_of(Path(model))
    if as_json:
        shown = {name: part for name, part in entry.to_json().items() if name in _SHOWN}
        promised = record.score.to_json()
        click.echo(json.dumps({"model": model, "untouched": not opening.again, **shown,
                               "promised": promised, "openings": len(study.openings),
                               "book": str(book)}))  # fmt: skip
        return
    first = "opened again: these rows are no longer untouched" if opening.again else "opened once"
    click.echo(printable(f"Test set   {opening.rows:,} rows, {first}"))
    click.echo(f"Promised   {study.score}")
    for at, line in enumerate(opening_text(entry.scores)):
        click.echo(printable(f"{'' if at else 'Score':<11}{line}"))
    click.echo(printable(f"{'Written':<11}{book}"))
