"""The nearest known name, for messages."""

from __future__ import annotations

from assay.base import DataError, ParameterError, did_you_mean


def test_nearest_name_ignores_case() -> None:
    assert did_you_mean("SURVIVD", ["Sex", "Survived"]) == "; did you mean 'Survived'?"
    assert did_you_mean("x", []) == ""


def test_errors_are_value_errors() -> None:
    assert issubclass(DataError, ValueError)
    assert issubclass(ParameterError, ValueError)
