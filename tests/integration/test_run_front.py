"""What `resilver run` answers: parts failed in turn, narrow terminals, settings and sweeps."""

from pathlib import Path

import pytest

from resilver import Results, Study, cli
from resilver.spec.toml import write_toml
from resilver.study.system_runs import format_swept
from resilver.units import Bytes, BytesPerSecond
from tests.build import STREAMED, changed
from tests.integration.study_runs import study_text
from tests.terminal import json_output, output, texts, with_page, written

PARTS, SWEPT = study_text("parts"), study_text("swept")


def words_of(folder: Path, text: str, *words: str) -> list[str]:
    """Write the study; the words that run it into the folder `runs`."""
    (folder / "study.toml").write_text(text)
    return ["run", str(folder / "study.toml"), "-o", str(folder / "runs"), *words]


@pytest.mark.parametrize(("level", "parts"), [("osd", 6), ("host", 3)])
def test_each_part_of_a_level_fails_and_the_slowest_comes_first(
    level: str, parts: int, tmp_path: Path
) -> None:
    # Rule: a run for each part, at the time of the study's own fault and instead of it.
    rows = json_output(*words_of(tmp_path, PARTS, "--each", level, "-q", "--workers", "1"))
    names = {f"{level}.{number} at 2 s" for number in range(parts)}
    assert {row["faults"] for row in rows} == names and len(rows) == parts
    times = [row["rebuild_seconds"] for row in rows]
    assert times == sorted(times, reverse=True) and times[-1] > 0
    lines = output(*words_of(tmp_path, PARTS, "--each", level, "--workers", "1")).splitlines()
    first = next(rank for rank, line in enumerate(lines) if line.split()[:1] == [level])
    # A long cell goes on in lines of its own.
    below = [line.split()[:4] for line in lines[first + 2 :]]
    shown = [" ".join(words) for words in below if words[:1] and words[0].startswith(f"{level}.")]
    assert shown[:parts] == [row["faults"] for row in rows]


def test_the_ranking_names_what_is_waited_for(tmp_path: Path) -> None:
    # Rule: a row of the ranking names the part that its run waited for, as the table has it.
    lines = output(*words_of(tmp_path, PARTS, "--each", "host", "--workers", "1")).splitlines()
    named = {line.split()[0]: line for line in lines if line.strip().startswith("host.")}
    results = Results.open(tmp_path / "runs")
    hosts = {row["run"]: row["faults"].split()[0] for row in results.runs.to_pylist()}
    limits = [row for row in results.limits.to_pylist() if row["is_limit"]]
    assert "last waits for" in "".join(lines) and len(limits) == len(hosts) == 3
    for limit in limits:
        assert (limit["name"] or limit["kind"].replace("_", " ")) in named[hosts[limit["run"]]]


def test_hosts_of_a_real_cluster_fail_in_turn(report: Path, tmp_path: Path) -> None:
    # Rule: every host and every OSD that is in has a system of its own; the 88-OSD report has ten.
    study = written(tmp_path / "study.toml", f'[cluster]\nceph = "{report}"\n[study]\n')
    for level, count in (("host", 10), ("osd", 88)):
        runs = Study.load(study, [f"study.each={level}"]).runs()
        names = {run.swept["faults"] for run in runs}
        assert len(runs) == len(names) == count


def test_a_study_that_says_each_is_the_same_as_the_option(tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", study_text("parts", study={"each": "host"}))
    said = Study.load(study)
    study.write_text(PARTS)
    asked = Study.load(study, ["study.each=host"])
    assert [one.key for one in said.runs()] == [one.key for one in asked.runs()]
    study.write_text(said.to_toml())
    assert [one.key for one in Study.load(study).runs()] == [one.key for one in said.runs()]
    # Without a fault of its own a part fails at the beginning, told as any failure is.
    study.write_text(study_text("parts", faults=None))
    (first, *_) = Study.load(study, ["study.each=osd"]).runs()
    assert (first.swept["faults"], first.system.faults[0].starts_rebuild) == ("osd.0", True)


def test_swept_values_stay_where_other_columns_have_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = output(*words_of(tmp_path, SWEPT, "--workers", "1")).splitlines()
    for code in ("copies 3", "rs 4+2"):
        for rate in ("50 MB/s", "100 MB/s"):
            assert any(code in line and rate in line for line in lines), (code, rate)
    assert any(line.startswith("Not shown") for line in lines)
    # Where nothing else has room, each row is a paragraph that begins with them.
    monkeypatch.setenv("COLUMNS", "26")
    turned = " ".join(output(*words_of(tmp_path, SWEPT)).split())
    assert turned.count("code copies 3, bandwidth 50 MB/s rebuild time: ") == 1


def test_clients_enter_by_as_many_routers_as_hosts_have_ports(tmp_path: Path) -> None:
    # Rule: without a word of routers there are twelve for twelve servers, and the summary says so.
    (tmp_path / "study.toml").write_text(SWEPT)
    system = Study.load(tmp_path / "study.toml").runs()[0].system
    assert system.cluster.fabric.router_count == 12
    words = " ".join(output(*words_of(tmp_path, SWEPT, "--workers", "1")).split())
    assert "One client gateway per host port is assumed" in words
    stated = study_text("swept", cluster__fabric={"routers": 3})
    (tmp_path / "study.toml").write_text(stated)
    assert Study.load(tmp_path / "study.toml").runs()[0].system.cluster.fabric.routers == 3


def test_a_notebook_shows_a_table_of_systems_and_the_study_folded(tmp_path: Path) -> None:
    # Rule: a row a system under one of headings, swept values in their words, names escaped.
    text = study_text("swept", study__title="<b>")
    assert cli.run(words_of(tmp_path, text, "--workers", "1", "-q")) == 0
    results = Results.open(tmp_path / "runs")
    shown = results._repr_html_()
    assert repr(results) == f"<Results {str(tmp_path / 'runs')!r}: 4 runs>"
    assert shown.count("<tr>") == 5 and shown.count("<svg") == 4
    assert "<td>copies 3</td><td>50 MB/s</td>" in shown
    study = Study.load(tmp_path / "study.toml")
    assert repr(study) == "<Study '<b>': 4 systems x 1 seed>"
    assert "<b>" not in study._repr_html_() and "&lt;b&gt;" in study._repr_html_()


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "swept.toml", study_text("ended"))


