"""A system's switches, clients and silent faults, in the words that the core reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from resilver import core_input
from resilver.spec import Study, System

SWITCHED = {"model": "switched", "topology": "mesh 4x4 routers 4", "link_rate": "1 Gb/s"}
CLOSED = {"outstanding": 32, "interval": "22 ms", "duration": "10 s"}


def system_of(sections: dict[str, Any], base: Path | None = None) -> System:
    return Study.from_dict(sections, base).runs()[0].system


def core(system: System) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(core_input.core_json(system, 7))
    return described


def test_a_study_of_clients_alone_has_nothing_placed() -> None:
    system = system_of(
        {
            "cluster": {"device": "cheetah-15k", "queue": "reads_first", "fabric": SWITCHED},
            "traffic": {**CLOSED, "timeout": "1 s"},
        }
    )
    made = core(system)
    assert made["pools"] == []
    assert made["faults"]["faults"] == []
    # A mesh's routers are nodes of their own beside its 16, which are all hosts.
    assert made["endpoint_of"] == list(range(16))
    assert made["traffic"][0] == {
        "pool": None,
        "requesters": [16, 17, 18, 19],
        "servers": list(range(16)),
        "arrivals": {"closed": {"outstanding": 32, "interval": 0.022}},
        "classes": [{"share": 1.0, "read_share": 0.5, "size": 524288}],
        "control": 64,
        "targets": {"kind": "uniform"},
        "gap": 0.0,
        "timeout": 1.0,
        "warm_up": 0.044,
        "duration": 10.0,
    }
    switched = made["fabric"]["switched"]
    wired = {"kind": "mesh", "sides": [4, 4], "routers": 4, "wiring": "corner_sides"}
    assert switched["topology"] == wired
    assert switched["parameters"] == {
        "link_rate": 125e6,
        "link_rates": [],
        "link_latency": 0.0,
        "switch_latency": 6e-6,
        "overhead": 38,
        "packet": 65536,
        "forwarding": "store_and_forward",
        "routing": "adaptive",
        "hop_limit": None,
    }
    assert made["devices"]["kinds"][0]["discipline"] == "reads_first"
    assert made["devices"]["kinds"][0]["service"] == {"fixed": {"read": 0.022, "write": 0.022}}


def test_requesters_of_loggp_come_after_the_servers() -> None:
    system = system_of(
        {"cluster": {"servers": 5, "fabric": {"routers": 2}}, "traffic": {**CLOSED, "reads": 1}}
    )
    made = core(system)
    assert made["traffic"][0]["requesters"] == [5, 6]
    assert made["traffic"][0]["classes"][0]["read_share"] == 1.0
    assert len(made["fabric"]["loggp"]) == len(system.loggp_rows) > 0
    (disk,) = made["devices"]["kinds"]
    assert (list(disk["service"]), disk["discipline"], disk["spread"]) == (["table"], "fifo", 0.0)
    assert made["devices"]["kind_of"] == []


def test_requesters_of_a_topology_come_after_all_hosts_though_fewer_are_servers() -> None:
    system = system_of({"cluster": {"servers": 3, "fabric": SWITCHED}, "traffic": CLOSED})
    made = core(system)
    assert made["traffic"][0]["servers"] == [0, 1, 2]
    assert made["traffic"][0]["requesters"] == [16, 17, 18, 19]


def test_open_arrivals_and_targets_are_described_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("seconds,kind,size,target\n0,read,8,server.2\n1,write,9,\n")
    cases = {
        "poisson": (
            {"poisson": "90 /min"},
            {"poisson": {"rate": 1.5}},
        ),
        "pareto": (
            {"pareto": "10 /s", "shape": 1.5},
            {"pareto": {"rate": 10.0, "shape": 1.5}},
        ),
        "trace": (
            {"trace": "t.csv"},
            {"trace": [[0.0, True, 8, 2], [1.0, False, 9, None]]},
        ),
    }
    for arrivals, expected in cases.values():
        traffic = {"arrivals": arrivals, "duration": "1 min", "targets": {"zipf": 0.99}}
        made = core(system_of({"cluster": {"fabric": SWITCHED}, "traffic": traffic}, tmp_path))
        assert made["traffic"][0]["arrivals"] == expected
        assert made["traffic"][0]["targets"] == {"kind": "zipf", "exponent": 0.99}
        assert made["traffic"][0]["timeout"] is None
    hot = {**CLOSED, "targets": {"hot_servers": 0.1, "hot_requests": 0.9}}
    made = core(system_of({"cluster": {"fabric": SWITCHED}, "traffic": hot}))
    assert made["traffic"][0]["targets"] == {"kind": "hot", "servers": 0.1, "requests": 0.9}


def test_servers_that_fail_are_told_from_what_fails_unannounced() -> None:
    system = system_of(
        {
            "cluster": {"servers": 4, "fabric": {**SWITCHED, "hop_limit": 9}},
            "population": {"file_size": "64 MiB", "files": 10},
            "recovery": {"retry_after": "100 ms", "attempts": 3},
            "faults": [
                {"fail": {"links": 2}},
                {"at": "1 s", "fail": {"servers": ["server.2"]}},
                {"fail": {"disks": ["server.1"]}, "repair_after": "1 s"},
            ],
        }
    )

    made = core(system)
    faults = made["faults"]["faults"]
    assert [fault["key"] for fault in faults] == [
        "faults.0.fail.links", "faults.1.fail.servers", "faults.2.fail.disks",
    ]  # fmt: skip
    assert [fault["told"] for fault in faults] == [False, True, False]
    assert [fault["part"] for fault in faults] == [
        {"link": 2}, {"server": ["server.2"]}, {"disk": ["server.1"]},
    ]  # fmt: skip
    # Servers have the ports, and their disks do not.
    assert made["faults"]["levels"] == [
        {"level": "server", "has_ports": True, "parts": {"even": [4, "server"]}},
        {"level": "disk", "has_ports": False, "parts": {"even": [4, "server"]}},
    ]
    given = json.loads(core_input.core_json(system, 7, [2, 3]))["faults"]["faults"]
    assert given == [{"key": "failed", "at": 0.0, "part": {"device": [2, 3]}, "told": True}]
    assert made["traffic"] == []
    assert made["fabric"]["switched"]["parameters"]["hop_limit"] == 9
    new = ("redundancy", "lanes", "streams")
    assert [made[key] for key in new] == [None] * 3 and made["ports_of"] == []
    assert made["retry"] == {"after": 0.1, "attempts": 3}
    (pool,) = made["pools"]
    assert pool["placement"] is not None and pool["population"] is not None
