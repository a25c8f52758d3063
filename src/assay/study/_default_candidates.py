"""Which candidates are tried on which table: fixed before any score is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from assay.base import Task, check_option
from assay.features import Chain, ConsensusSelector
from assay.record import FamilyRule
from assay.select import Family
from assay.study._candidate_groups import Group, classifiers, on_selected, rankers, regressors
from assay.study._cost_model import Shape, WideMemory, budget
from assay.table import Dataset, Encoder

EFFORTS = ("quick", "normal", "thorough")

# The most of the budget that a family may take, and a single group of candidates: what wins most
# often on tables may take more.
_SHARE, _LARGE_SHARES = 0.2, {"gradient boosting": 0.6, "random forest": 0.35, "extra-trees": 0.3}
_GROUP_SHARE = 0.15
# From this many columns on, and half as many as rows, models are also tried on selected columns.
_WIDE = 100
# How often the trees or rounds of a group are halved before it is given up.
_MAX_HALVINGS = 4
# On longer tables every group is a family of its own, so that each can be dropped or cut alone.
_JOINED_ROWS = 10_000
# Discount on the cost of the families that win most often, for when little time is left.
_DISCOUNT = {"gradient boosting": 0.2, "random forest": 0.4}


class DefaultCandidates(NamedTuple):
    """What is tried.

    Parameters
    ----------
    families : list of Family
        In the order in which they are tried.
    notes : list of str
        What was left out, and why.
    rules : list of FamilyRule
        For each family the number of its candidates, its work units and why it is tried.
    """

    families: list[Family]
    notes: list[str]
    rules: list[FamilyRule]


def default_candidates(
    dataset: Dataset,
    effort: str = "normal",
    *,
    probabilities: bool = False,
    fits: int = 10,
    limit: float | None = None,
) -> DefaultCandidates:
    """Return the default families for a table, and what was left out and why.

    Parameters
    ----------
    dataset : Dataset
        The prepared table. Only its shape and task are looked at, never its values, but for the
        power of ten of a numeric target's spread: penalties are in its units.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How fine the grids are, and how many work units they may cost.
    probabilities : bool, default=False
        Whether only models that give probabilities can be scored.
    fits : int, default=10
        Training sets on which every candidate is fitted.
    limit : float, optional
        Work units that a time limit leaves room for. Where the effort would spend more, fewer
        candidates are tried; else it has no effect.

    Notes
    -----
    Candidates come in groups, the first group of each family being its best guess. First every
    family gets its first group, those that cost least per chance of winning first, then its second,
    and so on, while the budget lasts. A group that is too expensive is tried with fewer trees or
    rounds.
    """
    check_option("effort", effort, EFFORTS)
    shape = _shape(dataset)
    notes: list[str] = []
    by_halvings = [
        list(_groups(dataset, effort, shape, halvings)) for halvings in range(_MAX_HALVINGS)
    ]
    offered: dict[str, list[list[Group]]] = {}
    for versions in zip(*by_halvings, strict=True):
        if probabilities and not versions[0].probabilities:
            notes.append(
                f"{versions[0].family} left out: it has no probabilities, which the metric needs"
            )
        else:
            offered.setdefault(versions[0].family, []).append(list(versions))
    whole = budget(effort, shape.rows)
    chosen, too_expensive = _affordable(offered, shape, effort, fits, whole)
    planned = sum(_cost(group, shape, fits) for group in chosen)
    if limit is not None and limit < planned:
        chosen, too_expensive = _affordable(offered, shape, effort, fits, limit)
        notes.append(
            f"the time limit allows {_span(limit)} of one core, and effort '{effort}' would "
            f"take {_span(planned)}: fewer candidates are tried"
        )
    notes = [*dict.fromkeys(notes), *too_expensive]
    encoder = Encoder(kinds=tuple(feature.kind for feature in dataset.schema.features))
    selector = Chain([encoder, ConsensusSelector(n_outer=3, n_inner=3, min_features=5)])
    nominal = tuple(j for j, each in enumerate(dataset.schema.features) if each.kind == "nominal")
    families = [
        _family(group, selector if group.selected else encoder, nominal, shape.width)
        for group in _joined(chosen, shape)
    ]
    return DefaultCandidates(families, notes, _rules(chosen, shape, fits))


def _groups(dataset: Dataset, effort: str, shape: Shape, halvings: int) -> Iterator[Group]:
    task = dataset.target.task
    if not Task(task).has_classes:  # a predicted number ranks, too
        yield from regressors(effort, shape, _unit(dataset), halvings)
    else:
        yield from classifiers(effort, shape, halvings)
    if task == Task.RANK:
        yield from rankers(effort, shape)
    elif shape.width >= max(_WIDE, shape.rows / 2):
        yield from on_selected(effort, shape, classes=task != Task.REGRESSION)


def _shape(dataset: Dataset) -> Shape:
    # A nominal column gives at most one column per level and one for gaps.
    width = sum(
        len(feature.levels) + 1 if feature.kind == "nominal" and feature.levels else 1
        for feature in dataset.schema.features
    )
    n_classes = len(dataset.target.classes or ())
    columns = len(dataset.schema.features)
    return Shape(len(dataset.y), columns, width, n_classes if n_classes > 2 else 1)


def _unit(dataset: Dataset) -> float:
    """Return the spread of a numeric target to the nearest power of ten."""
    spread = float(np.std(dataset.y))
    return float(10.0 ** np.round(np.log10(spread)))  # never 0: a constant target is refused


def _cost(group: Group, shape: Shape, fits: int) -> float:
    # Two more fits for the choice: on the rows that judge it, and on all.
    train, test = int(0.6 * shape.rows), int(0.4 * shape.rows)
    return group.cost(train, test) * (fits + 2)


def _affordable(
    offered: Mapping[str, list[list[Group]]],
    shape: Shape,
    effort: str,
    fits: int,
    whole: float,
) -> tuple[list[Group], list[str]]:
    """Return the groups that the budget pays for, in the order of trial, and who is missing."""
    left = whole
    spent = dict.fromkeys(offered, 0.0)
    chosen: list[Group] = []
    missing: dict[str, float] = {}
    for turn in zip_longest(*offered.values()):
        priced = [_priced(versions, shape, fits, whole) for versions in turn if versions]
        priced.sort(key=lambda pair: pair[1] * _DISCOUNT.get(pair[0].family, 1.0))
        for group, cost in priced:
            if cost <= min(left, _share(group.family) * whole - spent[group.family]):
                chosen.append(group)
                spent[group.family] += cost
                left -= cost
            elif not spent[group.family]:
                missing.setdefault(group.family, cost)
    if not chosen:  # something must be tried, however little there is to spend
        cheapest = [_priced(groups[0], shape, fits, whole) for groups in offered.values()]
        chosen.append(min(cheapest, key=lambda pair: pair[1])[0])
    notes = [
        _left_out_note(family, cost, effort, shape, whole)
        for family, cost in missing.items()
        if not spent[family]
    ]
    return chosen, notes


def _share(family: str) -> float:
    return _LARGE_SHARES.get(family, _SHARE)


def _priced(versions: list[Group], shape: Shape, fits: int, whole: float) -> tuple[Group, float]:
    """Return the first version of a group that is cheap enough, or the cheapest, and its cost."""
    for group in versions:
        cost = _cost(group, shape, fits)
        if cost <= _GROUP_SHARE * whole:
            break
    return group, cost


def _left_out_note(family: str, cost: float, effort: str, shape: Shape, whole: float) -> str:
    richer = [
        each
        for each in EFFORTS[EFFORTS.index(effort) + 1 :]
        if cost <= _share(family) * budget(each, shape.rows)
    ]
    limited = whole < budget(effort, shape.rows)
    who = "the time limit" if limited else f"effort '{effort}'"
    advice = f"; effort '{richer[0]}' may include it" if richer and not limited else ""
    return (
        f"{family} left out: with {shape.rows:,} rows in {shape.width:,} columns it would take "
        f"{_span(cost)} of one core, and {who} allows {_span(whole)} for all models{advice}"
    )


def _span(work: float) -> str:
    """Return work units as the time they take, roughly.

    Examples
    --------
    >>> _span(5_000), _span(200_000), _span(9e7)
    ('about 5 s', 'about 3 min', 'about 25 h')
    """
    seconds = work / 1000
    if seconds < 100:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"


def _joined(groups: list[Group], shape: Shape) -> list[Group]:
    """Put the groups of a family together where the table is short."""
    if shape.rows >= _JOINED_ROWS:
        return groups
    families: dict[str, Group] = {}
    for group in groups:
        there = families.get(group.family)
        families[group.family] = group if there is None else there.with_more(group)
    return list(families.values())


def _family(group: Group, encoder: Any, nominal: tuple[int, ...], width: int) -> Family:
    # Trees and naive Bayes take nominal and missing values as they are: no encoder, and one sorting
    # (or one summary) of the columns serves every training set.
    estimator = clone(group.estimator)
    if nominal and not group.encoded:
        estimator.set_params(categorical_features=nominal)
    return Family(
        group.family,
        estimator,
        tuple(group.candidates),
        encoder if group.encoded else None,
        work=group.cost,
        memory=group.memory or (WideMemory(width) if group.encoded else None),
    )


def _rules(groups: list[Group], shape: Shape, fits: int) -> list[FamilyRule]:
    rules: dict[str, FamilyRule] = {}
    for group in groups:
        name = group.family
        so_far = rules.get(name, FamilyRule(family=name, candidates=0, work=0, why=group.why))
        rules[name] = replace(
            so_far,
            candidates=so_far.candidates + len(group.candidates),
            work=so_far.work + round(_cost(group, shape, fits)),
        )
    return list(rules.values())


def own_families(models: Mapping[str, Any], dataset: Dataset) -> list[Family]:
    """Return the user's own models as families: one candidate each, behind the same encoder.

    Parameters
    ----------
    models : mapping of str to estimator or Family
        A `Family` is taken as it is.
    dataset : Dataset
        Gives the kinds of the columns to encode.
    """
    encoder = Encoder(kinds=tuple(feature.kind for feature in dataset.schema.features))
    return [
        model if isinstance(model, Family) else Family(name, model, ({},), encoder)
        for name, model in models.items()
    ]
