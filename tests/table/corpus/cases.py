"""Malformed and odd files, each with the verdict that is expected of the reader.

A file is bytes under a name. Its verdict is either `Good` (what is read) or `Bad` (what the one
error message must say). Files are made here, so the corpus is readable and nothing is binary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Good:
    """The file is read: columns and their values, blank lines, and what a note must say."""

    columns: Mapping[str, Sequence[Any]] | None = None
    shape: tuple[int, int] | None = None
    names: Sequence[str] | None = None
    blank: int = 0
    notes: Sequence[str] = ()
    quiet: bool = False
    types: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bad:
    """The file is refused with a DataError whose message has all of these fragments."""

    says: Sequence[str]


@dataclass(frozen=True)
class Case:
    """One file."""

    name: str
    file: str
    data: bytes
    verdict: Good | Bad
    options: Mapping[str, Any] = field(default_factory=dict)


def text(name: str, data: str | bytes, verdict: Good | Bad, **options: Any) -> Case:
    """Return a delimited text file."""
    content = data.encode() if isinstance(data, str) else data
    return Case(name, "t.csv", content, verdict, options)


def good(
    name: str, data: str | bytes, columns: Mapping[str, Sequence[Any]] | None, **more: Any
) -> Case:
    """Return a text file that is read without options."""
    return text(name, data, Good(columns, **more))


def bad(name: str, data: str | bytes, *says: str) -> Case:
    """Return a text file that is refused."""
    return text(name, data, Bad(says))


def named(file: str, case: Case) -> Case:
    """Return the same case under another file name."""
    return Case(case.name, file, case.data, case.verdict, case.options)


AB: dict[str, Sequence[Any]] = {"a": [1, 3], "b": ["x", "y"]}
PLAIN = "a,b\n1,x\n3,y\n"


def lines(header: str, rows: Sequence[object]) -> str:
    """Return a text of one line each."""
    return "\n".join([header, *map(str, rows)]) + "\n"
