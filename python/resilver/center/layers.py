"""The layers between a job's clients and the targets of a file system, as a state has them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.center.load_state import LoadState
from resilver.center.picking import Nested
from resilver.center.routes import Routes
from resilver.center.shares import Ints, Parts
from resilver.center.storage import storage
from resilver.errors import ConfigError, show
from resilver.importers.log_rows import DEGRADED, UP
from resilver.quantities import decimal_rate

Bools = npt.NDArray[np.bool_]

LAST_FILL = 0.8
"""Targets that are fuller than this come last."""

DEGRADED_SHARE = 0.5
"""What a target whose RAID rebuilds is taken to move, as a share of its rate: an assumption."""

_FAILED_OVER = 1.5
"""A server with so many times the targets of most has another's: these come last too."""


@dataclass(frozen=True)
class Given:
    """What is known of rates, and what is to be kept off.

    Attributes:
        rate: What a target moves by itself, in bytes/s; None where that is not known.
        server_rate: The same of a server.
        router_rate: The same of a router.
        avoid: Targets that are fuller than this share are not used; None to use all.
    """

    rate: float | None = None
    server_rate: float | None = None
    router_rate: float | None = None
    avoid: float | None = None


@dataclass(frozen=True, eq=False)
class Layers:
    """Targets and what lies before them.

    Attributes:
        nested: Targets, servers and networks.
        is_active: Which targets the file system's own round robin uses: degraded ones where no
            others are.
        reasons: Why a target is not used, or comes last; empty for others.
        servers: The servers' names; none where nothing says which there are.
        rate: The rate of a target in bytes/s; None where all are relative to it.
        routers: The routers by which clients reach networks; None where there are none.
        router_names: The nodes that they are; empty for those that lead to no target of the state.
        ways: The router of each client and network: shape (clients, networks), or None.
        notes: What was assumed.
    """

    nested: Nested
    is_active: Bools
    reasons: tuple[str, ...]
    servers: tuple[str, ...]
    rate: float | None
    routers: Parts | None
    router_names: tuple[str, ...]
    ways: Ints | None
    notes: tuple[str, ...]

    @property
    def is_last(self) -> Bools:
        """Which of the targets that may be used come last."""
        return np.array([bool(reason) for reason in self.reasons]) & self.nested.is_open


def layers_of(state: LoadState, given: Given, routes: Routes | None, namespace: int) -> Layers:
    """The layers of a state, and of a machine where one is given.

    Args:
        state: What is busy in one file system.
        given: Rates, and what is avoided.
        routes: Who serves whom on the machine.
        namespace: Which of the machine's file systems the state is of.

    Raises:
        ConfigError: The state has targets that the machine has not, or rates contradict it.
    """
    notes: list[str] = []
    if routes is not None:
        given = _with_machine(given, routes, notes)
    rate, targets = _targets(state, given, notes)
    reasons, is_active, is_open = _judged(state, given.avoid, notes)
    usual, has_more = _failed_over(state, reasons)
    networks = np.zeros(len(state.targets), dtype=np.int64)
    if routes is None:
        names, server_of = _servers_of(state)
    else:
        names, server_of, networks = _behind(state, routes, namespace)
    greedy, busy, others, count = (
        np.bincount(server_of, weights=column, minlength=len(names)).astype(np.float64)
        for column in (targets.greedy, targets.busy, targets.others, np.ones(len(server_of)))
    )
    if routes is None and has_more.any():
        # A server that took over another's targets is no faster for it.
        count[server_of[has_more]] = usual
    server_rates = np.full(len(names), given.server_rate) if given.server_rate else rate * count
    if given.server_rate and given.rate is None:
        rule = "a server's rate is beside a target's"
        raise ConfigError(rule, "give --rate too", "--server-rate")
    servers = Parts(server_rates, greedy, np.minimum(busy, server_rates), others)
    count_networks = 1 if routes is None else len(routes.networks)
    nested = Nested(targets, servers, server_of, networks, is_open, count_networks)
    routers, router_names, ways = (
        (None, (), None)
        if routes is None
        else _routers(state, routes, nested, rate, given.router_rate, notes)
    )
    if routes is None and not any(state.servers):
        names = ()
    told = (*state.notes, *notes)
    found = tuple(reasons)
    return Layers(nested, is_active, found, names, given.rate, routers, router_names, ways, told)


