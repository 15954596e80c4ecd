"""What a page makes of a study is what `resilver run` makes of the study file that it exports."""

import base64
import json
import math
import random
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from resilver import Study, _core
from resilver.core_input import core_json
from resilver.errors import ConfigError
from resilver.explore.document import MOVING, WINDOW, Document
from resilver.explore.patches import Patch, changes_between
from resilver.explore.study import study_document
from resilver.explore.study_maker import Maker
from resilver.simulate.maps import maps_of
from resilver.spec import Run
from resilver.spec.ensemble import Ensemble
from resilver.study import validate_runs
from tests.browser import page_scenarios as page_of
from tests.browser.core_cases import ROOT, SYSTEMS
from tests.browser.page_scenarios import AS_THINGS_ARE, Made, Scenario, made_by_page
from tests.build import changed, refused
from tests.build import study_of as study_of_change
from tests.scale import SCALE, SEED, numbers

# A document is made once for all tests of this file.
pytestmark = pytest.mark.xdist_group("explore study")

Found = dict[str, Any]

FAULT = "faults = [{ fail.servers = 1 }]"

SHIPPED = (
    "burst-buffer-sweep", "center-enclosures", "center-mixed", "center-two-jobs",
    "coded-rebuild-under-load", "demo", "durability-layouts", "layouts", "rebuild-on-leaf-spine",
    "rebuild-on-torus", "rebuild-racks", "rebuild-ring-striped", "second-failure",
)  # fmt: skip
"""Copies, codes, RAID sets, racks, fabrics, lanes, clients, streams, jobs, flows."""
ASKED = (
    *("burst-buffer-sweep", "center-enclosures", "rebuild-on-leaf-spine", "rebuild-on-torus"),
    "rebuild-racks",
)
CLICKED = ["copies by copysets", "a server that comes back", "a locally repairable code"]
FEW = [*CLICKED, *(name for name in [*SYSTEMS][1::8] if name not in CLICKED)]
SOME, SYSTEMS_ASKED = (SHIPPED, [*SYSTEMS]) if SCALE > 1 else (ASKED, FEW)
"""Those that other tests ask for, and a few systems more; `verification` tries each."""


def read(document: Document) -> Found:
    """A document as the page reads it."""
    return json.loads(json.dumps(document.to_json()))  # type: ignore[no-any-return]


@cache
def of_shipped(name: str) -> Found:
    """The document of a study that ships, as the page reads it."""
    return read(study_document(ROOT / "studies" / name / "study.toml"))


@cache
def of_system(name: str) -> tuple[Run, Found]:
    """The run of a system, and the document of a study of it alone."""
    run = SYSTEMS[name]()
    given = {name: getattr(run.system, name) for name in run.system.model_fields_set}
    sections = {name: section for name, section in given.items() if section is not None}
    study = Study.from_table({**sections, "study": Ensemble(seeds=[run.seed])}, Path.cwd())
    return run, read(study_document(study))


def explored(document: Found, scenario: Scenario = AS_THINGS_ARE) -> Made:
    """What the page makes of one scenario."""
    (made,) = made_by_page(document, [scenario])
    return made


def with_maps(made: Found, maps: list[bytes]) -> Found:
    """An input with its CRUSH maps themselves, and faults without the place of their key."""
    for pool in made["pools"]:
        if "crush" in pool["placement"]:
            pool["placement"]["crush"]["map"] = maps[pool["placement"]["crush"]["map"]].hex()
    for fault in made["faults"]["faults"]:
        del fault["key"]
    return made


def answer(made: Found, maps: list[Any]) -> tuple[Any, Any]:
    """The metrics and tables that the core answers an input with."""
    simulation = _core.Simulation(json.dumps(made), maps)
    while simulation.advance()[0] != "done":
        pass
    return simulation.report()


def digests(document: Found, made: Made, folder: Path = Path("/")) -> tuple[str, str, str]:
    """Of what the page makes, of the study that it exports, and of how things are."""
    (run,) = Study.from_dict(tomllib.loads(made.text), folder).runs()
    inputs = (made.input, json.loads(core_json(run.system, run.seed)), document["input"])
    maps = maps_of(run.system)
    page, exported, as_it_is = (answer(one, maps)[0]["digest"] for one in inputs)
    return page, exported, as_it_is


@pytest.mark.parametrize("name", SOME)
def test_the_exported_study_makes_the_input_of_the_page(name: str) -> None:
    """Of how things are, and of scenarios drawn at random, to the letter."""
    folder, document = ROOT / "studies" / name, of_shipped(name)
    draw, latest = random.Random(f"{name} {SEED}"), document["until"] or 20_000.0
    scenarios = [AS_THINGS_ARE, *(page_of.drawn(document, draw, latest) for _ in numbers(3))]
    for scenario, made in zip(scenarios, made_by_page(document, scenarios), strict=True):
        assert _differ(made, folder, document) == [], scenario


