"""Support vector machines and other kernel methods."""

from __future__ import annotations

from assay._public import publish
from assay.svm._kernel_logistic import KernelLogisticRegression
from assay.svm._kernel_vote import KernelVoteClassifier
from assay.svm._mercer import MercerReport, check_mercer
from assay.svm._svc import SVC
from assay.svm._svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "KernelLogisticRegression",
    "KernelVoteClassifier",
    "MercerReport",
    "check_mercer",
]

publish(__name__)
