"""Brute force gives the neighbours of the definition, exactly, whatever the data and machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from assay._core import cpu, neighbors
from tests.core import definition

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    cpu.limit(request.param)
    if cpu.level() != request.param:
        cpu.limit(None)
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    cpu.limit(None)


def search(
    queries: NDArray[Any], refs: NDArray[Any], k: int, p: float = 2.0, n_threads: int = 2
) -> definition.Neighbours:
    distance = np.full((len(queries), k), np.nan)
    index = np.full((len(queries), k), -1, dtype=np.int64)
    neighbors.brute_force(queries, refs, k, p, distance, index, n_threads)
    return distance, index


def assert_defined(queries: NDArray[Any], refs: NDArray[Any], k: int, p: float = 2.0) -> None:
    distance, index = search(queries, refs, k, p)
    expected_distance, expected_index = definition.brute_force(queries, refs, k, p)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_array_equal(distance, expected_distance)


def table(kind: str, rows: int, cols: int) -> NDArray[np.float64]:
    rng = np.random.default_rng([len(kind), rows, cols])
    normal = rng.normal(size=(rows, cols))
    far = np.where(rng.random((rows, 1)) < 0.02, 1e9, 1.0)
    with np.errstate(over="ignore"):
        made = {
            "normal": normal,
            "offset": normal + 1e8,
            "columns of all sizes": normal * 10.0 ** rng.integers(-9, 9, cols),
            "integers": np.floor(2 * normal),
            "one decimal": np.round(normal, 1),
            "duplicates": normal[rng.integers(0, 5, rows)],
            "constant": np.full((rows, cols), 0.1),
            "outliers": normal * far,
            "tight clusters": 1e3 * normal[rng.integers(0, 3, rows)] + 1e-6 * normal,
            "squares underflow": normal * 1e-161,
            "all underflow": normal * 1e-300,
            "denormal": np.round(9 * normal) * 5e-324,
            "squares overflow": normal * 1e160,
            "differences overflow": np.clip(normal, -1, 1) * 1.7e308,
        }
    return np.ascontiguousarray(made[kind])


KINDS = (
    "normal", "offset", "columns of all sizes", "integers", "one decimal", "duplicates",
    "constant", "outliers", "tight clusters", "squares underflow", "all underflow", "denormal",
    "squares overflow", "differences overflow",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(3, 40, 1, 7), (40, 1500, 7, 10), (130, 700, 20, 1)])
def test_brute_force_is_exact_at_every_level(
    level: str, kind: str, shape: tuple[int, int, int, int]
) -> None:
    m, n, d, k = shape
    rows = table(kind, n + m, d)
    assert_defined(rows[:m], rows[m:], k)


@pytest.mark.parametrize("p", [1.0, np.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_is_exact_for_other_metrics(kind: str, p: float) -> None:
    rows = table(kind, 400, 9)
    assert_defined(rows[:30], rows[30:], 12, p)


@pytest.mark.parametrize("p", [1.2, 1.5, 2.5, 3.0, 4.0, 10.0, 33.3])
def test_brute_force_is_right_for_every_exponent(level: str, p: float) -> None:
    rows = table("normal", 500, 6)
    distance, index = search(rows[:40], rows[40:], 9, p)
    expected_distance, expected_index = definition.brute_force(rows[:40], rows[40:], 9, p)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_allclose(distance, expected_distance, rtol=1e-14)


def test_brute_force_agrees_with_scikit_learn() -> None:
    rows = table("normal", 2200, 20)
    peer = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(rows[200:])
    expected_distance, expected_index = peer.kneighbors(rows[:200])
    distance, index = search(rows[:200], rows[200:], 10)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_allclose(distance, expected_distance, rtol=1e-10)


@pytest.mark.parametrize("kind", ["normal", "offset", "integers", "tight clusters", "outliers"])
def test_float32_rows_are_compared_in_float64(kind: str) -> None:
    rows = table(kind, 900, 11).astype(np.float32)
    assert_defined(rows[:50], rows[50:], 8)


@given(
    arrays(np.float64, (37, 3), elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.integers(1, 30),
    st.sampled_from([1.0, 2.0, np.inf]),
)
def test_brute_force_is_exact_for_any_numbers(rows: NDArray[np.float64], k: int, p: float) -> None:
    with np.errstate(over="ignore"):
        assert_defined(rows[:7], rows[7:], k, p)


@given(arrays(np.float64, (60, 2), elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5])))
def test_ties_go_to_the_smaller_index(rows: NDArray[np.float64]) -> None:
    distance, index = search(rows[:8], rows, 20)
    tied = np.diff(distance, axis=1) == 0
    assert (np.diff(distance, axis=1) >= 0).all()
    assert (np.diff(index, axis=1)[tied] > 0).all()
    assert_defined(rows[:8], rows, 20)


@given(st.randoms(use_true_random=False), st.floats(-1e3, 1e3))
def test_order_of_rows_and_powers_of_two_change_nothing(random: Any, shift: float) -> None:
    rows = table("normal", 300, 5)
    order = np.array(random.sample(range(260), 260))
    scale = 2.0 ** round(shift / 100)
    distance, index = search(rows[:40], rows[40:], 6)
    other_distance, other_index = search(rows[:40] * scale, rows[40:][order] * scale, 6)
    np.testing.assert_array_equal(order[other_index], index)
    np.testing.assert_array_equal(other_distance, distance * scale)


@pytest.mark.parametrize("kind", ["normal", "tight clusters", "integers"])
@pytest.mark.parametrize("p", [2.0, 1.0])
def test_result_has_the_same_bytes_for_any_number_of_threads(kind: str, p: float) -> None:
    rows = table(kind, 9000, 24)
    one = search(rows[:700], rows[700:], 10, p, n_threads=1)
    for n_threads in (2, 3, 7):
        distance, index = search(rows[:700], rows[700:], 10, p, n_threads)
        assert distance.tobytes() == one[0].tobytes()
        assert index.tobytes() == one[1].tobytes()


def test_several_python_threads_search_at_once() -> None:
    rows = table("normal", 3000, 12)
    expected = search(rows[:300], rows, 5, n_threads=1)[1]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            if not np.array_equal(search(rows[:300], rows, 5)[1], expected):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_row_is_its_own_neighbour() -> None:
    row = np.array([[3.0, 4.0]])
    distance, index = search(row, row, 1)
    assert distance.tolist() == [[0.0]]
    assert index.tolist() == [[0]]


def test_no_queries_give_no_neighbours() -> None:
    distance, index = search(np.empty((0, 3)), np.ones((4, 3)), 2)
    assert distance.shape == index.shape == (0, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queries": np.ones((2, 4))}, "queries and refs differ in n_features"),
        ({"k": 0}, "k must be between 1 and the rows of refs"),
        ({"k": 6}, "k must be between 1 and the rows of refs"),
        ({"p": 0.5}, "p must be at least 1"),
        ({"p": np.nan}, "p must be at least 1"),
        ({"distance": np.empty((2, 3))}, r"distance needs the shape \(rows of queries, k\)"),
        (
            {"index": np.empty((3, 2), dtype=np.int64)},
            r"index needs the shape \(rows of queries, k\)",
        ),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "queries": np.ones((2, 3)), "refs": np.ones((5, 3)), "k": 2, "p": 2.0,
        "distance": np.empty((2, 2)), "index": np.empty((2, 2), dtype=np.int64), "n_threads": 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match=f"^{message}$"):
        neighbors.brute_force(**(good | change))


def test_arrays_of_another_layout_are_refused_not_copied() -> None:
    out = np.empty((2, 1)), np.empty((2, 1), dtype=np.int64)
    rows: Any = np.ones((3, 2))
    with pytest.raises(TypeError):
        neighbors.brute_force(np.asfortranarray(np.ones((2, 2))), rows, 1, 2.0, *out)
    with pytest.raises(TypeError):
        neighbors.brute_force(np.ones((2, 2), dtype=np.float32), rows, 1, 2.0, *out)
