"""Runs across every part of the model, small enough that all take some seconds twice."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from resilver import Run, Study
from resilver.browser import CoreRequest, cluster_request, system_request
from resilver.importers import read_report
from resilver.whatif.options import Request
from resilver.whatif.request import Prepared
from resilver.whatif.studied import made_ready
from tests.unit.what_if_clusters import prepared

ROOT = Path(__file__).resolve().parents[2]

REAL = "ceph/ceph-report-jewel-88osd.json"
"""A real cluster of 88 OSDs, among the real inputs."""


def shipped(name: str, *settings: str) -> Run:
    """The first run of a study that ships, with other settings."""
    return Study.load(ROOT / "studies" / name / "study.toml", settings).runs()[0]


def demo(**sections: Any) -> Run:
    """A run of 16 servers in 4 racks, one of which fails, with other sections."""
    study: dict[str, Any] = {
        "cluster": {"servers": 16, "racks": 4, "device": "jbod10-sata"},
        "population": {"histogram": "genomes1000", "objects": {"chunk": "64 MiB"}},
        "placement": {"algorithm": "crush"},
        "redundancy": {"replicas": 3},
        "faults": [{"at": "0 s", "fail": {"servers": 1}}],
        "recovery": {"pipeline_buffer": "16 MiB"},
    }
    study["population"]["bytes_per_server"] = "4 GiB"
    return Study.from_dict({**study, **sections}).runs()[0]


def switched(topology: str, **traffic: Any) -> Run:
    """A run of clients and disks over switches, two links of which are gone."""
    fabric = {"model": "switched", "topology": topology, "link_rate": "1 Gb/s"}
    closed = {"outstanding": 64, "interval": "22 ms", "timeout": "500 ms", "duration": "400 ms"}
    study = {
        "cluster": {"device": {"service": "22 ms"}, "queue": "reads_first", "fabric": fabric},
        "traffic": closed | traffic,
        "faults": [{"at": "100 ms", "fail": {"links": 2}}],
    }
    return Study.from_dict(study).runs()[0]


def served(**traffic: Any) -> Run:
    """A run of copies that clients read and write while a server's are made anew."""
    clients = {"reads": 0.5, "request_size": "512 KiB", "duration": "4 s"}
    return demo(
        cluster={"servers": 16, "device": "jbod10-sata", "fabric": {"routers": 4}},
        population={"file_size": "8 MiB", "bytes_per_server": "512 MiB"},
        traffic=clients | traffic,
    )


def in_small(name: str, health: float) -> Run:
    """The hosts and pools that ship, in small; a disk goes or is slow."""
    folder = ROOT / "studies" / name
    study = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))
    del study["study"]["sweep"]
    for pool in study["pools"]:
        pool["population"]["bytes_per_server"] = "96 MiB"
        pool["traffic"] |= {"duration": "2 s", "outstanding": 20}
    fault: dict[str, Any] = {"at": "1 s", "part": {"host": ["host.0"]}}
    study["faults"] = [fault, {**fault, "part": {"osd": ["osd.40"]}, "until": "2 s"}]
    study["faults"][1] |= {"health": health, "told": False}
    return Study.from_dict(study, folder).runs()[0]


