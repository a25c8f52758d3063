"""Nested choice over several families: `NestedSearch` beside ``cross_validate(GridSearchCV)``.

The question is one: five blocks; for each of them the parameters and the family that the other four
choose by their inner scores, and the score of that choice. Both sides have the same grids, the same
blocks, the same encoders and two workers. The naive side is one pipeline whose steps are replaced
by the grid, so it refits one winner per block and not one per family. Ours is asked for no more
than that (`refit=False`), and gives the final choice besides.

*Families with one answer* have a solution that any correct program finds: neighbours, penalised
and kernel machines, densities. There scikit-learn's estimators are the reference, both sides with
the same tolerance: choices and scores must be the same to 1e-9. At scikit-learn's own tolerances,
the third contestant, its solvers stop where some rows are still on the wrong side.

*With trees* cuts of equal worth and random draws are in the game, which every library does its own
way; where another family wins, choices and outer scores are the same nevertheless. The reference is
"assay, naive", the same naive search over Assay's estimators: it shows that sharing changes no
number, and how much of the ratio is sharing.

The quality column says how far each contestant is from the choices, the inner scores (every
candidate, every block) and the outer scores of the reference, and how many fits were done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import ParameterGrid, StratifiedKFold

from benchmarks import tables
from benchmarks.work import OURS, Contestant, Work

WORKERS = 2
NAIVE = "assay, naive"
THEIRS = "scikit-learn"
LOOSE = "scikit-learn, loose"


class Rows(NamedTuple):
    """A table with the block of each row."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    block: NDArray[np.int64]
    nominal: list[int]


@dataclass(frozen=True)
class Spec:
    """A family: where each library has it, what is fixed, what is tried, and how it is encoded."""

    ours: str
    theirs: str
    grid: Mapping[str, Sequence[Any]]
    encode: bool = False
    fixed: Mapping[str, Any] | None = None
    only_ours: Mapping[str, Any] | None = None
    renamed: Mapping[str, str] | None = None

    def model(self, library: str) -> Any:
        """Return the unfitted model of one library."""
        name, fixed = self.ours, {**(self.fixed or {}), **(self.only_ours or {})}
        if library == THEIRS:
            name, fixed = self.theirs, dict(self.fixed or {})
        module, _, cls = name.rpartition(".")
        return getattr(__import__(module, fromlist=[cls]), cls)(**fixed)

    def parameters(self, library: str) -> dict[str, Sequence[Any]]:
        """Return the grid in the words of one library."""
        names = (self.renamed or {}) if library == THEIRS else {}
        return {names.get(name, name): values for name, values in self.grid.items()}


def powers(first: int, last: int, count: int) -> list[float]:
    return [float(value) for value in np.logspace(first, last, count)]


NEIGHBORS = Spec(
    "assay.neighbors.KNeighborsClassifier",
    "sklearn.neighbors.KNeighborsClassifier",
    {
        "n_neighbors": [1, 3, 5, 7, 9, 11, 15, 21, 31, 51],
        "weights": ["uniform", "distance"],
        "p": [1, 2],
    },
    encode=True,
)
LOGISTIC = Spec(
    "assay.linear.LogisticRegression",
    "sklearn.linear_model.LogisticRegression",
    {"C": powers(-3, 3, 13)},
    encode=True,
    fixed={"max_iter": 5000},
)
MACHINE = Spec(
    "assay.svm.SVC",
    "sklearn.svm.SVC",
    {"C": powers(-1, 3, 7), "gamma": [0.001, 0.003, 0.01, 0.03, 0.1]},
    encode=True,
)
DISCRIMINANT = Spec(
    "assay.decomposition.LinearDiscriminantAnalysis",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    {"shrinkage": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9]},
    fixed={"solver": "lsqr"},
)
BAYES = Spec(
    "assay.bayes.NaiveBayesClassifier",
    "sklearn.naive_bayes.GaussianNB",
    {"var_smoothing": powers(-10, -1, 10)},
)
RADIUS = Spec(
    "assay.neighbors.RadiusNeighborsClassifier",
    "sklearn.neighbors.RadiusNeighborsClassifier",
    {"radius": [2.0, 3.0, 4.0, 5.0, 6.0], "weights": ["uniform", "distance"]},
    encode=True,
    fixed={"outlier_label": "most_frequent"},
)
TREE = Spec(
    "assay.tree.DecisionTreeClassifier",
    "sklearn.tree.DecisionTreeClassifier",
    {"max_depth": [2, 3, 4, 6, 8, None], "ccp_alpha": [0.0, 0.003, 0.01, 0.03]},
    fixed={"random_state": 0},
)
FOREST = Spec(
    "assay.ensemble.RandomForestClassifier",
    "sklearn.ensemble.RandomForestClassifier",
    {
        "n_estimators": [50, 100, 200, 300],
        "max_features": ["sqrt", 0.5],
        "min_samples_leaf": [1, 3],
    },
    fixed={"random_state": 0},
)
BOOSTING = Spec(
    "assay.ensemble.GradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingClassifier",
    {"n_estimators": [50, 100, 200], "learning_rate": [0.05, 0.1, 0.2]},
    fixed={"random_state": 0, "early_stopping": False},
    renamed={"n_estimators": "max_iter"},
)

