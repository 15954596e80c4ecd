"""Quantities parse exactly, refuse what could be misread, and print for people."""

import math
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.failure_rates import (
    ErrorsPerByte,
    ErrorsPerByteSecond,
    FailedShare,
    FailureRate,
    LongSeconds,
)
from resilver.quantities import LinkRate
from resilver.spec.section import written
from resilver.units import (
    BYTES_MAX,
    DURATION_UNITS,
    RATE_UNITS,
    Bytes,
    BytesPerSecond,
    PerSecond,
    Seconds,
    exact_bytes,
    exact_duration,
    exact_frequency,
    exact_rate,
    format_bytes,
    format_duration,
    format_rate,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Bytes, "0 B", 0),
        (Bytes, "1 kB", 1000),
        (Bytes, "1 KiB", 1024),
        (Bytes, "20 TiB", 20 * 2**40),
        (Bytes, "1 TB", 10**12),
        (Bytes, "1.5 KiB", 1536),
        # 0.1 has no exact binary form; as a decimal it is a tenth of 10^9.
        (Bytes, "0.1 GB", 100_000_000),
        (Bytes, "2e3 B", 2000),
        (Bytes, "+3B", 3),
        (Bytes, "  7   MiB ", 7 * 2**20),
        (Bytes, "0", 0),
        (Bytes, 0, 0),
        (Seconds, "0 s", 0.0),
        (Seconds, "4.16 ms", 0.00416),
        # Both letters for micro.
        (Seconds, "3 \u00b5s", 3e-6),
        (Seconds, "3 \u03bcs", 3e-6),
        (Seconds, "1 d", 86400.0),
        (BytesPerSecond, "1.5 GiB/s", 1.5 * 2**30),
        (BytesPerSecond, "1 GB/s", 1e9),
        # 10 Gb/s is 10^10 bits a second, eight of which are a byte.
        (BytesPerSecond, "10 Gb/s", 1.25e9),
        (BytesPerSecond, "10 Gbit/s", 1.25e9),
        (PerSecond, "1000 /s", 1000.0),
        (PerSecond, "1000/s", 1000.0),
        # 90 in 60 s, 9 in 3,600 s and 864 in 86,400 s.
        (PerSecond, "90 /min", 1.5),
        (PerSecond, "9 /h", 0.0025),
        (PerSecond, "864 /d", 0.01),
        (PerSecond, 0, 0.0),
    ],
)
def test_a_quantity_is_the_nearest_number_to_what_it_says(
    kind: Any, text: object, value: float
) -> None:
    assert kind.parse(text) == value


