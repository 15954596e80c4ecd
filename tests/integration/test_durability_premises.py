"""What `resilver durability` takes for granted is what people mean by its options, and is shown."""

import functools
import itertools
import json
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import environment
from tests.terminal import command, json_output, refusal, written

YEAR_DAYS = 365.25
STUDY = """
[cluster]
servers = 12
[population]
file_size = "64 MiB"
bytes_per_server = "64 GiB"
[placement]
placement_groups = 64
"""

found = functools.partial(json_output, "durability")


def premises(answer: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {row["name"]: row for row in answer["premises"]}


def test_serial_is_one_rebuild_at_a_time_in_each_set() -> None:
    """2,016 RAID 6 sets of 8+2, AFR 3 %, a day a rebuild: twice the chance of parallel repairs."""
    words = ("rs 8+2", "--groups", 2016, "--afr", "3%", "--repair", "24 h")
    serial, parallel = found(*words, "--serial"), found(*words)["loss_probability"]["value"]
    assert serial["loss_probability"]["method"] == "exact"
    assert serial["loss_probability"]["value"] == pytest.approx(2 * parallel, rel=0.02)
    assert "one at a time in each set" in premises(serial)["repair"]["value"]


def test_crews_are_shared_by_all_sets() -> None:
    """Two mirrors and one crew are a chain of three states before the loss.

    One lost device: either its partner fails, which loses data, or one of the other mirror, or it
    is repaired. One of each lost: two partners may fail; one of the two is being repaired.
    """
    rate, repair, step = -math.log1p(-0.5) / YEAR_DAYS, 1 / 20, 0.02
    none, one, two, lost = 1.0, 0.0, 0.0, 0.0
    for _ in range(round(YEAR_DAYS / step)):
        into_one, into_two = 4 * rate * none, 2 * rate * one
        into_lost = rate * one + 2 * rate * two
        none, one, two, lost = (
            none + step * (repair * one - into_one),
            one + step * (into_one - into_two - rate * one - repair * one + repair * two),
            two + step * (into_two - 2 * rate * two - repair * two),
            lost + step * into_lost,
        )
    words = ("copies 2", "--groups", 2, "--afr", "50%", "--repair", "20 d", "--crews", 1)
    loss = found(*words, "--relative-error", "1%")["loss_probability"]
    assert loss["method"] == "simulated"
    assert abs(loss["value"] - lost) < 4 * loss["relative_error"] * lost
    assert "crews = 1" in refusal("durability", *words, "--serial")


def test_what_is_stored_needs_devices_or_groups() -> None:
    words = ("rs 8+3", "--afr", "1.36%", "--repair", "10 h", "--stored", "10 PB")
    refused = refusal("durability", *words)
    assert refused.startswith('error: stored = "10 PB"')
    assert "device" in refused and "groups" in refused
    # 10 PB on 8 x 8 data devices are 156.25 TB each; the catalog's largest disk holds 20 TB.
    held = premises(found(*words, "--groups", 8))["a device holds"]
    assert held["value"] == "156.2 TB" and held["source"].startswith("7.8 x the largest disk")
    # 10 PB / (8 x 20 TB) = 62.5 groups.
    assert found(*words, "--device", "20 TB")["groups"] == 63
    # No bytes are printed where no volume was stated.
    answer, printed = found(*words[:-2]), command("durability", *words[:-2]).stdout
    assert answer["user_bytes"] is None and answer["expected_lost_bytes"] is None
    assert "stored" not in printed and "bytes lost" not in printed
    assert "fill 63 groups" in refusal("durability", *words, "--device", "20 TB", "--groups", 8)


def test_the_time_of_repairs_that_follows_from_rates_is_shown(tmp_path: Path) -> None:
    """Two servers that mirror 2 x 64 GiB: what one lost is read of the other, and written there.

    2 x 128 GiB by 50 MiB/s for reads and writes together are 5,243 s.
    """
    path = tmp_path / "study.toml"
    text = STUDY.replace("servers = 12", "servers = 2") + "[redundancy]\nreplicas = 2\n"
    path.write_text(text)
    words = (path, "--afr", "20%", "--repair", "50 MiB/s", "--method", "plain")
    answer = found(*words, "--trajectories", 100, code=None)
    assert premises(answer)["repair of one device"]["value"] == "1 h 27 min"


def test_hosts_of_a_cluster_fail_too_unless_they_never_do(report: Path) -> None:
    """A host is lost in 91,250 h with the catalog, and then most losses are of hosts."""
    words = (report, "--afr", "1.36%", "--repair", "10 h", "--relative-error", "40%")
    never, default = found(*words, "--hosts", "never", "--trajectories", 2000), found(*words)
    assert set(never["causes"]) == {"osd failures"}
    assert set(default["causes"]) == {"osd failures", "host failures"}
    assert default["loss_probability"]["low"] > 10 * never["loss_probability"]["high"]
    hosts = premises(default)["host failures"]
    assert hosts["origin"] == "catalog" and "SimEDC" in hosts["source"]
    assert 'hosts = "sometimes"' in refusal("durability", *words, "--hosts", "sometimes")


def test_a_cluster_of_empty_pools_says_so(empty_cluster: Path) -> None:
    assert "all pools are empty" in refusal(
        "durability", empty_cluster, "--afr", "1%", "--repair", "1 h"
    )


@pytest.fixture
def empty_cluster(tmp_path: Path, report: Path) -> Path:
    """The dumps of a real cluster with no byte in any pool."""
    text = report.read_text()
    document = json.loads(text)
    path = tmp_path / "empty.json"

    def emptied(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: 0 if key in ZERO else emptied(one) for key, one in value.items()}
        return [emptied(one) for one in value] if isinstance(value, list) else value

    path.write_text(json.dumps(emptied(document)))
    return path


ZERO = {"num_bytes", "num_objects", "num_object_copies", "bytes_used", "objects", "stored"}


def test_an_interrupted_simulation_promises_no_folder_that_is_gone(tmp_path: Path) -> None:
    path = written(tmp_path / "study.toml", STUDY.replace("64 GiB", "8 TiB"))
    words = [sys.executable, "-m", "resilver", "durability", str(path), "--afr", "1%"]
    begun = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment())
    time.sleep(6.0)
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130, said
    assert "--keep DIR" in said and "temporary folder" not in said