SYSTEMS: dict[str, Callable[[], Run]] = {
    "copies by straw2 over racks": lambda: demo(),
    "copies by straw, object by object": lambda: demo(
        placement={"algorithm": "crush", "bucket": "straw", "placement_groups": "none"}
    ),
    "copies by a ring, two servers one after the other": lambda: shipped(
        "second-failure", "cluster.servers=16", "population.bytes_per_server='8 GiB'",
        "faults.1.at='2 s'", "recovery.order='largest'",
    ),
    "a failure that servers detect by SWIM": lambda: shipped(
        "second-failure", "cluster.servers=16", "population.bytes_per_server='8 GiB'",
        "detection.protocol='swim'", "detection.loss=0.02",
    ),
    "a rebuild that managers drive, of which one fails": lambda: shipped(
        "second-failure", "cluster.servers=16", "population.bytes_per_server='8 GiB'",
        "recovery.driver='manager'", "recovery.managers=16",
    ),
    "copies by rendezvous": lambda: shipped(
        "layouts", "placement.algorithm='rendezvous'", "cluster.servers=32",
        "population.bytes_per_server='8 GiB'",
    ),
    "copies by copysets": lambda: shipped(
        "layouts", "placement.algorithm='copysets'", "cluster.servers=32",
        "population.bytes_per_server='8 GiB'",
    ),
    "a ring of virtual nodes": lambda: shipped(
        "rebuild-vring", "cluster.servers=64", "population.bytes_per_server='4 GiB'"
    ),
    "Reed-Solomon over LogGP": lambda: shipped(
        "coded-rebuild", "redundancy.code='rs 8+3'", "cluster.servers=16",
        "population.bytes_per_server='4 GiB'",
    ),
    "a locally repairable code": lambda: shipped(
        "coded-rebuild", "redundancy.code='lrc 8+5 local 4'", "cluster.servers=16",
        "population.bytes_per_server='4 GiB'",
    ),
    "lanes for streams of clients": lambda: shipped(
        "coded-rebuild-under-load", "redundancy.code='rs 8+3'", "lanes.clients=0.75",
        "traffic.streams={ window = 8 }", "cluster.servers=16",
        "population.bytes_per_server='1 GiB'", "traffic.warm_up='1 s'", "faults.0.at='1 s'",
    ),
    "a torus with clients": lambda: shipped(
        "rebuild-on-torus", "population.bytes_per_server='1 GiB'", "traffic.outstanding=16",
        "faults=[{ at = '1 s', fail = { servers = 1 } }, { at = '1 s', fail = { links = 8 } }]",
        "traffic.warm_up='1 s'",
    ),
    "leaves and spines, a switch gone": lambda: shipped(
        "rebuild-on-leaf-spine", "population.bytes_per_server='1 GiB'", "traffic.outstanding=16",
        "cluster.fabric.topology='leaf spine 4x3 hosts 12 routers 16'", "traffic.warm_up='1 s'",
        "faults=[{ at = '1 s', fail = { servers = 1 } },"
        " { at = '1 s', fail = { switches = ['switch.4'] } }]",
    ),
    "a fat tree": lambda: switched("fat tree 64,16,8 up 1,8 routers at 1"),
    "a hypercube, adaptive": lambda: switched("hypercube 6 routers 4", reads=0.5),
    "a burst buffer, a switch gone": lambda: shipped(
        "burst-buffer-switch-runs", "cluster.servers=48", "cluster.attachment='distributed'",
        "cluster.fabric.topology='leaf_spine 4x4 hosts 24 entries 12'",
        "traffic.warm_up='1 ms'", "traffic.duration='2 ms'",
        "faults=[{ at = '0 s', fail = { switches = ['switch.0'] } }]",
    ),
    "a burst buffer with rotten strips, lanes": lambda: shipped(
        "burst-buffer-sweep", "cluster.servers=48", "traffic.reads=0.0",
        "redundancy.code='lrc 8+5 local 4'", "cluster.attachment='local'",
        "cluster.fabric.topology='leaf_spine 4x4 hosts 24 entries 12'", "lanes.clients=0.75",
        "traffic.warm_up='1 ms'", "traffic.duration='2 ms'",
        "faults.0.corrupt.groups=[0]", "faults.0.corrupt.code='lrc 8+5 local 4'",
    ),
    "pools of hosts, a host gone and a slow disk": lambda: in_small("hosts-and-pools", 0.1),
    "clients by popularity that arrive": lambda: served(
        arrivals={"poisson": "60 /s"}, targets={"zipf": 0.99}
    ),
    "clients that stay away and come back in bursts": lambda: served(
        arrivals={"pareto": "60 /s", "shape": 1.5}
    ),
    "services that are drawn": lambda: demo(
        cluster={"servers": 12, "device": {"service": "5 ms", "distribution": "exponential"}},
        population={"file_size": "8 MiB", "bytes_per_server": "4 GiB"},
    ),
    "a server that comes back": lambda: demo(
        population={"file_size": "8 MiB", "bytes_per_server": "1 GiB"},
        faults=[
            {"at": "0 s", "fail": {"servers": ["server.3"]}, "until": "2 s"},
            {"at": "1 s", "fail": {"servers": ["server.9"]}},
        ],
    ),
    "clients as flows": lambda: demo(
        cluster={"servers": 16, "device": "jbod10-sata", "fabric": {"routers": 4}},
        population={"file_size": "8 MiB", "bytes_per_server": "512 MiB"},
        traffic={"outstanding": 32, "duration": "10 s", "engine": "flows"},
        faults=[],
    ),
    "two jobs over RAID sets with slow disks, as flows": lambda: shipped(
        "center-two-jobs", "traffic.engine='flows'", "population.files=80",
        "faults=[{ part = { drives = ['drive.3', 'drive.13'] }, health = 0.8 }]",
    ),
    "a disk of mixed requests": lambda: shipped(
        "center-mixed", "traffic.engine='events'", "traffic.warm_up='1 s'",
        "traffic.duration='10 s'",
    ),
}  # fmt: skip
"""Systems by what they are about."""


def real_study(shared_data: Path) -> Prepared:
    """Two OSDs of a real cluster fail, one after the other, as a study says it."""
    study = {
        "cluster": {"ceph": str(shared_data / REAL)},
        "faults": [
            {"at": "0 s", "fail": {"osds": ["osd.12"]}},
            {"at": "60 s", "fail": {"osds": ["osd.40"]}},
        ],
    }
    run = Study.from_dict(study).runs()[0]
    return made_ready(run.system, run.seed)


BY_EVENTS = Request(events=True, horizon="20 min", load=("vms: 500 reads/s of 16 KiB",))
WITH_CLIENTS = Request(load=("vms: 2000 reads/s of 16 KiB, 900 writes/s of 4 KiB",))

CLUSTERS: dict[str, Callable[[], Prepared]] = {
    "an OSD fails": lambda: prepared(fail="osd.3"),
    "an OSD drains and another fails, with clients": lambda: prepared(
        None, WITH_CLIENTS, drain="osd.5", fail="osd.13 @ 2 h"
    ),
    "by events": lambda: prepared(None, BY_EVENTS, fail="osd.3"),
}
"""Changes of a small made-up Ceph cluster by what they are about."""


def real_cluster(shared_data: Path) -> Prepared:
    """A host of a real cluster fails while clients read and write."""
    report = read_report(shared_data / REAL)
    return prepared(report, Request(), fail="osd.12")


def asked(name: str) -> CoreRequest:
    if name in CLUSTERS:
        return cluster_request(CLUSTERS[name]())
    run = SYSTEMS[name]()
    return system_request(run.system, run.seed)
