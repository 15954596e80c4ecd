"""What can be reproduced: every entry is whole, and the list says which figure is which."""

import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from resilver import ConfigError, catalog
from resilver.report import NAMES
from resilver.reproduce import compare, entries, entry, names
from resilver.reproduce.answering import conclusion_words
from resilver.reproduce.compare import DIFFERS, DIVISORS, NOT_JUDGED, PASSES, WITHIN
from resilver.reproduce.conclusions import UNMODELLED, conclude
from resilver.reproduce.entries import figure_name, select, stand_in
from resilver.reproduce.evidence import shipped_study
from resilver.reproduce.measured import measured
from resilver.reproduce.published import PREDICTED
from resilver.reproduce.tables import Row, Tables, table_of
from tests.build import refused
from tests.unit.study_shelf import invented

# The figures and tables of each paper that have numbers: its others are drawings.
FIGURES = {
    "rebuild-scaling": [f"Figure {n}" for n in (2, 3, *range(5, 18))] + ["Table I", "Table II"],
    "network-failures": [f"Figure {n}" for n in range(7, 27)] + ["Table 1"],
    "burst-buffer": ["Figure 1", "Table 1", "Table 2"],
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_paper_has_every_figure_and_each_has_an_entry(name: str) -> None:
    whole = entry(name)
    assert set(whole.figures) == set(FIGURES[name])
    for figure in whole.figures:
        assert select(whole, figure).members
    assert whole.expected_seconds == sum(entry(name).own_seconds for name in whole.members)


def test_collections_come_first_and_studies_are_those_of_the_checkout(root: Path) -> None:
    kinds = [(entry(name).kind != "collection", not entry(name).figures) for name in names()]
    assert kinds == sorted(kinds) and names()[0] == "burst-buffer"
    here = sorted(path.parent.name for path in (root / "studies").glob("*/study.toml"))
    assert catalog.list("studies") == here


runs_of = cache(lambda name: shipped_study(name).runs())  # Three tests of a worker ask for them.


@cache
def measured_once(name: str) -> list[Row]:
    """What an entry without runs measures, a little of it where that says as much."""
    one = entry(name)
    options = dict(one.options)
    options |= {"bytes": "64 GiB"} if one.kind == "census" else {}
    options |= {"items": [4, 1024]} if one.kind == "placements" else {}
    options |= {"cases": 6} if one.kind == "namespaces" else {}
    options |= {"cases": 3, "silent": 3} if one.kind == "signatures" else {}
    options |= {"states": 30, "draws": 12} if one.kind == "advice" else {}
    if one.kind == "durability":
        options["estimates"] = {**options["estimates"], "trajectories": 100}
    if one.kind == "layouts":
        # Of frail drives that are hardly repaired a pilot sees losses at once.
        frail = {"repair": {"device": "1 KiB/s"}, "failures": [{"afr": "90 %"}]}
        few = {"method": "plain", "trajectories": 10, "mission": "20 d", **frail}
        options |= {"durability": few, "swept": [], "outage": {"share": 0.01, "most": 3}}
    if one.kind == "recoveries":
        fewer = {"flash": {"objects": 2000}, "disks": {"objects": 250}}
        fewer |= {"releases": {"groups": 128, "stored_bytes": 600_000_000_000}}
        options = {key: {**value, **fewer.get(key, {})} for key, value in options.items()}
    return measured(one.kind, options)


def once(names: Iterable[str]) -> list[Any]:
    """Names of entries as parameters: what an entry measures serves all tests of one worker."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"entry {name}")) for name in names]


def tables_of(name: str, folder: Path) -> Tables:
    """An entry's tables as its runs would leave them, with no measured value in any."""
    one = entry(name)
    if not one.has_runs:
        return Tables(table_of(measured_once(name)), views=one.views)
    runs = invented(name, folder, known=False).runs
    return Tables(runs, folder, one.views, dict.fromkeys(one.beside, runs))


@pytest.mark.parametrize("name", names())
def test_an_entry_is_whole(name: str) -> None:
    """Its numbers have known units and figures, its pictures can be drawn, its names exist."""
    one = entry(name)
    assert one.title and one.source and one.expected_seconds > 0
    assert all(stand_in(item).instead_of for item in one.stand_ins)
    for number in one.published:
        assert number.unit in DIVISORS
        assert number.figure in (*one.figures, "")
        limits = [limit for limit in number.allowed if isinstance(limit, float)]
        assert limits == sorted(limits)
        assert number.broken_rule() is None
    keys = [number.key for number in one.published]
    assert len(set(keys)) == len(keys)
    for picture in one.pictures:
        drawn = ("curve", "histogram", "bars", "cumulative", "parallel")
        assert (picture.draw in drawn) == bool(picture.query)
        assert picture.draw in (*drawn, "rate", *NAMES) and picture.y.unit in DIVISORS
        assert set(picture.figures) <= set(one.figures)
        starred = picture.stars.values() if picture.draw == "parallel" else [picture.stars]
        assert {key for keys in starred for key in keys if "/" not in key} <= {"", *keys}
        assert set(picture.series) <= {name, *one.beside, *one.members}
    whole = {*one.beside, *one.members, *(() if one.members else (name,))}
    assert one.expected_seconds == sum(entry(other).own_seconds for other in sorted(whole))
    assert resources.files("resilver.catalog").joinpath("studies", name, "README.md").is_file()


@pytest.mark.parametrize("name", once(name for name in names() if entry(name).kind != "collection"))
def test_every_query_chooses_runs_of_its_study(name: str, tmp_path: Path) -> None:
    """DuckDB understands each; a median over seeds has all of them, a picture has rows."""
    one, tables = entry(name), tables_of(name, tmp_path)
    seeds = len({run.seed for run in runs_of(name)}) if one.has_runs else 1
    for number in one.published:
        tables.ask(number.query)
        [(found,)] = tables.ask(number.asking("count(*)"))[1]
        # Nothing is known here of what is chosen by a measured value.
        if "link_busy_fraction >" not in number.condition:
            assert found >= (seeds if number.table == "runs" else 1), number.key
    for picture in one.pictures:
        if picture.draw != "cumulative" and picture.query:
            assert tables.ask(picture.query)[1], picture.name
        elif picture.query:
            tables.ask(picture.query)


CONCLUSIONS = {"burst-buffer": 11, "network-failures": 20, "center-wide": 19, "rebuild-scaling": 5}


@pytest.mark.parametrize("whole", CONCLUSIONS)
def test_conclusions_rest_on_numbers_that_are_there(whole: str) -> None:
    one = entry(whole)
    known = {f"{name}/{number.key}" for name in one.members for number in entry(name).published}
    assert len(one.conclusions) >= CONCLUSIONS[whole]
    for said in one.conclusions:
        assert set(said.rests_on) <= known, said.claim
        # What no number decides says why.
        assert said.rests_on or said.why, said.claim


def test_the_lessons_of_a_center_are_nineteen_and_what_no_model_has_is_told() -> None:
    whole = entry("center-wide")
    assert [one.claim.partition(":")[0] for one in whole.conclusions] == [
        str(number) for number in range(1, 20)
    ]
    # A collection of collections has the members of all, each once.
    assert set(entry("center-layers").members) < set(whole.members)
    assert len(set(whole.members)) == len(whole.members)
    said = [conclude(one, []) for one in whole.conclusions]
    silent = [one for one in said if one.verdict == UNMODELLED]
    assert [one.said.claim.partition(":")[0] for one in silent] == ["3", "5", "6", "7", "8", "9"]
    assert f"of {len(silent)} there is no model" in conclusion_words(said)


# What differs from the paper, and why the README of each says so.
DIFFERING = {
    # The text's numbers against the text's own arithmetic, and disks at random at 20 % of 1 TB/s.
    "center-sizing": {
        *("checkpoint", "checkpoint_time", "head_room_fill", "knee_over_stored"),
        *("random_low", "random_high"),
    },
    # The published list of routers, which others counted otherwise.
    "center-routes": {"routers_of_one", "clients_of_one"},
    # An average seek is shorter than theirs, and a rebuild slower than a disk.
    "center-disk-sheets": {"read", "write", "rebuild"},
    # More is in use than purging leaves of the inflow that is stated.
    "center-sizes-published": {"in_use"},
    # Large jobs in production wait for more than their slowest target.
    "center-placement": {
        *("busy_126", "busy_252", "busy_504"),
        *("fresh", "drawn_longest", "gain_2048", "gain_4096", "drawn_4096"),
        *("rate_4096", "rate_adios_2048"),
    },
}


JUDGED = (
    *("burst-buffer-tables", "burst-buffer-switches", "center-sizing", "center-culling"),
    *("center-sets", "center-namespaces", "center-routes", "center-advice", "center-placement"),
    *("center-disk-sheets", "center-sizes-published"),
)


@pytest.mark.parametrize("name", once(JUDGED))
def test_what_needs_no_run_differs_where_it_is_said_alone(name: str, tmp_path: Path) -> None:
    one, tables = entry(name), tables_of(name, tmp_path)
    made = {number.key: compare(one.name, number, tables) for number in one.published}
    differing = {key for key, found in made.items() if found.verdict == DIFFERS}
    assert differing == DIFFERING.get(name, set())
    others = {found.verdict for key, found in made.items() if key not in differing}
    assert others <= {WITHIN, PASSES, NOT_JUDGED}
    # As printed, to four digits: what a tolerance allows beyond them, arithmetic does not need.
    if name.startswith("burst-buffer"):
        printed = [found for found in made.values() if found.figure.startswith("Table")]
        assert all(abs(it.ours - it.paper) <= 0.005 for it in printed if it.paper and it.ours)


@pytest.mark.parametrize("name", names())
def test_no_predicted_number_may_be_off_by_a_fifth(name: str) -> None:
    for number in entry(name).published:
        if number.kind != PREDICTED:
            continue
        limits = [limit for limit in number.allowed if limit is not None]
        # What a source says in words has a limit, which is its own and no expression of ours.
        assert limits and all(isinstance(limit, float) for limit in limits), number.key
        if number.paper is not None:
            reach = abs(number.paper) / 5 or 1.0
            assert all(abs(float(limit) - number.paper) < reach for limit in limits), number.key


# Equal by chance or by words: what is published is none of what its study was given.
NOT_GIVEN = {
    "burst-buffer-sweep": {"100 %", "50 %", "0.9"},  # shares of clients, swept
    "network-load": {"50 %"},  # a link that counts as busy
    "center-sizing": {"1 TB/s"},  # the demand, which the text's memory does not give
}


def numbers_of(value: Any) -> Iterator[float]:
    """All numbers of a configuration, those in texts as they are and in SI units."""
    if isinstance(value, str):
        for digits, unit in re.findall(r"(?<![\w.])(\d[\d_]*\.?\d*)\s*([A-Za-z%/]*)", value):
            yield float(digits)
            yield float(digits) * DIVISORS.get(unit, 1.0)
    elif isinstance(value, dict):
        yield from (n for key, one in value.items() if key != "title" for n in numbers_of(one))
    elif isinstance(value, list):
        yield from (n for one in value for n in numbers_of(one))
    elif not isinstance(value, bool) and isinstance(value, int | float):
        yield float(value)


@pytest.mark.parametrize("name", once(names()))
def test_what_is_predicted_was_not_put_in(name: str, root: Path) -> None:
    """No published number of a predicted row stands among its inputs, with all defaults."""
    given = {1.0}
    if entry(name).has_runs:
        for run in runs_of(name):
            given |= {one for one in numbers_of(run.system.resolved()) if one}
    for file in ("study.toml", "reproduce.toml"):
        if (path := root / "studies" / name / file).is_file():
            table = tomllib.loads(path.read_text())
            for words in ("title", "source", "figures", "pictures", "conclusions"):
                table.pop(words, None)
            given |= {one for one in numbers_of(table) if one}
    put_in = set()
    for number in entry(name).published:
        # A small count is equal to some other by chance.
        is_count = number.unit in ("", "hops") and number.paper in range(13)
        if number.kind == PREDICTED and number.paper and not is_count:
            form = number.paper * DIVISORS[number.unit]
            if any(abs(one / form - 1.0) < 1e-4 for one in given):
                put_in.add(f"{number.paper:g} {number.unit}".strip())
    assert put_in == NOT_GIVEN.get(name, set())


@pytest.fixture(scope="module")
def unpublished(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The studies that ship, with no published number."""
    folder = shutil.copytree(root / "studies", tmp_path_factory.mktemp("none") / "studies")
    for file in folder.glob("*/published.csv"):
        file.write_text(file.read_text().splitlines()[0] + "\n")
    return folder


@pytest.mark.parametrize("name", names())
def test_no_input_rests_on_what_is_published(
    name: str, unpublished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = entry(name)
    monkeypatch.setattr(entries, "_folder", lambda: unpublished)
    assert entries.entry.__wrapped__(name) == replace(whole, published=())
    study = unpublished / name / "study.toml"
    assert not study.is_file() or "published.csv" not in study.read_text()


def test_every_file_of_a_study_is_in_the_wheel(root: Path) -> None:
    """maturin takes what `include` names, through the link of the catalog."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    linked = Path("python") / "resilver" / "catalog" / "studies"
    assert (root / linked).is_symlink() and (root / linked).samefile(root / "studies")
    included: set[Path] = set()
    for rule in settings["tool"]["maturin"]["include"]:
        assert set(rule["format"]) == {"sdist", "wheel"}
        if Path(rule["path"]).is_relative_to(linked):
            included |= {path for path in root.glob(rule["path"]) if path.is_file()}
    here = {path for path in (root / "studies").rglob("*") if path.is_file()}
    assert {path.resolve() for path in included} == {path.resolve() for path in here}


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("8", "Figure 8"),
        ("fig8", "Figure 8"),
        ("Fig. 8", "Figure 8"),
        ("figure-10", "Figure 10"),
        ("table 2", "Table II"),
        ("TABLE II", "Table II"),
        ("ii", "Table II"),
    ],
)
def test_a_figure_may_be_written_as_people_do(text: str, figure: str) -> None:
    assert figure_name(text, entry("rebuild-scaling").figures) == figure


