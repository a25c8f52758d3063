from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from assay.store import write_file

OLD, NEW = b"old content", b"new content " * 1000


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "file.assay"
    path.write_bytes(OLD)
    return path


@pytest.fixture(params=["unnamed", "named"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with and without a file system that knows files without a name."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


def _unchanged(target: Path) -> bool:
    return target.read_bytes() == OLD and list(target.parent.iterdir()) == [target]


@pytest.mark.usefixtures("both_ways")
def test_file_is_replaced_as_a_whole(target: Path) -> None:
    write_file(target, [NEW[:5], memoryview(NEW)[5:]])
    assert target.read_bytes() == NEW
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.usefixtures("both_ways")
def test_new_file_obeys_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_file(tmp_path / "new", [NEW])
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.usefixtures("both_ways")
def test_replaced_file_keeps_its_permissions(target: Path) -> None:
    target.chmod(0o604)
    write_file(target, [NEW])
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


def test_link_stays_and_its_file_is_replaced(target: Path) -> None:
    link = target.parent / "link"
    link.symlink_to(target.name)
    write_file(link, [NEW])
    assert link.is_symlink()
    assert target.read_bytes() == NEW


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("call", ["fsync", "replace", "link"])
def test_failure_of_any_step_leaves_the_old_file(
    target: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if call == "link" and not hasattr(os, "O_TMPFILE"):
        pytest.skip("a file with a name needs no link")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="no space left on device") as caught:
        write_file(target, [NEW], what="the model file")
    assert str(caught.value) == (
        f"cannot write the model file {target}: no space left on device; "
        f"free some space or choose another disk (nothing was changed)"
    )
    assert caught.value.errno == errno.ENOSPC
    assert _unchanged(target)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupt_leaves_the_old_file(target: Path, error: type[BaseException]) -> None:
    def chunks() -> Iterator[bytes]:
        yield NEW
        raise error

    with pytest.raises(error):
        write_file(target, chunks())
    assert _unchanged(target)


@pytest.mark.usefixtures("both_ways")
def test_full_disk_leaves_the_old_file_at_every_size(target: Path) -> None:
    # A limit on the size of files makes write itself fail, as a full disk does.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in range(0, len(NEW), 997):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            with pytest.raises(OSError, match="free some space or choose another disk"):
                write_file(target, [NEW])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert _unchanged(target)
    write_file(target, [NEW])
    assert target.read_bytes() == NEW


def _forked(work: Callable[[], None]) -> int:
    """Run `work` in a child process and return its id; the child never comes back to pytest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads: none are needed here
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


@pytest.mark.usefixtures("both_ways")
def test_folder_without_permission_is_named(target: Path) -> None:
    read, write = os.pipe()

    def save() -> None:
        message = "no error"
        try:
            os.chdir(target.parent)
            if os.getuid() == 0:
                os.setuid(65534)  # root may write anywhere
            write_file("new.assay", [NEW])
        except OSError as error:
            message = f"{type(error).__name__}: {error}"
        os.write(write, message.encode())

    target.parent.chmod(0o555)
    os.waitpid(_forked(save), 0)
    assert os.read(read, 1000).decode() == (
        "PermissionError: cannot write the file new.assay: permission denied; "
        "choose a folder you may write to (nothing was changed)"
    )
    os.close(read)
    os.close(write)
    target.parent.chmod(0o755)
    assert _unchanged(target)


@pytest.mark.parametrize(
    ("place", "error", "why"),
    [
        ("missing/x", FileNotFoundError, "no such file or directory; create that folder first"),
        (".", IsADirectoryError, "is a directory; give the name of a file, not of a folder"),
        ("file.assay/x", NotADirectoryError, "not a directory; part of the path is a file; give"),
        ("x" * 300, OSError, "file name too long; choose a shorter name"),
    ],
)
def test_impossible_place_is_explained(
    target: Path, place: str, error: type[OSError], why: str
) -> None:
    with pytest.raises(error) as caught:
        write_file(target.parent / place, [NEW])
    assert str(caught.value).startswith(f"cannot write the file {target.parent / place}: {why}")
    assert _unchanged(target)


def test_device_is_refused() -> None:
    with pytest.raises(OSError, match=r"/dev/full: there is a device or a pipe of that name"):
        write_file("/dev/full", [NEW])


@pytest.mark.parametrize("name", ["the_same.assay", "{}.assay"])
def test_killed_writer_leaves_no_half_written_file(tmp_path: Path, name: str) -> None:
    content = [bytes([i]) * 100_000 for i in range(10)]

    def write_again_and_again(first: int) -> None:
        for number in count(first):
            write_file(tmp_path / name.format(number), content)

    for moment in range(10):
        # Numbers of its own in every round: a name that is there already would be replaced.
        child = _forked(partial(write_again_and_again, 10_000 * moment))
        time.sleep(0.005 + 0.0037 * moment)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for path in tmp_path.iterdir():
            assert path.read_bytes() == b"".join(content)
            # Between its two names, a file that replaces another has a temporary one.
            assert path.suffix == ".assay" or name == "the_same.assay"
