from __future__ import annotations

import os

import polars as pl
import pytest

from assay.table._panics import without_panic_reports


def fail(error: BaseException, report: bytes) -> None:
    with without_panic_reports():
        os.write(2, report)
        raise error


def test_report_of_a_panic_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pl.exceptions.PanicException):
        fail(pl.exceptions.PanicException("out of range"), b"thread panicked at ...")
    os.write(2, b"later")
    assert capfd.readouterr().err == "later"


def test_everything_else_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with without_panic_reports():
        os.write(2, b"a warning")
    with pytest.raises(ValueError, match="other"):
        fail(ValueError("other"), b", another")
    assert capfd.readouterr().err == "a warning, another"
