from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import ClassVar

import pytest

import assay
from assay.base import Estimator
from assay.store._classes import FIRST_NATIVE_ID, classes, id_of, register


def _public_classes() -> list[type]:
    found = []
    for package in pkgutil.iter_modules(assay.__path__):
        module = import_module(f"assay.{package.name}")
        members = [getattr(module, name) for name in getattr(module, "__all__", ())]
        found += [member for member in members if isinstance(member, type)]
    return found


def test_every_class_with_an_id_is_in_the_table() -> None:
    owners = [cls for cls in _public_classes() if vars(cls).get("model_id") is not None]
    assert [cls for cls in owners if classes().get(cls.model_id) is not cls] == []  # type: ignore[attr-defined]


def test_native_classes_have_ids_from_100() -> None:
    native = {number: cls for number, cls in classes().items() if issubclass(cls, Estimator)}
    assert native
    assert all(number >= FIRST_NATIVE_ID for number in native)
    assert all(cls.model_id == number for number, cls in native.items())


def test_each_class_has_one_id() -> None:
    assert len(set(classes().values())) == len(classes())


class _First(Estimator):
    model_id: ClassVar[int | None] = 500


class _Second(Estimator):
    model_id: ClassVar[int | None] = 500


class _Heir(_First):
    pass


class _Low(Estimator):
    model_id: ClassVar[int | None] = 5


def test_register_takes_only_estimators_with_an_id_of_their_own() -> None:
    table: dict[int, type] = {}
    register(table, [_First, _First, _Heir, Estimator, int, "text", None])
    assert table == {500: _First}


@pytest.mark.parametrize("members", [[_First, _Second], [_Low]])
def test_register_refuses_an_id_given_twice_or_below_100(members: list[type]) -> None:
    with pytest.raises(RuntimeError, match="is taken or below 100"):
        register({}, members)


def test_heir_of_a_known_class_is_not_that_class() -> None:
    assert id_of(_Heir()) is None
