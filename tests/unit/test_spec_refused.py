"""Bad studies are refused before anything runs, each with its key, its rule and its remedy.

A row of `tests/cases/refused` is a change of a study of `tests/cases/studies.toml` and what is said
of it, in which "..." stands for any words; a row of `taken` is a change that is just allowed. A row
of `means` has attributes of the system that it makes, one of `sweeps` those of each of its runs.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from resilver.errors import ConfigError
from resilver.spec import Study
from resilver.study import validate_runs
from tests.build import (
    CASES,
    STUDIES,
    assert_said,
    changed,
    merged,
    read_again,
    refusal,
    study_of,
)
from tests.conftest import ROOT
from tests.scale import times
from tests.unit.test_importers_ceph import changed as changed_report

FILES = {
    "empty.txt": "# total_count: 0\n",
    "disk.toml": 'request_sizes = ["4 KiB"]\nread_rat = "1 B/s"\n',
    "broken.toml": "a b\n",
    "requests.csv": "seconds,kind,size\n0,read,4096\n0.5,write,512 KiB\n",
    "once.csv": "seconds,kind,size\n0,read,4096\n",
    "far.csv": "seconds,kind,size,target\n0,read,4096,server.11\n1,read,4096,server.12\n",
    "sda.csv": "component,start,end,failed\nsda,2024-01-01,2024-01-02,yes\n",
    "whole.csv": "component,start,end,failed\nosd.1,2024-01-01,2024-01-02,no\n",
}


def rows(kind: str) -> list[Any]:
    """The rows of a kind in all files, each with the study that it changes."""
    tables = [tomllib.loads(path.read_text()) for path in sorted(CASES.glob("refused/*.toml"))]
    studies = [item for table in tables for item in table.items()]
    return [(name, row) for name, of_kind in studies for row in of_kind.get(kind, [])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rows name beside them."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("name", "row"), rows("refused"))
def test_a_bad_change_is_refused(folder: Path, name: str, row: list[Any]) -> None:
    *changes, says = row
    said = refusal(reduce(merged, changes, STUDIES[name]), folder=folder)
    assert_said(says, said.replace(f"{folder}/", ""))


@pytest.mark.parametrize(("name", "change"), rows("taken"))
def test_what_is_just_allowed_is_taken_and_read_again(
    folder: Path, name: str, change: dict[str, Any] | list[dict[str, Any]]
) -> None:
    changes = change if isinstance(change, list) else [change]
    study = study_of(reduce(merged, changes, STUDIES[name]), folder=folder)
    validate_runs(study.runs())
    stated = Study.from_dict(tomllib.loads(study.to_toml(stated=True)), folder)
    assert read_again(study).to_toml() == stated.to_toml() == study.to_toml()


def looked_up(thing: Any, key: str) -> Any:
    """An item, an attribute or what a method returns."""
    if isinstance(thing, list):
        found = thing[int(key)]
    else:
        found = thing[key] if isinstance(thing, Mapping) else getattr(thing, key)
    found = found() if callable(found) else found
    return "(absent)" if found is None else list(found) if isinstance(found, tuple) else found


def check(things: list[Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        found = [looked_up(thing, key) for thing in things]
        if isinstance(value, dict):
            check(found, value)
        else:
            assert (found if len(things) > 1 else found[0]) == value, key


MEANT = [(kind, *row) for kind in ("means", "sweeps") for row in rows(kind)]


@pytest.mark.parametrize(("kind", "name", "row"), MEANT)
def test_a_change_means_what_follows_from_it(kind: str, name: str, row: list[Any]) -> None:
    change, *expected = row
    runs = read_again(study_of(merged(STUDIES[name], change))).runs()
    assert len({run.key for run in runs}) == len(runs)
    for attributes in expected:
        check(runs if kind == "sweeps" else [runs[0].system], attributes)


# What editors are told of a study file holds for all studies that ship and all keys of traffic.


SCHEMA = Draft7Validator(Study.json_schema())


def broken(study: dict[str, Any]) -> list[str]:
    """Where a study breaks the schema, and how."""
    return [
        f"{''.join(f'.{step}' for step in error.absolute_path)}: {error.message}"
        for error in SCHEMA.iter_errors(study)
    ]


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(SCHEMA.schema)


def accepted() -> Iterator[dict[str, Any]]:
    """The studies that ship, those of the tests, and all changes of these that are taken."""
    for file in sorted((ROOT / "studies").glob("*/study.toml")):
        yield tomllib.loads(file.read_text())
    yield from STUDIES.values()
    for name, change in rows("taken"):
        yield reduce(merged, change if isinstance(change, list) else [change], STUDIES[name])
    for kind in ("means", "sweeps"):
        for name, (change, *_) in rows(kind):
            yield merged(STUDIES[name], change)


def test_every_study_that_is_taken_fits_the_schema() -> None:
    tables = list(accepted())
    assert len(tables) > 150
    for table in tables:
        assert broken(table) == [], table
    # Keys that need files beside them, and forms that no other study here has.
    fabric = {"topology": {"graph": "lab.json", "routers": ["gateway"]}, "hop_limit": 1000}
    study = changed("network", cluster__fabric=fabric, durability={"relative_error": 0.05})
    assert broken(study) == []
    corrupt = {"groups": [0, 3], "code": "product rs 4+2 x copies 3", "strips": 100, "window": 8}
    keys = {"redundancy__coding": {"file": "coding.toml"}, "cluster__attachment": "distributed"}
    assert broken(changed("streamed", faults=[{"corrupt": corrupt}], **keys)) == []


def test_no_section_takes_a_key_that_it_does_not_have() -> None:
    """What fails is named by its level, and levels by the study."""
    closed = {
        name: one.get("additionalProperties") for name, one in SCHEMA.schema["definitions"].items()
    }
    assert [name for name, more in closed.items() if more is not False] == ["Failing"]


@pytest.mark.parametrize(
    ("study", "change", "where"),
    [
        ("network", 'traffic.arrivals = { pareto = "1 /s", shape = 1 }', ".traffic.arrivals"),
        ("clients", "traffic.targets.hot_servers = 2", ".traffic.targets"),
        ("clients", "cluster.fabric.hop_limit = 0", ".cluster.fabric.hop_limit"),
        ("clients", 'cluster.fabric.forwarding = "wormhole"', ".cluster.fabric.forwarding"),
        ("clients", 'traffic.duration = "5 GiB"', ".traffic.duration"),
        ("clients", "faults = [{ fail.switches = 0 }]", ".faults.0.fail.switches"),
        ("clients", "durability.relative_error = 1", ".durability.relative_error"),
        ("clients", "durability.relative_error = 0", ".durability.relative_error"),
        ("streamed", 'redundancy.code = "lrc 8+5"', ".redundancy.code"),
        ("streamed", 'redundancy.strip = "64 KiB/s"', ".redundancy.strip"),
        ("streamed", "redundancy.coding = 5", ".redundancy.coding"),
        ("streamed", "lanes.clients = 1.9", ".lanes.clients"),
        ("streamed", 'lanes.order = "turns"', ".lanes.order"),
        ("streamed", 'lanes.devices = "yes"', ".lanes.devices"),
        ("streamed", "traffic.streams.window = 0", ".traffic.streams"),
        ("streamed", 'traffic.streams.entries = "any"', ".traffic.streams"),
        ("streamed", "faults.0.corrupt.groups = [0, -3]", ".faults.0.corrupt"),
        ("streamed", "faults.0.corrupt.groups = 0", ".faults.0.corrupt"),
        ("streamed", 'faults.0.corrupt.code = "rs 8"', ".faults.0.corrupt"),
    ],
)
def test_what_a_study_file_may_not_say_breaks_the_schema(
    study: str, change: str, where: str
) -> None:
    found = broken(changed(study, change))
    assert found and all(text.startswith(where) for text in found), found


# Bad studies are refused before anything runs: every problem at once, each with its remedy.


def test_all_problems_of_all_sections_are_told_at_once() -> None:
    wrong = {
        "cluster.servers": "x", "faults.0.fail.servers": 0, "population.bytes": 5,
        "population.histogram": "mirra", "recovery.source": "primry", "redundancy.replicas": 0,
        "study.seeds": 0,
    }  # fmt: skip
    keys = {key.replace(".", "__"): value for key, value in wrong.items()}
    text = refusal("bare", "faults = [{ fail = {} }]", **keys)
    assert sorted(line.split(" = ")[0] for line in text.splitlines()) == sorted(wrong)
    device = {
        "request_sizes": ["4 KiB", "1 KiB"],
        "read_rate": 0, "read_overhead": 0, "read_seek": ["1 ms"],
        "write_rate": "1 B/s", "write_overhead": 0, "write_seek": [0, 0],
    }  # fmt: skip
    text = refusal("small", cluster__device=device)
    assert "cluster.device.request_sizes: the sizes must be above zero and rise" in text
    assert "cluster.device.read_seek: 1 seeks for 2 request sizes" in text
    assert "cluster.device.read_rate: the rate must be above zero" in text


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (None, 'pool "rbd" is erasure coded, and the osdmap does not hold its profile'),
        ({"plugin": "own", "k": "2", "m": "1"}, 'by the plugin "own", which is not modelled'),
        ({"plugin": "shec", "k": "2", "m": "1"}, 'expected a member named "c"'),
        ({"plugin": "isa", "k": "two", "m": "1"}, "expected an integer from 1"),
        ({"plugin": "clay", "m": "2"}, 'expected a member named "k"'),
        ({"plugin": "clay", "k": "4", "m": "2", "d": "6"},
         "d = 6 is not within k = 4 and k + m - 1 = 5"),
        ({"plugin": "shec", "k": "4", "m": "2", "c": "3"}, "c = 3 is not within 1 and m = 2"),
        ({"plugin": "lrc", "k": "4", "m": "2", "l": "4"},
         'l = "4": expected a divisor of k + m, 6'),
        ({"plugin": "lrc", "mapping": "DD__", "layers": '[["DDDc", ""]]'},
         'expected "DDD_", the data of its layers'),
        ({"plugin": "isa", "k": "7", "m": "1"},
         'expected 8, the pieces of its erasure code profile "p"'),
    ],
)  # fmt: skip
def test_an_erasure_coded_pool_without_a_code_is_refused(
    tmp_path: Path, profile: dict[str, str] | None, says: str
) -> None:
    report = changed_report("osdmap.pools.0.type", 3)
    report["osdmap"]["pools"][0]["size"] = 6
    if profile is not None:
        report["osdmap"]["pools"][0]["erasure_code_profile"] = "p"
        report["osdmap"]["erasure_code_profiles"] = {"p": profile}
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert says in refusal({"cluster": {"ceph": "report.json"}}, folder=tmp_path)


def test_files_that_cannot_be_read_say_why_and_where(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"osdmap": {"pools": [\n {"pool": 3, "pg_n')
    text = refusal({"cluster": {"ceph": "report.json"}}, folder=tmp_path)
    assert "report.json, line 2, column 14: not valid JSON" in text and "cut off" in text
    (tmp_path / "study.toml").write_text("[cluster\n")
    for name, says in (
        ("absent.toml", "no such file"), (".", "a folder"),
        ("study.toml", "study.toml, line 1, column 9"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=says):
            Study.load(tmp_path / name)


VALUES = st.recursive(
    st.one_of(
        st.none().map(lambda _: "x"),
        st.booleans(),
        st.integers(-5, 2**70),
        st.floats(),
        st.sampled_from(["", "1 B", "auto", "genomes1000", "crush", "server.1", "ring", "0 s"]),
        st.sampled_from(["multi_ring", "copysets", "declustered", "jump"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["file", "bins", "servers", "chunk", "a.b"]), inner, max_size=2
        ),
    ),
    max_leaves=5,
)
KEYS = [
    f"{name}.{field}"
    for name, fields in {
        "cluster": ["servers", "racks", "rows", "ceph", "device", "fabric"],
        "population": ["histogram", "file_size", "objects", "bytes", "files", "bytes_per_server"],
        "placement": [
            *("algorithm", "bucket", "failure_domain", "placement_groups", "ring_points"),
            *("rings", "parity_groups", "scatter_width"),
        ],
        "redundancy": ["replicas"],
        "recovery": ["pipeline_buffer", "pipelining", "source"],
        "study": ["seeds", "title", "sweep"],
    }.items()
    for field in fields
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=times(60))
@given(key=st.sampled_from([*KEYS, "faults", "faults.0", "cluster", "study"]), value=VALUES)
def test_any_value_anywhere_is_taken_or_refused_as_input(
    tmp_path: Path, key: str, value: Any
) -> None:
    table: dict[str, Any] = {
        "cluster": {"servers": 8},
        "population": {"histogram": "genomes1000", "bytes_per_server": "1 TiB"},
        "faults": [{"fail": {"servers": 1}}],
        "study": {},
    }
    name, _, field = key.partition(".")
    if name == "faults":
        table["faults"] = [value] if field else value
    elif field:
        table.setdefault(name, {})[field] = value
    else:
        table[name] = value
    # The seeds alone may make many runs, and none of them is the matter here.
    try:
        study = Study.from_dict(table, tmp_path)
    except ConfigError as error:
        assert str(error)
        return
    assert study.resolved() and study.to_toml()
