"""A sweep makes every combination, each valid on its own, and overrides replace keys."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.spec import Ensemble, Study
from resilver.spec.toml import parse_value, split_key, split_override, write_toml, write_value
from tests.build import STUDIES, changed, read_again, refusal, refused, study_of


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