def _differ(made: Made, folder: Path, document: Found) -> list[Patch]:
    """Where the input that a page makes and that of its study file differ."""
    study = Study.from_dict(tomllib.loads(made.text), folder)
    (run,) = study.runs()
    # Nothing fails that is gone by then, which the core would refuse.
    validate_runs([run])
    given = {name: one for name, one in study.given().items() if name != "study"}
    maker = Maker(given, run.seed, folder)
    shown = with_maps(made.input, [base64.b64decode(one) for one in document["maps"]])
    return changes_between(shown, page_of.as_page_reads(with_maps(maker.base, maker.maps)))


@pytest.mark.parametrize("name", SYSTEMS_ASKED)
def test_the_exported_study_has_the_digest_of_the_page(name: str) -> None:
    """Of systems across every part of the model: as they are, and under what changes a little."""
    run, document = of_system(name)
    (again,) = Study.from_dict(tomllib.loads(explored(document).text)).runs()
    # The page names the parts that the seed draws, and the parts of all levels besides.
    maps = maps_of(run.system)
    digests = [
        answer(json.loads(core_json(one.system, one.seed)), maps)[0]["digest"]
        for one in (run, again)
    ]
    told, tables = answer(document["input"], maps)
    assert [told["digest"]] * 2 == digests
    _check_columns(document, told, tables)
    if document["map"]["films"]:
        _check_film(told, pa.table(tables["film"]), pa.table(tables["servers"]))


def _check_film(metrics: Found, film: pa.Table, servers: pa.Table) -> None:
    """What recovery reads and writes is some of what devices do, and all that it makes is in it."""
    rows = film.to_pylist()
    seconds = [row["time_seconds"] - row["since_seconds"] for row in rows]
    read, written = (
        sum(row[f"{way}_bytes_per_second"] * each for row, each in zip(rows, seconds, strict=True))
        for way in ("read", "written")
    )
    made = metrics["rebuilt_bytes"] + metrics["remapped_bytes"]
    assert made * (1 - 1e-9) <= written
    assert written <= sum(servers["device_bytes_written"].to_pylist()) * (1 + 1e-9)
    assert read <= sum(servers["device_bytes_read"].to_pylist()) * (1 + 1e-9)
    for row in rows:
        whom = row["waits_for"]
        assert (row["waiting_buffers"] > 0) == (whom is not None)
        assert whom is None or 0 <= whom < servers.num_rows
    assert made == 0 or any(row["waiting_buffers"] > 0 for row in rows)


def _check_columns(document: Found, metrics: Found, tables: Found) -> None:
    """What the page shows stands in the core's answer."""
    columns = {name: pa.table(one).column_names for name, one in tables.items() if one is not None}
    columns["metrics"] = list(metrics)
    shown = [(one["table"], one["column"]) for one in document["figures"]]
    shown_on_map = {**document["map"], "series": document["map"]["measures"]}
    for place in (*document["charts"], shown_on_map, *document["map"]["films"]):
        for series in place["series"]:
            over = series["over"] if series["over"] not in (MOVING, WINDOW) else ""
            shown += [(place["table"], one) for one in (series["column"], over) if one]
    missing = [one for one in shown if one[1] not in columns[one[0]]]
    assert missing == []
    assert set(document["harm"]) <= {one["key"] for one in document["figures"]}


@pytest.mark.parametrize("name", CLICKED)
def test_a_fault_by_click_is_a_fault_of_the_study(name: str) -> None:
    """To the digest: servers fail, are cut off, slow down and come back."""
    _, document = of_system(name)
    servers = [at for at, part in enumerate(document["parts"]) if part["number"] is not None]
    changes = [
        {"key": "slow", "part": servers[7], "at": 0.0, "share": 0.2},
        {"key": "fail", "part": servers[5], "at": 0.5},
        {"key": "cut", "part": servers[6], "at": 1.0},
        {"key": "repair", "part": servers[6], "at": 3.5},
    ]
    scenario = {"stops": {"recovery.bandwidth": 1}, "changes": changes}
    page, exported, as_it_is = digests(document, explored(document, scenario))
    assert page == exported != as_it_is


