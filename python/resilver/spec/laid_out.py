"""Where data lies on a disk: how much of its tracks, from the outermost in, and in what pieces."""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field

from resilver import catalog
from resilver.errors import Problems
from resilver.spec.section import Positive, Section, Share, written
from resilver.units import Bytes, BytesPerSecond, Seconds


class LaidOut(Section):
    """A disk of the catalog that is read and written in the order of its addresses.

    Without these the rates are the means of the outermost and the innermost track, as data lies
    anywhere on a disk.
    """

    like: str = Field(examples=["hdd-7k2-12tb"])
    """A disk of the catalog, whose data sheet states the rates of both ends."""
    filled: Share | None = Field(default=None, examples=[0.58])
    """How much of it holds data, from the outermost track on. Rates fall evenly with the address,
    and what is filled is passed once. Default: data lies anywhere.
    """
    extent: Positive[Bytes] | None = Field(default=None, examples=["128 KiB"])
    """The mean length of what lies in one piece: each costs a seek. Default: one piece."""

    def _problems(self) -> Problems:
        sheet = catalog.load("devices", self.like).data_sheet
        if self.filled == 0:
            yield self.problem("filled", "a disk without data is not read", "such as 0.5")
        elif self.filled is not None and "inner_rate" not in sheet:
            rule = f"the data sheet of {self.like} states no inner_rate: it has no tracks"
            yield self.problem("filled", rule, "remove it, or name a disk that turns")
        elif (
            self.extent is not None
            and "read_seek" not in catalog.load("devices", self.like).content
        ):
            rule = f"{self.like} takes a time a request, and has no seeks"
            yield self.problem("extent", rule, "remove it")

    def table(self) -> dict[str, Any]:
        """The disk's table with the rates that its data is passed at."""
        entry = catalog.load("devices", self.like)
        content, sheet = dict(entry.content), entry.data_sheet
        for way in ("read", "write") if "read_rate" in content else ():
            rate = float(BytesPerSecond.parse(content[f"{way}_rate"]))
            if self.filled is not None:
                rate = mean_rate(
                    float(BytesPerSecond.parse(sheet["outer_rate"])),
                    float(BytesPerSecond.parse(sheet["inner_rate"])),
                    self.filled,
                )
            if self.extent is not None:
                seek = float(Seconds.parse(content[f"{way}_seek"][-1]))
                rate = 1 / (1 / rate + seek / int(self.extent))
            content[f"{way}_rate"] = BytesPerSecond(rate)
        parts = [f"{key} {written(value)}" for key, value in self.given().items() if key != "like"]
        label = f"{self.like}, {', '.join(parts)}" if parts else self.like
        about = {"label": label, "description": entry.description, "source": entry.source}
        about |= {"capacity": sheet["capacity"]} if "capacity" in sheet else {}
        return {**content, **about}


def mean_rate(outer: float, inner: float, filled: float) -> float:
    """The rate at which the outer part of a disk is passed once.

    Args:
        outer: The rate of the outermost track, in any unit.
        inner: That of the innermost.
        filled: How much of the disk is passed, above 0 and up to 1.

    Returns:
        In the unit of `outer`: f (o - i) / ln(o / (o - f (o - i))), as the rate falls evenly with
        the address and each stretch takes its bytes over its rate.

    >>> round(mean_rate(200.0, 100.0, 1.0), 2)
    144.27
    """
    fall = filled * (outer - inner)
    return fall / math.log(outer / (outer - fall)) if fall else outer
