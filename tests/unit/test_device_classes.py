"""A device for each class, and the ports of servers: which OSD, part or host gets which."""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.core_input import endpoints, machine_endpoints, ports_of
from resilver.spec import Study
from resilver.spec.attachment import Attachment, attachment_problems
from tests.build import system_of
from tests.unit.small_reports import ONE, flat, pool, rule

SUM = {"num_bytes": 1 << 30, "num_objects": 256}


def report(
    classes: list[str | None],
    sizes_tib: list[float] | None = None,
    kb: dict[int, int] | None = None,
) -> dict[str, Any]:
    """What `ceph report` would say of one OSD a host, of these classes and CRUSH weights."""
    count = len(classes)
    weights = [round(ONE * size) for size in sizes_tib or [1.0] * count]
    crush = flat(weights, [rule(0, "choose_firstn", "osd")])
    for device, name in zip(crush["devices"], classes, strict=True):
        device |= {"class": name} if name else {}
    return {
        "crushmap": crush,
        "osdmap": {
            "osds": [{"osd": number, "up": 1, "in": 1, "weight": 1.0} for number in range(count)],
            "pools": [pool(1, 16, 16, 2, 0)],
        },
        "pgmap": {
            "pg_stats": [],
            "pool_stats": [{"poolid": 1, "stat_sum": SUM}],
            "osd_stats": [{"osd": osd, "kb": size} for osd, size in (kb or {}).items()],
        },
    }


def test_parts_take_the_device_of_their_class() -> None:
    kinds = system_of("classes").cluster.device_kinds
    assert [kind.device.content()["read_service"] for kind in kinds] == [0.01, 0.0001]


def chosen(tmp_path: Path, *what: Any) -> Study:
    """A study of a report that says nothing of devices."""
    (tmp_path / "report.json").write_text(json.dumps(report(*what)))
    return Study.from_dict({"cluster": {"ceph": "report.json"}, "faults": []}, tmp_path)


def labels(study: Study) -> list[str]:
    """The device of each OSD, by name."""
    cluster = study.runs()[0].system.cluster
    kinds = [kind.device.label for kind in cluster.device_kinds]
    return [kinds[kind] for kind in cluster.device.of_osd]


def test_an_osd_s_device_is_of_its_class_and_the_nearest_size(tmp_path: Path) -> None:
    # 1 TiB is 1.0995 TB. By ratio 2.7 TB is nearer to 2 TB and 2.9 TB to 4 TB: sqrt(8) is 2.83.
    sizes = [0.9, 2.7 / 1.0995, 2.9 / 1.0995, 7.28, 14.55, 18.19, 3.5, 1.7]
    classes: list[str | None] = ["hdd"] * 6 + ["ssd", "nvme"]
    expected = ["hdd-7k2-1tb", "hdd-7k2-2tb", "hdd-7k2-4tb", "hdd-7k2-8tb"]
    expected += ["hdd-7k2-16tb", "hdd-7k2-20tb", "ssd-sata", "nvme-read-intensive"]
    assert labels(chosen(tmp_path, classes, sizes)) == expected
    # 15,623,782,400 KiB are 16.0 TB; its weight says 1 TiB. An OSD of no weight has no size.
    study = chosen(tmp_path, ["hdd", "hdd"], [1.0, 0.0], {0: 15_623_782_400})
    assert labels(study) == ["hdd-7k2-16tb", "hdd-7k2-8tb"]


def test_ports_are_hosts_of_neighbouring_leaves() -> None:
    # Leaves 0 and 1 hold hosts 0, 1 and 2, 3: server 0 has slot 0 of both, server 1 slot 1.
    system = system_of("ported")
    assert ports_of(system) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert endpoints(system) == [0, 1, 4, 5]
    assert machine_endpoints(system, endpoints(system)) == 8
    # On LogGP, server s has endpoints 2s and 2s + 1, and the routers follow the last.
    system = system_of("ported", cluster__fabric={"routers": 3})
    assert ports_of(system) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert machine_endpoints(system, endpoints(system)) == 8
    # Server s is host s; nothing is said of ports in the system's content, whose hash is a
    # key.
    system = system_of("ported", cluster__ports=None)
    assert ports_of(system) == []
    assert endpoints(system) == [0, 1, 2, 3]
    assert machine_endpoints(system, endpoints(system)) == 4
    assert {"ports", "attachment"}.isdisjoint(system.resolved()["cluster"])
    assert system_of("ported").resolved()["cluster"]["ports"] == 2


@pytest.mark.parametrize(
    ("attachment", "servers", "says"),
    [
        # 6 servers a group over 4 sets.
        (Attachment("distributed", 8, 3, 2, 6), 12, "6 servers does not divide over 4 sets"),
        # 12 places, of which 8 are taken.
        (Attachment("distributed", 8, 3, 2, 4), 8, "do not fill the 12 places"),
        # 12 servers in groups of 8: one and a half.
        (Attachment("distributed", 8, 3, 2, 8), 12, "12 servers in groups of 8"),
    ],
)
def test_groups_that_cannot_be_dealt_say_why(
    attachment: Attachment, servers: int, says: str
) -> None:
    (problem,) = attachment_problems(attachment, servers)
    assert says in problem.rule
    assert problem.remedy.startswith("use ")
