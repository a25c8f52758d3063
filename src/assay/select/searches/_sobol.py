"""Fixed sets of candidates: Sobol points and random draws of a space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from scipy.stats import qmc
from sklearn.model_selection import ParameterGrid

from assay.base import check_interval, check_option
from assay.select.plan import stream
from assay.select.run import Family
from assay.select.searches._space import Space, SpaceLike, distinct, grid, is_plain, space_of

#: How a fixed set of candidates is made from a space.
SEARCHES = ("grid", "sobol", "random")
# Maximum multiple of `n` to draw where points repeat, in spaces with few values.
_REPEATED = 64


def sobol(space: SpaceLike | Space, n: int, seed: int = 0) -> list[dict[str, Any]]:
    r"""Return `n` candidates that fill a space evenly: scrambled Sobol points.

    Parameters
    ----------
    space : dict or list of dict
        `Real`, `Integer`, `Choice`, a list of options, or a distribution of scipy.stats by
        parameter; several dicts are alternatives, and each gets an equal share of the points.
    n : int
        Number of candidates; fewer are returned if the space has fewer.
    seed : int, default=0
        Seed of the scrambling.

    Returns
    -------
    list of dict
        Distinct candidates. A longer set begins with the shorter one.

    Notes
    -----
    If only one of two parameters matters, a grid of m x m tries only m values of it; n Sobol points
    try n. The set is fixed before any score is seen, so one set serves every
    outer block, and a fit without two blocks still serves both.
    Sources: Sobol (1967); Matousek (1998), Journal of Complexity 14, for the scrambling.

    Examples
    --------
    >>> from assay.select import Real
    >>> points = sobol({"C": Real(0.0, 1.0)}, 8)
    >>> sorted(int(8 * point["C"]) for point in points)
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    check_interval("n", n, 1, integer=True)
    check_interval("seed", seed, 0, integer=True)
    compiled = Space.of(space)
    return distinct((compiled.at(point) for point in cube(compiled.width, n, seed)), n)


def draws(space: SpaceLike | Space, n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return `n` independent random candidates of a space.

    Parameters
    ----------
    space : dict or list of dict
        As for `sobol`.
    n : int
        Number of candidates; fewer are returned if the space has fewer.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    list of dict
        Distinct candidates. A longer set begins with the shorter one.

    Examples
    --------
    >>> sorted(each["n_neighbors"] for each in draws({"n_neighbors": [1, 3, 5]}, 10))
    [1, 3, 5]
    """
    check_interval("n", n, 1, integer=True)
    check_interval("seed", seed, 0, integer=True)
    compiled = Space.of(space)
    random = stream(seed, "draws")
    points = (random.random(compiled.width) for _ in range(_REPEATED * n))
    return distinct((compiled.at(point) for point in points), n)


def fixed_set(space: SpaceLike, search: str, n_iter: int, seed: int) -> list[dict[str, Any]]:
    """Return the candidates of a space by the name of the search.

    Parameters
    ----------
    space : dict or list of dict
        As for `sobol`.
    search : {"grid", "sobol", "random"}
        All combinations, or `n_iter` points.
    n_iter : int
        Number of points; not used for a grid.
    seed : int
        Seed of the points.
    """
    check_option("search", search, SEARCHES)
    if search == "grid":
        return list(ParameterGrid(space)) if is_plain(space) else grid(space)
    return (sobol if search == "sobol" else draws)(space, n_iter, seed)


def sobol_family(family: Family, seed: int = 0) -> Family:
    """Return a family with as many Sobol points as its grid has candidates.

    Parameters
    ----------
    family : Family
        With a grid of candidates.
    seed : int, default=0
        Seed of the scrambling.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> lattice = Family("ridge", Ridge(), [{"alpha": a} for a in (0.1, 1.0, 10.0)])
    >>> all(0.1 <= each["alpha"] <= 10.0 for each in sobol_family(lattice).candidates)
    True
    """
    n = len(family.candidates)
    if n == 1:
        return family
    points = sobol(space_of(family.candidates), n, seed)
    return replace(family, candidates=points)


def cube(width: int, n: int, seed: int) -> Iterator[Sequence[float]]:
    """Yield scrambled Sobol points of the unit cube, many more than `n` in case some repeat."""
    if width == 0:
        yield ()
        return
    maker = qmc.Sobol(width, scramble=True, seed=seed)
    # Sobol points are balanced in sets of 2^m; another number of them makes SciPy warn.
    size = 1 << (n - 1).bit_length()
    for _ in range(_REPEATED):
        yield from maker.random(size)
