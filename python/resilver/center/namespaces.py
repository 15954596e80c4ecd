"""Projects dealt over namespaces, so that each has its share of capacity and of bandwidth.

Greedy (R. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969: the largest first, each to
where it makes the least worst), then moves and exchanges; up to 40 projects the optimum beside, as
an integer program (HiGHS).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.section import Section
from resilver.units import Bytes, BytesPerSecond

OPTIMUM_PROJECTS_MAX = 40
"""The most projects of which the optimum is computed."""

EXCHANGED_PROJECTS_MAX = 1000
"""The most projects of which pairs are exchanged: of more, each is too small to matter."""

_SECONDS_MAX = 20.0
_GAIN = 1e-12

Floats = npt.NDArray[np.float64]


class Project(Section):
    """What a project needs."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["climate"])
    """What it is called."""
    capacity: Bytes = Field(default=Bytes(0), examples=["400 TB"])
    """How much it stores."""
    bandwidth: BytesPerSecond = Field(default=BytesPerSecond(0), examples=["20 GB/s"])
    """What it moves when it works."""


class Namespaces(Section):
    """Over how many namespaces which projects are dealt; all have equal shares of the hardware."""

    count: Annotated[int, Field(strict=True, ge=2, le=100)] = Field(examples=[2])
    """How many namespaces there are."""
    projects: tuple[Project, ...] = Field(min_length=1, max_length=10_000)
    """The projects."""

    def _problems(self) -> Problems:
        seen: set[str] = set()
        for number, one in enumerate(self.projects):
            key = f"projects.{number}"
            if one.name in seen:
                rule = "two projects have this name"
                yield Problem(rule, "rename one", f"{key}.name", show(one.name))
            seen.add(one.name)
            if not (one.capacity or one.bandwidth):
                rule = "the project needs nothing"
                yield Problem(rule, "give capacity or bandwidth, or remove it", key)


@dataclass(frozen=True)
class Dealt:
    """Projects dealt over namespaces.

    Attributes:
        count: How many namespaces.
        namespace: Of each project, from 0.
        loads: Of each namespace and need, its load over an equal share: shape (namespaces, needs).
        optimum: The least that the greatest load can be; None where it was not computed.
    """

    count: int
    namespace: tuple[int, ...]
    loads: Floats
    optimum: float | None

    @property
    def worst(self) -> float:
        """The greatest load over an equal share; 1 is perfectly even."""
        return float(self.loads.max())


def deal(needs: npt.NDArray[Any], count: int, *, with_optimum: bool = True) -> Dealt:
    """Deal projects over namespaces.

    Args:
        needs: What each project needs of each kind, in any units: shape (projects, kinds).
        count: How many namespaces.
        with_optimum: Whether to compute the optimum of up to 40 projects.

    Returns:
        Whose project is where. The greatest load is that of the better of greedy with exchanges
        and, where it was computed, the optimum.
    """
    scaled = _scaled(needs, count)
    places = _greedy(scaled, count)
    if len(needs) <= EXCHANGED_PROJECTS_MAX:
        places = _exchanged(scaled, places, count)
    optimum = None
    if with_optimum and len(needs) <= OPTIMUM_PROJECTS_MAX:
        best = _optimum(scaled, count)
        if best is not None:
            optimum = float(_loads(scaled, best, count).max())
            if optimum < _loads(scaled, places, count).max() - _GAIN:
                places = best
    return Dealt(count, tuple(int(one) for one in places), _loads(scaled, places, count), optimum)


