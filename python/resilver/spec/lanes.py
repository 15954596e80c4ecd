"""Lanes: what each class of traffic is guaranteed of every port."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from resilver.errors import Problem, raise_all, show
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

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = {name: share for name in CLASSES if (share := getattr(self, name)) is not None}
        problems = []
        if self.order == "priority":
            rule = "strict priority has no shares"
            problems += [
                Problem(rule, 'remove it, or use order = "shares"', key=name, value=show(share))
                for name, share in given.items()
            ]
        elif self.classes is not None:
            rule = "shares have no order"
            remedy = 'remove it, or use order = "priority"'
            problems.append(Problem(rule, remedy, key="classes", value=show(self.classes)))
        elif not given:
            rule = "no class has a share"
            problems.append(Problem(rule, "such as clients = 0.9 and rebuild = 0.1"))
        problems += [
            Problem("a share is a number from 0 to 1", key=name, value="nan")
            for name, share in given.items()
            if math.isnan(share)
        ]
        if not problems and (total := sum(given.values())) > 1 + _SUM_TOLERANCE:
            rule = f"the shares sum to {total:g}, and a port has only 1"
            problems.append(Problem(rule, "lower one of them"))
        if self.classes is not None and sorted(self.classes) != sorted(CLASSES):
            rule = "each of the classes stands here once"
            remedy = f"such as classes = {show(CLASSES)}"
            problems.append(Problem(rule, remedy, key="classes", value=show(self.classes)))
        raise_all(problems)
        return self

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
