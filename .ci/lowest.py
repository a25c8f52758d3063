"""Print the lowest version that pyproject.toml allows of every dependency, for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = f"{PROJECT['name']}["

for line in [*PROJECT["dependencies"], *EXTRAS["test"], *EXTRAS["dask"], *EXTRAS["search"]]:
    if line.startswith(OURS):
        continue
    bound = re.fullmatch(r"([\w.-]+)>=([\w.]+)", line)
    if bound is None:
        raise SystemExit(f"pyproject.toml: {line!r} must have the form name>=version")
    print(f"{bound[1]}=={bound[2]}")
