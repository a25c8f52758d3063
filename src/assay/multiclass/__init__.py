"""Multiclass and multilabel classification from binary classifiers, costs and calibration."""

from __future__ import annotations

from assay._public import publish
from assay.multiclass._all_vs_all import AllVsAllClassifier
from assay.multiclass._calibrated import CalibratedClassifier
from assay.multiclass._cost_classifier import CostClassifier
from assay.multiclass._multilabel import MultilabelClassifier
from assay.multiclass._one_vs_all import OneVsAllClassifier
from assay.multiclass._probability_map import ProbabilityMap

__all__ = [
    "AllVsAllClassifier",
    "CalibratedClassifier",
    "CostClassifier",
    "MultilabelClassifier",
    "OneVsAllClassifier",
    "ProbabilityMap",
]

publish(__name__)
