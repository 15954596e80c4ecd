"""Offers side by side: which is no worse than another in anything, and better in something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resilver.center.sizing import SizedOffer


def _respects(offer: SizedOffer) -> dict[str, float]:
    """In which respects an offer can be compared, each such that less is better."""
    found = {"usable": -offer.usable_bytes, "rate": -offer.rate_bytes_per_second}
    found["short of"] = float(len(offer.short_of))
    if offer.random_bytes_per_second is not None:
        found["random"] = -offer.random_bytes_per_second[0]
    if offer.power_watts is not None:
        found["power"] = offer.power_watts
    if offer.price is not None:
        found["price"] = offer.price.amount
    return found


def compared(offers: Sequence[SizedOffer]) -> list[SizedOffer]:
    """The offers, each with those that are better than it in one respect and worse in none."""
    found = []
    for one in offers:
        own = _respects(one)
        better = []
        for other in offers:
            theirs = _respects(other)
            # What only one of two states, is no ground to prefer either.
            if other is one or set(theirs) != set(own):
                continue
            pairs = [(theirs[name], own[name]) for name in own]
            if all(a <= b for a, b in pairs) and any(a < b for a, b in pairs):
                better.append(other.name)
        found.append(replace(one, dominated_by=tuple(better)))
    return found