def test_quantities_parse_to_themselves_in_the_shortest_unit() -> None:
    # 11700.3 us is 11,700,300,000 ps, although 0.0117003 has no exact binary form.
    assert Seconds.parse("11700.3 us").picoseconds == 11_700_300_000
    assert Bytes.parse(Bytes(5)) == 5
    with pytest.raises(ConfigError):
        Bytes.parse(Seconds(5))
    with pytest.raises(ConfigError):
        Seconds.parse(BytesPerSecond(5))
    assert {unit.removesuffix("/s") + "/s" for unit in RATE_UNITS} == set(RATE_UNITS)
    # Bits are units of links alone: a disk of 500 MB/s was written as one of 4 Gb/s.
    for text in ("500 MB/s", "1 GB/s", "1.5 GiB/s", "100 MB/s", "1542.1 MiB/s"):
        assert exact_rate(BytesPerSecond.parse(text)) == text
    for text in ("1 Gb/s", "10 Gb/s", "4 Gb/s", "1 GB/s"):
        rate = BytesPerSecond.parse(text)
        assert exact_rate(rate, bits=True) == written(LinkRate.parse(text)) == text
        assert "b/s" not in written(rate) and BytesPerSecond.parse(written(rate)) == rate


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (Bytes, 20, 'needs a unit; write "20 B" or "20 TiB"'),
        (Bytes, "20", 'needs a unit; write "20 B" or "20 TiB"'),
        (Bytes, "20 tib", 'did you mean "TiB"'),
        (Bytes, "20 KB", 'write "kB" \\(1000 bytes\\) or "KiB" \\(1024 bytes\\)'),
        (Bytes, "16 Mb", 'write "MB" if bytes are meant'),
        (Bytes, "16 Mibit", 'write "MiB" if bytes are meant'),
        (Bytes, "16 MiB/s", "is not a unit of size"),
        (Bytes, "1.5 B", 'whole number of bytes.*write "2 B"'),
        (Bytes, "8388607.999999999999999999 B", "whole number of bytes"),
        (Bytes, "-1 GiB", "cannot be negative"),
        (Bytes, -3, "zero or more"),
        (Bytes, "nan GiB", "finite number"),
        (Bytes, math.nan, "finite number"),
        (Bytes, True, "text with a number and a unit"),
        (Bytes, ["1 B"], "text with a number and a unit"),
        (Bytes, "", "finite number"),
        (Bytes, "1 2 B", "is not a unit"),
        (Bytes, "1e999 B", "exponent"),
        (Bytes, "9" * 5000 + " B", "finite number"),
        (Bytes, "8 EiB", "largest size"),
        (Seconds, "5 m", '"min" for minutes or "ms" for milliseconds'),
        (Seconds, "5", 'write "5 s" or "5 ms"'),
        (Seconds, "214 d", "213 days"),
        (BytesPerSecond, "10 Gbps", 'write "Gb/s" for bits or "GB/s" for bytes'),
        (BytesPerSecond, "1.5 GiB", 'says no time\\); write "GiB/s"'),
        (BytesPerSecond, "1 KB/s", '"kB/s" \\(1000 bytes\\) or "KiB/s"'),
        (PerSecond, 1000, 'a frequency needs a unit; write "1000 /s" or "1000 /min"'),
        (PerSecond, "-1 /s", "a frequency cannot be negative"),
        (PerSecond, "1 Hz", '"Hz" is not a unit of frequency; valid units: "/s"'),
        (PerSecond, "1 s", '"s" is not a unit of frequency'),
        (PerSecond, "1e13 /s", r"the most is 10\^12 /s"),
        (PerSecond, None, "a frequency is text with a number and a unit"),
    ],
)
def test_what_could_be_misread_is_refused_with_the_remedy(
    kind: Any, value: object, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        kind.parse(value)


@given(
    st.one_of(
        st.tuples(st.just((Bytes, exact_bytes)), st.integers(0, BYTES_MAX)),
        st.tuples(st.just((Seconds, exact_duration)), st.just(0.0) | st.floats(1e-15, 1.8e7)),
        st.tuples(st.just((BytesPerSecond, exact_rate)), st.floats(1e-6, 1e15)),
        st.tuples(st.just((PerSecond, exact_frequency)), st.floats(1e-9, 1e12)),
        st.tuples(st.just((LongSeconds, LongSeconds.as_text)), st.floats(1e-3, 1e18)),
        st.tuples(st.just((FailureRate, FailureRate.as_text)), st.floats(1e-15, 1.0)),
        st.tuples(st.just((FailedShare, FailedShare.as_text)), st.floats(1e-12, 1 - 1e-12)),
        st.tuples(st.just((ErrorsPerByte, ErrorsPerByte.as_text)), st.floats(1e-20, 1e-3)),
        st.tuples(
            st.just((ErrorsPerByteSecond, ErrorsPerByteSecond.as_text)), st.floats(1e-30, 1e-6)
        ),
    )
)
@settings(max_examples=800)
def test_a_quantity_written_out_reads_back_equal(drawn: Any) -> None:
    (kind, write), value = drawn
    assert kind.parse(write(kind(value))) == value


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


def test_sizes_print_below_1024_and_durations_three_figures_or_two_units() -> None:
    sizes = {0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 61 * 2**30: "61.0 GiB", 2**60: "1.0 EiB"}
    # 1023.96 KiB would print as 1024.0 KiB.
    for count, text in {**sizes, 1023.96 * 1024: "1.0 MiB"}.items():
        assert (format_bytes(count), format_rate(count)) == (text, f"{text}/s")
    assert format_bytes(math.nan) == format_rate(math.nan) == "n/a"
    durations = {0: "0 s", 0.00416: "4.16 ms", 2.367e-5: "23.7 us", 0.9996: "1.00 s"}
    durations |= {12.34: "12.3 s", 59.96: "1 min 0 s", 192.4: "3 min 12 s", 3599.7: "1 h 0 min"}
    durations |= {90_000: "1 d 1 h", -2: "-2.00 s", math.inf: "n/a"}
    assert {seconds: format_duration(seconds) for seconds in durations} == durations


@given(st.floats(min_value=1e-13, max_value=1e8))
def test_every_duration_has_a_form_without_a_full_smaller_unit(seconds: float) -> None:
    text = format_duration(seconds)
    # The 60 of "1.60 s" is a fraction, not a full minute.
    assert not re.search(r"(?<![\d.])(60 s|60 min|24 h)", text)
