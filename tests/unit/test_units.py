"""Quantities parse exactly, refuse what could be misread, and print for people."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.units import (
    BYTES_MAX,
    DURATION_UNITS,
    RATE_UNITS,
    Bytes,
    BytesPerSecond,
    Seconds,
    exact_bytes,
    exact_duration,
    exact_rate,
    format_bytes,
    format_duration,
    format_rate,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0 B", 0),
        ("1 B", 1),
        ("1 kB", 1000),
        ("1 KiB", 1024),
        ("64 MiB", 64 * 2**20),
        ("20 TiB", 20 * 2**40),
        ("1 TB", 10**12),
        ("1.5 KiB", 1536),
        # 0.1 has no exact binary form; as a decimal it is a tenth of 10^9.
        ("0.1 GB", 100_000_000),
        (".5 KiB", 512),
        ("2e3 B", 2000),
        ("+3B", 3),
        ("  7   MiB ", 7 * 2**20),
        ("8388607.999999999999999999 B", None),
        ("0", 0),
        (0, 0),
        (0.0, 0),
    ],
)
def test_a_size_is_exactly_the_number_of_bytes_it_says(text: object, count: int | None) -> None:
    if count is None:
        with pytest.raises(ConfigError, match="whole number of bytes"):
            Bytes.parse(text)
    else:
        assert Bytes.parse(text) == count


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0 s", 0.0),
        ("4.16 ms", 0.00416),
        ("23.67 us", 2.367e-5),
        ("2 min", 120.0),
        ("1 d", 86400.0),
    ],
)
def test_a_duration_is_the_nearest_float_to_what_it_says(text: str, seconds: float) -> None:
    assert Seconds.parse(text) == seconds


def test_both_letters_for_micro_mean_micro() -> None:
    assert Seconds.parse("3 \u00b5s") == Seconds.parse("3 \u03bcs") == 3e-6


def test_a_duration_is_exact_to_the_picosecond() -> None:
    # 11700.3 us is 11,700,300,000 ps, although 0.0117003 has no exact binary form.
    assert Seconds.parse("11700.3 us").picoseconds == 11_700_300_000


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1.5 GiB/s", 1.5 * 2**30),
        ("1 GB/s", 1e9),
        # 10 Gb/s is 10^10 bits a second, eight of which are a byte.
        ("10 Gb/s", 1.25e9),
        ("10 Gbit/s", 1.25e9),
        ("1 KiB/s", 1024.0),
    ],
)
def test_a_rate_in_bits_is_an_eighth_of_the_rate_in_bytes(text: str, rate: float) -> None:
    assert BytesPerSecond.parse(text) == rate


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (20, 'needs a unit; write "20 B" or "20 TiB"'),
        (1.5, "needs a unit"),
        ("20", 'needs a unit; write "20 B" or "20 TiB"'),
        ("20 tib", 'did you mean "TiB"'),
        ("20 KB", 'write "kB" \\(1000 bytes\\) or "KiB" \\(1024 bytes\\)'),
        ("16 Mb", 'write "MB" if bytes are meant'),
        ("16 Mibit", 'write "MiB" if bytes are meant'),
        ("16 MiB/s", "is not a unit of size"),
        ("1.5 B", 'whole number of bytes.*write "2 B"'),
        ("-1 GiB", "cannot be negative"),
        (-3, "zero or more"),
        ("nan GiB", "finite number"),
        ("inf B", "finite number"),
        (math.nan, "finite number"),
        (math.inf, "finite number"),
        (True, "text with a number and a unit"),
        (None, "text with a number and a unit"),
        (["1 B"], "text with a number and a unit"),
        ("", "finite number"),
        ("B", "finite number"),
        ("1 2 B", "is not a unit"),
        ("1e999 B", "exponent"),
        ("9" * 5000 + " B", "finite number"),
        ("8 EiB", "largest size"),
        ("1,5 GiB", "is not a unit"),
        ("0x10 B", "is not a unit"),
    ],
)
def test_a_size_that_could_be_misread_is_refused_with_the_remedy(value: object, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Bytes.parse(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5 m", '"min" for minutes or "ms" for milliseconds'),
        ("5", 'write "5 s" or "5 ms"'),
        ("5 S", 'did you mean "s"'),
        ("-5 s", "negative"),
        ("214 d", "213 days"),
    ],
)
def test_a_duration_that_could_be_misread_is_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Seconds.parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("10 Gbps", 'write "Gb/s" for bits or "GB/s" for bytes'),
        ("1.5 GiB", 'says no time\\); write "GiB/s"'),
        ("1 KB/s", '"kB/s" \\(1000 bytes\\) or "KiB/s"'),
        ("5", 'write "5 B/s" or "5 GiB/s"'),
    ],
)
def test_a_rate_that_could_be_misread_is_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        BytesPerSecond.parse(text)


def test_a_parsed_quantity_parses_to_itself_and_not_to_another_kind() -> None:
    assert Bytes.parse(Bytes(5)) == 5
    with pytest.raises(ConfigError):
        Bytes.parse(Seconds(5))
    with pytest.raises(ConfigError):
        Seconds.parse(BytesPerSecond(5))


@given(st.integers(min_value=0, max_value=BYTES_MAX))
def test_a_size_written_out_reads_back_equal(count: int) -> None:
    assert Bytes.parse(exact_bytes(count)) == count


@given(st.floats(min_value=0, max_value=1.8e7, allow_subnormal=False))
def test_a_duration_written_out_reads_back_equal(seconds: float) -> None:
    seconds = 0.0 if seconds < 1e-15 else seconds
    assert Seconds.parse(exact_duration(seconds)) == seconds


@given(st.floats(min_value=1e-6, max_value=1e15))
def test_a_rate_written_out_reads_back_equal(rate: float) -> None:
    assert BytesPerSecond.parse(exact_rate(rate)) == rate


@given(
    st.decimals(min_value=0, max_value=10**6, allow_nan=False, allow_infinity=False, places=6),
    st.sampled_from(sorted(DURATION_UNITS)),
)
def test_parsing_rounds_once_from_the_exact_value(number: object, unit: str) -> None:
    exact = Fraction(str(number)) * DURATION_UNITS[unit]
    if exact > 18_446_744:
        with pytest.raises(ConfigError):
            Seconds.parse(f"{number} {unit}")
    else:
        assert Seconds.parse(f"{number} {unit}") == float(exact)


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused_as_input(text: str) -> None:
    for parse in (Bytes.parse, Seconds.parse, BytesPerSecond.parse):
        try:
            value = parse(text)
        except ConfigError:
            continue
        assert value >= 0 and math.isfinite(value)


def test_every_rate_is_a_size_or_a_number_of_bits_over_time() -> None:
    assert {unit.removesuffix("/s") + "/s" for unit in RATE_UNITS} == set(RATE_UNITS)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (61 * 2**30, "61.0 GiB"),
        # 1023.96 KiB would print as 1024.0 KiB.
        (1023.96 * 1024, "1.0 MiB"),
        (2**60, "1.0 EiB"),
        (math.nan, "n/a"),
    ],
)
def test_sizes_print_in_the_unit_that_keeps_them_below_1024(count: float, text: str) -> None:
    assert format_bytes(count) == text
    assert format_rate(count) == (text if text == "n/a" else f"{text}/s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.00416, "4.16 ms"),
        (2.367e-5, "23.7 us"),
        (0.9996, "1.00 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 0 s"),
        (192.4, "3 min 12 s"),
        (3599.7, "1 h 0 min"),
        (90_000, "1 d 1 h"),
        (-2, "-2.00 s"),
        (math.inf, "n/a"),
    ],
)
def test_durations_print_three_figures_or_two_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.floats(min_value=1e-13, max_value=1e8))
def test_every_duration_has_a_form_without_a_full_smaller_unit(seconds: float) -> None:
    text = format_duration(seconds)
    # The 60 of "1.60 s" is a fraction, not a full minute.
    assert not re.search(r"(?<![\d.])(60 s|60 min|24 h)", text)
