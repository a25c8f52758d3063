"""Classification by Bayes' rule with independent columns."""

from __future__ import annotations

from assay._public import publish
from assay.bayes._naive_bayes import NaiveBayesClassifier

__all__ = ["NaiveBayesClassifier"]

publish(__name__)
