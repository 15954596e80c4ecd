"""The clash planner: closed forms, brute force over all shifts, and a fluid in small steps."""

import numpy as np
import pytest

from resilver.center.signatures import Signature, compare_signatures, shift_signatures
from resilver.center.signatures.shift import run_both
from resilver.errors import ConfigError
from tests.scale import numbers


def drawn(rng: np.random.Generator) -> Signature:
    """A job whose burst has 5 to 40 % of its period, at 0.2 to 1.5 of what the system carries."""
    period = float(rng.uniform(100.0, 600.0))
    length = float(rng.uniform(0.05, 0.4) * period)
    first = float(rng.uniform(0.0, period))
    return Signature(period, first, length, float(rng.uniform(0.2, 1.5)) * length)


@pytest.mark.parametrize("shift", [0.0, 10.0, 45.0, 59.0, 60.0, 200.0, 540.0, 555.0])
def test_two_alike_jobs_lose_what_their_bursts_overlap(shift: float) -> None:
    """Both of 60 s at all the system carries, d apart: A shares from d to 2 L - d and ends L - d
    later than alone, and so does B, so that they stay d apart: L - d a burst each, of 20 bursts.
    A burst of B that comes less than L before A's next one delays that one once: with 600 - d = e,
    A's later bursts all follow B's by the e that is left, and A has one burst more before.
    """
    job = Signature(600.0, 0.0, 60.0, 60e9)
    lost = shift_signatures(job, job, rate=1e9).lost(shift)
    if shift < 60.0:
        assert lost == pytest.approx((20 * (60.0 - shift), 20 * (60.0 - shift)))
    elif shift <= 540.0:
        assert lost == (0.0, 0.0)
    else:
        assert lost == pytest.approx((19 * (shift - 540.0), 19 * (shift - 540.0)))


def test_bursts_are_shared_fairly_and_lose_only_what_they_would_have_alone() -> None:
    """Max-min: 0.4 of the rate is had in full, and the other has the 0.6 left of its 1.0. Where it
    begins d later, both are on for 60 - d, in which it loses 0.4 of that, and so begins the next
    burst as much later: the 60 that are left are 0.6 times as many after each of 20 bursts.
    """
    small, large = Signature(1000.0, 0.0, 60.0, 0.4 * 60.0), Signature(1000.0, 0.0, 60.0, 60.0)
    plan = shift_signatures(small, large, rate=1.0)
    assert plan.lost(0.0) == pytest.approx((0.0, 60.0 * (1.0 - 0.6**20)))
    # Alone it takes volume over rate, 40 s, and only what is beyond that is lost; its next
    # burst is 630 s after the first.
    wide = Signature(600.0, 0.0, 10.0, 40e9)
    other = Signature(630.0, 300.0, 10.0, 1e9)
    assert shift_signatures(wide, other, rate=1e9).lost(0.0) == (0.0, 0.0)


def test_the_best_shift_is_brute_force_s_over_all_shifts() -> None:
    """The curve is that of 400 runs of the fluid; the best is no worse than any of them."""
    for number in numbers(12):
        rng = np.random.default_rng(number)
        jobs = drawn(rng), drawn(rng)
        plan = shift_signatures(*jobs, rate=1.0)
        grid = np.linspace(0.0, plan.shifts[-1], 400)
        runs = np.array([run_both(jobs, plan.bursts, 1.0, at).lost for at in grid.tolist()])
        ours = np.array([plan.lost(at) for at in grid.tolist()])
        assert ours == pytest.approx(runs, abs=1e-6)
        assert sum(plan.lost(plan.best)) <= runs.sum(axis=1).min() + 1e-6
        assert sum(plan.lost(plan.best_from)) == pytest.approx(sum(plan.lost(plan.best)), abs=1e-3)


def test_the_fluid_is_that_of_small_steps() -> None:
    """A plain loop over steps of 20 ms gives the same lost times, to a step an event."""
    step = 0.02
    for number in numbers(3):
        rng = np.random.default_rng(100 + number)
        jobs, shift = (drawn(rng), drawn(rng)), float(rng.uniform(0.0, 100.0))
        count = (4, 4)
        left, done = [0.0, 0.0], [0, 0]
        begins = [jobs[0].first, shift + jobs[1].first]
        lost, now, is_on = [0.0, 0.0], 0.0, [False, False]
        while any(done[job] < count[job] for job in range(2)):
            for job in range(2):
                if not is_on[job] and done[job] < count[job] and now >= begins[job]:
                    is_on[job], left[job] = True, jobs[job].volume
            one, other = (min(job.height, 1.0) for job in jobs)
            if all(is_on) and one + other > 1.0:
                one, other = min(one, max(0.5, 1.0 - other)), min(other, max(0.5, 1.0 - one))
            now += step
            for job, rate in enumerate((one, other)):
                if is_on[job]:
                    left[job] -= rate * step
                    if left[job] <= 0.0:
                        is_on[job] = False
                        done[job] += 1
                        alone = jobs[job].volume / min(jobs[job].height, 1.0)
                        lost[job] += now - begins[job] - alone
                        begins[job] = now + jobs[job].period - jobs[job].length
        # Each burst begins and ends up to two steps late.
        assert run_both(jobs, count, 1.0, shift).lost == pytest.approx(lost, abs=4 * 4 * step)


def test_bytes_are_conserved_and_bursts_keep_their_order() -> None:
    """Each burst begins a pause after the one before, and none is shorter than alone."""
    rng = np.random.default_rng(9)
    jobs = drawn(rng), drawn(rng)
    ended = run_both(jobs, (30, 30), 1.0, 17.0)
    for job, bursts in zip(jobs, ended.bursts, strict=True):
        spans = np.array(bursts)
        assert len(spans) == 30
        assert spans[1:, 0] - spans[:-1, 1] == pytest.approx(job.period - job.length)
        assert (spans[:, 1] - spans[:, 0]).min() >= job.volume / min(job.height, 1.0) - 1e-9


def test_impossible_systems_and_endless_plans_are_refused() -> None:
    job = Signature(600.0, 0.0, 60.0, 60e9)
    with pytest.raises(ConfigError, match="above 0"):
        shift_signatures(job, job, rate=0.0)
    with pytest.raises(ConfigError, match="look at a shorter time"):
        shift_signatures(job, Signature(1.0, 0.0, 0.5, 1.0), rate=1e9, over=1e6)


def test_signatures_are_one_job_s_within_what_is_uncertain() -> None:
    """By the root of the squared sum of both, and always by 5 %."""
    one = Signature(600.0, 0.0, 45.0, 2.4e12, volume_error=3e11)
    near = Signature(629.0, 100.0, 45.0, 2.9e12, volume_error=4e11)
    assert compare_signatures(one, near).holds
    far = Signature(600.0, 0.0, 45.0, 2.95e12, volume_error=4e11)
    assert [row.what for row in compare_signatures(one, far).differences if not row.holds] == [
        "volume"
    ]
    assert not compare_signatures(one, Signature(640.0, 0.0, 45.0, 2.4e12)).holds
