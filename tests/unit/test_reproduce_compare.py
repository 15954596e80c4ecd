"""Ours beside a published number: how rows become one number, its deviation and its verdict."""

from __future__ import annotations

import pytest

from resilver.reproduce import Published, compare
from resilver.reproduce.compare import ABSENT, COMPARED, FAILS, HOLDS
from resilver.reproduce.words import band_words, deviation_words, number_words

RATE = "aggregate_bytes_per_second"
GIB = 2**30


def rows(servers: int, *rates: float) -> list[dict[str, float]]:
    return [{"servers": servers, RATE: rate * GIB} for rate in rates]


def published(**more: object) -> Published:
    plain = {"key": "rate", "what": "Rate", "metric": RATE, "unit": "GiB/s", "paper": 40.0}
    return Published(**{**plain, **more})  # type: ignore[arg-type]


def test_ours_is_the_median_of_the_rows_at_the_place() -> None:
    # Of 30, 50 and 90 GiB/s the median is 50, a quarter above the paper's 40.
    number = published(at={"servers": 8}, low=45.0, high=55.0)
    made = compare("study", number, [*rows(8, 30.0, 90.0, 50.0), *rows(4, 1.0)])
    assert (made.ours, made.rows, made.verdict) == (50.0, 3, HOLDS)
    assert made.deviation == pytest.approx(0.25)
    assert (made.least, made.most) == (30.0, 90.0)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (None, None, COMPARED),
        (50.0, 50.0, HOLDS),
        (50.1, None, FAILS),
        (None, 49.9, FAILS),
        (None, 50.0, HOLDS),
        (50.0, None, HOLDS),
    ],
)
def test_the_limits_belong_to_the_band(low: float | None, high: float | None, verdict: str) -> None:
    assert compare("study", published(low=low, high=high), rows(8, 50.0)).verdict == verdict


def test_a_number_without_rows_was_not_run_and_does_not_fail() -> None:
    made = compare("study", published(at={"servers": 16}, low=1.0), rows(8, 50.0))
    assert (made.ours, made.deviation, made.verdict) == (None, None, ABSENT)


def test_a_metric_of_zero_is_a_number_and_null_is_none() -> None:
    number = published(paper=0.0, low=0.0, high=0.0)
    assert compare("study", number, [{RATE: 0.0}, {RATE: None}]).ours == 0.0
    assert compare("study", number, [{RATE: None}, {}]).verdict == ABSENT


def test_a_band_may_be_a_share_of_the_published_number() -> None:
    # 1 % of 200 is 2: 198 to 202.
    made = compare("study", published(paper=200.0, within=0.01), rows(8, 198.5))
    assert (made.low, made.high, made.verdict) == (198.0, 202.0, HOLDS)


def test_a_mean_has_three_of_its_own_deviations() -> None:
    # Nine rows of deviation 13.5: the mean's is 4.5, so it lies within 13.5 of 192.
    number = published(unit="", statistic="mean", mean=192.0, deviation=13.5)
    made = compare("study", number, [{RATE: 200.0}] * 9)
    assert (made.low, made.high) == (178.5, 205.5)


def test_a_ratio_divides_by_another_entry_at_the_same_place() -> None:
    number = published(unit="", over="flat", at={"servers": 8}, low=0.85, high=1.1)
    made = compare("racks", number, rows(8, 45.0), [*rows(8, 50.0), *rows(4, 1.0)])
    assert made.ours == pytest.approx(0.9)
    assert compare("racks", number, rows(8, 45.0), rows(4, 1.0)).verdict == ABSENT


def test_a_ratio_divides_by_other_rows_or_another_metric() -> None:
    found = [
        {"bucket": "straw", "n": 7.0, "of": 2.0},
        {"bucket": "ring", "n": 574.0, "of": 7.0},
    ]
    ratio = Published("r", "R", "n", at={"bucket": "ring"}, over_at={"bucket": "straw"})
    assert compare("rates", ratio, found).ours == 82.0
    mean = Published("m", "M", "n", statistic="sum", over_metric="of", at={"bucket": "ring"})
    assert compare("rates", mean, found).ours == 82.0


def test_the_ideal_line_goes_through_the_smallest_system() -> None:
    # From 2 GiB/s at 4 servers, the line has 4 GiB/s at 8; 3 is three quarters of it.
    number = published(unit="%", ideal_from=4, at={"servers": 8})
    assert compare("s", number, [*rows(4, 2.0), *rows(8, 3.0)]).ours == pytest.approx(75.0)


def test_a_spread_is_the_largest_median_over_the_smallest() -> None:
    # Medians 2 and 5 GiB/s; an outlier of either size changes nothing.
    number = published(unit="", statistic="spread", spread_over="servers")
    found = [*rows(4, 2.0, 2.0, 90.0), *rows(8, 5.0, 5.0, 0.1)]
    assert compare("s", number, found).ours == pytest.approx(2.5)
    assert compare("s", number, rows(4, 2.0)).verdict == ABSENT


def test_the_fullest_bin_is_where_the_other_column_is_greatest() -> None:
    number = Published("f", "F", "bin_min_bytes", "GiB", statistic="fullest", of="file_bytes")
    found = [{"bin_min_bytes": GIB, "file_bytes": 9}, {"bin_min_bytes": 4 * GIB, "file_bytes": 8}]
    assert compare("census", number, found).ours == 1.0


def test_numbers_in_words() -> None:
    made = compare("s", published(low=1359455.1, high=1386918.9), rows(8, 1.0))
    assert band_words(made) == "1,359,455 to 1,386,919"
    assert number_words(0.000012, "") == "1.2e-05"
    assert number_words(12.5, "us") == "12.5 µs"
    assert deviation_words(-0.0001) == "0.0 %"
    assert deviation_words(1.0) == "+100.0 %"
