"""What each assumption is worth, by the command: systems of one known bottleneck name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

import resilver
from resilver import ConfigError, Study
from resilver.counterfactuals import bottleneck
from resilver.study import Results
from tests.front_door import command

STUDY = """
[cluster]
servers = 8
device = {device}
fabric = {{ table = "100gbe" }}
[population]
file_size = "8 MiB"
files = 4000
[placement]
placement_groups = 128
[[faults]]
fail = {{ servers = ["server.3"] }}
[recovery]
pipeline_buffer = "4 MiB"
{recovery}
"""
THROTTLED = STUDY.format(device='"nvme-mixed-use"', recovery='bandwidth = "20 MB/s"')


@pytest.fixture(scope="module")
def throttled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("throttled")
    (folder / "study.toml").write_text(THROTTLED)
    done = command("run", "study.toml", "-o", "run", "--sensitivity", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_what_binds_changes_the_time_in_proportion(
    throttled: tuple[Path, dict[str, Any]],
) -> None:
    # At 20 MB/s a server nothing else is near its limit, so the time goes as 1 / bandwidth: twice
    # and half, within 1 % for the first and last buffers; data stored goes with it, as far as some
    # 30 objects a group are even: within 10 %.
    _, said = throttled
    effects = {one["assumption"]: one for one in said["sensitivity"]}
    throttle, data = effects["throttle"], effects["data stored"]
    assert throttle["low_change"] == pytest.approx(1.0, abs=0.01)
    assert throttle["high_change"] == pytest.approx(-0.5, abs=0.01)
    assert (throttle["low"], throttle["high"]) == ("10 MB/s", "40 MB/s")
    assert data["low_change"] == pytest.approx(-0.5, abs=0.1)
    for name in ("devices", "device seek", "network rate", "network latency", "memory"):
        assert abs(effects[name]["low_change"]) < 0.01 and abs(effects[name]["high_change"]) < 0.01
    assert {said["sensitivity"][0]["assumption"], said["sensitivity"][1]["assumption"]} == {
        "throttle",
        "data stored",
    }
    assert said["runs"][0]["rebuild_seconds"] == throttle["base_value"]


def test_it_is_kept_in_the_run_folder_and_stands_on_the_page(
    throttled: tuple[Path, dict[str, Any]],
) -> None:
    folder, said = throttled
    kept = Results.open(folder / "run").sensitivity
    assert [one.record() for one in kept] == said["sensitivity"]
    done = command("report", "run", "--figures", "figures", cwd=folder)
    assert done.returncode == 0 and (folder / "figures" / "sensitivity.png").stat().st_size > 0
    page = (folder / "run" / "report.html").read_text()
    assert (
        "The bottleneck: throttle (recovery.bandwidth). At 40 MB/s instead of 20 MB/s" in page
        and "table-sensitivity" in page
    )
    # Another study's folder has none, and one that was not asked for it says nothing of it.
    (folder / "plain.toml").write_text(THROTTLED)
    done = command("run", "plain.toml", "-o", "plain", cwd=folder)
    assert "bottleneck" not in done.stdout and Results.open(folder / "plain").sensitivity == []


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_table_fits_the_terminal(
    columns: int, throttled: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = throttled
    monkeypatch.setenv("COLUMNS", str(columns))
    done = command("run", "study.toml", "-o", "run", "--sensitivity", cwd=folder)
    table = done.stdout.partition("assumption")[2].partition("Cost")[0]
    assert "throttle" in table and "+100 %" in table
    assert max(map(len, table.splitlines())) <= columns


def test_a_slow_device_is_found_from_python(tmp_path: Path) -> None:
    # 1 s a request of any size: nothing but the device is waited for.
    study = Study.from_dict(
        {
            "cluster": {"servers": 8, "device": {"service": "1 s"}},
            "population": {"file_size": "4 MiB", "files": 100},
            "faults": [{"fail": {"servers": ["server.3"]}}],
        }
    )
    effects = resilver.sensitivity(study, factor=4.0, workers=0)
    devices = next(one for one in effects if one.assumption == "devices")
    relaxed = [made for one in effects if (made := one.counterfactual) is not None]
    named = bottleneck(relaxed)
    # What is stored is no part of the system, however much it counts.
    assert named is not None and named.relaxed == "devices"
    # At a quarter of the rate all takes four times as long, at four times a quarter.
    low, high = devices.changes
    assert low == pytest.approx(3.0, abs=0.01) and high == pytest.approx(-0.75, abs=0.01)
    with pytest.raises(ConfigError, match="a factor above 1"):
        resilver.sensitivity(study, factor=0.5)


def test_what_cannot_be_lower_is_left_out(tmp_path: Path) -> None:
    # Memory for one buffer of 4 MiB cannot be half of it.
    text = STUDY.format(
        device='"nvme-mixed-use"', recovery='receive_memory = "4 MiB"\nsend_memory = "4 MiB"'
    )
    (tmp_path / "study.toml").write_text(text)
    effects = resilver.sensitivity(Study.load(tmp_path / "study.toml"), workers=0)
    memory = next(one for one in effects if one.assumption == "memory")
    assert memory.low_value is None and memory.high_value is not None
