"""Decide when one mistake costs more than another."""

import assay
from assay.datasets import load_titanic, path
from assay.ensemble import RandomForestClassifier
from assay.evaluate import CostMatrix
from assay.multiclass import CostClassifier

# To give up somebody who survived (truth 1, predicted 0) costs 5; the other mistake costs 1.
table = path("titanic")
plain = assay.fit(table, target="Survived", effort="quick")
careful = assay.fit(table, target="Survived", effort="quick", cost={("1", "0"): 5})
print("metric   ", careful.score.metric)
print("mean cost", careful.score)
print("baseline ", careful.baseline, "(the cheapest constant answer)")
for name, study in (("without costs", plain), ("with costs", careful)):
    share = (study.predict(table).astype(str) == "1").mean()
    print(f"{name:14} predicts survival for {share:.0%} of the rows")

# The same for a single estimator; probabilities are calibrated inside the fit.
rows = load_titanic()
X, y = rows[["Pclass", "Sex", "Age", "Fare"]], rows["Survived"].cast(str).to_numpy()
cost = CostMatrix.of({("1", "0"): 5}, ["0", "1"])
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = CostClassifier(forest, cost=cost.values).fit(X, y)
print(f"forest with costs predicts survival for {(model.predict(X) == '1').mean():.0%}")
