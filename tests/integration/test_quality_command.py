"""`resilver quality`: false alarms as rare as the chart says, planted changes found and named.

Runs are normal with a deviation of 1 % of 500 GB/s unless a test says otherwise.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resilver
from resilver.center.control import LIMIT, Floats, control, run_length
from tests.scale import SEED, times
from tests.terminal import json_output, output, with_page, written

FIRST = 30
LEVEL, DEVIATION = 500e9, 5e9


def runs(count: int, draw: np.random.Generator) -> Floats:
    return LEVEL + DEVIATION * draw.standard_normal(count)


def planted(shape: Floats, seed: int) -> Floats:
    """Runs that are off by so many deviations."""
    return runs(len(shape), np.random.default_rng(SEED + seed)) + DEVIATION * shape


def asked(tmp_path: Path, text: str, *words: str, code: int = 0) -> dict[str, Any]:
    (tmp_path / "runs.csv").write_text(text, encoding="utf-8")
    found: dict[str, Any] = json_output("quality", tmp_path / "runs.csv", *words, code=code)
    return found


def csv_of(values: Floats) -> str:
    """A run a day from 2024-01-01 on."""
    day = np.datetime64("2024-01-01T12:00:00")
    lines = [
        f"{day + np.timedelta64(at, 'D')},{value!r}" for at, value in enumerate(values.tolist())
    ]
    return "\n".join(["time,rate_bytes_per_second", *lines]) + "\n"


def test_false_alarms_are_as_rare_as_the_run_length_says() -> None:
    """Of series of 120 judged runs, 1 - (1 - 1/469)^120 = 22.6 % have a signal by chance.

    Run lengths are nearly geometric, with a start in which few signal: the share lies below that,
    and above two thirds of it. 400 series: three standard errors are 6.3 points.
    """
    count, judged = times(400), 120
    draw = np.random.default_rng(SEED + 1)
    alarms = sum(bool(control(runs(FIRST + judged, draw), FIRST).changes) for _ in range(count))
    expected = 1.0 - (1.0 - 1.0 / run_length()) ** judged
    error = 3.0 * np.sqrt(expected * (1.0 - expected) / count)
    assert expected * 2 / 3 - error <= alarms / count <= expected + error


def test_outliers_are_as_rare_as_three_deviations_are() -> None:
    """1 run of 370 is beyond by chance, however few runs there were at first.

    200 series of 100 judged runs expect 54; levels and deviations are estimated, which may add a
    third. Four standard errors of a count are 4 x sqrt(54) = 29.
    """
    draw = np.random.default_rng(SEED + 2)
    count = times(200)
    found = sum(len(control(runs(FIRST + 100, draw), FIRST).outliers) for _ in range(count))
    expected = count * 100 * 0.0026998
    assert LIMIT == 3.0
    error = 4.0 * np.sqrt(expected)
    assert expected - error <= found <= 4 / 3 * expected + error


@pytest.mark.parametrize("shift", [1.0, 2.0, -2.0, 3.0])
def test_a_step_is_found_within_its_expected_delay(shift: float) -> None:
    """Page's sums take 10.3, 3.9 and 2.6 runs in the mean where the level is known.

    Here 200 runs tell it, and each further run is held against the mean of those before, which
    learns the step: a third longer for one deviation. Three standard errors of 200 delays, whose
    deviation is about their mean less two, are added.
    """
    count, delays = times(200), []
    for seed in range(count):
        shape = np.concatenate([np.zeros(260), np.full(120, shift)])
        found = [one for one in control(planted(shape, seed), 200).changes if one.found >= 260]
        delays.append(found[0].found - 259 if found else 120)
    known = run_length(abs(shift))
    mean = float(np.mean(delays))
    assert known - 2.0 <= mean <= 4 / 3 * known + 3.0 * known / np.sqrt(count)


@pytest.mark.parametrize("shift", [-2.0, 4.0, -8.0])
def test_a_step_is_named_with_its_time_and_size(shift: float) -> None:
    """One step, within four runs of where it was planted, to three quarters of a deviation."""
    right, count = 0, times(100)
    for seed in range(count):
        shape = np.concatenate([np.zeros(70), np.full(50, shift)])
        changes = control(planted(shape, seed), FIRST).changes
        right += (
            len(changes) == 1
            and not changes[0].is_drift
            and abs(changes[0].begin - 70) <= 4
            and abs(changes[0].after - changes[0].before - shift * DEVIATION) <= 0.75 * DEVIATION
        )
    # False signals alone spoil 1 - (1 - 1/469)^90 = 17.5 %; four standard errors are 15 points.
    assert right / count >= 1.0 - 0.175 - 0.15


def test_a_drift_is_named_with_its_pace() -> None:
    """0.15 deviations a run over 60 runs: a drift in three of four, of about 9 deviations."""
    right, count = 0, times(100)
    for seed in range(count):
        shape = np.concatenate([np.zeros(60), -0.15 * np.arange(60)])
        drifts = [one for one in control(planted(shape, seed), FIRST).changes if one.is_drift]
        right += any(-13.5 <= (one.after - LEVEL) / DEVIATION <= -6.0 for one in drifts)
    assert right / count >= 0.75


def test_an_outlier_is_no_step() -> None:
    """Ten deviations in one run signal no change; the run is named."""
    steps, count = 0, times(100)
    for seed in range(count):
        shape = np.zeros(120)
        shape[50] = -10.0
        found = control(planted(shape, seed), FIRST)
        assert 50 in found.outliers
        steps += bool(found.changes)
    # By chance as without the outlier, in 17.5 % and four standard errors.
    assert steps / count <= 0.175 + 0.15


def test_what_is_out_of_control_is_told_with_time_and_size(tmp_path: Path) -> None:
    shape = np.zeros(120)
    shape[45], shape[80:] = -12.0, -4.0
    told = asked(tmp_path, csv_of(planted(shape, 3)), code=1)
    outlier, step = told["findings"]
    assert (outlier["kind"], outlier["run"]) == ("outlier", 45)
    # 2024-02-15 12:00 UTC.
    assert outlier["seconds"] == 1_707_998_400
    assert outlier["share"] == pytest.approx(-0.12, abs=0.02)
    assert step["kind"] == "step" and abs(step["run"] - 80) <= 1
    assert step["share"] == pytest.approx(-0.04, abs=0.01)
    assert not told["holds"]


def test_runs_in_control_end_with_zero_and_equal_ones_have_no_deviation(tmp_path: Path) -> None:
    """A sawtooth of one deviation has no chance in it."""
    values = LEVEL + DEVIATION * np.tile([1.0, -1.0], 60)
    told = asked(tmp_path, csv_of(values))
    assert told["holds"] and told["findings"] == []
    # Neighbours differ each time, which is told.
    assert told["series"][0]["correlation"] < -0.9
    same = np.full(40, LEVEL)
    assert asked(tmp_path, csv_of(same))["holds"]
    lower = np.concatenate([same, np.full(10, 0.9 * LEVEL)])
    (step,) = asked(tmp_path, csv_of(lower), code=1)["findings"]
    assert (step["kind"], step["run"]) == ("step", 40)
    assert step["share"] == pytest.approx(-0.1, abs=1e-9)


def test_columns_units_series_and_the_order_of_time_are_as_said(tmp_path: Path) -> None:
    lines = ["fs,day,bw"]
    for at in range(40):
        lines += [f"a,{at},{500 + at % 2}", f"b,{at},{300 + at % 2}"]
    lines.append("a,41,nan")
    words = ("--value", "bw", "--unit", "MiB/s", "--by", "fs", "--time", "day")
    told = asked(tmp_path, "\n".join(lines), *words)
    assert [(one["name"], one["runs"]) for one in told["series"]] == [("a", 40), ("b", 40)]
    assert told["series"][0]["level"] == pytest.approx(500.5 * 2**20, rel=1e-9)
    assert told["notes"] == ["runs.csv: 1 lines without a bw are left out"]
    # Runs are taken in the order of time.
    shape = np.zeros(100)
    shape[70:] = -6.0
    head, *lines = csv_of(planted(shape, 4)).splitlines()
    order = np.random.default_rng(5).permutation(len(lines))
    shuffled = "\n".join([head, *(lines[at] for at in order)])
    findings = asked(tmp_path, shuffled, code=1)["findings"]
    assert ("step", 70) in {(one["kind"], one["run"]) for one in findings}


def test_the_page_the_terminal_and_python_say_the_same(tmp_path: Path) -> None:
    shape = np.zeros(120)
    shape[80:] = -4.0
    path = written(tmp_path / "runs.csv", csv_of(planted(shape, 3)))
    out, text = with_page(tmp_path, "quality", path, code=1)
    assert all("Out of control: 1 finding in 90 runs" in said for said in (out, text))
    assert "chart-quality-0" in text
    found = resilver.quality_chart(path)
    assert [one.kind for one in found.findings] == ["step"]


def test_the_real_runs_of_a_benchmark_have_their_slowest_named(shared_data: Path) -> None:
    """162 runs of HACC-IO, of which the least, 54.7 thousand MiB/s, was on 2018-01-06."""
    path = shared_data / "lustre" / "tokio-sample_summary.csv.gz"
    found = resilver.quality_chart(path, value="darshan_agg_perf_by_slowest_posix", unit="MiB/s")
    (series,) = found.series
    assert len(series.values) == 162
    slowest = min(found.findings, key=lambda one: one.value)
    assert slowest.kind == "outlier"
    assert slowest.value == pytest.approx(54.7e3 * 2**20, rel=1e-3)
    # 2018-01-06 02:16 UTC, to the minute.
    assert slowest.seconds is not None and slowest.seconds // 60 == 25_253_416
    # Nothing changed for good in five months.
    assert {one.kind for one in found.findings} == {"outlier"}


def test_figures_are_in_the_unit_of_the_file_and_agree_with_each_other(tmp_path: Path) -> None:
    # Rule: values of 100 MiB/s in the mean are shown as 100 MiB/s, not as 104.9 MB/s, and the
    # sentence and the table count the same runs until a step is found.
    shape = np.concatenate([np.zeros(60), np.full(30, -4.0)])
    values = 100.0 + np.random.default_rng(SEED + 9).standard_normal(len(shape)) + shape
    path = written(tmp_path / "runs.csv", "rate\n" + "\n".join(map(repr, values.tolist())) + "\n")
    out = output("quality", path, "--unit", "MiB/s", code=1)
    assert "MB/s" not in out and "GB/s" not in out
    after = re.search(r"step to (\d+\.?\d*) MiB/s.*found\s+after (\d+) runs?", out, re.DOTALL)
    assert after is not None and float(after[1]) == pytest.approx(96.0, abs=1.0)
    (found,) = json_output("quality", path, "--unit", "MiB/s", code=1)["findings"]
    assert found["found_run"] - found["run"] + 1 == int(after[2])
    (row,) = [line.split() for line in out.splitlines() if "runs.csv" in line and " step " in line]
    assert row[-2] == after[2]
