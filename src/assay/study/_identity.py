"""The digest of a result: the same for the same study, whatever release made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay import store

#: Parts of a record that name the software and not the result.
_MADE_WITH = ("assay", "versions")


def result_digest(manifest: Mapping[str, Any], parts: Mapping[str, Any], record: str) -> str:
    """Return the SHA-256 of a model file's content, without the versions that it names.

    Parameters
    ----------
    manifest : mapping
        Of the model file.
    parts : mapping
        The fitted estimators.
    record : str
        Name of the record in the manifest.
    """
    rest = {name: part for name, part in manifest[record].items() if name not in _MADE_WITH}
    return store.digest({**manifest, record: rest}, parts)
