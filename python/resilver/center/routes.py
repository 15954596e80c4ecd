"""Which router each client of a machine uses for each network of the file system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.balance import balanced
from resilver.center.machines import Machine
from resilver.center.torus import ChannelLoads, hops, steps
from resilver.errors import ConfigError, name_remedy, show
from resilver.record import record

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

POLICIES = ("fine_grained", "nearest", "round_robin", "balanced")
"""How clients may choose."""

_NAMED_MAX = 8
_AXIS_X, _AXIS_Y = 0, 1


@dataclass(frozen=True)
class Ways:
    """Ways between chips.

    Attributes:
        source: Where each begins: shape (ways, 3).
        target: Where it ends: the same shape.
        amount: How many clients of a network go that way: shape (ways,).
    """

    source: Ints = field(repr=False)
    target: Ints = field(repr=False)
    amount: Floats = field(repr=False)


@dataclass(frozen=True)
class Routes:
    """Who serves whom.

    Attributes:
        machine: The machine.
        policy: One of `POLICIES`.
        networks: The networks' numbers, rising: shape (networks,).
        routers: The routers of each, as places in the machine's lists: shape (networks, most).
            -1 where a network has fewer.
        chosen: Of each client and network, which of its routers: shape (clients, networks); None
            where each client uses all of them in turn.
    """

    machine: Machine
    policy: str
    networks: Ints = field(repr=False)
    routers: Ints = field(repr=False)
    chosen: npt.NDArray[np.int16] | None = field(repr=False)

    def router(self, client: int) -> Ints:
        """The routers that a client uses, by network, as places in the machine's lists.

        Returns:
            Shape (networks,); for those used in turn the first of them.
        """
        if self.chosen is None:
            return np.asarray(self.routers[:, 0])
        picked = self.routers[np.arange(len(self.networks)), self.chosen[client]]
        return np.asarray(picked)

    @cached_property
    def ways(self) -> Ways:
        """The ways between chips that clients and their routers are on."""
        machine = self.machine
        amount: Floats
        lines = np.ravel_multi_index(tuple(machine.places.T), machine.torus)
        count, clients = int(np.prod(machine.torus)), machine.clients
        if self.chosen is None:
            # Every client uses every router of a network as much as another.
            is_there = self.routers >= 0
            share = np.repeat(1.0 / is_there.sum(axis=1), is_there.sum(axis=1))
            targets, at = np.unique(lines[self.routers[is_there]], return_inverse=True)
            sources, supply = np.unique(lines[clients], return_counts=True)
            amount = np.outer(supply, np.bincount(at, weights=share)).reshape(-1).astype(np.float64)
            ends = np.repeat(sources, len(targets)), np.tile(targets, len(sources))
        else:
            picked = lines[self.routers[np.arange(len(self.networks)), self.chosen]]
            keys, alike = np.unique(lines[clients][:, None] * count + picked, return_counts=True)
            amount = alike.astype(np.float64)
            ends = keys // count, keys % count
        source, target = (np.stack(np.unravel_index(one, machine.torus), axis=-1) for one in ends)
        return Ways(source, target, amount)

    @property
    def served(self) -> Floats:
        """How many clients each router has, in the order of `routers` without what is not there."""
        is_there = self.routers >= 0
        if self.chosen is None:
            return np.repeat(len(self.machine.clients) / is_there.sum(axis=1), is_there.sum(axis=1))
        width = self.routers.shape[1]
        flat = self.chosen + width * np.arange(len(self.networks))
        found = np.bincount(flat.reshape(-1), minlength=self.routers.size)
        return found.reshape(self.routers.shape)[is_there].astype(np.float64)


@dataclass(frozen=True)
class RouteFigures:
    """What a choice of routers comes to, over every client and every network.

    Attributes:
        policy: One of `POLICIES`.
        mean_hops: Between a client and its router.
        mean_hops_by_axis: Of these in X, Y and Z.
        mean_cost: By the machine's weights.
        least_cost: The least.
        most_cost: The most.
        spread_cost: Their standard deviation.
        clients_a_router: The least, the mean and the most.
        largest_loads: What passes the busiest channel in X, Y and Z, in clients of a network.
    """

    policy: str
    mean_hops: float
    mean_hops_by_axis: tuple[float, float, float]
    mean_cost: float
    least_cost: float
    most_cost: float
    spread_cost: float
    clients_a_router: tuple[float, float, float]
    largest_loads: tuple[float, float, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return record(self, *vars(self))


def route(machine: Machine, policy: str = "fine_grained", by: str = "cost") -> Routes:
    """Choose a router of every network for every client.

    Fine-grained routing is that of Dillow et al., "I/O congestion avoidance via routing and object
    placement", 2011, as its published program does it: of each group the first zone whose first
    router is in the window in Y, and of its modules the one nearest in X. Nearest is the first of
    the routers of least cost or of fewest hops. Balanced is the least cost at which no router of a
    network has more clients than its even share.

    Args:
        policy: One of `POLICIES`.
        by: What nearest routers are near by: "cost" or "hops".

    Raises:
        ConfigError: There is no such policy, or a zone leaves clients out.
    """
    if policy not in POLICIES:
        rule = "there is no such policy"
        raise ConfigError(rule, name_remedy(policy, POLICIES, "policies"), "--policy", show(policy))
    networks = machine.network_numbers
    each = [machine.routers_of(int(network)) for network in networks]
    routers = np.full((len(networks), max(map(len, each))), -1)
    for row, found in enumerate(each):
        routers[row, : len(found)] = found
    choose: dict[str, Callable[[], npt.NDArray[np.int16] | None]] = {
        "fine_grained": lambda: _fine_grained(machine, networks, routers),
        "nearest": lambda: _by_chip(machine, routers, by, _least),
        "balanced": lambda: _by_chip(machine, routers, by, balanced),
        "round_robin": lambda: None,
    }
    return Routes(machine, policy, networks, routers, choose[policy]())


def _least(costs: Floats, supply: Ints) -> Ints:
    """Of each row the first of the least: nobody counts how many a router has."""
    return np.repeat(costs.argmin(axis=1), supply)


def _by_chip(
    machine: Machine, routers: Ints, by: str, choose: Callable[[Floats, Ints], Ints]
) -> npt.NDArray[np.int16]:
    """Choices that depend on costs alone, which clients of one chip share."""
    clients = machine.clients
    lines = np.ravel_multi_index(tuple(machine.places[clients].T), machine.torus)
    order = np.argsort(lines, kind="stable")
    chips, supply = np.unique(lines, return_counts=True)
    places = np.stack(np.unravel_index(chips, machine.torus), axis=-1)
    weights = np.ones(3) if by == "hops" else np.array(machine.file.weights)
    chosen = np.empty((len(clients), len(routers)), dtype=np.int16)
    known: dict[bytes, Ints] = {}
    for row, found in enumerate(routers):
        ends = machine.places[found[found >= 0]]
        # Two routers of one chip are of two networks, whose choices are the same.
        key = ends.tobytes()
        if key not in known:
            apart = hops(places[:, None], ends[None], machine.torus)
            known[key] = choose(np.asarray(apart @ weights, dtype=np.float64), supply)
        chosen[order, row] = known[key]
    return chosen


def _fine_grained(machine: Machine, networks: Ints, routers: Ints) -> npt.NDArray[np.int16]:
    rule, (length_x, length_y, _) = machine.file.fine_grained, machine.torus
    clients = machine.places[machine.clients]
    chosen = np.empty((len(clients), len(networks)), dtype=np.int16)
    for group, modules in enumerate(machine.routers):
        modules = modules[modules[:, 0] >= 0]
        firsts = modules[:: rule.zone, 0]
        away = (clients[:, None, _AXIS_Y] - machine.places[firsts, _AXIS_Y]) % length_y
        # The window is told on the ring: as far as half of it downwards.
        away = np.where(2 * away > length_y, away - length_y, away)
        is_near = (rule.window[0] <= away) & (away <= rule.window[1])
        _refuse_left_out(machine, group, is_near.any(axis=1))
        zone = is_near.argmax(axis=1)
        candidates = zone[:, None] * rule.zone + np.arange(rule.zone)
        is_module = candidates < len(modules)
        ends = modules[np.minimum(candidates, len(modules) - 1), 0]
        far = np.abs(steps(clients[:, None, _AXIS_X], machine.places[ends, _AXIS_X], length_x))
        nearest = np.where(is_module, far, length_x).argmin(axis=1)
        module = np.take_along_axis(candidates, nearest[:, None], axis=1)[:, 0]
        for node in range(modules.shape[1]):
            network = int(machine.networks[group, 0, node])
            row = int(np.searchsorted(networks, network))
            # A network's routers are listed group by group, module by module.
            chosen[:, row] = np.searchsorted(np.flatnonzero(modules[:, node] >= 0), module)
    return chosen


def _refuse_left_out(machine: Machine, group: int, is_served: npt.NDArray[np.bool_]) -> None:
    """Say which clients no zone of a group takes."""
    left = machine.clients[~is_served]
    if not len(left):
        return
    names = ", ".join(machine.names[node] for node in left[:_NAMED_MAX])
    more = f" and {len(left) - _NAMED_MAX:,} more" if len(left) > _NAMED_MAX else ""
    window = list(machine.file.fine_grained.window)
    rule = f"no zone of group {group} takes {names}{more}"
    raise ConfigError(rule, "widen it, or add modules", "fine_grained.window", show(window))


def route_figures(routes: Routes) -> RouteFigures:
    """What a choice of routers comes to.

    Args:
        routes: The choice.
    """
    ways, machine = routes.ways, routes.machine
    apart = hops(ways.source, ways.target, machine.torus)
    costs, total = apart @ np.array(machine.file.weights), float(ways.amount.sum())
    by_axis = ways.amount @ apart / total
    mean = float(ways.amount @ costs / total)
    x, y, z = by_axis.tolist()
    return RouteFigures(
        routes.policy,
        float(by_axis.sum()),
        (x, y, z),
        mean,
        float(costs.min()),
        float(costs.max()),
        float(np.sqrt(ways.amount @ (costs - mean) ** 2 / total)),
        (float(routes.served.min()), float(routes.served.mean()), float(routes.served.max())),
        channel_loads(routes).largest(),
    )


def channel_loads(routes: Routes) -> ChannelLoads:
    """How many clients of a network pass each channel of the machine's torus.

    Args:
        routes: The choice of routers.
    """
    loads = ChannelLoads(routes.machine.torus)
    loads.add(routes.ways.source, routes.ways.target, routes.ways.amount)
    return loads
