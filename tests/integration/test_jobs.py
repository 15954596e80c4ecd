"""Jobs with a signature by the command: by events and by flows, alone, together and shifted."""

from pathlib import Path
from typing import Any

import pytest

from resilver import Signature, shift_signatures
from tests.integration.study_runs import rows, run, study_text
from tests.terminal import output, with_page

SYSTEM = study_text("copied", traffic={"duration": "600 s"})
A = 'name = "a", period = "150 s", first = "10 s", length = "40 s", volume = "%s"'
B = 'name = "b", period = "200 s", length = "50 s", volume = "%s"'
TWO = """
[[traffic.jobs]]
clients = 32
signature = {{ {} }}
[[traffic.jobs]]
clients = 32
first_client = 32
start = "20 s"
signature = {{ {} }}
"""


def bursts(folder: Path, engine: str = "flows") -> dict[str, list[dict[str, Any]]]:
    """The bursts of each job."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows(folder, "jobs", engine):
        found.setdefault(row["job"], []).append(row)
    return found


@pytest.mark.parametrize("engine", ["events", "flows"])
def test_a_burst_with_nothing_in_its_way_takes_its_length(engine: str, tmp_path: Path) -> None:
    # 2 GB/s and 1.2 GB/s of a system that writes 3.6 GB/s, together less than that.
    study = SYSTEM + TWO.format(A % "80 GB", B % "60 GB")
    found = run(tmp_path, study, engine)
    jobs = bursts(tmp_path, engine)
    # Asked for at 10, 160, 310 and 460 s, and at 20, 220 and 420 s.
    assert [row["asked_seconds"] for row in jobs["a"]] == [10.0, 160.0, 310.0, 460.0]
    assert [row["asked_seconds"] for row in jobs["b"]] == [20.0, 220.0, 420.0]
    for name, length in (("a", 40.0), ("b", 50.0)):
        for row in jobs[name]:
            # By events a burst's last operation may end a little late, and delays what follows.
            late = row["began_seconds"] - row["asked_seconds"]
            assert late == 0 if engine == "flows" else 0 <= late <= 0.01 * length * row["burst"]
            assert row["seconds"] == pytest.approx(length, rel=0.01)
            assert row["slowed"] == pytest.approx(row["seconds"] / length, rel=1e-9)
            assert row["ended_seconds"] == pytest.approx(row["began_seconds"] + row["seconds"])
    # Four bursts of 80 GB and three of 60; events move whole objects.
    assert found["burst_bytes_per_second"] == pytest.approx(500e9 / 600, rel=1e-3)
    assert found["requests_completed"] == 0


def test_events_and_flows_agree_where_jobs_are_in_each_others_way(tmp_path: Path) -> None:
    study = SYSTEM + TWO.format(A % "200 GB", B % "120 GB")
    both = [run(tmp_path, study, engine) for engine in ("events", "flows")]
    events, flows = (bursts(tmp_path, engine) for engine in ("events", "flows"))
    for name in ("a", "b"):
        assert len(flows[name]) == len(events[name])
        # Those behind begin when those before have ended, so that whom they meet for how long is
        # another thing by events: the first ones begin at one time, and of all there is a mean.
        one, other = flows[name][0], events[name][0]
        assert one["began_seconds"] == other["began_seconds"] == one["asked_seconds"]
        assert one["seconds"] == pytest.approx(other["seconds"], rel=0.05)
    assert flows["a"][0]["slowed"] > 2 and flows["a"][0]["binding_level"] == "server"
    assert both[0]["mean_burst_delay_seconds"] == pytest.approx(
        both[1]["mean_burst_delay_seconds"], rel=0.05
    )


@pytest.mark.parametrize("engine", ["events", "flows"])
def test_a_late_burst_delays_those_behind_it(engine: str, tmp_path: Path) -> None:
    # A burst of 648 GB at 3.6 GB/s takes 180 s, longer than its 50 s and the period of 100 s. The
    # job computes for 50 s after each: bursts begin at 0, 230 and 460 s, and the last does not end.
    job = 'signature = { period = "100 s", length = "50 s", volume = "648 GB" }'
    run(tmp_path, SYSTEM + f"[[traffic.jobs]]\n{job}\n", engine)
    (found,) = bursts(tmp_path, engine).values()
    assert [row["burst"] for row in found] == [0, 1, 2]
    assert [row["asked_seconds"] for row in found] == [0.0, 100.0, 200.0]
    *ended, under_way = found
    assert all(row["slowed"] == pytest.approx(3.6, rel=0.02) for row in ended)
    for before, row in zip(ended, found[1:], strict=True):
        assert row["began_seconds"] == pytest.approx(before["ended_seconds"] + 50.0, rel=1e-12)
    assert under_way["ended_seconds"] is None
    rate = sum(row["bytes"] for row in ended) / sum(row["seconds"] for row in ended)
    assert under_way["bytes"] == pytest.approx(
        rate * (600.0 - under_way["began_seconds"]), rel=0.05
    )


def test_a_signature_is_a_file_that_the_run_folder_keeps(tmp_path: Path) -> None:
    (tmp_path / "forecast.toml").write_text(
        'period = "150 s"\nlength = "40 s"\nvolume = "80 GB"\nheight = "2 GB/s"\n'
        "confidence = 0.9\nruns = 8\n",
        encoding="utf-8",
    )
    job = '[[traffic.jobs]]\nsignature = "forecast.toml"\n'
    found = run(tmp_path, SYSTEM + job, "flows")
    assert set(bursts(tmp_path)) == {"forecast"}
    # The folder is enough to run it again, without the file.
    (tmp_path / "forecast.toml").unlink()
    kept = (tmp_path / "flows" / "study.toml").read_text(encoding="utf-8")
    again = run(tmp_path / "again", kept, "flows")
    assert again["digest"] == found["digest"]


def test_the_summary_says_how_long_bursts_take(tmp_path: Path) -> None:
    study = SYSTEM + TWO.format(A % "200 GB", B % "60 GB")
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    setting = 'traffic.engine="flows"'
    done = output("run", "study.toml", "--set", setting, "-o", "flows", cwd=tmp_path)
    said = " ".join(done.split())
    assert "a moves 200 GB within 40 s every 150 s" in said
    assert "a: bursts take" in said and "times as long as alone" in said
    _, page = with_page(tmp_path, "report", tmp_path / "flows")
    assert "bursts of jobs" in page and "times as long as alone" in page


def test_jobs_that_are_all_there_is_have_no_goodput_and_a_short_name_in_a_sweep(
    tmp_path: Path,
) -> None:
    jobs = [f'[{{ signature = {{ {A % "80 GB"} }}, start = "{start} s" }}]' for start in (0, 30)]
    study = SYSTEM.replace("[traffic]", "[study]\nseeds = 1\n\n[traffic]")
    study += f'engine = "flows"\njobs = {jobs[0]}\n\n'
    study += f'[study.sweep]\n"traffic.jobs" = [{", ".join(jobs)}]\n'
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    done = output("run", "study.toml", "-o", "out", cwd=tmp_path)
    said = " ".join(done.split())
    assert "a 80 GB in 40 s of 150 s from 10 s" in said and "from 40 s" in said
    # Nobody asks for anything but bursts: a rate of 0 B/s would say that clients stood still.
    assert "Mean burst time" in said and "goodput" not in said and "0 B/s" not in said


JOB = """
[[traffic.jobs]]
clients = 32
first_client = {first}
start = "{start} s"
signature = {{ period = "200 s", length = "20 s", volume = "{volume} B" }}
"""
BURSTS = 3
"""As many begin in the study's 600 s, at 0, 200 and 400 s of a job's own time or later."""


def burst_seconds(folder: Path, volume: int, *starts: float) -> list[float]:
    """How long all bursts of each job take together, in a study of jobs with these starts."""
    jobs = [
        JOB.format(first=32 * number, start=start, volume=volume)
        for number, start in enumerate(starts)
    ]
    run(folder, SYSTEM + "".join(jobs), "flows")
    took: dict[str, list[float]] = {}
    for row in rows(folder, "jobs"):
        took.setdefault(row["job"], []).append(row["seconds"])
    assert all(len(one) == BURSTS for one in took.values())
    return [sum(one) for one in took.values()]


def test_the_best_start_saves_in_flows_what_the_plan_says(tmp_path: Path) -> None:
    """Two like jobs, whose bursts ask for 0.9 of what the system carries: at once each burst takes
    36 s in place of 20.
    """
    much = 150 * 10**9
    # All it carries, by bursts that ask for far more.
    carried = BURSTS * much / burst_seconds(tmp_path / "alone", much, 0.0)[0]
    volume = round(0.9 * carried * 20.0)
    job = Signature(period=200.0, first=0.0, length=20.0, volume=volume)
    plan = shift_signatures(job, job, rate=carried, over=600.0)
    assert plan.bursts == (BURSTS, BURSTS)
    assert plan.lost(0.0) == pytest.approx((48.0, 48.0), rel=1e-6)
    for start in (0.0, 7.0, 15.0, round(plan.best, 3)):
        took = burst_seconds(tmp_path / f"{start:g}", volume, 0.0, start)
        lost = [one - BURSTS * 20.0 for one in took]
        assert lost == pytest.approx(plan.lost(start), abs=1e-3 * BURSTS * 20.0)
