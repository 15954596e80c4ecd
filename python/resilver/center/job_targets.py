"""Which targets a job's clients write to: in turn, drawn, on every network, or the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.job_clients import clients_asked
from resilver.center.routes import Routes
from resilver.center.storage import Storage
from resilver.center.torus import hops
from resilver.errors import ConfigError, name_remedy, show

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CHOICES = ("round_robin", "random", "optimal", "each")
"""How targets may be chosen."""

_PROGRAM_MAX = 10_000
"""The most ways of kinds of clients to networks for which the program of least squares is asked:
some seconds on one core.
"""

_TARGETS_PURPOSE = 0x74617267
"""The key of the streams that targets are drawn by."""


@dataclass(frozen=True, eq=False)
class Writes:
    """Which client writes to which target.

    Attributes:
        nodes: The clients, as places in the machine's lists: shape (clients,).
        clients: Of each flow, which of them: shape (flows,), rising.
        targets: Of each flow, its target: the same shape.
    """

    nodes: Ints = field(repr=False)
    clients: Ints = field(repr=False)
    targets: Ints = field(repr=False)


def open_targets(side: Storage, namespace: int | None) -> Ints:
    """The targets of a namespace, or of all.

    Args:
        namespace: Its number, from 0; None for all.

    Raises:
        ConfigError: There is none of this number.
    """
    if namespace is None:
        return np.arange(len(side.target_servers))
    found = np.flatnonzero(side.target_namespaces == namespace)
    if not len(found):
        count = int(side.target_namespaces.max()) + 1
        rule = f"there are {count} namespaces" if count > 1 else "there is one namespace"
        raise ConfigError(rule, f"from 0 to {count - 1}", "--namespace", show(namespace))
    return np.asarray(found)


def writes(
    routes: Routes, side: Storage, nodes: Ints, choice: str, targets: Ints, seed: int = 1
) -> Writes:
    """Choose the targets of a job's clients.

    Args:
        routes: Who serves whom.
        side: The servers and targets.
        nodes: The job's clients, as places in the machine's lists.
        choice: One of `CHOICES`. "round_robin": one target a client, in the order of both.
            "random": one a client, drawn so that none has two more than another. "optimal": one a
            client, used as evenly, so that routers are as even as they can be. "each": of every
            network one target, in turn.
        targets: Those that may be used.
        seed: Of what is drawn.

    Raises:
        ConfigError: There is no such choice.
    """
    if choice not in CHOICES:
        remedy = name_remedy(choice, CHOICES, "choices")
        raise ConfigError("there is no such choice", remedy, "--targets", show(choice))
    count = len(nodes)
    ranks = np.arange(count)
    if choice == "each":
        of = side.target_networks[targets]
        each = [targets[of == network] for network in np.unique(of)]
        picked = np.stack([one[ranks % len(one)] for one in each], axis=1)
        return Writes(nodes, np.repeat(ranks, len(each)), picked.reshape(-1))
    if choice == "round_robin" or (choice == "optimal" and routes.chosen is None):
        # Where every client uses all routers of a network in turn, they are even whatever it does.
        return Writes(nodes, ranks, targets[ranks % len(targets)])
    if choice == "random":
        draws = np.random.Generator(np.random.Philox(key=[seed, _TARGETS_PURPOSE]))
        rounds = [draws.permutation(targets) for _ in range(-(-count // len(targets)))]
        return Writes(nodes, ranks, np.concatenate(rounds)[:count])
    return Writes(nodes, ranks, _optimal(routes, side, nodes, targets))


def _optimal(routes: Routes, side: Storage, nodes: Ints, targets: Ints) -> Ints:
    """One target a client, so that the loads of routers are as even as they can be.

    Targets are used as they are in turn, so that servers and targets are as even as can be. Which
    client has which network is a flow of least cost, from clients to networks through their
    routers, whose cost is the square of their clients.
    """
    assert routes.chosen is not None
    used = targets[np.arange(len(nodes)) % len(targets)]
    networks = np.searchsorted(routes.networks, side.target_networks[used])
    rows = np.unique(networks)
    shares = np.bincount(networks)[rows]
    ranks = np.searchsorted(routes.machine.clients, nodes)
    kinds, kind_of, supply = np.unique(
        routes.chosen[ranks][:, rows], axis=0, return_inverse=True, return_counts=True
    )
    sent = _even_exactly(kinds, supply, shares)
    if sent is None:
        is_small = kinds.size <= _PROGRAM_MAX
        sent = (_even_flow if is_small else _least_beyond)(kinds, supply, shares)
    # Of each kind so many clients go to each network, in their order; and so do its targets.
    order = np.argsort(kind_of, kind="stable")
    row = np.empty(len(nodes), dtype=np.int64)
    row[order] = np.repeat(np.tile(np.arange(len(rows)), len(kinds)), sent.reshape(-1))
    picked = np.empty(len(nodes), dtype=np.int64)
    picked[np.argsort(row, kind="stable")] = used[np.argsort(networks, kind="stable")]
    return picked


def _even_exactly(
    kinds: npt.NDArray[Any], supply: Ints, shares: Ints, beyond: int | None = None
) -> Ints | None:
    """The same where routers of a network have as many clients as one another, or one more.

    No loads are more even, and a maximal flow tells whether that can be, in a hundredth of the time
    of the program below; None where it cannot.

    Args:
        kinds: As below.
        supply: As below.
        shares: As below.
        beyond: Instead, how many more than that a router may have, and none needs to have any.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    count, width = kinds.shape
    most = int(kinds.max()) + 1
    routers, router = np.unique(kinds + most * np.arange(width), return_inverse=True)
    network, number = routers // most, len(routers)
    known = np.bincount(network, minlength=width)
    floor = shares // known
    # From the source over kinds, routers and, for what is one more, networks to the sink.
    source, first, extra = 0, 1 + count, 1 + count + number
    sink = extra + width
    kind, at, net = np.arange(count), first + np.arange(number), extra + np.arange(width)
    least = floor[network] if beyond is None else np.zeros(number)
    above = np.ones(number) if beyond is None else floor[network] + 1 + beyond
    rest = shares - floor * known if beyond is None else shares
    arcs = (
        (np.full(count, source), 1 + kind, supply),
        (np.repeat(1 + kind, width), first + router.reshape(-1), np.repeat(supply, width)),
        (at, np.full(number, sink), least),
        (at, extra + network, above),
        (net, np.full(width, sink), rest),
    )
    begin, end, passed = (
        np.concatenate(column).astype(np.int32) for column in zip(*arcs, strict=True)
    )
    graph = coo_array((passed, (begin, end)), shape=(sink + 1, sink + 1)).tocsr()
    found = maximum_flow(graph, source, sink)
    if found.flow_value < int(supply.sum()):
        return None
    sent = found.flow[1 + kind][:, at].toarray()
    return np.asarray(sent[kind[:, None], router.reshape(count, width)], dtype=np.int64)


