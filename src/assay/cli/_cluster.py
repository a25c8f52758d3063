"""``assay cluster``: a table in; the cluster of every row, a model file and a report out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli._echo import show_found, show_table
from assay.cli._errors import printable
from assay.cli._files import check_input, check_output, outputs
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
    "assignments": "the cluster of every row",
    "model": "the model",
    "report": "the report, for a browser",
}
_FIRST_LINE = b"row,cluster\n"
_METHODS = ("auto", "kmeans", "mixture", "agglomerative", "spectral", "fuzzy", "dbscan")


_table = in_section("Table")
_method = in_section("Clusters")
_resources = in_section("Resources")
_output = in_section("Output")


@click.command(cls=SectionCommand, short_help="Group the rows of a table.")
@click.argument("file")
@_table(
    "--columns",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Use only the columns named this way. Repeatable.",
)
@_table("--drop", metavar="COLUMN", multiple=True, help="Leave a column out. Repeatable.")
@_table(
    "--kind",
    "kinds",
    metavar="COLUMN=KIND",
    multiple=True,
    help=KIND_HELP,
)
@table_options
@_method(
    "--method",
    type=click.Choice(_METHODS),
    default="auto",
    show_default=True,
    help="How to group. auto: the one of the first four whose clusters are most stable when half "
    "of the rows are left out.",
)
@_method(
    "-k",
    "--n-clusters",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of clusters; by default what most of five criteria agree on.",
)
@_method(
    "--max-clusters",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    metavar="N",
    help="Largest number of clusters to try.",
)
@_method(
    "--eps", type=float, metavar="X", help="dbscan: distance within which rows are neighbours."
)
@_method(
    "--min-samples",
    type=click.IntRange(min=1),
    metavar="N",
    help="dbscan: number of neighbours that make a dense place.",
)
@_method(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed. The same seed and table give the same files, byte for byte.",
)
@_resources(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of threads; by default one per core. The result does not depend on it.",
)
@_output(
    "-o",
    "--out",
    metavar="PATH",
    help="Folder, or path without ending, of the files; by default the table's name, here.",
)
@_output("--force", is_flag=True, help="Replace files that Assay did not write.")
@_output("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@_output("-q", "--quiet", is_flag=True, help="Print errors only.")
@debug_option
def cluster(
    file: str,
    *,
    kinds: Sequence[str],
    out: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    jobs: int | None,
    **options: Any,
) -> None:
    """Group the rows of a table, and describe the groups.

    FILE is CSV, TSV, Parquet, Arrow, NDJSON or Excel; - reads standard input. Numbers are scaled
    to variance 1 and categories become 0 or 1. Writes NAME.clusters.csv (the cluster of every row),
    NAME.clusters.assay (the model: 'assay predict' puts new rows into the clusters of kmeans,
    mixture and fuzzy) and NAME.clusters.html (the report).
    """
    set_kinds = column_kinds(kinds)
    check_input(file)
    paths = _paths(file, out)
    for path in paths.values():
        check_output(path, replace=force)
    _check_assignments(paths["assignments"], force)
    if not quiet:
        # At once: loading the libraries and reading the table take their time.
        click.echo(printable(f"reading {file}"), err=True)

    from assay import study as studies  # noqa: PLC0415
    from assay.record import ClusterSummary  # noqa: PLC0415
    from assay.report import cluster_text  # noqa: PLC0415
    from assay.store import write_file  # noqa: PLC0415

    columns, drop = options.pop("columns"), options.pop("drop")
    read = read_options(options)
    for name in READ_OPTIONS:
        options.pop(name)
    # Before the table is read: a wrong setting must not wait for it.
    settings = studies.ClusterSettings(n_jobs=jobs, **options)
    with progress(quiet=quiet) as shown:
        job = studies.prepare_clusters(file, columns=columns, drop=drop, kinds=set_kinds, **read)
        if not (as_json or quiet):
            show_table(job.table)
        found = job.fit(settings, progress=shown)
    digest = found.save(paths["model"])
    found.report(paths["report"])
    write_file(paths["assignments"], [found.assignments()], what="the assignments")
    if as_json:
        names = {name: str(path) for name, path in paths.items()}
        summary = ClusterSummary.of(found.record, names, digest)
        click.echo(json.dumps(summary.to_json(), allow_nan=False))
    elif not quiet:
        uses = dict(_USES)
        if not found.record.method.assigns_new_rows:
            uses["model"] += " (this method does not place new rows)"
        listed = [(path, uses[name]) for name, path in paths.items()]
        show_found(cluster_text(found.record), listed, digest)


def _paths(file: str, out: str | None) -> dict[str, Path]:
    # Names of their own: a model that 'assay fit' made of the same table must stay.
    prefix = outputs(file, out)["model"].with_suffix("")
    prefix = prefix.with_name(prefix.name.removesuffix(".clusters"))
    return {
        "assignments": prefix.with_name(f"{prefix.name}.clusters.csv"),
        "model": prefix.with_name(f"{prefix.name}.clusters.assay"),
        "report": prefix.with_name(f"{prefix.name}.clusters.html"),
    }


def _check_assignments(path: Path, force: bool) -> None:
    """Refuse to replace a CSV file that this command did not write."""
    if force or not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(len(_FIRST_LINE))
    if start and start != _FIRST_LINE:
        raise click.UsageError(
            f"{str(path)!r} exists and was not written by Assay; choose another --out, or --force"
        )
