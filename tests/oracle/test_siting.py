"""Where routers stand on small tori: all placements tried, and integer programs (HiGHS)."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import coo_array, csr_array, eye_array, hstack

from resilver.center import Machine, machine, sites
from resilver.center.balance import balanced, even_share
from resilver.center.torus import hops
from tests.scale import numbers

Floats = npt.NDArray[np.float64]

WEIGHTS = ((1, 1, 1), (4, 8, 1), (1, 2, 3))


def drawn(torus: tuple[int, int, int], nodes: int, number: int) -> Machine:
    """A machine whose clients are not the same everywhere: some nodes, drawn, do not compute."""
    draw = np.random.default_rng(number)
    at = [draw.permutation(int(np.prod(torus)))[: draw.integers(2, 8)], torus]
    service = [f"x{x}y{y}z{z}" for x, y, z in zip(*np.unravel_index(*at), strict=True)]
    return machine(
        {
            "torus": list(torus),
            "nodes": nodes,
            "weights": list(WEIGHTS[number % len(WEIGHTS)]),
            "service": [name + "n0" if nodes == 1 else name for name in service],
            "routers": {"groups": [["x0y0z0n0" if nodes == 1 else "x0y0z0"]]},
        }
    )


def costs_of(found: Machine) -> tuple[Floats, npt.NDArray[np.int64]]:
    """What paths cost from every chip to every chip, and how many nodes of it may be clients.

    A router's node is a client where the router stands elsewhere.
    """
    may = np.union1d(found.clients, found.routers[found.routers >= 0])
    lines = np.ravel_multi_index(tuple(found.places[may].T), found.torus)
    chips, counts = np.unique(lines, return_counts=True)
    ends = np.stack(np.unravel_index(np.arange(np.prod(found.torus)), found.torus), axis=-1)
    sources = np.stack(np.unravel_index(chips, found.torus), axis=-1)
    apart = hops(ends[:, None], sources[None], found.torus) @ np.array(found.file.weights)
    return np.asarray(apart, dtype=np.float64), np.asarray(counts)


def cost_after(found: Machine, modules: tuple[str, ...], sums: float) -> float:
    """A sum of costs as a mean over the clients that there are beside modules of whole chips."""
    taken = {node for node, name in enumerate(found.names) if name.startswith(modules)}
    may = np.union1d(found.clients, found.routers[found.routers >= 0])
    return sums / len(set(may.tolist()) - taken)


@pytest.mark.parametrize("count", [2, 3])
def test_places_on_a_small_torus_are_the_best_of_all(count: int) -> None:
    # Of 64 chips two have 2,016 pairs and three 41,664 triples.
    for number in numbers(3):
        found = drawn((4, 4, 4), 1, number)
        costs, clients = costs_of(found)
        chosen = np.array(list(itertools.combinations(range(64), count)))
        assert len(chosen) == {2: 2016, 3: 41_664}[count]
        nearest = costs[chosen[:, 0]]
        for column in chosen.T[1:]:
            nearest = np.minimum(nearest, costs[column])
        least = float((nearest @ clients).min())
        made = sites(found, count)
        assert made.cost == pytest.approx(cost_after(found, made.modules[0], least), rel=1e-6)
        assert made.cost <= min(made.random_costs) + 1e-6, number


@pytest.mark.parametrize("count", [2, 3])
def test_balanced_is_the_least_for_every_placement_on_a_small_torus(count: int) -> None:
    # Moved along the torus a placement is the same, so one router stands at the first chip. The
    # oracle gives every client a place of its own at a router, each with its even share of them.
    found = drawn((4, 4, 4), 1, 1)
    ends = np.stack(np.unravel_index(np.arange(64), found.torus), axis=-1)
    apart = hops(ends[:, None], ends[None], found.torus) @ np.array(found.file.weights)
    tried = 0
    for others in itertools.combinations(range(1, 64), count - 1):
        routers = [0, *others]
        clients = np.setdiff1d(np.arange(64), routers)
        costs = apart[np.ix_(clients, routers)].astype(float)
        picked = balanced(costs, np.ones(len(clients), dtype=np.int64))
        share = even_share(len(clients), count)
        assert np.bincount(picked, minlength=count).max() <= share
        rows, columns = linear_sum_assignment(np.repeat(costs, share, axis=1))
        best = costs[rows, columns // share].sum()
        assert costs[np.arange(len(clients)), picked].sum() == pytest.approx(best, abs=1e-9)
        tried += 1
    assert tried == {2: 63, 3: 1953}[count]


def least_by_program(costs: Floats, clients: npt.NDArray[Any], count: int) -> float:
    """The least mean cost of so many places, by an integer program (HiGHS).

    A client pays the step from each of its distances to the next unless a place is as near as the
    former (Cornuejols, Nemhauser, Wolsey, "A canonical representation of simple plant location
    problems and its applications", 1980).
    """
    rows: list[int] = []
    near: list[int] = []
    paid: list[float] = []
    for client, number in enumerate(clients):
        own = np.unique(costs[:, client])
        for low, high in itertools.pairwise(own):
            within = np.flatnonzero(costs[:, client] <= low)
            rows += [len(paid)] * len(within)
            near += within.tolist()
            paid.append(number * (high - low))
    places, steps = len(costs), len(paid)
    covers = coo_array((np.ones(len(rows)), (rows, near)), shape=(steps, places))
    chosen = np.concatenate([np.ones(places), np.zeros(steps)])
    solved = milp(
        np.concatenate([np.zeros(places), paid]),
        constraints=[
            LinearConstraint(hstack([covers, eye_array(steps)]).tocsr(), 1, np.inf),
            LinearConstraint(csr_array(chosen[None]), count, count),
        ],
        integrality=chosen,
        bounds=Bounds(0, 1),
    )
    assert solved.success
    return float((solved.fun + clients @ costs.min(axis=0)) / clients.sum())


@pytest.mark.parametrize("count", [8, 10])
def test_places_on_six_by_four_by_four_are_the_program_s(count: int) -> None:
    # Exchanges end where none saves, which is seldom anywhere but at the best: once in 18 drawn
    # machines it was 0.25 % above. So all lie within 0.5 %, and four of five are the best.
    over = []
    for number in numbers(1):
        found = drawn((6, 4, 4), 2, number)
        costs, clients = costs_of(found)
        least = least_by_program(costs, clients, count) * float(clients.sum())
        made = sites(found, count)
        over.append(made.cost / cost_after(found, made.modules[0], least) - 1.0)
    assert max(over) <= 0.005
    assert np.mean(np.array(over) <= 1e-6) >= 0.8
