"""How full a file system gets: closed forms beside days, and what is wrong with a section."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resilver.center import mean_life_days, simulate_year
from resilver.center.year import PurgeRule, Year
from tests.integration.sizings import sized, values

DAY = 86_400
USABLE = 32.256e15


def year(
    purge: PurgeRule | None, uses: float = 0.0, days: int = 400, usable: float = 1000.0, **more: Any
) -> Year:
    """One byte a day of one class into an empty file system of so many bytes."""
    one = np.ones(1)
    return simulate_year(one, uses * one, np.zeros((1, 1)), usable, purge, days, **more)


def test_without_uses_what_is_stored_is_inflow_times_age() -> None:
    """Little: 1 B/d x 14 d, at the end of each day; before the purge there is one day more."""
    found = year(PurgeRule(14))
    assert found.stored_bytes[-1] == pytest.approx(14.0, rel=1e-12)
    assert found.peak_bytes[-1] == pytest.approx(15.0, rel=1e-12)
    # All that came in is stored or purged.
    assert found.purged_bytes.sum() == pytest.approx(400 - 14, rel=1e-12)


@pytest.mark.parametrize("uses", [0.01, 0.1, 0.2])
def test_used_files_live_until_the_first_gap_of_the_age(uses: float) -> None:
    """(e^(mu A) - 1) / mu, to 1 % where the purge runs every hour.

    By days it is the wait for A days in a row without a use: (p^-A - 1) / (1 - p), p = e^-mu.
    """
    found = year(PurgeRule(14), uses, days=600, steps_a_day=24)
    assert found.stored_bytes[-1] == pytest.approx(mean_life_days(14, uses), rel=0.01)
    p = math.exp(-uses)
    found = year(PurgeRule(14), uses, days=3000)
    assert found.stored_bytes[-1] == pytest.approx((p**-14 - 1) / (1 - p), rel=1e-9)


def test_marks_keep_the_fill_between_them() -> None:
    """Above 70 of 100 B the oldest go until 60: a cycle of ten days at 1 B/d, once it is full."""
    found = year(PurgeRule(14, 0.7, 0.6), usable=100.0)
    assert found.first_day_above(0.7) == 71
    assert found.stored_bytes[100:].min() == pytest.approx(60.0)
    assert found.peak_bytes[100:].max() == pytest.approx(71.0)
    assert np.flatnonzero(found.purged_bytes)[:3].tolist() == [70, 81, 92]
    # 1 B/d and 14 d make 14 B that no purge may take: of 15 B that is more than the high mark.
    young = year(PurgeRule(14, 0.5, 0.4), days=100, usable=16.0)
    assert young.stored_bytes[-1] == pytest.approx(14.0)


def test_bytes_are_conserved_with_any_classes() -> None:
    rng = np.random.default_rng(3)
    stored = rng.random((60, 20))
    inflow, uses = rng.random(20), rng.random(20)
    for purge in (None, PurgeRule(7), PurgeRule(7, 0.5, 0.3)):
        found = simulate_year(inflow, uses, stored, 700.0, purge, 90)
        came = 90 * inflow.sum() - found.refused_bytes.sum()
        kept = found.stored_bytes[-1] + found.purged_bytes.sum()
        assert kept == pytest.approx(stored.sum() + came, rel=1e-9)


def test_spider_2_stays_below_its_knee_at_so_much_a_day(tmp_path: Path) -> None:
    """32.256 PB x 0.7 / 14 d = 1.6128 PB/d; half full, 1.152 PB/d."""
    text = (
        '[capacity]\nusable = "32.256 PB"\ninflow = "1.2 PB/d"\npurge = { last_access = "14 d" }\n'
    )
    found = sized(tmp_path, text)["capacity"]
    of = values(found["figures"])
    assert of["inflow_below_70_percent_bytes_per_second"] * DAY == pytest.approx(1.6128e15)
    assert of["inflow_below_50_percent_bytes_per_second"] * DAY == pytest.approx(1.152e15)
    assert of["steady_bytes"] == pytest.approx(16.8e15)
    assert of["last_bytes"] == pytest.approx(of["steady_bytes"], rel=0.01)
    assert len(found["days"]) == 365
    # Fullest before a purge: 15 days of inflow.
    assert of["most_fill"] == pytest.approx(18e15 / USABLE)
    assert [one["is_measured"] for one in found["rates"]] == [False] * 3


def test_a_measured_curve_takes_the_place_of_the_stand_in_and_no_room_is_a_no(
    tmp_path: Path,
) -> None:
    """Half full from the first day to the last: the share is that of the curve there."""
    text = '[capacity]\nusable = "2 PB"\nstored = "1 PB"\ninflow = "1 B/s"\n'
    text += "rate_at_fill = [[0.0, 1.0], [0.5, 0.8], [1.0, 0.2]]\n"
    (only,) = sized(tmp_path, text)["capacity"]["rates"]
    assert only["is_measured"] and only["mean"] == pytest.approx(0.8, rel=1e-6)
    # Where there is no room the answer is a no.
    text = '[capacity]\nusable = "10 PB"\ninflow = "1 PB/d"\ndays = 20\n'
    of = values(sized(tmp_path, text, code=1)["capacity"]["figures"])
    assert of["full_days"] == pytest.approx(10.0)
    assert of["refused_bytes"] == pytest.approx(10e15)
