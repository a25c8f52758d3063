"""Use a forest of Assay where scikit-learn expects an estimator."""

from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from assay.datasets import load_titanic
from assay.ensemble import RandomForestClassifier

table = load_titanic()  # a Polars frame; pandas and Arrow do as well
X = table.select("Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked")
y = table["Survived"].to_numpy()

# Nominal and missing values need no encoding.
ours = RandomForestClassifier(n_estimators=100, min_samples_leaf=3, random_state=0)

# But it stands in a pipeline like any other estimator.
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["Sex", "Embarked"]), remainder="passthrough"
)
encoded = make_pipeline(encode, ours)
theirs = make_pipeline(
    encode, TheirForest(n_estimators=100, min_samples_leaf=3, random_state=0, n_jobs=2)
)

for name, model in (("as it is", ours), ("encoded", encoded), ("scikit-learn", theirs)):
    scores = cross_val_score(model, X, y, cv=5, scoring="roc_auc")
    print(f"{name:14} ROC AUC {scores.mean():.3f}")
