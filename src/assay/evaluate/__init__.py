"""Metrics, their intervals, costs of decisions, and scoring of stored predictions."""

from __future__ import annotations

from assay._public import publish
from assay.evaluate._cost import CostScorer, cost_metric, decide, expected_cost
from assay.evaluate._cost_matrix import CostMatrix
from assay.evaluate._formulas import Formula, RowMean, scores_without
from assay.evaluate._interval import Interval, batch_t, corrected_t, next_t
from assay.evaluate._interval_parts import interval_of_parts
from assay.evaluate._losses import empirical_loss
from assay.evaluate._metric import Metric, get_metric
from assay.evaluate._panel import panel
from assay.evaluate._ranking import (
    kendall_tau,
    mean_auc,
    mean_average_precision,
    ndcg,
    omega_loss,
)
from assay.evaluate._ranking_queries import Queries
from assay.evaluate._replay import replay
from assay.evaluate._sample_interval import sample_interval
from assay.evaluate._without import Without

__all__ = [
    "CostMatrix",
    "CostScorer",
    "Formula",
    "Interval",
    "Metric",
    "Queries",
    "RowMean",
    "Without",
    "batch_t",
    "corrected_t",
    "cost_metric",
    "decide",
    "empirical_loss",
    "expected_cost",
    "get_metric",
    "interval_of_parts",
    "kendall_tau",
    "mean_auc",
    "mean_average_precision",
    "ndcg",
    "next_t",
    "omega_loss",
    "panel",
    "replay",
    "sample_interval",
    "scores_without",
]

publish(__name__)
