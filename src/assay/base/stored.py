"""What the fitted attributes of a model must look like: rules for `Estimator.stored`."""

# A shape is text such as "problems, features": names of lengths that must agree wherever they
# occur in the rules of a class. `features` is `n_features_in_`, `classes` the length of
# `classes_`, `problems` the number of binary problems (one per class, but 1 for two classes or
# without classes).
# A name that begins with "n_" or ends with an underscore is an attribute or a parameter that holds
# the length; any other stands for the length found where it first occurs. Lengths may be computed
# ("2*leaves-1"); "|" separates alternatives; a length marked with "?" is left out where it is 1.

from __future__ import annotations

import re
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, prod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from assay.base._errors import DataError, ParameterError

_WRONG_TYPE = "is missing or of the wrong type"
_MISSING = object()


class Sizes:
    """The lengths that the names in shapes stand for, as far as they are known.

    Parameters
    ----------
    model : object
        The model whose attributes and parameters may hold lengths.
    **known : int
        Lengths known from the start.
    """

    def __init__(self, model: object = None, **known: int) -> None:
        self.model = model
        self.known = known

    def length(self, name: str) -> int | None:
        """Return the length that a name stands for; None where it is not known yet."""
        if name.isdigit():
            return int(name)
        if name == "problems":
            classes = self.known.get("classes", 1)
            return classes if classes > 2 else 1
        if name == "features":
            name = "n_features_in_"
        if name not in self.known and (name.startswith("n_") or name.endswith("_")):
            found = getattr(self.model, name, None)
            if not isinstance(found, int | np.integer) or isinstance(found, bool) or found < 0:
                raise _damaged(self.model, name, "is missing or not a number >= 0")
            self.known[name] = int(found)
        return self.known.get(name)

    def value(self, bound: str | float) -> float:
        """Return a number, or a computed length of which all names are known."""
        if not isinstance(bound, str):
            return bound
        names, plus = _terms(bound)
        lengths: list[Any] = [self.length(name) for name in names]
        return int(prod(lengths)) + plus

    def fit(self, shapes: str, lengths: tuple[int, ...]) -> bool:
        """Return whether the lengths are one of the shapes; learns the names in it."""
        for shape in _alternatives(shapes):
            before = dict(self.known)
            wanted = self._dimensions(shape)
            if len(wanted) == len(lengths) and all(map(self._fits, wanted, lengths)):
                return True
            self.known = before
        return False

    def wanted(self, shapes: str) -> str:
        """Return the shapes for a message, with the numbers known so far."""
        found = []
        for shape in _alternatives(shapes):
            lengths = [self._shown(length) for length in self._dimensions(shape)]
            text = f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"
            found.append(text if lengths else "a number")
        return " or ".join(found)

    def _dimensions(self, shape: list[str]) -> list[str]:
        return [
            length.removesuffix("?")
            for length in shape
            if not (length.endswith("?") and self.value(length[:-1]) == 1)
        ]

    def _fits(self, dimension: str, length: int) -> bool:
        names, plus = _terms(dimension)
        unknown = [name for name in names if self.length(name) is None]
        if not unknown:
            return self.value(dimension) == length
        if len(unknown) > 1:
            raise ValueError(f"of the lengths in {dimension!r}, more than one is unknown")
        known = prod(self.length(name) or 0 for name in names if name not in unknown)
        if length < plus or known == 0 or (length - plus) % known:
            return False
        self.known[unknown[0]] = (length - plus) // known
        return True

    def _shown(self, dimension: str) -> str:
        names, _ = _terms(dimension)
        known = all(self.length(name) is not None for name in names)
        return str(self.value(dimension)) if known else dimension


@cache
def _alternatives(shapes: str) -> list[list[str]]:
    """Return the lengths of each shape."""
    found = [shape.split(",") for shape in shapes.split("|")]
    return [[length.strip() for length in shape if length.strip()] for shape in found]


