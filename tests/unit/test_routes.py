"""Routes on a torus: rings in closed form, small machines by enumeration, Titan as computed."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from resilver.center import Storage, storage
from resilver.center.balance import balanced, even_share
from resilver.center.lnet import lnet_routes
from resilver.center.machines import Machine, machine
from resilver.center.routes import POLICIES, channel_loads, route, route_figures
from resilver.center.torus import ChannelLoads, hops, steps
from resilver.errors import ConfigError
from tests.build import refused
from tests.unit.test_job_rates import passed, titan

DATA = Path(os.environ.get("RESILVER_SHARED_DATA", "../shared/data")) / "lustre"
NODES = DATA / "titan-nodes.tsv.gz"

__all__ = ["titan"]


def small(**changed: Any) -> Machine:
    """A torus of 4 x 4 x 4 with two routers, of one network."""
    given = {
        "torus": [4, 4, 4],
        "routers": {"groups": [["x0y0z0n0", "x2y2z2n0"]]},
        "fine_grained": {"zone": 1, "window": [-2, 1]},
        **changed,
    }
    return machine(given)


@given(st.integers(2, 60))
def test_the_mean_way_on_a_ring_is_as_derived(length: int) -> None:
    # Of an even ring k/4, of an odd one (k^2 - 1) / 4k.
    places = np.arange(length)
    mean = np.abs(steps(places[:, None], places, length)).mean()
    exact = length / 4 if length % 2 == 0 else (length**2 - 1) / (4 * length)
    assert mean == pytest.approx(exact, rel=1e-12)


@settings(max_examples=60)
@given(
    st.tuples(*[st.integers(2, 6)] * 3), st.integers(0, 2**32 - 1), st.sampled_from([1, 5, 3000])
)
def test_channels_carry_what_is_counted_hop_by_hop(
    torus: tuple[int, int, int], seed: int, ways: int
) -> None:
    draw = np.random.default_rng(seed)
    source, target = (draw.integers(0, torus, (ways, 3)) for _ in range(2))
    amount = draw.integers(1, 9, ways).astype(float)
    loads = ChannelLoads(torus)
    loads.add(source, target, amount)
    counted = [np.zeros((2, *torus)) for _ in range(3)]
    for begin, end, much in zip(source.tolist(), target.tolist(), amount, strict=True):
        for axis, goes_up, *at in passed(torus, begin, end):
            counted[axis][(0 if goes_up else 1, *at)] += much
    for axis in range(3):
        np.testing.assert_allclose(loads.of(axis), counted[axis])
    # Every hop is in one channel.
    total = sum(float(loads.of(axis).sum()) for axis in range(3))
    assert total == pytest.approx(float(amount @ hops(source, target, torus).sum(axis=1)))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(2, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_balanced_costs_what_the_linear_program_costs(
    routers: int, chips: int, seed: int, is_whole: bool
) -> None:
    draw = np.random.default_rng(seed)
    costs = draw.integers(0, 12, (chips, routers)).astype(float)
    costs += 0.0 if is_whole else draw.random((chips, routers))
    supply = draw.integers(1, 4, chips)
    found = balanced(costs, supply)
    rows = np.repeat(np.arange(chips), supply)
    share = even_share(int(supply.sum()), routers)
    assert np.bincount(found, minlength=routers).max() <= share
    by_chip = np.kron(np.eye(chips), np.ones(routers))
    by_router = np.tile(np.eye(routers), chips)
    optimum = linprog(costs.ravel(), by_router, np.full(routers, share), by_chip, supply)
    assert costs[rows, found].sum() == pytest.approx(optimum.fun, rel=1e-9, abs=1e-9)


@pytest.mark.skipif(not NODES.exists(), reason="the map of Titan's nodes is not there")
def test_titan_s_map_follows_from_its_cabinets_and_routes_as_the_one_by_its_rule(
    titan: Machine,
) -> None:
    lines = gzip.decompress(NODES.read_bytes()).decode().splitlines()
    read = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    assert [one[1] for one in read] == list(titan.names)
    assert [int(one[0]) for one in read] == titan.nids.tolist()
    assert [list(map(int, one[3:])) for one in read] == titan.places.tolist()
    assert [one[2] == "compute" for one in read] == titan.computes.tolist()
    file = titan.file.model_dump(include={"torus", "nodes", "weights"})
    file |= {"map": str(NODES), "routers": titan.file.routers.model_dump()}
    file["fine_grained"] = titan.file.fine_grained.model_dump()
    assert (route(machine(file)).chosen == route(titan).chosen).all()


# Computed on the real map beforehand, every client to all 36 networks: mean hops, mean, least and
# most cost, fewest and most clients a router, and the largest loads in X, Y and Z.
TITAN = {
    ("fine_grained", "cost"): (9.083096, 22.333143, 1, 44, 1476, 1688, 128, 144, 1688),
    ("round_robin", "cost"): (16.240535, None, None, None, None, None, 245.333, 304.667, 1560),
    ("nearest", "hops"): (6.604268, None, None, None, 1282, 1790, 204, 572, 1700),
    ("nearest", "cost"): (8.169455, 21.228346, None, None, None, None, 144, 168, 1700),
    ("balanced", "cost"): (None, 21.279068, None, None, None, 1558, None, None, None),
}


@pytest.mark.parametrize(("policy", "by"), TITAN)
def test_titan_s_routes_are_as_computed(titan: Machine, policy: str, by: str) -> None:
    found = route_figures(route(titan, policy, by))
    ways = (found.mean_hops, found.mean_cost, found.least_cost, found.most_cost)
    values = (*ways, *found.clients_a_router[::2], *found.largest_loads)
    for value, expected in zip(values, TITAN[policy, by], strict=True):
        if expected is not None:
            # The expected figures have six decimals, or three.
            assert value == pytest.approx(expected, abs=1e-6 if expected < 100 else 5e-4)
    # Every client has one router of each network.
    assert found.clients_a_router[1] == pytest.approx(18_688 / 12)


def test_the_routes_of_one_client_are_those_of_the_rule(titan: Machine) -> None:
    # Of client 20, at X 0, Y 0, Z 13 of c0-0c1s2, by hand for the first group: the zone whose first
    # router has Y within -1 to 2 of it, and there the module nearest in X.
    routes, node = route(titan), titan.node("20")
    picked = routes.router(int(np.searchsorted(titan.clients, node)))
    at = titan.places[node]
    for group, letters in enumerate(titan.file.routers.groups):
        firsts = [titan.places[titan.node(name + "n0")] for name in letters]
        away = [int((at[1] - first[1] + 8) % 16 - 8) for first in firsts]
        zone = next(z for z in range(4) if -1 <= away[3 * z] <= 2)
        far = [min((at[0] - f[0]) % 25, (f[0] - at[0]) % 25) for f in firsts[3 * zone :][:3]]
        module = letters[3 * zone + far.index(min(far))]
        for node_of_module, first in enumerate(titan.file.routers.networks):
            row = routes.networks.tolist().index(first + group)
            assert titan.names[picked[row]] == f"{module}n{node_of_module}"


def test_lnet_has_every_client_once_and_every_network(titan: Machine) -> None:
    routes = route(titan)
    lines = lnet_routes(routes).splitlines()
    said: list[int] = []
    for line in lines[::2]:
        for part in line.removeprefix("# clients ").split(","):
            first, _, last = part.partition("-")
            said += range(int(first), int(last or first) + 1)
    assert sorted(said) == titan.nids[titan.clients].tolist()
    assert all(line.count("@gni") == 36 and "o2ib236 " in line for line in lines[1::2])
    assert lnet_routes(route(small(), "round_robin")).count("[0,42]@gni") == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0 a compute 0 0 0\n0 b compute 0 0 1", "two nodes have the number 0"),
        ("0 a compute 0 0 0\n1 a compute 0 0 1", "two nodes have the name a"),
        ("0 a compute 0 0 9", "outside of the torus"),
        ("0 a compute 0 0 0\n1 b compute 0 0 0", "more than 1 nodes"),
        ("0 a compute 0 0", "a node has nid"),
        ("zero a compute 0 0 0", "whole numbers"),
        ("", "no nodes"),
        ("0 a compute 0 0 0\n1 b compute 1 0 0", "these routers compute: a"),
    ],
)
def test_maps_that_cannot_be_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "nodes.tsv").write_text("nid\tname\ttype\tx\ty\tz\r\n" + lines)
    with pytest.raises(ConfigError, match=message):
        small(map=str(tmp_path / "nodes.tsv"), routers={"groups": [["a"]]})


def test_every_policy_serves_every_client_or_names_it() -> None:
    found = small(routers={"groups": [["x0y0z0n0", "x2y0z0n0"]]}, fine_grained={"zone": 2})
    wide = found.file.model_copy(
        update={"fine_grained": found.file.fine_grained.model_copy(update={"window": (-2, 2)})}
    )
    for policy in POLICIES:
        routes = route(machine(wide), policy)
        assert routes.ways.amount.sum() == pytest.approx(62)
        assert routes.served.sum() == pytest.approx(62)
        assert channel_loads(routes).largest()[0] > 0
    with pytest.raises(ConfigError, match=r"no zone of group 0 takes x0y1z0n0, .* and .* more"):
        route(small(fine_grained={"zone": 1, "window": [0, 0]}))


# The storage side of machines and the rates of their parts: Spider II's targets, and refusals.


@pytest.fixture(scope="module")
def spider() -> Storage:
    return storage(machine("titan"))


def small_storage(**changed: Any) -> Storage:
    """Two rows of three blocks with two servers of two targets, behind one router a network."""
    side = {"rows": 2, "blocks": 3, "servers": 2, "targets": 2, "network": 5, **changed}
    groups = [[f"x{at % 4}y{at // 4}z0n0"] for at in range(6)]
    routers = {"groups": groups, "networks": [5]}
    return storage(machine({"torus": [4, 4, 4], "routers": routers, "storage": side}))


def test_spider_s_targets_are_where_its_servers_say(spider: Storage) -> None:
    # Server oss of block ssu in a row has the index i = oss - 1 + 8 (ssu - 1) + 72 (row - 1), less
    # 144 in the second namespace, and the targets i, i + 144, ... below 1,008; servers 5 to 8 use
    # the leaf of the next block of the row.
    seen = set()
    for row in range(1, 5):
        for ssu in range(1, 10):
            for oss in range(1, 9):
                server = oss - 1 + 8 * (ssu - 1) + 72 * (row - 1)
                first = server if row <= 2 else server - 144
                leaf = ssu - 1 if oss <= 4 else ssu % 9
                for target in range(first, 1008, 144):
                    whole = target + (0 if row <= 2 else 1008)
                    assert spider.target_servers[whole] == server
                    assert spider.target_networks[whole] == 201 + 9 * (row - 1) + leaf
                    assert spider.target_namespaces[whole] == (row - 1) // 2
                    assert spider.server_blocks[server] == 9 * (row - 1) + ssu - 1
                    seen.add(whole)
    assert seen == set(range(2016))


def test_channels_and_targets_are_numbered_and_rated_in_their_rows() -> None:
    found = small_storage(leaves=[0, 2])
    # Block b's second server is on the leaf of b + 2 of the three blocks of its row.
    assert found.server_networks.tolist() == [5, 7, 6, 5, 7, 6, 8, 10, 9, 8, 10, 9]
    assert small_storage().server_networks.tolist() == [5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10]
    assert small_storage().target_servers.tolist() == [*range(12), *range(12)]
    found = small_storage(namespaces=2)
    assert found.target_servers.tolist() == [*range(6), *range(6), *range(6, 12), *range(6, 12)]
    assert found.target_namespaces.tolist() == [0] * 12 + [1] * 12
    plain = {"torus": [4, 4, 4], "routers": {"groups": [["x0y0z0n0"]]}}
    assert "add [storage]" in refused(storage, machine(plain))
    # Two rates that follow one another round a ring of four: 0-1 and 2-3 have the first, 1-2 and
    # 3-0 the second, in both directions.
    found = machine({**plain, "rates": {"x": "3 GB/s", "y": ["1 GB/s", "2 GB/s"]}})
    assert (found.channel_rates(0) == 3e9).all()
    up, down = found.channel_rates(1)[:, 2, :, 3]
    assert up.tolist() == [1e9, 2e9, 1e9, 2e9]
    assert down.tolist() == [2e9, 1e9, 2e9, 1e9]
    assert np.isinf(found.channel_rates(2)).all()


def test_titan_s_blades_and_cages_have_channels_of_their_own() -> None:
    titan = machine("titan")
    at = {name: titan.places[titan.node(name)] for name in ("c0-0c0s0n0", "c0-0c0s0n2")}
    first, second = at.values()
    assert second[1] == first[1] + 1
    # Within a blade, then by cable to the next; of 24 channels up in Z three leave a cage.
    along_y = titan.channel_rates(1)[0, first[0], :, first[2]]
    assert along_y[first[1]] == along_y.max() > along_y[second[1]]
    along_z = titan.channel_rates(2)[0, 0, 0]
    assert np.flatnonzero(along_z == along_z.min()).tolist() == [7, 15, 23]
    for height in (7, 15, 23):
        chip, above = (
            titan.names[np.flatnonzero((titan.places == (0, 0, z % 24)).all(axis=1))[0]]
            for z in (height, height + 1)
        )
        assert chip.partition("s")[0] != above.partition("s")[0]