def test_objects_that_lie_in_too_many_sets_are_refused_at_once(tmp_path: Path) -> None:
    """16 million objects on 200 servers are in some 1.3 million sets of three."""
    path = tmp_path / "study.toml"
    path.write_text(
        '[cluster]\nservers = 200\n[population]\nfile_size = "1 MiB"\nfiles = 16_000_000\n'
        '[placement]\nplacement_groups = "none"\n'
    )
    begun = time.monotonic()
    assert "placement_groups" in refusal("durability", path, "--afr", "1%", "--repair", "1 h")
    assert time.monotonic() - begun < 30.0


def test_an_afr_is_a_share_whoever_states_it(report: Path) -> None:
    """1.36 failures of 100 drives in a year of 365 d are a share of 1.352 %."""
    words = ("what-if", report, "--fail", "osd.12", "--json")
    printed = [command(*words, *more).stdout for more in ((), ("--afr", "1.352 %"))]
    by_catalog = json.loads(printed[0])
    rows = {row["name"]: row for row in by_catalog["assumptions"]}
    (afr,) = (row for name, row in rows.items() if name.startswith("AFR"))
    share = -100 * math.expm1(-0.0136 * YEAR_DAYS / 365)
    assert afr["value"] == f"{share:.4g} %" == "1.352 %"
    chances = [float(re.findall(r'"loss_chance": ([^,}\n]+)', text)[0]) for text in printed]
    assert chances[0] == pytest.approx(chances[1], rel=1e-3)
    rows = premises(found("rs 8+3", "--drive", "backblaze-2025", "--repair", "10 h"))
    assert rows["device failures"]["value"] == "1.361 failures of 100 in a year (AFR 1.352 %)"


def test_a_fitted_afr_stands_beside_the_count_of_drive_reports(tmp_path: Path) -> None:
    """3 failures in 1,394 drive-years: Jeffreys' mean is 3.5 / 1,394, drive reports print 3."""
    lives = tmp_path / "lives.csv"
    rows = [
        f"d{number},2024-01-01T00:00,2024-12-31T06:00,{'yes' if number < 3 else 'no'}"
        for number in range(1394)
    ]
    lives.write_text("component,start,end,failed\n" + "\n".join(rows) + "\n")
    printed = " ".join(command("calibrate", "failures", lives).stdout.split())
    assert f"AFR (%), posterior mean {100 * -math.expm1(-3.5 / 1394):.4g}" in printed
    assert f"failures / years (%) {300 / 1394:.4g}" in printed
    assert "failures over years are 0.2152 %" in printed


def detection(answer: dict[str, Any]) -> tuple[str, str]:
    row = premises(answer)["detection"]
    return row["value"], row["origin"]


FAILING = ("--afr", "1.36%", "--relative-error", "10%", "--hosts", "never")


def test_repairs_of_a_cluster_begin_once_its_monitors_mark_an_osd_out(report: Path) -> None:
    """Jewel's grace of 20 s and its interval of 300 s; what is known at once is never less safe."""
    told, at_once, late = (
        found(report, *FAILING, "--repair", "20 min", "--trajectories", 4000, *more)
        for more in ((), ("--detection", "0 s"), ("--detection", "2 h"))
    )
    assert detection(told) == ("5 min 20 s", "dump")
    assert told["groups"] == 4096 and told["devices"] == 88
    ranges = [one["loss_probability"] for one in (at_once, told, late)]
    assert all(below["high"] < above["low"] for below, above in itertools.pairwise(ranges))
    # What heals in what-ifs is counted from when an OSD is out.
    told = found(report, *FAILING, "--bursts", "3")
    assert detection(told) == ("5 min 20 s", "dump")
    assert told["overhead"] == 3.0
    origins = {name: row["origin"] for name, row in premises(told).items()}
    assert (origins["repair"], origins["sets of devices"]) == ("simulated", "dump")
    hosts = [row for row in told["bursts"] if row["level"] == "host" and row["failures"] == 3]
    assert hosts[0]["loss_probability"] > 0.9
    # All three OSDs of any of 3,978 sets, of C(88, 3) triples: counted by hand.
    three = [row for row in told["bursts"] if row["level"] == "osd" and row["failures"] == 3]
    anywhere = next(row for row in three if row["within"] is None)
    assert anywhere["loss_probability"] == pytest.approx(3_978 / 109_736, rel=1e-12)
