"""What a run will cost is told before it: counts as derived by hand, and as runs have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resilver.estimate import estimate
from resilver.simulate import simulate
from resilver.spec import Run, Study

MIB = 2**20

STRIPES = '{ stripe_unit = "4 MiB", stripe_width = "servers // copies" }'
FAULT = "[[faults]]\nfail = { servers = 1 }"


def run_of(tmp_path: Path, population: str, faults: str = FAULT, replicas: int = 3) -> Run:
    path = tmp_path / "study.toml"
    path.write_text(
        f"""
[cluster]
servers = 12
[population]
{population}
[placement]
algorithm = "ring"
placement_groups = "none"
[redundancy]
replicas = {replicas}
{faults}
[recovery]
pipeline_buffer = "16 MiB"
""",
        encoding="utf-8",
    )
    return Study.load(path).runs()[0]


def estimated(tmp_path: Path, population: str, **others: Any) -> dict[str, Any]:
    return estimate(run_of(tmp_path, population, **others).system)


def test_a_file_is_cut_as_the_study_says(tmp_path: Path) -> None:
    # 130 MiB in chunks of 64 MiB are objects of 64, 64 and 2 MiB, which 4, 4 and 1 buffers of 16
    # MiB carry. A server of 12 holds a quarter of 1,200 files' replicas, three of each.
    chunks = 'file_size = "130 MiB"\nfiles = 1200\nobjects = { chunk = "64 MiB" }'
    found = estimated(tmp_path, chunks)
    assert (found["objects"], found["replicas_to_move"]) == (3600, 900)
    assert (found["buffers"], found["bytes_to_move"]) == (2700, 300 * 130 * MIB)
    # Striped over 12 // 3 objects in units of 4 MiB, 10 MiB touch three of them, of one buffer.
    stripes = 'file_size = "10 MiB"\nfiles = 1200\nobjects = ' + STRIPES
    found = estimated(tmp_path, stripes)
    assert (found["objects"], found["replicas_to_move"], found["buffers"]) == (3600, 900, 900)


@pytest.mark.parametrize(
    "population",
    [
        'histogram = "genomes1000"\nbytes_per_server = "2 TiB"\nobjects = { chunk = "64 MiB" }',
        'histogram = { bins = [["4 KiB", "64 KiB", 50], ["1 MiB", "1 GiB", 1]] }\n'
        'bytes_per_server = "1 TiB"\nobjects = ' + STRIPES,
    ],
    ids=["chunked", "striped"],
)
def test_a_run_has_the_events_that_were_expected(tmp_path: Path, population: str) -> None:
    # Seven events a buffer. Which server fails decides how much is rebuilt, so what is compared is
    # a replica's share; a mean over the 10^5 replicas of a run strays by less than a hundredth.
    run = run_of(tmp_path, population)
    expected, metrics = estimate(run.system), simulate(run.system, run.seed).metrics
    objects, replicas = metrics["population_objects"], metrics["rebuilt_pieces"]
    assert isinstance(objects, int) and isinstance(replicas, int)
    assert expected["objects"] == pytest.approx(objects, rel=0.05)
    assert isinstance(metrics["events"], int)
    assert expected["events"] / expected["replicas_to_move"] == pytest.approx(
        metrics["events"] / replicas, rel=0.05
    )


def test_a_later_fault_adds_what_it_takes(tmp_path: Path) -> None:
    # A server, and later two more: three of twelve servers hold three quarters of an object's
    # three replicas.
    population = 'file_size = "1 MiB"\nfiles = 1600'
    later = (
        '[[faults]]\nfail = { servers = 1 }\n[[faults]]\nat = "10 min"\nfail = { servers = 2 }\n'
    )
    assert estimated(tmp_path, population)["replicas_to_move"] == 400
    assert estimated(tmp_path, population, faults=later)["replicas_to_move"] == 1200


def test_nothing_stored_costs_the_start_alone(tmp_path: Path) -> None:
    found = estimated(tmp_path, 'file_size = "1 MiB"\nfiles = 0')
    assert (found["objects"], found["buffers"], found["events"]) == (0, 0, 0)
    assert 0.0 < found["seconds"] < 1.0
