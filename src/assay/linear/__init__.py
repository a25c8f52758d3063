"""Linear models: a loss, a penalty and a solver."""

from __future__ import annotations

from assay._public import publish
from assay.linear._elastic_net import ElasticNet
from assay.linear._gradient_descent import GradientDescentClassifier, GradientDescentRegressor
from assay.linear._gradient_descent_solver import learning_rate
from assay.linear._lasso import Lasso
from assay.linear._least_penalties import enet_path, lasso_path
from assay.linear._linear_regression import LinearRegression
from assay.linear._linear_svc import LinearSVC
from assay.linear._logistic import LogisticRegression
from assay.linear._perceptron import Perceptron
from assay.linear._polynomial import PolynomialRegression
from assay.linear._ridge import Ridge

__all__ = [
    "ElasticNet",
    "GradientDescentClassifier",
    "GradientDescentRegressor",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Perceptron",
    "PolynomialRegression",
    "Ridge",
    "enet_path",
    "lasso_path",
    "learning_rate",
]

publish(__name__)
