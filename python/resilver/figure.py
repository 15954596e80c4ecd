"""A figure with its interval, as answers about rare events give it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

Method = Literal["exact", "approximate", "simulated"]
"""By exact arithmetic of the model; by a closed form that leaves something out, which a note says;
or by trajectories, with an interval."""


TOO_FEW = "too few losses for an interval"
"""What stands in place of an interval that is left out."""


@dataclass(frozen=True)
class Figure:
    """A figure, and how far it is known.

    Attributes:
        value: The value; None where it is not known, and then a bound may be.
        low: The lower end of its 95 % interval; the value itself where it is exact, and NaN where
            too few losses were seen for an interval.
        high: The upper end, likewise: where nothing was seen, 0 to 3 / trajectories (plain ones
            alone).
        method: How it was found.
        relative_error: Its standard error over its value; 0 where exact, None where not known.
        trajectories: Trajectories that it rests on; 0 where none.
        effective: Their effective number: (sum w)^2 / sum w^2 over the losses seen.
    """

    value: float | None
    low: float
    high: float
    method: Method = "exact"
    relative_error: float | None = 0.0
    trajectories: int = 0
    effective: float = 0.0

    @classmethod
    def exact(cls, value: float, method: Method = "exact") -> Figure:
        """A figure without an interval."""
        return cls(value, value, value, method)

    @property
    def has_interval(self) -> bool:
        """Whether enough losses were seen for an interval."""
        return not math.isnan(self.low)

    def to_dict(self) -> dict[str, Any]:
        """The figure as a JSON-able dictionary; infinity and the ends of an interval that is left
        out are None, with a ``note``."""
        found: dict[str, Any] = dict(vars(self))
        for key in ("value", "low", "high"):
            if found[key] is not None and not math.isfinite(found[key]):
                found[key] = None
                found["note"] = "never, by this model" if self.has_interval else TOO_FEW
        return found
