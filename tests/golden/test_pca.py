"""The worked example of principal component analysis (Smith 2002), digit by digit."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from assay.decomposition import PCA

DATA = np.array(
    [
        [2.5, 2.4],
        [0.5, 0.7],
        [2.2, 2.9],
        [1.9, 2.2],
        [3.1, 3.0],
        [2.3, 2.7],
        [2.0, 1.6],
        [1.0, 1.1],
        [1.5, 1.6],
        [1.1, 0.9],
    ]
)
VALUES = ["1.28402771", ".0490833989"]
# Columns of the document; their signs are free.
FIRST_AXIS = ["-.677873399", "-.735178656"]
SECOND_AXIS = ["-.735178656", ".677873399"]
FIRST_SCORES = [
    "-.827970186",
    "1.77758033",
    "-.992197494",
    "-.274210416",
    "-1.67580142",
    "-.912949103",
    ".0991094375",
    "1.14457216",
    ".438046137",
    "1.22382056",
]
SECOND_SCORES = [
    "-.175115307",
    ".142857227",
    ".384374989",
    ".130417207",
    "-.209498461",
    ".175282444",
    "-.349824698",
    ".0464172582",
    ".0177646297",
    "-.162675287",
]
ROUTES = ["auto", "full", "covariance_eigh"]


def assert_printed(value: float, text: str) -> None:
    """The value, rounded to the digits of the text, is the text."""
    digits = -int(Decimal(text).as_tuple().exponent)
    assert abs(value - float(text)) <= 0.5000001 * 10.0**-digits, (value, text)


def assert_column(values: np.ndarray, printed: list[str]) -> None:
    """The same numbers as printed, all with the sign kept or all with it turned."""
    sign = np.sign(values[0]) * np.sign(float(printed[0]))
    for value, text in zip(values, printed, strict=True):
        assert_printed(sign * value, text)


@pytest.fixture(params=ROUTES)
def model(request: pytest.FixtureRequest) -> PCA:
    return PCA(svd_solver=request.param).fit(DATA)


def test_number_19_mean(model: PCA) -> None:
    np.testing.assert_allclose(model.mean_, [1.81, 1.91], rtol=1e-15)


def test_number_20_covariance(model: PCA) -> None:
    printed = [".616555556", ".615444444", ".615444444", ".716555556"]
    for value, text in zip(model.get_covariance().ravel(), printed, strict=True):
        assert_printed(value, text)


def test_number_21_eigenvalues(model: PCA) -> None:
    for value, text in zip(model.explained_variance_, VALUES, strict=True):
        assert_printed(value, text)


def test_number_22_eigenvectors(model: PCA) -> None:
    assert_column(model.components_[0], FIRST_AXIS)
    assert_column(model.components_[1], SECOND_AXIS)


def test_number_23_scores_along_the_first_axis(model: PCA) -> None:
    assert_column(model.transform(DATA)[:, 0], FIRST_SCORES)


def test_number_24_scores_along_the_second_axis(model: PCA) -> None:
    assert_column(model.transform(DATA)[:, 1], SECOND_SCORES)


@pytest.mark.parametrize("route", ROUTES)
def test_number_25_share_reconstruction_and_error(route: str) -> None:
    model = PCA(n_components=1, svd_solver=route).fit(DATA)
    assert_printed(model.explained_variance_ratio_[0], ".963181")
    back = model.inverse_transform(model.transform(DATA))
    assert_printed(back[0, 0], "2.37125896")
    assert_printed(back[0, 1], "2.51870601")
    error = float(np.sum((back - DATA) ** 2))
    assert_printed(error, ".441750590")
    assert error == pytest.approx(9 * model.noise_variance_, rel=1e-12)  # I2: (n - 1) lambda_2


def test_i3_ninety_five_percent_of_the_variance_need_one_component() -> None:
    assert PCA(n_components=0.95).fit(DATA).n_components_ == 1
    assert PCA(n_components=0.97).fit(DATA).n_components_ == 2


def test_i4_squared_singular_values_over_n_are_eigenvalues_of_the_covariance_over_n() -> None:
    model = PCA(ddof=0).fit(DATA)
    np.testing.assert_allclose(model.singular_values_**2 / 10, model.explained_variance_)
    np.testing.assert_allclose(
        model.explained_variance_, np.linalg.eigvalsh(np.cov(DATA.T, bias=True))[::-1]
    )


def test_i5_whitened_scores_have_the_identity_as_covariance() -> None:
    places = PCA(whiten=True).fit_transform(DATA)
    np.testing.assert_allclose(np.cov(places.T), np.eye(2), atol=1e-12)
