"""Studies held to the capacity of their devices, and what `check` says of it and of durability.

The refusals themselves are rows of `tests/cases/refused/devices.toml`.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from resilver.spec import Study
from resilver.spec.capacity import stored_of
from resilver.spec.toml import write_toml
from tests.build import changed
from tests.terminal import Terminal, written

TIB = 2**40


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("copies 3", Fraction(3)),
        ("rs 8+2", Fraction(10, 8)),
        ("lrc 12+2+2", Fraction(16, 12)),
        ("rs 2+1 over rs 4+1", Fraction(15, 8)),
    ],
)
def test_check_shows_raw_bytes_a_device_and_what_one_holds(
    tmp_path: Path, code: str, times: Fraction, terminal: Terminal
) -> None:
    study = changed("filled", redundancy__code=code, population__bytes_per_server="6 TiB")
    path = written(tmp_path / "study.toml", write_toml(study))
    (point,) = terminal.json_output("check", path)["estimate"]
    # All devices hold alike, so one stores what its server counts, with redundancy.
    assert point["raw_bytes_a_device"] == round(6 * TIB * times)
    assert point["capacity_bytes"] == 20 * 10**12
    said = " ".join(terminal.output("check", path).split())
    assert f"Raw data per device {float(6 * times):.1f} TiB with redundancy" in said
    assert "Capacity of a device 20 TB" in said
    volume = terminal.output("check", path, "--set", "cluster.device=jbod10-sata")
    assert "set cluster.capacity for a limit" in " ".join(volume.split())
    assert "Capacity of a device" not in volume


def test_pools_of_a_device_are_added_up_and_classes_told_apart(
    tmp_path: Path, terminal: Terminal
) -> None:
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
    fits = written(tmp_path / "fits.toml", text.replace("FILES", "35200"))
    (point,) = terminal.json_output("check", fits)["estimate"]
    assert (point["raw_bytes_a_device"], point["capacity_bytes"]) == (4 * 10**12, 4 * 10**12)
    more = written(tmp_path / "more.toml", text.replace("FILES", "35201"))
    # What stores most there is named: 35,201 x 1.25 GB against 36 TB.
    said = "pools.1.population.files = 35201: under rs 4+1 each osd stores"
    assert said in terminal.refusal("check", more)


def test_check_refuses_what_durability_refuses_before_its_work(
    tmp_path: Path, terminal: Terminal
) -> None:
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
    grouped = text.replace('"groups"\ngroup_size = 16', '"crush"\nplacement_groups = 4096')
    weibull = grouped.replace('afr = "1 %"', 'weibull = { scale = "80 y", shape = 1.2 }')
    for wrong, says in (
        # 32 groups of C(16, 10) sets each are 256,256, more than 40,000.
        (text, "place by groups (placement_groups = 4096)"),
        (weibull + 'method = "exact"\n', "a chain's devices fail at a constant rate"),
        (grouped + 'method = "exact"\nreturns = "groups"\n', 'say returns = "devices"'),
    ):
        path = written(tmp_path / "study.toml", wrong)
        said = terminal.refusal("check", path)
        assert says in said and terminal.refusal("durability", path) == said
    path = written(tmp_path / "study.toml", text)
    assert terminal.output("check", path, "--set", "redundancy.code=rs 14+2")


def test_every_shipped_study_fits_its_devices(root: Path) -> None:
    """Where a study names a disk of the catalog, its population is held to the disk's capacity."""
    held = {}
    for path in sorted((root / "studies").glob("*/study.toml")):
        for system in {id(run.system): run.system for run in Study.load(path).runs()}.values():
            for stored in stored_of(system) if system.report is None else ():
                if stored.share is not None:
                    held[path.parent.name] = max(stored.share, held.get(path.parent.name, 0.0))
    assert {"center-enclosures", "center-mixed", "durability-layouts"} <= held.keys()
    assert max(held.values()) <= 1.0
