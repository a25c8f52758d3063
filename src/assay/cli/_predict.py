"""``assay predict``: a model file and a table in, one prediction per row out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from assay.cli._answers import answers_as_bytes, written
from assay.cli._errors import printable
from assay.cli._files import check_input, check_not_input, check_output, size_text
from assay.cli._options import debug_option, read_options, table_options


@click.command(short_help="Predict every row of a table.")
@click.argument("model")
@click.argument("file")
@click.option(
    "-o",
    "--out",
    metavar="PATH",
    help="File to write: .parquet, .arrow, .ndjson, else CSV. By default CSV to standard output.",
)
@click.option("--proba", is_flag=True, help="Add one column of probabilities per class.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@table_options
@debug_option
def predict(
    model: str, file: str, *, out: str | None, proba: bool, as_json: bool, **options: Any
) -> None:
    """Predict every row of a table with a model file.

    FILE is a table with the columns the model was fitted on; extra columns and their order do not
    matter. Writes one line per row, in the same order, with full precision. For a ranking: the
    score, and the rank within the query if the query column is present.
    """
    check_input(model)
    check_input(file)
    path = None if out in (None, "-") else Path(str(out))
    if path is not None:
        check_not_input(path, model, file)
    if path is not None and (not path.exists() or path.is_file()):
        check_output(path, replace=True)

    from assay import study as studies  # noqa: PLC0415
    from assay.base import DataError  # noqa: PLC0415

    study = studies.load(model)
    classes = study.record.target.classes
    if proba and not classes:
        raise DataError(f"{model} predicts numbers, which have no probabilities; leave out --proba")
    answers = study.answers(file, proba=proba, **read_options(options))
    values = [written(value) for value in answers.prediction.tolist()]
    shares = None if answers.probability is None else answers.probability.tolist()
    places = answers.rank
    if path is not None or not as_json:
        head, more = ["prediction"], shares
        if shares is not None:
            head += [f"probability of {name}" for name in classes]
        elif places is not None:
            head, more = ["prediction", "rank"], [[place] for place in places.tolist()]
        _put(path, answers_as_bytes(path, head, answers.prediction.tolist(), more))
    if as_json:
        summary: dict[str, Any] = {
            "model": model,
            "source": file,
            "target": study.record.target.name,
            "rows": {"read": answers.rows, "predicted": len(values), "blank": answers.blank},
        }
        if path is not None:
            summary["files"] = {"predictions": str(path)}
        else:
            summary["predictions"] = values
            if shares is not None:
                summary["classes"] = classes
                summary["probabilities"] = shares
            if places is not None:
                summary["ranks"] = places.tolist()
        click.echo(json.dumps(summary))
    elif path is not None:
        blank = f" + {answers.blank:,} blank" if answers.blank else ""
        size = f" ({size_text(path)})" if path.is_file() else ""
        summary_line = (
            f"{answers.rows:,} rows read = {len(values):,} predicted{blank}; wrote {path}{size}"
        )
        click.echo(printable(summary_line), err=True)


def _put(path: Path | None, chunks: Iterable[bytes]) -> None:
    if path is None:
        # As bytes: the encoding of the terminal must not change what is written.
        sys.stdout.flush()
        stream = sys.stdout.buffer
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()
    elif path.exists() and not path.is_file():
        # A pipe or a device cannot be replaced, only written to.
        try:
            with path.open("wb") as device:
                for chunk in chunks:
                    device.write(chunk)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise OSError(f"cannot write the predictions {path}: {why}") from error
    else:
        from assay.store import write_file  # noqa: PLC0415

        write_file(path, chunks, what="the predictions")
