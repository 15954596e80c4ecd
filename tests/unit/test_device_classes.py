"""A device for each class: which OSD or part gets which, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Study

SUM = {"num_bytes": 1 << 30, "num_objects": 256}
DISK, FLASH = {"service": "10 ms"}, {"service": "0.1 ms"}


def report(classes: list[str | None]) -> dict[str, Any]:
    """What `ceph report` would say of one OSD a host, of these classes."""
    count = len(classes)
    osds: list[dict[str, Any]] = [
        {"id": number, "name": f"osd.{number}"} | ({"class": name} if name else {})
        for number, name in enumerate(classes)
    ]
    items = [{"id": number, "weight": 65536, "pos": number} for number in range(count)]
    root = {"id": -1, "name": "default", "type_id": 1, "type_name": "root", "weight": 65536 * count}
    rule = {
        "rule_id": 0,
        "rule_name": "all",
        "ruleset": 0,
        "type": 1,
        "min_size": 1,
        "max_size": 10,
        "steps": [
            {"op": "take", "item": -1, "item_name": "default"},
            {"op": "choose_firstn", "num": 0, "type": "osd"},
            {"op": "emit"},
        ],
    }
    return {
        "crushmap": {
            "devices": osds,
            "types": [{"type_id": 0, "name": "osd"}, {"type_id": 1, "name": "root"}],
            "buckets": [{**root, "alg": "straw2", "hash": "rjenkins1", "items": items}],
            "rules": [rule],
            "tunables": {},
        },
        "osdmap": {
            "osds": [{"osd": number, "up": 1, "in": 1, "weight": 1.0} for number in range(count)],
            "pools": [
                {
                    "pool": 1,
                    "pool_name": "data",
                    "type": 1,
                    "size": 2,
                    "pg_num": 16,
                    "pg_placement_num": 16,
                    "crush_rule": 0,
                    "object_hash": 2,
                    "flags": 1,
                }
            ],
        },
        "pgmap": {"pg_stats": [], "pool_stats": [{"poolid": 1, "stat_sum": SUM}]},
    }


def real(tmp_path: Path, classes: list[str | None], device: Any) -> Study:
    (tmp_path / "report.json").write_text(json.dumps(report(classes)))
    table = {"cluster": {"ceph": "report.json", "device": device}, "faults": []}
    return Study.from_dict(table, tmp_path)


def test_each_osd_of_a_real_cluster_has_its_class_s_device(tmp_path: Path) -> None:
    from resilver.core_input import core_json

    study = real(tmp_path, ["hdd", "ssd", "hdd", "ssd", "ssd"], {"ssd": FLASH, "hdd": DISK})
    described = json.loads(core_json(study.runs()[0].system, 1, []))["devices"]
    assert described["kind_of"] == [1, 0, 1, 0, 0]
    reads = [kind["service"]["fixed"]["read"] for kind in described["kinds"]]
    assert reads == [0.0001, 0.01]
    assert (
        Study.from_dict(
            {"cluster": {"ceph": "report.json", "device": {"ssd": FLASH, "hdd": DISK}}}, tmp_path
        )
        .runs()[0]
        .key
        == study.runs()[0].key
    )


@pytest.mark.parametrize(
    ("classes", "device", "says"),
    [
        (["hdd", "ssd"], {"hdd": DISK}, "cluster.device: devices of class ssd have no table; add"),
        (
            ["hdd", "ssd"],
            {"hdd": DISK, "ssd": FLASH, "nvme": FLASH},
            "cluster.device.nvme: no device has this class, and the classes are hdd, ssd",
        ),
        (["hdd", None], {"hdd": DISK}, "cluster.device: osd.1 has no class to choose a table by"),
        (
            [None],
            {"hdd": DISK},
            "cluster.device.hdd: no device has this class, and no device has a",
        ),
        (["hdd"], {"hdd": "jbod10-stata"}, 'cluster.device.hdd = "jbod10-stata": the catalog has'),
    ],
)
def test_classes_and_devices_must_match(
    classes: list[str | None], device: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        real(tmp_path, classes, device)
    found = [str(problem) for problem in caught.value.problems]
    assert any(problem.startswith(says) for problem in found), found


def test_parts_take_the_device_of_their_class_and_servers_have_none() -> None:
    rest = {"population": {"file_size": "4 MiB", "files": 10}}
    host = {"level": "host", "count": 3}
    of = [{"level": "osd", "in": "host", "count": 2, "class": name} for name in ("hdd", "ssd")]
    device = {"ssd": FLASH, "hdd": DISK}
    study = Study.from_dict({"cluster": {"parts": [host, *of], "device": device}, **rest})
    kinds = study.runs()[0].system.cluster.device_kinds
    assert [kind.device.content()["read_service"] for kind in kinds] == [0.01, 0.0001]
    with pytest.raises(ConfigError, match=r"cluster\.device: servers have no classes"):
        Study.from_dict({"cluster": {"servers": 8, "device": device}, **rest})
