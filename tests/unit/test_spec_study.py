"""A study file validates whole, fills in defaults, and comes back equal from what it writes."""

import json
import pickle
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.importers import LogGpRow, LogGpTable
from resilver.spec import (
    Cluster,
    Ensemble,
    Fault,
    Placement,
    Population,
    Recovery,
    Redundancy,
    Study,
    auto_group_count,
    run_key,
)
from resilver.spec.toml import parse_value, split_key, split_override, write_toml, write_value
from resilver.units import Bytes
from tests.build import STUDIES, changed, read_again, refusal, refused, study_of, system_of


def test_sections_built_in_python_make_the_same_study() -> None:
    built = Study(
        cluster=Cluster(servers=64, racks=4),
        population=Population(histogram="genomes1000", bytes_per_server=Bytes.parse("20 TiB")),
        placement=Placement(bucket="straw"),
        redundancy=Redundancy(replicas=3),
        faults=[Fault(fail={"servers": 1})],
        recovery=Recovery(pipeline_buffer="1 MiB"),
        study=Ensemble(seeds=[3, 5]),
    )
    read = study_of(
        "swept",
        """
        cluster.racks = 4
        placement.bucket = "straw"
        recovery.pipeline_buffer = "1 MiB"
        study.seeds = [3, 5]
        """,
    )
    again = Study(**{name: getattr(built, name) for name in Study.model_fields})
    assert again.cluster is built.cluster
    with pytest.raises(ValueError, match="frozen"):
        built.cluster.servers = 5
    assert built.resolved() == read.resolved() and built.to_toml() == read.to_toml()
    assert [run.key for run in built.runs()] == [run.key for run in read.runs()]
    assert [run.seed for run in built.runs()] == [3, 5]


def test_python_gets_the_same_errors_and_groups_as_a_file() -> None:
    assert 'servers = "64": a whole number is needed' in refused(Cluster, servers="64")
    assert "needs a unit" in refused(Recovery, pipeline_buffer=16777216)
    with pytest.raises(ConfigError, match="5 failure domains of type 'server'"):
        Study(
            cluster=Cluster(servers=3),
            population=Population(histogram="mira", files=1),
            redundancy=Redundancy(replicas=5),
        )
    # 100 * 512 / 100 = 512 is a power of two itself.
    assert auto_group_count(512, 100) == 512


def test_the_key_depends_on_content_seed_and_version_and_not_on_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 4096 10\n")
    (tmp_path / "b.csv").write_text("min,max,count\n0,4096,10\n")
    (tmp_path / "c.txt").write_text("0 4096 11\n")

    def key(file: str, seed: int = 1, version: str = "1") -> str:
        population = {"histogram": {"file": file}, "bytes": "1 TiB"}
        study = study_of("swept", population=population, folder=tmp_path)
        return run_key(study.runs()[0].system, seed, version)

    assert key("a.txt") == key("b.csv")
    others = [key("c.txt"), key("a.txt", seed=2), key("a.txt", version="2")]
    assert len({key("a.txt"), *others}) == 4
    assert len(key("a.txt")) == 32 and int(key("a.txt"), 16) >= 0


def test_paths_are_relative_to_the_study_file(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "sizes.txt").write_text("0 4096 10\n")
    (folder / "disk.toml").write_text(
        'request_sizes = ["4 KiB"]\nread_rate = "1 GB/s"\nread_overhead = "0 s"\n'
        'read_seek = ["1 ms"]\nwrite_rate = "1 GB/s"\nwrite_overhead = "0 s"\nwrite_seek = [0]\n'
    )
    (folder / "net.dat").write_text("# size L g G\n8 1 1 0.001\n")
    (folder / "study.toml").write_text(
        '[cluster]\nservers = 4\ndevice = { file = "disk.toml" }\n'
        'fabric = { table = { netgauge = "net.dat" } }\n'
        '[population]\nhistogram = { file = "sizes.txt" }\nbytes = "1 GiB"\n'
    )
    monkeypatch.chdir(tmp_path)
    study = Study.load("deep/study.toml")
    cluster = study.runs()[0].system.cluster
    assert (cluster.device.label, cluster.fabric.table.label) == ("disk.toml", "net.dat")
    assert cluster.device.read_seek[0].picoseconds == 10**9
    # What it writes has absolute paths, so that it can be read from anywhere.
    (tmp_path / "copy.toml").write_text(study.to_toml())
    assert Study.load(tmp_path / "copy.toml").resolved() == study.resolved()


