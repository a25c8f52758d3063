from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

import assay
from assay import datasets
from assay.base import DataError, ParameterError
from assay.record import Dropped, StudyRecord, decimals, figure
from assay.select import Family
from assay.study import Progress, Study


def numbers(n: int = 150, signal: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    y = signal * (x[:, 0] - 2 * x[:, 1]) + 0.1 * rng.normal(size=n)
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})


def test_fit_finds_the_linear_model_of_linear_data() -> None:
    study = assay.fit(numbers(), "y", effort="quick")
    assert study.record.chosen.family in (
        "linear regression",
        "ridge regression",
        "elastic net",
    )
    assert study.score.metric == "r2"
    assert study.score.low <= study.score.value <= study.score.high
    assert study.score.value > 0.99
    assert study.verdict == "better"


def test_sentence_and_card_show_the_same_decimals(study: Study) -> None:
    record = study.record
    places = decimals(record.score)
    gain, low = figure(record.gain.value, places), figure(record.gain.low, places)
    assert f"the gain is {gain}, at least {low} with 95% confidence" in record.verdict.text


def test_fit_calls_noise_noise() -> None:
    study = assay.fit(numbers(signal=0.0), "y", effort="quick")
    assert study.verdict == "no better"
    assert "no better than guessing" in study.record.verdict.text


def test_fit_is_the_same_for_any_workers(penguins: pl.DataFrame, study: Study) -> None:
    threads = assay.fit(penguins, "species", effort="quick", n_jobs=2)
    processes = assay.fit(penguins, "species", effort="quick", n_jobs=2, backend="processes")
    assert study.digest == threads.digest == processes.digest


def test_fit_depends_on_the_seed_only_through_the_split(
    penguins: pl.DataFrame, study: Study
) -> None:
    other = assay.fit(penguins, "species", effort="quick", seed=1)
    assert other.digest != study.digest
    assert other.record.digest == study.record.digest


def test_the_digest_does_not_depend_on_the_release(
    penguins: pl.DataFrame, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assay, "__version__", "99.1.0")
    monkeypatch.setattr("assay.study._record.__version__", "99.1.0")
    monkeypatch.setattr(np, "__version__", "99.2.0")
    monkeypatch.setattr("assay.study._record.version", lambda name: "99.3.0")
    other = assay.fit(penguins, "species", effort="quick")
    assert set(other.record.versions.values()) == {"99.1.0", "99.3.0"}
    assert other.record.score == study.record.score
    assert other.digest == study.digest


def test_fit_goes_on_from_its_ledger(tmp_path: Path, penguins: pl.DataFrame) -> None:
    seen: list[Progress] = []
    first = assay.fit(
        penguins, "species", effort="quick", ledger=tmp_path / "p.ledger", progress=seen.append
    )
    work = len(seen)
    assert seen[0].done == 0
    assert seen[-1].done == seen[-1].total
    again: list[Progress] = []
    second = assay.fit(
        penguins, "species", effort="quick", ledger=tmp_path / "p.ledger", progress=again.append
    )
    assert len(again) < work / 2
    assert second.digest == first.digest


def test_fit_accounts_for_every_row(penguins: pl.DataFrame) -> None:
    holes = penguins.with_columns(
        species=pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("species"))
    )
    rows = assay.fit(holes, "species", effort="quick").record.rows
    assert rows.read == len(penguins)
    assert rows.dropped == (Dropped(reason="target missing", count=35),)
    assert rows.used == len(penguins) - 35


def test_fit_keeps_groups_and_says_so(penguins: pl.DataFrame) -> None:
    grouped = penguins.with_columns(nest=pl.int_range(pl.len()) // 4)
    study = assay.fit(grouped, "species", effort="quick", group="nest")
    assert study.record.plan.grouped is True
    assert "nest" not in [feature.name for feature in study.model.schema.features]


def test_fit_goes_forward_in_time() -> None:
    table = numbers().with_columns(day=pl.int_range(pl.len()))
    plan = assay.fit(table, "y", effort="quick", time="day").record.plan
    assert plan.kind == "forward"
    assert plan.blocks == min(max(table.height // 20, 5), 10)


def test_fit_tries_models_of_the_user(penguins: pl.DataFrame) -> None:
    forest = RandomForestClassifier(20)
    study = assay.fit(
        penguins, "species", effort="quick", models={"a forest": forest}, defaults=False
    )
    assert [row.family for row in study.record.leaderboard] == ["a forest"]
    assert study.score.value > 0.9
    assert study.predict(penguins).shape == (len(penguins),)


def test_fit_takes_a_family_of_the_user(penguins: pl.DataFrame) -> None:
    numeric = penguins.drop("island", "sex").drop_nulls()
    family = Family("machine", SVC(), [{"C": 0.1}, {"C": 10.0}])
    study = assay.fit(numeric, "species", models={"machine": family}, defaults=False)
    assert len(study.record.leaderboard) == 2
    assert study.model.encoder is None


def test_saving_a_model_of_the_user_says_why_not(tmp_path: Path, penguins: pl.DataFrame) -> None:
    forest = RandomForestClassifier(5)
    study = assay.fit(penguins, "species", effort="quick", models={"f": forest}, defaults=False)
    with pytest.raises(DataError, match=r"the chosen model \(f\) cannot be saved: .*RandomForest"):
        study.save(tmp_path / "f.assay")
    assert not list(tmp_path.iterdir())
    assert study.report(tmp_path / "f.html").exists()


def test_a_record_is_json(study: Study) -> None:
    data = json.loads(json.dumps(study.record.to_json(), allow_nan=False))
    assert StudyRecord.from_json(data) == study.record


def test_diagnostics_count_every_row_once(study: Study, penguins: pl.DataFrame) -> None:
    confusion = study.record.diagnostics.confusion
    assert confusion is not None
    assert sum(map(sum, confusion.counts)) == len(penguins)


def test_binary_tables_get_roc_and_calibration() -> None:
    study = assay.fit(datasets.load_titanic(), "Survived", effort="quick")
    page = study.record.diagnostics
    assert page.roc is not None
    assert page.calibration is not None
    assert page.roc.fpr[0] == 0.0
    assert page.roc.tpr[-1] == 1.0
    assert sum(page.calibration.count) == 891


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"effort": "heroic"},
            ParameterError,
            "effort must be 'quick', 'normal' or 'thorough'; got 'heroic'",
        ),
        ({"metric": "acuracy"}, ParameterError, "did you mean 'accuracy'"),
        ({"target": "specis"}, DataError, "did you mean 'species'"),
        ({"defaults": False}, ParameterError, "models must name at least one model"),
    ],
)
def test_fit_refuses(
    penguins: pl.DataFrame, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        assay.fit(penguins, **{"target": "species", **options})  # type: ignore[arg-type]
