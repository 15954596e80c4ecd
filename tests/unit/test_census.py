"""A census counts the very files and objects of a run, and they are as the histogram expects."""

import math

import pytest

import resilver
from resilver import Population, Study, census
from resilver.errors import ConfigError
from resilver.importers.sizes import expected_by_class
from resilver.report.population import PopulationSizes

SYSTEM = {
    "cluster": {"servers": 8},
    "placement": {"algorithm": "ring", "placement_groups": "none"},
    "faults": [{"at": "0 s", "fail": {"servers": 1}}],
}


def totals(population: Population, **options: object) -> dict[str, int]:
    table = census(population, servers=8, copies=3, **options)  # type: ignore[arg-type]
    return {name: sum(table[name].to_pylist()) for name in table.column_names[2:]}


@pytest.mark.parametrize(
    "population",
    [
        {"histogram": "genomes1000", "bytes_per_server": "8 TiB"},
        {"histogram": "mira", "bytes": "1 TiB"},
        {"histogram": "genomes1000", "objects": "whole", "bytes": "1 TiB"},
        {"file_size": "100 MiB", "files": 1000},
        {"histogram": "genomes1000", "files": 0},
    ],
)
def test_a_census_counts_what_a_run_stores(population: dict[str, object]) -> None:
    study = Study.from_dict({**SYSTEM, "population": population})
    system = study.runs()[0].system
    run = resilver.study.simulate(system, seed=5).metrics
    counted = totals(system.population, seed=5)
    assert counted["files"] == run["population_files"]
    assert counted["objects"] == run["population_objects"]
    assert counted["file_bytes"] == counted["object_bytes"] == run["population_bytes"]


def test_classes_are_consecutive_powers_of_two_that_hold_their_sizes() -> None:
    table = census(Population(histogram="genomes1000", bytes="64 TiB"), servers=8, copies=3)
    low, high = table["bin_min_bytes"].to_pylist(), table["bin_max_bytes"].to_pylist()
    assert high == [2 * edge for edge in low] and low[1:] == high[:-1]
    for row in table.to_pylist():
        for kind in ("file", "object"):
            count, size = row[f"{kind}s"], row[f"{kind}_bytes"]
            assert count * row["bin_min_bytes"] <= size <= count * (row["bin_max_bytes"] - 1)
    # Files end below 128 GiB, and a full chunk has 64 MiB, the smallest size of its class.
    assert high[-1] <= 128 * 2**30
    chunks = next(row for row in table.to_pylist() if row["bin_min_bytes"] == 64 * 2**20)
    assert chunks["object_bytes"] == chunks["objects"] * 64 * 2**20


@pytest.mark.parametrize("name", ["genomes1000", "mira"])
def test_files_are_drawn_as_the_histogram_expects(name: str) -> None:
    # Of n files, a class of probability p holds n p on average, with a standard deviation of
    # sqrt(n p (1 - p)). Over about 45 classes, a draw beyond 5 of them has odds of 45 x 5.7e-7 =
    # 3e-5 where the normal approximation holds, hence classes of at least 100 expected files.
    population = Population(histogram=name, bytes="64 TiB")
    found = census(population, servers=1024, copies=3, seed=7)
    expected = expected_by_class(population.histogram.bins)
    counted = PopulationSizes.of_census(name, "", found, expected)
    files = counted.total("files")
    tested = 0
    for row in counted.classes:
        mean = files * row["expected_file_share"]
        if mean >= 100:
            deviation = math.sqrt(mean * (1 - row["expected_file_share"]))
            assert abs(row["files"] - mean) <= 5 * deviation, row
            tested += 1
        elif mean == 0:
            assert row["files"] == 0
    assert tested >= 10
    assert sum(row["expected_file_share"] for row in counted.classes) == pytest.approx(1.0)


def test_another_volume_may_be_asked_for_and_seeds_differ() -> None:
    population = Population(histogram="genomes1000", bytes="16 TiB")
    assert totals(population, seed=1) == totals(population, seed=1) != totals(population, seed=2)
    population = Population(file_size="1 MiB", bytes_per_server="1 GiB")
    assert totals(population)["files"] == 8 * 1024
    assert totals(population, bytes=5 * 2**20 + 1)["files"] == 5
    assert totals(population, bytes="7 MiB")["files"] == 7
    assert not any(totals(population, bytes=0).values())
    seen: list[float] = []
    totals(Population(histogram="mira", bytes="64 TiB"), progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"servers": 0}, "servers = 0: servers is a whole number"),
        ({"copies": True}, "copies = true"),
        ({"seed": -1}, "seed = -1: a seed is a whole number from 0"),
        ({"seed": 2**64}, "a seed is a whole number"),
        ({"bytes": -1}, "bytes"),
        ({"bytes": 2**62 + 1}, "would hold more than 4 EiB"),
        ({"servers": 2**31 - 1}, "bytes_per_server = .* would hold more than 4 EiB"),
    ],
)
def test_numbers_out_of_range_are_refused(options: dict[str, object], says: str) -> None:
    given = {"servers": 8, "copies": 3, **options}
    with pytest.raises(ConfigError, match=says):
        census(Population(histogram="genomes1000", bytes_per_server="1 PiB"), **given)  # type: ignore[arg-type]
