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
    KIND_HELP,
    READ_OPTIONS,
    SectionCommand,
    column_kinds,
    debug_option,
    in_section,
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


_table = in_section("Table")
_question = in_section("Question")
_search = in_section("Search")
_resources = in_section("Resources")
_output = in_section("Output")


@click.command(cls=SectionCommand, short_help="Fit the best model for a table.")
@click.argument("file")
@_table(
    "--kind",
    "kinds",
    metavar="COLUMN=KIND",
    multiple=True,
    help=KIND_HELP,
)
@_table("--drop", metavar="COLUMN", multiple=True, help="Leave a column out. Repeatable.")
@table_options
@_question("-t", "--target", required=True, metavar="NAME", help="Column to predict.")
@_question(
    "--task",
    type=click.Choice(["classification", "binary", "multiclass", "regression", "rank"]),
    help="What to predict; by default found from the target. rank: an order of the rows of each "
    "--group.",
)
@_question(
    "--metric",
    metavar="NAME",
    help="Metric to optimise: any scikit-learn scorer. By default roc_auc (two classes), accuracy "
    "(more), r2 (numbers) or ndcg@10 (rank).",
)
@_question("--positive", metavar="LABEL", help="The positive one of two classes.")
@_question(
    "--cost",
    metavar="TRUTH,PREDICTION=COST",
    multiple=True,
    help="Cost of a mistake, for example spam,ham=10; all others cost 1. The mean cost is then "
    "minimised. Repeatable.",
)
@_question("--group", metavar="COLUMN", help="Keep rows with the same value together.")
@_question(
    "--time", metavar="COLUMN", help="Order rows in time; only the past predicts the future."
)
@_question("--weights", metavar="COLUMN", help="Column with the weight of each row.")
@_question(
    "--holdout",
    metavar="SHARE|FILE",
    help="Set a test set aside until 'assay test' opens it, once: a share of the rows, usually "
    "0.2, or a file.",
)
@_search(
    "--effort",
    type=click.Choice(["quick", "normal", "thorough"]),
    default="normal",
    show_default=True,
    help="How many candidates to try.",
)
@_search(
    "--search",
    type=click.Choice(["grid", "sobol"]),
    default="grid",
    show_default=True,
    help="How to sample hyperparameters: on a grid or from a Sobol sequence.",
)
@_search(
    "--stack/--no-stack",
    default=None,
    help="Allow a weighted ensemble when it is not worse. On, except with --effort quick.",
)
@_search(
    "--calibrate/--no-calibrate",
    default=None,
    help="Calibrate probabilities and tune the threshold if it helps. On, except with --effort "
    "quick.",
)
@_search(
    "--prefer",
    type=click.Choice(["best", "simplest"]),
    default="best",
    show_default=True,
    help="simplest: the smallest model that is not significantly worse than the best.",
)
@_search(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed. The same seed and table give the same files, byte for byte.",
)
@_resources(
    "--budget",
    metavar="TIME",
    help="Time limit, for example 90s, 10m or 1.5h; a number alone is seconds. Models that do not "
    "fit in it are skipped and listed; rerun with more time to add them.",
)
@_resources(
    "--memory",
    metavar="SIZE",
    help="Memory limit, for example 4GB; fewer workers run if necessary.",
)
@_resources(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of workers; by default one per core. The result does not depend on it.",
)
@_resources(
    "--backend",
    type=click.Choice(["threads", "processes"]),
    default="threads",
    show_default=True,
    help="Kind of workers.",
)
@_resources(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on a Dask cluster, for example tcp://127.0.0.1:8786; --jobs and --backend then have "
    "no effect.",
)
@_output(
    "-o",
    "--out",
    metavar="PATH",
    help="Folder, or path without ending, of the files; by default the table's name, here.",
)
@_output("--ledger", metavar="PATH", help="File that keeps finished work; by default NAME.ledger.")
@_output("--no-ledger", is_flag=True, help="Keep no ledger; an interrupted fit starts over.")
@_output("--force", is_flag=True, help="Replace files that Assay did not write.")
@_output("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@_output("-q", "--quiet", is_flag=True, help="Print errors only.")
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
    """Fit the best model for a table, and measure how good it is.

    FILE is CSV, TSV, Parquet, Arrow, NDJSON or Excel; - reads standard input. Writes NAME.assay
    (the model), NAME.html (the report) and NAME.ledger (finished work: after an interruption, run
    the same command again to continue).

    \b
    Examples:
      assay fit heart.csv --target disease --holdout 0.2
      assay fit shop.csv -t sold --kind "size=ordinal:S<M<L" --drop id --budget 10m
    """  # noqa: D301
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
