"""Draw pair_out.svg: five blocks, the ten fits of a candidate, and the score of one block."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from assay.select import pair_out

INK, GREY, BLUE, GREEN, ORANGE = "#555555", "#c9cdd3", "#9dbbe8", "#2f8f5b", "#e07b39"
WIDTH, LEFT, CELL, ROW, GAP = 372, 118, 46, 20, 4
BLOCKS, JUDGED = 5, 0


def text(x: float, y: float, words: str, *, bold: bool = False, anchor: str = "start") -> str:
    """Return a line of text."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{INK}" text-anchor="{anchor}"{weight}>{words}</text>'


def cell(block: int, y: float, colour: str, words: str = "", *, dashed: bool = False) -> str:
    """Return one block of rows in one fit."""
    x = LEFT + block * (CELL + GAP)
    style = f'fill="none" stroke="{colour}" stroke-dasharray="3"' if dashed else f'fill="{colour}"'
    box = f'<rect x="{x}" y="{y}" width="{CELL}" height="{ROW}" rx="2" {style}/>'
    if not words:
        return box
    ink = INK if dashed else "#ffffff"
    middle = f'x="{x + CELL / 2}" y="{y + 14}"'
    return box + f'<text {middle} text-anchor="middle" font-size="10.5" fill="{ink}">{words}</text>'


def ten_fits(top: float) -> tuple[list[str], float]:
    """Draw the fits of one candidate, those that choose for the judged block marked green."""
    parts = []
    splits = {split.tests: split.train for split in pair_out(BLOCKS).splits}
    for number, pair in enumerate(combinations(range(BLOCKS), 2)):
        y = top + number * (ROW + GAP) + (10 if number >= BLOCKS - 1 else 0)
        names = f"fit without {pair[0] + 1}, {pair[1] + 1}"
        parts.append(text(LEFT - 10, y + 14, names, anchor="end"))
        for block in range(BLOCKS):
            if block in splits[pair]:
                parts.append(cell(block, y, GREY))
            elif JUDGED not in pair:
                parts.append(cell(block, y, BLUE))
            elif block == JUDGED:
                parts.append(cell(block, y, BLUE, "unused", dashed=True))
            else:
                parts.append(cell(block, y, GREEN, "chooses"))
    return parts, y + ROW


def legend(top: float) -> list[str]:
    """Draw what the colours mean."""
    parts = []
    meanings = (
        (f'fill="{GREY}"', "rows used for training"),
        (f'fill="{GREEN}"', "predictions that choose the candidate for block 1"),
        (
            f'fill="none" stroke="{BLUE}" stroke-dasharray="3"',
            "predictions of block 1: not used for it",
        ),
        (f'fill="{BLUE}"', "predictions used to choose for other blocks"),
        (f'fill="{ORANGE}"', "predictions that are scored"),
    )
    for number, (style, words) in enumerate(meanings):
        y = top + number * 20
        parts.append(f'<rect x="8" y="{y}" width="14" height="14" rx="2" {style}/>')
        parts.append(text(30, y + 11, words))
    return parts


def picture() -> str:
    """Return the whole picture."""
    parts = [text(8, 16, "1. Fit every candidate without each pair of blocks", bold=True)]
    for block in range(BLOCKS):
        middle = LEFT + block * (CELL + GAP) + CELL / 2
        parts.append(text(middle, 38, f"block {block + 1}", anchor="middle"))
    fits, y = ten_fits(46)
    parts += fits
    parts.append(
        text(8, y + 32, "2. Score the choice on block 1; likewise blocks 2 to 5", bold=True)
    )
    y += 42
    parts.append(text(LEFT - 10, y + 14, "chosen candidate", anchor="end"))
    parts.append(cell(JUDGED, y, ORANGE, "scored"))
    parts += [cell(block, y, GREY) for block in range(BLOCKS) if block != JUDGED]
    y += ROW + 18
    parts += legend(y)
    height = y + 98
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="12">'
        + "".join(parts)
        + "</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_name("pair_out.svg").write_text(picture(), encoding="utf-8")
