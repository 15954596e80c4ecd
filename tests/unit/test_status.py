"""Anyone can tell how far a sweep is, from its folder alone, whoever performs it and however it
ended; and the sign of life that it keeps there never changes or stops it.
"""

import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver import cli
from resilver.answer.model import Standing
from resilver.columns import TABLE_NAMES
from resilver.errors import ConfigError
from resilver.report.html import write_live
from resilver.study import (
    Incomplete,
    PartialResults,
    Results,
    Status,
    StudyProgress,
    heartbeat,
    status,
)
from resilver.study.heartbeat import STATUS_FILE
from resilver.study.sweep_status import SECONDS_UNTIL_DEAD
from tests.build import refused
from tests.unit.study_fakes import FakeStudy, perform, started


def seen_during(study: FakeStudy, folder: Path, **options: Any) -> list[Status]:
    """The status at every report of progress."""
    seen: list[Status] = []

    def look(_: StudyProgress) -> None:
        seen.append(status(folder))

    with contextlib.suppress(Incomplete):
        perform(study, folder, progress=look, **options)
    return seen


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heart that beats a hundred times a second."""
    monkeypatch.setattr(heartbeat, "SECONDS_BETWEEN_BEATS", 0.01)


SWEEP = {"cluster.servers": [8, 4]}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose driver was killed in the middle of its second run."""
    code = f"""
heartbeat.SECONDS_BETWEEN_BEATS = 0.01
def die(progress):
    if progress.counts.done == 1 and progress.under_way:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
study = FakeStudy(seeds=[1, 2], sweep={SWEEP!r}, seconds=0.1)
perform(study, sys.argv[1], progress=die)
"""
    folder = tmp_path_factory.mktemp("driver") / "killed"
    started(code, folder).wait()
    return folder


@pytest.fixture
def dead(killed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(killed, tmp_path / "killed"))


def edited(folder: Path, **changes: Any) -> None:
    path = folder / STATUS_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def driven(code: str, folder: Path) -> subprocess.Popen[Any]:
    """A driver in a process of its own that has given its first sign of life."""
    driver = started(code, folder)
    while not (folder / STATUS_FILE).exists():
        assert driver.poll() is None
        time.sleep(0.02)
    return driver