@pytest.mark.parametrize("text", ["", "1", "4", "figure", "table 9", "8; 9", "Ⅷ", "8" * 5000])
def test_another_figure_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(ConfigError, match="not there; choose one of Figure"):
        figure_name(text, entry("rebuild-scaling").figures)


def test_the_burst_buffer_sweep_is_240_runs_in_three_campaigns() -> None:
    """Two rebuilding codes, two attachments, two bisections, five shares and two numbers of groups.

    80 combinations for reads and, for each code, for writes.
    """
    runs = shipped_study("burst-buffer-sweep").runs()
    campaigns = Counter((run.swept["traffic.reads"], run.swept["redundancy.code"]) for run in runs)
    assert campaigns == {
        (1.0, "rs 8+3"): 80, (0.0, "rs 8+3"): 80, (0.0, "lrc 8+5 local 4"): 80,
    }  # fmt: skip
    assert len({run.key for run in runs}) == 240


def test_figures_are_named_by_their_numbers_and_belong_to_members() -> None:
    known = entry("network-failures").figures
    assert figure_name("table 1", known) == "Table 1" and figure_name("13", known) == "Figure 13"
    one = select(entry("rebuild-scaling"), "Figure 8")
    assert one.members == ("rebuild-flat-groups",)
    part = select(entry("rebuild-flat-groups"), "Figure 8")
    assert [number.key for number in part.published] == ["rate", "track_16", "ideal_share"]
    assert [picture.name for picture in part.pictures] == ["flat-groups"]
    assert 'did you mean "rebuild-scaling"' in refused(entry, "rebuild-scalin")
    assert "nothing of this name" in refused(entry, "../rebuild-ring")
