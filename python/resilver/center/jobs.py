"""What a job gets from the file system: max-min fair rates over torus, routers, servers, targets.

Every client writes to its targets as fast as it may. Flows share what they pass until something on
the way of each is full (Bertsekas and Gallager, *Data Networks*, section 6.5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.job_clients import job_clients
from resilver.center.job_targets import Writes, open_targets, placed, writes
from resilver.center.machines import Machine
from resilver.center.routes import Routes
from resilver.center.storage import Storage, storage
from resilver.center.torus import steps
from resilver.errors import ConfigError, show

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LAYERS = ("client", "channel_x", "channel_y", "channel_z", "router", "server", "target")
"""What a client's bytes pass, in their order."""

_AXES = (1, 2, 3)
_ROUTER, _SERVER, _TARGET = 4, 5, 6
_INCIDENCES_MAX = 2**25
_AT_ONCE = 2**15
_PLACED = "placed:"


@dataclass(frozen=True, eq=False)
class LayerLoad:
    """How much a job loads the parts of a layer that have a rate.

    Attributes:
        layer: One of `LAYERS`.
        parts: How many of its parts the job uses.
        used: Of each of these, the share of its rate that is used: shape (parts,).
        bound: How many flows it keeps from more.
        bound_bytes_per_second: What these have.
    """

    layer: str
    parts: int
    used: Floats = field(repr=False)
    bound: int
    bound_bytes_per_second: float

    @property
    def busiest(self) -> float:
        """The share that is used of the busiest part."""
        return float(self.used.max(initial=0.0))

    @property
    def full(self) -> int:
        """How many parts are full."""
        return int((self.used > 1.0 - 1e-9).sum())


@dataclass(frozen=True, eq=False)
class JobRates:
    """What each client of a job gets, and what keeps it from more.

    Attributes:
        routes: Who serves whom.
        writes: Which client writes to which target.
        rates: Of each flow, in bytes per second: shape (flows,).
        binding: Of each flow, which of `LAYERS` keeps it from more: the same shape.
        layers: How much each layer that has rates is used, in the order of `LAYERS`.
    """

    routes: Routes
    writes: Writes = field(repr=False)
    rates: Floats = field(repr=False)
    binding: npt.NDArray[np.int8] = field(repr=False)
    layers: tuple[LayerLoad, ...] = field(repr=False)

    @property
    def client_rates(self) -> Floats:
        """What each client gets, in bytes per second: shape (clients,)."""
        count = len(self.writes.nodes)
        found = np.bincount(self.writes.clients, weights=self.rates, minlength=count)
        return found.astype(np.float64)

    @property
    def bytes_per_second(self) -> float:
        """What all clients get while all of them write."""
        return float(self.rates.sum())

    @property
    def lasting_bytes_per_second(self) -> float:
        """What the job gets in all where each flow has as many bytes: so many times the slowest.

        It is the least that the job gets: max-min fair rates make the smallest one as large as can
        be, so that it never falls when flows end, and may rise.
        """
        return float(self.rates.min() * len(self.rates))

    @property
    def layer(self) -> LayerLoad:
        """The layer that keeps most of the bandwidth from more."""
        return max(self.layers, key=lambda one: one.bound_bytes_per_second)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        clients = self.client_rates
        return {
            "policy": self.routes.policy,
            "clients": len(clients),
            "flows": len(self.rates),
            "targets": len(np.unique(self.writes.targets)),
            "bytes_per_second": self.bytes_per_second,
            "lasting_bytes_per_second": self.lasting_bytes_per_second,
            "client_bytes_per_second": {
                "least": float(clients.min()),
                "median": float(np.median(clients)),
                "mean": float(clients.mean()),
                "most": float(clients.max()),
            },
            "layers": [
                {
                    "layer": one.layer,
                    "parts": one.parts,
                    "full": one.full,
                    "busiest_share": one.busiest,
                    "mean_share": float(one.used.mean()) if one.parts else 0.0,
                    "bound_flows": one.bound,
                    "bound_bytes_per_second": one.bound_bytes_per_second,
                }
                for one in self.layers
            ],
        }


