"""The finished runs of a sweep read as its whole tables do, and its page follows it to the end."""

import json
import time
from pathlib import Path

import pytest

from resilver import cli
from resilver.answer.model import Standing
from resilver.columns import TABLE_NAMES
from resilver.report.html import write_live
from resilver.study import Incomplete, PartialResults, Results, status
from tests.build import refused
from tests.unit.study_fakes import FakeStudy, perform, started

SWEEP = {"cluster.servers": [8, 4, 2.5]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    perform(FakeStudy(seeds=[2, 1], sweep=SWEEP), folder)
    return folder


def test_all_runs_read_from_their_shards_are_the_tables(whole: Path) -> None:
    results = Results.open(whole)
    keys = results.runs["run"].to_pylist()
    partial = PartialResults(whole, keys).holding(keys)
    for name in TABLE_NAMES:
        assert getattr(results, name).num_rows > 0, name
        assert getattr(partial, name).equals(getattr(results, name)), name
    assert (partial.study, partial.provenance) == (results.study, results.provenance)


def test_some_runs_keep_the_order_and_the_types_of_the_whole_sweep(whole: Path) -> None:
    results = Results.open(whole)
    keys = results.runs["run"].to_pylist()
    # The third run is of servers = 4, a real number since one of the sweep's values is.
    partial = PartialResults(whole, [keys[2], keys[0]])
    assert partial.runs.schema == results.runs.schema
    assert partial.runs.to_pylist() == [results.runs.to_pylist()[at] for at in (0, 2)]
    assert partial.servers.num_rows == 0
    assert set(partial.holding([keys[2]]).servers["run"].to_pylist()) == {keys[2]}
    assert PartialResults(whole, []).runs.schema == results.runs.schema


def test_a_folder_that_cannot_be_read_so_says_why(whole: Path, tmp_path: Path) -> None:
    assert "it has no provenance.json" in refused(PartialResults, tmp_path, [])
    record = json.loads((whole / "provenance.json").read_text())
    del record["points"]
    (tmp_path / "provenance.json").write_text(json.dumps(record))
    said = refused(PartialResults, tmp_path, [])
    assert "of an earlier resilver; call `resilver run` again" in said


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


def test_watching_a_complete_folder_writes_the_final_page(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["report", str(whole), "--watch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(whole / "report.html")
    text = (whole / "report.html").read_text()
    assert "so far" not in text and "data-reload=" not in text


def test_watching_a_sweep_that_was_left_says_so_and_ends_with_three(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Incomplete):
        perform(FakeStudy(seeds=[1, 2, 3], error=[2]), tmp_path / "a")
    assert cli.run(["report", str(tmp_path / "a"), "--watch"]) == 3
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [str(tmp_path / "a" / "report.html")]
    assert "2 of 3 runs are finished, and the sweep has stopped" in captured.err
    assert (
        "2 of 3 runs; the sweep has stopped, 1 failed"
        in (tmp_path / "a" / "report.html").read_text()
    )


def test_the_page_follows_a_sweep_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("LOOKS", "PAGES"):
        monkeypatch.setattr(f"resilver.cli.report._SECONDS_BETWEEN_{pause}", 0.1)
    folder = tmp_path / "a"
    driver = started("perform(FakeStudy(seeds=[1, 2, 3, 4], seconds=0.4), sys.argv[1])", folder)
    while not (folder / "status.json").exists():
        assert driver.poll() is None
        time.sleep(0.02)
    assert cli.run(["report", str(folder), "--watch"]) == 0
    driver.wait()
    assert status(folder).state == "complete"
    assert "so far" not in (folder / "report.html").read_text()
    assert [path.name for path in folder.glob(".*")] == [".lock"]
