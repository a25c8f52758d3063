"""Files changed from inside, checksums made right again: refused, or harmless."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import store
from assay.store import save

from .conftest import FITTED
from .mutate import outcome_of, variant

N_VARIANTS = 12  # per example; 5000 and more by: python -m tests.store.mutate


def test_changed_models_are_refused_or_predict(fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.assay"
    save(path, {"about": "a test"}, {"model": fitted})
    whole = path.read_bytes()
    for seed in range(N_VARIANTS):
        path.write_bytes(whole)
        variant(path, seed)
        assert outcome_of(path) in {"refused", "predicts"}


_LOAD_UNDER_GUARD = """
import sys
from pathlib import Path
from sklearn.base import BaseEstimator
from assay import store
from assay.base import DataError
from assay.store._classes import classes

classes()
repr(BaseEstimator())  # a message may show one, and scikit-learn imports its printer on first use
store.load(sys.argv[1])
seen = []
FORBIDDEN = (
    "import", "exec", "compile", "pickle.", "marshal.", "socket.", "subprocess.", "ctypes.",
    "os.system", "os.exec", "os.fork", "os.spawn", "os.posix_spawn", "os.remove", "os.rename",
    "os.mkdir", "os.chmod", "os.link", "os.symlink", "os.truncate", "shutil.", "urllib.",
)

def guard(event, args):
    if event.startswith(FORBIDDEN):
        seen.append((event, str(args[:1])))
    if event == "open" and (args[1] or "r") not in ("r", "rb"):
        seen.append((event, str(args)))
    if event == "open" and str(args[0]) not in known:
        seen.append((event, str(args)))

known = {str(path) for path in Path(sys.argv[1]).parent.iterdir()}
sys.addaudithook(guard)
results = []
for path in sorted(known):
    try:
        store.load(path)
        results.append("loaded")
    except DataError:
        results.append("refused")
print(sorted(set(results)), seen)
"""


def test_loading_imports_runs_and_writes_nothing(tmp_path: Path) -> None:
    for position, name in enumerate(sorted(FITTED)):
        path = tmp_path / f"{name}.assay"
        save(path, {}, {"model": FITTED[name]()})
        changed = tmp_path / f"{name}-changed.assay"
        changed.write_bytes(path.read_bytes())
        variant(changed, position)
    (tmp_path / "x.assay").write_bytes(b"\x80\x04\x95cposix\nsystem\n(S'true'\ntR.")
    done = subprocess.run(
        [sys.executable, "-c", _LOAD_UNDER_GUARD, str(tmp_path / "ridge.assay")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['loaded', 'refused'] []"


@pytest.mark.parametrize("word", ["pickle", "joblib", "eval(", "exec(", "__import__", "marshal"])
def test_no_way_to_run_code_is_in_the_source(word: str) -> None:
    sources = sorted(Path(store.__path__[0]).glob("*.py"))
    assert sources
    texts = {path.name: path.read_text() for path in sources}
    texts["_read.py"] = texts["_read.py"].replace('(b"\\x80", "a Python pickle")', "")
    assert [name for name, text in texts.items() if word in text] == []
