"""Making a reproduction: runs once, numbers from its rows, pictures, and the command's answers."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from resilver.answer.page import render
from resilver.cli import run as command
from resilver.errors import ConfigError
from resilver.reproduce import Reproduction, Wishes, chosen, entry, reproduce, reproduction_answer
from resilver.reproduce import names as all_names
from resilver.reproduce.answering import summary
from resilver.reproduce.compare import ABSENT
from resilver.reproduce.placing import placement_rates
from resilver.spec import Study
from resilver.study import Results, execute

TINY = ("population.bytes_per_server=1 GiB", 'study.sweep={ "cluster.servers" = [4, 8, 64] }')


class Performer:
    """Executes studies in this process and remembers which."""

    def __init__(self) -> None:
        self.performed: list[tuple[str, int]] = []

    def __call__(self, study: Study, path: Path, workers: int | None) -> Results:
        self.performed.append((path.name, len(study.runs())))
        return execute(study, path, workers=0)


def make(name: str, folder: Path, seeds: int = 1, settings: tuple[str, ...] = TINY) -> Reproduction:
    return reproduce(entry(name), folder, Wishes(seeds, settings), Performer())


def test_what_is_in_the_folder_is_not_done_again(tmp_path: Path) -> None:
    performer = Performer()
    ring = entry("rebuild-ring")
    first = reproduce(ring, tmp_path, Wishes(2, TINY), performer)
    # Fewer seeds are a part of what is there; more seeds extend it.
    fewer = reproduce(ring, tmp_path, Wishes(1, TINY), performer)
    assert performer.performed == [("rebuild-ring", 6)]
    assert len(first.parts[0].evidence.rows) == 6 and len(fewer.parts[0].evidence.rows) == 3
    reproduce(ring, tmp_path, Wishes(3, TINY), performer)
    assert performer.performed == [("rebuild-ring", 6), ("rebuild-ring", 9)]


def test_another_entry_is_run_at_the_sizes_to_compare(tmp_path: Path) -> None:
    performer = Performer()
    settings = (TINY[0], 'study.sweep={ "cluster.servers" = [8, 16] }')
    made = reproduce(entry("rebuild-ring-striped"), tmp_path, Wishes(1, settings), performer)
    assert performer.performed == [("rebuild-ring-striped", 2), ("rebuild-ring", 2)]
    # Its figure has both populations; no run has 1,024 servers, so nothing is judged.
    assert [drawn.name for drawn in made.parts[0].pictures] == ["striped"]
    assert {one.verdict for one in made.comparisons} == {ABSENT}
    assert made.holds and "4 numbers need other runs." in summary(made)


def test_a_reproduction_has_numbers_pictures_words_and_costs_of_its_runs(tmp_path: Path) -> None:
    """The groups are those of Table II, whatever the volume; the objects are not."""
    made = make("rebuild-flat-groups", tmp_path)
    found = {one.key: one for one in made.comparisons}
    assert [found[f"groups_{n}"].ours for n in (4, 8, 64)] == [128, 512, 4096]
    # Of a changed study nothing is judged; as it ships, the objects would differ.
    assert found["objects_4"].verdict == "changed" and made.holds
    assert replace(found["objects_4"], is_changed=False).verdict == "differs"
    assert replace(found["groups_4"], is_changed=False).verdict == "within tolerance"
    names = ["flat-groups", "slowest-chord", "slowest-servers", "slowest-finish"]
    assert [drawn.name for drawn in made.parts[0].pictures] == names
    # Made again of the same runs, its charts are the same to the byte.
    first, again = (
        reproduction_answer(one).charts() for one in (made, make("rebuild-flat-groups", tmp_path))
    )
    assert [one.name for one in again] == names
    for one, other in zip(first, again, strict=True):
        assert one.drawn("svg") == other.drawn("svg")
    text = render(reproduction_answer(made))
    assert "Not the study as it ships" in text and "population.bytes_per_server=1 GiB" in text
    assert "Δ changed" in text and "Changed study: " in text and "✓ within" not in text
    assert "histogram of the 1000 Genomes files, which is not published" in text
    settings = ("population.bytes_per_server=16 MiB", "cluster.servers=16")
    made = make("flagship", tmp_path, settings=settings)
    found = {one.key: one.ours for one in made.comparisons}
    row = made.parts[0].evidence.rows[0]
    assert found["wall_seconds"] == row["wall_seconds"]
    assert found["events_per_second"] == pytest.approx(row["events"] / row["wall_seconds"] / 1e6)
    assert found["replicas"] == pytest.approx(3 * row["population_objects"] / 1e6)


def test_placement_rates_are_measured_for_every_kind_and_number() -> None:
    rows = placement_rates([4, 64], ["straw", "vring"], 3)
    places = [(row["bucket"], row["items"]) for row in rows]
    assert places == [("straw", 4), ("straw", 64), ("vring", 4), ("vring", 64)]
    rates = [row["placements_per_second"] for row in rows]
    # Straw asks all 64 for each copy and the ring does not: 16 times as many as 4.
    assert all(rate > 0 for rate in rates) and rates[1] < rates[3]


def test_a_figure_makes_its_part_alone_and_a_bad_setting_nothing(tmp_path: Path) -> None:
    one = chosen("rebuild-scaling", "table 2")
    made = reproduce(one, tmp_path, Wishes(1, TINY), Performer())
    assert {comparison.figure for comparison in made.comparisons} == {"Table II"}
    assert made.parts[0].pictures == () and made.overview == ()
    performer = Performer()
    members = ("rebuild-ring", "rebuild-flat-groups")
    both = replace(entry("rebuild-scaling"), members=members)
    with pytest.raises(ConfigError, match=r"redundancy\.replica"):
        reproduce(both, tmp_path, Wishes(1, ("redundancy.replica=2",)), performer)
    assert performer.performed == []


def test_the_command_exits_with_4_and_a_list_where_published_numbers_differ(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command(["reproduce", "center-sizing", "-o", str(tmp_path), "--json"]) == 4
    out, err = capfd.readouterr()
    record = json.loads(out)
    assert record["holds"] is False and Path(record["page"]).is_file()
    assert "differs from the source: center-sizing, How full 30 % more than the workload is" in err


def test_a_changed_study_is_shown_and_not_judged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = [word for text in TINY for word in ("--set", text)]
    line = ["reproduce", "rebuild-flat-groups", "-o", str(tmp_path), "--workers", "1"]
    assert command([*line, "--seeds", "1", *settings, "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    measured = record["measured"]["rebuild-flat-groups"]
    assert measured["groups_64"] == 4096 and measured["rate"] is None
    # A figure alone has its own numbers; the groups do not depend on the volume, but are those of
    # one draw.
    assert command([*line, "10", "--seeds", "1", *settings, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["comparisons"]
    assert found[0]["ours"] == 214 and {one["verdict"] for one in found} == {"changed"}
    page = (tmp_path / "rebuild-flat-groups-figure-10.html").read_text(encoding="utf-8")
    assert str(escape("reproduce rebuild-flat-groups 'Figure 10' --seeds 1")) in page


def test_folders_are_checked_before_anything_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What another study left where a part of the second would go stops the first as well."""
    small = ["--seeds", "1", "--workers", "1", "-o", str(tmp_path), "-q", "--set", TINY[0]]
    small += ["--set", 'study.sweep={ "cluster.servers" = [4, 8] }']
    assert command(["reproduce", "rebuild-flat-groups", *small]) == 0
    shutil.move(tmp_path / "rebuild-flat-groups", tmp_path / "rebuild-ring")
    # Its own runs would come first, and those of the other population after them.
    assert command(["reproduce", "rebuild-ring-striped", *small]) == 2
    assert "rebuild-ring' belongs to another study" in capfd.readouterr().err
    assert not (tmp_path / "rebuild-ring-striped").exists()