EIGHT = {
    "k-NN": NEIGHBORS,
    "logistic regression": LOGISTIC,
    "SVM": MACHINE,
    "LDA": DISCRIMINANT,
    "naive Bayes": BAYES,
    "tree": TREE,
    "forest": FOREST,
    "boosting": BOOSTING,
}
SIX = {name: EIGHT[name] for name in EIGHT if name not in ("tree", "boosting")}
#: Nominal columns as they are for trees and naive Bayes, one column per level for the others.
GERMAN = EIGHT | {"LDA": replace(DISCRIMINANT, encode=True)}
#: Grids that the naive side ends in some minutes.
LETTER = {
    "k-NN": replace(NEIGHBORS, grid={**NEIGHBORS.grid, "n_neighbors": [1, 3, 5, 9]}),
    "LDA": DISCRIMINANT,
    "naive Bayes": BAYES,
    "tree": replace(TREE, grid={"max_depth": [8, 12, 16, None], "ccp_alpha": [0.0, 0.0001, 0.001]}),
    "forest": replace(FOREST, grid={"n_estimators": [50, 100, 200]}),
}


def of_kernel(kernel: str, grid: Mapping[str, Sequence[Any]], **fixed: Any) -> Spec:
    return replace(MACHINE, grid=grid, fixed={"kernel": kernel, "tol": 1e-6, **fixed})


#: Solvers get a tolerance at which no row is on the wrong side any more, on both sides the same.
ONE_ANSWER = {
    "k-NN": NEIGHBORS,
    "radius neighbours": RADIUS,
    "logistic regression": replace(LOGISTIC, fixed={"max_iter": 5000, "tol": 1e-8}),
    "linear SVM": of_kernel("linear", {"C": powers(-3, 1, 7)}),
    "polynomial SVM": of_kernel("poly", {"C": powers(-1, 2, 4), "degree": [2, 3]}, coef0=1.0),
    "SVM": of_kernel("rbf", MACHINE.grid),
    "LDA": DISCRIMINANT,
    "naive Bayes": BAYES,
}
SIX_WITH_ONE_ANSWER = {
    name: ONE_ANSWER[name]
    for name in ("k-NN", "logistic regression", "polynomial SVM", "SVM", "LDA", "naive Bayes")
}
GERMAN_WITH_ONE_ANSWER = ONE_ANSWER | {"LDA": GERMAN["LDA"]}
LETTER_WITH_ONE_ANSWER = {
    "k-NN": LETTER["k-NN"],
    "logistic regression": replace(ONE_ANSWER["logistic regression"], grid={"C": [0.1, 1.0, 10.0]}),
    "LDA": DISCRIMINANT,
    "naive Bayes": BAYES,
}


