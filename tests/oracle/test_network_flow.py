"""No network serves more than flows through it: reads against the maximum flow of scipy.

All that clients read must leave a host and reach a router over links that work. The maximum flow
from all hosts to all routers, in which a channel carries at most the data that its rate leaves
beside packets' overhead, bounds what they get, whatever the routing.
"""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from resilver import RunResult, Study
from resilver.simulate.network import topology_of
from resilver.spec import Run
from resilver.study import simulate

# 1 Gb/s is 125 MB/s, of which 64 KiB in each 64 KiB + 38 B are data.
DATA_BYTES_PER_SECOND = 125e6 * 65536 / (65536 + 38)


def study(topology: object, base: Path, faults: list[dict[str, Any]], **traffic: Any) -> Run:
    """Clients that read from servers which answer at once: the network alone holds them back."""
    content = {
        "cluster": {
            "device": {"service": "1 us"},
            "fabric": {"model": "switched", "topology": topology, "link_rate": "1 Gb/s"},
        },
        # Statistics from the start: all that completes has crossed the network within them.
        "traffic": {"outstanding": 256, "reads": 1.0, "duration": "1 s", "warm_up": "0 s"}
        | traffic,
        "faults": faults,
    }
    (run,) = Study.from_dict(content, base).runs()
    return run


def random_graph(folder: Path) -> dict[str, str]:
    """A graph of 24 switches of which ten have a host each, and two a router by two links."""
    graph = nx.gnm_random_graph(24, 60, seed=3)
    assert nx.is_connected(graph)
    links = [{"source": f"s{a}", "target": f"s{b}"} for a, b in graph.edges]
    links += [{"source": f"h{i}", "target": f"s{i}"} for i in range(10)]
    links += [{"source": f"r{i}", "target": f"s{i + 20}", "count": 2} for i in range(2)]
    kinds = {"s": ("switch", 24), "h": ("host", 10), "r": ("router", 2)}
    nodes = [
        {"id": f"{letter}{number}", "kind": kind}
        for letter, (kind, count) in kinds.items()
        for number in range(count)
    ]
    (folder / "random.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    return {"graph": "random.json"}


def max_flow(run: Run, links: Any) -> float:
    """The maximum flow from all hosts to all routers over the links that work, in data a second."""
    topology = topology_of(run.system, run.seed)
    assert topology is not None
    works = ~np.asarray(links["failed"])
    first, second = (np.asarray(links[end])[works] for end in ("from", "to"))
    source, sink = topology.nodes, topology.nodes + 1
    hosts, routers = np.asarray(topology.hosts), np.asarray(topology.routers)
    starts = np.concatenate([first, second, np.full(hosts.size, source), routers])
    ends = np.concatenate([second, first, hosts, np.full(routers.size, sink)])
    # A channel has the capacity 1, parallel ones add; hosts and routers take any number.
    capacities = np.ones(starts.size, dtype=np.int32)
    capacities[2 * first.size :] = topology.links
    shape = (topology.nodes + 2, topology.nodes + 2)
    graph = coo_array((capacities, (starts, ends)), shape=shape).tocsr()
    channels = int(maximum_flow(graph, source, sink).flow_value)
    return channels * DATA_BYTES_PER_SECOND


NETWORKS = {
    "torus": "torus 4x4x4 routers 2",
    "mesh with routers at its rim": "mesh 6x6 routers 4 wiring corner_sides",
    "fat tree": "fat tree 64,16,8,4 up 1,4,8 routers at 1",
    "oversubscribed leaves": "leaf spine 4x2 hosts 8 routers 8",
    "butterfly": "butterfly 2^3 hosts 2",
    "random graph": "random",
}


def run_of(name: str, folder: Path, faults: list[dict[str, Any]], **traffic: Any) -> Run:
    topology = NETWORKS[name]
    return study(
        random_graph(folder) if topology == "random" else topology, folder, faults, **traffic
    )


@pytest.mark.parametrize("failed", [0, 3])
@pytest.mark.parametrize("routing", ["adaptive", "deterministic"])
@pytest.mark.parametrize("name", NETWORKS)
def test_reads_are_never_more_than_the_maximum_flow(
    name: str, routing: str, failed: int, tmp_path: Path
) -> None:
    # Faults come before all else at their time, so the failed links never carry anything.
    faults = [{"at": "0 s", "fail": {"links": failed}}] if failed else []
    run = run_of(name, tmp_path, faults)
    fabric = run.system.cluster.fabric.model_copy(update={"routing": routing})
    cluster = run.system.cluster.model_copy(update={"fabric": fabric})
    system = run.system.model_copy(update={"cluster": cluster})
    found = simulate(system, run.seed)
    links = found.links.to_pydict()
    assert sum(links["failed"]) == failed
    goodput = found.metrics["throughput_bytes_per_second"]
    assert isinstance(goodput, float)
    assert goodput <= max_flow(run, links)
    # A bound that nothing comes near would not be a test of anything. Deterministic ways lead into
    # a router over one of its links alone, and faults that nobody is told of cost some packets.
    if routing == "adaptive" and not failed:
        assert goodput >= 0.5 * max_flow(run, links)


def result_of_tree(topology: str, **traffic: Any) -> tuple[RunResult, float]:
    run = study(topology, Path(), [], **traffic)
    found = simulate(run.system, run.seed)
    return found, max_flow(run, found.links.to_pydict())


def test_where_one_link_is_the_bottleneck_its_rate_is_what_clients_get() -> None:
    # One router behind one spine: its link is the maximum flow, and no way has an alternative.
    found, flow = result_of_tree("leaf spine 4x1 hosts 8 routers 1", outstanding=64, duration="4 s")
    assert flow == DATA_BYTES_PER_SECOND
    goodput = found.metrics["throughput_bytes_per_second"]
    assert isinstance(goodput, float)
    # At the end up to 64 requests have come in part, of which each takes 8 x 524.6 us = 4.2 ms of
    # the link, 6.7 % of 4 s in all; the link is idle only before the first packet, four hops of
    # 0.5 ms, and where few of 31 hosts have all of the 64 requests.
    assert 0.92 * flow <= goodput <= flow
    received = [seconds for end, seconds in _into(found) if end.startswith("router")]
    # What has come in part is data as well: with it the link is busy for all of the time.
    assert received == [pytest.approx(4.0, rel=0.01)]


def _into(found: RunResult) -> list[tuple[str, float]]:
    """Each link's ends with the time that it sent towards them."""
    links = found.links.to_pydict()
    return [
        *zip(links["to_name"], links["forward_busy_seconds"], strict=True),
        *zip(links["from_name"], links["backward_busy_seconds"], strict=True),
    ]