@cache
def _terms(dimension: str) -> tuple[list[str], int]:
    """Return the factors and the summand of a length such as "2*leaves-1"."""
    product, plus = re.fullmatch(r"([\w*]+)([+-]\d+)?", dimension).groups()  # type: ignore[union-attr]
    return product.split("*"), int(plus or 0)


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """What an attribute must be.

    Parameters
    ----------
    optional : bool, default=False
        Whether the attribute may be missing.
    when : str or callable, default=""
        The attribute is checked only where this is true: the name of a parameter or attribute
        (read as a truth value), or a function of the model. "" = always.
    """

    optional: bool = False
    when: str | Callable[[Any], object] = ""

    def applies(self, model: object, name: str) -> bool:
        """Return whether the attribute of this model has to follow the rule."""
        if self.optional and not hasattr(model, name):
            return False
        if isinstance(self.when, str):
            return not self.when or bool(getattr(model, self.when, True))
        return bool(self.when(model))

    @abstractmethod
    def damage(self, value: Any, sizes: Sizes, /) -> str:
        """Return what is wrong with the value, as the end of a sentence; "" if nothing is."""


@dataclass(frozen=True)
class Array(Rule):
    """An array of numbers; by default, of finite floats.

    Parameters
    ----------
    shape : str
        The shapes allowed, as above; the empty shape is a number.
    low, high : number or str, default=-inf and inf
        Bounds of all values, or lengths to be computed.
    above : float, default=-inf
        All values are above it.
    kinds : str, default="f"
        Allowed letters of ``dtype.kind``.
    dtype : type, optional
        The one type allowed; None = any of these kinds.
    finite : bool, default=True
        Whether NaN and infinity are refused. They break bounds in any case.
    ascending : bool, default=False
        Whether each value must be above the one before it.
    filled : bool, default=False
        Whether the array must not be empty.
    """

    shape: str
    low: str | float = -inf
    high: str | float = inf
    above: float = -inf
    kinds: str = "f"
    dtype: type | None = None
    finite: bool = True
    ascending: bool = False
    filled: bool = False

    def damage(self, value: Any, sizes: Sizes, /) -> str:
        """Return what is wrong with the array."""
        number = isinstance(value, int | float | np.generic)
        array = np.asarray(value) if number else value
        if not isinstance(array, np.ndarray) or array.dtype.kind not in self.kinds:
            return _WRONG_TYPE
        if array.ndim == 0 and not number:
            return _WRONG_TYPE
        if self.dtype is not None and array.dtype != self.dtype:
            return f"is of {array.dtype}, not {np.dtype(self.dtype)}"
        if not sizes.fit(self.shape, array.shape):
            return f"has shape {array.shape}, not {sizes.wanted(self.shape)}"
        if self.finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            return "has values that are not finite"
        if self.filled and not array.size:
            return "is empty"
        if self.ascending and (array[1:] <= array[:-1]).any():
            return "is not ascending"
        return self._outside(array, sizes)

    def _outside(self, array: Any, sizes: Sizes) -> str:
        low, high = sizes.value(self.low), sizes.value(self.high)
        if (low > -inf and not (array >= low).all()) or (high < inf and not (array <= high).all()):
            return "has values " + (
                f"below {low}"
                if high == inf
                else f"above {high}"
                if low == -inf
                else f"outside [{low}, {high}]"
            )
        if self.above > -inf and not (array > self.above).all():
            return f"has values that are not > {self.above}"
        return ""


@dataclass(frozen=True)
class Integers(Array):
    """An array of signed integers."""

    kinds: str = "i"


@dataclass(frozen=True)
class Offsets(Rule):
    """Where the parts of an array begin, with its length as the last: 0, ..., length.

    Parameters
    ----------
    parts : str
        Number of parts.
    of : str
        The attribute that is divided.
    least : int, default=0
        Smallest length of a part.
    """

    parts: str
    of: str
    least: int = 0

    def damage(self, value: Any, sizes: Sizes, /) -> str:
        """Return what is wrong with the offsets."""
        size = len(getattr(sizes.model, self.of))
        if damage := Integers(f"{self.parts}+1", 0, size).damage(value, sizes):
            return damage
        whole = len(value) and value[0] == 0 and value[-1] == size
        if not whole or (np.diff(value.astype(np.int64)) < self.least).any():
            return f"does not divide {self.of}"
        return ""


