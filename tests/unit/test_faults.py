"""Faults in their one form, and what seeds draw: named as written, or by the core."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.core_input import faults_json
from resilver.errors import ConfigError
from resilver.simulate.network import topology_of
from resilver.spec import Fault, Run, Study, System
from resilver.study import simulate, validate_runs
from tests.build import CASES, STUDIES, merged, network_run, refused, study_of, system_of
from tests.integration.drawn_studies import drawn_study
from tests.unit.test_spec_refused import check


def named(run: Run, seed: int = 1) -> list[list[str]]:
    """The names of what each fault of a run is of, by the core."""
    text = json.dumps(faults_json(run.system))
    with core_errors():
        return _core.name_faults(text, seed, topology_of(run.system, seed))


def test_all_faults_have_one_form_whichever_was_written() -> None:
    def content(**fault: Any) -> dict[str, Any]:
        return Fault.from_table(fault, Path(), "").content()

    disks = {"at": 1.0, "part": {"disk": 2}, "health": 0.0, "told": False, "until": 31.0}
    assert content(at="1 s", fail={"disks": 2}, repair_after="30 s") == disks
    assert content(at="1 s", part={"disk": 2}, until="31 s") == disks
    assert content(at="1 s", part={"disks": 2}, told=False, health=0, until="31 s") == disks
    told = {"at": 0.0, "part": {"host": ["h3"]}, "health": 0.0, "told": True, "until": None}
    assert content(fail={"hosts": ["h3"]}) == content(part={"host": ["h3"]}) == told
    assert content(part={"host": ["h3"]}, told=False) == {**told, "told": False}
    slow = {"at": 0.0, "part": {"link": 4}, "health": 0.1, "told": False, "until": 10800.0}
    assert content(part={"link": 4}, health=0.1, until="3 h") == slow
    # What is slow tells nobody, and of what is gone the cluster's parts alone.
    assert [content(part={level: 1})["told"] for level in ("osd", "disk", "link", "switch")] == [
        True, False, False, False,
    ]  # fmt: skip
    assert content(part={"osd": 1}, health=0.5)["told"] is False


def test_names_of_what_fails_are_those_of_the_network() -> None:
    run = network_run([{"fail": {"links": 2}}, {"fail": {"switches": 3}}, {"fail": {"disks": 3}}])
    links, switches, disks = named(run)
    # All that there is fails: the two links between a leaf and the spine, these three, and every
    # disk; the links of hosts are not drawn.
    assert len(links) == 2 and all(name.count("switch") == 2 for name in links)
    assert switches == ["switch.0", "switch.1", "switch.2"]
    assert disks == ["server.0", "server.1", "server.2"]
    ((name,),) = named(network_run([{"fail": {"links": 1}}]))
    one, _, other = name.partition("-")
    for written in (name, f"{other}-{one}"):
        assert named(network_run([{"fail": {"links": [written]}}])) == [[name]]
    # Both spellings of one link are one failure.
    twice = network_run([{"fail": {"links": [name, f"{other}-{one}"]}}])
    assert named(twice) == [[name]]


def test_draws_leave_out_what_is_named_and_follow_the_seed_alone() -> None:
    for seed in range(1, 20):
        run = network_run(
            [{"fail": {"disks": 1}}, {"fail": {"disks": 1}}, {"fail": {"disks": ["server.1"]}}]
        )
        disks = named(run, seed)
        # Three disks and three faults: each has its own, whatever the seed.
        assert sorted(disks) == [["server.0"], ["server.1"], ["server.2"]]
        assert disks[2] == ["server.1"]
    run = network_run([{"fail": {"disks": 1}}])
    drawn = [named(run, seed)[0][0] for seed in range(200)]
    assert drawn == [named(run, seed)[0][0] for seed in range(200)]
    # Of 200 draws among three each is met 67 times on average with a deviation of 6.7; four of
    # them are passed once in 10,000 tries.
    assert all(abs(drawn.count(f"server.{disk}") - 66.7) < 27 for disk in range(3))


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        ({"switches": ["switch.7"]}, r"faults\.0\.fail\.switches .* no such switch.*switch\."),
        ({"switches": 4}, r"faults\.0\.fail\.switches = 4: 3 nodes .* are left to draw from"),
    ],
)
def test_what_the_network_has_not_is_an_error_before_anything_runs(
    fail: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        validate_runs([network_run([{"fail": fail}])])
    # 4 x 4 nodes have no place for 17 routers.
    assert "routers" in refused(network_run, topology="torus 4x4 routers 17")


def test_nodes_of_a_graph_go_by_the_names_of_its_file(tmp_path: Path) -> None:
    nodes = [
        {"id": "gate", "kind": "router"},
        {"id": "rack-1", "kind": "switch"},
        {"id": "rack-2", "kind": "switch"},
        {"id": "disk-a", "kind": "host"},
        {"id": "disk-b", "kind": "host"},
    ]
    ends = [("gate", "rack-1"), ("rack-1", "rack-2"), ("rack-1", "disk-a"), ("rack-2", "disk-b")]
    path = tmp_path / "net.json"
    links = [{"source": one, "target": other} for one, other in ends]
    path.write_text(json.dumps({"nodes": nodes, "links": links}), encoding="utf-8")
    run = network_run(
        [{"fail": {"links": ["rack-2-rack-1"]}}, {"fail": {"switches": ["rack-2"]}}],
        topology={"graph": str(path)},
    )
    assert named(run) == [["rack-1-rack-2"], ["rack-2"]]
    # A name that is none gets the nearest that is.
    wrong = network_run([{"fail": {"switches": ["rack2"]}}], topology={"graph": str(path)})
    assert 'did you mean "rack-2"' in refused(validate_runs, [wrong])
    # Other names are other results, and another key.
    path.write_text(path.read_text().replace("disk-a", "disk-z"), encoding="utf-8")
    renamed = network_run(topology={"graph": str(path)})
    path.write_text(path.read_text().replace("disk-z", "disk-a"), encoding="utf-8")
    assert renamed.key != network_run(topology={"graph": str(path)}).key


CHANCES = tomllib.loads((CASES / "chances.toml").read_text(encoding="utf-8"))
PLAIN = STUDIES["twelve"]


def metrics(study: Study, seed: int) -> dict[str, Any]:
    return dict(simulate(study.runs()[0].system, seed).metrics)


@pytest.mark.parametrize("change", CHANCES["sure"].values(), ids=CHANCES["sure"])
def test_without_chance_all_seeds_give_one_run(change: dict[str, Any]) -> None:
    study = study_of(merged(PLAIN, change))
    assert study.chances() == ()
    first = metrics(study, 1)
    assert first["rebuild_seconds"] and metrics(study, 2) == first and metrics(study, 99) == first


def test_a_fault_of_all_that_there_are_draws_none() -> None:
    slow = {"part": {"server": 12}, "health": 0.5}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ()
    slow["part"] = {"server": 11}
    assert Study.from_dict({**PLAIN, "faults": [slow]}).chances() == ("which server slows down",)


@pytest.mark.parametrize(("word", "change"), CHANCES["drawn"].items())
def test_what_is_drawn_is_named_and_makes_a_difference(word: str, change: dict[str, Any]) -> None:
    # Seven seeds that draw one of twelve servers alike would be one case in three million.
    study = study_of(merged(PLAIN, change))
    assert study.chances() == (word,)
    assert any(metrics(study, seed) != metrics(study, 1) for seed in range(2, 9))


def test_studies_drawn_at_random_are_sure_where_they_are_said_to_be() -> None:
    """Without clients, with files of one size and one named fault, over all else that varies."""
    seen = 0
    for number in range(80):
        table = drawn_study(number)
        for section in ("traffic", "lanes", "pools"):
            table.pop(section, None)
        table["population"] = {"file_size": "1 MiB", "files": 300}
        level = "servers" if "servers" in table["cluster"] else "disks"
        table["faults"] = [{"part": {level: ["server.1"]}, "told": True}]
        try:
            study = Study.from_dict(table)
        except ConfigError:
            continue
        if not study.chances():
            assert metrics(study, 1) == metrics(study, 2), number
            seen += 1
    assert seen >= 15


# Systems in the words that the core reads.


ROWS = tomllib.loads((CASES / "core.toml").read_text(encoding="utf-8"))
ORDERED = [
    {"at": "2 us", "corrupt": {"groups": 1}},
    {"at": "1 us", "corrupt": {"groups": 1, "strips": 9, "window": 3, "code": "lrc 4+2 local 4"}},
]


def core(system: System, *failed: int) -> dict[str, Any]:
    return json.loads(core_input.core_json(system, 7, *([failed] if failed else [])))


@pytest.mark.parametrize(("name", "row"), [(name, row) for name in ROWS for row in ROWS[name]])
def test_the_core_reads_what_a_study_says(name: str, row: dict[str, Any]) -> None:
    system = study_of(merged(STUDIES[name], row["change"])).runs()[0].system
    check([core(system)], {key: value for key, value in row.items() if key != "change"})


def test_what_fails_may_be_given_instead() -> None:
    given = core(system_of("coded"), 2, 3)["faults"]["faults"]
    assert given == [{"key": "failed", "at": 0.0, "part": {"device": [2, 3]}, "told": True}]


def rebuilding(system: System, seed: int) -> list[int]:
    """The groups that rebuild in a run."""
    rows = simulate(system, seed).stripe_groups.to_pylist()
    return [row["group"] for row in rows if row["is_rebuilding"]]


def test_groups_are_drawn_among_those_that_no_other_fault_has() -> None:
    # Two groups and two faults: each has its own, whatever the seed and whichever comes first.
    for seed in range(1, 6):
        assert rebuilding(system_of("streamed", faults=ORDERED), seed) == [0, 1]
    named = system_of("streamed", faults=[{"corrupt": {"groups": [1], "strips": 2}}])
    assert rebuilding(named, 1) == [1]
    drawn = system_of("streamed", faults=[{"corrupt": {"groups": 1, "strips": 2}}])
    # Of 20 draws of one of two, all are alike once in 500,000 tries.
    assert {number for seed in range(20) for number in rebuilding(drawn, seed)} == {0, 1}


def test_open_arrivals_are_described_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("seconds,kind,size,target\n0,read,8,server.2\n1,write,9,\n")
    for arrivals, expected in (
        ({"poisson": "90 /min"}, {"poisson": {"rate": 1.5}}),
        ({"pareto": "10 /s", "shape": 1.5}, {"pareto": {"rate": 10.0, "shape": 1.5}}),
        ({"trace": "t.csv"}, {"trace": [[0.0, True, 8, 2], [1.0, False, 9, None]]}),
    ):
        traffic = {"arrivals": arrivals, "duration": "1 min", "targets": {"zipf": 0.99}}
        made = core(study_of("network", folder=tmp_path, traffic=traffic).runs()[0].system)
        assert made["traffic"][0]["arrivals"] == expected
        assert made["traffic"][0]["targets"] == {"kind": "zipf", "exponent": 0.99}
        assert made["traffic"][0]["timeout"] is None
