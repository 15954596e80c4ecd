"""A figure with its derivation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure with its derivation.

    Attributes:
        key: Its name, the unit last.
        what: What it is, in words.
        value: In SI units.
        kind: "bytes", "rate", "daily" (a rate told by the day), "share", "count", "number" or
            "seconds".
        derivation: What it is computed from, as a formula.
    """

    key: str
    what: str
    value: float
    kind: str
    derivation: str
