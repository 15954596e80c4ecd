"""Systems in the words that the core reads."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from resilver import core_input
from resilver.spec import System
from resilver.study import simulate
from tests.build import CASES, STUDIES, merged, study_of, system_of
from tests.unit.test_spec_refused import check

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