@dataclass(frozen=True)
class Number(Rule):
    """A finite float.

    Parameters
    ----------
    low, high : float, default=-inf and inf
        Bounds.
    above : float, default=-inf
        The number is above it.
    """

    low: float = -inf
    high: float = inf
    above: float = -inf

    def damage(self, value: Any, _: Sizes, /) -> str:
        """Return what is wrong with the number."""
        sound = type(value) is float and self.low <= value <= self.high and abs(value) < inf
        if sound and value > self.above:
            return ""
        wanted = f" > {self.above}" if self.above > -inf else _interval(self.low, self.high)
        return f"{_got(value)} and must be a finite number{wanted}"


@dataclass(frozen=True)
class Count(Rule):
    """An integer.

    Parameters
    ----------
    low, high : int or str, default=0 and inf
        Bounds, or lengths to be computed.
    """

    low: str | int = 0
    high: str | float = inf

    def damage(self, value: Any, sizes: Sizes, /) -> str:
        """Return what is wrong with the integer."""
        low, high = sizes.value(self.low), sizes.value(self.high)
        if type(value) is int and low <= value <= high:
            return ""
        return f"{_got(value)} and must be an integer{_interval(low, high)}"


@dataclass(frozen=True)
class OneOf(Rule):
    """One of a few values.

    Parameters
    ----------
    values : collection of str or int
        The values allowed.
    """

    values: Collection[object]

    def damage(self, value: Any, _: Sizes, /) -> str:
        """Return what is wrong with the value."""
        if any(type(value) is type(each) and value == each for each in self.values):
            return ""
        return f"{_got(value)} and must be one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True)
class Plain(Rule):
    """A plain value of one of these types, of any size.

    Parameters
    ----------
    types : type or tuple of types
        `bool`, `int`, `float`, `str` or that of None.
    """

    types: type | tuple[type, ...]

    def damage(self, value: Any, _: Sizes, /) -> str:
        """Return what is wrong with the value."""
        types = self.types if isinstance(self.types, tuple) else (self.types,)
        return "" if type(value) in types else _WRONG_TYPE


@dataclass(frozen=True)
class Models(Rule):
    """Fitted models inside the model: a list of them, or one.

    Parameters
    ----------
    count : str, default=""
        How many, as a length; "" = any number from 1.
    features : str, default="features"
        Number of columns that each was fitted on; "" = any.
    methods : tuple of str, default=("predict",)
        Methods that each must have.
    single : bool, default=False
        Whether the attribute is one model instead of a list.
    classes : tuple of int or str, default=""
        The `classes_` that each must have; "all" = the codes of all classes of the model around
        it, "some" = codes of some of them, "" = not checked.
    """

    count: str = ""
    features: str = "features"
    methods: tuple[str, ...] = ("predict",)
    single: bool = False
    classes: tuple[int, ...] | str = ""

    def damage(self, value: Any, sizes: Sizes, /) -> str:
        """Return what is wrong with the models."""
        models = [value] if self.single else value
        if not isinstance(models, list) or not all(isinstance(m, BaseEstimator) for m in models):
            return f"is missing or not a {'model' if self.single else 'list of models'}"
        if not models or (self.count and not sizes.fit(self.count, (len(models),))):
            wanted = sizes.wanted(self.count).strip("(,)") if self.count else "at least 1"
            return f"holds {len(models)} models, not {wanted}"
        for position, child in enumerate(models):
            if damage := self._member_damage(child, sizes):
                return damage if self.single else f"[{position}] {damage}"
        return ""

    def _member_damage(self, child: Any, sizes: Sizes) -> str:
        try:
            check_is_fitted(child)
        except (NotFittedError, TypeError):
            return "is not fitted"
        for method in self.methods:
            if not hasattr(child, method):
                return f"has no method {method}"
        width = getattr(child, "n_features_in_", None)
        if self.features and width is not None and not sizes.fit(self.features, (width,)):
            return f"has {width} columns, not {sizes.wanted(self.features).strip('(,)')}"
        return self._classes_damage(child, sizes) if self.classes else ""

    def _classes_damage(self, child: Any, sizes: Sizes) -> str:
        codes = np.asarray(getattr(child, "classes_", np.empty(0)))
        if isinstance(self.classes, tuple):
            sound = codes.dtype.kind in "biu" and codes.tolist() == list(self.classes)
            return (
                "" if sound else f"does not have the classes {' and '.join(map(str, self.classes))}"
            )
        count = sizes.known["classes"]
        sound = codes.dtype.kind in "iu" and codes.ndim == 1 and len(codes) > 0
        sound = sound and codes.min() >= 0 and codes.max() < count
        whole = self.classes == "some" or codes.tolist() == list(range(count))
        return "" if sound and whole else "has classes of its own"


