"""A device for each class: which OSD or part gets which, and what is refused."""

import json
from pathlib import Path
from typing import Any

from resilver.spec import Study
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
