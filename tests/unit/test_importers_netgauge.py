"""netgauge's LogGP tables are read with their traps, and refused where they make no sense."""

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers import LogGpTable, read_netgauge
from resilver.importers.netgauge import parse_netgauge


def table(*rows: str, header: str = "") -> LogGpTable:
    """A table of rows ``size L g G`` in a file with only these columns."""
    text = "\n".join([header or "# size L g G", *rows])
    return parse_netgauge(text, "test", "test.dat")


def test_columns_are_found_by_name_and_times_are_microseconds() -> None:
    row = table("8 6.782182 1.077706 0.002206").rows[0]
    # 6.782182 us is 6,782,182 ps, and 0.002206 us a byte are 2,206 ps a byte.
    assert round(row.latency_seconds * 1e12) == 6_782_182
    assert round(row.gap_seconds * 1e12) == 1_077_706
    assert round(row.gap_per_byte_seconds * 1e12) == 2_206
    read = parse_netgauge("8 10 1 2 3 6.7 1.1 1.2 1.07 0.002 0.1\n", "t", "t.dat")
    assert read.rows[0].size_bytes == 8 and read.rows[0].latency_seconds == pytest.approx(6.7e-6)
    # netgauge itself begins with size; only a header line that does so and names G is taken.
    (row,) = table("8 0.002 6.7 1.07", header="# size is in bytes\n# size G L g").rows
    assert row.size_bytes == 8 and row.gap_seconds == pytest.approx(1.07e-6)
    assert row.gap_per_byte_seconds == pytest.approx(2e-9)


def test_rows_keep_their_order_and_those_without_a_fit_are_left_out() -> None:
    read = table("1 6.7 -nan -nan", "2 6.7 1.0 0.001")
    assert [row.size_bytes for row in read.rows] == [2]
    assert [(row.line, "could not fit" in row.reason) for row in read.skipped] == [(2, True)]
    # The first of two rows of one size is the one that serves messages.
    read = table("4 1 1 0", "8 3 1 0", "8 2 1 0", "16 4 1 0")
    assert [round(row.latency_seconds * 1e6) for row in read.rows] == [1, 3, 2, 4]


def test_a_negative_gap_is_allowed_while_every_message_takes_time() -> None:
    # Row 16 serves 8 bytes and more: -0.006 + 7 * 0.001 us is above zero; at -0.008 it is below.
    assert len(table("8 1 1 0.001", "16 1 -0.006 0.001").rows) == 2
    with pytest.raises(ConfigError, match=r"line 3: g .* negative for a message of s = 8 bytes"):
        table("8 1 1 0.001", "16 1 -0.008 0.001")
    with pytest.raises(ConfigError, match="line 2: the line is too long"):
        table("x" * 20_000)
    assert len(table("8 1 1 0.001", "8 1 -5 0.001", "16 1 1 0.001").rows) == 3


def test_the_real_table_has_its_traps_where_science_says(shared_data: Path) -> None:
    read = read_netgauge(shared_data / "loggp-qdr-infiniband.dat")
    assert read.path == shared_data / "loggp-qdr-infiniband.dat"
    # 28 lines of data, the first of which has no fit.
    assert len(read.rows) == 27 and len(read.skipped) == 1
    sizes = [row.size_bytes for row in read.rows]
    twice = sizes.index(262144)
    assert sizes[twice : twice + 2] == [262144, 262144]
    eight = read.rows[sizes.index(8192)]
    assert read.rows[twice].gap_seconds == eight.gap_seconds
    assert [row.size_bytes for row in read.rows if row.gap_seconds < 0] == [2**24, 2**25, 2**26]
