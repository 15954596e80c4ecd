"""The whole command on the native core: runs, resumption and bad input."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from resilver.columns import METRICS
from resilver.study import Results
from tests.front_door import STARTED, command, environment
from tests.integration.study_runs import LOST
from tests.terminal import json_output, output, refusal, written
from tests.unit.study_fakes import tables

SMALL = f'{LOST}[study]\nseeds = 2\nsweep = {{ "cluster.servers" = [8, 16] }}\n'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path / "small.toml", SMALL)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run folder, which tests read."""
    folder = tmp_path_factory.mktemp("ran")
    output("run", written(folder / "small.toml", SMALL), "-o", "a", "-q", cwd=folder)
    return folder / "a"


def test_json_is_a_flat_object_a_run_with_every_metric(small: Path, tmp_path: Path) -> None:
    rows = json_output("run", small, cwd=tmp_path)
    # Two swept values times two seeds, the values varying slower.
    points = [(8, 1), (8, 2), (16, 1), (16, 2)]
    assert [(row["cluster.servers"], row["seed"]) for row in rows] == points
    for row in rows:
        assert set(METRICS.names) | {"wall_seconds", "peak_rss_bytes"} <= set(row)
        assert row["rebuilt_bytes"] > 0
        expected = row["rebuilt_bytes"] / row["rebuild_seconds"]
        assert row["aggregate_bytes_per_second"] == pytest.approx(expected, rel=1e-9)
    assert (tmp_path / "runs" / "small" / "runs.parquet").exists()


def test_tables_and_digests_are_equal_on_repeat_and_with_any_number_of_workers(
    small: Path, tmp_path: Path
) -> None:
    for name, workers in (("a", 1), ("b", 2), ("c", 1)):
        output("run", small, "-o", name, "--workers", workers, "-q", cwd=tmp_path)
    assert tables(tmp_path / "a") == tables(tmp_path / "b") == tables(tmp_path / "c")


def test_servers_transfers_and_timeline_sum_up_to_the_run(ran: Path) -> None:
    assert not list(ran.glob("shards/*/traffic.parquet")) and (ran / "traffic.parquet").exists()
    results = Results.open(ran)
    # Kept in the order of their first rows, which is the order of the runs.
    servers, transfers, timeline = (
        results.to_pandas(name).groupby("run", sort=False)
        for name in ("servers", "transfers", "timeline")
    )
    runs = results.to_pandas("runs").set_index("run")
    for column in ("rebuilt_objects", "rebuilt_bytes", "device_bytes_read", "device_bytes_written"):
        assert (servers[column].sum() == runs[column]).all(), column
    assert (servers["sent_bytes"].sum() == runs["rebuilt_bytes"]).all()
    assert (transfers["bytes"].sum() == runs["rebuilt_bytes"]).all()
    assert (timeline["rebuilt_bytes"].sum() == runs["rebuilt_bytes"]).all()
    assert (servers["finish_seconds"].max() == runs["rebuild_seconds"]).all()


def test_a_summary_goes_to_stdout_and_messages_to_stderr(small: Path, tmp_path: Path) -> None:
    first = command("run", small, cwd=tmp_path)
    assert "Rebuild time" in first.stdout
    assert "resilver report runs/small" in first.stdout
    assert first.stderr == ""
    again = command("run", small, "-v", cwd=tmp_path)
    assert "4 of 4 runs were in runs/small already and have been reused" in again.stderr
    assert again.stdout == first.stdout
    verbose = command("run", small, "-v", "-o", "b", cwd=tmp_path)
    # The longest runs come first.
    assert "1/4 cluster.servers=16 seed=" in verbose.stderr


def test_an_interrupt_exits_with_130_and_the_next_call_does_the_rest(
    small: Path, tmp_path: Path
) -> None:
    words = ["run", small, "--set", "study.seeds=5", "-v", "-o"]
    process = subprocess.Popen(
        [*STARTED, *words, "a", "--workers", "2"],
        env=environment(),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again to do the rest" in messages
    assert "Traceback" not in messages
    again = command(*words, "a", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "already and have been reused" in again.stderr
    assert command(*words, "b", cwd=tmp_path).returncode == 0
    assert tables(tmp_path / "a") == tables(tmp_path / "b")


def test_check_estimates_every_point_and_the_resolved_file_is_the_same_study(ran: Path) -> None:
    answer = json_output("check", ran / "study.toml")
    assert answer["runs"] == 4
    assert [point["swept"]["cluster.servers"] for point in answer["estimate"]] == [8, 16]
    assert answer["study"]["redundancy"]["replicas"] == 3
    assert "The study is valid: 4 runs" in output("check", ran / "study.toml")
    again = command("run", ran / "study.toml", "-o", "a", cwd=ran.parent)
    assert "4 of 4 runs were in a already" in again.stderr


def test_one_chart_is_written_by_name_and_a_page_under_no_other_name(
    ran: Path, tmp_path: Path
) -> None:
    wanted = ("--figures", "f", "--chart", "timeline", "--format", "pdf")
    output("report", ran, *wanted, cwd=tmp_path)
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["timeline.pdf"]
    assert (tmp_path / "f" / "timeline.pdf").read_bytes().startswith(b"%PDF")
    answer = json_output("report", ran, "-o", "p.html", "--figures", "all", cwd=tmp_path)
    assert (tmp_path / answer["report"]).read_text(encoding="utf-8").lstrip().startswith("<!")
    assert all((tmp_path / path).stat().st_size > 1000 for path in answer["figures"])
    assert "--figures DIR --format pdf" in refusal("report", ran, "-o", "page.pdf", cwd=tmp_path)
    assert not (tmp_path / "page.pdf").exists()
    assert 'did you mean "timeline"?' in refusal(
        "report", ran, "--figures", "f", "--chart", "timelin", cwd=tmp_path
    )


def test_the_demo_runs_and_is_reused(tmp_path: Path) -> None:
    assert "Rebuild time" in output("demo", cwd=tmp_path)
    assert (tmp_path / "runs" / "demo" / "report.html").exists()
    again = command("demo", "--json", cwd=tmp_path)
    assert "3 of 3 runs were in runs/demo already" in again.stderr
    assert len(json.loads(again.stdout)) == 3


def test_neither_a_command_nor_its_workers_import_pandas(tmp_path: Path) -> None:
    """Which pyarrow does, half a second a process, wherever it is installed."""
    package = tmp_path / "first" / "pandas" / "__init__.py"
    package.parent.mkdir(parents=True)
    written(package, f"open({str(tmp_path / 'imported')!r}, 'a').close()\n__version__ = '3.0.0'\n")
    written(tmp_path / "study.toml", SMALL)
    variables = {**environment(), "PYTHONPATH": str(package.parent.parent)}
    words = [*STARTED, "run", "study.toml", "-o", "run", "--workers", "2", "-q"]
    subprocess.run(words, cwd=tmp_path, env=variables, check=True)
    assert not (tmp_path / "imported").exists()
    # A script's own arrays import it still, so that it can have data frames.
    script = [sys.executable, "-c", "import pyarrow; pyarrow.array([1])"]
    subprocess.run(script, cwd=tmp_path, env=variables, check=False, capture_output=True)
    assert (tmp_path / "imported").exists()
