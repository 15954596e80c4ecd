"""Max-min fair rates beside SimGrid's solver, which shares links by the same rule.

The tests hold random systems to what makes rates fair (crates/flow/tests/suite/laws.rs).
"""

import time

import numpy as np
import pytest

import resilver
from tests.scale import SCALE, SEED
from verification.simgrid_oracle import is_there, rates_of

SYSTEMS = 2 * SCALE
"""SimGrid has one engine a process, so that each system takes a process, some 0.2 s."""

pytestmark = pytest.mark.skipif(not is_there(), reason="python3-simgrid is not installed")


def test_rates_are_those_of_simgrid() -> None:
    random = np.random.default_rng(SEED)
    for _ in range(SYSTEMS):
        links, flows = int(random.integers(1, 16)), int(random.integers(1, 61))
        capacities = 1e9 * random.uniform(0.5, 10, links)
        ways = [
            np.sort(random.choice(links, random.integers(1, min(links, 6) + 1), replace=False))
            for _ in range(flows)
        ]
        weights = random.choice([0.5, 1.0, 2.0], flows)
        starts = np.cumsum([0, *(len(way) for way in ways)])
        ours = resilver.fair_rates(capacities, starts, np.concatenate(ways), weights=weights).rates
        theirs, _ = rates_of(capacities.tolist(), [way.tolist() for way in ways], weights.tolist())
        # What has been sent in a second is told in doubles of 10^12 bytes: to 2 x 10^-4 bytes.
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-3)


def test_ten_thousand_flows_are_shared_alike(capsys: pytest.CaptureFixture[str]) -> None:
    # Eight links a flow of 2,048, which differ in what they give: few flows are bound alike. Both
    # say how long they took, SimGrid for a second of its time in which it shares twice or more.
    random = np.random.default_rng(SEED)
    capacities = 1e9 * random.uniform(0.5, 10, 2048)
    ways = np.array([np.sort(random.choice(2048, 8, replace=False)) for _ in range(10_240)])
    began = time.process_time()
    ours = resilver.fair_rates(capacities, np.arange(10_241) * 8, ways.ravel()).rates
    took = time.process_time() - began
    theirs, seconds = rates_of(capacities.tolist(), ways.tolist(), [1.0] * len(ways))
    with capsys.disabled():
        print(f"\n10,240 flows: {took:.3f} s, SimGrid {seconds:.3f} s of processor time")
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-3)