def loosened(families: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return the families with the tolerances that the library itself would take."""
    return {
        name: replace(spec, fixed={k: v for k, v in (spec.fixed or {}).items() if k != "tol"})
        for name, spec in families.items()
    }


def with_blocks(X: Any, y: Any, nominal: Sequence[int] = ()) -> Rows:
    """Cut rows into five stratified blocks."""
    block = np.empty(len(y), dtype=np.int64)
    for number, (_, test) in enumerate(
        StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    ):
        block[test] = number
    return Rows(X, y, block, list(nominal))


def cancer() -> Rows:
    return with_blocks(*load_breast_cancer(return_X_y=True))


def digits() -> Rows:
    return with_blocks(*load_digits(return_X_y=True))


def real(name: str) -> Callable[[], Rows]:
    def data() -> Rows:
        rows = tables.load(name)
        return with_blocks(rows.X, rows.y, rows.nominal)

    return data


class Answer(NamedTuple):
    """What a nested choice says, and what it cost."""

    chosen: list[tuple[str, dict[str, Any]]]
    outer: list[float]
    inner: dict[str, NDArray[np.float64]]  # by family: (blocks, candidates)
    fits: int


def encoder(nominal: Sequence[int]) -> Any:
    """Return what is in front of the models that need it."""
    from sklearn.compose import ColumnTransformer  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    if not nominal:
        return StandardScaler()
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("levels", levels, list(nominal))], remainder=StandardScaler())


def ours(families: Mapping[str, Spec]) -> Callable[[], Callable[[Rows], Answer]]:
    def load() -> Callable[[Rows], Answer]:
        from sklearn.model_selection import PredefinedSplit  # noqa: PLC0415
        from sklearn.pipeline import Pipeline  # noqa: PLC0415

        from assay.select import NestedSearch  # noqa: PLC0415

        def call(rows: Rows) -> Answer:
            space: dict[str, Any] = {}
            for name, spec in families.items():
                model, grid = spec.model(OURS), spec.parameters(OURS)
                if spec.encode:
                    model = Pipeline([("encode", encoder(rows.nominal)), ("model", model)])
                    grid = {f"model__{key}": values for key, values in grid.items()}
                space[name] = (model, grid)
            cv = PredefinedSplit(rows.block)
            found = NestedSearch(space, cv=cv, refit=False, n_jobs=WORKERS).fit(rows.X, rows.y)
            chosen = [
                (name, {key.removeprefix("model__"): value for key, value in params.items()})
                for name, params in zip(found.outer_names_, found.outer_params_, strict=True)
            ]
            inner, first = {}, 0
            for name, spec in families.items():
                last = first + len(ParameterGrid(dict(spec.grid)))
                inner[name] = found.inner_scores_[:, first:last]
                first = last
            fits = found.outcome_.work.fits - 1
            return Answer(chosen, list(found.outer_scores_), inner, fits)

        return call

    return load


def naive(families: Mapping[str, Spec], library: str) -> Callable[[], Callable[[Rows], Answer]]:
    def load() -> Callable[[Rows], Answer]:
        from joblib import Parallel, delayed  # noqa: PLC0415
        from sklearn.base import clone  # noqa: PLC0415
        from sklearn.model_selection import (  # noqa: PLC0415
            GridSearchCV,
            LeaveOneGroupOut,
            cross_validate,
        )
        from sklearn.pipeline import Pipeline  # noqa: PLC0415

        # The worker processes are there, with the library, before the clock starts.
        models = [spec.model(library) for spec in families.values()]
        Parallel(n_jobs=WORKERS)(delayed(clone)(model) for model in models * WORKERS)

        def call(rows: Rows) -> Answer:
            grids = []
            for spec in families.values():
                front = encoder(rows.nominal) if spec.encode else "passthrough"
                params = {f"model__{key}": v for key, v in spec.parameters(library).items()}
                grids.append({"encode": [front], "model": [spec.model(library)], **params})
            search = GridSearchCV(
                Pipeline([("encode", "passthrough"), ("model", None)]),
                grids,
                scoring="accuracy",
                cv=LeaveOneGroupOut(),
                n_jobs=WORKERS,
            )
            found = cross_validate(
                search,
                rows.X,
                rows.y,
                groups=rows.block,
                params={"groups": rows.block},
                scoring="accuracy",
                cv=LeaveOneGroupOut(),
                return_estimator=True,
            )
            return _answer(families, library, found)

        return call

    return load


def _answer(families: Mapping[str, Spec], library: str, found: Mapping[str, Any]) -> Answer:
    searches = found["estimator"]
    sizes = [len(ParameterGrid(dict(spec.grid))) for spec in families.values()]
    ends = np.cumsum(sizes)
    inner = np.array([each.cv_results_["mean_test_score"] for each in searches])
    chosen = []
    for each in searches:
        place = int(np.searchsorted(ends, each.best_index_, side="right"))
        name, spec = list(families.items())[place]
        words = {new: old for old, new in (spec.renamed or {}).items()} if library == THEIRS else {}
        params = {
            words.get(key.removeprefix("model__"), key.removeprefix("model__")): value
            for key, value in each.best_params_.items()
            if key.startswith("model__")
        }
        chosen.append((name, params))
    return Answer(
        chosen,
        list(found["test_score"]),
        dict(zip(families, np.split(inner, ends[:-1], axis=1), strict=True)),
        sum(4 * sum(sizes) + 1 for _ in searches),
    )


def agreement(data: Any, result: Answer, reference: Answer) -> str:  # noqa: ARG001
    """Say how far a contestant is from the reference."""
    same = sum(a == b for a, b in zip(result.chosen, reference.chosen, strict=True))
    outer = np.abs(np.subtract(result.outer, reference.outer)).max()
    gaps = {name: np.abs(result.inner[name] - reference.inner[name]).max() for name in result.inner}
    text = f"{result.fits} fits; {same} of {len(result.chosen)} choices the same; "
    text += f"outer {np.mean(result.outer):.4f} (gap {outer:.0e}); "
    if max(gaps.values()) <= 1e-9:
        return text + f"inner scores within {max(gaps.values()):.0e}"
    return text + "inner gaps " + ", ".join(f"{name} {gap:.4f}" for name, gap in gaps.items())


def work(
    name: str,
    families: Mapping[str, Spec],
    data: Callable[[], Rows],
    bar: float | None = None,
    file: Path | None = None,
) -> Work:
    """Return the comparison; families with one answer are compared with scikit-learn's."""
    trees = "forest" in families
    other = naive(families, OURS) if trees else naive(loosened(families), THEIRS)
    return Work(
        f"{name}, {len(families)} families {'with trees' if trees else 'with one answer'}",
        data,
        (
            Contestant(OURS, ours(families)),
            Contestant(THEIRS, naive(families, THEIRS), once=True),
            Contestant(NAIVE if trees else LOOSE, other, once=True),
        ),
        reference=NAIVE if trees else THEIRS,
        quality=agreement,
        bars={} if bar is None else {THEIRS: bar},
        repeats=3,
        file=file,
    )


def works() -> Iterator[Work]:
    # A bar stands where choices and outer scores are those of scikit-learn's estimators.
    german, letter = tables.path_of("german_credit"), tables.path_of("letter")
    yield work("breast cancer 569 x 30", ONE_ANSWER, cancer)
    yield work("breast cancer 569 x 30", EIGHT, cancer, 20)
    yield work("digits 1797 x 64", SIX_WITH_ONE_ANSWER, digits)
    yield work("digits 1797 x 64", SIX, digits, 20)
    yield work("german_credit 1000 x 20", GERMAN_WITH_ONE_ANSWER, real("german_credit"), 10, german)
    yield work("german_credit 1000 x 20", GERMAN, real("german_credit"), file=german)
    yield work("letter 20000 x 16", LETTER_WITH_ONE_ANSWER, real("letter"), 10, letter)
    yield work("letter 20000 x 16", LETTER, real("letter"), file=letter)


WORKS = tuple(works())