def _with_machine(given: Given, routes: Routes, notes: list[str]) -> Given:
    """Rates, those that are not given as the machine's file has them."""
    own = routes.machine.file.rates
    if (own.target or own.server or own.router) and own.source:
        notes.append(f"rates that are not given are the machine file's: {own.source.rstrip('.')}")
    return Given(
        given.rate or own.target,
        given.server_rate or own.server,
        given.router_rate or own.router,
        given.avoid,
    )


def _failed_over(state: LoadState, reasons: list[str]) -> tuple[int, Bools]:
    """How many targets most servers have, and which targets' servers have others' too.

    Targets of which no log names the server say nothing.
    """
    counts = Counter(server for server in state.servers if server)
    if not counts:
        return 1, np.zeros(len(state.targets), dtype=bool)
    carrying = Counter(counts.values())
    usual = max(carrying, key=lambda count: (carrying[count], count))
    has_more = np.array([counts[server] >= _FAILED_OVER * usual for server in state.servers])
    for at in np.flatnonzero(has_more):
        more = f"its server has {counts[state.servers[at]]} targets, most have {usual}"
        reasons[at] = ", ".join(one for one in (reasons[at], more) if one)
    return usual, has_more


def _targets(state: LoadState, given: Given, notes: list[str]) -> tuple[float, Parts]:
    """What a target moves by itself, and what others do at each."""
    moved = np.nan_to_num(state.bytes_per_second, nan=0.0)
    streams = np.nan_to_num(state.streams, nan=0.0)
    is_known = ~np.isnan(state.bytes_per_second)
    rate = given.rate
    if rate is None:
        rate = float(moved.max(initial=0.0)) or 1.0
        if moved.any():
            notes.append(
                "the busiest target is taken to move all it can; give --rate to say what that is"
            )
    elif (moved > rate * (1.0 + 1e-9)).any():
        at = int(moved.argmax())
        rule = f"{state.targets[at]} moves {decimal_rate(moved[at])} already"
        raise ConfigError(rule, "give what a target moves alone", "--rate", decimal_rate(rate))
    if not state.is_load_known.any():
        notes.append("nothing says how busy targets are: they count as idle")
    # Streams whose bytes nothing says take all they get; bytes of unknown streams are one's.
    greedy = np.where(is_known, 0.0, streams) + state.advised
    others = np.where(is_known, np.where(np.isnan(state.streams), moved > 0.0, streams), 0.0)
    others = np.where(is_known & (moved > 0.0), np.maximum(others, 1.0), 0.0 * others)
    rates = np.full(len(moved), rate)
    is_degraded = np.array([one == DEGRADED for one in state.states])
    if count := int(is_degraded.sum()):
        rates[is_degraded] *= DEGRADED_SHARE
        which = "1 target is" if count == 1 else f"{count} targets are"
        notes.append(f"{which} degraded and taken to move {DEGRADED_SHARE:.0%} of the rate")
    return rate, Parts(rates, greedy, np.minimum(moved, rates), others)


