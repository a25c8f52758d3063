"""Change a model file from inside, as an attacker would who can recompute the checksums."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import warnings
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import DataError
from assay.store import load, save

from .conftest import FITTED, QUERIES, Opened, predictions

_INTEGERS = (0, -1, 1, 2, 3, 4, 5, 7, 100, 110, 111, 2**31, 2**63 - 1, 2**64)
_ODD: tuple[Any, ...] = (
    None, True, 1.5, -0.0, 1e308, "", "x", "constant", [], [[]], {}, {"float": "nan"},
    {"float": "inf"}, {"tuple": []}, {"dict": []}, {"value": 1}, {"text": ["a", "a"]},
    {"text": ["a"] * 4}, {"objects": ["b"]}, "array", "transposed", "scalar", ["a", 1],
)  # fmt: skip
_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -1, 0, 1, 2**62)


def variant(path: Path, seed: int) -> None:
    """Make one to three changes to the file, checksums right again."""
    choice = random.Random(seed)
    opened = Opened(path)
    for _ in range(choice.randint(1, 3)):
        if opened.arrays and choice.random() < 0.5:
            _change_array(opened.arrays, choice)
        else:
            _change_json(opened.content["parts"], choice)
    opened.write(path)


def outcome_of(path: Path) -> str:
    """Load and use a file: "refused" or "predicts"; anything else is an error."""
    try:
        _, parts = load(path)
    except DataError as error:
        return "refused" if str(path) in str(error) else "refused without naming the file"
    for model in parts.values():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _use(model)
    return "predicts"


def _use(model: Any) -> None:
    n_features = getattr(model, "n_features_in_", None) or QUERIES.shape[1]
    if model is None or n_features > 10_000:
        return
    queries = np.resize(QUERIES, (20, n_features))
    for said in predictions(model, queries):
        assert isinstance(said, np.ndarray)
        assert len(said) == 20


def _change_array(arrays: dict[str, Any], choice: random.Random) -> None:
    name = choice.choice(sorted(arrays))
    array = arrays[name]
    kind = choice.randrange(9)
    if kind == 0 and array.size:
        array.flat[choice.randrange(array.size)] = _fitting(choice.choice(_NUMBERS), array.dtype)
    elif kind == 1 and array.size:
        array.reshape(-1).view(np.uint8)[choice.randrange(array.nbytes)] ^= 1 << choice.randrange(8)
        if array.dtype == bool:
            arrays[name] = array.view(np.uint8)
    elif kind == 2 and array.ndim:
        arrays[name] = array[:-1].copy()
    elif kind == 3 and array.ndim:
        arrays[name] = np.concatenate([array, array])
    elif kind == 4:
        arrays[name] = array.T.copy()
    elif kind == 5:
        arrays[name] = array.reshape(-1)
    elif kind == 6:
        with np.errstate(all="ignore"):
            types = ("f4", "f8", "i8", "i4", "u1", "?")
            arrays[name] = np.asarray(array.astype(choice.choice(types)))
    elif kind == 7:
        other = choice.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        arrays[name[:-1] + choice.choice("_x/")] = arrays.pop(name)


def _fitting(number: float, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.array(number).astype(dtype)


def _change_json(root: Any, choice: random.Random) -> None:
    place = root
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = choice.choice(keys)
        if isinstance(place[key], dict | list) and choice.random() < 0.9:
            place = place[key]
            continue
        kind = choice.randrange(5)
        if kind == 0:
            del place[key]
        elif kind == 1 and isinstance(place, dict):
            place[f"{key}{choice.choice('_x')}"] = place.pop(key)
        elif kind == 2 and isinstance(place[key], int):
            place[key] = choice.choice((*_INTEGERS, place[key] + 1, place[key] - 1))
        elif kind == 3:
            other = choice.choice(keys)
            place[key], place[other] = place[other], place[key]
        else:
            place[key] = deepcopy(choice.choice((*_ODD, *_INTEGERS)))
        return
    if isinstance(place, dict):
        name = choice.choice(("alpha", "strategy", "coef_", "predict", "x"))
        place[name] = deepcopy(choice.choice(_ODD))


def main() -> None:
    """Change files for a while and count what became of them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("count", type=int)
    options.add_argument("--seed", type=int, default=10_000)
    asked = options.parse_args()
    outcomes: Counter[str] = Counter()
    longest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.assay")
        names = sorted(FITTED)
        for number in range(asked.count):
            save(path, {"about": "a test"}, {"model": FITTED[names[number % len(names)]]()})
            variant(path, asked.seed + number)
            start = time.perf_counter()
            outcomes[outcome_of(path)] += 1
            longest = max(longest, time.perf_counter() - start)
    print(dict(outcomes), f"longest {longest:.3f} s")


if __name__ == "__main__":
    main()
