"""What a source concludes in words, and what our numbers say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resilver.reproduce.compare import ABSENT, VERDICTS, Comparison
from resilver.reproduce.published import CHECK, CONSTRUCTED, PREDICTED, Conclusion

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
"""The verdicts of a conclusion by the predicted numbers that it rests on."""

UNTESTED = "not tested"
"""The verdict of a conclusion that no predicted number decides: what was put in, and our own
arithmetic, could not have contradicted it."""

UNMODELLED = "no model"
"""The verdict of a conclusion that no number of ours can decide."""


_UNTESTING = (CONSTRUCTED, CHECK)


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
        """By the predicted numbers: "holds", "holds in part", "does not hold".

        An own check or a number by construction that fails leaves it "holds in part" at the most.
        Where no number is predicted, such a failure is "does not hold", and else it is "not
        tested"; "not run" without rows. What rests on no number is "no model", and its `why` says
        so.
        """
        if not self.said.rests_on:
            return UNMODELLED
        run = [one for one in self.numbers if one.verdict != ABSENT]
        if not run:
            return ABSENT
        held = [one.verdict == VERDICTS[PREDICTED][0] for one in run if one.kind == PREDICTED]
        wrong = any(one.verdict == VERDICTS[one.kind][1] for one in run if one.kind in _UNTESTING)
        if held:
            return HOLDS if all(held) and not wrong else PARTLY if any(held) else FAILS
        return FAILS if wrong else UNTESTED

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