def job_rates(
    routes: Routes,
    clients: str | Path | Sequence[int | str],
    targets: str | None = None,
    *,
    namespace: int | None = None,
    seed: int = 1,
) -> JobRates:
    """What a job's clients get when each writes to its targets as fast as it may.

    Args:
        routes: Who serves whom; the machine's file tells servers, targets and rates.
        clients: A file with a node a line, or the nodes' numbers or names; ``random:N``,
            ``job:N@x,y,z``, or ``placed:N`` for the N nodes that are placed best, with their
            targets.
        targets: One of `job_targets.CHOICES`; "round_robin" where it is not given.
        namespace: Of which namespace targets are; None for all.
        seed: Of what is drawn.

    Raises:
        ConfigError: The machine tells of no servers or rates, there is no such job, or it is too
            large.

    >>> from resilver.center import machine, route
    >>> job = job_rates(route(machine("titan")), "placed:1008", namespace=0)
    >>> round(job.bytes_per_second / 1e9), job.layer.layer
    (510, 'target')
    """
    machine, side = routes.machine, storage(routes.machine)
    open_to = open_targets(side, namespace)
    if isinstance(clients, str) and clients.startswith(_PLACED):
        if targets is not None:
            rule = "clients that are placed have their targets"
            remedy = "remove it, or ask for other clients"
            raise ConfigError(rule, remedy, "--targets", show(targets))
        if not (number := clients.removeprefix(_PLACED)).isdecimal():
            rule = "it says no such job"
            raise ConfigError(rule, 'such as "placed:64"', "--clients", show(clients))
        written = placed(routes, side, int(number), open_to)
    else:
        nodes = job_clients(machine, clients, seed)
        written = writes(routes, side, nodes, targets or "round_robin", open_to, seed)
    return _shared(routes, side, written)


def _shared(routes: Routes, side: Storage, written: Writes) -> JobRates:
    """The rates of flows, and what binds them."""
    # The core is needed here alone: all else of a center is asked without it.
    from resilver.simulate.flows import fair_rates

    capacities, first = _capacities(routes, side)
    starts, resources, costs = _incidences(routes, side, written, first)
    found = fair_rates(capacities, starts, resources, costs)
    ends = np.append(first[1:], len(capacities))
    binding = (np.searchsorted(first, found.binding, side="right") - 1).astype(np.int8)
    layers = []
    for layer, name in enumerate(LAYERS):
        begin, end = int(first[layer]), int(ends[layer])
        if begin == end:
            continue
        used = found.used[begin:end] / capacities[begin:end]
        is_bound = binding == layer
        layers.append(
            LayerLoad(
                name,
                int((used > 0).sum()),
                used[used > 0],
                int(is_bound.sum()),
                float(found.rates[is_bound].sum()),
            )
        )
    return JobRates(routes, written, found.rates, binding, tuple(layers))


def _capacities(routes: Routes, side: Storage) -> tuple[Floats, Ints]:
    """The rates of all parts that have one, layer by layer, and where each layer begins."""
    machine, rates = routes.machine, routes.machine.file.rates
    counts = (routes.routers.size, len(side.server_networks), len(side.target_servers))
    told = (rates.router, rates.server, rates.target)
    if rates.client is None and all(one is None for one in told):
        rule = "the machine's file does not tell the rates of clients, routers, servers or targets"
        raise ConfigError(rule, 'add [rates] with router = "2.6 GB/s"', "rates")
    parts: list[Floats] = [
        np.full(len(machine.computes) if rates.client else 0, rates.client or 0.0)
    ]
    for axis, along in enumerate(rates.along):
        parts.append(machine.channel_rates(axis).reshape(-1) if along else np.empty(0))
    parts += [
        np.full(count if rate else 0, rate or 0.0) for count, rate in zip(counts, told, strict=True)
    ]
    first = np.cumsum([0, *map(len, parts[:-1])])
    return np.concatenate(parts), first


