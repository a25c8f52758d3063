"""From a table as read to a table to learn from: roles, kinds, rows used, coded matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError, ParameterError, Task, check_option, did_you_mean
from assay.table._cells import TextRules
from assay.table._columns import Column
from assay.table._dataset import Dataset, RowAccount
from assay.table._kinds import Facts, Kind, facts_of, infer_kind, level_names, yes_no
from assay.table._numbers import EXACT
from assay.table._overview import overview_of
from assay.table._raw import Notes, RawTable, Where, shown
from assay.table._schema import Schema
from assay.table._target import make_target, usable_targets
from assay.table._values import level_text, storage_of, varying_parts


def prepare(
    raw: RawTable,
    target: str,
    *,
    kinds: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    group: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    positive: str | None = None,
    task: str | None = None,
) -> Dataset:
    """Make a table ready to learn from.

    Parameters
    ----------
    raw : RawTable
        From `read`.
    target : str
        Column to predict.
    kinds : mapping of str to str, optional
        Kinds that override the inferred ones, by column: a value of `Kind`, or
        ``"ordinal:low<medium<high"`` to give the order.
    drop : iterable of str
        Columns to leave out.
    group, time, weights : str, optional
        Columns with the group, the time and the weight of each row. They are not features. Rows
        where one of them is missing are dropped and counted.
    positive : str, optional
        The positive one of two classes; by default the second in order.
    task : {'classification', 'binary', 'multiclass', 'regression', 'rank'}, optional
        Overrides the rule below. 'rank': the target is the relevance of an item, `group` names its
        query, and items are ordered within each query.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        For an unknown column (with the nearest name), a target without values, with one class or
        with a class per row, and if no feature is left.

    Notes
    -----
    Text and truth values are classes. Integers with at most 10 distinct values and at least 5
    rows per value (or only two values) are classes, other numbers are a regression. Rows without a
    target, or with an infinite one, are dropped and counted. Infinite feature values count as
    missing. `infer_kind` has the rules for the kinds.

    Examples
    --------
    >>> import polars as pl
    >>> from assay.table import prepare, read
    >>> raw = read(pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "sold": ["no", "yes", None, "no"]}))
    >>> data = prepare(raw, "sold")
    >>> data.target.task, data.y.tolist(), data.account
    ('binary', [0, 1, 0], RowAccount(read=4, used=3, dropped=(('target missing', 1),)))
    """
    kinds, drop = dict(kinds or {}), (drop,) if isinstance(drop, str) else tuple(drop)
    roles = _roles(raw, target, kinds, drop, group, time, weights)
    if task is not None:
        check_option("task", task, ("classification", *Task))
    if task == Task.RANK:
        _check_ranking(group, time)
    frame, notes, rules = raw.frame, Notes(), TextRules(raw.missing)
    usable, dropped = _usable_rows(raw, target, group, time, weights)
    used = frame if usable.all() else frame.filter(pl.Series(usable))
    rows = np.flatnonzero(usable)
    where = Where(raw.source, lambda row: raw.place(int(rows[row])))
    goal, y = make_target(
        used.get_column(target),
        kind=kinds[target].partition(":")[0] if target in kinds else None,
        task=task,
        positive=positive,
        where=where,
        rules=rules,
        notes=notes,
    )
    groups = _groups(used, group)
    if groups is not None and goal.task == Task.RANK:
        _tell_queries(groups, y, raw.source, notes)
    counted = {column.name: facts_of(column) for column in frame}
    columns = [
        _column(raw, column, roles.get(column.name, ""), kinds.get(column.name), counted, notes)
        for column in frame
    ]
    place = frame.columns.index(target)
    columns[place] = replace(columns[place], kind=goal.kind, levels=goal.classes or ())
    schema = Schema(tuple(columns), raw.missing)
    if not schema.features:
        raise DataError(
            f"{raw.source}: no column is left to learn from besides the target {shown(target)}; "
            f"set aside were: {_reasons(columns)}"
        )
    return Dataset(
        X=schema.matrix(used, where=where),
        y=y,
        target=goal,
        weight=_weights(used, weights, rules, where),
        groups=groups,
        time=_times(used, time, rules, where),
        schema=schema,
        account=RowAccount(raw.rows, used.height, tuple(dropped)),
        digest=raw.digest,
        source=raw.source,
        notes=raw.notes + notes.sentences(),
        overview=[
            overview_of(column, frame.get_column(column.name), counted[column.name])
            for column in columns
        ],
    )


def _roles(
    raw: RawTable,
    target: str,
    kinds: Mapping[str, str],
    drop: tuple[str, ...],
    group: str | None,
    time: str | None,
    weights: str | None,
) -> dict[str, str]:
    """Assign roles to columns; raise for unknown names and for two roles of one column."""
    roles: dict[str, str] = {}
    asked = [(target, "target"), (group, "group"), (time, "time"), (weights, "weights")]
    asked += [(name, "dropped") for name in dict.fromkeys(drop)]
    for name, role in asked:
        if name is None:
            continue
        _check_name(raw, name, "target" if role == "target" else role)
        if name in roles:
            raise ParameterError(
                f"column {shown(name)} cannot be both {roles[name]} and {role}; choose one"
            )
        roles[name] = role
    for name, kind in kinds.items():
        _check_name(raw, name, "kind")
        check_option(f"kind of {shown(name)}", kind.partition(":")[0], [str(k) for k in Kind])
    return roles


def _check_name(raw: RawTable, name: str, role: str) -> None:
    if name not in raw.frame.columns:
        hint = did_you_mean(name, raw.frame.columns)
        if not hint:
            some = ", ".join(shown(column) for column in raw.frame.columns[:8])
            hint = f"; it has {some}{', ...' if raw.frame.width > 8 else ''}"
        raise DataError(f"{raw.source} has no column {shown(name)} ({role}){hint}")


def _usable_rows(
    raw: RawTable, target: str, group: str | None, time: str | None, weights: str | None
) -> tuple[NDArray[np.bool_], list[tuple[str, int]]]:
    usable, reasons = usable_targets(raw.frame.get_column(target), raw.source)
    dropped = [("blank line", raw.blank)] if raw.blank else []
    dropped += reasons
    usable = usable.copy()
    for role, name in (("group", group), ("time", time), ("weight", weights)):
        if name is not None:
            missing = raw.frame.get_column(name).is_null().to_numpy() & usable
            if missing.any():
                dropped.append((f"{role} missing", int(missing.sum())))
                usable &= ~missing
    if not usable.any():
        raise DataError(
            f"{raw.source}: no row is left; dropped were "
            + ", ".join(f"{count} ({reason})" for reason, count in dropped)
        )
    return usable, dropped


def _column(
    raw: RawTable,
    values: pl.Series,
    role: str,
    asked: str | None,
    counted: Mapping[str, Facts],
    notes: Notes,
) -> Column:
    """Decide on one column: its kind, its role, and what this kind needs."""
    name, facts = values.name, counted[values.name]
    storage = storage_of(values.dtype)
    style = raw.styles.get(name, "")
    kind, reason = infer_kind(values, facts)
    order: tuple[str, ...] = ()
    if asked is not None:
        word, _, given = asked.partition(":")
        kind, reason = Kind(word), ""
        order = tuple(level.strip() for level in given.split("<")) if given else ()
        if kind in (Kind.IDENTIFIER, Kind.CONSTANT):
            reason = "set aside on request"
    if role == "dropped":
        return Column(name, kind, storage, "dropped", "on request", style=style)
    if role:
        return Column(name, kind, storage, role, style=style)
    if reason:
        if kind == Kind.CONSTANT:
            notes.add(f"set aside, {reason}: {{}}", shown(name))
        else:
            notes.add(f"set aside, {kind}: {{}}", f"{shown(name)} ({reason})")
        return Column(name, kind, storage, "dropped", reason, style=style)
    column = Column(name, kind, storage, "feature", style=style)
    if facts.infinite:
        notes.add("infinite values count as missing: {}", f"{shown(name)} ({facts.infinite})")
    if kind == Kind.NUMERIC:
        return _numeric(column, values, facts, notes)
    if kind == Kind.DATETIME:
        moments = column.moments(values, TextRules(raw.missing), raw.where)
        return replace(column, parts=varying_parts(moments))
    return replace(column, levels=_levels(column, values, facts, order, raw.source))


def _numeric(column: Column, values: pl.Series, facts: Facts, notes: Notes) -> Column:
    ends = [abs(int(end)) for end in facts.ordered[[0, -1]]] if len(facts.ordered) else [0]
    if values.dtype == pl.Int64 and max(ends) > EXACT:
        notes.add("integers beyond 2^53 are rounded to float64: {}", shown(column.name))
    return column


def _levels(
    column: Column, values: pl.Series, facts: Facts, order: tuple[str, ...], source: str
) -> tuple[str, ...]:
    """Return the categories of a coded column, in the order of their codes."""
    if column.storage == "boolean":
        return ("false", "true")
    pair = yes_no(level_names(facts))
    if pair is not None:
        return pair
    found: list[str] = level_text(values.unique().drop_nulls().sort(), column.storage).to_list()
    if column.kind == Kind.BOOLEAN and len(found) != 2:
        raise DataError(
            f"{source}, column {shown(column.name)}: a boolean has two values, this has "
            f"{len(found)}; give it another kind"
        )
    if not order:
        return tuple(found)
    unknown = [level for level in found if level not in order]
    if unknown or len(set(order)) < len(order):
        raise ParameterError(
            f"kind of {shown(column.name)}: the order must name every category once; "
            + (f"{shown(unknown[0])} is not in it" if unknown else "one appears twice")
        )
    return order


def _weights(
    used: pl.DataFrame, name: str | None, rules: TextRules, where: Where
) -> NDArray[np.float64] | None:
    if name is None:
        return None
    values = used.get_column(name)
    column = Column(name, Kind.NUMERIC, storage_of(values.dtype), "weights")
    weight = column.reals(values, rules, where)
    bad = np.flatnonzero(~(weight >= 0))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{where.cell(row, name)}: the weight {values[row]} is negative or infinite; weights "
            "are finite and >= 0"
        )
    if not weight.any():
        raise DataError(f"{where.source}: the weights {shown(name)} are zero in every row")
    return weight


def _groups(used: pl.DataFrame, name: str | None) -> NDArray[np.int64] | None:
    if name is None:
        return None
    codes = used.get_column(name).rank("dense").cast(pl.Int64) - 1
    return np.array(codes.to_numpy(), dtype=np.int64)


def _check_ranking(group: str | None, time: str | None) -> None:
    if group is None:
        raise ParameterError(
            "group must name the column of the query when task='rank'; items are put in order "
            "within a query. Got None"
        )
    if time is not None:
        raise ParameterError(
            f"time must be None when task='rank', since queries are kept whole; got {time!r}"
        )


def _tell_queries(
    groups: NDArray[np.int64], y: NDArray[np.float64], source: str, notes: Notes
) -> None:
    """Report how many queries have nothing to order; raise if there is no other query."""
    n = int(groups.max()) + 1
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, groups, y)
    np.maximum.at(high, groups, y)
    idle = int((low == high).sum())
    if idle == n:
        raise DataError(
            f"{source}: none of the {n} queries has two rows of different target, so there is "
            "nothing to order"
        )
    if idle:
        notes.add(
            f"{idle} of {n} queries have one row, or rows of one target only, and so nothing to "
            "order"
        )


def _times(
    used: pl.DataFrame, name: str | None, rules: TextRules, where: Where
) -> NDArray[np.float64] | None:
    if name is None:
        return None
    values = used.get_column(name)
    storage = storage_of(values.dtype)
    if storage == "number":
        return Column(name, Kind.NUMERIC, storage, "time").reals(values, rules, where)
    parts = Column(name, Kind.DATETIME, storage, "time", parts=("elapsed",))
    return parts.matrix(values, rules, where)[:, 0].copy()


def _reasons(columns: list[Column]) -> str:
    aside = [f"{shown(c.name)} ({c.reason or c.role})" for c in columns if c.role != "target"]
    return ", ".join(aside[:8]) or "none"
