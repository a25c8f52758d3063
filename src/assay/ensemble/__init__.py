"""Ensembles: models that combine other models."""

from __future__ import annotations

from assay._public import publish
from assay.ensemble._adaboost import AdaBoostClassifier
from assay.ensemble._bagging import BaggingClassifier, BaggingRegressor
from assay.ensemble._blending import BlendingClassifier, BlendingRegressor
from assay.ensemble._cascade import CascadeClassifier
from assay.ensemble._convex_weights import convex_weights
from assay.ensemble._diversity import Diversity, diversity
from assay.ensemble._forest import RandomForestClassifier, RandomForestRegressor
from assay.ensemble._forest_extra import ExtraTreesClassifier, ExtraTreesRegressor
from assay.ensemble._gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from assay.ensemble._importance import OutOfBagImportance, permutation_importance_oob
from assay.ensemble._importance_selector import ImportanceSelector
from assay.ensemble._stability import Stability, stability
from assay.ensemble._stacking import StackingClassifier, StackingRegressor
from assay.ensemble._weighted_ensemble import (
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
)
from assay.ensemble._weighted_majority import WeightedMajority

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "CascadeClassifier",
    "Diversity",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ImportanceSelector",
    "OutOfBagImportance",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Stability",
    "StackingClassifier",
    "StackingRegressor",
    "WeightedEnsembleClassifier",
    "WeightedEnsembleRegressor",
    "WeightedMajority",
    "convex_weights",
    "diversity",
    "permutation_importance_oob",
    "stability",
]

publish(__name__)