def _judged(
    state: LoadState, avoid: float | None, notes: list[str]
) -> tuple[list[str], Bools, Bools]:
    """Why targets come last or are not used; which are active; which may be used."""
    reasons = [""] * len(state.targets)
    is_active = np.array([one == UP for one in state.states])
    is_degraded = np.array([one == DEGRADED for one in state.states])
    is_open = is_active | is_degraded
    is_unknown = ~state.is_load_known if state.is_load_known.any() else np.zeros_like(is_open)
    if (unknown := int((is_unknown & is_open).sum())) == 1:
        notes.append("of 1 target nothing says how busy it is: it is not used")
    elif unknown:
        notes.append(f"of {unknown} targets nothing says how busy they are: they are not used")
    for at, fill in enumerate(state.fill.tolist()):
        if not is_open[at]:
            reasons[at] = state.states[at]
        elif is_unknown[at]:
            reasons[at] = "load unknown"
        elif avoid is not None and fill > avoid:
            reasons[at] = f"avoided: {fill:.0%} full"
        else:
            last = ["degraded: its RAID rebuilds"] if is_degraded[at] else []
            last += [f"{fill:.0%} full"] if fill > LAST_FILL else []
            reasons[at] = ", ".join(last)
            continue
        is_open[at] = False
    return reasons, is_active if is_active.any() else is_degraded, is_open


def _servers_of(state: LoadState) -> tuple[tuple[str, ...], Ints]:
    """The servers that the state names; a target of which none is told has one of its own."""
    names: dict[str, int] = {}
    found = [
        names.setdefault(server or f"server of {target}", len(names))
        for server, target in zip(state.servers, state.targets, strict=True)
    ]
    return tuple(names), np.array(found)


def _behind(state: LoadState, routes: Routes, namespace: int) -> tuple[tuple[str, ...], Ints, Ints]:
    """The server and the network of each target, as the machine has them."""
    side = storage(routes.machine)
    of_namespace = np.flatnonzero(side.target_namespaces == namespace)
    if not len(of_namespace):
        rule = f"the machine has {int(side.target_namespaces.max()) + 1} file systems, from 0"
        raise ConfigError(rule, "name one", "--namespace", show(namespace))
    if len(state.targets) > len(of_namespace):
        # A state of more targets than one file system has is of all of them.
        of_namespace = np.arange(len(side.target_servers))
    numbers = [at if number is None else number for at, number in enumerate(state.numbers)]
    if max(numbers) >= len(of_namespace):
        rule = f"the machine's file system has {len(of_namespace):,} targets, and none of number "
        rule += f"{max(numbers):,}"
        raise ConfigError(rule, "give the state of one of its file systems", "STATE")
    servers = side.target_servers[of_namespace[numbers]]
    networks = side.target_networks[of_namespace[numbers]]
    kept, server_of = np.unique(servers, return_inverse=True)
    names = tuple(f"server {number}" for number in kept.tolist())
    return names, server_of, np.searchsorted(routes.networks, networks)


def _routers(
    state: LoadState,
    routes: Routes,
    nested: Nested,
    rate: float,
    router_rate: float | None,
    notes: list[str],
) -> tuple[Parts, tuple[str, ...], Ints]:
    """The routers, their names, and the one that each client uses of each network."""
    flat = routes.routers.reshape(-1)
    width = routes.routers.shape[1]
    networks = np.arange(len(routes.networks))
    if routes.chosen is None:
        # Clients that use all in turn begin at another each.
        count = (routes.routers >= 0).sum(axis=1)
        chosen = np.arange(len(routes.machine.clients))[:, None] % count
    else:
        chosen = routes.chosen.astype(np.int64)
    ways = chosen + width * networks
    is_there = flat >= 0
    behind = np.bincount(nested.network_of, minlength=len(networks))
    share = np.repeat(rate * behind / (routes.routers >= 0).sum(axis=1), width)
    if router_rate is None:
        notes.append("routers of a network together are taken to move what its targets do")
    rates = np.full(len(flat), router_rate) if router_rate else share
    rates = np.where(is_there & (rates > 0.0), rates, rate)
    greedy = np.zeros(len(flat)) if state.advised_routers is None else state.advised_routers
    nothing = np.zeros(len(flat))
    has_targets = is_there & (np.repeat(behind, width) > 0)
    names = routes.machine.names
    told = tuple(
        names[node] if leads else "" for node, leads in zip(flat.tolist(), has_targets, strict=True)
    )
    return Parts(rates, greedy, nothing, nothing), told, ways
