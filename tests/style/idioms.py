"""Idioms that readers stumble on, each with what to write instead.

Read are the texts a reader sees: strings and comments of Python, comments and strings of the C++
core, and whole documents. Code is not read, so names may be anything.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

_THINGS = (
    r"(?:numbers?|rows?|columns?|lists?|arrays?|integers?|texts?|labels?|dates?|models?|files?"
    r"|attributes?|parameters?|constants?|code)"
)

#: Each idiom and what to write instead. A pattern sees words that are separated by one blank.
IDIOMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), suggestion)
    for pattern, suggestion in (
        (r"\b(?:is|are|was|were|be|been) told\b(?! apart)", "is reported, is given, is known"),
        (r"\btells (?:how|what|which|that|whether|of)\b", "reports, shows, states"),
        (
            r"\bso many (?:rows|columns|units|trees|values|fits|candidates|batches|blocks|folds"
            r"|draws|steps|levels|characters|points|branches|models|threads)\b",
            "this many, n, the number of",
        ),
        (r"\b(?:is|are|was|were) said\b", "is stated, is reported"),
        (r"\bwhat came\b", "the value received (in messages: got ...)"),
        (r"\bsays so\b", "reports it, warns (and what about)"),
        (rf"(?<![Tt]here )\b(?:is|are) no {_THINGS}\b", "is not a ..."),
        (r"\b(?:goes|go|went) on (?:with|from)\b", "continues with, continues from"),
        (r"\bby heart\b", "overfits, memorises"),
        (r"\b[Ff]ewest (?:rows|values|units|trees|columns|samples)\b", "minimum number of ..."),
        (r"\bMost \w+s\.", "Maximum number of ..."),
        (r"\b(?:[Hh]ow|[Ww]hat) to call (?:it|them|the)\b", "name to show"),
    )
)

_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


class Idiom(NamedTuple):
    """Where an idiom stands, the words themselves, and what to write instead."""

    line: int
    words: str
    suggestion: str


def texts(root: Path) -> list[Path]:
    """Return the files whose texts are read, in order."""
    core = ("include", "levels", "bindings")
    docs = [*(root / "docs").rglob("*.rst"), *(root / "docs").rglob("*.md")]
    return sorted(
        [
            *(root / "src" / "assay").rglob("*.py"),
            *(path for path in docs if not {"_build", "api"} & set(path.parts)),
            *(path for name in core for path in (root / "core" / name).rglob("*.[ch]pp")),
            *root.glob("*.md"),
        ]
    )


def find(suffix: str, source: str) -> list[Idiom]:
    """Return the idioms in the texts of a file, in order, given its extension and content."""
    if suffix == ".py":
        text = _python_texts(source)
    elif suffix in (".hpp", ".cpp"):
        text = _core_texts(source)
    else:
        text = source
    words = list(re.finditer(r"\S+", text))
    starts, length = [], 0
    for word in words:
        starts.append(length)
        length += len(word[0]) + 1
    joined = " ".join(word[0] for word in words)
    found = []
    for pattern, suggestion in IDIOMS:
        for match in pattern.finditer(joined):
            first = words[bisect_right(starts, match.start()) - 1]
            line = text.count("\n", 0, first.start()) + 1
            found.append(Idiom(line, match[0], suggestion))
    return sorted(found)


def _python_texts(source: str) -> str:
    """Return the source with all but comments and strings replaced by a character no text has."""
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    kept = list(re.sub(r"\S", "\0", source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "COMMENT" or name == "STRING" or name.startswith("FSTRING"):
            start = offsets[token.start[0] - 1] + token.start[1]
            end = offsets[token.end[0] - 1] + token.end[1]
            kept[start:end] = _bare(name, source[start:end])
    return "".join(kept)


def _bare(name: str, text: str) -> str:
    """Return the text of a token without its marks, at the same length."""
    if name == "COMMENT":
        return re.sub(r"^#:?", lambda match: " " * len(match[0]), text)
    if name in ("FSTRING_START", "FSTRING_END"):
        return " " * len(text)
    if name == "FSTRING_MIDDLE":
        return text
    opening = re.match(r"""[a-zA-Z]*('''|\"\"\"|'|")""", text)
    assert opening is not None
    length, quote = len(opening[0]), len(opening[1])
    return " " * length + text[length:-quote] + " " * quote


def _core_texts(source: str) -> str:
    """Return the source with all but comments and strings replaced by a character no text has."""
    kept = list(re.sub(r"\S", "\0", source))
    for match in _COMMENT.finditer(source):
        bare = re.sub(r"""^(//|/\*|R"\(|"|')|(\*/|\)"|"|')$""", lambda m: " " * len(m[0]), match[0])
        kept[match.start() : match.end()] = bare
    return "".join(kept)
