"""Islands: what is copied where each system has a file system of its own, and a shared one spares.

S. Oral et al. (2014), section II: file systems of their own are linked by a cluster that moves data
between them, and whoever analyses or looks at what a simulation wrote has it copied first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, field_validator

from resilver.center.figures import Figure
from resilver.errors import ConfigError, show
from resilver.quantities import daily, decimal_bytes, decimal_rate, duration
from resilver.record import record
from resilver.spec.section import Count, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds


class Workflow(Section):
    """What is computed on one system, and used on others."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["combustion"])
    """What it is called."""
    data: Positive[Bytes] = Field(examples=["100 TB"])
    """What a run writes that other systems use."""
    every: Positive[Seconds] = Field(examples=["1 d"])
    """How often there is a run."""
    copies: Count = Field(default=1, le=100, examples=[2])
    """To how many other systems' file systems it is copied."""
    kept: Positive[Seconds] | None = Field(default=None, examples=["14 d"])
    """How long each copy stays. Default: no longer than until the next run."""


class Islands(Section):
    """File systems of their own, between which data are moved."""

    workflows: tuple[Workflow, ...] = Field(
        min_length=1,
        max_length=1000,
        examples=[[{"name": "combustion", "data": "100 TB", "every": "1 d"}]],
    )
    """Which data are used on several systems."""
    mover: Positive[BytesPerSecond] | None = Field(default=None, examples=["20 GB/s"])
    """What the cluster that moves data between file systems passes. Default: not said."""

    @field_validator("workflows")
    @classmethod
    def _check(cls, workflows: tuple[Workflow, ...]) -> tuple[Workflow, ...]:
        names = [one.name for one in workflows]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                raise ConfigError("two workflows have this name", "rename one", value=show(name))
        return workflows


@dataclass(frozen=True)
class Copied:
    """What islands copy, and a shared file system does not.

    Attributes:
        figures: Each with its derivation.
        bytes_per_second: What is copied on average.
        kept_bytes: What the copies take up.
        mover_share: How busy that keeps what moves data; None where it is not said.
    """

    figures: tuple[Figure, ...]
    bytes_per_second: float
    kept_bytes: float
    mover_share: float | None

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        return record(self, "figures", "bytes_per_second", "kept_bytes", "mover_share")


def copied(islands: Islands, rate: float | None) -> Copied:
    """What islands copy, keep twice and wait for.

    Args:
        islands: The workflows.
        rate: What the file system passes in bytes per second; None where nothing is offered.

    Returns:
        Bytes copied a run and a day, room for the copies (J. Little, 1961), time until a run's data
        are everywhere, and the load on the mover and on file systems: each byte copied is read in
        one and written in another.
    """
    found: list[Figure] = []
    moved = kept = 0.0
    for one in islands.workflows:
        size = float(one.copies * one.data)
        words = f"{one.copies} × {decimal_bytes(one.data)}"
        what = f"Copied a run of {one.name}"
        found.append(Figure(f"copied_bytes_{one.name}", what, size, "bytes", words))
        if islands.mover is not None:
            words = (
                f"{decimal_bytes(size)} ÷ {decimal_rate(islands.mover)}, if it moves nothing else"
            )
            what = f"Until a run of {one.name} is everywhere"
            seconds = size / islands.mover
            found.append(Figure(f"wait_seconds_{one.name}", what, seconds, "seconds", words))
        moved += size / one.every
        kept += size * (one.every if one.kept is None else one.kept) / one.every
    each = " + ".join(
        f"{one.copies} × {decimal_bytes(one.data)} ÷ {duration(one.every)}"
        for one in islands.workflows[:4]
    )
    each += " + ..." if len(islands.workflows) > 4 else ""
    found.append(Figure("copied_bytes_per_second", "Copied between islands", moved, "daily", each))
    words = "what is copied × how long it is kept"
    found.append(Figure("kept_bytes", "Room for the copies", kept, "bytes", words))
    busy = None
    if islands.mover is not None:
        busy = moved / islands.mover
        words = f"{daily(moved)} ÷ {daily(islands.mover)}"
        found.append(Figure("mover_share", "The mover is busy", busy, "share", words))
    if rate is not None:
        words = f"2 × {daily(moved)} ÷ {daily(rate)}: read in one, written in another"
        share = 2.0 * moved / rate
        found.append(Figure("load_share", "Of the bandwidth, for copies", share, "share", words))
    return Copied(tuple(found), moved, kept, busy)