def test_swept_values_keep_their_words(ended: Path) -> None:
    said = output("check", ended)
    for words in ("50 MB/s", "2.5 GiB/s", "1.5 MiB", "1 MB"):
        assert words in said, words
    assert "50000000" not in said and "2560" not in said


@pytest.mark.parametrize("text", ["1 B", "1000 B", "1 kB", "1 KiB", "1.5 MiB", "12.5 MB", "7 B"])
def test_words_of_a_value_mean_the_value(text: str) -> None:
    size = int(Bytes.parse(text))
    assert int(Bytes.parse(format_swept("population.file_size", size))) == size
    rate = float(BytesPerSecond.parse(f"{text}/s"))
    assert float(BytesPerSecond.parse(format_swept("recovery.bandwidth", rate))) == rate


@pytest.mark.parametrize(
    ("words", "setting", "key"),
    [
        ("check", "recovery.bandwidth=80 MB/s", "recovery.bandwidth"),
        ("run -q -o runs/set", "recovery.bandwidth=80 MB/s", "recovery.bandwidth"),
        ("check", "population.files=10", "population.files, population.file_size"),
        ("check", "cluster.servers=9", ""),
    ],
)
def test_a_sweep_that_a_setting_ends_is_told_of(
    ended: Path, words: str, setting: str, key: str
) -> None:
    _, said = texts(*words.split(), ended, "--set", setting)
    assert (f"note: the study sweeps {key}; --set {setting}" in said) if key else said == ""


def test_a_study_file_of_dots_has_its_runs_below_runs(ended: Path) -> None:
    dots = written(ended.with_name("...toml"), ended.read_text())
    assert cli.run(["run", str(dots), "-q", "--set", "recovery.bandwidth=1 GB/s"]) == 0
    assert (ended.parent / "runs" / "study" / "runs.parquet").is_file()
    assert sorted(path.name for path in ended.parent.iterdir()) == ["...toml", "runs", "swept.toml"]


@pytest.mark.parametrize(
    ("aim", "sign", "least"),
    [
        ("most read_bytes_per_second", -1.0, 0.0),
        ("least p99_delay, rebuild_bytes_per_second >= 2 GB/s", 1.0, 2e9),
        ("most read_bytes_per_second, rebuild_bytes_per_second >= 1 TB/s", -1.0, 1e12),
    ],
)
def test_an_aim_ranks_the_systems_of_a_sweep(
    aim: str, sign: float, least: float, tmp_path: Path
) -> None:
    """Best first, as sorted by hand; what breaks the limit comes last and says so."""
    sweep = {"lanes.clients": [0.9, 0.25, 0.5], "traffic.streams.window": [2, 4]}
    study = write_toml(changed(STREAMED, study={"sweep": sweep}))
    words = words_of(tmp_path, study, "--workers", "1", "--aim", aim)
    rows = json_output(*words, "-q")
    column = "p99_delay_seconds" if "p99" in aim else "read_bytes_per_second"
    keeps = [row["rebuild_bytes_per_second"] >= least for row in rows]
    order = [(not kept, sign * row[column]) for kept, row in zip(keeps, rows, strict=True)]
    assert order == sorted(order) and len(set(order)) == len(rows) == 6
    text = output(*words)
    lines = text.split("best first")[1].split("Key figures")[0].splitlines()
    shown = [line.split() for line in lines if line.startswith("0.")]
    assert [cells[:2] for cells in shown] == [[f"{row[key]:g}" for key in sweep] for row in rows]
    said = " ".join(text.split("Simulated")[0].split())
    limit = aim.partition(", ")[2]
    if limit:
        assert [cells[2] for cells in shown] == ["yes" if kept else "no" for kept in keeps]
    best = ", ".join(f"{key} = {rows[0][key]:g}" for key in sweep)
    _, page = with_page(tmp_path, "report", tmp_path / "runs")
    assert "The systems, best first" in " ".join(page.split())
    words_for = "most" if sign < 0 else "least"
    if not any(keeps):
        assert f"None of 6 systems keeps {limit}." in said
    elif limit:
        assert 0 < sum(keeps) < 6 and f"Of 6 systems, {sum(keeps)} keep {limit}." in said
        assert f"{best} has the {words_for} {column} of these" in said
    else:
        assert f"Of 6 systems, {best} has the {words_for} {column}" in said
