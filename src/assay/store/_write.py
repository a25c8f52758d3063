"""Write a file completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_ADVICE = {
    errno.ENOENT: "create that folder first",
    errno.ENOTDIR: "part of the path is a file; give a path inside a folder",
    errno.EISDIR: "give the name of a file, not of a folder",
    errno.EACCES: "choose a folder you may write to",
    errno.EPERM: "choose a folder you may write to",
    errno.EROFS: "choose a folder you may write to",
    errno.ENOSPC: "free some space or choose another disk",
    errno.EDQUOT: "free some space or choose another disk",
    errno.EFBIG: "free some space or choose another disk",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def write_file(
    path: str | os.PathLike[str],
    chunks: Iterable[bytes | memoryview],
    *,
    what: str = "the file",
) -> None:
    """Write bytes to a file so that at any moment the complete old or new file exists.

    Parameters
    ----------
    path : path
        Where to write. A symbolic link stays, and the file it points to is replaced.
    chunks : iterable of bytes
        The content, in order.
    what : str, default="the file"
        Name of the file in error messages.

    Raises
    ------
    OSError
        If it cannot be written; nothing has changed then, and no other file is left behind.

    Notes
    -----
    Written without a name (Linux) or under a temporary one in the same folder, synced, renamed, and
    the folder synced. Without a name, a killed process leaves nothing behind either.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder, "a.txt"), [b"one ", b"two"])
    ...     Path(folder, "a.txt").read_text()
    'one two'
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of_existing(target)
        _write(target, chunks, mode)
    except OSError as error:
        raise _explained(error, os.fspath(path), what) from error


def _mode_of_existing(target: Path) -> int | None:
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "there is a device or a pipe of that name")
    return stat.S_IMODE(found)


def _write(target: Path, chunks: Iterable[bytes | memoryview], mode: int | None) -> None:
    temporary = target.parent / f".assay-{secrets.token_hex(8)}.tmp"
    descriptor, named = _scratch(temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            if not named and mode is None and _named(file.fileno(), target):
                temporary = target
            elif not named:
                named = _named(file.fileno(), temporary)
        if temporary != target:
            os.replace(temporary, target)  # noqa: PTH105  (the tests make it fail here)
    except BaseException:
        if named:
            with suppress(OSError):
                temporary.unlink()
        raise
    # The new file is complete and in place; some network disks cannot sync a folder.
    with suppress(OSError):
        _sync_folder(target.parent)


def _scratch(temporary: Path) -> tuple[int, bool]:
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").exists():
        # Not every file system supports it; the named file below then raises the error, if any.
        with suppress(OSError):
            return os.open(
                temporary.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666
            ), False
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    return os.open(temporary, flags, 0o666), True


def _named(descriptor: int, path: Path) -> bool:
    """Give the open file a name; return whether it was free."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # With a folder's descriptor Python calls linkat, which follows this link to the open file.
        os.link(f"/proc/self/fd/{descriptor}", path.name, dst_dir_fd=folder)
    except FileExistsError:
        return False
    finally:
        os.close(folder)
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(error: OSError, path: str, what: str) -> OSError:
    why = (error.strerror or str(error)).lower()
    advice = _ADVICE.get(error.errno or 0, "choose another place")
    explained = type(error)(f"cannot write {what} {path}: {why}; {advice} (nothing was changed)")
    explained.errno = error.errno
    return explained
