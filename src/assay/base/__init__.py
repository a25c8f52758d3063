"""The estimator contract: checked input, one style of messages, a state of plain arrays."""

from __future__ import annotations

from assay._public import publish
from assay.base._checks import check_interval, check_n_jobs, check_option, check_weight
from assay.base._errors import DataError, ParameterError, did_you_mean
from assay.base._estimator import Classifier, Clusterer, Estimator, Regressor, Transformer
from assay.base._frames import as_frame, as_vector
from assay.base._nominal import Levels, nominal_columns
from assay.base._path import Candidates, Path, SharedFit, TrainingSet
from assay.base._predicted import Answer, Fitted, Predicted
from assay.base._random import (
    check_random_state,
    draw_seed,
    is_random_state,
    seeded,
    with_seeds,
)
from assay.base._state import StateError, Value, learned, same
from assay.base._targets import class_codes, real_values
from assay.base._task import Task
from assay.base._threads import in_threads

__all__ = [
    "Answer",
    "Candidates",
    "Classifier",
    "Clusterer",
    "DataError",
    "Estimator",
    "Fitted",
    "Levels",
    "ParameterError",
    "Path",
    "Predicted",
    "Regressor",
    "SharedFit",
    "StateError",
    "Task",
    "TrainingSet",
    "Transformer",
    "Value",
    "as_frame",
    "as_vector",
    "check_interval",
    "check_n_jobs",
    "check_option",
    "check_random_state",
    "check_weight",
    "class_codes",
    "did_you_mean",
    "draw_seed",
    "in_threads",
    "is_random_state",
    "learned",
    "nominal_columns",
    "real_values",
    "same",
    "seeded",
    "with_seeds",
]

publish(__name__)