def _least_beyond(kinds: npt.NDArray[Any], supply: Ints, shares: Ints) -> Ints:
    """The same so that the greatest load beyond its even share is least, by halving."""
    low, high = 0, int(shares.max())
    best = _even_exactly(kinds, supply, shares, high)
    assert best is not None
    while low < high:
        middle = (low + high) // 2
        found = _even_exactly(kinds, supply, shares, middle)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best


def _even_flow(kinds: npt.NDArray[Any], supply: Ints, shares: Ints) -> Ints:
    """How many clients of each kind go to each network, so that routers are as even as can be.

    Args:
        kinds: The router of each network that clients of a kind use: shape (kinds, networks).
        supply: How many clients of each kind there are: shape (kinds,).
        shares: How many go to each network: shape (networks,).

    Returns:
        Shape (kinds, networks).
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    count, width = kinds.shape
    most = int(kinds.max()) + 1
    routers, router = np.unique(kinds + most * np.arange(width), return_inverse=True)
    router = router.reshape(-1)
    # A router's k-th client costs 2 k - 1, so that a load costs its square.
    steps = _load_steps(shares[routers // most], len(routers), int(supply.sum()))
    owner = np.repeat(np.arange(len(routers)), [len(one) for one in steps])
    sizes = np.concatenate(steps)
    ends = np.concatenate([np.cumsum(one) for one in steps])
    ones, flows = np.ones(count * width), np.arange(count * width)
    of_kind = csr_array((ones, (flows // width, flows)), shape=(count, count * width))
    of_router = csr_array((ones, (router, flows)), shape=(len(routers), count * width))
    of_network = csr_array((ones, (flows % width, flows)), shape=(width, count * width))
    at = np.arange(len(owner))
    levels = coo_array((-np.ones(len(owner)), (owner, at)), shape=(len(routers), len(owner)))
    nothing = csr_array((count + width, len(owner)))
    equal = vstack([hstack([vstack([of_kind, of_network]), nothing]), hstack([of_router, levels])])
    solved = linprog(
        np.concatenate([np.zeros(count * width), 2.0 * ends - sizes]),
        A_eq=equal.tocsr(),
        b_eq=np.concatenate([supply, shares, np.zeros(len(routers))]),
        bounds=np.stack(
            [
                np.zeros(count * width + len(owner)),
                np.concatenate([np.full(count * width, np.inf), sizes]),
            ],
            axis=1,
        ),
        method="highs-ds",
    )
    sent: Ints = np.rint(solved.x[: count * width]).astype(np.int64)
    return sent.reshape(count, width)


def _load_steps(shares: Ints, routers: int, clients: int) -> list[Ints]:
    """Of each router the steps by which its load is counted: 1 around the even load, then wider."""
    fine = 4 * -(-clients // routers)
    found = []
    for share in shares.tolist():
        sizes, left, wide = [1] * min(fine, share), share - min(fine, share), 2
        while left > 0:
            sizes.append(min(wide, left))
            left, wide = left - sizes[-1], 2 * wide
        found.append(np.array(sizes))
    return found


def placed(routes: Routes, side: Storage, count: int, targets: Ints) -> Writes:
    """Choose the nodes of a job and one target each, so that all is as even and as near as can be.

    Targets are used in their order and at most once. Of each network's routers each has as many
    clients as another; those of the first ones are one more where they do not come out even. Of all
    such choices it is the one whose ways cost least: an assignment, exactly.

    Args:
        routes: Who serves whom.
        side: The servers and targets.
        count: How many clients.
        targets: Those that may be used.

    Raises:
        ConfigError: There are more clients than targets or nodes, or routers have too few clients.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    machine = routes.machine
    clients_asked(machine, count, f"placed:{count}")
    if count > len(targets):
        rule = f"one client is placed a target, and there are {len(targets):,}"
        raise ConfigError(rule, "place fewer", "--clients", show(f"placed:{count}"))
    used = targets[:count]
    networks = np.searchsorted(routes.networks, side.target_networks[used])
    seen = np.zeros(len(routes.networks), dtype=np.int64)
    near: dict[tuple[int, int], tuple[Ints, Floats]] = {}
    ends, costs = [], []
    for row in networks.tolist():
        turn = int(seen[row] % (routes.routers[row] >= 0).sum())
        seen[row] += 1
        if (row, turn) not in near:
            near[row, turn] = _nearest(routes, row, turn, count)
        ends.append(near[row, turn][0])
        # The assignment takes what costs nothing for what there is not.
        costs.append(near[row, turn][1] + 1.0)
    slots = np.repeat(np.arange(count), [len(one) for one in ends])
    shape = (count, len(machine.clients))
    matrix = csr_array((np.concatenate(costs), (slots, np.concatenate(ends))), shape=shape)
    try:
        slot, client = min_weight_full_bipartite_matching(matrix)
    except ValueError:
        rule = "a router serves fewer clients than its even share of these targets"
        remedy = "place fewer, or take another policy"
        raise ConfigError(rule, remedy, "--clients", show(f"placed:{count}")) from None
    return Writes(np.asarray(machine.clients[client]), np.arange(count), np.asarray(used[slot]))


def _nearest(routes: Routes, row: int, turn: int, count: int) -> tuple[Ints, Floats]:
    """The clients of a network's router, so many of those that cost least, and what they cost.

    With as many at hand as there are places for them, one farther off is never needed.
    """
    machine = routes.machine
    weights = np.array(machine.file.weights)
    ends = machine.places[routes.routers[row][routes.routers[row] >= 0]]
    if routes.chosen is None:
        # Every client uses all of them in turn.
        who = np.arange(len(machine.clients))
    else:
        who, ends = np.flatnonzero(routes.chosen[:, row] == turn), ends[turn : turn + 1]
    places = machine.places[machine.clients[who]]
    cost = (hops(places[:, None], ends, machine.torus) @ weights).mean(axis=1)
    near = np.argsort(cost, kind="stable")[:count]
    return who[near], np.asarray(cost[near], dtype=np.float64)
