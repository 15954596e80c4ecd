"""`resilver import benchmark`: files of any program become one table, shown and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resilver import cli
from resilver.importers.benchmarks import read_benchmarks
from tests.unit import benchmark_texts as texts

MIB = 2**20


@pytest.fixture
def outputs(tmp_path: Path) -> list[str]:
    """Every text as a file of its own."""
    paths = []
    for name, text in texts.TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        paths.append(str(tmp_path / f"{name}.txt"))
    return paths


def test_all_programs_go_into_one_table(
    outputs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["import", "benchmark", *outputs, "--json"]) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    found = read_benchmarks(outputs)
    assert told["rates"] == found.to_dicts()
    assert {row["layer"] for row in told["rates"]} == {"block", "server", "file system", "metadata"}
    assert {row["program"] for row in told["rates"]} == {
        *("fair-lio", "OLCF suite", "obdfilter-survey", "sgpdd-survey", "IOR", "mdtest", "IO500"),
        *("fio", "elbencho"),
    }
    # What was left out is in both places.
    assert told["notes"] == list(found.notes) and told["notes"][0] in captured.err
    # Writes of 1 MiB in order: the suite's best is 500 MiB/s of one device, sgpdd's 320.5 of two,
    # so that fair-lio's 190 of two is none; and the survey's 3,600.5 of seven.
    (server,) = [
        one
        for one in told["costs"]
        if (one["mode"], one["request_bytes"], one["above"]) == ("write", MIB, "server")
    ]
    assert server["devices"] == 7
    assert server["cost"] == pytest.approx(1 - 3600.5 / (320.5 * 7 / 2), rel=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_table_is_written_and_read_again(
    outputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    table = tmp_path / f"rates.{suffix}"
    assert cli.run(["import", "benchmark", *outputs, "-q", "-o", str(table)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""
    assert read_benchmarks(table).rows == read_benchmarks(outputs).rows


@pytest.mark.parametrize("columns", [60, 80])
def test_no_name_is_cut_on_the_terminal(
    outputs: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for path in outputs:
        assert cli.run(["import", "benchmark", path]) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= columns and "…" not in out


def test_wrong_files_and_places_are_refused(
    outputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("a list of things to do\n", encoding="utf-8")
    for words, message in (
        ([str(tmp_path / "absent")], "there is no such file"),
        ([str(tmp_path / "notes.txt")], "no benchmark's output that is known here"),
        ([outputs[0], outputs[0]], "this file is given twice"),
        ([outputs[0], "-o", str(tmp_path / "rates.xlsx")], "a .csv or a .parquet file"),
        ([outputs[0], "-o", str(tmp_path / "none" / "rates.csv")], "there is no folder"),
    ):
        assert cli.run(["import", "benchmark", *words]) == 2
        captured = capsys.readouterr()
        assert message in captured.err and captured.out == ""
    # Every file that is wrong is told at once.
    wrong = [str(tmp_path / "absent"), str(tmp_path / "notes.txt")]
    assert cli.run(["import", "benchmark", *wrong]) == 2
    err = capsys.readouterr().err
    assert all(path in err for path in wrong)
