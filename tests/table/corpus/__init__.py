"""Malformed and odd files, each with the verdict that is expected of the reader."""

from __future__ import annotations

from tests.table.corpus.cases import Bad, Case, Good
from tests.table.corpus.dates import DATES
from tests.table.corpus.encodings import ENCODINGS
from tests.table.corpus.formats import FORMATS
from tests.table.corpus.nothing import NO_TABLE
from tests.table.corpus.shapes import NAMES, SHAPES
from tests.table.corpus.values import VALUES

CORPUS: list[Case] = [*ENCODINGS, *SHAPES, *NAMES, *NO_TABLE, *VALUES, *DATES, *FORMATS]

__all__ = ["CORPUS", "Bad", "Case", "Good"]
