"""`check_mercer`: what is a kernel passes, what is none is told with the pair to blame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.base import DataError, ParameterError
from assay.svm import check_mercer
from assay.svm._mercer import require_gram


@given(seed=st.integers(0, 10_000), n=st.integers(1, 20), d=st.integers(1, 5))
def test_inner_products_pass(seed: int, n: int, d: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d)) * 10.0 ** (seed % 7 - 3)
    for gram in (rows @ rows.T, (rows @ rows.T).astype(np.float32)):
        report = check_mercer(gram)
        assert report.ok
        assert report.pair is None
        assert report.reason == ""
        require_gram(gram)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 12))
def test_eigenvalues_decide(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.sort(rng.uniform(0.5, 2.0, size=n))
    values[0] = -0.1
    gram = (basis * values) @ basis.T
    gram = (gram + gram.T) / 2
    report = check_mercer(gram)
    assert not report.ok
    assert report.is_symmetric
    assert report.smallest_eigenvalue == pytest.approx(-0.1)
    assert report.largest_eigenvalue == pytest.approx(values[-1])
    with pytest.raises(DataError, match=r"its smallest eigenvalue is -0\.1 "):
        require_gram(gram)


def test_asymmetric_pair_is_named() -> None:
    gram = np.eye(4)
    gram[3, 1] = 0.5
    report = check_mercer(gram)
    assert not report.is_symmetric
    assert report.pair == (1, 3)
    assert report.reason == "it is not symmetric: K[1, 3] = 0 but K[3, 1] = 0.5"


def test_negative_diagonal_is_named() -> None:
    report = check_mercer(np.diag([1.0, -2.0, 3.0]))
    assert report.pair == (1, 1)
    assert report.reason == (
        "it is not positive semidefinite: its smallest eigenvalue is -2 (the largest is 3); "
        "K[1, 1] = -2 is negative"
    )


def test_no_single_pair_may_be_to_blame() -> None:
    gram = np.array([[1.0, -0.9, -0.9], [-0.9, 1.0, -0.9], [-0.9, -0.9, 1.0]])
    report = check_mercer(gram)
    assert not report.is_positive
    assert report.pair is None
    assert report.reason.endswith("(the largest is 1.9)")


def test_function_is_tried_on_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))

    def distance(A: Any, B: Any) -> Any:
        return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))

    assert check_mercer(lambda A, B: np.exp(-(distance(A, B) ** 2)), rows).ok
    assert not check_mercer(distance, rows).ok
    assert check_mercer(lambda a, b: len(set(a) & set(b)), ["ab", "bc", "c"]).ok


@pytest.mark.parametrize(
    ("gram", "message"),
    [
        (np.ones((2, 3)), "the Gram matrix must be square; got shape (2, 3)"),
        (np.ones(3), "the Gram matrix must be square; got shape (3,)"),
        ([["a"]], "the Gram matrix must hold numbers only"),
        ([[np.nan]], "the Gram matrix has nan in row 0, column 0"),
    ],
    ids=str,
)
def test_what_is_no_matrix_is_refused(gram: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        check_mercer(gram)
    assert str(caught.value) == message


def test_function_needs_rows() -> None:
    with pytest.raises(ParameterError, match="X must be given with a function"):
        check_mercer(min)
