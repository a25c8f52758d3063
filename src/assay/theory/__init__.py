"""Small calculators of learning theory: votes, samples, information, and sizes of spaces.

Nothing here imports another package of Assay; a wrong argument is a ValueError.
"""

from __future__ import annotations

from assay._public import publish
from assay.theory._bias_variance import BiasVariance, bias_variance
from assay.theory._bootstrap import bootstrap_share
from assay.theory._chi_square import chi_square_deviation, chi_square_threshold
from assay.theory._cover import count_dichotomies, cover_fraction
from assay.theory._hypotheses import (
    count_conjunctions,
    hypothesis_space_size,
    log_decision_lists,
)
from assay.theory._information import entropy, information_gain
from assay.theory._majority import majority_error
from assay.theory._neighbourhood import neighbourhood_edge, quadratic_kernel
from assay.theory._pac import pac_sample_size
from assay.theory._partitions import count_partitions
from assay.theory._perceptron_bound import perceptron_mistake_bound

__all__ = [
    "BiasVariance",
    "bias_variance",
    "bootstrap_share",
    "chi_square_deviation",
    "chi_square_threshold",
    "count_conjunctions",
    "count_dichotomies",
    "count_partitions",
    "cover_fraction",
    "entropy",
    "hypothesis_space_size",
    "information_gain",
    "log_decision_lists",
    "majority_error",
    "neighbourhood_edge",
    "pac_sample_size",
    "perceptron_mistake_bound",
    "quadratic_kernel",
]

publish(__name__)