def greedy(needs: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Where the greedy way puts projects: the largest first, each where it makes the least worst.

    Args:
        needs: What each project needs: shape (projects, kinds).
        count: How many namespaces.

    Returns:
        Namespaces: shape (projects,).
    """
    return _greedy(_scaled(needs, count), count)


def worst_load(needs: npt.NDArray[Any], places: Sequence[int], count: int) -> float:
    """The greatest load of any namespace and kind, over an equal share.

    Args:
        needs: What each project needs: shape (projects, kinds).
        places: The namespace of each project.
        count: How many namespaces.
    """
    return float(_loads(_scaled(needs, count), np.asarray(places), count).max())


def _scaled(needs: npt.NDArray[Any], count: int) -> Floats:
    """Needs over an equal share of their kind; kinds that nobody needs are left out."""
    values = np.asarray(needs, dtype=np.float64)
    totals = values.sum(axis=0)
    return np.asarray(values[:, totals > 0] / totals[totals > 0] * count)


def _loads(scaled: Floats, places: npt.NDArray[Any], count: int) -> Floats:
    loads = np.zeros((count, scaled.shape[1]))
    np.add.at(loads, places, scaled)
    return loads


def _greedy(scaled: Floats, count: int) -> npt.NDArray[np.int64]:
    loads = np.zeros((count, scaled.shape[1]))
    places = np.zeros(len(scaled), dtype=np.int64)
    for number in np.argsort(-scaled.max(axis=1), kind="stable"):
        after = loads + scaled[number]
        # Of those with the same worst, the one with the least in all.
        chosen = int(np.lexsort((after.sum(axis=1), after.max(axis=1)))[0])
        loads[chosen] += scaled[number]
        places[number] = chosen
    return places


def _exchanged(scaled: Floats, places: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Move a project, or exchange two, while that lowers the greatest load."""
    places = places.copy()
    loads = _loads(scaled, places, count)
    while True:
        worst = int(loads.max(axis=1).argmax())
        top = loads[worst].max()
        mine = np.flatnonzero(places == worst)
        best = top - _GAIN
        move: tuple[int, int | None, int] | None = None
        for one in map(int, mine):
            without = loads[worst] - scaled[one]
            moved = np.maximum((loads + scaled[one]).max(axis=1), without.max())
            moved[worst] = np.inf
            to = int(moved.argmin())
            if moved[to] < best:
                best, move = float(moved[to]), (one, None, to)
            others = np.flatnonzero(places != worst)
            if others.size:
                theirs = loads[places[others]] - scaled[others] + scaled[one]
                ours = without + scaled[others]
                pairs = np.maximum(theirs.max(axis=1), ours.max(axis=1))
                at = int(pairs.argmin())
                if pairs[at] < best:
                    other = int(others[at])
                    best, move = float(pairs[at]), (one, other, int(places[other]))
        if move is None:
            return places
        moving, exchanged, target = move
        places[moving] = target
        if exchanged is not None:
            places[exchanged] = worst
        loads = _loads(scaled, places, count)
        # Several namespaces may be the worst: what does not lower the top ends the search.
        if loads.max() >= top - _GAIN:
            return places


def _optimum(scaled: Floats, count: int) -> npt.NDArray[np.int64] | None:
    """The best places by an integer program; None where HiGHS needs more than its time."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    projects, kinds = scaled.shape
    width = projects * count + 1
    # Variables: project p in namespace n at p x count + n, and last the greatest load.
    rows = np.repeat(np.arange(projects), count)
    once = coo_array(
        (np.ones(projects * count), (rows, np.arange(projects * count))), (projects, width)
    )
    entries: list[tuple[int, int, float]] = []
    for place in range(count):
        for kind in range(kinds):
            row = place * kinds + kind
            entries += [(row, p * count + place, scaled[p, kind]) for p in range(projects)]
            entries.append((row, width - 1, -1.0))
    at_row, at_column, values = zip(*entries, strict=True)
    load = coo_array((values, (at_row, at_column)), (count * kinds, width))
    high = np.ones(width)
    high[-1] = np.inf
    # Namespaces are alike: the largest project is in the first.
    largest = int(scaled.max(axis=1).argmax())
    high[largest * count + 1 : (largest + 1) * count] = 0.0
    found = milp(
        np.eye(width)[-1],
        integrality=np.r_[np.ones(width - 1), 0.0],
        bounds=Bounds(np.zeros(width), high),
        constraints=[LinearConstraint(once, 1.0, 1.0), LinearConstraint(load, -np.inf, 0.0)],
        options={"time_limit": _SECONDS_MAX, "mip_rel_gap": 1e-9},
    )
    if found.status != 0 or found.x is None:
        return None
    return np.asarray(found.x[:-1].reshape(projects, count).argmax(axis=1))
