"""Studies held to the capacity of their devices, and what `check` says of it and of durability."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import command

TIB = 2**40

CLUSTER = '[cluster]\nservers = 100\ndevice = "hdd-7k2-20tb"\n'
REST = """
[population]
bytes_per_server = "{stored}"
file_size = "64 GiB"
[placement]
placement_groups = 4096
[redundancy]
{redundancy}
[[faults]]
fail = {{ servers = 1 }}
"""


def checked(folder: Path, text: str, *words: str) -> Any:
    (folder / "study.toml").write_text(text)
    return command("check", "study.toml", *words, cwd=folder)


def study(stored: str, redundancy: str, cluster: str = CLUSTER) -> str:
    return cluster + REST.format(stored=stored, redundancy=redundancy)


def test_more_than_a_device_holds_is_refused_with_the_most_that_fits(tmp_path: Path) -> None:
    """200 TiB under rs 8+2 are 250 TiB on each drive of 20 TB, which holds 18.2 TiB."""
    for words in (("check",), ("run",)):
        (tmp_path / "study.toml").write_text(study("200 TiB", 'code = "rs 8+2"'))
        done = command(*words, "study.toml", cwd=tmp_path)
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        # 20 TB x 8 / 10 = 16 TB of user data, in whole GiB.
        assert 16 * 10**12 // 2**30 == 14901
        for part in (
            'population.bytes_per_server = "200 TiB"',
            "under rs 8+2 each server stores 250.0 TiB, and a hdd-7k2-20tb holds 18.2 TiB",
            "use at most 14901 GiB",
            "cluster.capacity states what one holds",
        ):
            assert part in said


@pytest.mark.parametrize(
    ("redundancy", "user"),
    [('code = "rs 8+2"', 16 * 10**12), ("replicas = 2", 10**13), ('code = "copies 1"', 2 * 10**13)],
)
def test_the_last_byte_that_fits_is_accepted_and_one_more_is_not(
    tmp_path: Path, redundancy: str, user: int
) -> None:
    assert checked(tmp_path, study(f"{user} B", redundancy)).returncode == 0
    done = checked(tmp_path, study(f"{user + 1} B", redundancy))
    assert done.returncode == 2 and "holds 20000000000000 B" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("redundancy", "times"),
    [
        ("replicas = 3", Fraction(3)),
        ('code = "rs 8+2"', Fraction(10, 8)),
        ('code = "lrc 12+2+2"', Fraction(16, 12)),
        ('code = "rs 2+1 over rs 4+1"', Fraction(15, 8)),
    ],
)
def test_check_shows_raw_bytes_a_device_and_what_one_holds(
    tmp_path: Path, redundancy: str, times: Fraction
) -> None:
    text = study("6 TiB", redundancy)
    (point,) = json.loads(checked(tmp_path, text, "--json").stdout)["estimate"]
    # All devices hold alike, so one stores what its server counts, with redundancy.
    assert point["raw_bytes_a_device"] == round(6 * TIB * times)
    assert point["capacity_bytes"] == 20 * 10**12
    said = " ".join(checked(tmp_path, text).stdout.split())
    assert f"Raw data per device {float(6 * times):.1f} TiB with redundancy" in said
    assert "Capacity of a device 20 TB" in said


def test_a_study_states_what_its_devices_hold(tmp_path: Path) -> None:
    """`cluster.capacity` goes before a data sheet, and is all where no data sheet states one."""
    larger = CLUSTER + 'capacity = "300 TB"\n'
    assert checked(tmp_path, study("200 TiB", 'code = "rs 8+2"', larger)).returncode == 0
    volume = CLUSTER.replace("hdd-7k2-20tb", "jbod10-sata")
    unknown = checked(tmp_path, study("200 TiB", "replicas = 3", volume))
    assert unknown.returncode == 0
    said = " ".join(unknown.stdout.split())
    assert "set cluster.capacity for a limit" in said and "Capacity of a device" not in said
    small = study("200 TiB", "replicas = 3", volume + 'capacity = "80 TB"\n')
    done = checked(tmp_path, small)
    assert done.returncode == 2
    assert "stores 600.0 TiB, and a jbod10-sata holds 72.8 TiB" in " ".join(done.stderr.split())
    nothing = checked(tmp_path, study("1 TiB", "replicas = 3", volume + 'capacity = "0 B"\n'))
    assert nothing.returncode == 2 and "cluster.capacity" in nothing.stderr
    table = 'device = { service = "5 ms", capacity = "1 TB" }'
    own = checked(tmp_path, study("1 TiB", "replicas = 1", f"[cluster]\nservers = 9\n{table}\n"))
    assert own.returncode == 2 and "holds 931.3 GiB" in " ".join(own.stderr.split())


def test_pools_of_a_device_are_added_up_and_classes_told_apart(tmp_path: Path) -> None:
    text = """
