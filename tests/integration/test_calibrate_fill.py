"""`resilver calibrate fill`: a curve of rates by fill where runs show one, and none where not."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import resilver
from resilver import cli
from resilver.calibration.fill import fit_fill
from resilver.importers.fill_rates import FillRates
from resilver.report.capacity import STAND_IN_NOTE
from tests.terminal import json_output, texts, written

REAL = "lustre/tokio-sample_summary.csv.gz"
COLUMNS = ("fshealth_ost_avg_full_pct", "darshan_agg_perf_by_slowest_posix")
OTHERS = "jobsdb_concurrent_nodehrs"


def runs_csv(path: Path, spread: float = 0.2, knee: float = 0.7, left: float = 0.7) -> Path:
    """150 runs from 30 to 95 % full, the same up to a knee, and a share of that beyond it."""
    stream = np.random.default_rng(3)
    fills = stream.uniform(0.3, 0.95, 150)
    rates = 50.0 * np.exp(stream.normal(0.0, spread, 150)) * np.where(fills < knee, 1.0, left)
    lines = [
        f"{100 * fill:.2f} %,{rate:.4f} GB/s"
        for fill, rate in zip(fills.tolist(), rates.tolist(), strict=True)
    ]
    path.write_text("fill,rate\n" + "\n".join(lines) + "\n")
    return path


def test_a_planted_knee_and_what_it_costs_are_found(tmp_path: Path) -> None:
    """About 58 runs lie beyond the knee: the share is known to 0.2 (1/58 + 1/92)^0.5, 3.4 %."""
    found = json_output("calibrate", "fill", runs_csv(tmp_path / "runs.csv"))
    first, last = found["levels"]
    assert first["fill_high"] < 0.72 and last["fill_low"] > 0.68
    assert last["share"] == pytest.approx(0.7, rel=4 * 0.034)
    assert last["low"] < 0.7 < last["high"] and last["high"] - last["low"] < 0.2
    pairs = found["rate_at_fill"]
    assert pairs[0][1] == 1.0 and pairs[-1][1] == pytest.approx(last["share"], abs=1e-4)
    fills, shares = zip(*pairs, strict=True)
    assert list(fills) == sorted(set(fills)) and list(shares) == sorted(shares, reverse=True)


def test_the_curve_is_read_by_size(tmp_path: Path) -> None:
    """14 days of 1.61 PB/d are 70 % of 32.256 PB, and before the purge 75 %: beyond the knee."""
    curve = tmp_path / "fill.toml"
    pairs = json_output("calibrate", "fill", runs_csv(tmp_path / "runs.csv"), "-o", curve)[
        "rate_at_fill"
    ]
    sizing = tmp_path / "sizing.toml"
    sizing.write_text(
        '[capacity]\nusable = "32.256 PB"\ninflow = "1.61 PB/d"\npurge = { last_access = "14 d" }\n'
        'rate_at_fill = { file = "fill.toml" }\n'
    )
    (rate,) = json_output("size", sizing)["capacity"]["rates"]
    assert rate["is_measured"] and rate["least"] == pytest.approx(pairs[-1][1])
    # Fuller than was measured, a file system is at best as there.
    sizing.write_text(sizing.read_text().replace("1.61", "2.1"))
    (rate,) = json_output("size", sizing)["capacity"]["rates"]
    assert "at best beyond" in rate["curve"]


def test_neither_noise_nor_what_others_explain_gives_a_curve() -> None:
    """Both ends of the interval below zero by chance: one in 40; of 200 at most 14 (1 in 10^4)."""
    stream = np.random.default_rng(5)
    shown = 0
    for _ in range(200):
        fills = stream.uniform(0.4, 0.9, 40)
        rates = np.exp(stream.normal(0.0, 0.4, 40))
        shown += fit_fill(FillRates("noise", fills, rates, {}), resampled=2).is_shown
    assert shown <= 14
    # Rates fall with what others do, and that goes with the fill, which itself does nothing.
    stream = np.random.default_rng(11)
    fills = stream.uniform(0.4, 0.9, 300)
    busy = fills + stream.normal(0.0, 0.15, 300)
    rates = np.exp(-2.0 * busy + stream.normal(0.0, 0.2, 300))
    assert fit_fill(FillRates("x", fills, rates, {}), resampled=2).is_shown
    assert not fit_fill(FillRates("x", fills, rates, {"busy": busy}), resampled=2).is_shown


def test_the_real_runs_show_no_knee(shared_data: Path, tmp_path: Path) -> None:
    """162 runs at 41 to 67 % full: +0.04 with fullness and -0.47 with jobs, as SciPy has them."""
    path, out = shared_data / REAL, tmp_path / "fill.toml"
    words = (path, "--fill", COLUMNS[0], "--rate", COLUMNS[1], "--beside", OTHERS, "-o", out)
    found = json_output("calibrate", "fill", *words, code=1)
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    fills, rates, others = (
        np.array([float(row[name]) for row in rows]) for name in (*COLUMNS, OTHERS)
    )
    assert found["runs"] == len(rows) == 162 and not found["shown"]
    assert found["correlation"]["value"] == pytest.approx(
        stats.spearmanr(fills, rates)[0], abs=1e-9
    )
    assert found["beside"][0]["value"] == pytest.approx(stats.spearmanr(others, rates)[0], abs=1e-9)
    by_fill, by_jobs = found["correlation"]["value"], found["beside"][0]["value"]
    assert f"{by_fill:+.2f}" == "+0.04" and "+0.04" in STAND_IN_NOTE
    assert f"{by_jobs:.2f}" == "-0.47" and "-0.47" in STAND_IN_NOTE
    assert not out.exists() and found["rate_at_fill"] == []
    text, err = texts("calibrate", "fill", *words, code=1)
    assert "do not show that rates fall" in " ".join(text.split())
    assert "no curve is written" in " ".join(err.split())


def test_a_figure_and_python_say_the_same(tmp_path: Path) -> None:
    path, figure = runs_csv(tmp_path / "runs.csv"), tmp_path / "fill.svg"
    assert cli.run(["calibrate", "fill", str(path), "--figure", str(figure), "-q"]) == 0
    assert "show that rates fall with the fill" in figure.read_text()
    assert resilver.calibrate_fill(path).is_shown


LINES = "".join(f"0.{one:02},{100 - one} MB/s\n" for one in range(30, 60))


def test_lines_without_a_rate_are_left_out_and_told(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.csv", "fill,rate\n0.2,\n,5 MB/s\n" + LINES)
    assert json_output("calibrate", "fill", path)["left_out"] == 2
