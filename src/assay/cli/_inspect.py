"""``assay inspect``: what a model file holds, or how Assay reads a table."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from assay.cli._errors import printable
from assay.cli._files import STDIN, check_input, size_text
from assay.cli._options import debug_option, read_options, table_options

if TYPE_CHECKING:
    from assay.record import Column, Rows, StudyRecord

_WIDTH = 11
_LINE = 99


@click.command(short_help="Show what a model file or a table holds.")
@click.argument("file")
@click.option(
    "-t",
    "--target",
    metavar="NAME",
    help="For a table: also show what fit would use to predict this column.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@table_options
@debug_option
def inspect(file: str, *, target: str | None, as_json: bool, **options: Any) -> None:
    """Show what a model file holds or, for a table, how its columns are read.

    Nothing in a model file is ever executed; a damaged or hostile one is refused.
    """
    check_input(file)
    if file != STDIN and (Path(file).suffix == ".assay" or _is_model(Path(file))):
        about = _about_model(file)
        show = _model_lines
    else:
        about = _about_table(file, target, read_options(options))
        show = _table_lines
    if as_json:
        from assay.record import plain  # noqa: PLC0415

        click.echo(json.dumps(plain(about)))
    else:
        for line in show(about):
            click.echo(printable(line))


class _Table(NamedTuple):
    rows: Rows
    columns: tuple[Column, ...]


def _is_model(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(10)
    # The length of the header, then its JSON; no table format begins like this.
    return len(start) == 10 and start[8:10] == b'{"' and start[5:8] == b"\x00\x00\x00"


def _about_model(file: str) -> dict[str, Any]:
    from assay import study as studies  # noqa: PLC0415

    study = studies.load(file)
    record = study.record
    if isinstance(study, studies.Study):
        study.read_openings()  # they stand beside the file
        record = study.full_record
    return {
        "file": file,
        "size": Path(file).stat().st_size,
        "digest": study.digest,
        "schema": study.model.schema.to_dict(),
        "record": record,
    }


def _model_lines(about: dict[str, Any]) -> list[str]:
    from assay.record import ClusterRecord  # noqa: PLC0415
    from assay.report import cluster_text, overview_text, summary_text  # noqa: PLC0415

    record = about["record"]
    clusters = isinstance(record, ClusterRecord)
    if clusters:
        places = record.method.assigns_new_rows
        what = "puts rows into clusters" if places else "clusters of rows; cannot place new rows"
    else:
        what = _what_it_predicts(record)
    needs = [column.name for column in record.columns if column.role == "feature"]
    versions = ", ".join(f"{name} {number}" for name, number in sorted(record.versions.items()))
    return [
        _line("Model", f"{about['file']}, {size_text(Path(about['file']))}; {what}"),
        _line("Built from", f"{record.source}, SHA-256 {record.digest}"),
        overview_text(record),
        cluster_text(record) if clusters else summary_text(record),
        _line("Needs", f"columns {_few(needs, 12)}"),
        _line("Seed", f"{record.seed}{'' if clusters else ', effort ' + record.effort}"),
        _line("Versions", versions),
        _line("Digest", about["digest"]),
    ]


def _what_it_predicts(record: StudyRecord) -> str:
    target = record.target
    what = f"predicts {target.name}, {record.task}"
    if target.classes:
        positive = f", positive {target.positive}" if target.positive else ""
        what += f" ({_few(target.classes)}{positive})"
    return what


def _about_table(file: str, target: str | None, options: dict[str, Any]) -> dict[str, Any]:
    from assay.study import table_record  # noqa: PLC0415
    from assay.table import prepare, read  # noqa: PLC0415

    raw = read(file, **options)
    about: dict[str, Any] = {
        "file": file,
        "format": raw.format,
        "digest": raw.digest,
        "notes": list(raw.notes),
    }
    if target is None:
        dropped = [{"reason": "blank line", "count": raw.blank}] if raw.blank else []
        return {
            **about,
            "rows": {"read": raw.rows, "used": raw.frame.height, "dropped": dropped},
            "columns": [
                {
                    "name": column.name,
                    "type": _type(column.dtype),
                    "missing": column.null_count(),
                    "distinct": column.drop_nulls().n_unique(),
                }
                for column in raw.frame
            ],
        }
    table = table_record(prepare(raw, target))
    return {
        **about,
        "notes": table.notes,
        "task": table.task,
        "classes": table.target.classes,
        "rows": table.rows,
        "columns": table.columns,
    }


def _table_lines(about: dict[str, Any]) -> list[str]:
    from assay.report import overview_text  # noqa: PLC0415

    lines = [
        _line("Table", f"{about['file']}, {about['format']}"),
        _line("Digest", about["digest"]),
    ]
    if "task" in about:
        classes = f" ({_few(about['classes'])})" if about["classes"] else ""
        lines += [
            _line("Task", f"{about['task']}{classes}"),
            overview_text(_Table(about["rows"], about["columns"])),
        ]
    else:
        rows = about["rows"]
        blank = rows["read"] - rows["used"]
        lines.append(_line("Rows", f"{rows['read']:,} read = {rows['used']:,} + {blank:,} blank"))
        width = max((len(column["name"]) for column in about["columns"]), default=0)
        for at, column in enumerate(about["columns"]):
            lines.append(
                _line(
                    "" if at else "Columns",
                    f"{column['name']:<{min(width, 40)}}  {column['type']:<7}  "
                    f"{column['distinct']:,} values, {column['missing']:,} missing",
                )
            )
        lines.append(_line("", "add --target NAME to see what fit would use"))
    lines += [_line("" if at else "Notes", note) for at, note in enumerate(about["notes"])]
    return lines


def _type(dtype: Any) -> str:
    # The five types a table is read as, in words.
    names = {"Int64": "integer", "Float64": "number", "Boolean": "boolean", "String": "text"}
    return names.get(str(dtype), "date")


def _line(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        _LINE,
        initial_indent=f"{name:<{_WIDTH}}",
        subsequent_indent=" " * _WIDTH,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _few(names: Sequence[str], limit: int = 8) -> str:
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit:,} more"
