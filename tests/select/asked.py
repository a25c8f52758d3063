"""`search` and `refit` with flat arguments, as tests like to write them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from assay import select
from assay.base import Task
from assay.select import Outcome, Question, Refitted, Resources, Rules
from assay.select.plan import Data


def search(X: Any, y: Any, families: Any, **options: Any) -> Outcome:
    """Sort the options into question, rules and resources."""
    rules, resources = (
        {name: options.pop(name) for name in {each.name for each in fields(kind)} & set(options)}
        for kind in (Rules, Resources)
    )
    found: Outcome = select.search(
        Question.of(X, y, **options), families, Rules(**rules), Resources(**resources)
    )
    return found


def refit(chosen: Any, X: Any, y: Any, weight: Any = None, **options: Any) -> Refitted:
    """Ask the same question again, of an outcome; else the usual one of the target."""
    queries, seed = options.pop("queries", None), options.pop("seed", None)
    y = np.asarray(y)
    n_classes = int(y.max()) + 1 if y.dtype.kind in "iu" else None
    if isinstance(chosen, Outcome):
        data = Data(np.asarray(X), y, weight, chosen.n_classes, None, queries)
        question = Question(data, Task(chosen.task), chosen.metric, chosen.positive, chosen.cost)
    else:
        question = Question.of(X, y, task=Task.of_classes(n_classes), weight=weight)
    return select.refit(chosen, question, seed=seed, **options)
