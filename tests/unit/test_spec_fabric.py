"""Switches, their topologies and devices in a study file: what is taken, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Cluster, Fabric
from tests.unit.serving_studies import CLOSED, TORUS, problems, study_of


def fabric_of(**keys: object) -> str:
    with pytest.raises(ConfigError) as caught:
        Fabric(**keys)
    return str(caught.value)


def test_a_fabric_of_switches_has_the_defaults_that_it_promises(tmp_path: Path) -> None:
    system = study_of(tmp_path, TORUS + CLOSED).runs()[0].system
    fabric = system.cluster.fabric
    # 1 Gb/s are 10^9 / 8 bytes; the torus has 16 nodes, 4 of them routers.
    assert fabric.link_rate == 125e6
    assert (fabric.router_count, system.server_count) == (4, 12)
    assert (fabric.switch_latency, fabric.link_latency) == (6e-6, 0)
    assert (fabric.packet_size, fabric.packet_overhead) == (65536, 38)
    assert (fabric.routing, fabric.forwarding) == ("adaptive", "store_and_forward")
    assert (fabric.hop_limit, fabric.table) == (None, None)
    assert system.loggp_rows == ()
    loggp = Fabric()
    assert (loggp.model, loggp.router_count, loggp.topology) == ("loggp", 0, None)
    assert Fabric(routers=3).router_count == 3


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"topology": "torus 4x4"}, r'with model = "loggp"; add model = "switched", or remove it'),
        (
            {"model": "loggp", "hop_limit": 9},
            'hop_limit = 9: .* meaning with model = "loggp"; remove it, or use switched',
        ),
        (
            {"model": "switched", "table": "qdr-infiniband"},
            'table = "qdr-infiniband": .* with model = "switched"; remove it, or use loggp',
        ),
        ({"model": "switched", "routers": 4}, 'no meaning with model = "switched"; .* use loggp'),
        ({"model": "switch"}, 'model = "switch": .*did you mean "switched"'),
        # A slip in the model is told, and not that its keys have no meaning with it.
        (
            {"model": "switch", "topology": "torus 4x4", "link_rate": "1 Gb/s"},
            r'^(cluster\.fabric\.)?model = "switch": [^\n]*did you mean "switched"[^\n]*$',
        ),
        ({"model": 3}, "model = 3: "),
        ({"model": "switched"}, "topology: switches need a topology"),
        ({"model": "switched"}, "link_rate: switches need the rate of their links"),
        ({"routers": -1}, "routers = -1: this must be at least 0"),
        ({"routers": 1.5}, "routers = 1.5: a whole number is needed"),
    ],
)
def test_a_fabric_refuses_the_keys_of_another_and_lacks(keys: dict[str, Any], says: str) -> None:
    assert re.search(says, fabric_of(**keys))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"link_rate": "0 b/s"}, "link_rate = .*the rate must be above zero"),
        ({"link_rate": "1 Gb"}, r'link_rate = "1 Gb": .*it says no time.*write "Gb/s"'),
        ({"packet_size": "0 B"}, "packet_size = .*a packet has data"),
        ({"packet_size": "2 GiB"}, "packet_size = .*less than 2 GiB"),
        ({"packet_overhead": "2 GiB"}, "packet_overhead = .*below 2 GiB"),
        # 65,574 B at 10 b/s are 52,459 s.
        ({"link_rate": "10 b/s"}, "packet_size = .*would take 14 h 34 min on a link"),
        ({"hop_limit": 2**24}, "hop_limit = 16777216: this must be at most 16777215"),
        ({"hop_limit": 0}, "hop_limit = 0: this must be at least 1"),
        ({"lanes": 2}, r"lanes = 2: lanes are a section of the study; add \[lanes\]"),
        ({"routing": "adaptiv"}, 'routing = .*did you mean "adaptive"'),
        ({"forwarding": "wormhole"}, "forwarding = .*not one of the choices"),
        ({"topology": "tours 4x4"}, "topology = .*torus"),
        ({"link_latency": "1 m"}, 'write "min" for minutes'),
    ],
)
def test_switches_refuse_what_they_cannot_be(keys: dict[str, Any], says: str) -> None:
    base = {"model": "switched", "topology": "torus 4x4", "link_rate": "1 Gb/s"}
    assert re.search(says, fabric_of(**{**base, **keys}))


def test_servers_are_the_first_hosts_of_a_topology() -> None:
    fabric = {"model": "switched", "topology": "torus 4x4 routers 4", "link_rate": "1 Gb/s"}
    assert Cluster(fabric=fabric).servers == 12
    assert Cluster(servers=5, fabric=fabric).servers == 5
    with pytest.raises(ConfigError, match="13 servers are more than the 12 hosts"):
        Cluster(servers=13, fabric=fabric)
    with pytest.raises(ConfigError, match="needs servers, or ceph, or a fabric with a topology"):
        Cluster()


def test_a_topology_that_is_swept_may_be_left_out_and_brings_its_hosts(tmp_path: Path) -> None:
    text = TORUS.replace('topology = "torus 4x4 routers 4"\n', "") + CLOSED
    text += '[study]\nsweep = { "cluster.fabric.topology" = ["torus 4x4 routers 4", '
    text += '"hypercube 5 routers 2"] }\n'
    runs = study_of(tmp_path, text).runs()
    # 4 x 4 - 4 and 2^5 - 2 hosts.
    assert [run.system.server_count for run in runs] == [12, 30]
    assert runs[1].swept == {"cluster.fabric.topology": "hypercube 5 routers 2"}


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ('{ service = "0 s", distribution = "exponential" }', "read_service = .*above zero"),
        ('{ service = "22 ms", read_service = "1 ms" }', "service is the time of reads and of"),
        ('{ service = "22" }', 'device.service = "22": a duration needs a unit'),
        ('{ read_service = "1 ms" }', "device.write_service: this key is required"),
        ('{ service = "1 ms", distribution = "normal" }', "distribution = .*choices"),
        ('{ service = "1 ms", read_rate = "1 GB/s" }', "read_rate = .*there is no such key"),
    ],
)
def test_a_device_of_one_time_is_refused_where_it_is_none(
    tmp_path: Path, device: str, says: str
) -> None:
    text = TORUS.replace('"cheetah-15k"', device) + CLOSED
    found = problems(tmp_path, text)
    assert re.search(says, found), found


def test_a_device_of_one_time_takes_it_for_both_kinds(tmp_path: Path) -> None:
    text = TORUS.replace('"cheetah-15k"', '{ service = "5 ms", distribution = "exponential" }')
    study = study_of(tmp_path, text + CLOSED)
    device = study.runs()[0].system.cluster.device
    assert (device.read_service, device.write_service) == (0.005, 0.005)
    again = study_of(tmp_path, study.to_toml())
    assert again.runs()[0].key == study.runs()[0].key
    named = study_of(tmp_path, TORUS + CLOSED)
    assert named.runs()[0].system.cluster.device.read_service == 0.022
    assert 'device = "cheetah-15k"' in named.to_toml()


def test_a_graph_file_is_found_beside_the_study_and_written_by_its_path(tmp_path: Path) -> None:
    graph = '{"nodes": [{"id": "r", "kind": "router"}, {"id": "s"}, {"id": "a", "kind": "host"}, '
    graph += '{"id": "b", "kind": "host"}], "links": [{"source": "r", "target": "s"}, '
    graph += '{"source": "s", "target": "a"}, {"source": "s", "target": "b"}]}'
    (tmp_path / "net.json").write_text(
        graph.replace('"s"}, {"id"', '"s", "kind": "switch"}, {"id"')
    )
    text = TORUS.replace('"torus 4x4 routers 4"', '{ graph = "net.json" }') + CLOSED
    study = study_of(tmp_path, text)
    assert study.runs()[0].system.server_count == 2
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert study_of(elsewhere, study.to_toml()).runs()[0].key == study.runs()[0].key
    swept = (
        '[study]\nsweep = { "cluster.fabric.topology" = ["graph net.json", "torus 4x4 routers 4"] }'
    )
    study = study_of(tmp_path, TORUS + CLOSED + swept)
    assert [run.system.server_count for run in study.runs()] == [2, 12]
    assert [run.key for run in study_of(elsewhere, study.to_toml()).runs()] == [
        run.key for run in study.runs()
    ]
