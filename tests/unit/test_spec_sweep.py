"""A sweep makes every combination, each valid on its own, and overrides replace keys."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.spec import Cluster, Ensemble, Population, Study
from resilver.spec.toml import parse_value, split_key, split_override, write_toml, write_value

BASE: dict[str, Any] = {
    "cluster": {"servers": 64},
    "population": {"histogram": "genomes1000", "bytes_per_server": "20 TiB"},
    "faults": [{"fail": {"servers": 1}}],
}


def swept(sweep: dict[str, Any], seeds: int = 1, **sections: Any) -> Study:
    return Study.from_dict({**BASE, **sections, "study": {"seeds": seeds, "sweep": sweep}})


def test_every_combination_is_run_with_every_seed_in_order() -> None:
    study = swept({"cluster.servers": [4, 8], "redundancy.replicas": [2, 3]}, seeds=2)
    runs = study.runs()
    got = [(*run.swept.values(), run.seed) for run in runs]
    assert got == [(s, r, seed) for s in (4, 8) for r in (2, 3) for seed in (1, 2)]
    assert [(run.system.server_count, run.system.copies) for run in runs[::2]] == [
        (4, 2),
        (4, 3),
        (8, 2),
        (8, 3),
    ]
    assert len({run.key for run in runs}) == 8


def test_swept_quantities_are_numbers_in_si_units() -> None:
    study = swept({"recovery.pipeline_buffer": ["64 KiB", "16 MiB"]})
    assert [run.swept["recovery.pipeline_buffer"] for run in study.runs()] == [65536, 16777216]
    assert all(type(run.swept["recovery.pipeline_buffer"]) is int for run in study.runs())


def test_a_key_with_numbers_and_words_has_words_in_tables() -> None:
    study = swept({"placement.placement_groups": ["none", 64]})
    assert [run.swept["placement.placement_groups"] for run in study.runs()] == ["none", "64"]


def test_a_swept_key_need_not_stand_in_its_section() -> None:
    study = swept(
        {"cluster.servers": [16, 32], "placement.bucket": ["straw"]}, cluster={"racks": 4}
    )
    assert [run.system.server_count for run in study.runs()] == [16, 32]
    assert study.cluster.servers == 16


def test_the_base_alone_need_not_be_consistent() -> None:
    # Three servers cannot hold four copies, but no swept system has three servers.
    study = swept({"cluster.servers": [8, 16]}, cluster={"servers": 3}, redundancy={"replicas": 4})
    assert len(study.runs()) == 2


def test_values_inside_tables_lists_and_whole_sections_can_be_swept() -> None:
    study = swept({"faults.0.fail.servers": [1, 2]})
    assert [run.system.faults[0].fail.targets for run in study.runs()] == [1, 2]
    study = swept({"population.objects.chunk": ["1 MiB", "64 MiB"]})
    assert [run.system.chunk_bytes for run in study.runs()] == [2**20, 2**26]
    assert [run.swept["population.objects.chunk"] for run in study.runs()] == [2**20, 2**26]
    study = swept({"cluster.device.read_rate": ["1 GB/s", "2 GB/s"]})
    assert [run.system.device_table.read_rate for run in study.runs()] == [1e9, 2e9]
    study = swept({"placement": [{"bucket": "straw"}, {"algorithm": "ring"}]})
    assert [run.swept["placement"] for run in study.runs()] == [
        '{ bucket = "straw" }',
        '{ algorithm = "ring" }',
    ]


def test_defaults_follow_the_swept_algorithm() -> None:
    study = swept({"placement.algorithm": ["crush", "ring"]})
    crush, ring = (run.system.placement for run in study.runs())
    assert crush is not None and (crush.bucket, crush.ring_points) == ("straw2", None)
    assert ring is not None and (ring.bucket, ring.ring_points) == (None, 1024)
    assert Study.from_dict(tomllib.loads(study.to_toml())).resolved() == study.resolved()


def test_populations_can_be_swept_by_name_and_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("0 4096 10\n")
    table = {
        **BASE,
        "population": {"histogram": "mira", "bytes": "20 TiB"},
        "study": {"sweep": {"population.histogram": ["mira", {"file": "mine.txt"}]}},
    }
    study = Study.from_dict(table, tmp_path)
    assert [run.swept["population.histogram"] for run in study.runs()] == ["mira", "mine.txt"]
    # The cut into objects is each population's own default.
    assert [run.system.chunk_bytes for run in study.runs()] == [None, 64 * 2**20]
    again = Study.from_dict(tomllib.loads(study.to_toml()), Path("/"))
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]


def test_a_sweep_built_in_python_is_the_same() -> None:
    built = Study(
        cluster=Cluster(servers=64),
        population=Population(histogram="genomes1000", bytes_per_server="20 TiB"),
        faults=[{"fail": {"servers": 1}}],
        study=Ensemble(sweep={"cluster.servers": [4, 8]}),
    )
    assert built.resolved() == swept({"cluster.servers": [4, 8]}).resolved()


def test_the_content_of_swept_files_is_in_the_resolved_study(tmp_path: Path) -> None:
    table = {
        **BASE,
        "population": {"histogram": "mira", "files": 1},
        "study": {"sweep": {"population.histogram": [{"file": "a.txt"}]}},
    }
    resolved = []
    for text in ("0 10 1\n", "0 11 1\n"):
        (tmp_path / "a.txt").write_text(text)
        resolved.append(Study.from_dict(table, tmp_path).resolved())
    assert resolved[0] != resolved[1]
    assert json.dumps(resolved[0])


@pytest.mark.parametrize(
    ("sweep", "says"),
    [
        (3, "a sweep is a table of dotted keys"),
        ({"cluster.serverz": [1]}, 'study.sweep."cluster.serverz": .*mean "cluster.servers"'),
        ({"clustr.servers": [1]}, 'did you mean "cluster.servers"'),
        ({"study.seeds": [1]}, "there is no such key to sweep"),
        ({"cluster.servers": []}, "needs a list of at least one value"),
        ({"cluster.servers": 4}, "needs a list of at least one value"),
        ({"cluster": {"servers": [4]}}, 'write { "cluster.servers" = '),
        ({"cluster.servers": ["x"]}, 'cluster.servers = "x": .*a whole number'),
        ({"cluster.servers": [8, 2]}, "at cluster.servers = 2: this needs 3 failure domains"),
        ({"faults.fail.servers": [1]}, "a fault is named by its place in the list"),
        ({"faults.7.fail.servers": [1]}, "the list has no item 7"),
        ({"cluster.servers.x": [1]}, "which has no key x"),
        ({"cluster.servers": [8, 8]}, "two combinations are the same system"),
        ({"cluster.servers": [8] * 100_001}, "has 100,001 runs, and a study has at most 100,000"),
        ({"cluster.fabric": [{}], "cluster.fabric.model": ["loggp"]}, "it is part of"),
    ],
)
def test_a_bad_sweep_is_refused_before_anything_runs(sweep: Any, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        swept(sweep)
    assert re.search(says, str(caught.value)), str(caught.value)


def test_every_bad_combination_is_told() -> None:
    with pytest.raises(ConfigError) as caught:
        swept({"cluster.servers": [1, 2, 8], "redundancy.replicas": [2, 3]})
    # Combinations (1, 2), (1, 3) and (2, 3) have too few servers.
    assert len(str(caught.value).splitlines()) == 3


def load(tmp_path: Path, *overrides: str, sweep: str = "") -> Study:
    file = tmp_path / "study.toml"
    file.write_text(
        '[cluster]\nservers = 64\n[population]\nhistogram = "genomes1000"\n'
        f'bytes_per_server = "20 TiB"\n[study]\nseeds = 1\n{sweep}'
    )
    return Study.load(file, overrides)


def test_an_override_replaces_a_key_with_a_toml_value_or_text(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        "cluster.servers=128",
        "recovery.pipeline_buffer = 1 MiB",
        'recovery.source="random"',
        "recovery.pipelining=false",
        "study.seeds=[4, 5]",
    )
    made = study.runs()[0].system
    assert made.server_count == 128 and made.recovery.pipeline_buffer == 2**20
    assert made.recovery.source == "random" and not made.recovery.pipelining
    assert [run.seed for run in study.runs()] == [4, 5]


def test_an_override_of_a_swept_key_fixes_it(tmp_path: Path) -> None:
    sweep = 'sweep = { "cluster.servers" = [4, 8], "redundancy.replicas" = [2, 3] }\n'
    study = load(tmp_path, "cluster.servers=16", sweep=sweep)
    assert [run.swept for run in study.runs()] == [
        {"redundancy.replicas": 2},
        {"redundancy.replicas": 3},
    ]
    assert all(run.system.server_count == 16 for run in study.runs())


def test_a_sweep_can_be_overridden_by_its_quoted_key(tmp_path: Path) -> None:
    study = load(tmp_path, 'study.sweep."cluster.servers"=[8, 16]')
    assert [run.system.server_count for run in study.runs()] == [8, 16]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cluster.servers", "an override is KEY=VALUE"),
        ("=3", "an override is KEY=VALUE"),
        ("cluster..servers=3", "the key has an empty part"),
        ("cluster.servers=", "the value is missing"),
        ("cluster.serverz=3", 'did you mean "servers"'),
        ("cluster.servers.x=3", "which has no key x"),
        ("cluster.servers=3\nracks=1", "a whole number is needed"),
    ],
)
def test_a_bad_override_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, text)


def test_all_bad_overrides_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "a", "b")
    assert len(str(caught.value).splitlines()) == 2


def test_keys_split_at_dots_outside_quotes() -> None:
    assert split_key("a.b") == ["a", "b"]
    assert split_key('a."b.c".d') == ["a", "b.c", "d"]
    assert split_override('study.sweep."a.b"=[1]') == (["study", "sweep", "a.b"], [1])
    assert split_override("a.b=c=d") == (["a", "b"], "c=d")
    assert parse_value("2\nx = 3") == "2\nx = 3"


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


TOGETHER = {
    "cluster.servers, redundancy.replicas": [[4, 2], [8, 3], [8, 2]],
    "recovery.pipeline_buffer": ["1 MiB", "2 MiB"],
}


def test_keys_in_one_change_together() -> None:
    """Three steps of two keys, times two values of another: six systems and not 2 x 2 x 2."""
    runs = swept(TOGETHER).runs()
    mib = 2**20
    steps = ((4, 2), (8, 3), (8, 2))
    assert [tuple(run.swept.values()) for run in runs] == [
        (servers, copies, size * mib) for servers, copies in steps for size in (1, 2)
    ]
    assert list(runs[0].swept) == [
        "cluster.servers", "redundancy.replicas", "recovery.pipeline_buffer",
    ]  # fmt: skip
    assert [(run.system.server_count, run.system.copies) for run in runs[::2]] == [
        (4, 2), (8, 3), (8, 2),
    ]  # fmt: skip


def test_keys_that_change_together_survive_being_written(tmp_path: Path) -> None:
    study = swept(TOGETHER)
    file = tmp_path / "study.toml"
    file.write_text(study.to_toml(), encoding="utf-8")
    assert [run.key for run in Study.load(file).runs()] == [run.key for run in study.runs()]


def test_an_override_takes_one_of_the_keys_that_change_together(tmp_path: Path) -> None:
    """With 2 copies everywhere the steps are (4), (8) and (8) again, of which one is kept."""
    file = tmp_path / "study.toml"
    file.write_text(swept(TOGETHER).to_toml(), encoding="utf-8")
    runs = Study.load(file, ["redundancy.replicas=2"]).runs()
    assert [run.swept["cluster.servers"] for run in runs] == [4, 4, 8, 8]
    assert {run.system.copies for run in runs} == {2}


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ({"cluster.servers, redundancy.replicas": [4, 8]}, "2 keys that change together need"),
        ({"cluster.servers, redundancy.replicas": [[4]]}, "lists of 2 values"),
        ({"cluster.servers, ": [[4, 2]]}, "there is no such key to sweep"),
        ({"cluster.servers, cluster.servers": [[4, 8]]}, "it is swept twice"),
        ({"cluster.servers": [4], "cluster.servers, redundancy.replicas": [[4, 2]]}, "swept twice"),
    ],
)
def test_steps_of_keys_that_change_together_are_whole(sweep: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        swept(sweep)


CLASSED = {
    "cluster": {
        "parts": [
            {"level": "host", "count": 8},
            {"level": "osd", "in": "host", "count": 2, "class": "hdd"},
            {"level": "osd", "in": "host", "count": 1, "class": "ssd"},
        ]
    },
    "population": {"file_size": "1 MiB", "bytes": "1 GiB"},
    "placement": {"class": "ssd"},
    "faults": [{"part": {"osd": 1}}],
}


@pytest.mark.parametrize(
    ("sweep", "classes"),
    [
        # Another key of the section is swept, and the class stays as it is given.
        ({"placement.bucket": ["straw", "straw2"]}, ["ssd", "ssd"]),
        ({"placement.class": ["hdd", "ssd"]}, ["hdd", "ssd"]),
    ],
)
def test_a_key_that_is_a_word_of_pythons_is_kept_and_swept(sweep: Any, classes: list[str]) -> None:
    study = Study.from_dict({**CLASSED, "study": {"sweep": sweep}})
    assert [run.system.placement.only_class for run in study.runs()] == classes
    again = Study.from_dict(tomllib.loads(study.to_toml()))
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
