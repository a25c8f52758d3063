"""The check of the texts finds idioms in texts, names the line, and leaves code alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.style import __main__ as command
from tests.style.idioms import IDIOMS, find, texts

BAD = [
    "The user is told of it.",
    "It tells which rows were used.",
    "At most so many rows are read.",
    "The reason is said in the note.",
    "What is allowed and what came.",
    "The file is damaged, and a note says so.",
    "A value that is no number is refused.",
    "The fit goes on with the next block.",
    "It learns the rows by heart.",
    "Fewest rows in a leaf.",
    "Most learners. Boosting may end before.",
    "How to call it in a message.",
]
GOOD = [
    "The note reports it. We told you before. The two can be told apart.",
    "There is no row left, and there are no columns. The file is no longer there.",
    "So many classes; many rows. What came first? The fit goes on.",
    "Fewest is a word, and most rows are used. Maximum number of rows.",
]


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        (".rst", "{}"),
        (".py", "x = 1  # {}"),
        (".py", 'def f():\n    """{}"""'),
        (".py", 'x = f"{} {{x}}"'),
        (".hpp", "int x;  // {}"),
        (".cpp", 'm.def("f", "{}");'),
    ],
)
def test_an_idiom_is_found_in_every_kind_of_text(text: str, suffix: str, form: str) -> None:
    found = find(suffix, form.format(text))
    assert len(found) == 1
    assert found[0].words in text
    assert found[0].suggestion


def test_every_idiom_has_an_example() -> None:
    assert {find(".md", text)[0].suggestion for text in BAD} == {each[1] for each in IDIOMS}


@pytest.mark.parametrize("text", GOOD)
def test_plain_words_pass(text: str) -> None:
    assert find(".rst", text) == []
    assert find(".py", f"# {text}") == []


def test_an_idiom_over_two_lines_is_found_at_its_first_line() -> None:
    source = 'def f():\n    """Do.\n\n    The user is\n    told of it.\n    """\n'
    assert [(each.line, each.words) for each in find(".py", source)] == [(4, "is told")]
    source = 'x = (\n    "so many "\n    "rows"\n)\n'
    assert [(each.line, each.words) for each in find(".py", source)] == [(2, "so many rows")]
    assert [each.line for each in find(".hpp", "\n// what\n// came\n")] == [2]


def test_code_is_not_read() -> None:
    assert find(".py", "so, many = rows\nis_told = what_came\nassert is_told\n") == []
    assert find(".py", 'x = "so many"; rows = 1') == []
    assert find(".hpp", "is(told); by heart; // by\nheart();") == []


def test_the_texts_of_the_repository_are_read() -> None:
    names = {path.relative_to(command.ROOT).as_posix() for path in texts(command.ROOT)}
    assert {"README.md", "docs/index.rst", "src/assay/base/_checks.py"} <= names
    assert any(name.startswith("core/include/assay/") for name in names)


def test_the_command_prints_place_and_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("Plain words.\n")
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main() == 0
    (tmp_path / "README.md").write_text("Plain words.\nIt is told.\n")
    assert command.main() == 1
    assert "README.md:2: 'is told' -> is reported" in capsys.readouterr().out
