"""A study file validates whole, fills in defaults, and comes back equal from what it writes."""

from __future__ import annotations

import json
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.spec import (
    Cluster,
    Ensemble,
    Fault,
    Placement,
    Population,
    Recovery,
    Redundancy,
    Study,
    System,
    auto_group_count,
    run_key,
)
from resilver.units import Bytes

BASE: dict[str, Any] = {
    "cluster": {"servers": 64},
    "population": {"histogram": "genomes1000", "bytes_per_server": "20 TiB"},
    "faults": [{"at": "0 s", "fail": {"servers": 1}}],
}


def system(**sections: Any) -> System:
    return Study.from_dict({**BASE, **sections}).runs()[0].system


def test_defaults_are_those_of_the_rebuild_studies() -> None:
    made = system()
    assert made.cluster.device.label == "jbod10-sata"
    assert made.cluster.fabric.table.label == "qdr-infiniband"
    assert made.redundancy is not None and made.redundancy.replicas == 3
    assert made.placement is not None and made.placement.algorithm == "crush"
    assert made.recovery.pipeline_buffer == 16 * 2**20
    assert made.recovery.receive_memory == made.recovery.send_memory == 2**30
    assert made.chunk_bytes == 64 * 2**20 and made.stripe_width is None


@pytest.mark.parametrize(
    ("servers", "count"),
    [
        (4, 128),
        (5, 512),
        (9, 512),
        (10, 4096),
        (49, 4096),
        # From 50: the least power of two not below 100 * servers / 3, which is 1667 and 34133.3.
        (50, 2048),
        (64, 4096),
        (1024, 65536),
    ],
)
def test_auto_means_the_number_of_groups_of_the_published_table(servers: int, count: int) -> None:
    assert auto_group_count(servers, 3) == count
    assert system(cluster={"servers": servers}).placement_group_count == count


def test_a_number_of_groups_that_is_exactly_reached_is_enough() -> None:
    # 100 * 64 / 2 = 3200 needs 4096; 100 * 512 / 100 = 512 is a power of two itself.
    assert auto_group_count(64, 2) == 4096 and auto_group_count(512, 100) == 512


def test_the_failure_domain_is_the_rack_where_there_are_racks() -> None:
    assert system().failure_domain == "server"
    assert system(cluster={"servers": 64, "racks": 4}).failure_domain == "rack"
    ring = system(cluster={"servers": 64, "racks": 4}, placement={"algorithm": "ring"})
    assert ring.failure_domain == "rack" and ring.placement_group_count is None


def test_a_stripe_by_servers_is_as_wide_as_a_copy_has_servers() -> None:
    population = {"histogram": "mira", "bytes_per_server": "20 TiB"}
    assert system(cluster={"servers": 1024}, population=population).stripe_width == 1024 // 3
    alone = system(cluster={"servers": 2}, population=population, redundancy={"replicas": 2})
    assert alone.stripe_width == 1


def test_the_volume_is_per_server_in_all_or_a_number_of_files() -> None:
    assert system().population_target_bytes == 64 * 20 * 2**40
    whole = {"file_size": "1 TiB", "objects": "whole"}
    files = system(population={**whole, "files": 1})
    assert (files.population_target_bytes, files.population_target_files) == (None, 1)
    # Uniform in [n, n + 1) is the one size n.
    assert files.histogram_bins == ((files.histogram_bins[0]),)
    assert files.histogram_bins[0].max_bytes == files.histogram_bins[0].min_bytes + 1 == 2**40 + 1
    assert files.chunk_bytes is None and files.stripe_unit_bytes is None


def test_an_empty_system_is_valid() -> None:
    for volume in ({"bytes": 0}, {"files": 0}, {"bytes_per_server": "0 B"}):
        study = Study.from_dict({**BASE, "population": {"histogram": "mira", **volume}})
        assert study.runs()
    assert Study.from_dict({key: BASE[key] for key in ("cluster", "population")}).runs()


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
    table = {
        **BASE,
        "cluster": {"servers": 64, "racks": 4},
        "placement": {"bucket": "straw"},
        "recovery": {"pipeline_buffer": "1 MiB"},
        "study": {"seeds": [3, 5]},
    }
    read = Study.from_dict(table)
    assert built.resolved() == read.resolved() and built.to_toml() == read.to_toml()
    assert [run.key for run in built.runs()] == [run.key for run in read.runs()]
    assert [run.seed for run in built.runs()] == [3, 5]


def test_python_gets_the_same_errors_as_a_file() -> None:
    with pytest.raises(ConfigError, match='servers = "64": a whole number is needed'):
        Cluster(servers="64")
    with pytest.raises(ConfigError, match="needs a unit"):
        Recovery(pipeline_buffer=16777216)
    with pytest.raises(ConfigError, match="5 failure domains of type 'server'"):
        Study(
            cluster=Cluster(servers=3),
            population=Population(histogram="mira", files=1),
            redundancy=Redundancy(replicas=5),
        )


def test_sections_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Cluster(servers=4).servers = 5


def test_resolved_is_plain_json_with_every_default() -> None:
    resolved = Study.from_dict(BASE).resolved()
    assert json.loads(json.dumps(resolved)) == resolved
    assert resolved["recovery"]["pipeline_buffer"] == 16777216
    assert resolved["placement"]["placement_groups"] == 4096
    assert resolved["placement"]["failure_domain"] == "server"
    assert resolved["study"]["seeds"] == [1]
    assert resolved["population"]["histogram"]["label"] == "genomes1000"


