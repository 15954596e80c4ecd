"""Every device and network that ships does in a run what its maker says it does."""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver import Cluster, catalog
from resilver.units import BytesPerSecond, Seconds
from tests.integration.study_runs import study_rows

STUDY = """
[cluster]
servers = 1
device = {device}
fabric = {{ table = "{network}", routers = 1 }}
[traffic]
outstanding = 16
reads = 1.0
request_size = "4 KiB"
duration = "{duration}"
[study.sweep]
{sweep}
"""
DEVICES = [name for name in catalog.list("devices") if catalog.load("devices", name).data_sheet]
DISKS = [name for name in DEVICES if name.startswith("hdd-")]
SAME = {"hdd-7k2-2tb", "hdd-7k2-4tb"}
"""Disks of which one manual says what it says of the disk of 1 TB, too."""
FLASH = [name for name in DEVICES if name not in DISKS]
NETWORKS = [name for name in catalog.list("networks") if catalog.load("networks", name).data_sheet]


def stated(name: str) -> dict[str, Any]:
    """What the maker states: bytes a second in sequence, and random requests of 4 KiB a second."""
    sheet = catalog.load("devices", name).data_sheet
    if sheet["class"] != "hdd":
        return {
            "read": float(BytesPerSecond.parse(sheet["read_rate"])),
            "write": float(BytesPerSecond.parse(sheet["write_rate"])),
            "read_iops": sheet["read_iops"],
            "write_iops": sheet["write_iops"],
        }
    rates = [float(BytesPerSecond.parse(sheet[f"{side}_rate"])) for side in ("outer", "inner")]
    latency = float(Seconds.parse(sheet["rotational_latency"]))
    seeks = {way: float(Seconds.parse(sheet[f"{way}_seek"])) for way in ("read", "write")}
    mean = sum(rates) / 2
    return {
        "read": mean,
        "write": mean,
        **{f"{way}_iops": 1 / (seek + latency) for way, seek in seeks.items()},
    }


def measured(
    names: list[str], large: int, duration: str, folder: Path
) -> dict[tuple[str, int], float]:
    """Bytes a second that one device gives 16 readers of random requests, small and large."""
    sizes = json.dumps(["4 KiB", f"{large} B"])
    sweep = f'"cluster.device" = {json.dumps(names)}\n"traffic.request_size" = {sizes}\n'
    text = STUDY.format(
        device=json.dumps(names[0]), network="ndr-infiniband", duration=duration, sweep=sweep
    )
    return {
        (row["cluster.device"], row["traffic.request_size"]): row["throughput_bytes_per_second"]
        for row in study_rows(folder, text)
    }


@pytest.mark.parametrize(
    ("names", "large", "duration"),
    [(sorted({*DISKS} - SAME), 64 * 2**20, "60 s"), (FLASH, 4 * 2**20, "0.5 s")],
)
def test_devices_read_as_their_makers_say(
    names: list[str], large: int, duration: str, tmp_path: Path
) -> None:
    # Random reads within 3 %: 80 requests a second over 60 s are counted to one in 4,800, and the
    # transfer of 4 KiB is left out of 1 / (seek + latency). Large ones within 5 %: each of a disk's
    # begins with a seek, 12.66 ms of 533 ms at most, and of 60 or more one may be cut off.
    found = measured(names, large, duration, tmp_path)
    for name in names:
        said = stated(name)
        assert found[name, 4096] / 4096 == pytest.approx(said["read_iops"], rel=0.03), name
        assert found[name, large] == pytest.approx(said["read"], rel=0.05), name


@pytest.mark.parametrize("name", DEVICES)
def test_the_tables_are_what_the_data_sheets_say(name: str) -> None:
    device, said = Cluster(servers=1, device=name).device, stated(name)
    for way in ("read", "write"):
        rate = float(getattr(device, f"{way}_rate"))
        seek = float(getattr(device, f"{way}_seek")[0])
        assert float(getattr(device, f"{way}_overhead")) == 0
        assert rate == pytest.approx(said[way], rel=0.001)
        assert 1 / (seek + 4096 / rate) == pytest.approx(said[f"{way}_iops"], rel=0.005)
        # A queue that the drive may reorder is faster than requests one by one.
        queued = catalog.load("devices", name).data_sheet.get(f"queued_{way}_iops")
        assert queued is None or 1 / seek < queued


def test_networks_carry_what_is_left_of_their_rate(tmp_path: Path) -> None:
    # One port sends 4 MiB messages back to back, so it carries 1 / G, G being derived from the
    # link's rate and the share of payload. Over 20 ms the last of 16 messages under way may be
    # counted or not: at 10 Gb/s one is 3.6 ms, so 1 s is measured, and 2 % allowed.
    sweep = f'"cluster.fabric.table" = {json.dumps(NETWORKS)}\n'
    text = STUDY.format(device='{ service = "0 s" }', network="10gbe", duration="1 s", sweep=sweep)
    rows = study_rows(tmp_path, text.replace('"4 KiB"', '"4 MiB"'))
    assert [row["cluster.fabric.table"] for row in rows] == NETWORKS
    for row in rows:
        sheet = catalog.load("networks", row["cluster.fabric.table"]).data_sheet
        link = float(BytesPerSecond.parse(sheet["link_rate"]))
        carried = row["throughput_bytes_per_second"]
        assert carried == pytest.approx(link * sheet["payload_share"], rel=0.02)
