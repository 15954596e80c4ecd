"""Whether two signatures are one job's: period, length and volume within what is known of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resilver.center.signatures.file import Signature, read_signature

_LEAST = 0.05
"""No signature is taken for surer than this share: jobs differ from run to run."""


@dataclass(frozen=True)
class Difference:
    """One of the figures of both.

    Attributes:
        what: ``period``, ``length`` or ``volume``.
        one: Of the first, in seconds or bytes.
        other: Of the second.
        allowed: How far apart they may be.
    """

    what: str
    one: float
    other: float
    allowed: float

    @property
    def holds(self) -> bool:
        """Whether they are as near as that."""
        return abs(self.one - self.other) <= self.allowed


@dataclass(frozen=True)
class SignaturesCompared:
    """Two signatures beside each other.

    Attributes:
        one: The first.
        other: The second.
        differences: By figure.
    """

    one: Signature
    other: Signature
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Whether they may be the same job's."""
        return all(difference.holds for difference in self.differences)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "same": self.holds,
            "differences": [asdict(row) | {"holds": row.holds} for row in self.differences],
            "one": self.one.to_dict(),
            "other": self.other.to_dict(),
        }


def compare_signatures(
    one: Signature | str | Path, other: Signature | str | Path
) -> SignaturesCompared:
    """Say whether two signatures may be the same job's.

    Each figure may differ by the root of the sum of both squared uncertainties, and always by 5 %.

    Args:
        one: A signature, or its file.
        other: Another.

    Raises:
        ConfigError: A file cannot be read.

    >>> first = Signature(period=600.0, first=0.0, length=45.0, volume=2.4e12)
    >>> compare_signatures(first, Signature(610.0, 0.0, 45.0, 2.4e12)).holds
    True
    """
    first, second = (
        value if isinstance(value, Signature) else read_signature(value) for value in (one, other)
    )
    rows = []
    for what in ("period", "length", "volume"):
        mine, theirs = getattr(first, what), getattr(second, what)
        errors = math.hypot(getattr(first, f"{what}_error"), getattr(second, f"{what}_error"))
        rows.append(Difference(what, mine, theirs, max(errors, _LEAST * max(mine, theirs))))
    return SignaturesCompared(first, second, tuple(rows))