def test_a_real_cluster_is_a_study_without_population_and_placement(shared_data: Path) -> None:
    report = str(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    table = {"cluster": {"ceph": report}, "faults": [{"fail": {"osds": ["osd.12"]}}]}
    made = Study.from_dict(table).runs()[0].system
    assert made.population is None and made.placement is None and made.redundancy is None
    assert (made.server_count, made.placement_group_count) == (88, 4096)
    assert made.population_target_bytes == 20_648_511_318_662
    resolved = made.resolved()
    assert resolved["cluster"]["ceph"]["label"] == "ceph-report-jewel-88osd.json"
    assert report not in json.dumps(resolved)


def test_a_network_made_in_python_is_written_out_in_full() -> None:
    rows = (LogGpRow(8, 6.7e-6, -1e-9, 1e-9), LogGpRow(4096, 6.7e-6, -1.234567e-9, 4.46e-10))
    with pytest.raises(ConfigError, match=r"fabric|g \+ \(s - 1\) G is negative"):
        Cluster(servers=4, fabric={"table": LogGpTable("mine", rows)})
    rows = (LogGpRow(8, 6.7e-6, 1e-9, 1e-9), LogGpRow(4096, 6.7e-6, -1.234567e-9, 4.46e-10))
    cluster = Cluster(servers=4, fabric={"table": LogGpTable("mine", rows)})
    study = Study(cluster=cluster, population=Population(histogram="mira", files=0))
    again = Study.from_dict(tomllib.loads(study.to_toml())).runs()[0]
    assert (again.system.loggp_rows, again.key) == (rows, study.runs()[0].key)


def test_the_schema_and_the_json_of_a_study_have_every_key() -> None:
    schema = Study.json_schema()
    assert set(schema["properties"]) == set(Study.model_fields)
    text = json.dumps(schema)
    assert "$defs" not in text and '"null"' not in text
    size = schema["definitions"]["Recovery"]["properties"]["pipeline_buffer"]
    pattern = size["pattern"]
    assert re.search(pattern, "16 MiB") and re.search(pattern, "1.5e3 kB")
    assert not re.search(pattern, "16") and not re.search(pattern, "16 Mb")
    for name, definition in schema["definitions"].items():
        for key, value in definition["properties"].items():
            assert value.get("description") or "$ref" in value, f"{name}.{key}"
    study = study_of("swept")
    resolved = study.resolved()
    assert json.loads(json.dumps(resolved)) == resolved and resolved["study"]["seeds"] == [1]
    run = study.runs()[0]
    again = pickle.loads(pickle.dumps(run))
    keys = {run_key(one.system, run.seed, "1") for one in (run, again)}
    # A number of groups that stands for "auto" is the same system.
    keys.add(run_key(system_of("swept", "placement.placement_groups = 4096"), 1, "1"))
    assert again == run and len(keys) == 1


# A sweep makes every combination, each valid on its own, and overrides replace keys.


def test_a_sweep_is_of_plain_values_and_the_same_in_python() -> None:
    sizes = study_of("swept", 'study.sweep."recovery.pipeline_buffer" = ["64 KiB", "16 MiB"]')
    assert all(type(run.swept["recovery.pipeline_buffer"]) is int for run in sizes.runs())
    unsaid = 'cluster = { servers = "(absent)", racks = 4 }\n'
    study = study_of("swept", unsaid + 'study.sweep."cluster.servers" = [16, 32]')
    assert study.cluster.servers == 16
    built = Study(**STUDIES["swept"], study=Ensemble(sweep={"cluster.servers": [4, 8]}))
    read = study_of("swept", 'study.sweep."cluster.servers" = [4, 8]')
    assert built.resolved() == read.resolved()


def test_populations_can_be_swept_by_name_and_file(tmp_path: Path) -> None:
    change = """
    population = { histogram = "mira", bytes = "20 TiB", bytes_per_server = "(absent)" }
    study.sweep."population.histogram" = ["mira", { file = "mine.txt" }]
    """
    resolved = []
    for text in ("0 4096 10\n", "0 4097 10\n"):
        (tmp_path / "mine.txt").write_text(text)
        study = study_of("swept", change, folder=tmp_path)
        resolved.append(study.resolved())
        assert [run.swept["population.histogram"] for run in study.runs()] == ["mira", "mine.txt"]
        # The cut into objects is each population's own default.
        assert [run.system.chunk_bytes for run in study.runs()] == [None, 64 * 2**20]
        read_again(study)
    # What files say is in the resolved study.
    assert json.dumps(resolved[0]) != json.dumps(resolved[1])


def test_a_sweep_has_its_limits_and_every_bad_combination_is_told() -> None:
    text = refusal("swept", study={"sweep": {"cluster.servers": [8] * 100_001}})
    assert "has 100,001 runs, and a study has at most 100,000" in text
    sweep = {"cluster.servers": [1, 2, 8], "redundancy.replicas": [2, 3]}
    # Combinations (1, 2), (1, 3) and (2, 3) have too few servers.
    assert len(refusal("swept", study={"sweep": sweep}).splitlines()) == 3


def load(tmp_path: Path, *overrides: str, sweep: str = "") -> Study:
    file = tmp_path / "study.toml"
    file.write_text(write_toml(changed("swept", "study.seeds = 1\n" + sweep)))
    return Study.load(file, overrides)


def test_an_override_replaces_a_key_split_at_dots_outside_quotes(tmp_path: Path) -> None:
    of_recovery = ("pipeline_buffer = 1 MiB", 'source="random"', "pipelining=false")
    overrides = [f"recovery.{override}" for override in of_recovery]
    study = load(tmp_path, "cluster.servers=128", *overrides, "study.seeds=[4, 5]")
    made = study.runs()[0].system
    assert made.server_count == 128 and made.recovery.pipeline_buffer == 2**20
    assert made.recovery.source == "random" and not made.recovery.pipelining
    assert [run.seed for run in study.runs()] == [4, 5]
    assert split_key("a.b") == ["a", "b"]
    assert split_key('a."b.c".d') == ["a", "b.c", "d"]
    assert split_override('study.sweep."a.b"=[1]') == (["study", "sweep", "a.b"], [1])
    assert split_override("a.b=c=d") == (["a", "b"], "c=d")
    assert parse_value("2\nx = 3") == "2\nx = 3"


@pytest.mark.parametrize(
    ("sweep", "override", "servers", "copies"),
    [
        # A swept key is fixed, and a sweep is named by its quoted key.
        ('"cluster.servers" = [4, 8], "redundancy.replicas" = [2, 3]', "cluster.servers=16",
         [16, 16], [2, 3]),
        ("", 'study.sweep."cluster.servers"=[8, 16]', [8, 16], [3, 3]),
        # With 2 copies everywhere the steps are (4), (8) and (8) again, of which one is kept.
        ('"cluster.servers, redundancy.replicas" = [[4, 2], [8, 3], [8, 2]]',
         "redundancy.replicas=2", [4, 8], [2, 2]),
    ],
)  # fmt: skip
def test_overrides_of_a_sweep(
    tmp_path: Path, sweep: str, override: str, servers: list[int], copies: list[int]
) -> None:
    runs = load(tmp_path, override, sweep=f"study.sweep = {{ {sweep} }}").runs()
    assert [run.system.server_count for run in runs] == servers
    assert [run.system.copies for run in runs] == copies
    assert len(refused(load, tmp_path, "a", "b").splitlines()) == 2
    assert not any(override.startswith(f"{key}=") for run in runs for key in run.swept)


PLAIN = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.text(st.characters(exclude_categories=("Cs",)), max_size=10),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), inner),
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_any_plain_value_written_as_toml_reads_back_equal(value: Any) -> None:
    assert tomllib.loads(f"value = {write_value(value)}") == {"value": value}
    assert tomllib.loads(write_toml({"a b": {"c.d": value}, "list": [{"e": 1}, {"f": value}]})) == {
        "a b": {"c.d": value},
        "list": [{"e": 1}, {"f": value}],
    }
