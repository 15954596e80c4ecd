"""Results of clients' traffic over a small square torus, alone and beside a rebuild."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from resilver.columns import TABLE_NAMES
from resilver.spec import Study
from resilver.study import execute
from tests.browser.report_fixture import MemoryResults

STORED = {
    "population": {"file_size": "8 MiB", "bytes_per_server": "256 MiB"},
    "placement": {"algorithm": "crush"},
    "redundancy": {"replicas": 3},
}


def traffic_results(
    side: int = 8,
    routers: int = 4,
    seeds: int = 3,
    loads: tuple[int, ...] = (100,),
    faults: tuple[str, ...] = ("none",),
    warm_up: str = "44 ms",
    **sections: Any,
) -> MemoryResults:
    """A study of one torus of `side` times `side` nodes, as the core simulates it.

    Args:
        side: Nodes a side, at least 3.
        routers: How many of them are routers.
        seeds: Seeds of each system.
        loads: The swept numbers of requests outstanding; one alone is not swept.
        faults: The swept faults in words ("none", "2 disks" or "2 links"); one alone is not swept.
        warm_up: How long clients run before statistics begin.
        sections: Other sections of the study file.
    """
    sweep: dict[str, list[Any]] = {}
    if len(loads) > 1:
        sweep["traffic.outstanding"] = list(loads)
    if len(faults) > 1:
        sweep["faults"] = [_faults(fault) for fault in faults]
    study = {
        "cluster": {
            "servers": side * side - routers,
            "device": "cheetah-15k",
            "fabric": {
                "model": "switched", "topology": f"torus {side}x{side} routers {routers}",
                "link_rate": "1 Gb/s", "packet_size": "64 KiB", "routing": "adaptive",
            },
        },
        "traffic": {
            "outstanding": loads[0], "interval": "22 ms", "reads": 0.5,
            "request_size": "512 KiB", "timeout": "0.4 s", "warm_up": warm_up,
            "duration": "1 s",
        },
        "faults": _faults(faults[0]),
        "study": {"seeds": seeds, "sweep": sweep},
        **sections,
    }  # fmt: skip
    tables = _tables(Study.from_dict(study).to_toml())
    provenance = {"resilver_version": "0.1.0", "schema_version": 3, "command": ["resilver", "run"]}
    return MemoryResults(**tables, study=deepcopy(study), provenance=provenance)


@cache
def _tables(study: str) -> dict[str, Any]:
    """The tables of a study, each of which is simulated once for all tests of a process."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(study, encoding="utf-8")
        done = execute(Study.load(path), Path(folder) / "runs", workers=0)
        return {name: getattr(done, name) for name in TABLE_NAMES}


def _faults(words: str) -> list[dict[str, Any]]:
    """Faults as a study file has them, of words such as "2 disks" or "1 servers, 2 links"."""
    if words == "none":
        return []
    pairs = [fault.split() for fault in words.split(", ")]
    return [{"at": "0.5 s", "fail": {kind: int(count)}} for count, kind in pairs]


def beside_rebuild(faults: str = "1 servers") -> MemoryResults:
    """A study of 60 servers that rebuild one of them while clients go on."""
    return traffic_results(seeds=2, faults=(faults,), **STORED)
