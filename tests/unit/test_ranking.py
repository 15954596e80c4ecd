"""The systems of a sweep by an aim: what ranks, what is left behind, and what is as good."""

from statistics import median
from types import SimpleNamespace
from typing import Any, cast

import pytest

from resilver.report.ranking import aim_sentence, by_aim, limits_kept
from resilver.spec.aim import aim_of
from resilver.study.system_runs import SystemRuns


def system(label: str, **seeds: list[float | None]) -> SystemRuns:
    """A system with the metrics of its seeds."""

    def known(column: str) -> list[float]:
        return [value for value in seeds[column] if value is not None]

    rows: list[Any] = [None] * len(next(iter(seeds.values())))
    found = SimpleNamespace(label=label, rows=rows, known=known)
    found.middle = lambda column: median(known(column)) if known(column) else None
    return cast(SystemRuns, found)


AIM = "least rebuild_seconds, requests_lost <= 5"


def test_medians_rank_and_what_is_not_known_keeps_no_limit_and_comes_last() -> None:
    # Medians 30, 20, 10; "slow" has the largest and the smallest seed. Of "rare" two seeds of three
    # have no rebuild, and of "dark" none says how many requests were lost.
    points = [
        system("rare", rebuild_seconds=[1, None, None], requests_lost=[0, 0, 0]),
        system("dark", rebuild_seconds=[2, 2, 2], requests_lost=[None, None, None]),
        system("slow", rebuild_seconds=[5, 30, 90], requests_lost=[0, 0, 0]),
        system("usual", rebuild_seconds=[20, 20, 60], requests_lost=[0, 5, 9]),
        system("best", rebuild_seconds=[10, 10, 10], requests_lost=[1, 1, 1]),
        system("alike", rebuild_seconds=[10.1, 10.1, 10.1], requests_lost=[1, 1, 1]),
    ]
    aim = aim_of(AIM)
    order = by_aim(points, aim)
    assert [one.label for one in order] == ["best", "alike", "usual", "slow", "rare", "dark"]
    assert limits_kept(order, aim) == ["yes"] * 5 + ["no"]
    said = aim_sentence(order, aim)
    assert said.startswith("Of 6 systems, 5 keep requests_lost <= 5. best has the least ")
    assert said.endswith("As good within 2 %: 1 more.")


@pytest.mark.parametrize("text", ["0.25", "25%"])
def test_a_share_is_a_number_or_a_percentage_of_one(text: str) -> None:
    (limit,) = aim_of(f"least rebuild_seconds, device_busy_fraction <= {text}").limits
    assert (limit.value, limit.keeps(0.25), limit.keeps(0.26)) == (0.25, True, False)
