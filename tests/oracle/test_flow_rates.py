"""Max-min fair rates beside linear programs: the lexicographic optimum, level by level, by HiGHS.

`RESILVER_FLOW_SYSTEMS=10000` compares as many random systems; without it, a few hundred.
"""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

import resilver

SYSTEMS = int(os.environ.get("RESILVER_FLOW_SYSTEMS", "150"))
FLOWS_MAX, RESOURCES_MAX = 60, 15

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FlowSystem:
    capacities: Numbers
    costs: Numbers
    """What a byte of each flow costs each resource, shape (resources, flows); 0 off its way."""
    weights: Numbers
    caps: Numbers
    counts: npt.NDArray[np.int64]

    def rates(self) -> Numbers:
        ways = [np.flatnonzero(column) for column in self.costs.T]
        starts = np.cumsum([0, *(len(way) for way in ways)])
        numbers = np.concatenate(ways)
        costs = np.concatenate([self.costs[way, flow] for flow, way in enumerate(ways)])
        return resilver.fair_rates(
            self.capacities,
            starts,
            numbers,
            costs,
            weights=self.weights,
            caps=self.caps,
            counts=self.counts,
        ).rates


def draw(random: np.random.Generator) -> FlowSystem:
    """A system of up to 60 flows over up to 15 resources, some of them alike."""
    resources, flows = random.integers(1, RESOURCES_MAX + 1), random.integers(1, FLOWS_MAX + 1)
    passes = random.random((resources, flows)) < random.uniform(0.1, 0.7)
    passes[random.integers(resources, size=flows), np.arange(flows)] = True
    alike = random.random() < 0.3
    costs = np.ones_like(passes, float) if alike else random.uniform(0.5, 2, passes.shape)
    weights = np.ones(flows) if alike else random.uniform(0.5, 2, flows)
    caps = np.where(random.random(flows) < 0.3, random.uniform(0.01, 2, flows), np.inf)
    capacities = random.uniform(0.5, 10, resources)
    return FlowSystem(capacities, costs * passes, weights, caps, random.integers(1, 4, flows))


def lexicographic(system: FlowSystem) -> Numbers:
    """The rates whose least, second least, ... by weight are as large as can be.

    Each program makes the level that all reach as large as can be; who has a price on reaching it
    can get no more, and stays there in the next one.
    """
    flows = system.weights.size
    fixed = np.full(flows, np.nan)
    taken = np.hstack([system.costs * system.counts, np.zeros((system.capacities.size, 1))])
    while np.isnan(fixed).any():
        rising = np.flatnonzero(np.isnan(fixed))
        reach = np.zeros((rising.size, flows + 1))
        reach[np.arange(rising.size), rising] = -1.0
        reach[:, -1] = system.weights[rising]
        found = linprog(
            np.eye(flows + 1)[-1] * -1.0,
            A_ub=np.vstack([taken, reach]),
            b_ub=np.concatenate([system.capacities, np.zeros(rising.size)]),
            bounds=[
                (0, cap) if np.isnan(rate) else (rate, rate)
                for rate, cap in zip(fixed, system.caps, strict=True)
            ]
            + [(0, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        assert found.status == 0, found.message
        prices = -found.ineqlin.marginals[system.capacities.size :]
        bound = rising[prices > 1e-7]
        assert bound.size
        fixed[bound] = np.minimum(found.x[-1] * system.weights[bound], system.caps[bound])
    return fixed


def test_rates_are_the_lexicographic_optimum_to_1e_9() -> None:
    random = np.random.default_rng(15)
    for number in range(SYSTEMS):
        system = draw(random)
        np.testing.assert_allclose(
            system.rates(), lexicographic(system), rtol=1e-9, atol=1e-9, err_msg=f"system {number}"
        )
