"""What can be reproduced: every entry is whole, and the list says which figure is which."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

from resilver import ConfigError, catalog
from resilver.report import NAMES
from resilver.reproduce import entry, names
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.entries import figure_name, select, stand_in
from resilver.reproduce.evidence import shipped_study
from resilver.reproduce.published import matches
from resilver.reproduce.serving import labelled

# The figures and tables of the paper that have numbers: 1 and 4 are drawings.
FIGURES = {
    "Figure 2": ["populations"],
    "Figure 3": ["populations"],
    "Figure 5": ["network-curve"],
    "Figure 6": ["disk-curves"],
    "Figure 7": ["one-pair"],
    "Figure 8": ["rebuild-flat-groups"],
    "Figure 9": ["rebuild-flat-groups"],
    "Figure 10": ["rebuild-flat-groups"],
    "Figure 11": ["rebuild-racks"],
    "Figure 12": ["rebuild-flat-objects"],
    "Figure 13": ["placement-rates"],
    "Figure 14": ["rebuild-ring", "rebuild-vring"],
    "Figure 15": ["placement-rates"],
    "Figure 16": ["populations"],
    "Figure 17": ["rebuild-ring-striped"],
    "Table I": ["disk-curves"],
    "Table II": ["rebuild-flat-groups"],
}
# Those of the network study: 1 to 6 are drawings.
NETWORK_FIGURES = {
    "Table 1": ["network-topologies"],
    **{f"Figure {number}": ["network-load"] for number in range(7, 12)},
    **{f"Figure {number}": ["network-faults"] for number in range(12, 27) if number != 17},
    "Figure 17": ["network-timeouts"],
}
# Those of the burst-buffer study.
BURST_FIGURES = {
    "Figure 1": ["burst-buffer-sweep"],
    "Table 1": ["burst-buffer-tables"],
    "Table 2": ["burst-buffer-tables"],
}


def test_the_list_maps_every_figure_and_table_of_the_paper() -> None:
    found: dict[str, dict[str, list[str]]] = {}
    for name in names():
        if entry(name).kind != "collection":
            for figure in entry(name).figures:
                of_source = found.setdefault(entry(name).source, {})
                of_source.setdefault(figure, []).append(name)
    assert found == {
        "Carns et al. (2016)": FIGURES,
        "Gonsiorowski et al. (2017)": BURST_FIGURES,
        "Mehech (2007)": NETWORK_FIGURES,
    }
    rest = [name for name in names() if not entry(name).figures]
    assert rest == [
        "coded-rebuild-questions",
        "rebuild-on-networks",
        "burst-buffer-switch-runs",
        "burst-buffer-switches",
        "coded-clients-alone",
        "coded-rebuild",
        "coded-rebuild-objects",
        "coded-rebuild-under-load",
        "coded-rebuild-without-lanes",
        "flagship",
        "growth",
        "rebuild-on-leaf-spine",
        "rebuild-on-loggp",
        "rebuild-on-torus",
        "ten-thousand",
    ]


def test_the_whole_page_has_every_figure() -> None:
    whole = entry("rebuild-scaling")
    assert names()[0] == "burst-buffer" and whole.name in names()[:5]
    assert set(entry("burst-buffer").figures) == set(BURST_FIGURES)
    assert set(whole.figures) == set(FIGURES)
    assert set(entry("network-failures").figures) == set(NETWORK_FIGURES)
    assert whole.expected_seconds == sum(entry(name).expected_seconds for name in whole.members)


@pytest.mark.parametrize("name", names())
def test_an_entry_is_whole(name: str) -> None:
    """Its numbers have known units and figures, its pictures can be drawn, its names exist."""
    one = entry(name)
    assert one.title and one.source and one.expected_seconds > 0
    assert all(stand_in(item).instead_of for item in one.stand_ins)
    for number in one.published:
        assert number.unit in DIVISORS
        assert number.figure in (*one.figures, "")
        assert number.low is None or number.high is None or number.low <= number.high
        assert number.within is None or number.paper is not None
    keys = [number.key for number in one.published]
    assert len(set(keys)) == len(keys)
    for picture in one.pictures:
        if picture.draw in ("bars", "cumulative"):
            assert picture.y_unit in DIVISORS and (picture.y or picture.quantity)
        if picture.draw == "parallel":
            assert picture.y_unit in DIVISORS and picture.axes and picture.lines
            named = [key for line in picture.lines for key in line.get("published", ()) if key]
            assert set(named) <= {number.key for number in one.published}
        made = ("rate", "curve", "histogram", "bars", "cumulative", "parallel", *NAMES)
        assert picture.draw in made
        assert {picture.figure, *picture.also} - {""} <= set(one.figures)
    for other in (*one.others, *one.members):
        assert entry(other).name == other
    assert resources.files("resilver.catalog").joinpath("studies", name, "README.md").is_file()


@pytest.mark.parametrize("name", [name for name in names() if entry(name).has_runs])
def test_a_published_number_has_runs_in_its_study(name: str) -> None:
    sizes = {run.system.server_count for run in shipped_study(name).runs()}
    for number in entry(name).published:
        assert number.at.get("servers", min(sizes)) in sizes
    for picture in entry(name).pictures:
        assert not picture.servers or picture.servers in sizes


def test_the_studies_of_the_package_are_those_of_the_checkout(root: Path) -> None:
    here = sorted(path.parent.name for path in (root / "studies").glob("*/study.toml"))
    assert catalog.list("studies") == here


def test_every_file_of_a_study_is_in_the_wheel(root: Path) -> None:
    """maturin takes what `include` names, through the link of the catalog."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    linked = Path("python") / "resilver" / "catalog" / "studies"
    assert (root / linked).is_symlink() and (root / linked).samefile(root / "studies")
    included: set[Path] = set()
    for rule in settings["tool"]["maturin"]["include"]:
        assert set(rule["format"]) == {"sdist", "wheel"}
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


