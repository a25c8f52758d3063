"""How names, numbers and hostile strings are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from assay.record import (
    Candidate,
    HasInterval,
    Record,
    Work,
    decimals,
    decimals_of_width,
    figure,
    finite,
)

T = TypeVar("T")

# (name to show, what it means)
_METRICS = {
    "accuracy": ("Accuracy", "the share of rows whose class is predicted correctly"),
    "balanced_accuracy": (
        "Balanced accuracy",
        "the mean recall of the classes: every class counts the same",
    ),
    "roc_auc": (
        "ROC AUC",
        "how often a positive row is ranked above a negative one; 0.5 is chance, 1 is perfect",
    ),
    "average_precision": (
        "Average precision",
        "the area under the precision-recall curve; 1 is perfect",
    ),
    "cost": ("Mean cost", "the mean cost of a prediction, with the costs given; smaller is better"),
    "f1": ("F1", "the harmonic mean of precision and recall; 1 is perfect"),
    "precision": ("Precision", "the share of predicted positives that are positive; 1 is perfect"),
    "recall": ("Recall", "the share of positive rows that are predicted positive; 1 is perfect"),
    "specificity": (
        "Specificity",
        "the share of negative rows that are predicted negative; 1 is perfect",
    ),
    "log_loss": (
        "Log loss",
        "the penalty for wrong and overconfident probabilities; smaller is better, 0 is perfect",
    ),
    "brier": (
        "Brier score",
        "the mean squared error of the probabilities; smaller is better, 0 is perfect",
    ),
    "r2": ("R²", "the share of variance explained; 0 is predicting the mean, 1 is perfect"),
    "rmse": (
        "RMSE",
        "the root mean squared error, in units of the target; smaller is better",
    ),
    "mae": ("MAE", "the mean absolute error, in units of the target; smaller is better"),
    "mse": ("MSE", "the mean squared error; smaller is better"),
    "mcc": ("Matthews correlation", "1 is perfect, 0 is chance"),
    "ndcg": (
        "NDCG",
        "how near the best rows are to the top of their query; 1 is the best order",
    ),
    "map": (
        "MAP",
        "the mean average precision of the queries; 1 is perfect",
    ),
    "auc": (
        "AUC by query",
        "how often a relevant row is ranked above an irrelevant one of its query; 0.5 is chance, "
        "1 is perfect",
    ),
    "kendall_tau": (
        "Kendall's tau",
        "agreement with the true order of a query; 0 is chance, 1 is the true order",
    ),
}
_ALIASES = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "brier_score": "brier",
    "neg_root_mean_squared_error": "rmse",
    "root_mean_squared_error": "rmse",
    "neg_mean_squared_error": "mse",
    "mean_squared_error": "mse",
    "neg_mean_absolute_error": "mae",
    "mean_absolute_error": "mae",
    "matthews_corrcoef": "mcc",
}
_VARIANTS = {
    "ovr": "one-vs-rest",
    "ovo": "one-vs-one",
    "ovr_weighted": "one-vs-rest, weighted",
    "ovo_weighted": "one-vs-one, weighted",
    "macro": "macro",
    "micro": "micro",
    "weighted": "weighted",
    "samples": "samples",
}

MAX_TEXT = 160
MAX_SENTENCE = 600
# Parts of a record that hold our own sentences, not names from a table.
_SENTENCES = {"text", "reason", "failed", "notes"}

# Control characters could drive a terminal, and directional overrides could show a reader
# another text than the one that is there.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(value: T, limit: int = MAX_TEXT) -> T:
    r"""Return a copy of a record whose texts are safe to show: capped and without control codes.

    Examples
    --------
    >>> clean({"name": "a\x1b[2Jb", "mean": 0.5})
    {'name': 'a�[2Jb', 'mean': 0.5}
    """
    return cast("T", _clean(value, limit))


def _clean(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return safe(value, limit)
    if isinstance(value, Record):
        parts = {each.name: getattr(value, each.name) for each in fields(cast("Any", value))}
        return replace(
            cast("Any", value),
            **{name: _clean_entry(name, part, limit) for name, part in parts.items()},
        )
    if isinstance(value, Mapping):
        return {
            safe(str(key), limit): _clean_entry(key, item, limit) for key, item in value.items()
        }
    if isinstance(value, tuple):
        return tuple(_clean(item, limit) for item in value)
    if isinstance(value, list):
        return [_clean(item, limit) for item in value]
    return value


def _clean_entry(key: Any, item: Any, limit: int) -> Any:
    return _clean(item, MAX_SENTENCE if key in _SENTENCES else limit)


def safe(text: str, limit: int = MAX_TEXT) -> str:
    """Return `text` without control characters, line breaks as spaces, capped at `limit`."""
    # Cut first: a cell may hold megabytes.
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return _UNSAFE.sub("\ufffd", re.sub(r"[\t\n\r]+", " ", cut))


def metric_name(name: str) -> str:
    """Return the name of a metric to show, everywhere the same.

    Examples
    --------
    >>> metric_name("roc_auc"), metric_name("f1_macro"), metric_name("ndcg@10")
    ('ROC AUC', 'F1 (macro)', 'NDCG@10')
    >>> metric_name("top_k_accuracy")
    'Top k accuracy'
    """
    known, variant = _known(name)
    if known is None:
        text = name.replace("_", " ")
        return text[:1].upper() + text[1:]
    if variant.startswith("@"):
        return known[0] + variant
    return f"{known[0]} ({_VARIANTS[variant]})" if variant else known[0]


def metric_meaning(name: str) -> str | None:
    """Return what the metric measures, if it is a common one."""
    known, _ = _known(name)
    return None if known is None else known[1]


def _known(name: str) -> tuple[tuple[str, str] | None, str]:
    """Return name and meaning of a metric, and which variant of it this is."""
    found = re.fullmatch(r"ndcg(?:_linear)?(@\d+)?", name)
    if found is not None:
        return _METRICS["ndcg"], found[1] or ""
    name = _ALIASES.get(name, name)
    if name in _METRICS:
        return _METRICS[name], ""
    for variant in _VARIANTS:
        root = name.removesuffix(f"_{variant}")
        if root != name and root in _METRICS:
            return _METRICS[root], variant
    return None, ""


def decimals_of_spread(rows: Iterable[Candidate]) -> int:
    """Return how many decimals scores of candidates deserve, by the smallest standard deviation."""
    spread = [sd for row in rows if (sd := finite(row.sd))]
    return decimals_of_width(2 * min(spread)) if spread else 4


def short(value: float | int | None) -> str:
    """Return a value in at most four significant digits; years have no separator.

    Examples
    --------
    >>> short(0.41999), short(80), short(1990), short(123456.0), short(1.5e-9), short(None)
    ('0.42', '80', '1990', '123,456', '1.5e-09', '–')
    """
    value = finite(value)
    if value is None:
        return "–"
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:.3g}"
    if float(value).is_integer() or size >= 1000:
        return f"{value:,.0f}" if size >= 10_000 else f"{value:.0f}"
    return f"{value:.4g}"


def span(entry: HasInterval, places: int | None = None) -> str:
    """Return the ends of an interval.

    Examples
    --------
    >>> from assay.record import Estimate
    >>> span(Estimate(value=0.8671, low=0.838, high=0.8961, level=0.95))
    '0.838 to 0.896'
    """
    places = decimals(entry) if places is None else places
    return f"{figure(entry.low, places)} to {figure(entry.high, places)}"


def level(entry: HasInterval) -> str:
    """Return the confidence level of an interval as a percentage.

    Examples
    --------
    >>> from assay.record import Estimate
    >>> level(Estimate(value=0.5, low=0.4, high=0.6, level=0.95))
    '95%'
    """
    return f"{100 * float(entry.level):.4g}%"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row"), count(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def work_text(work: Work) -> str:
    """Return the number of fits, beside that of a naive nested search.

    Examples
    --------
    >>> work_text(Work(fits=940, naive_fits=6716, units=40))
    '940 model fits (a naive nested search: 6,716)'
    """
    fits = count(work.fits, "model fit")
    return (
        f"{fits} (a naive nested search: {work.naive_fits:,})"
        if work.naive_fits > work.fits
        else fits
    )


def share(part: float, whole: float) -> str:
    """Return a percentage that does not round something to nothing or to everything.

    Examples
    --------
    >>> share(177, 891), share(1, 10000), share(9999, 10000), share(0, 5), share(1, 0)
    ('20%', '<1%', '>99%', '0%', '–')
    """
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.5:
        return "<1%"
    if 99.5 <= percent < 100:
        return ">99%"
    return f"{percent:.0f}%"


def params_text(params: Mapping[str, Any]) -> str:
    """Return parameters as ``name=value`` pairs.

    Examples
    --------
    >>> params_text({"n_neighbors": 15, "p": 2.0, "weights": "distance"})
    'n_neighbors=15, p=2, weights=distance'
    """
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        # A model file keeps them sorted; the same model must read the same before and after.
        for name, value in sorted(params.items())
    )


def notes_to_show(notes: Iterable[str]) -> list[str]:
    """Return the notes of a record, without those on columns set aside: they have their own list.

    Examples
    --------
    >>> notes_to_show(["set aside, constant: 'a'", "the positive class is 'yes'"])
    ["the positive class is 'yes'"]
    """
    return [note for note in notes if not note.startswith("set aside")]


def names(items: Sequence[str], limit: int = 6) -> str:
    """Return the first names of a list and how many more there are.

    Examples
    --------
    >>> names(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    if len(items) <= limit:
        return ", ".join(items)
    return f"{', '.join(items[:limit])} and {len(items) - limit:,} more"
