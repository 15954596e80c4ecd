"""Lanes: what each class of traffic is guaranteed of every port."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.section import Flag, Section, Share

TrafficClass = Literal["clients", "rebuild", "bursts"]

CLASSES: tuple[TrafficClass, ...] = ("clients", "rebuild", "bursts")
"""The classes of traffic, in the order of the core's lanes."""

_SUM_TOLERANCE = 1e-9


class Lanes(Section):
    """A queue for each class of traffic at every port, and what each class is guaranteed of it.

    What a class leaves unused is lent to the others at once. A class that is left out gets the
    rest; bursts get nothing guaranteed where the streams have none.

    >>> Lanes(clients=0.9).shares_with(bursts=False)
    (0.9, 0.1, 0.0)
    """

    clients: Share | None = Field(default=None, examples=[0.9])
    """The share of clients' reads and writes."""
    rebuild: Share | None = Field(default=None, examples=[0.1])
    """The share of rebuilds."""
    bursts: Share | None = Field(default=None, examples=[0.0])
    """The share of bursts of writes. Default: none, where there are no bursts."""
    order: Literal["shares", "priority"] = "shares"
    """How a port chooses: by ``shares``, or by strict ``priority``."""
    classes: tuple[TrafficClass, ...] | None = Field(default=None, examples=[list(CLASSES)])
    """Of strict priority: the classes, the first served first. Default: clients, rebuild, bursts.
    """
    devices: Flag = True
    """Whether devices serve lanes as well."""

    def _problems(self) -> Problems:
        given = {name: share for name in CLASSES if (share := getattr(self, name)) is not None}
        if self.order == "priority":
            rule, remedy = "strict priority has no shares", 'remove it, or use order = "shares"'
            yield from [self.problem(name, rule, remedy) for name in given]
        elif self.classes is not None:
            yield self.problem(
                "classes", "shares have no order", 'remove it, or use order = "priority"'
            )
        elif not given:
            yield Problem("no class has a share", "such as clients = 0.9 and rebuild = 0.1")
        elif (total := sum(given.values())) > 1 + _SUM_TOLERANCE:
            rule = f"the shares sum to {total:g}, and a port has only 1"
            yield Problem(rule, "lower one of them")
        if self.classes is not None and sorted(self.classes) != sorted(CLASSES):
            remedy = f"such as classes = {show(CLASSES)}"
            yield self.problem("classes", "each of the classes stands here once", remedy)

    def problems(self, *, bursts: bool) -> list[Problem]:
        """What is wrong with the shares, beside streams that have bursts or have none.

        Returns:
            The problems, with keys below ``lanes``.
        """
        if self.order == "priority":
            return []
        left_out = self._left_out(bursts=bursts)
        given = sum(getattr(self, name) or 0.0 for name in CLASSES)
        if len(left_out) > 1:
            rule = f"{' and '.join(left_out)} have no share, and only one class can get the rest"
            return [Problem(rule, f"add lanes.{left_out[-1]}", key=f"lanes.{left_out[-1]}")]
        if not left_out and abs(given - 1) > _SUM_TOLERANCE:
            rule = f"the shares sum to {given:g}, and all of a port is 1"
            return [Problem(rule, "raise one of them, or leave one out for the rest", key="lanes")]
        return []

    def shares_with(self, *, bursts: bool) -> tuple[float, ...]:
        """The guaranteed share of each class, in the order of `CLASSES`.

        Returns:
            The shares, whose sum is 1; of strict priority all alike, where they have no effect.
        """
        if self.order == "priority":
            return (1 / len(CLASSES),) * len(CLASSES)
        left_out = self._left_out(bursts=bursts)
        # The rest is rounded to the tolerance, so that 1 - 0.9 is written as 0.1.
        rest = round(1 - sum(getattr(self, name) or 0.0 for name in CLASSES), 9)
        return tuple(
            max(rest, 0.0) if name in left_out else float(getattr(self, name) or 0.0)
            for name in CLASSES
        )

    @property
    def priority(self) -> tuple[int, ...]:
        """The numbers of the classes by priority, the first served first."""
        return tuple(CLASSES.index(name) for name in self.classes or CLASSES)

    def content(self, *, bursts: bool) -> dict[str, Any]:
        """What affects results, JSON-able."""
        return {
            "shares": list(self.shares_with(bursts=bursts)),
            "order": self.order,
            "priority": list(self.priority),
            "devices": self.devices,
        }

    def _left_out(self, *, bursts: bool) -> list[str]:
        names = CLASSES if bursts else CLASSES[:2]
        return [name for name in names if getattr(self, name) is None]
