"""Entries read from a ledger, the last ones kept decoded."""

from __future__ import annotations

from collections import OrderedDict

from assay.select.run._ledger import Ledger
from assay.select.run._record import Entry, decode

#: Bytes of encoded units whose decoded entries are kept.
_MOST_BYTES = 256_000_000


class Decoded:
    """Decoded units by key; those used least recently are dropped beyond a number of bytes.

    Scores, stacks, the bootstrap and the estimate read the same predictions one after the other.

    Parameters
    ----------
    most : int, optional
        Bytes of encoded units to keep at most.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[int, list[Entry]]] = OrderedDict()

    def entries(self, key: str, ledger: Ledger) -> list[Entry]:
        """Return the entries of a finished unit.

        Raises
        ------
        KeyError
            If the ledger does not hold it.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        payload = ledger.get(key)
        if payload is None:
            raise KeyError(key)
        entries = decode(payload)
        self._kept[key] = len(payload), entries
        self._bytes += len(payload)
        while self._bytes > self._most and len(self._kept) > 1:
            _, (size, _) = self._kept.popitem(last=False)
            self._bytes -= size
        return entries
