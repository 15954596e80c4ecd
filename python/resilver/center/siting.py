"""Where routers should stand: so that clients' ways to their nearest ones cost least.

Places are chosen for the modules of one group after another, each to serve all clients at the least
cost (the p-median problem): by the exchange of M. Teitz and P. Bart, "Heuristic Methods for
Estimating the Generalized Vertex Median of a Weighted Graph", 1968, from several beginnings, and by
moves along the torus for the other groups, since what serves well serves well elsewhere too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.machines import Machine, modules_of
from resilver.center.torus import steps
from resilver.errors import ConfigError, show

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


_AT_ONCE = 512
_STARTS_LEAST, _STARTS_MOST, _COSTS_IN_ALL = 4, 1024, 2**23
"""How many beginnings a group has: more where blades and clients are few, and each takes less."""


@dataclass(frozen=True)
class Sites:
    """Where modules should stand.

    Attributes:
        modules: Their names, by group: shape (groups, modules of a group).
        cost: The mean cost of a client's path to its nearest router, over all groups. The clients
            are those that the machine then has: the nodes of the new modules are none, and those
            where the old modules stood are.
        own_cost: The same of the machine's own modules, for today's clients.
        random_costs: The same of modules drawn at random, of each draw.
    """

    modules: tuple[tuple[str, ...], ...] = field(repr=False)
    cost: float
    own_cost: float
    random_costs: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "modules": [list(group) for group in self.modules],
            "mean_cost": self.cost,
            "own_mean_cost": self.own_cost,
            "random_mean_costs": list(self.random_costs),
        }


class _Blades:
    """What modules may stand on, and what the nodes that are or may become clients pay to each."""

    def __init__(self, machine: Machine) -> None:
        nodes = machine.routers.shape[2]
        blades = modules_of(machine.names) or {name: [at] for at, name in enumerate(machine.names)}
        whole = {name: places[:nodes] for name, places in blades.items() if len(places) >= nodes}
        self.names = tuple(whole)
        self.nodes = np.array(list(whole.values()))
        self._lines = np.ravel_multi_index(tuple(machine.places.T), machine.torus)
        self._computes = machine.computes
        # A router's node computes where the router moves away.
        self._may_compute = machine.computes.copy()
        self._may_compute[machine.routers[machine.routers >= 0]] = True
        self._populated, counts = np.unique(self._lines[self._may_compute], return_counts=True)
        self.weight = counts.astype(np.float32)
        places = np.stack(np.unravel_index(self._populated, machine.torus), axis=-1)
        # The distinct chips of a module; what several of its nodes share costs each the same.
        self.ends, self.share = self._chips(machine)
        self.costs = [self._costs(machine, places, ends) for ends in self.ends]

    def _chips(self, machine: Machine) -> tuple[list[Ints], list[float]]:
        """Of each chip of a module: where it is on every blade, and its share of the nodes."""
        places = machine.places[self.nodes]
        seen: list[Ints] = []
        share: list[float] = []
        for node in range(places.shape[1]):
            ends = places[:, node]
            same = [at for at, other in enumerate(seen) if (other == ends).all()]
            if same:
                share[same[0]] += 1 / places.shape[1]
            else:
                seen.append(ends)
                share.append(1 / places.shape[1])
        return seen, share

    @staticmethod
    def _costs(machine: Machine, clients: Ints, ends: Ints) -> npt.NDArray[Any]:
        """What a way costs from every chip with clients to every blade: shape (blades, chips)."""
        weights = machine.file.weights
        most = sum(
            weight * (length // 2) for weight, length in zip(weights, machine.torus, strict=True)
        )
        # Small whole numbers take a quarter of the memory, and of the time.
        is_whole = all(weight.is_integer() for weight in weights)
        kind = np.uint8 if is_whole and most < 256 else np.float32
        total = np.zeros((len(ends), len(clients)), dtype=kind)
        for at, (length, weight) in enumerate(zip(machine.torus, weights, strict=True)):
            ring = np.abs(steps(np.arange(length)[:, None], np.arange(length), length))
            total += (weight * ring).astype(kind)[ends[:, at][:, None], clients[None, :, at]]
        return total

    def mean_cost(self, chosen: Ints, weight: npt.NDArray[np.float32] | None = None) -> float:
        """The mean cost of a path to the nearest of the chosen blades.

        Args:
            weight: How many clients each chip has; by default all nodes that may be clients, which
                the search goes by, since a module's own nodes are near it wherever it stands.
        """
        weight = self.weight if weight is None else weight
        total = sum(
            share * float(weight @ costs[chosen].min(axis=0).astype(np.float32))
            for share, costs in zip(self.share, self.costs, strict=True)
        )
        return total / float(weight.sum())

    def cost_of(self, groups: Sequence[Ints], *, is_own: bool = False) -> float:
        """The mean cost over groups for the clients that there are beside their modules."""
        computes = self._computes if is_own else self._may_compute.copy()
        if not is_own:
            computes[self.nodes[np.concatenate(groups)]] = False
        chips, counts = np.unique(self._lines[computes], return_counts=True)
        weight = np.zeros_like(self.weight)
        weight[np.searchsorted(self._populated, chips)] = counts
        return float(np.mean([self.mean_cost(group, weight) for group in groups]))

    def exchange(self, chosen: Ints, is_free: npt.NDArray[np.bool_]) -> Ints:
        """Exchange one blade for another, each time where that saves most, as long as it saves."""
        chosen, is_free = chosen.copy(), is_free.copy()
        is_free[chosen] = False
        candidates = np.flatnonzero(is_free)
        cost = self.mean_cost(chosen)
        while True:
            found = self._exchanged(chosen, candidates)
            into, out = np.unravel_index(int(found.argmin()), found.shape)
            if found[into, out] >= cost - 1e-5:
                return chosen
            cost = float(found[into, out])
            # What leaves may come back later.
            candidates[into], chosen[out] = chosen[out], candidates[into]

    def _exchanged(self, chosen: Ints, candidates: Ints) -> Floats:
        """What ways cost on average with each candidate in place of each of the chosen.

        With a candidate beside all chosen, a client pays the lesser of it and of its nearest; where
        its nearest leaves, the lesser of it and of its second nearest (Resende and Werneck, "A fast
        swap-based local search procedure for location problems", 2007).
        """
        total = np.zeros((len(candidates), len(chosen)))
        for share, costs in zip(self.share, self.costs, strict=True):
            nearest = costs[chosen].argmin(axis=0)
            ordered = np.sort(costs[chosen], axis=0)
            first = ordered[0]
            second = ordered[1] if len(chosen) > 1 else np.full_like(first, costs.max())
            of_nearest = np.zeros((len(nearest), len(chosen)), dtype=np.float32)
            of_nearest[np.arange(len(nearest)), nearest] = self.weight
            for begin in range(0, len(candidates), _AT_ONCE):
                part = costs[candidates[begin : begin + _AT_ONCE]]
                kept = np.minimum(part, first).astype(np.float32) @ of_nearest
                left = np.minimum(part, second).astype(np.float32) @ of_nearest
                both = kept.sum(axis=1, keepdims=True) - kept + left
                total[begin : begin + _AT_ONCE] += share * both
        return np.asarray(total / float(self.weight.sum()))


def sites(machine: Machine, count: int, *, seed: int = 1) -> Sites:
    """Say where so many modules should stand.

    Args:
        machine: The machine; its groups share the modules evenly.
        count: How many modules, a multiple of its groups.
        seed: Of the beginnings, and of the random placements that are compared.

    Raises:
        ConfigError: They cannot be shared evenly, or are more than fit.
    """
    groups, blades = len(machine.routers), _Blades(machine)
    if count < groups or count % groups:
        rule = f"the machine's {groups} groups have as many modules each"
        remedy = f"such as {max(1, round(count / groups)) * groups}"
        raise ConfigError(rule, remedy, "--place", show(count))
    if count > len(blades.names):
        rule = f"there is room for {len(blades.names):,} modules"
        raise ConfigError(rule, "place fewer", "--place", show(count))
    each, draw = count // groups, np.random.default_rng(seed)
    # From how many beginnings the first group is sought; the others are from all beyond the least,
    # and from the first group's places moved along the torus.
    starts = max(_STARTS_LEAST, min(_STARTS_MOST, _COSTS_IN_ALL // blades.costs[0].size))
    is_free = np.ones(len(blades.names), dtype=bool)
    chosen: list[Ints] = []
    for group in range(groups):
        moved = _moved(machine, blades, chosen[0], is_free) if group else None
        begun = [] if moved is None else [moved]
        further = starts - (_STARTS_LEAST if group else 0)
        begun += [
            draw.choice(np.flatnonzero(is_free), each, replace=False)
            for _ in range(max(further, 0 if begun else 1))
        ]
        found = [blades.exchange(one, is_free) for one in begun]
        chosen.append(min(found, key=blades.mean_cost))
        is_free[chosen[-1]] = False
    random = [
        blades.cost_of(np.split(draw.permutation(len(blades.names))[:count], groups))
        for _ in range(10)
    ]
    return Sites(
        tuple(tuple(sorted(blades.names[at] for at in one)) for one in chosen),
        blades.cost_of(chosen),
        blades.cost_of(_own(machine, blades), is_own=True),
        tuple(random),
    )


def _own(machine: Machine, blades: _Blades) -> list[Ints]:
    """The machine's own modules, as places among the blades."""
    at = {int(node): place for place, node in enumerate(blades.nodes[:, 0])}
    return [
        np.array([at[int(node)] for node in group[:, 0] if int(node) in at])
        for group in machine.routers
    ]


def _moved(
    machine: Machine, blades: _Blades, best: Ints, is_free: npt.NDArray[np.bool_]
) -> Ints | None:
    """The same places moved along the torus to where all are free; None where there are none."""
    lengths = machine.torus
    first = blades.ends[0]
    lines = np.full(int(np.prod(lengths)), -1)
    lines[np.ravel_multi_index(tuple(first.T), lengths)] = np.arange(len(first))
    moves = sorted(itertools.product(*map(range, lengths)), key=sum)
    for move in moves[1:]:
        there = (first[best] + np.array(move)) % np.array(lengths)
        found = lines[np.ravel_multi_index(tuple(there.T), lengths)]
        if (found >= 0).all() and is_free[found].all():
            return np.asarray(found)
    return None
