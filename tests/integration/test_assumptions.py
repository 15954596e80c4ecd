"""What a result rests on, how sure it is, and what each assumption is worth, by the command."""

from pathlib import Path
from typing import Any

import pytest

import resilver
from resilver import Study
from resilver.counterfactuals import bottleneck
from resilver.study import Results
from resilver.units import format_duration
from tests.build import refused
from tests.integration.study_runs import study_text
from tests.terminal import command, json_output, output

STUDY = """
[cluster]
servers = 12
{cluster}
[population]
file_size = "8 MiB"
files = 300
[[faults]]
fail = {{ servers = {servers} }}
{rest}
"""
SURE = STUDY.format(cluster="", servers='["server.3"]', rest="")


def checked(folder: Path, text: str, *more: str) -> dict[str, Any]:
    (folder / "study.toml").write_text(text)
    found: dict[str, Any] = json_output("check", "study.toml", *more, cwd=folder)
    return found


def test_each_assumption_says_who_made_it(tmp_path: Path) -> None:
    text = STUDY.format(
        cluster='device = "hdd-7k2-8tb"', servers=1, rest='[recovery]\nbandwidth = "50 MB/s"'
    )
    rows = {one["name"]: one for one in checked(tmp_path, text)["assumptions"]}
    words = ("stated", "default", "assumed")
    origins = {word: [name for name in rows if rows[name]["origin"] == word] for word in words}
    assert origins == {
        "stated": ["device", "throttle", "fill"],
        "default": ["network", "memory", "clients"],
        "assumed": ["detection time"],
    }
    # 187.9 MB/s are 179.2 MiB/s.
    assert rows["device"]["value"] == "hdd-7k2-8tb, 179.2 MiB/s"
    # Three copies of 300 x 8 MiB on 12 disks are 629.1 MB each.
    assert rows["fill"]["value"] == "0.00786 % of a device's 8 TB"
    assert rows["throttle"]["value"] == "each rebuilding device reads at most 50 MB/s"
    swept = checked(
        tmp_path, text, "--set", 'study.sweep={"recovery.bandwidth"=["1 GB/s","2 GB/s"]}'
    )
    values = {one["name"]: one["value"] for one in swept["assumptions"]}
    assert values["throttle"] == "1 GB/s, 2 GB/s"
    # A lost strip of rs 8+3 is decoded of 8 others: 50 MB/s read are 50 / 8 = 6.25 MB/s rebuilt.
    coded = checked(tmp_path, text, "--set", 'redundancy={code="rs 8+3"}')
    values = {one["name"]: one["value"] for one in coded["assumptions"]}
    read, rebuilt = "each rebuilding device reads at most 50 MB/s", "(6.25 MB/s rebuilt)"
    assert values["throttle"] == f"{read} {rebuilt}"