def test_what_would_leave_requests_without_an_end_has_no_effect() -> None:
    """The clients of this study go on until its one failed server is rebuilt."""
    document = of_shipped("rebuild-on-torus")
    (server,) = document["input"]["faults"]["faults"][0]["part"]["server"]
    part = next(at for at, part in enumerate(document["parts"]) if part["name"] == server)
    cut = {"key": "cut", "part": part, "at": 0.5}
    as_it_is = explored(document).input
    assert explored(document, {"stops": {}, "changes": [cut]}).input == as_it_is
    # Another that fails is rebuilt, and ends them.
    fail = {"key": "fail", "part": (part + 1) % 32, "at": 1.0}
    both = explored(document, {"stops": {}, "changes": [cut, fail]}).input["faults"]["faults"]
    assert [one["told"] for one in both] == [False, True]


def test_what_ends_ends_the_last_change_of_its_part() -> None:
    """By hand: of two changes of server.1 and one of server.2, the later one of server.1 ends."""
    document = of_shipped("demo")
    changes = [
        {"key": "slow", "part": 1, "at": 10.0, "share": 0.5},
        {"key": "cut", "part": 1, "at": 20.0, "share": None},
        {"key": "cut", "part": 2, "at": 30.0, "share": None},
        {"key": "repair", "part": 1, "at": 40.0},
        {"key": "repair", "part": 3, "at": 50.0},
    ]
    made = explored(document, {"stops": {}, "changes": changes})
    own, *added = made.input["faults"]["faults"]
    assert own["part"] == {"server": ["server.16"]}
    assert own == document["input"]["faults"]["faults"][0]
    assert [(one["at"], one["until"]) for one in added] == [(10, None), (20, 40), (30, None)]
    faults = tomllib.loads(made.text)["faults"]
    times = {"at": "20.0 s", "until": "40.0 s"}
    assert faults[2] == {**times, "part": {"server": ["server.1"]}, "told": False}
    assert len(faults) == 4


@pytest.mark.parametrize("name", SOME)
def test_every_stop_but_one_changes_something(name: str) -> None:
    document = of_shipped(name)
    keys = [control["key"] for group in document["groups"] for control in group["controls"]]
    assert len(set(keys)) == len(keys) > 5
    for group in document["groups"]:
        counts = [len(control["stops"]) for control in group["controls"]]
        assert len(group["patches"]) == math.prod(counts)
        chosen = ",".join(str(control["chosen"]) for control in group["controls"])
        assert [key for key, patches in group["patches"].items() if not patches] == [chosen]
        for control in group["controls"]:
            assert control["sentence"] and control["label"] and len(control["stops"]) > 1
            labels = [stop["label"] for stop in control["stops"]]
            assert all(labels) and len(set(labels)) == len(labels)
            assert control["origin"] in ("stated", "default", "assumed")


@pytest.mark.parametrize("name", ["rebuild-racks", "center-enclosures", "burst-buffer-sweep"])
def test_parts_stand_behind_what_holds_them(name: str) -> None:
    """Devices are numbered as in tables, and every part may be named by a fault."""
    document = of_shipped(name)
    parts = document["parts"]
    assert all(part["parent"] < at for at, part in enumerate(parts))
    assert len({part["name"] for part in parts}) == len(parts)
    devices = [part for part in parts if part["kind"] == document["unit"]]
    assert [part["number"] for part in devices] == list(range(len(devices)))
    assert all(part["name"] == f"{part['kind']}.{part['number']}" for part in devices)
    assert len(devices) == document["input"]["faults"]["devices"][0]
    named = {level["level"] for level in document["input"]["faults"]["levels"]}
    assert {part["kind"] for part in parts} <= {*named, "network", "switch"}
    if name == "center-enclosures":
        # Two controllers carry the sets of the unit, beside five enclosures of 57 drives.
        assert [part["name"] for part in parts[:3]] == ["unit.0", "controller.0", "controller.1"]
        assert [part["parent"] for part in parts[:4]] == [-1, 0, 0, 0]
        assert len(parts) == 3 + 5 * (1 + 57)
    if name == "rebuild-racks":
        # 256 servers in 16 racks and 2 rows: a row has 1 + 8 x (1 + 16) parts.
        assert [part["name"] for part in parts if part["parent"] == -1] == ["row.0", "row.1"]
        assert parts[137]["name"] == "row.1" and parts[2]["name"] == "server.0"


def test_what_the_study_refuses_is_not_offered() -> None:
    """A code of 11 pieces needs 11 servers; small memory does not hold a buffer of each of 8."""
    study = changed("bare", 'population = { file_size = "64 MiB", files = 100 }\n' + FAULT)
    document = read(study_document(Study.from_dict(study)))
    controls = (control for group in document["groups"] for control in group["controls"])
    (offered,) = (one["stops"] for one in controls if one["key"] == "redundancy")
    labels = [stop["label"] for stop in offered]
    assert "rs 4+2" in labels and "rs 8+3" not in labels
    alone = read(study_document(Study.from_dict({**study, "cluster": {"servers": 16}})))
    keys = [[control["key"] for control in group["controls"]] for group in alone["groups"]]
    assert ["recovery.receive_memory"] in keys and ["recovery.pipeline_buffer"] in keys
    assert ["redundancy", "placement"] in keys


