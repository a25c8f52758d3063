"""``assay fit``: a table and a target in; a model file, a report and an honest score out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli._echo import show_found, show_table
from assay.cli._errors import printable
from assay.cli._files import check_input, check_output, outputs, removed_on_error
from assay.cli._options import (
    READ_OPTIONS,
    column_kinds,
    debug_option,
    read_options,
    table_options,
)
from assay.cli._progress import progress

_USES = {
    "model": "the model",
    "report": "the report, for a browser",
    "ledger": "finished work, to resume or repeat; may be deleted",
}
# The other options, besides those of reading, are settings of the search.
_TABLE_OPTIONS = ("drop", "group", "time", "weights", "positive", "task", "seed")


@click.command(short_help="Fit the best model for a table.")
@click.argument("file")
@click.option("-t", "--target", required=True, metavar="NAME", help="Column to predict.")
@click.option(
    "--metric", metavar="NAME", help="What to maximise or minimise; any scikit-learn scorer."
)
@click.option(
    "--effort",
    type=click.Choice(["quick", "normal", "thorough"]),
    default="normal",
    show_default=True,
    help="How many candidates to try.",
)
@click.option(
    "--search",
    type=click.Choice(["grid", "sobol"]),
    default="grid",
    show_default=True,
    help="How the candidates lie in their ranges: on grids, or as many evenly spread points.",
)
@click.option(
    "--budget",
    metavar="TIME",
    help="Be done in this time, for example 90s, 10m or 1.5h; what does not fit is left out and "
    "named. More time and the same ledger add it later.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Use no more memory than this, for example 4GB; fewer workers run if need be.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Same seed, same table: same bytes.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Workers; all cores if not given. The result does not depend on it.",
)
@click.option(
    "--backend",
    type=click.Choice(["threads", "processes"]),
    default="threads",
    show_default=True,
    help="What the workers are.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let a Dask cluster do the work, for example tcp://127.0.0.1:8786; then --jobs and "
    "--backend have no effect. The result does not depend on it.",
)
@click.option(
    "--task",
    type=click.Choice(["classification", "binary", "multiclass", "regression", "rank"]),
    help="What is predicted; found if not given. rank: an order of the rows of each --group.",
)
@click.option("--positive", metavar="LABEL", help="The class that counts as positive, of two.")
@click.option(
    "--cost",
    metavar="TRUTH,PREDICTION=COST",
    multiple=True,
    help="What a mistake costs, for example spam,ham=10; others cost 1. The mean cost is then "
    "minimised. Repeatable.",
)
@click.option(
    "--prefer",
    type=click.Choice(["best", "simplest"]),
    default="best",
    show_default=True,
    help="simplest: the smallest model that is not significantly worse than the best.",
)
@click.option(
    "--stack/--no-stack",
    default=None,
    help="Whether models may be mixed unless that is worse; by default yes, but with quick effort.",
)
@click.option(
    "--calibrate/--no-calibrate",
    default=None,
    help="Whether probabilities and thresholds are corrected where that is better; by default yes, "
    "but with quick effort.",
)
@click.option(
    "--kind",
    "kinds",
    metavar="COLUMN=KIND",
    multiple=True,
    help="Set a column's kind: numeric, ordinal, nominal, boolean, datetime, identifier. "
    "Repeatable.",
)
@click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out. Repeatable.")
@click.option("--group", metavar="COLUMN", help="Rows with the same value stay together.")
@click.option("--time", metavar="COLUMN", help="Order in time; only the past predicts.")
@click.option("--weights", metavar="COLUMN", help="How much each row counts.")
@click.option(
    "--holdout",
    metavar="SHARE|FILE",
    help="Set a test set aside that nothing sees until 'assay test' opens it, once: a share of the "
    "rows, 0.2 being the usual one, or a file of its own.",
)
@table_options
@click.option(
    "-o",
    "--out",
    metavar="PATH",
    help="Folder, or path without ending, of the files; by default the table's name here.",
)
@click.option(
    "--ledger", metavar="PATH", help="Where finished work is kept; by default NAME.ledger."
)
@click.option("--no-ledger", is_flag=True, help="Keep no ledger; an interrupted fit starts anew.")
@click.option("--force", is_flag=True, help="Replace files that Assay did not write.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@debug_option
def fit(
    file: str,
    target: str,
    *,
    cost: Sequence[str],
    kinds: Sequence[str],
    out: str | None,
    ledger: str | None,
    no_ledger: bool,
    holdout: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    jobs: int | None,
    **options: Any,
) -> None:
    """Choose and fit the best model for a table, and measure it honestly.

    FILE is CSV, TSV, Parquet, Arrow, NDJSON or Excel; - reads standard input. Writes NAME.assay
    (the model), NAME.html (the report) and NAME.ledger (finished work: after an interruption the
    same command goes on where it stopped).
    """  # fmt: skip
    if ledger is not None and no_ledger:
        raise click.UsageError("--ledger and --no-ledger exclude each other")
    set_kinds = column_kinds(kinds)
    check_input(file)
    test_set = _share_or_file(holdout)
    paths = outputs(file, out)
    if ledger is not None:
        paths["ledger"] = Path(ledger)
    if no_ledger:
        del paths["ledger"]
    for path in paths.values():
        check_output(path, replace=force)
    if not quiet:
        # At once: loading the libraries and reading the table take their time.
        click.echo(printable(f"reading {file}"), err=True)

    from assay import study as studies  # noqa: PLC0415
    from assay.base import DataError, ParameterError  # noqa: PLC0415
    from assay.record import FitSummary  # noqa: PLC0415
    from assay.report import summary_text  # noqa: PLC0415

    about_table = {name: options.pop(name) for name in _TABLE_OPTIONS}
    read = read_options(options)
    for name in READ_OPTIONS:
        options.pop(name)
    ledger_path = paths.get("ledger")
    # Before the table is read: a wrong setting must not wait for it.
    settings = studies.SearchSettings(
        cost=list(cost) or None, n_jobs=jobs, ledger=ledger_path, **options
    )
    with removed_on_error(ledger_path, (DataError, ParameterError)), progress(quiet=quiet) as shown:
        job = studies.prepare(
            file, target, kinds=set_kinds, holdout=test_set, **about_table, **read
        )
        if not (as_json or quiet):
            show_table(job.table)
        study = job.fit(settings, progress=shown)
    digest = study.save(paths["model"])
    study.report(paths["report"])
    files = {name: path for name, path in paths.items() if path.exists()}
    if as_json:
        names = {name: str(path) for name, path in files.items()}
        summary = FitSummary.of(study.record, names, digest)
        click.echo(json.dumps(summary.to_json(), allow_nan=False))
    elif not quiet:
        uses = [(path, _USES[name]) for name, path in files.items()]
        show_found(summary_text(study.full_record), uses, digest)


def _share_or_file(given: str | None) -> float | str | None:
    """Return what ``--holdout`` means: a number is a share of the rows, all else a file."""
    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        check_input(given)
        return given
