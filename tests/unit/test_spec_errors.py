"""Bad studies are refused before anything runs: every problem at once, each with its remedy."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.spec import Study
from tests.build import refusal
from tests.scale import times
from tests.unit.test_importers_ceph import changed


def test_a_device_table_must_hang_together() -> None:
    device = {
        "request_sizes": ["4 KiB", "1 KiB"],
        "read_rate": 0, "read_overhead": 0, "read_seek": ["1 ms"],
        "write_rate": "1 B/s", "write_overhead": 0, "write_seek": [0, 0],
    }  # fmt: skip
    text = refusal("small", cluster__device=device)
    assert "cluster.device.request_sizes: the sizes must be above zero and rise" in text
    assert "cluster.device.read_seek: 1 seeks for 2 request sizes" in text
    assert "cluster.device.read_rate: the rate must be above zero" in text


def test_all_problems_of_all_sections_are_told_at_once() -> None:
    wrong = {
        "cluster.servers": "x", "faults.0.fail.servers": 0, "population.bytes": 5,
        "population.histogram": "mirra", "recovery.source": "primry", "redundancy.replicas": 0,
        "study.seeds": 0,
    }  # fmt: skip
    keys = {key.replace(".", "__"): value for key, value in wrong.items()}
    text = refusal("bare", "faults = [{ fail = {} }]", **keys)
    assert sorted(line.split(" = ")[0] for line in text.splitlines()) == sorted(wrong)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            'population = { file_size = "1 B", files = 1 }\nplacement = {}\nredundancy = {}',
            [
                f"{name}: a real cluster's dumps say this already; remove [{name}]"
                for name in ("population", "placement", "redundancy")
            ],
        ),
        (
            'faults = [{ fail.osds = ["osd.120"] }]',
            ['"osd.120": the report has no such OSD; there are 88, osd.0 to osd.88'],
        ),
        ("faults = [{ fail.osds = 89 }]", ["the cluster has 88"]),
        ("faults = [{ fail.racks = 1 }]", ["the report's map has no racks; use osds or hosts"]),
        ("faults = [{ fail.servers = 1 }]", ["a real cluster's servers are its OSDs"]),
    ],
)
def test_a_real_clusters_report_leaves_no_room_for_others(
    shared_data: Path, change: str, says: list[str]
) -> None:
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    said = refusal({"cluster": {"ceph": str(report)}}, change)
    assert all(text in said for text in says), said


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (None, 'pool "rbd" is erasure coded, and the osdmap does not hold its profile'),
        ({"plugin": "shec", "k": "2", "m": "1"}, 'by the plugin "shec", which is not modelled'),
        ({"plugin": "isa", "k": "two", "m": "1"}, "expected an integer from 1"),
        ({"plugin": "isa", "k": "7", "m": "1"},
         'expected 8, the pieces of its erasure code profile "p"'),
    ],
)  # fmt: skip
def test_an_erasure_coded_pool_without_a_code_is_refused(
    tmp_path: Path, profile: dict[str, str] | None, says: str
) -> None:
    report = changed("osdmap.pools.0.type", 3)
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