def test_every_number_of_the_burst_buffer_sweep_has_its_runs() -> None:
    """An average over what an axis does not tell apart: 5 shares x 2 numbers of groups at least."""
    one = entry("burst-buffer-sweep")
    rows = [
        {**run.swept, **labelled(run.swept, one.labels)} for run in shipped_study(one.name).runs()
    ]
    for number in one.published:
        assert sum(matches(row, number.at) for row in rows) >= 10, number.key
    for picture in one.pictures:
        for line in picture.lines:
            for axis in picture.axes:
                at = {**line["at"], **axis["at"]}
                assert sum(matches(row, at) for row in rows) >= 10, (line["name"], axis["name"])


@pytest.mark.parametrize("name", entry("coded-rebuild-questions").members)
def test_every_number_of_the_coded_rebuilds_has_its_runs(name: str) -> None:
    """Three seeds at the least, of what is told and of what it is divided by."""
    one = entry(name)
    rows = [
        {**run.swept, **labelled(run.swept, one.labels)}
        | {"servers": run.system.server_count, "redundancy.code": run.swept["redundancy.code"]}
        for run in shipped_study(name).runs()
    ]
    for number in one.published:
        assert sum(matches(row, number.at) for row in rows) >= 3, number.key
        assert sum(matches(row, number.over_at) for row in rows) >= 3, number.key
    for picture in one.pictures:
        assert any(matches(row, picture.at) for row in rows), picture.name


def test_tables_have_roman_or_plain_numbers() -> None:
    known = entry("network-failures").figures
    assert figure_name("table 1", known) == "Table 1" and figure_name("13", known) == "Figure 13"


def test_one_figure_of_a_collection_is_its_members_part() -> None:
    one = select(entry("rebuild-scaling"), "Figure 8")
    assert one.members == ("rebuild-flat-groups",)
    part = select(entry("rebuild-flat-groups"), "Figure 8")
    assert [number.key for number in part.published] == ["rate"]
    assert [picture.name for picture in part.pictures] == ["flat-groups"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match='did you mean "rebuild-scaling"'):
        entry("rebuild-scalin")
    with pytest.raises(ConfigError, match="nothing of this name"):
        entry("../rebuild-ring")
