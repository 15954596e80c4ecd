"""What a source concludes in words, and what our numbers say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resilver.reproduce.compare import ABSENT, COMPARED, FAILS, HOLDS, Comparison
from resilver.reproduce.published import Conclusion

PARTLY = "holds in part"
"""The verdict of a conclusion of which some numbers lie in their bands and some do not."""

UNMODELLED = "no model"
"""The verdict of a conclusion that no number of ours can decide."""


@dataclass(frozen=True)
class Concluded:
    """A conclusion of the source and our numbers.

    Args:
        said: What it concludes.
        numbers: The numbers it rests on that were compared.
    """

    said: Conclusion
    numbers: tuple[Comparison, ...]

    @property
    def verdict(self) -> str:
        """By the numbers with a band: "holds", "holds in part", "does not hold" or "not run".

        What rests on no number is "no model", and its `why` says so.
        """
        if not self.said.rests_on:
            return UNMODELLED
        judged = [one.verdict for one in self.numbers if one.verdict not in (COMPARED, ABSENT)]
        if not judged:
            return ABSENT
        held = judged.count(HOLDS)
        if held == len(judged):
            return HOLDS
        return PARTLY if held else FAILS

    def as_record(self) -> dict[str, Any]:
        """Everything as a flat object, for `--json`."""
        return {
            "claim": self.said.claim,
            "where": self.said.where,
            "verdict": self.verdict,
            "numbers": {f"{one.entry}/{one.key}": one.ours for one in self.numbers},
            "why": self.said.why or None,
        }


def conclude(said: Conclusion, numbers: Sequence[Comparison]) -> Concluded:
    """Set a conclusion beside the numbers that decide it.

    Args:
        said: The conclusion.
        numbers: All numbers that were compared.

    Returns:
        The conclusion with its own.

    >>> conclude(Conclusion("It is fast.", "section 7", ("e/rate",)), []).verdict
    'not run'
    """
    by_name = {f"{one.entry}/{one.key}": one for one in numbers}
    return Concluded(said, tuple(by_name[name] for name in said.rests_on if name in by_name))