def test_a_run_and_its_system_survive_pickling() -> None:
    run = Study.from_dict(BASE).runs()[0]
    again = pickle.loads(pickle.dumps(run))
    assert again == run and run_key(again.system, run.seed, "1") == run_key(
        run.system, run.seed, "1"
    )


def test_the_key_depends_on_content_seed_and_version_and_not_on_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 4096 10\n")
    (tmp_path / "b.csv").write_text("min,max,count\n0,4096,10\n")
    (tmp_path / "c.txt").write_text("0 4096 11\n")

    def key(file: str, seed: int = 1, version: str = "1") -> str:
        population = {"histogram": {"file": file}, "bytes": "1 TiB"}
        study = Study.from_dict({**BASE, "population": population}, tmp_path)
        return run_key(study.runs()[0].system, seed, version)

    assert key("a.txt") == key("b.csv")
    others = [key("c.txt"), key("a.txt", seed=2), key("a.txt", version="2")]
    assert len({key("a.txt"), *others}) == 4
    assert len(key("a.txt")) == 32 and int(key("a.txt"), 16) >= 0


def test_auto_and_the_number_it_means_are_one_system() -> None:
    auto, number = system(), system(placement={"placement_groups": 4096})
    assert run_key(auto, 1, "1") == run_key(number, 1, "1")


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
    assert len(made.group_loads) == 4096
    resolved = made.resolved()
    assert resolved["cluster"]["ceph"]["label"] == "ceph-report-jewel-88osd.json"
    assert report not in json.dumps(resolved)


# The largest object of mira on 16 servers, 2^46 / 5 bytes, takes 2^30 buffers of 13,108 bytes.
SIZES = st.sampled_from(["16 KiB", "1 MiB", "16 MiB", "1.5 MiB", "100 kB", "14000 B"])
STUDIES = st.fixed_dictionaries(
    {
        "cluster": st.sampled_from(
            [
                {"servers": 16},
                {"servers": 64, "racks": 8},
                {"servers": 64, "racks": 8, "rows": 4, "device": "jbod10-sata"},
            ]
        ),
        "population": st.sampled_from(
            [
                {"histogram": "mira", "bytes_per_server": "20 TiB"},
                {"file_size": "1 TiB", "files": 3, "objects": "whole"},
                {
                    "histogram": {"bins": [["0 B", "4 KiB", 3], ["1 MB", "1.5 GB", 2]]},
                    "bytes": "1 PB",
                },
                {
                    "file_size": "1 GiB",
                    "bytes": "1 PiB",
                    "objects": {"stripe_unit": "3 MiB", "stripe_width": 7},
                },
            ]
        ),
        "recovery": st.fixed_dictionaries(
            {"pipeline_buffer": SIZES, "source": st.sampled_from(["primary", "random"])}
        ),
        "study": st.fixed_dictionaries(
            {"seeds": st.one_of(st.integers(1, 4), st.just([7, 3])), "title": st.text(max_size=20)}
        ),
    },
    optional={
        "placement": st.sampled_from(
            [
                {"algorithm": "ring", "ring_points": 64},
                {"algorithm": "multi_ring", "rings": 2},
                {"algorithm": "declustered", "parity_groups": 99},
                {"algorithm": "copysets", "placement_groups": "auto"},
                {"bucket": "straw", "tunables": "argonaut", "placement_groups": "none"},
                {"placement_groups": 77},
            ]
        ),
        "redundancy": st.fixed_dictionaries({"replicas": st.integers(1, 4)}),
        "faults": st.lists(
            st.sampled_from([{"fail": {"servers": 2}}, {"fail": {"servers": ["server.3"]}}]),
            max_size=2,
        ),
    },
)


@settings(max_examples=60)
@given(table=STUDIES)
def test_what_a_study_writes_reads_back_equal(table: dict[str, Any]) -> None:
    study = Study.from_dict(table)
    again = Study.from_dict(tomllib.loads(study.to_toml()))
    assert again.resolved() == study.resolved()
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
    assert again.to_toml() == study.to_toml()


def test_a_network_made_in_python_is_written_out_in_full() -> None:
    from resilver.importers import LogGpRow, LogGpTable

    rows = (LogGpRow(8, 6.7e-6, -1e-9, 1e-9), LogGpRow(4096, 6.7e-6, -1.234567e-9, 4.46e-10))
    with pytest.raises(ConfigError, match=r"fabric|g \+ \(s - 1\) G is negative"):
        Cluster(servers=4, fabric={"table": LogGpTable("mine", rows)})
    rows = (LogGpRow(8, 6.7e-6, 1e-9, 1e-9), LogGpRow(4096, 6.7e-6, -1.234567e-9, 4.46e-10))
    cluster = Cluster(servers=4, fabric={"table": LogGpTable("mine", rows)})
    study = Study(cluster=cluster, population=Population(histogram="mira", files=0))
    again = Study.from_dict(tomllib.loads(study.to_toml()))
    assert again.runs()[0].system.loggp_rows == rows
    assert again.runs()[0].key == study.runs()[0].key


def test_the_schema_describes_every_key_and_every_pattern_compiles() -> None:
    import re

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


def test_the_type_of_a_section_given_twice_is_the_same_section() -> None:
    cluster = Cluster(servers=8)
    study = Study(cluster=cluster, population=Population(histogram="mira", files=0))
    assert study.cluster is cluster
