"""Evidence of advice where to write: against optima, round robin, and closed forms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.center import LoadState, advise
from resilver.center.assigning import Reach, assign
from resilver.center.picking import Nested, Picker
from resilver.center.shares import Parts
from resilver.reproduce.tables import Row

if TYPE_CHECKING:
    from resilver.center.assigning import Reach
    from resilver.center.picking import Nested
    from resilver.center.shares import Parts

_LAYERS, _ROBIN, _POISSON, _ROW = 0, 1, 3, 4
"""The second halves of the keys of random streams, one a case."""


def advice_rows(
    targets: int,
    files: Sequence[int],
    states: int,
    draws: int,
    machine: str,
) -> list[Row]:
    """What advice brings, case by case.

    Args:
        targets: How many targets a file system has.
        files: How many files jobs write on it.
        states: How many random states are held to optima; five times as many to round robin.
        draws: How many states a median or a mean is of.
        machine: A machine of the catalog, whose nodes write one file a target.

    Returns:
        Rows with the column ``kind`` and what it measures: ``ratio`` (pace over the optimum's, or
        load), ``files``, ``streams``, ``slowest_gain`` and ``mean_gain`` (over round robin's),
        ``rate`` (of the mean file, or of a job in bytes/s), ``used`` targets.
    """
    return [
        *_optimum_rows(states),
        *_round_robin_rows(5 * states),
        *_poisson_rows(targets, files, draws),
        *_row_rows(targets),
        *_machine_rows(machine, targets),
    ]


def generator(seed: int, case: int) -> np.random.Generator:
    """The random stream of a seed and a case."""
    return np.random.Generator(np.random.Philox(key=[seed, case]))


# ---------------------------------------------------------------------------------- against optima


def _optimum_rows(states: int) -> Iterator[Row]:
    """Paces over those of a maximum flow: on targets behind servers, and by routers before them."""
    for state in range(states):
        rng = generator(state, _LAYERS)
        for case, networks in (("targets", 1), ("routers", int(rng.integers(2, 7)))):
            nested = _nested(rng, networks)
            count, streams = len(nested.is_open), int(rng.integers(1, 80))
            width, clients = int(rng.integers(1, 5)), int(rng.integers(1, 30))
            ways = rng.integers(0, width, (clients, networks)) + width * np.arange(networks)
            which = np.arange(streams)
            reach, chosen = None, np.zeros(streams, dtype=np.int64)
            if case == "routers":
                routers = _parts(rng, width * networks)
                reach = Reach(routers, ways, which % clients, which)
                chosen = assign(reach, nested, np.arange(count))
            reached = _pace(nested, reach, chosen)
            yield {"kind": case, "ratio": reached / _optimum(nested, reach, streams, reached)}


def _parts(rng: np.random.Generator, count: int, factor: float = 1.0) -> Parts:
    rates = factor * rng.uniform(0.5, 2.0, count)
    busy = np.where(rng.random(count) < 0.5, rng.uniform(0.0, 1.0, count) * rates, 0.0)
    greedy = rng.poisson(rng.choice([0.2, 1.0, 3.0]), count) * (busy == 0.0)
    others = np.where(busy > 0.0, rng.integers(1, 4, count), 0)
    return Parts(rates, greedy.astype(np.float64), busy, others.astype(np.float64))


def _nested(rng: np.random.Generator, networks: int) -> Nested:
    """Networks of up to three servers of up to five targets each."""
    network_of = np.repeat(np.arange(networks), rng.integers(1, 4, networks))
    server_of = np.repeat(np.arange(len(network_of)), rng.integers(1, 6, len(network_of)))
    targets, servers = _parts(rng, len(server_of)), _parts(rng, len(network_of), 2.0)
    is_open = np.ones(len(server_of), dtype=bool)
    return Nested(targets, servers, server_of, network_of[server_of], is_open, networks)


def _pace(nested: Nested, reach: Reach | None, chosen: npt.NDArray[np.int64]) -> float:
    """The pace of the slowest stream, counted at every part."""
    streams = len(chosen)
    picker = Picker(nested, streams, streams, np.arange(len(nested.is_open)))
    taken = np.array([picker.take(network) for network in chosen.tolist()])
    layers = [(nested.targets, taken), (nested.servers, nested.server_of[taken])]
    if reach is not None:
        layers.append((reach.routers, reach.ways[reach.clients, chosen]))
    return max(
        float(parts.pace(np.bincount(at, minlength=len(parts.rates)))[at].max())
        for parts, at in layers
    )


def _optimum(nested: Nested, reach: Reach | None, streams: int, reached: float) -> float:
    """The least pace at which a maximum flow takes all streams.

    A part takes one stream more at the pace of so many alone, so that is one of these.
    """
    counts = np.arange(1, streams + 1)[:, np.newaxis]
    layers = [nested.targets, nested.servers, *([] if reach is None else [reach.routers])]
    paces = np.unique(np.concatenate([parts.pace(counts).ravel() for parts in layers]))
    paces = paces[paces <= reached]
    return float(
        paces[bisect_left(paces, streams, key=lambda pace: _flow(nested, reach, streams, pace))]
    )


def _flow(nested: Nested, reach: Reach | None, streams: int, pace: float) -> int:
    """The maximum flow from clients by routers to networks, servers and targets at a pace."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import maximum_flow

    source, sink, first = 0, 1, 2
    edges: list[tuple[int, int, float]] = []
    networks = first + np.arange(nested.networks)
    servers = networks[-1] + 1 + np.arange(len(nested.servers.rates))
    targets = servers[-1] + 1 + np.arange(len(nested.is_open))
    network_of_server = np.zeros(len(servers), dtype=np.int64)
    network_of_server[nested.server_of] = nested.network_of
    room = zip(networks[network_of_server], servers, nested.servers.room(pace), strict=True)
    edges += list(room)
    own = nested.targets.room(pace)
    edges += list(zip(servers[nested.server_of], targets, own, strict=True))
    edges += [(target, sink, streams) for target in targets]
    if reach is None:
        edges.append((source, int(networks[0]), streams))
    else:
        routers = targets[-1] + 1 + np.arange(len(reach.routers.rates))
        clients = routers[-1] + 1 + np.arange(len(reach.ways))
        width = len(routers) // nested.networks
        leads = np.repeat(networks, width)
        edges += list(zip(routers, leads, reach.routers.room(pace), strict=True))
        held = np.bincount(reach.clients, minlength=len(clients))
        for client, ways, count in zip(clients, reach.ways, held, strict=True):
            edges.append((source, client, count))
            edges += [(client, routers[router], count) for router in ways]
    begin, end, most = (np.array(column) for column in zip(*edges, strict=True))
    size = int(max(begin.max(), end.max())) + 1
    limits = np.minimum(most, streams).astype(np.int32)
    graph = coo_matrix((limits, (begin, end)), (size, size)).tocsr()
    return int(maximum_flow(graph, source, sink).flow_value)


# ------------------------------------------------------------------------------ beside round robin


def _round_robin_rows(states: int) -> Iterator[Row]:
    """Random states, from every target that round robin may begin with: the least gain."""
    for state in range(states):
        rng = generator(state, _ROBIN)
        count = int(rng.integers(2, 40))
        found = advise(
            LoadState.of(
                count,
                streams=rng.poisson(rng.choice([0.2, 1, 3]), count),
                fill=rng.uniform(0.5, 0.9, count) if state % 2 else None,
                servers=[f"s{at // 4}" for at in range(count)] if state % 3 else None,
            ),
            files=int(rng.integers(1, 50)),
            stripe=int(rng.integers(1, min(count, 4) + 1)),
        )
        gain = found.expected.slowest / found.round_robin.most
        mean = found.expected.mean / found.round_robin.mean
        yield {"kind": "round_robin", "slowest_gain": gain, "mean_gain": mean}


def _poisson_rows(targets: int, files: Sequence[int], draws: int) -> Iterator[Row]:
    """Streams by a Poisson law: what advice brings, and the mean rate of round robin's files."""
    for draw in range(draws):
        for streams in (0.25, 0.5, 1.0, 2.0):
            drawn = generator(draw, _POISSON).poisson(streams, targets)
            for count in files:
                found = advise(LoadState.of(targets, streams=drawn), files=count)
                yield {
                    "kind": "poisson",
                    "streams": streams,
                    "files": count,
                    "rate": found.round_robin.mean / count,
                    "slowest_gain": found.expected.slowest / found.round_robin.slowest,
                    "mean_gain": found.expected.mean / found.round_robin.mean,
                }


def _row_rows(targets: int) -> Iterator[Row]:
    """A hundred jobs: each asks the state with those before, or all the same state by a seed."""
    rng = generator(0, _ROW)
    idle = state = LoadState.of(targets)
    at_once, alike = np.zeros(targets), np.zeros(targets)
    for job in range(100):
        files = int(rng.integers(1, 400))
        state = advise(state, files=files).after
        at_once += advise(idle, files=files, seed=job).streams
        alike += advise(idle, files=files).streams
    for case, load in (("in_a_row", state.advised), ("seeded", at_once), ("alike", alike)):
        yield {"kind": case, "ratio": float(load.max() / load.mean())}


def _machine_rows(machine: str, targets: int) -> Iterator[Row]:
    """Nodes spread over a machine, a file on each target, by its routers."""
    found = advise(LoadState.of(targets), files=targets, machine=machine)
    yield {
        "kind": "machine",
        "rate": found.expected.slowest,
        "used": int((found.streams > 0).sum()),
        "slowest_gain": found.expected.slowest / found.round_robin.slowest,
    }
