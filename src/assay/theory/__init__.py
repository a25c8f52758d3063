"""Small calculators of learning theory: votes, bootstrap samples, information, significance.

Nothing here imports anything of Assay; a wrong argument is a ValueError.
"""

from __future__ import annotations

from assay.theory._bootstrap import bootstrap_share
from assay.theory._chi_square import chi_square_deviation, chi_square_threshold
from assay.theory._information import entropy, information_gain
from assay.theory._majority import majority_error

__all__ = [
    "bootstrap_share",
    "chi_square_deviation",
    "chi_square_threshold",
    "entropy",
    "information_gain",
    "majority_error",
]
