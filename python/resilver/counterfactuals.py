"""Counterfactuals: the same input with one thing relaxed, run again, and how much sooner it ends.

A bottleneck is named by this alone. Who waits in a queue waits for whatever makes the queue slow,
so no share of waiting names one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FACTOR = 2.0
"""By how much one thing is relaxed: a rate or a number of slots is doubled, a time halved."""

BOTTLENECK_SHARE = 0.2
"""What is relaxed was the bottleneck where that makes the end come sooner by this share."""

HELPS_SHARE = 0.05
"""Below this share it is said not to help."""


@dataclass(frozen=True)
class Counterfactual:
    """One thing relaxed.

    Attributes:
        relaxed: What it is, such as ``devices``.
        setting: The settings, the option or the key of a study that state it.
        before: Its value as it is, in words.
        after: Its value relaxed, in words.
        end_seconds: When healing ends then; None where it does not within the run.
        sooner_share: By which share of the time as it is that is sooner; below 0 where it is later,
            None where either time is unknown.
        stuck_groups: PGs that are not clean at the end then.
        freed_groups: By how many PGs these are fewer.
    """

    relaxed: str
    setting: str
    before: str
    after: str
    end_seconds: float | None
    sooner_share: float | None
    stuck_groups: int = 0
    freed_groups: int = 0

    @property
    def helps(self) -> bool:
        """Whether anybody would do it for the time or the PGs that it saves."""
        return self.freed_groups > 0 or (self.sooner_share or 0.0) >= HELPS_SHARE


def best_first(found: Iterable[Counterfactual]) -> list[Counterfactual]:
    """Those that free most stuck PGs first, then those that end soonest.

    Args:
        found: The counterfactuals of one answer.
    """
    return sorted(
        found,
        key=lambda one: (-one.freed_groups, -(one.sooner_share or 0.0), one.relaxed),
    )


def bottleneck(found: Iterable[Counterfactual]) -> Counterfactual | None:
    """The bottleneck, or None where none of them alone is one.

    Args:
        found: The counterfactuals of one answer.
    """
    best = next(iter(best_first(found)), None)
    if best is None or best.freed_groups or (best.sooner_share or 0.0) < BOTTLENECK_SHARE:
        return None
    return best
