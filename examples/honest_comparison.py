"""Measure what a tuned pipeline is worth, and whether it is better than a simple one."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assay.linear import LogisticRegression
from assay.select import NestedSearch, compare
from assay.svm import SVC
from assay.tree import DecisionTreeClassifier

model = make_pipeline(StandardScaler(), SVC())
candidates = {"svc__C": [0.1, 1.0, 10.0, 100.0, 1000.0], "svc__gamma": [0.001, 0.01, 0.1, 1.0]}

# Pure noise: no model can be right more often than in half of the rows. The winner of a plain
# search seems to be, because it was picked for it; nested cross-validation is not misled.
random = np.random.default_rng(3)
noise, coins = random.normal(size=(100, 10)), random.integers(0, 2, size=100)
plain = GridSearchCV(model, candidates, cv=5).fit(noise, coins)
nested = NestedSearch(model, candidates).fit(noise, coins)
print(f"noise, plain search   accuracy {plain.best_score_:.2f}")
score = nested.score_
print(f"noise, nested         accuracy {score.value:.2f} ({score.low:.2f} to {score.high:.2f})")
work = nested.outcome_.work
print(f"fits                  {work.fits} instead of {work.naive_fits}")

# Two pipelines on the same blocks of a real table. Ordinary t-tests find differences where there
# are none, because repeated blocks share rows; this one is corrected for it.
X, y = load_breast_cancer(return_X_y=True)
logistic = make_pipeline(StandardScaler(), LogisticRegression())
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
for name, other in (("logistic regression", logistic), ("a tree", tree)):
    found = compare(model, other, X, y)
    gain = found.gain
    print(f"SVC - {name}: {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}), ", end="")
    print(f"p-value {found.p_value:.3f}, verdict {found.verdict} (a is the SVC)")
