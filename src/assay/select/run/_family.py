"""A family: one estimator and the candidates that compete for its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.base import ParameterError
from assay.select.plan import digest


@dataclass(frozen=True, eq=False)
class Family:
    """An estimator, its candidates and the encoder in front of it.

    Parameters
    ----------
    name : str
        Shown to the user; not part of any key or seed.
    estimator : estimator
        Unfitted; ``clone(estimator).set_params(**candidate)`` is a candidate.
    candidates : sequence of dict
        The parameters to try, fixed before any score is seen.
    encoder : transformer, optional
        Fitted on the training rows only, before the estimator; shared by all families that have an
        equal one.
    work : callable, optional
        ``work(train, tests)``: cost of one unit with all candidates for `train` training rows and
        `tests` test rows, in work units of about one millisecond on one core. It decides what is
        tried and when, never what wins.
    memory : callable, optional
        ``memory(rows)``: bytes that one unit holds on a table of `rows` rows.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> family = Family("ridge", Ridge(), [{"alpha": a} for a in (0.1, 1.0, 10.0)])
    >>> len(family.candidates)
    3
    """

    name: str
    estimator: Any
    candidates: Sequence[Mapping[str, Any]] = ({},)
    encoder: Any = None
    work: Callable[[int, int], float] | None = None
    memory: Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(dict(each) for each in self.candidates))
        if not self.candidates:
            raise ParameterError(f"family {self.name!r} has no candidates; give at least one")
        for method in ("get_params", "set_params", "fit", "predict"):
            if not hasattr(self.estimator, method) or isinstance(self.estimator, type):
                raise ParameterError(
                    f"family {self.name!r}: estimator must be an estimator object with {method}; "
                    f"got {self.estimator!r}"
                )
        known = set(self.estimator.get_params(deep=True))
        for candidate in self.candidates:
            for name in candidate:
                # A candidate may replace a whole step and then set parameters of the new one.
                if name.partition("__")[0] not in known:
                    allowed = ", ".join(sorted(known))
                    raise ParameterError(
                        f"family {self.name!r}: {name!r} is not a parameter of "
                        f"{type(self.estimator).__name__}; allowed: {allowed}"
                    )

    @cached_property
    def _template(self) -> list[str]:
        where = f"family {self.name!r}"
        return [digest(self.estimator, where), digest(self.encoder, f"{where} encoder")]

    @cached_property
    def _digests(self) -> dict[tuple[int, ...], str]:
        return {}

    @cached_property
    def encoder_digest(self) -> str | None:
        """Digest of the encoder; None without one."""
        return None if self.encoder is None else digest(self.encoder, "encoder")

    def digest(self, candidates: Sequence[int] | None = None) -> str:
        """Return the SHA-256 of what is computed: classes, parameters, candidates, encoder."""
        chosen = tuple(range(len(self.candidates)) if candidates is None else candidates)
        if chosen not in self._digests:
            parts = [
                digest(self.candidates[i], f"family {self.name!r} candidate {i}") for i in chosen
            ]
            self._digests[chosen] = digest([self._template, parts])
        return self._digests[chosen]
