"""What a job gets: ways and rates against plain twins, targets against all choices, refusals."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver.center import JobRates, Machine, job_rates, machine, route, storage
from resilver.center.job_clients import job_clients
from resilver.center.job_targets import _even_exactly, _even_flow, _least_beyond
from resilver.center.routes import POLICIES
from resilver.center.torus import ChannelLoads, hops
from tests.build import refused

MB = 1e6


@pytest.fixture(scope="module")
def titan() -> Machine:
    return machine("titan")


def small(**changed: Any) -> Machine:
    """A torus of 5 x 4 x 6 with three routers of each of two networks, eight targets a network."""
    given = {
        "torus": [5, 4, 6],
        "routers": {
            "networks": [0],
            "groups": [["x0y0z0n0", "x2y2z2n0", "x4y1z5n0"], ["x1y3z3n0", "x3y0z1n0", "x0y2z4n0"]],
        },
        "fine_grained": {"zone": 3, "window": [-2, 2]},
        "storage": {"blocks": 2, "servers": 4, "targets": 2, "leaves": [0, 0, 1, 1]},
        "rates": {
            "x": "700 MB/s",
            "y": ["900 MB/s", "400 MB/s"],
            "z": ["1 GB/s", "1 GB/s", "300 MB/s"],
            "client": "650 MB/s",
            "router": "800 MB/s",
            "server": "500 MB/s",
            "target": "320 MB/s",
        },
        **changed,
    }
    return machine(given)


def passed(torus: tuple[int, ...], source: list[int], end: list[int]) -> list[tuple[Any, ...]]:
    """The channels of a way, hop by hop: along X, then Y, then Z, the shorter way round."""
    at, channels = list(source), []
    for axis, length in enumerate(torus):
        while at[axis] != end[axis]:
            goes_up = 2 * ((end[axis] - source[axis]) % length) <= length
            channels.append((axis, goes_up, *at))
            at[axis] = (at[axis] + (1 if goes_up else -1)) % length
    return channels


def plain_rates(job: JobRates) -> list[float]:
    """Rates by filling in plain steps: all rise together until something is full."""
    found, routes, side = job.routes.machine, job.routes, storage(job.routes.machine)
    ways: list[dict[tuple[Any, ...], float]] = []
    room: dict[tuple[Any, ...], float] = {}
    rates = found.file.rates
    for client, target in zip(job.writes.clients, job.writes.targets, strict=True):
        node = job.writes.nodes[client]
        row = routes.networks.tolist().index(side.target_networks[target])
        routers = [int(one) for one in routes.routers[row] if one >= 0]
        if routes.chosen is not None:
            rank = found.clients.tolist().index(node)
            routers = [routers[routes.chosen[rank, row]]]
        way: dict[tuple[Any, ...], float] = {}
        for router in routers:
            parts = passed(found.torus, found.places[node].tolist(), found.places[router].tolist())
            for part in [*parts, ("router", router)]:
                way[part] = way.get(part, 0.0) + 1.0 / len(routers)
        server = int(side.target_servers[target])
        ways.append(way | {("client", node): 1.0, ("server", server): 1.0, ("target", target): 1.0})
    for part in itertools.chain(*ways):
        if isinstance(part[0], str):
            room[part] = float(getattr(rates, part[0]))
        else:
            axis, goes_up, *at = part
            room[part] = float(found.channel_rates(axis)[(0 if goes_up else 1, *at)])
    given, rising = [0.0] * len(ways), set(range(len(ways)))
    while rising:
        taken = {part: sum(ways[flow].get(part, 0.0) for flow in rising) for part in room}
        step = min(room[part] / much for part, much in taken.items() if much > 0)
        for part, much in taken.items():
            room[part] -= step * much
        for flow in list(rising):
            given[flow] += step
        full = {part for part, left in room.items() if left < 1.0}
        rising -= {flow for flow in rising if full & set(ways[flow])}
    return given


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(POLICIES),
    st.sampled_from(["round_robin", "random", "optimal", "each"]),
    st.integers(1, 40),
    st.integers(0, 99),
)
def test_rates_are_those_of_a_filling_in_plain_steps(
    policy: str, targets: str, count: int, seed: int
) -> None:
    job = job_rates(route(small(), policy), f"random:{count}", targets, seed=seed)
    assert job.rates.tolist() == pytest.approx(plain_rates(job), rel=1e-6)
    assert sum(layer.bound for layer in job.layers) == len(job.rates)


@pytest.mark.parametrize("policy", POLICIES)
def test_channels_carry_the_rates_of_the_ways_that_pass_them(titan: Machine, policy: str) -> None:
    routes = route(titan, policy)
    job = job_rates(routes, "random:3000", seed=3)
    side, loads = storage(titan), ChannelLoads(titan.torus)
    row = np.searchsorted(routes.networks, side.target_networks[job.writes.targets])
    ranks = np.searchsorted(titan.clients, job.writes.nodes[job.writes.clients])
    source = titan.places[job.writes.nodes[job.writes.clients]]
    for turn in range(12):
        share = 1 / 12 if routes.chosen is None else routes.chosen[ranks, row] == turn
        loads.add(source, titan.places[routes.routers[row, turn]], job.rates * share)
    for axis, name in enumerate(("channel_x", "channel_y", "channel_z")):
        (layer,) = (one for one in job.layers if one.layer == name)
        expected = (loads.of(axis) / titan.channel_rates(axis)).reshape(-1)
        expected = expected[expected > 1e-12]
        assert layer.parts == len(expected)
        np.testing.assert_allclose(np.sort(layer.used), np.sort(expected), rtol=1e-9)


@pytest.mark.parametrize("router", [2.0, 2.3, 2.6, 3.0, 3.5])
def test_a_placed_job_gets_what_even_routers_and_targets_pass(
    titan: Machine, router: float
) -> None:
    # 56 clients of a network on 12 routers: eight have five, four have four, each of 506 MB/s.
    file = titan.file.model_dump(exclude={"rates"})
    file["rates"] = {"target": "506 MB/s", "router": f"{router} GB/s"}
    job = job_rates(route(machine(file)), "placed:1008", namespace=0)
    expected = 18 * (8 * min(5 * 0.506, router) + 4 * min(4 * 0.506, router))
    assert job.bytes_per_second / 1e9 == pytest.approx(expected, rel=1e-9)
    assert sorted(job.writes.targets.tolist()) == list(range(1008))
    assert len(set(job.writes.nodes.tolist())) == 1008
    assert titan.computes[job.writes.nodes].all()


def test_optimal_targets_are_the_best_of_all_choices() -> None:
    # Each order of the targets of six clients: the one that gives the most gives no more.
    found = small(rates={"router": "800 MB/s", "target": "500 MB/s"})
    routes = route(found, "nearest")
    for seed in range(6):
        job = job_rates(routes, "random:6", "optimal", seed=seed)
        ranks = np.searchsorted(found.clients, job.writes.nodes)
        # Six targets in turn: four on network 0, as two servers of a block use its leaf, and two
        # on network 1.
        networks = storage(found).target_networks[np.arange(6)]
        best = 0.0
        for order in set(itertools.permutations(networks.tolist())):
            load = np.zeros((2, 3))
            for rank, network in zip(ranks, order, strict=True):
                load[network, routes.chosen[rank, network]] += 1
            best = max(best, float(np.minimum(load * 500, 800).sum()) * MB)
        assert job.bytes_per_second == pytest.approx(best)
        assert sorted(job.writes.targets.tolist()) == list(range(6))


@pytest.mark.parametrize("clients", ["job:1008@3,3,3", "job:6000@3,3,3", "random:6000"])
def test_optimal_targets_give_no_less_than_those_in_turn(titan: Machine, clients: str) -> None:
    # By a maximal flow, by the program of least squares, and where that has too many ways.
    routes = route(titan, "nearest")
    in_turn, optimal = (
        job_rates(routes, clients, targets, namespace=0) for targets in ("round_robin", "optimal")
    )
    assert optimal.bytes_per_second >= in_turn.bytes_per_second * (1 - 1e-9)
    assert optimal.lasting_bytes_per_second >= in_turn.lasting_bytes_per_second * (1 - 1e-9)
    used = [np.sort(np.bincount(job.writes.targets)).tolist() for job in (in_turn, optimal)]
    assert used[0] == used[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_maximal_flow_is_as_even_as_the_program(
    count: int, width: int, routers: int, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    kinds = draw.integers(0, routers, (count, width))
    supply = draw.integers(1, 6, count)
    shares = np.bincount(draw.integers(0, width, supply.sum()), minlength=width)

    def squares(sent: npt.NDArray[np.int64]) -> int:
        """What the loads of all routers cost."""
        return int((loads_of(sent)[0] ** 2).sum())

    def loads_of(sent: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], ...]:
        """Of every router its load, its network's share and how many routers share that."""
        assert sent.sum(axis=1).tolist() == supply.tolist()
        assert sent.sum(axis=0).tolist() == shares.tolist() and (sent >= 0).all()
        at = kinds + routers * np.arange(width)
        loads = np.bincount(at.ravel(), weights=sent.ravel(), minlength=routers * width)
        is_known = np.bincount(at.ravel(), minlength=routers * width) > 0
        network = np.repeat(np.arange(width), routers)[is_known]
        return loads[is_known], shares[network], np.bincount(network)[network]

    exactly = _even_exactly(kinds, supply, shares)
    least = squares(_even_flow(kinds, supply, shares))
    if exactly is not None:
        assert squares(exactly) == least
    # Of each network the known routers share evenly at best.
    known = np.array([len(set(column)) for column in kinds.T.tolist()])
    low, above = shares // known, shares % known
    even = int(((known - above) * low**2 + above * (low + 1) ** 2).sum())
    assert least >= even
    assert (exactly is not None) == (least == even)
    # No load lies further beyond its even share than by the program of least squares.
    beyond = [
        (load - share // own - 1).max()
        for sent in (_least_beyond(kinds, supply, shares), _even_flow(kinds, supply, shares))
        for load, share, own in [loads_of(sent)]
    ]
    assert beyond[0] <= max(beyond[1], 0)


def test_placed_nodes_cost_the_least_of_all_choices() -> None:
    # Of eight clients four write to a target each, two of each network, one by each router.
    found = machine(
        {
            "torus": [3, 2, 2],
            "weights": [4, 8, 1],
            "routers": {
                "networks": [0],
                "groups": [["x0y0z0n0", "x1y1z0n0"], ["x0y0z1n0", "x2y0z0n0"]],
            },
            "storage": {"blocks": 2, "servers": 1, "targets": 2},
            "rates": {"router": "1 GB/s"},
        }
    )
    routes, side, weights = route(found, "nearest"), storage(found), np.array([4, 8, 1])

    def cost(ranks: tuple[int, ...], networks: list[int]) -> float:
        """What such ways cost, endless where a router has two clients."""
        ends = [int(routes.router(rank)[net]) for rank, net in zip(ranks, networks, strict=True)]
        if len(set(zip(ends, networks, strict=True))) < len(ends):
            return float("inf")
        source = found.places[found.clients[list(ranks)]]
        return float((hops(source, found.places[ends], found.torus) @ weights).sum())

    job = job_rates(routes, "placed:4")
    networks = side.target_networks[job.writes.targets].tolist()
    ranks = np.searchsorted(found.clients, job.writes.nodes).tolist()
    assert sorted(networks) == [0, 0, 1, 1]
    best = min(cost(one, networks) for one in itertools.permutations(range(8), 4))
    assert cost(tuple(ranks), networks) == best < float("inf")


def test_clients_are_those_that_are_asked_for(titan: Machine, tmp_path: Path) -> None:
    drawn = job_clients(titan, "random:100", seed=4)
    assert len(set(drawn.tolist())) == 100 and titan.computes[drawn].all()
    assert drawn.tolist() != job_clients(titan, "random:100", seed=5).tolist()
    behind = job_clients(titan, "job:18688@24,15,23")
    assert sorted(behind.tolist()) == titan.clients.tolist()
    # One after another by number, and on from the first after the last.
    assert (np.diff(behind) < 0).sum() == 1
    path = tmp_path / "nodes.txt"
    names = [titan.names[drawn[0]], str(titan.nids[drawn[1]])]
    path.write_text(f"# the job\r\n{names[0]}\r\n\r\n  {names[1]}  # a node\r\n")
    assert job_clients(titan, path).tolist() == drawn[:2].tolist()
    assert job_clients(titan, [names[0], int(names[1])]).tolist() == drawn[:2].tolist()
    for clients, says in (
        ([], "has no clients"),
        (["x9y9z9n0"], "client 0: the machine has no node"),
        (["x1y0z0n0", "x1y0z0n0"], "client 0 names the same node"),
    ):
        assert says in refused(job_rates, route(small()), clients)


def test_drawn_targets_are_used_as_evenly_as_can_be(titan: Machine) -> None:
    routes = route(titan)
    for choice in ("round_robin", "random", "optimal"):
        job = job_rates(routes, "random:2500", choice, namespace=1)
        counts = np.bincount(job.writes.targets, minlength=2016)
        assert not counts[:1008].any() and set(counts[1008:].tolist()) == {2, 3}
    every = job_rates(routes, "random:60", "each", namespace=1)
    assert np.bincount(every.writes.clients).tolist() == [18] * 60
    assert set(np.bincount(every.writes.targets)[1008:].tolist()) == {1, 2}