@pytest.mark.usefixtures("quick")
def test_a_sweep_under_way_tells_runs_rates_and_its_driver(tmp_path: Path) -> None:
    study = FakeStudy(seeds=[1, 2], sweep=SWEEP, seconds=0.2)
    seen = seen_during(study, tmp_path / "a")
    assert {one.state for one in seen} == {"running"}
    assert [one.finished for one in seen] == sorted(one.finished for one in seen)
    assert (seen[0].finished, seen[0].total, seen[-1].finished) == (0, 4, 4)
    driver = seen[0].driver
    assert driver is not None and driver.process == os.getpid()
    # In the middle of the third run two of servers=8 are done and one of servers=4 is under way.
    middle = next(one for one in seen if one.finished == 2 and one.under_way)
    assert [(dict(p.swept), p.runs, p.finished, p.under_way) for p in middle.points] == [
        ({"cluster.servers": 8}, 2, 2, 0), ({"cluster.servers": 4}, 2, 0, 1),
    ]  # fmt: skip
    assert list(middle.progress.under_way) == ["cluster.servers=4 seed=1"]
    assert 0.5 <= middle.progress.fraction < 1.0
    assert middle.last_finished == pytest.approx(time.time(), abs=10.0)
    # At the end the sign of life is gone and the sweep complete.
    last = status(tmp_path / "a")
    assert (last.state, last.finished, last.left, last.driver) == ("complete", 4, 0, None)
    assert [point.finished for point in last.points] == [2, 2]
    tables = [f"{name}.parquet" for name in TABLE_NAMES]
    others = [".lock", "provenance.json", "shards", "study.toml"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(tables + others)


@pytest.mark.usefixtures("quick")
def test_failures_are_counted_and_named_under_way_and_after(tmp_path: Path) -> None:
    study = FakeStudy(seeds=[1, 2, 3], sweep=SWEEP, error=[2], seconds=0.1)
    seen = seen_during(study, tmp_path / "a")
    # In the last run the failures of both systems have been told.
    for one in (next(s for s in reversed(seen) if s.failed == 2), status(tmp_path / "a")):
        assert [label for label, _ in one.failures] == [
            "cluster.servers=8 seed=2", "cluster.servers=4 seed=2",
        ]  # fmt: skip
        assert "the books do not balance" in one.failures[0][1]
        assert [point.failed for point in one.points] == [1, 1]
    last = status(tmp_path / "a")
    assert (last.state, last.finished, last.failed, last.left) == ("incomplete", 4, 2, 0)


def test_the_driver_that_was_killed_is_told_from_one_that_runs(dead: Path) -> None:
    found = status(dead)
    assert (found.state, found.finished, found.left, found.under_way) == ("dead", 1, 3, 0)
    assert found.driver is not None and found.driver.process != os.getpid()
    # A process that has got the number of the driver is not the driver.
    edited(dead, process=os.getpid(), written=time.time())
    assert status(dead).state == "dead"
    edited(dead, process_started=heartbeat.process_started(os.getpid()))
    assert status(dead).state == "running"
    (dead / STATUS_FILE).unlink()
    perform(FakeStudy(seeds=[1, 2], sweep=SWEEP), dead)
    assert status(dead).state == "complete"
    assert not (dead / STATUS_FILE).exists()


@pytest.mark.parametrize(
    ("age", "state"),
    [(0.0, "running"), (SECONDS_UNTIL_DEAD - 5, "running"), (SECONDS_UNTIL_DEAD + 5, "dead"),
     (-3600.0, "running")],
)  # fmt: skip
def test_a_driver_elsewhere_lives_as_long_as_it_gives_signs(
    dead: Path, age: float, state: str
) -> None:
    # Another machine's processes cannot be seen; a clock that is ahead makes no beat too old.
    edited(dead, space="another boot", written=time.time() - age)
    assert status(dead).state == state


def test_looking_changes_nothing(dead: Path) -> None:
    def everything() -> dict[str, tuple[int, bytes | None]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
            for path in sorted(dead.rglob("*"))
        }

    before = everything()
    status(dead)
    assert everything() == before


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"format": 1}', '{"format": 2}', "\xff", '{"format": "x"}']
)
def test_a_sign_of_life_that_is_none_is_passed_over(dead: Path, text: str) -> None:
    (dead / STATUS_FILE).write_text(text, encoding="latin-1")
    assert (status(dead).state, status(dead).finished) == ("incomplete", 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = ["process", "process_started", "space", "host", "job", "written", "started", "failed",
          "failures", "progress", "last_finished"]  # fmt: skip


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run of two."""
    folder = tmp_path_factory.mktemp("unfinished")
    with pytest.raises(Incomplete):
        perform(FakeStudy(seeds=[1, 2], error=[2]), folder)
    return folder


@given(changes=st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_edit_of_the_sign_of_life_breaks_the_status(
    unfinished: Path, changes: dict[str, Any]
) -> None:
    folder = unfinished
    sender = heartbeat.whereabouts()
    beat = {"format": 1, "written": time.time(), "started": 0.0, "failed": [], "failures": [],
            "progress": None, **sender}  # fmt: skip
    (folder / STATUS_FILE).write_text(json.dumps(beat | changes))
    found = status(folder)
    assert found.finished == 1
    json.dumps(found.to_record())


def test_a_folder_that_cannot_take_the_sign_of_life_takes_the_results(tmp_path: Path) -> None:
    # A directory of that name cannot be replaced by a file.
    (tmp_path / "a" / STATUS_FILE).mkdir(parents=True)
    (tmp_path / "a" / "provenance.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"is corrupt: it has no .* choose another folder"):
        status(tmp_path / "a")
    (tmp_path / "a" / "provenance.json").unlink()
    (tmp_path / "a" / STATUS_FILE).rmdir()
    perform(FakeStudy(seeds=[1]), tmp_path / "a")
    (tmp_path / "a" / STATUS_FILE).mkdir()
    perform(FakeStudy(seeds=[1, 2]), tmp_path / "a")
    assert status(tmp_path / "a").state == "complete"


def test_folders_that_are_none_or_of_before_are_named(tmp_path: Path, dead: Path) -> None:
    assert "does not exist; make it with `resilver run" in refused(status, tmp_path / "none")
    for look in (status, lambda folder: PartialResults(folder, [])):
        assert "it has no provenance.json" in refused(look, tmp_path)
    (tmp_path / "file").write_text("hello")
    assert "is a file; give a folder that" in refused(status, tmp_path / "file")
    path = dead / "provenance.json"
    record = json.loads(path.read_text())
    del record["points"]
    path.write_text(json.dumps(record))
    assert (status(dead).points, status(dead).finished) == ((), 1)
    assert "of an earlier resilver; call `resilver run` again" in refused(PartialResults, dead, [])
    path.write_text(json.dumps(record | {"run_keys": 7}))
    assert "is not as resilver writes it" in refused(status, dead)


def test_the_command_prints_json_and_ends_with_three_for_what_is_left(
    dead: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["status", str(dead), "--json"]) == 3
    record = json.loads(capsys.readouterr().out)
    counts = (record["runs"], record["finished"], record["left"])
    assert (record["state"], counts) == ("dead", (4, 1, 3))
    assert cli.run(["status", str(dead)]) == 3
    text = capsys.readouterr().out
    assert "ended without a report" in text and "1 of 4 runs" in text
    perform(FakeStudy(seeds=[1, 2], sweep=SWEEP), dead)
    assert cli.run(["status", str(dead)]) == 0
    assert "complete" in capsys.readouterr().out
    assert cli.run(["status", str(dead / "none")]) == 2


def test_watching_prints_a_line_a_change_until_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resilver.cli.status._SECONDS_BETWEEN_LOOKS", 0.05)
    folder = tmp_path / "a"
    driver = driven("perform(FakeStudy(seeds=[1, 2, 3], seconds=0.5), sys.argv[1])", folder)
    assert cli.run(["status", "--watch", str(folder)]) == 0
    driver.wait()
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].startswith("running: 0 of 3 runs")
    assert (lines[-1], said.err) == ("complete: 3 of 3 runs", "")


def test_a_sweep_of_any_length_goes_on_telling_how_far_it_is() -> None:
    """0.25 s doubled three times is at the usual 2 s, and so are all pauses from there on."""
    assert {heartbeat.pause_seconds(beats) for beats in (3, 1_025, 10**9)} == {2.0}
    assert heartbeat.SECONDS_BETWEEN_BEATS == 2.0


# The finished runs of a sweep read as its whole tables do, and its page follows it to the end.


THREE = {"cluster.servers": [8, 4, 2.5]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    perform(FakeStudy(seeds=[2, 1], sweep=THREE), folder)
    return folder


def test_runs_read_from_shards_are_the_tables_in_order_and_type(whole: Path) -> None:
    results = Results.open(whole)
    keys = results.runs["run"].to_pylist()
    partial = PartialResults(whole, keys).holding(keys)
    for name in TABLE_NAMES:
        assert getattr(results, name).num_rows > 0, name
        assert getattr(partial, name).equals(getattr(results, name)), name
    assert (partial.study, partial.provenance) == (results.study, results.provenance)
    # The third run is of servers = 4, a real number since one of the sweep's values is.
    partial = PartialResults(whole, [keys[2], keys[0]])
    assert partial.runs.schema == results.runs.schema
    assert partial.runs.to_pylist() == [results.runs.to_pylist()[at] for at in (0, 2)]
    assert partial.servers.num_rows == 0
    assert set(partial.holding([keys[2]]).servers["run"].to_pylist()) == {keys[2]}
    assert PartialResults(whole, []).runs.schema == results.runs.schema


def test_the_page_says_how_far_it_is_and_loads_itself_again(whole: Path, tmp_path: Path) -> None:
    keys = Results.open(whole).runs["run"].to_pylist()

    def page(count: int, standing: Standing) -> str:
        partial = PartialResults(whole, keys[:count])
        return write_live(partial, tmp_path / "a.html", standing).read_text()

    text = page(2, Standing(2, 6, 1, "noon", 61.0, 5))
    assert "2 of 6 runs so far, 1 failed, about 1 min 1 s left" in text
    assert '<html lang="en" data-reload="5">' in text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in text
    stopped = page(2, Standing(2, 6, 0, "noon"))
    assert "2 of 6 runs; the sweep has stopped" in stopped
    assert "data-reload=" not in stopped and 'http-equiv="refresh"' not in stopped
    # Before the first run nothing is drawn, so the page does not carry what draws.
    waits = page(0, Standing(0, 6, 0, "noon", None, 5))
    assert "0 of 6 runs so far" in waits and 'data-reload="5"' in waits and len(waits) < 30_000


def test_watching_ends_with_the_final_page_or_says_what_is_left(
    whole: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.run(["report", str(whole), "--watch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(whole / "report.html")
    text = (whole / "report.html").read_text()
    assert "so far" not in text and "data-reload=" not in text
    with pytest.raises(Incomplete):
        perform(FakeStudy(seeds=[1, 2, 3], error=[2]), tmp_path / "a")
    page = tmp_path / "a" / "report.html"
    assert cli.run(["report", str(page.parent), "--watch"]) == 3
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [str(page)]
    assert "2 of 3 runs are finished, and the sweep has stopped" in captured.err
    assert "2 of 3 runs; the sweep has stopped, 1 failed" in page.read_text()


def test_the_page_follows_a_sweep_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("LOOKS", "PAGES"):
        monkeypatch.setattr(f"resilver.cli.report._SECONDS_BETWEEN_{pause}", 0.1)
    folder = tmp_path / "a"
    driver = driven("perform(FakeStudy(seeds=[1, 2, 3, 4], seconds=0.4), sys.argv[1])", folder)
    assert cli.run(["report", str(folder), "--watch"]) == 0
    driver.wait()
    assert status(folder).state == "complete"
    assert "so far" not in (folder / "report.html").read_text()
    assert [path.name for path in folder.glob(".*")] == [".lock"]