def test_a_changed_study_says_so_and_stays_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    size = "population.file_size=16 MiB"
    words = ["reproduce", "rebuild-on-loggp", "--seeds", "1", "--workers", "1", "--set", size]
    command([*words, "--set", 'study.sweep={ "recovery.pipelining" = [true] }'])
    assert f"Not the study as it ships: --set '{size}'" in capfd.readouterr().out
    # The unchanged study runs beside it, in the folder of all that ships.
    [folder] = (one for one in (tmp_path / "runs").iterdir() if one.name != "reproduce")
    assert folder.name.startswith("reproduce-")
    # What the study sweeps and this does not is no reason to stop.
    [page] = folder.glob("*.html")
    text = page.read_text(encoding="utf-8")
    # Whose numbers they are stands above all sections.
    assert 0 < text.index("Source: none: no published tool") < text.index("<h2")
    assert str(escape(f"rebuild-on-loggp --seeds 1 --set '{size}'")) in text
    assert "resilver run study.toml" not in text
    assert "need other runs" in text or "needs other runs" in text


@pytest.mark.parametrize("width", [60, 80, 130])
def test_the_list_groups_by_paper_and_fits(
    width: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert command(["reproduce", "--list"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    listed = [line.split()[0] for line in lines if line.split()[0:1]]
    assert all(name in listed for name in all_names())
    text = " ".join(" ".join(lines).split())
    for paper in ("Gonsiorowski et al., ", "Carns, Harms, ", "Mehech, ", "No paper: a goal of"):
        assert text.count(paper) == 1
    # Members stand below their collection, and what else the paper has below them.
    ranks = [listed.index(name) for name in ("rebuild-scaling", "rebuild-ring", "flagship")]
    assert ranks == sorted(ranks) and ranks[2] < listed.index("network-failures")
    if width == 130:
        assert len(lines) < 2 * len(all_names())


def test_the_list_is_json_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert command(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)
    figures = {one["name"]: one["figures"] for one in listed}
    assert "Figure 8" in figures["rebuild-scaling"]
    # Collections stand before what they collect.
    assert list(figures).index("rebuild-scaling") < list(figures).index("rebuild-flat-groups")
    assert all(one["expected_seconds"] > 0 for one in listed)
    # How many numbers of each kind: a collection's are those of its members.
    numbers = {one["name"]: one["numbers"] for one in listed}
    for name in all_names():
        parts = entry(name).members or (name,)
        assert sum(numbers[name].values()) == sum(len(entry(part).published) for part in parts)
    assert numbers["network-topologies"]["by construction"] == 28
