"""How far a model's bandwidths are from the measured ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ModelError:
    """The root mean square of a model's deviations.

    Attributes:
        bytes_per_second: The root mean square of modelled less measured bandwidth over the sizes.
        fraction: The same over the mean measured bandwidth.
    """

    bytes_per_second: float
    fraction: float

    @classmethod
    def of(cls, measured: Sequence[float], modelled: Sequence[float]) -> ModelError:
        """The error of a modelled curve.

        Every size counts once. (C. Ruemmler and J. Wilkes, "An introduction to disk drive
        modeling", 1994, call this the demerit figure.)

        Args:
            measured: Bandwidths in bytes per second, at least one.
            modelled: The model's at the same sizes.

        >>> ModelError.of([100.0, 300.0], [110.0, 290.0])
        ModelError(bytes_per_second=10.0, fraction=0.05)
        """
        count = len(measured)
        squares = [(b - a) ** 2 for a, b in zip(measured, modelled, strict=True)]
        error = math.sqrt(math.fsum(squares) / count)
        return cls(error, error / (math.fsum(measured) / count))
