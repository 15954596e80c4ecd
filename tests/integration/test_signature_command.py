"""`resilver signature`: its answer, files, page and exit codes, on planted and on real logs."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import resilver
from resilver.importers.series import Series, read_series
from resilver.reproduce.planted import Planted, planted
from tests.terminal import json_output, output, texts, with_page


def write(path: Path, run: Series, unit: str = "bytes", scale: float = 1.0) -> Path:
    """A run as a CSV."""
    lines = [f"{at:g},{value / scale:.6f}" for at, value in zip(run.times, run.values, strict=True)]
    path.write_text("\n".join([f"time(s),{unit}", *lines]))
    return path


@pytest.fixture(scope="module")
def case() -> Planted:
    return planted((4,), noise=1.0)


@pytest.fixture(scope="module")
def logs(case: Planted, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    return [write(folder / f"climate-{at}.csv", run) for at, run in enumerate(case.runs)]


def test_the_file_is_the_traffic_of_the_job(
    case: Planted, logs: list[Path], tmp_path: Path
) -> None:
    """Its keys are those of traffic.jobs, and it reads back as what JSON tells."""
    path = tmp_path / "a.toml"
    out, err = texts("signature", *logs, "-o", path, "--json")
    told = json.loads(out)["signature"]
    assert f"wrote {path}" in err
    given = tomllib.loads(path.read_text())
    of_traffic = {"period", "first", "length", "volume", "reads"}
    assert set(given) == of_traffic | {"name", "height", "confidence", "runs"}
    assert (given["name"], given["runs"], given["reads"]) == ("climate", 8, 0.0)
    found = resilver.read_signature(path)
    for mine, theirs in (
        (found.period, told["period_seconds"]),
        (found.volume, told["volume_bytes"]),
        (found.volume_error, told["volume_error_bytes"]),
    ):
        assert mine == pytest.approx(theirs, rel=1e-2 if mine == found.volume_error else 1e-5)
    assert found.period == pytest.approx(case.period, rel=0.05)
    assert found.volume == pytest.approx(case.volume, rel=0.2)


def test_one_log_and_the_jobs_times_do_as_well(
    case: Planted, logs: list[Path], tmp_path: Path
) -> None:
    """The runs one after the other in one log, 500 s apart, and what sacct says of them; a job that
    the log does not have is told.
    """
    begins = [1_700_000_000.0 + 4100.0 * at for at in range(8)]
    times = np.concatenate(
        [begin + run.times for begin, run in zip(begins, case.runs, strict=True)]
    )
    values = np.concatenate([run.values for run in case.runs])
    path = write(tmp_path / "lmt.csv", Series(times - 1_700_000_000.0, values))
    rows = [f"{begin - 1_700_000_000:g},{begin - 1_699_996_400:g},run" for begin in begins]
    jobs = tmp_path / "climate.csv"
    jobs.write_text("\n".join(["start,end,name", *rows, "90000,93600,later"]))
    found = json_output("signature", path, "--jobs", jobs)
    whole = resilver.signature(logs).signature
    assert whole is not None
    assert found["signature"]["period_seconds"] == pytest.approx(whole.period, rel=1e-3)
    assert found["signature"]["volume_bytes"] == pytest.approx(whole.volume, rel=0.02)
    assert found["signature"]["name"] == "climate"
    assert found["notes"] == ["1 of 9 jobs are not in the logs: later"]


def test_without_a_period_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    runs = planted((3,), noise=1.0, kind="noise").runs
    paths = [write(tmp_path / f"n{at}.csv", run) for at, run in enumerate(runs)]
    toml, page = tmp_path / "a.toml", tmp_path / "a.html"
    out, err = texts("signature", *paths, "-o", toml, "-o", page, code=1)
    assert not toml.exists() and not page.exists()
    assert "The runs do not repeat: " in out and "wrote" not in err


def test_reads_are_told_apart_where_both_are_asked_for(case: Planted, tmp_path: Path) -> None:
    """A quarter of each burst is read, and others only write."""
    paths = []
    for at in range(4):
        own = planted((4,), noise=1e-9).runs[at].values
        others = case.runs[at].values - own
        columns = (case.runs[at].times, 0.25 * own, 0.75 * own + np.maximum(others, 0))
        path = tmp_path / f"both{at}.csv"
        lines = [",".join(f"{cell:.1f}" for cell in row) for row in zip(*columns, strict=True)]
        path.write_text("\n".join(["time(s),read bytes,write bytes", *lines]))
        paths.append(path)
    signature = json_output("signature", *paths, "--of", "both")
    assert signature["signature"]["reads_share"] == pytest.approx(0.25, abs=0.03)


def test_the_page_holds_the_answer(logs: list[Path], tmp_path: Path) -> None:
    out, text = with_page(tmp_path, "signature", *logs, "--every", "4 s")
    assert "climate moves 1." in out and "Bursts common to runs" in out
    assert "The signature of climate" in text and "Autocorrelation and spectrum agree" in text
    assert "resilver signature climate-0.csv" in text and "--every &#39;4 s&#39;" in text
    assert str(tmp_path) not in text


def test_compare_says_whether_two_are_one_job_s(logs: list[Path], tmp_path: Path) -> None:
    """Of the first four runs and the last four they are; of another job they are not."""
    names = [tmp_path / f"{name}.toml" for name in ("first", "last", "other")]
    other = [
        write(tmp_path / f"o{at}.csv", run) for at, run in enumerate(planted((9,), noise=0.5).runs)
    ]
    for path, some in zip(names, (logs[:4], logs[4:], other), strict=True):
        output("signature", *some, "-o", path, "-q")
    out = output("signature", "compare", *names[:2])
    assert "may be one job's" in " ".join(out.split())
    comparison = json_output("signature", "compare", names[0], names[2], code=1)
    assert comparison["same"] is False


SIGNATURE = 'period = "600 s"\nlength = "60 s"\nvolume = "60 GB"\n'


def test_shift_says_when_the_second_should_start(tmp_path: Path) -> None:
    """Two alike bursts of 60 s at all that is carried: apart from 60 to 540 s they lose nothing,
    and together 60 s a burst, each of 20.
    """
    for name in "ab":
        (tmp_path / f"{name}.toml").write_text(SIGNATURE)
    words = ["shift", tmp_path / "a.toml", tmp_path / "b.toml", "--rate", "1 GB/s"]
    page = tmp_path / "shift.html"
    told = json_output("signature", *words, "-o", page)
    assert told["best_start_seconds"] == 300.0
    assert (told["as_good_from_seconds"], told["as_good_to_seconds"]) == (60.0, 540.0)
    assert told["lost_together"] == {"one_seconds": 1200.0, "other_seconds": 1200.0}
    assert told["lost_at_best"] == {"one_seconds": 0.0, "other_seconds": 0.0}
    text = page.read_text(encoding="utf-8")
    assert "Start b 5 min after a" in text and str(tmp_path) not in text


def background(path: Path, rng: np.random.Generator, count: int, block: int) -> np.ndarray:
    """What a real file system wrote, in pieces from places drawn at random."""
    real = read_series(path).values
    real = np.where(np.isfinite(real), real, 0.0)
    begins = rng.integers(0, len(real), -(-count // block))
    return np.concatenate([np.roll(real, -begin)[:block] for begin in begins])[:count]


def in_background(path: Path, pattern: np.ndarray, block: int, step: float) -> float:
    """By which share the volume is off of a pattern that is hidden in a real background.

    Eight runs of an hour; the pattern comes every ten minutes, from 100 s on, and moves as much in
    all as the background does.
    """
    rng = np.random.default_rng(1)
    count, period = round(3600.0 / step), round(600.0 / step)
    runs, volume = [], 0.0
    for number in range(8):
        values = background(path, rng, count, block)
        begins = range(round(100.0 / step), count - len(pattern), period)
        volume = volume or float(values.sum()) / len(begins)
        for begin in begins:
            values[begin : begin + len(pattern)] += pattern / pattern.sum() * volume
        runs.append(Series(np.arange(count) * step, values, f"run {number}"))
    found = resilver.signature(runs).signature
    assert found is not None
    assert found.period == pytest.approx(600.0, rel=0.05)
    return abs(found.volume / volume - 1.0)


@pytest.mark.parametrize(
    ("name", "block", "step"),
    # The first is of 5 min, whose pieces of a minute are put together; the second of an hour.
    [("tokio-snx11025_2018-01-28.hdf5", 12, 5.0), ("tokio-sample_tokiots.hdf5", 360, 10.0)],
)
def test_a_burst_is_found_under_what_a_real_file_system_wrote(
    shared_data: Path, name: str, block: int, step: float
) -> None:
    """Its volume within 20 %, where the background moves as much as the job."""
    pattern = np.ones(round(60.0 / step))
    assert in_background(shared_data / "lustre" / name, pattern, block, step) < 0.2