def test_the_summary_and_the_page_begin_with_them(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SURE)
    done = command("run", "study.toml", "-o", "run", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    lead = (
        "Inputs: device jbod10-sata, 1.5 GiB/s (default); network qdr-infiniband, 1.8 GiB/s a "
        "port (default); software limits none: at least this long (default)."
    )
    # Rates differ in their fourth digit: 1,542.1 and 1,511.7 MiB/s.
    assert lead in said, said
    assert command("report", "run", cwd=tmp_path).returncode == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert lead in page and "Deterministic" in page
    assert Results.open(tmp_path / "run").provenance["chances"] == []


def test_what_seeds_draw_is_said_and_their_range_is_min_and_max(tmp_path: Path) -> None:
    assert checked(tmp_path, SURE)["chances"] == []
    three = checked(tmp_path, SURE, "--set", "study.seeds=3")
    assert three["notes"] == ["the study is deterministic: all 3 seeds give the same run."]
    drawn = checked(tmp_path, STUDY.format(cluster="", servers=1, rest=""))
    assert drawn["chances"] == ["which server fails"]
    done = command("run", "study.toml", "-o", "run", cwd=tmp_path)
    assert "1 run, 1 seed; random: which server fails." in " ".join(done.stdout.split())
    # "560 ms to 720 ms over 5 seeds" reads as an interval, and is the least and the most of five.
    (tmp_path / "study.toml").write_text(STUDY.format(cluster="", servers=1, rest=""))
    words = ("--set", "study.seeds=3", "-o", "run")
    assert command("run", "study.toml", *words, cwd=tmp_path).returncode == 0
    assert command("report", "run", cwd=tmp_path).returncode == 0
    times = Results.open(tmp_path / "run").runs["rebuild_seconds"].to_pylist()
    low, high = format_duration(min(times)), format_duration(max(times))
    assert low != high
    page = (tmp_path / "run" / "report.html").read_text()
    assert f"after the failure (min {low}, max {high} of 3 seeds)." in page
    assert "Medians, min and max of 3 seeds." in page
    assert f"{low} to {high}" not in page


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("faults=[]", "nothing fails and no client asks for anything"),
        ("population.files=0", "nothing is stored and no client asks for anything"),
        (
            "faults=[{part={server=1},health=0.5}]",
            "the system detects no failure and no client sends a request",
        ),
    ],
)
def test_check_notes_a_study_that_does_nothing(setting: str, says: str, tmp_path: Path) -> None:
    found = checked(tmp_path, SURE, "--set", setting)["notes"]
    assert found[0] == f"the study does nothing: {says}."
    assert not any("does nothing" in note for note in checked(tmp_path, SURE)["notes"])


THROTTLED = study_text("throttled")


@pytest.fixture(scope="module")
def throttled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("throttled")
    (folder / "study.toml").write_text(THROTTLED)
    return folder, json_output("run", "study.toml", "-o", "run", "--sensitivity", cwd=folder)


def test_what_binds_changes_the_time_in_proportion(throttled: tuple[Path, dict[str, Any]]) -> None:
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


def test_it_is_kept_in_the_run_folder_and_stands_in_the_table_and_on_the_page(
    throttled: tuple[Path, dict[str, Any]],
) -> None:
    folder, said = throttled
    kept = Results.open(folder / "run").sensitivity
    assert [one.record() for one in kept] == said["sensitivity"]
    done = output("run", "study.toml", "-o", "run", "--sensitivity", cwd=folder)
    table = done.partition("assumption")[2].partition("Cost")[0]
    assert "throttle" in table and "+100 %" in table
    output("report", "run", "--figures", "figures", cwd=folder)
    assert (folder / "figures" / "sensitivity.png").stat().st_size > 0
    page = (folder / "run" / "report.html").read_text()
    bottleneck = "The bottleneck: throttle (recovery.bandwidth). At 40 MB/s instead of 20 MB/s"
    assert bottleneck in page and "table-sensitivity" in page
    # Another study's folder has none, and one that was not asked for it says nothing of it.
    (folder / "plain.toml").write_text(THROTTLED)
    assert "bottleneck" not in output("run", "plain.toml", "-o", "plain", cwd=folder)
    assert Results.open(folder / "plain").sensitivity == []


def test_a_slow_device_is_found_from_python() -> None:
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
    assert "a factor above 1" in refused(resilver.sensitivity, study, factor=0.5)


def test_what_cannot_be_lower_is_left_out_and_clients_of_an_open_loop_count(tmp_path: Path) -> None:
    # Memory for one buffer of 4 MiB cannot be half of it.
    memory = {"pipeline_buffer": "4 MiB", "receive_memory": "4 MiB", "send_memory": "4 MiB"}
    keys = {"recovery": memory, "traffic": {"arrivals": {"poisson": "20 /s"}}}
    (tmp_path / "study.toml").write_text(study_text("throttled", **keys))
    effects = resilver.sensitivity(Study.load(tmp_path / "study.toml"), workers=0)
    by_name = {one.assumption: one for one in effects}
    assert by_name["memory"].low_value is None and by_name["memory"].high_value is not None
    clients = by_name["clients"].record()
    assert (clients["low"], clients["base"], clients["high"]) == ("10 /s", "20 /s", "40 /s")
