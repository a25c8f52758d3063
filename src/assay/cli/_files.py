"""Files that a command reads and writes, checked before the long work starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

import click

STDIN = "-"
_KNOWN_STARTS = {
    ".html": b"<!doctype html>",
    ".ledger": b"SQLite format 3\x00",
}


def check_input(name: str) -> None:
    """Raise what opening the file would raise, with the nearest existing name.

    Raises
    ------
    OSError
        If there is no such file, or it may not be read.
    """
    if name == STDIN:
        return
    path = Path(name)
    if path.is_dir():
        raise IsADirectoryError(f"cannot read {name!r}: it is a folder; give a file in it")
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise FileNotFoundError(f"cannot read {name!r}: no such file{_nearest(path)}") from None
    except PermissionError:
        raise PermissionError(
            f"cannot read {name!r}: no permission; ask its owner, or copy it"
        ) from None
    except OSError as error:
        raise OSError(f"cannot read {name!r}: {error.strerror or error}") from error


def check_output(path: Path, *, replace: bool) -> None:
    """Raise now what writing the file would raise after the fit.

    Parameters
    ----------
    path : Path
        What will be written.
    replace : bool
        Whether a file that Assay did not write may be replaced.

    Raises
    ------
    OSError
        If the folder does not exist or may not be written to.
    click.UsageError
        If there is a file of that name that Assay did not write.
    """
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"cannot write {str(path)!r}: no folder {str(folder)!r}; create it first"
        )
    try:
        # Nameless where the system can; gone at once in any case.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"cannot write to the folder {str(folder.resolve())!r}: "
            f"{(error.strerror or str(error)).lower()}; choose another with --out",
        ) from error
    if not path.exists():
        return
    if not path.is_file():
        raise OSError(f"cannot write {str(path)!r}: it is not a regular file; choose another --out")
    if not os.access(path, os.W_OK):
        raise PermissionError(
            f"cannot write {str(path)!r}: it is write-protected; choose another --out"
        )
    if not replace and not _ours(path):
        raise click.UsageError(
            f"{str(path)!r} exists and was not written by Assay; choose another --out, or --force"
        )


def check_not_input(path: Path, *names: str) -> None:
    """Refuse an output that is one of the files read, under whatever name.

    Raises
    ------
    click.UsageError
        Naming the file that would be lost.
    """
    for name in names:
        if name != STDIN and path.exists() and path.samefile(name):
            raise click.UsageError(
                f"--out {str(path)!r} is the file {name!r} that is read; it would be lost. "
                "Choose another --out"
            )


def outputs(source: str, out: str | None) -> dict[str, Path]:
    """Return where the model, the report and the ledger go.

    Parameters
    ----------
    source : str
        The table's path; its stem is the default name.
    out : str or None
        A folder, or a path without its ending.
    """
    stem = "stdin" if source == STDIN else _stem(Path(source).name)
    if out is None:
        prefix = Path(stem)
    elif Path(out).is_dir() or out.endswith(("/", os.sep)):
        prefix = Path(out, stem)
    else:
        given = Path(out)
        prefix = given.with_suffix("") if given.suffix in (".assay", ".html", ".ledger") else given
    return {
        "model": prefix.with_name(prefix.name + ".assay"),
        "report": prefix.with_name(prefix.name + ".html"),
        "ledger": prefix.with_name(prefix.name + ".ledger"),
    }


@contextmanager
def removed_on_error(ledger: Path | None, errors: Iterable[type[BaseException]]) -> Iterator[None]:
    """Remove a ledger that this command made, if it fails with nothing worth resuming."""
    new = ledger is not None and not ledger.exists()
    try:
        yield
    except tuple(errors):
        if ledger is not None and new:
            for ending in ("", "-wal", "-shm", "-journal"):
                with suppress(OSError):
                    ledger.with_name(ledger.name + ending).unlink()
        raise


def size_text(path: Path) -> str:
    """Return the size of a file in words.

    Examples
    --------
    >>> import os
    >>> size_text(Path(os.devnull))
    '0 bytes'
    """
    size = float(path.stat().st_size)
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.5 or unit == "GB":
            return f"{size:.3g} {unit}"
    raise AssertionError


def _nearest(path: Path) -> str:
    try:
        there = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return f" (there is no folder {str(path.parent)!r})" if path.parent != Path() else ""
    near = get_close_matches(path.name, there, n=1, cutoff=0.75)
    return f"; did you mean {str(path.with_name(near[0]))!r}?" if near else "; check the name"


def _stem(name: str) -> str:
    for ending in (".gz", ".zst", ".bz2", ".xz"):
        name = name.removesuffix(ending)
    stem = Path(name).stem
    return stem or "table"


def _ours(path: Path) -> bool:
    """Whether a file starts as one that Assay wrote; an empty file may be replaced."""
    with path.open("rb") as file:
        start = file.read(512)
    if not start:
        return True
    if path.suffix == ".assay":
        # A safetensors file: eight bytes of length, then JSON.
        return len(start) > 8 and start[8:9] == b"{" and start[6:8] == b"\x00\x00"
    known = _KNOWN_STARTS.get(path.suffix, b"")
    return start.startswith(known) and (path.suffix != ".html" or b"Assay" in _head(path))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2048)
