"""What was moved over time, as logs of servers and of programs tell it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """Bytes moved over time.

    Attributes:
        times: When each sample begins, in seconds, rising: shape (n,). Since 1970, or since the
            beginning of a run where that is all that is known.
        values: The bytes of each sample, which lasts until the next one begins: shape (n,). NaN
            where they are not known.
        name: What it is of, such as the name of its file.
    """

    times: Floats = field(repr=False)
    values: Floats = field(repr=False)
    name: str = ""
