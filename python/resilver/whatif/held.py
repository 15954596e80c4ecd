"""A change of the map whose data stays where it is until it is released: what it comes to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from resilver.whatif.answer import WhatIf


@dataclass(frozen=True)
class HeldGroup:
    """A PG that stays where it is.

    Attributes:
        hold: The commands that hold it.
        release: The commands after which it goes where the change has it.
        bytes: What moves then.
    """

    hold: tuple[str, ...]
    release: tuple[str, ...]
    bytes: int


@dataclass(frozen=True)
class HeldChange:
    """A change whose data is held and then released in steps.

    Attributes:
        at_once: What the change does where nothing is held.
        preparing: The commands before it.
        returning: The commands that undo it where the CRUSH map of before does not.
        back: The commands that then give PGs the entries that they had.
        is_balanced: Whether the balancer may be on, which would take entries away.
        steps: The PGs that are held, by the step that releases them.
        loose: The PGs that cannot be held, and what of each moves as soon as the map changes.
    """

    at_once: WhatIf
    preparing: tuple[str, ...]
    returning: tuple[str, ...]
    back: tuple[str, ...]
    is_balanced: bool
    steps: tuple[tuple[HeldGroup, ...], ...]
    loose: tuple[tuple[str, int], ...]

    @cached_property
    def held(self) -> tuple[HeldGroup, ...]:
        """All that are held, in the order of their release."""
        return tuple(group for step in self.steps for group in step)

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON-able data."""
        return {
            "at_once": self.at_once.to_dict(),
            "preparing": list(self.preparing),
            "steps": [
                {
                    "bytes": sum(group.bytes for group in step),
                    "hold": [line for group in step for line in group.hold],
                    "release": [line for group in step for line in group.release],
                }
                for step in self.steps
            ],
            "back": [*self.returning, *self.back],
            "loose": [{"pgid": pgid, "bytes": size} for pgid, size in self.loose],
        }
