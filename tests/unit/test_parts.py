"""A run made of scans of parts equals the run that scans by itself, whatever the parts."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from resilver.errors import ConfigError
from resilver.simulate import PartOfPopulation, PopulationScan, simulate_found
from resilver.spec import System
from resilver.study import simulate
from tests.build import refused
from tests.scale import times
from tests.unit.small_reports import report
from tests.unit.test_affected import KINDS, system_of

SEED = 5


def mapped(system: System, ends: list[int]) -> list[PartOfPopulation]:
    """Parts between the given ends, each scanned without the others; the end is found after."""
    scan = PopulationScan(system, SEED)
    volume = system.population_target_bytes
    parts: list[PartOfPopulation] = []
    bounds = [0, *sorted(set(ends) - {0}), 10**6]
    for first, end in pairwise(bounds):
        part = scan.scan(first, end - first)
        before = sum(one.bytes for one in parts)
        if volume is not None and before + part.bytes > volume:
            part = scan.scan_to_end(first, end - first, before)
            assert part.is_last
        parts.append(part)
        if part.is_last:
            break
    return parts


def same(one: Any, other: Any) -> bool:
    names = ("servers", "transfers", "timeline")
    tables = (getattr(one, name).equals(getattr(other, name)) for name in names)
    return one.metrics == other.metrics and all(tables)


# Rule: parts of any sizes, in any order, give the run that scans alone, digest included.
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extent", [{"files": 300}, {"bytes": "700 MiB"}], ids=["files", "bytes"])
def test_a_run_of_parts_equals_a_run(kind: str, extent: dict[str, Any]) -> None:
    system = system_of(KINDS[kind], extent)
    whole = simulate(system, SEED)

    @settings(max_examples=times(3))
    @given(st.lists(st.integers(1, 500), max_size=6), st.randoms(use_true_random=False))
    def check(ends: list[int], random: Any) -> None:
        parts = mapped(system, ends)
        random.shuffle(parts)
        assert same(simulate_found(system, SEED, parts), whole)

    check()
    assert whole.metrics["rebuilt_objects"] != 0


# Rule: parts add up to their population, and one that begins where it ends is empty and last.
def test_parts_add_up() -> None:
    system = system_of(KINDS["rehash"], {"bytes": "700 MiB"})
    metrics = simulate(system, SEED).metrics
    parts = mapped(system, [100, 101, 300])
    for name, column in (("files", "files"), ("objects", "objects"), ("bytes", "bytes")):
        assert sum(getattr(part, name) for part in parts) == metrics[f"population_{column}"]
    scan = PopulationScan(system, SEED)
    end = sum(part.files for part in parts)
    held = sum(part.bytes for part in parts)
    behind = scan.scan_to_end(end, 10, held)
    assert (behind.files, behind.bytes, behind.is_last) == (0, 0, True)
    assert scan.scan(end, 10).files == 10


# Rule: parts that do not make up the population are refused, and say what is wrong.
def test_wrong_parts_are_refused() -> None:
    system = system_of(KINDS["rehash"], {"files": 300})
    scan = PopulationScan(system, SEED)
    first, second, third = scan.scan(0, 100), scan.scan(100, 100), scan.scan(200, 100)
    other = PopulationScan(system, SEED + 1)
    objects = second.affected_objects
    cases: list[tuple[list[PartOfPopulation], str]] = [
        ([], "there are none"),
        ([first, third], "files 100 to 199 are missing"),
        ([first, second, second, third], "files 100 to 199 meet twice"),
        ([first, second], "does not end with file 199"),
        ([first, second, third, scan.scan(300, 5)], "ends before the last"),
        ([first, other.scan(100, 100), third], "not an affected object of this system and seed"),
        ([first, replace(second, affected_objects=objects[::-1]), third], "not its files'"),
        ([first, replace(second, affected_objects=objects[1:]), third], "not its files'"),
        ([first, replace(second, affected_objects=objects - objects[0]), third], "not its files'"),
        ([first, replace(second, affected_bytes=second.affected_bytes + 1), third], "its size"),
    ]
    for parts, message in cases:
        with pytest.raises(ConfigError, match=message):
            simulate_found(system, SEED, parts)


# Rule: a range that cannot be scanned is refused, with the value.
@pytest.mark.parametrize("first", [-1, True, 1.5, "0", 2**36, 2**63, 2**80])
def test_impossible_ranges_are_refused(first: Any) -> None:
    scan = PopulationScan(system_of(KINDS["rehash"], {"bytes": "1 GiB"}), SEED)
    with pytest.raises(ConfigError, match=r"first_file = |files = 1 from"):
        scan.scan(first, 1)
    with pytest.raises(ConfigError):
        scan.scan(1, 2**36)
    assert "bytes_before = -1" in refused(scan.scan_to_end, 0, 1, -1)


# Rule: several pools are not scanned in parts, and a real cluster has no population; the error says
# what to do instead, and what knows its PGs.
def test_what_has_no_population_is_not_scanned_in_parts(tmp_path: Path) -> None:
    pool = {"population": {"file_size": "1 MiB", "files": 9}, "placement": {"algorithm": "ring"}}
    pools = [{"name": name, **pool} for name in ("a", "b")]
    system = Study.from_dict({"cluster": {"servers": 4}, "pools": pools}).runs()[0].system
    scan = PopulationScan(system, SEED)
    assert not scan.can_split and scan.expected_files == 0
    assert "simulate it as a whole" in refused(scan.scan, 0, 10)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(osds_as_domains=True)))
    table = {"cluster": {"ceph": str(path)}, "faults": [{"fail": {"osds": ["osd.1"]}}]}
    with pytest.raises(ConfigError, match="use affected_groups"):
        PopulationScan(Study.from_dict(table).runs()[0].system, SEED)