def _incidences(
    routes: Routes, side: Storage, written: Writes, first: Ints
) -> tuple[Ints, npt.NDArray[np.uint32], Floats | None]:
    """What each flow passes: where its way begins, its resources, and what a byte costs them.

    A flow over all routers of a network in turn goes so many ways, each with its share.
    """
    machine, rates = routes.machine, routes.machine.file.rates
    flow, router, share = _ways(routes, side, written)
    node = written.nodes[written.clients][flow]
    is_first = np.diff(flow, prepend=-1) > 0
    source, end = machine.places[node], machine.places[routes.routers.reshape(-1)[router]]
    far = [steps(source[:, at], end[:, at], machine.torus[at]).astype(np.int32) for at in range(3)]
    ones: list[tuple[int, npt.NDArray[np.bool_] | bool, Ints]] = []
    if rates.client:
        ones.append((0, is_first, node))
    if rates.router:
        ones.append((_ROUTER, True, router))
    target = written.targets[flow]
    if rates.server:
        ones.append((_SERVER, is_first, side.target_servers[target]))
    if rates.target:
        ones.append((_TARGET, is_first, target))
    sizes = np.zeros(len(flow), dtype=np.int64)
    for layer, along in zip(_AXES, rates.along, strict=True):
        sizes += np.abs(far[layer - 1]) if along else 0
    for _, which, _ in ones:
        sizes += which
    if (total := int(sizes.sum())) > _INCIDENCES_MAX:
        rule = f"its ways pass {total:,} parts in all, and at most {_INCIDENCES_MAX:,} are computed"
        raise ConfigError(rule, "ask for fewer clients or targets", "--clients")
    at = np.cumsum(sizes) - sizes
    starts = np.append(at[is_first], total)
    resources = np.empty(total, dtype=np.uint32)
    costs = None if share is None else np.repeat(share, sizes)
    for layer, which, part in ones:
        resources[at[which] if which is not True else at] = first[layer] + (
            part[which] if which is not True else part
        )
        if costs is not None and which is not True:
            costs[at[which]] = 1.0
        at += which
    for layer, along in zip(_AXES, rates.along, strict=True):
        if along:
            _pass_ring(
                machine, layer - 1, (source, end), far[layer - 1], at, int(first[layer]), resources
            )
    return starts, resources, costs


def _ways(routes: Routes, side: Storage, written: Writes) -> tuple[Ints, Ints, Floats | None]:
    """The ways of flows: of each its flow, its router and the share of the flow's bytes; no shares
    where each flow has one way.
    """
    row = np.searchsorted(routes.networks, side.target_networks[written.targets])
    width = routes.routers.shape[1]
    if routes.chosen is not None:
        ranks = np.searchsorted(routes.machine.clients, written.nodes)
        router = width * row + routes.chosen[ranks[written.clients], row]
        return np.arange(len(row)), router, None
    count = (routes.routers >= 0).sum(axis=1)[row]
    flow = np.repeat(np.arange(len(row)), count)
    turn = np.arange(len(flow)) - np.repeat(np.cumsum(count) - count, count)
    return flow, width * row[flow] + turn, 1.0 / count[flow]


def _pass_ring(
    machine: Machine,
    axis: int,
    ends: tuple[Ints, Ints],
    far: npt.NDArray[np.int32],
    at: Ints,
    first: int,
    resources: npt.NDArray[np.uint32],
) -> None:
    """Write down the channels that ways pass on the rings of an axis, and move on behind them."""
    source, end = ends
    # What is behind the axis in the order of ways has its first place still, the rest its last.
    place = [end[:, other] if other < axis else source[:, other] for other in range(3)]
    length, stride = np.int32(machine.torus[axis]), int(np.prod(machine.torus[axis + 1 :]))
    place[axis] = np.zeros_like(place[axis])
    ring = np.ravel_multi_index(tuple(place), machine.torus)
    ring += np.where(far < 0, int(np.prod(machine.torus)), 0) + first
    begin, count, sign = source[:, axis].astype(np.int32), np.abs(far), np.sign(far)
    # Some ways at a time, so that what is in hand stays small.
    for low in range(0, len(far), _AT_ONCE):
        some = slice(low, low + _AT_ONCE)
        way = np.repeat(np.arange(low, low + len(count[some]), dtype=np.int32), count[some])
        ahead = np.cumsum(count[some]) - count[some]
        step = np.arange(len(way), dtype=np.int32) - np.repeat(ahead, count[some])
        where = (begin[way] + sign[way] * step) % length
        resources[at[way] + step] = ring[way] + where * stride
    at += count