def declared(**rules: Rule) -> dict[str, Rule]:
    """Return the rules of a class by attribute, in the order in which they are checked."""
    return rules


def each(names: str, rule: Rule) -> dict[str, Rule]:
    """Return the same rule for several attributes, whose names are separated by spaces."""
    return dict.fromkeys(names.split(), rule)


def ensure(sound: object, damage: str) -> None:
    """Raise DataError unless a relation holds that rules cannot state.

    Parameters
    ----------
    sound : object
        Whether it holds.
    damage : str
        What is wrong if it does not, with the names of the attributes.

    Raises
    ------
    DataError
        If it does not hold.

    Examples
    --------
    >>> ensure([0] == [0], "starts_ does not begin with 0")
    >>> ensure([1] == [0], "starts_ does not begin with 0")
    Traceback (most recent call last):
    assay.base.DataError: the model is damaged: starts_ does not begin with 0
    """
    if not sound:
        raise DataError(f"the model is damaged: {damage}")


def check_stored(model: Any, rules: Mapping[str, Rule] | None = None, **known: int) -> None:
    """Raise DataError if the attributes of a model break the rules of its class.

    Parameters
    ----------
    model : Estimator
        A restored model.
    rules : mapping of str to Rule, optional
        Other rules than those that its class and the bases of the class declare.
    **known : int
        Lengths that shapes in the rules may name.

    Raises
    ------
    DataError
        Naming the first attribute that is missing or does not fit.
    """
    sizes = Sizes(model, **known)
    own: Any = type(model)
    for name, rule in (_rules(own) if rules is None else rules).items():
        if rule.applies(model, name):
            damage = rule.damage(getattr(model, name, _MISSING), sizes)
            if damage:
                raise _damaged(model, name, damage)


def check_more(model: Any) -> None:
    """Call every `_check_more` of a class and its bases, bases first."""
    try:
        for cls in reversed(type(model).__mro__):
            if "_check_more" in vars(cls):
                cls._check_more(model)  # type: ignore[attr-defined]
    except ParameterError as error:
        raise DataError(f"the model is damaged: {error}") from None


@cache
def _rules(cls: Any) -> dict[str, Rule]:
    """Return the rules of a class and its bases: `classes_` first, as others depend on it."""
    found: dict[str, Rule] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get("stored", {}))
    return {name: found[name] for name in sorted(found, key=lambda name: name != "classes_")}


def _damaged(model: object, name: str, damage: str) -> DataError:
    gap = "" if damage.startswith("[") else " "
    return DataError(f"the model is damaged: {type(model).__name__}.{name}{gap}{damage}")


def _got(value: object) -> str:
    return "is missing" if value is _MISSING else f"is {reprlib.repr(value)}"


def _interval(low: float, high: float) -> str:
    if high < inf:
        return f" in [{low}, {high}]"
    return f" >= {low}" if low > -inf else ""