def test_a_page_is_given_no_number_that_it_would_round() -> None:
    """Of four servers, 2 x (2^53 + 4) B are 18014398509481992, which a page writes as ...990."""
    volume = 2**53 + 4
    assert [int(Decimal(repr(float(by * volume)))) - by * volume for by in (1, 2)] == [0, -2]
    sizes = f'population = {{ file_size = "1 TiB", bytes_per_server = "{volume // 4} B" }}\n'
    document = study_document(study_of_change("bare", sizes + FAULT, cluster__servers=4))
    controls = {one.key: one for group in document.groups for one in group.controls}
    labels = [stop.label for stop in controls["population.bytes_per_server"].stops]
    assert labels == ["512 TiB", "1 PiB", f"{volume // 4} B"]


def test_a_switch_is_cut_off_as_the_file_says() -> None:
    """Of three topologies that are swept it is one that all have; nobody is told of it."""
    document = of_shipped("rebuild-on-leaf-spine")
    parts = document["parts"]
    switches = [at for at, part in enumerate(parts) if part["kind"] == "switch"]
    # Four leaves, and as many spines as the smallest of them has: three.
    assert [parts[at]["name"] for at in switches] == [f"switch.{at}" for at in range(7)]
    assert parts[switches[0] - 1]["name"] == "network"
    changes = [
        {"key": "cut", "part": switches[5], "at": 2.0},
        {"key": "slow", "part": switches[0], "at": 3.0, "share": 0.5},
        {"key": "repair", "part": switches[5], "at": 9.0},
    ]
    made = explored(document, {"stops": {}, "changes": changes})
    folder = ROOT / "studies" / "rebuild-on-leaf-spine"
    page, exported, as_it_is = digests(document, made, folder)
    assert page == exported != as_it_is
    assert _differ(made, folder, document) == []
    kinds = {change["key"]: change["kinds"] for change in document["changes"]}
    assert "switch" in kinds["cut"] and "switch" not in kinds["fail"]


def test_what_a_page_is_told_fits_the_study() -> None:
    assert [one["key"] for one in of_shipped("center-mixed")["changes"]] == ["slow"]
    # Who moves a slider has no file; the default is told beside.
    controls = [one for group in of_shipped("demo")["groups"] for one in group["controls"]]
    sentences = [one["sentence"] for one in controls]
    assert any(one.startswith("The disk of every server.") for one in sentences)
    assert not [one for one in sentences if "{" in one or "Default" in one]
    document = of_shipped("demo")
    assert document["input"]["frames"] > 0
    assert document["map"]["films"] and document["map"]["failed"] == "failed"
    alone = of_shipped("center-transfer")
    assert alone["input"]["frames"] == 0 and not alone["map"]["films"]


def test_settings_and_seeds_choose_the_system_and_errors_are_told(tmp_path: Path) -> None:
    path = ROOT / "studies" / "second-failure" / "study.toml"
    document = read(study_document(path, 7, ["cluster.servers=16", "faults.1.at='40 s'"]))
    assert document["input"]["seed"] == 7
    assert len(document["parts"]) == 16
    assert document["input"]["faults"]["faults"][1]["at"] == 40.0
    assert document["source"] == path.name
    with pytest.raises(ConfigError):
        study_document(tmp_path / "none.toml")
    path = tmp_path / "study.toml"
    path.write_text("[cluster]\nservers = 2\n", encoding="utf-8")
    assert "population" in refused(study_document, path)


def test_files_are_named_as_the_study_sees_them(tmp_path: Path) -> None:
    """An exported study beside the first reads the same files, and says no folder above."""
    (tmp_path / "sizes.csv").write_text("1,1048576,5\n")
    path = tmp_path / "study.toml"
    path.write_text(
        '[cluster]\nservers = 8\n[population]\nhistogram = { file = "sizes.csv" }\nfiles = 9\n'
        '[[faults]]\nfail = { servers = ["server.3"] }\n'
    )
    text = explored(read(study_document(path))).text
    assert str(tmp_path) not in text and 'histogram.file = "sizes.csv"' in text
    again = Study.from_dict(tomllib.loads(text), tmp_path)
    assert again.runs()[0].key == Study.load(path).runs()[0].key
