"""Decision lists: if-then-else rules of a few conditions each."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from assay.base import Classifier, DataError, Levels, ParameterError, check_interval
from assay.base.stored import Array, Integers, Offsets, declared, ensure
from assay.tree._counted_rows import counted_rows
from assay.tree._decision_list_search import Rules, Search
from assay.tree._literals import EQUAL, MISSING, NOT_EQUAL, Literals, literal_text, satisfies


class DecisionListClassifier(Classifier):
    r"""Decision list: classify by the first rule that applies (if ... else if ... else ...).

    Parameters
    ----------
    max_literals : int >= 1, default=2
        Maximum number k of conditions per rule. Larger values fit more closely and take longer.
    min_precision : float in (0, 1], default=1.0
        Minimum precision of a rule: share of one class among the rows it matches. Smaller values
        tolerate more noise.
    min_cover : float >= 1, default=1
        Minimum number of rows (total weight) matched by a rule. Larger values give fewer rules.
    significance : float in (0, 1) or None, default=None
        Significance level of a likelihood ratio test: the classes of the rows matched by a rule
        must differ from those of all remaining rows with a smaller p-value. None = no test.
    max_thresholds : int >= 1, default=16
        Maximum number of thresholds per numeric column in rules of two or more conditions, at
        quantiles of the rows. Rules of one condition use all thresholds.
    negation : bool, default=False
        Whether to also use conditions ``column != category``, for columns of three or more
        categories.
    categorical_features : array-like, 'from_dtype' or None, default='from_dtype'
        The nominal columns, by name, number or boolean mask; 'from_dtype' takes the text and
        categorical columns of a dataframe. All other columns are numeric.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels seen in fit, sorted.
    literal_feature_, literal_kind_, literal_value_ : ndarray of shape (n_literals,)
        The conditions of all rules: column; 0 ``=``, 1 ``!=``, 2 ``<=``, 3 ``>``, 4 is missing;
        code of the category, or number.
    rule_start_ : ndarray of int32 of shape (n_rules + 1,)
        Conditions of rule r are ``rule_start_[r] .. rule_start_[r + 1] - 1``.
    rule_value_ : ndarray of float64 of shape (n_rules + 1, n_classes)
        Class shares among the training rows matched by each rule; the last row is the default.
    rule_weight_ : ndarray of float64 of shape (n_rules + 1,)
        Total weight of those rows.
    categorical_features_ : ndarray of int64
        The nominal columns.
    levels_ : ndarray of str
        The categories of all nominal columns, column by column.
    level_offsets_ : ndarray of int64
        Start of the categories of each nominal column in `levels_`.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    DECISION-LIST-LEARNING of Russell and Norvig: find a test, a conjunction of at most k literals,
    that matches a non-empty set of examples of one class; make it the next rule; continue with the
    examples it does not match. Shorter tests come first, and among these the one that matches most
    examples (ties: the first column). The empty test matches all: once one class is left, it is the
    default. If no test exists the algorithm fails, and a `DataError` lists the rows.

    With `min_precision` < 1, `min_cover` > 1 or `significance` it does not fail. The next rule is
    then the allowed test with the largest Laplace accuracy

    .. math:: \frac{\max_c n_c + 1}{\sum_c n_c + K},

    and when none is better than predicting the most frequent class, that is the default.

    A missing value or a category unseen in fit satisfies no condition, except "is missing", which
    is available for columns with missing values in fit. O(n L^k) for L literals; k = 2 costs one
    matrix product for all rules together. Deterministic. A row of weight 2 counts as two rows.

    See Also
    --------
    ID3Classifier : A tree of the same conditions.

    Examples
    --------
    >>> from assay.datasets import load_restaurant
    >>> from assay.tree import DecisionListClassifier
    >>> table = load_restaurant()
    >>> model = DecisionListClassifier().fit(table.drop("WillWait"), table["WillWait"])
    >>> print(model.rules_)
    if Patrons = Some then Yes
    else if Hungry = No then No
    else if Fri/Sat = No then No
    else if Price = $ then Yes
    else No
    """

    model_id: ClassVar[int | None] = 127
    takes_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    stored = declared(
        literal_feature_=Integers("literals", 0, "features-1"),
        literal_kind_=Array("literals", EQUAL, MISSING, kinds="u"),
        literal_value_=Array("literals"),
        rule_start_=Offsets("rules", "literal_feature_", least=1),
        rule_value_=Array("rules+1, classes", 0, 1),
        rule_weight_=Array("rules+1", 0),
    )

    def __init__(
        self,
        *,
        max_literals: int = 2,
        min_precision: float = 1.0,
        min_cover: float = 1,
        significance: float | None = None,
        max_thresholds: int = 16,
        negation: bool = False,
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.max_literals = max_literals
        self.min_precision = min_precision
        self.min_cover = min_cover
        self.significance = significance
        self.max_thresholds = max_thresholds
        self.negation = negation
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rules one by one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: an array, or a dataframe of any library. NaN is a missing value.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a row of weight 2 counts as two rows. Weights that sum to less than the number
            of rows are scaled to sum to it.

        Returns
        -------
        DecisionListClassifier
            The fitted model.

        Raises
        ------
        DataError
            If no test is left and noise is not tolerated; lists the rows that remain.
        """
        rules = self._rules()
        rows, codes, weight = self._fit_data(X, y, sample_weight)
        used, weight = counted_rows(weight, len(rows))
        rows, codes = rows[used].astype(np.float64), codes[used]
        n_levels, n_classes = self._n_levels(), len(self.classes_)
        literals = Literals.listed(rows, weight, n_levels, self.max_thresholds, self.negation)
        search = Search(rows, codes, weight, n_levels, n_classes, literals, rules)
        tests, values = [], []
        while (test := search.next_test()) is not None and test:
            taken = search.take(test)
            if not taken.size:  # very unequal weights: only rounding is left
                break
            tests.append(test)
            values.append(np.bincount(codes[taken], weight[taken], n_classes))
        remain = np.flatnonzero(search.left)
        if test is None and rules.exact:
            raise DataError(self._failure(rows[remain], codes[remain], used[remain]))
        # If the last rule matched everything, the default uses the classes of all rows.
        last = remain if remain.size else np.arange(len(rows))
        values.append(np.bincount(codes[last], weight[last], n_classes))
        flat = Literals.of([literal for test in tests for literal in test])
        self.literal_feature_, self.literal_kind_ = flat.feature, flat.kind
        self.literal_value_ = flat.value
        self.rule_start_ = np.cumsum([0, *map(len, tests)]).astype(np.int32)
        sums = np.array(values)
        self.rule_weight_ = sums.sum(axis=1)
        self.rule_value_ = sums / self.rule_weight_[:, None]
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the first rule that applies to each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class shares among the training rows matched by the rule of each row.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_queries, n_classes)
            Columns in the order of `classes_`.
        """
        rule = self.apply(X)
        return self.rule_value_[rule]  # type: ignore[no-any-return]

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the first rule that applies to each row; n_rules = the default.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        ndarray of int64 of shape (n_queries,)
        """
        rows = self._predict_data(X).astype(np.float64)
        n_levels, n_rules = self._n_levels(), len(self.rule_start_) - 1
        answer = np.full(len(rows), n_rules, dtype=np.int64)
        open_rows = np.arange(len(rows))
        for rule in range(n_rules):
            matched = np.ones(len(open_rows), dtype=bool)
            for i in range(self.rule_start_[rule], self.rule_start_[rule + 1]):
                feature = int(self.literal_feature_[i])
                x = rows[open_rows, feature]
                kind, value = int(self.literal_kind_[i]), float(self.literal_value_[i])
                matched &= satisfies(x, kind, value, int(n_levels[feature]))
            answer[open_rows[matched]] = rule
            open_rows = open_rows[~matched]
        return answer

    @property
    def rules_(self) -> str:
        """The list as text, one rule per line."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        levels = Levels(self.levels_, self.level_offsets_)
        nominal = self.categorical_features_.tolist()

        def condition(i: int) -> str:
            feature = int(self.literal_feature_[i])
            own = levels.of(nominal.index(feature)).tolist() if feature in nominal else []
            kind, value = int(self.literal_kind_[i]), float(self.literal_value_[i])
            return literal_text(str(names[feature]), kind, value, own)

        lines = []
        for rule, (begin, end) in enumerate(
            zip(self.rule_start_[:-1], self.rule_start_[1:], strict=True)
        ):
            test = " and ".join(condition(i) for i in range(begin, end))
            answer = self.classes_[self.rule_value_[rule].argmax()]
            lines.append(f"{'else if' if rule else 'if'} {test} then {answer}")
        default = str(self.classes_[self.rule_value_[-1].argmax()])
        return "\n".join([*lines, f"else {default}" if lines else default])

    @classmethod
    def _examples(cls) -> list[Self]:
        # The contract suite has tables with contradicting rows, on which the exact algorithm must
        # fail.
        return [cls(min_precision=0.5)]

    def _rules(self) -> Rules:
        check_interval("max_literals", self.max_literals, 1, integer=True)
        check_interval("min_precision", self.min_precision, 0, 1, open_low=True)
        check_interval("min_cover", self.min_cover, 1, open_high=True)
        check_interval(
            "significance", self.significance, 0, 1, open_low=True, open_high=True, options=[None]
        )
        check_interval("max_thresholds", self.max_thresholds, 1, integer=True)
        if not isinstance(self.negation, (bool, np.bool_)):
            raise ParameterError(f"negation must be True or False; got {self.negation!r}")
        exact = self.min_precision == 1 and self.min_cover == 1 and self.significance is None
        return Rules(
            exact, self.min_precision, self.min_cover, self.significance, self.max_literals
        )

    def _failure(
        self, rows: NDArray[np.float64], codes: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> str:
        """Return the error text with the rows that no test separates; contradicting rows first."""
        shown = ", ".join(map(str, numbers[:10].tolist())) + (", ..." if len(numbers) > 10 else "")
        text = (
            f"no test of up to {self.max_literals} literal(s) matches rows of one class only among "
            f"the {len(numbers)} rows that remain (rows {shown})"
        )
        tolerant = "min_precision < 1 tolerates noise"
        _, equal = np.unique(np.nan_to_num(rows, nan=np.inf), axis=0, return_inverse=True)
        order = np.lexsort((codes, equal.ravel()))
        a, b = order[:-1], order[1:]
        clash = np.flatnonzero((equal.ravel()[a] == equal.ravel()[b]) & (codes[a] != codes[b]))
        if not clash.size:
            return f"{text}; a larger max_literals may find one, {tolerant}"
        i, j = sorted((a[clash[0]], b[clash[0]]))
        first, second = self.classes_[[codes[i], codes[j]]].tolist()
        return (
            f"{text}; rows {numbers[i]} and {numbers[j]} are equal but of classes {first!r} and "
            f"{second!r}: {tolerant}"
        )

    def _n_levels(self) -> NDArray[np.int32]:
        """Return the number of categories of each column; 0 = numeric."""
        n_levels = np.zeros(self.n_features_in_, dtype=np.int32)
        n_levels[self.categorical_features_] = np.diff(self.level_offsets_)
        return n_levels

    def _check_more(self) -> None:
        levels = self._n_levels()[self.literal_feature_]
        about_level = np.isin(self.literal_kind_, (EQUAL, NOT_EQUAL))
        known = (self.literal_value_ >= 0) & (self.literal_value_ < levels)
        sound = (
            known[about_level].all()
            and (levels == 0)[~about_level & (self.literal_kind_ != MISSING)].all()
            and np.allclose(self.rule_value_.sum(axis=1), 1.0)
        )
        ensure(sound, "the rules of DecisionListClassifier are invalid")
