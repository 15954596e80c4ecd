"""What a result rests on, and how sure it is, by the command: check, run, its JSON and its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver.study import Results
from resilver.units import format_duration
from tests.front_door import command

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
    done = command("check", "study.toml", "--json", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_assumption_says_who_made_it(tmp_path: Path) -> None:
    text = STUDY.format(
        cluster='device = "hdd-7k2-8tb"', servers=1, rest='[recovery]\nbandwidth = "50 MB/s"'
    )
    rows = {one["name"]: one for one in checked(tmp_path, text)["assumptions"]}
    origins = {name: one["origin"] for name, one in rows.items()}
    assert origins == {
        "device": "stated",
        "network": "default",
        "throttle": "stated",
        "memory": "default",
        "detection time": "assumed",
        "clients": "default",
    }
    # 187.9 MB/s are 179.2 MiB/s.
    assert rows["device"]["value"] == "hdd-7k2-8tb, 179.2 MiB/s"
    assert rows["throttle"]["value"] == "each rebuilding device reads at most 50 MB/s"
    swept = checked(
        tmp_path, text, "--set", 'study.sweep={"recovery.bandwidth"=["1 GB/s","2 GB/s"]}'
    )
    values = {one["name"]: one["value"] for one in swept["assumptions"]}
    assert values["throttle"] == "1 GB/s, 2 GB/s"


def test_a_throttle_states_what_is_read_and_what_is_rebuilt(tmp_path: Path) -> None:
    # A lost strip of rs 8+3 is decoded of 8 others: 50 MB/s read are 50 / 8 = 6.25 MB/s rebuilt.
    text = STUDY.format(cluster="", servers=1, rest='[recovery]\nbandwidth = "50 MB/s"')
    coded = checked(tmp_path, text, "--set", 'redundancy={code="rs 8+3"}')
    values = {one["name"]: one["value"] for one in coded["assumptions"]}
    read, rebuilt = "each rebuilding device reads at most 50 MB/s", "(6.25 MB/s rebuilt)"
    assert values["throttle"] == f"{read} {rebuilt}"


def test_the_summary_and_the_page_begin_with_them(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SURE)
    done = command("run", "study.toml", "-o", "run", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    lead = (
        "Assumptions: device jbod10-sata, 1.5 GiB/s (default); network qdr-infiniband, 1.8 GiB/s a "
        "port (default); throttle none (default)."
    )
    # Rates differ in their fourth digit: 1,542.1 and 1,511.7 MiB/s.
    assert lead in said, said
    assert command("report", "run", cwd=tmp_path).returncode == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert lead in page and "There is no chance in it" in page
    assert Results.open(tmp_path / "run").provenance["chances"] == []


def test_a_named_failure_has_no_chance_in_it_and_says_so(tmp_path: Path) -> None:
    assert checked(tmp_path, SURE)["chances"] == []
    three = checked(tmp_path, SURE, "--set", "study.seeds=3")
    assert three["notes"] == ["there is no chance in it, so all 3 seeds give the same run."]
    drawn = checked(tmp_path, STUDY.format(cluster="", servers=1, rest=""))
    assert drawn["chances"] == ["which server fails"]
    done = command("run", "study.toml", "-o", "run", cwd=tmp_path)
    assert "1 run, 1 seed for what is drawn: which server fails." in " ".join(done.stdout.split())


def test_a_range_over_seeds_says_that_it_is_min_and_max(tmp_path: Path) -> None:
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
            "the system is told of no failure and no client asks for anything",
        ),
    ],
)
def test_check_notes_a_study_that_does_nothing(setting: str, says: str, tmp_path: Path) -> None:
    found = checked(tmp_path, SURE, "--set", setting)["notes"]
    assert found[0] == f"the study does nothing: {says}."
    assert not any("does nothing" in note for note in checked(tmp_path, SURE)["notes"])
