"""Systems in the words that the core reads."""

import json
from pathlib import Path
from typing import Any

from resilver import core_input
from resilver.spec import System
from resilver.study import simulate
from tests.build import study_of, system_of

SWITCHED = {"model": "switched", "topology": "mesh 4x4 routers 4", "link_rate": "1 Gb/s"}
CLOSED = {"outstanding": 32, "interval": "22 ms", "duration": "10 s"}
ORDERED = [
    {"at": "2 us", "corrupt": {"groups": 1}},
    {"at": "1 us", "corrupt": {"groups": 1, "strips": 9, "window": 3, "code": "lrc 4+2 local 4"}},
]


def core(system: System) -> dict[str, Any]:
    return json.loads(core_input.core_json(system, 7))


def rebuilding(system: System, seed: int) -> list[int]:
    """The groups that rebuild in a run."""
    rows = simulate(system, seed).stripe_groups.to_pylist()
    return [row["group"] for row in rows if row["is_rebuilding"]]


def test_streams_over_groups_name_their_servers_and_entries() -> None:
    made = core(system_of("streamed", faults=[{"corrupt": {"groups": [1]}}]))
    assert (made["pools"], made["traffic"]) == ([], [])
    assert made["redundancy"] == {"code": "rs 4+2", "strip": 16384, "coding": None}
    assert made["streams"]["over"] == {"groups": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]}
    # The 24 hosts come first, and then 6 entries at each of 4 switches.
    assert made["streams"]["entries"] == list(range(24, 48))
    # A server has 4 operations under way at each of its 2 ports, and as many strips to rebuild.
    (fault,) = made["faults"]["faults"]
    assert fault["corrupt"] == {"groups": [1], "strips": None, "window": 8, "code": None}
    # Two first-level switches of six hosts hold servers 0 to 5, a port at each.
    assert made["ports_of"][:2] == [[0, 6], [1, 7]]


def test_streams_over_objects_name_no_groups() -> None:
    streams = {
        "window": 2,
        "rate": "2 GB/s",
        "entries": "random",
        "bursts": {"volume": "1 GiB", "every": "10 s", "first": "1 s"},
    }
    system = system_of(
        "coded",
        cluster__fabric={"routers": 3},
        redundancy={"code": "rs 4+2", "strip": "64 KiB", "coding": "5 GB/s"},
        traffic={"streams": streams, "reads": 0.25},
    )
    made = core(system)
    assert made["streams"]["over"] == "placement"
    assert made["streams"]["entries"] == [8, 9, 10]
    assert made["streams"]["rate"] == 2e9
    assert made["streams"]["duration"] is None
    assert made["streams"]["bursts"] == {"first": 1.0, "every": 10.0, "volume": 2**30}
    (pool,) = made["pools"]
    assert pool["redundancy"]["coding"] == 5e9
    assert made["lanes"] is None
    assert pool["placement"]["ring"]["copies"] == 6
    made = core(system_of("coded", placement={"algorithm": "crush"}))
    pool = made["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["kind"]) == (6, "erasure")
    plain = core(system_of("coded", placement={"algorithm": "crush"}, redundancy=None))
    pool = plain["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["kind"]) == (3, "replicated")


def test_groups_are_drawn_among_those_that_no_other_fault_has() -> None:
    # Two groups and two faults: each has its own, whatever the seed and whichever comes first.
    for seed in range(1, 6):
        assert rebuilding(system_of("streamed", faults=ORDERED), seed) == [0, 1]
    named = system_of("streamed", faults=[{"corrupt": {"groups": [1], "strips": 2}}])
    assert rebuilding(named, 1) == [1]
    drawn = system_of("streamed", faults=[{"corrupt": {"groups": 1, "strips": 2}}])
    # Of 20 draws of one of two, all are alike once in 500,000 tries.
    assert {number for seed in range(20) for number in rebuilding(drawn, seed)} == {0, 1}


def test_a_study_of_clients_alone_has_nothing_placed() -> None:
    cluster = {"device": "cheetah-15k", "queue": "reads_first", "fabric": SWITCHED}
    made = core(system_of({"cluster": cluster, "traffic": {**CLOSED, "timeout": "1 s"}}))
    assert made["pools"] == []
    assert made["faults"]["faults"] == []
    # A mesh's routers are nodes of their own beside its 16, which are all hosts.
    assert made["endpoint_of"] == list(range(16))
    (traffic,) = made["traffic"]
    assert (traffic["requesters"], traffic["servers"]) == ([16, 17, 18, 19], list(range(16)))
    # Where nothing is said, half of the requests are reads, and two intervals are the warm-up.
    assert traffic["classes"] == [{"share": 1.0, "read_share": 0.5, "size": 524288}]
    assert traffic["warm_up"] == 0.044
    wired = {"kind": "mesh", "sides": [4, 4], "routers": 4, "wiring": "corner_sides"}
    assert made["fabric"]["switched"]["topology"] == wired


def test_requesters_come_after_all_hosts() -> None:
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
    system = system_of({"cluster": {"servers": 3, "fabric": SWITCHED}, "traffic": CLOSED})
    made = core(system)
    assert made["traffic"][0]["servers"] == [0, 1, 2]
    assert made["traffic"][0]["requesters"] == [16, 17, 18, 19]


def test_open_arrivals_and_targets_are_described_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("seconds,kind,size,target\n0,read,8,server.2\n1,write,9,\n")
    for arrivals, expected in (
        ({"poisson": "90 /min"}, {"poisson": {"rate": 1.5}}),
        ({"pareto": "10 /s", "shape": 1.5}, {"pareto": {"rate": 10.0, "shape": 1.5}}),
        ({"trace": "t.csv"}, {"trace": [[0.0, True, 8, 2], [1.0, False, 9, None]]}),
    ):
        traffic = {"arrivals": arrivals, "duration": "1 min", "targets": {"zipf": 0.99}}
        network = {"cluster": {"fabric": SWITCHED}, "traffic": traffic}
        made = core(study_of(network, folder=tmp_path).runs()[0].system)
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