[[cluster.parts]]
level = "host"
count = 10
[[cluster.parts]]
level = "osd"
in = "host"
count = 2
class = "hdd"
device = "hdd-7k2-4tb"
[[cluster.parts]]
level = "osd"
in = "host"
count = 2
class = "ssd"
device = "ssd-sata"
[[pools]]
name = "first"
population = { bytes = "12 TB", file_size = "64 MiB" }
placement = { class = "hdd", placement_groups = 256 }
redundancy = { replicas = 3 }
[[pools]]
name = "second"
population = { files = FILES, file_size = "1 GB" }
placement = { class = "hdd", placement_groups = 256 }
redundancy = { code = "rs 4+1" }
[[pools]]
name = "flash"
population = { bytes = "400 TB", file_size = "64 MiB" }
placement = { class = "ssd", placement_groups = 256 }
redundancy = { replicas = 3 }
[[faults]]
fail = { hosts = 1 }
"""
    # 20 disks: 12 TB x 3 / 20 = 1.8 TB of one pool, and 35,200 files x 1.25 GB / 20 = 2.2 TB.
    fits = checked(tmp_path, text.replace("FILES", "35200"), "--json")
    assert fits.returncode == 0, fits.stderr
    (point,) = json.loads(fits.stdout)["estimate"]
    assert (point["raw_bytes_a_device"], point["capacity_bytes"]) == (4 * 10**12, 4 * 10**12)
    done = checked(tmp_path, text.replace("FILES", "35201"))
    assert done.returncode == 2
    # What stores most there is named: 35,201 x 1.25 GB against 36 TB.
    assert "pools.1.population.files = 35201: under rs 4+1 each osd stores" in done.stderr


def test_check_refuses_what_durability_refuses_before_its_work(tmp_path: Path) -> None:
    text = """
[cluster]
servers = 512
[population]
bytes_per_server = "4 TiB"
file_size = "64 MiB"
[placement]
algorithm = "groups"
group_size = 16
[redundancy]
code = "rs 8+2"
[durability]
repair = "10 h"
failures = [{ afr = "1 %" }]
"""
    refused = checked(tmp_path, text)
    asked = command("durability", "study.toml", cwd=tmp_path)
    # 32 groups of C(16, 10) sets each are 256,256, more than 40,000.
    assert (refused.returncode, asked.returncode) == (2, 2)
    assert refused.stderr == asked.stderr
    assert "place by groups (placement_groups = 4096)" in refused.stderr
    assert checked(tmp_path, text, "--set", "redundancy.code=rs 14+2").returncode == 0
    grouped = text.replace('"groups"\ngroup_size = 16', '"crush"\nplacement_groups = 4096')
    weibull = grouped.replace('afr = "1 %"', 'weibull = { scale = "80 y", shape = 1.2 }')
    for wrong, says in (
        (weibull + 'method = "exact"\n', "a chain's devices fail at a constant rate"),
        (grouped + 'method = "exact"\nreturns = "groups"\n', 'say returns = "devices"'),
    ):
        refused = checked(tmp_path, wrong)
        assert refused.returncode == 2 and says in " ".join(refused.stderr.split())
        assert command("durability", "study.toml", cwd=tmp_path).stderr == refused.stderr


def test_every_shipped_study_fits_its_devices(root: Path) -> None:
    """Where a study names a disk of the catalog, its population is held to the disk's capacity."""
    from resilver.spec import Study
    from resilver.spec.capacity import stored_of

    held = {}
    for path in sorted((root / "studies").glob("*/study.toml")):
        for system in {id(run.system): run.system for run in Study.load(path).runs()}.values():
            for stored in stored_of(system) if system.report is None else ():
                if stored.share is not None:
                    held[path.parent.name] = max(stored.share, held.get(path.parent.name, 0.0))
    assert {"center-enclosures", "center-mixed", "durability-layouts"} <= held.keys()
    assert max(held.values()) <= 1.0
