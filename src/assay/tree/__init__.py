"""Decision trees, rule lists and trees with special leaves."""

from __future__ import annotations

from assay._public import publish
from assay.tree._decision_list import DecisionListClassifier
from assay.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from assay.tree._density_tree import DensityTree
from assay.tree._export import export_graphviz, export_text
from assay.tree._id3 import ID3Classifier
from assay.tree._model_tree import ModelTreeRegressor
from assay.tree._oblique_tree import ObliqueTreeClassifier, ObliqueTreeRegressor
from assay.tree._picture import export_vega
from assay.tree._rules import rules

__all__ = [
    "DecisionListClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DensityTree",
    "ID3Classifier",
    "ModelTreeRegressor",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "export_graphviz",
    "export_text",
    "export_vega",
    "rules",
]

publish(__name__)
