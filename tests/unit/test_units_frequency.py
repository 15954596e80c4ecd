"""Frequencies parse exactly, refuse what could be misread, and are written so as to read back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.quantities import LinkRate
from resilver.spec.section import written
from resilver.units import BytesPerSecond, PerSecond, exact_frequency, exact_rate


@pytest.mark.parametrize(
    ("text", "per_second"),
    [
        ("1000 /s", 1000.0),
        ("1000/s", 1000.0),
        ("2.5e3 /s", 2500.0),
        # 90 in 60 s, 9 in 3,600 s and 864 in 86,400 s.
        ("90 /min", 1.5),
        ("9 /h", 0.0025),
        ("864 /d", 0.01),
        ("0", 0.0),
        (0, 0.0),
    ],
)
def test_a_frequency_is_how_many_come_in_a_second(text: object, per_second: float) -> None:
    assert PerSecond.parse(text) == per_second


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (1000, 'a frequency needs a unit; write "1000 /s" or "1000 /min"'),
        ("1000", 'a frequency needs a unit; write "1000 /s"'),
        ("-1 /s", "a frequency cannot be negative"),
        ("1 Hz", '"Hz" is not a unit of frequency; valid units: "/s"'),
        ("1 s", '"s" is not a unit of frequency'),
        ("1e13 /s", r"the most is 10\^12 /s"),
        (None, "a frequency is text with a number and a unit"),
    ],
)
def test_a_frequency_that_could_be_misread_is_refused(value: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PerSecond.parse(value)
    assert re.search(says, str(caught.value)), caught.value


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_frequency_written_out_reads_back_equal(frequency: float) -> None:
    assert PerSecond.parse(exact_frequency(frequency)) == frequency


def test_a_rate_is_written_in_the_unit_that_is_shortest() -> None:
    """Bits are units of links alone: a disk of 500 MB/s was written as one of 4 Gb/s."""
    for text in ("500 MB/s", "1 GB/s", "1.5 GiB/s", "100 MB/s", "1542.1 MiB/s"):
        assert exact_rate(BytesPerSecond.parse(text)) == text
    for text in ("1 Gb/s", "10 Gb/s", "4 Gb/s", "1 GB/s"):
        rate = BytesPerSecond.parse(text)
        assert exact_rate(rate, bits=True) == written(LinkRate.parse(text)) == text
        assert "b/s" not in written(rate) and BytesPerSecond.parse(written(rate)) == rate
