"""Projects over namespaces: greedy against the optimum, and the command."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from resilver import ConfigError, cli, size
from resilver.center import deal
from resilver.center.namespaces import greedy, worst_load


def drawn(seed: int, kinds: int) -> tuple[np.ndarray, int]:
    """Six to 16 projects whose needs have a long tail, over two to four namespaces."""
    rng = np.random.default_rng(seed)
    projects, count = int(rng.integers(6, 17)), int(rng.integers(2, 5))
    return rng.pareto(1.5, (projects, kinds)) + 0.1, count


@pytest.mark.parametrize("seed", range(20))
def test_by_capacity_alone_greedy_is_within_four_thirds_of_the_optimum(seed: int) -> None:
    """Graham (1969): at most 4/3 - 1/(3 n)."""
    needs, count = drawn(seed, 1)
    best = deal(needs, count).optimum
    first = worst_load(needs, greedy(needs, count).tolist(), count)
    assert best - 1e-9 <= first <= best * (4 / 3 - 1 / (3 * count)) + 1e-9


def test_by_capacity_and_bandwidth_exchanges_come_near_the_optimum() -> None:
    """The median over 40 cases is at most 1.05 of the optimum; none is below it."""
    ratios = []
    for seed in range(40):
        needs, count = drawn(100 + seed, 2)
        best = deal(needs, count).optimum
        ratios.append(deal(needs, count, with_optimum=False).worst / best)
    assert min(ratios) >= 1 - 1e-9 and float(np.median(ratios)) <= 1.05


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_the_best_of_all_ways(seed: int) -> None:
    """Seven projects over two namespaces: 128 ways."""
    needs = np.random.default_rng(seed).pareto(1.2, (7, 2)) + 0.1
    ways = itertools.product(range(2), repeat=7)
    assert deal(needs, 2).optimum == pytest.approx(min(worst_load(needs, way, 2) for way in ways))


def test_even_projects_are_dealt_evenly_and_many_without_an_optimum() -> None:
    """Two alike of each kind: no namespace has more than its share."""
    assert deal(np.array([[3.0, 1.0], [3.0, 1.0], [1.0, 5.0], [1.0, 5.0]]), 2).worst == 1.0
    needs = np.random.default_rng(5).pareto(1.5, (3000, 2)) + 0.1
    found = deal(needs, 4)
    assert found.optimum is None and set(found.namespace) == {0, 1, 2, 3}
    assert found.worst == pytest.approx(worst_load(needs, found.namespace, 4))
    # No project is moved without moving what it needs: the loads of each kind sum to the whole.
    assert found.loads.sum(axis=0) == pytest.approx([4.0, 4.0])


PROJECTS = """
namespaces.count = 2
namespaces.projects = [
  { name = "climate", capacity = "3 PB", bandwidth = "10 GB/s" },
  { name = "fusion", capacity = "2 PB", bandwidth = "50 GB/s" },
  { name = "genomes", capacity = "1 PB", bandwidth = "40 GB/s" },
]
"""


def test_the_command_says_who_goes_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 6 PB and 100 GB/s, half each: fusion alone has 50 GB/s, the others 4 of 3 PB: 4/3."""
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "a.toml").write_text(PROJECTS)
    assert cli.run(["size", str(tmp_path / "a.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["namespaces"]
    places = {one["name"]: one["namespace"] for one in found["projects"]}
    assert places["climate"] == places["genomes"] != places["fusion"]
    assert found["worst_load"] == pytest.approx(4 / 3) == found["optimum"]
    assert cli.run(["size", str(tmp_path / "a.toml")]) == 0
    assert "has 1.333 of an equal share; the least possible is 1.333" in capsys.readouterr().out


def test_projects_have_names_and_needs() -> None:
    one = {"name": "a", "capacity": "1 PB"}
    with pytest.raises(ConfigError, match="two projects have this name"):
        size({"namespaces": {"count": 2, "projects": [one, one]}})
    with pytest.raises(ConfigError, match="the project needs nothing"):
        size({"namespaces": {"count": 2, "projects": [one, {"name": "b"}]}})
    with pytest.raises(ConfigError, match=r"namespaces\.count = 1: this must be at least 2"):
        size({"namespaces": {"count": 1, "projects": [one]}})
