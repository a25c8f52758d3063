"""What is predicted: one of two classes, of several, a number, or an order."""

from __future__ import annotations

from enum import StrEnum

from assay.base._errors import ParameterError


class Task(StrEnum):
    """The kind of question a target asks. A member equals its name, such as ``"binary"``.

    Examples
    --------
    >>> Task.of("rank").has_classes, Task.BINARY == "binary", Task.of_classes(3)
    (False, True, <Task.MULTICLASS: 'multiclass'>)
    """

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"
    RANK = "rank"

    @classmethod
    def of(cls, name: str) -> Task:
        """Return the task of this name.

        Parameters
        ----------
        name : {"binary", "multiclass", "regression", "rank"}
            Or a Task.

        Raises
        ------
        ParameterError
            If there is no such task.
        """
        if name not in list(cls):
            raise ParameterError(f"task must be one of {', '.join(cls)}; got {name!r}")
        return cls(name)

    @classmethod
    def of_classes(cls, count: int | None) -> Task:
        """Return the task of predicting one of `count` classes; None for a number."""
        if count is None:
            return cls.REGRESSION
        return cls.BINARY if count <= 2 else cls.MULTICLASS

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class, not a number."""
        return self in (Task.BINARY, Task.MULTICLASS)

    @property
    def has_queries(self) -> bool:
        """Whether items are compared within a query only."""
        return self is Task.RANK
