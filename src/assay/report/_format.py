"""Numbers, names and hostile strings as words a reader can trust."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypeVar, cast

from assay.record import Candidate, Record, Work

T = TypeVar("T")

# (label inside a sentence, short label, what it means)
_METRICS = {
    "accuracy": ("accuracy", "Accuracy", "the share of rows that get the right class"),
    "balanced_accuracy": (
        "balanced accuracy",
        "Balanced accuracy",
        "the share of rows that get the right class, every class counting the same",
    ),
    "roc_auc": (
        "area under the ROC curve",
        "ROC AUC",
        "how often a positive row is ranked above a negative one; 0.5 is guessing, 1 is perfect",
    ),
    "average_precision": (
        "average precision",
        "Average precision",
        "the area under the precision-recall curve; 1 is perfect",
    ),
    "cost": (
        "mean cost",
        "Mean cost",
        "what a decision costs on average, as the costs were given; smaller is better",
    ),
    "f1": ("F1 score", "F1", "the balance of precision and recall; 1 is perfect"),
    "recall": (
        "sensitivity (recall)",
        "Sensitivity",
        "the share of the positive rows that are found; 1 is perfect",
    ),
    "specificity": (
        "specificity",
        "Specificity",
        "the share of the negative rows that are found; 1 is perfect",
    ),
    "log_loss": (
        "log loss",
        "Log loss",
        "the price of wrong and overconfident probabilities; smaller is better, 0 is perfect",
    ),
    "brier": (
        "Brier score",
        "Brier score",
        "the mean squared error of the probabilities; smaller is better, 0 is perfect",
    ),
    "r2": (
        "R² (share of the variance explained)",
        "R²",
        "the share of the variance explained; 0 is predicting the mean, 1 is perfect",
    ),
    "rmse": (
        "root mean squared error",
        "RMSE",
        "the typical size of an error in the units of the target; smaller is better",
    ),
    "ndcg": (
        "normalised discounted cumulative gain",
        "NDCG",
        "how near the best rows are to the top of their query; 1 is the best order",
    ),
    "map": (
        "mean average precision",
        "MAP",
        "how clean the top of a query is down to each relevant row; 1 is perfect",
    ),
    "auc": (
        "mean area under the ROC curve of a query",
        "AUC by query",
        "how often a relevant row is ranked above an irrelevant one of its query; 0.5 is guessing, "
        "1 is perfect",
    ),
    "kendall_tau": (
        "Kendall's tau",
        "Kendall's tau",
        "agreement with the true order of a query; 0 is guessing, 1 is the true order",
    ),
    "mae": (
        "mean absolute error",
        "MAE",
        "the mean size of an error in the units of the target; smaller is better",
    ),
}
_ALIASES = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "brier_score": "brier",
    "neg_root_mean_squared_error": "rmse",
    "root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "mean_absolute_error": "mae",
}

MAX_TEXT = 160
MAX_SENTENCE = 600
# Entries of a record that hold our own sentences, not names out of a table.
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


def metric_label(name: str) -> str:
    """Return the metric's name as used inside a sentence."""
    known = _known(name)
    return known[0] if known else name.replace("_", " ")


def metric_short(name: str) -> str:
    """Return the metric's name as used in a heading or on an axis."""
    known = _known(name)
    return known[1] if known else name.replace("_", " ")


def metric_meaning(name: str) -> str | None:
    """Return what the metric measures in plain words, if it is a common one."""
    known = _known(name)
    return known[2] if known else None


def _known(name: str) -> tuple[str, str, str] | None:
    found = re.fullmatch(r"ndcg(?:_linear)?(@\d+)?", name)
    if found is not None:
        label, head, meaning = _METRICS["ndcg"]
        at = found[1] or ""
        return (f"{label} of the first {at[1:]}" if at else label), f"{head}{at}", meaning
    return _METRICS.get(_ALIASES.get(name, name))


class HasInterval(Protocol):
    """A number with the ends of its interval."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""

    @property
    def level(self) -> float:
        """Confidence level."""


def finite(value: float | None) -> float | None:
    """Return a number that can be drawn and printed, or None."""
    return None if value is None or not math.isfinite(value) else value


def decimals(entry: HasInterval) -> int:
    """Return how many decimals an interval deserves: two digits of its half-width.

    Examples
    --------
    >>> from assay.record import Estimate
    >>> decimals(Estimate(value=0.8671, low=0.838, high=0.896, level=0.95))
    3
    >>> decimals(Estimate(value=48321.0, low=45100.0, high=51500.0, level=0.95))
    0
    """
    low, high, value = finite(entry.low), finite(entry.high), finite(entry.value)
    if low is not None and high is not None and high > low:
        return decimals_of_width(high - low)
    if value:
        return min(6, max(0, 3 - math.floor(math.log10(abs(value)))))
    return 3


def decimals_of_width(width: float) -> int:
    """Return how many decimals show two digits of half a width.

    Examples
    --------
    >>> decimals_of_width(0.058), decimals_of_width(6400.0)
    (3, 0)
    """
    return min(6, max(0, 1 - math.floor(math.log10(width / 2))))


def decimals_of_spread(rows: Iterable[Candidate]) -> int:
    """Return how many decimals scores of candidates deserve, by the smallest standard deviation."""
    spread = [sd for row in rows if (sd := finite(row.sd))]
    return decimals_of_width(2 * min(spread)) if spread else 4


def figure(value: float | None, places: int) -> str:
    """Return a number with `places` decimals and thousands separators, or a dash if absent.

    Examples
    --------
    >>> figure(48321.4, 0), figure(0.8671, 3), figure(-0.00001, 3), figure(None, 3)
    ('48,321', '0.867', '0.000', '–')
    """
    value = finite(value)
    if value is None:
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    text = f"{value:,.{places}f}"
    # No "-0.000": the sign of a rounded zero only puzzles.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def short(value: float | int | None) -> str:
    """Return a number in at most four significant digits.

    Examples
    --------
    >>> short(0.41999), short(80), short(123456.0), short(1.5e-9), short(None)
    ('0.42', '80', '123,456', '1.5e-09', '–')
    """
    value = finite(value)
    if value is None:
        return "–"
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:.3g}"
    if float(value).is_integer() or size >= 1000:
        return f"{value:,.0f}"
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
    """Return the fits that were done, beside those that a plain nested search would do.

    Examples
    --------
    >>> work_text(Work(fits=40, naive_fits=1000, units=4))
    '40 fits where a plain nested search needs 1,000 (25 times as many)'
    """
    fits, naive = work.fits, work.naive_fits
    if naive > fits > 0:
        times = short(round(naive / fits, 1))
        return (
            f"{count(fits, 'fit')} where a plain nested search needs {naive:,} "
            f"({times} times as many)"
        )
    return count(fits, "fit")


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
