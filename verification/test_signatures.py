"""Signatures of 400 planted jobs a band, 1,000 cases of noise alone, and a barycentre beside.

The tests keep 20 of them and 50 (tests/unit/test_signatures.py).
"""

import time

import numpy as np
import pytest

from resilver.center.signatures import FoundSignature, signature
from resilver.importers.series import Series
from resilver.reproduce.planted import Planted, planted
from tests.scale import numbers
from tests.unit.test_signatures import (
    errors,
    test_bursts_at_random_are_not_periodic,
    test_more_runs_are_never_worse,
    test_noise_alone_has_no_period,
    test_the_best_shift_is_brute_force_s_over_all_shifts,
    test_the_fluid_is_that_of_small_steps,
    test_what_is_found_is_near_what_was_planted,
    test_what_is_said_to_be_uncertain_holds_what_was_planted,
)

WINDOW = 30
"""By how many samples, a minute in all, a barycentre may bend time."""


def by_barycentre(case: Planted) -> FoundSignature:
    """The signature of the runs' average under dynamic time warping, found as in one run.

    F. Petitjean et al., "A global averaging method for dynamic time warping, with applications to
    clustering", 2011, as dtaidistance has it.
    """
    from dtaidistance import dtw_barycenter

    runs = np.array([run.values for run in case.runs]) / case.volume
    mean = dtw_barycenter.dba_loop(runs, runs[0], max_it=5, thr=1e-3, use_c=True, window=WINDOW)
    return signature(Series(case.runs[0].times, np.asarray(mean) * case.volume, "barycentre"))


def test_a_barycentre_is_neither_more_accurate_nor_faster() -> None:
    """On the same cases: shares within 10 % of period and volume at each level of noise, and the
    processor time of all.
    """
    pytest.importorskip("dtaidistance")
    took = [0.0, 0.0]
    # What is imported at the first call is no part of either.
    by_barycentre(planted((0,), noise=0.4))
    for noise in (0.4, 1.2, 2.4):
        ours, theirs = [], []
        for number in numbers(3):
            case = planted((number, 31), noise=noise)
            begun = time.process_time()
            ours.append((case, signature(case.runs)))
            between = time.process_time()
            theirs.append((case, by_barycentre(case)))
            took[0] += between - begun
            took[1] += time.process_time() - between
        for what in ("period", "volume"):
            mine, other = errors(what, ours), errors(what, theirs)
            shares = (mine <= 0.1).mean(), (other <= 0.1).mean()
            print(
                f"{what} at {noise}: {shares[0]:.0%} within 10 %, and {shares[1]:.0%} by "
                f"barycentre; medians {np.median(mine):.2%} and {np.median(other):.2%}"
            )
            assert shares[0] >= shares[1]
    print(f"{took[0]:.1f} s, and {took[1]:.1f} s by barycentre")
    assert took[0] < took[1]
