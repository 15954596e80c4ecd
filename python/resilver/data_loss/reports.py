"""How far an answer is, for those who wait for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from resilver.errors import Interrupted


@dataclass(frozen=True)
class Estimating:
    """How far an answer is.

    Attributes:
        phase: ``repairs`` while rebuilds are simulated, ``estimating`` while missions are.
        name: What is being answered.
        done: Rebuilds or missions done.
        total: Of at most how many.
        relative_error: The relative standard error so far; None where nothing is known yet.
    """

    phase: Literal["repairs", "estimating"]
    name: str
    done: int
    total: int
    relative_error: float | None = None


Told = Callable[[Estimating], bool]
"""Told how far it is; answers whether to go on."""


def telling(
    told: Told | None, phase: Literal["repairs", "estimating"], name: str
) -> Callable[..., None] | None:
    """What is told how much is done, of how much, and the relative standard error if it is known.

    It stops by `Interrupted` where the answer is not to go on.
    """
    if told is None:
        return None

    def tell(done: int, total: int, relative_error: float | None = None) -> None:
        if not told(Estimating(phase, name, done, total, relative_error)):
            raise Interrupted("the answer was stopped before its end; what is finished is kept")

    return tell
