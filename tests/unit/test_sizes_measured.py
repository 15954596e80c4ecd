"""Sizes are tallied in bounded memory, and their histograms keep the files and the volume."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.importers.sizes import Bin, MeasuredSizes, drawn_bytes, expected_by_class, parse_sizes
from resilver.importers.sizes.tally import FILE_BYTES_MAX, Tally, class_of, part_of
from tests.build import refused

SIZES = st.lists(
    st.one_of(st.integers(0, 300), st.integers(0, 2**20), st.integers(0, FILE_BYTES_MAX)),
    min_size=1,
    max_size=60,
)
DIVISIONS = (1, 2, 4, 8, 16, 32, 64)


def measured(sizes: list[int]) -> MeasuredSizes:
    tally = Tally()
    tally.add(sizes)
    return MeasuredSizes("a list", tally)


def test_classes_rise_and_sizes_come_in_any_number_of_batches(tmp_path: Path) -> None:
    # Below 64 bytes every size has a class of its own; [64, 128) has 64 classes of one byte, and
    # [128, 256) has 64 classes of two, so 130 and 131 share a class and 132 does not.
    sizes = np.array([0, 1, 63, 64, 127, 128, 130, 131, 132, 2**50])
    assert class_of(sizes).tolist() == [0, 1, 63, 64, 127, 128, 129, 129, 130, 45 * 64]
    sizes = np.random.default_rng(1).integers(0, 2**30, 200_000)
    whole, parts = Tally(), Tally()
    whole.add(sizes)
    for part in np.array_split(sizes, 7):
        parts.add(part)
    assert whole.groups(4) == parts.groups(4)
    assert (whole.files, whole.bytes) == (200_000, int(sizes.sum()))
    tally = Tally()
    tally.add([7])
    text = MeasuredSizes("a\nb", tally).text((Bin(7, 8, 1),))
    assert text.splitlines()[0] == "# apparent file sizes of a\\nb: files 1, bytes 7 (7 B)"
    assert parse_sizes(text, "text") == (Bin(7, 8, 1),)


@given(st.integers(1, FILE_BYTES_MAX), st.sampled_from(DIVISIONS))
def test_a_size_lies_in_its_part_of_its_octave(size: int, divisions: int) -> None:
    octave, part = part_of(size, divisions)
    # Part p of n is [2^k (1 + p/n), 2^k (1 + (p+1)/n)).
    assert 2**octave * (divisions + part) <= size * divisions < 2**octave * (divisions + part + 1)


@given(SIZES, st.sampled_from(DIVISIONS), st.booleans())
def test_bins_hold_every_file_in_rising_order(sizes: list[int], n: int, keep: bool) -> None:
    bins = measured(sizes).bins(n, keep_volume=keep)
    assert sum(item.file_count for item in bins) == len(sizes)
    assert all(item.min_bytes < item.max_bytes for item in bins)
    assert all(before.max_bytes <= after.min_bytes for before, after in pairwise(bins))
    # Plain bins count just the files between their edges.
    for item in () if keep else bins:
        assert item.file_count == sum(item.min_bytes <= size < item.max_bytes for size in sizes)
    # The text is what a study reads.
    assert parse_sizes(measured(sizes).text(bins), "text") == bins


@given(SIZES, st.sampled_from(DIVISIONS))
def test_narrowed_bins_keep_the_volume_of_every_size_class(sizes: list[int], n: int) -> None:
    # A bin's middle is the mean of its files to a quarter of a byte: the edge that moves does so by
    # whole bytes, and the middle by half as much, rounded to the nearest. A file of no bytes adds
    # one, since it is drawn as one byte.
    kept = measured(sizes).bins(n)
    assert abs(drawn_bytes(kept) - sum(sizes)) <= Fraction(len(sizes), 4) + sizes.count(0)
    for item in kept:
        inside = [size for size in sizes if part_of(size, n) == part_of(item.min_bytes, n)]
        assert len(inside) == item.file_count
        assert min(inside) <= item.min_bytes and item.max_bytes - 1 <= max(inside)


@given(st.lists(st.integers(64, FILE_BYTES_MAX), min_size=1, max_size=40))
def test_64_plain_bins_a_doubling_are_within_one_percent(sizes: list[int]) -> None:
    # A bin is [a, a + w) with w <= a / 64, so its middle is off by at most w / 2 <= a / 128.
    sizes_of = measured(sizes)
    assert abs(sizes_of.volume_error(sizes_of.bins(64, keep_volume=False))) <= 1 / 128


def test_bins_are_narrowed_or_a_histogram_s_own() -> None:
    # Files of 4096 bytes in a bin [4096, 8192) are expected to have 6143.5 bytes: half again as
    # much, 6143.5 / 4096 - 1 = 0.49988. Narrowed, the bin holds just that size.
    sizes = measured([4096] * 10)
    plain = sizes.bins(keep_volume=False)
    assert plain == (Bin(4096, 8192, 10),)
    assert sizes.volume_error(plain) == pytest.approx(0.49988, abs=1e-5)
    assert sizes.bins() == (Bin(4096, 4097, 10),)
    assert sizes.volume_error(sizes.bins()) == 0.0
    # By hand: 100, 100, 127 have the mean 109; the range 100 to 118 has 109 in its middle.
    assert measured([100, 127, 100]).bins() == (Bin(100, 119, 3),)
    # And 100, 127, 127 have the mean 118; the range 109 to 127 has 118 in its middle.
    assert measured([100, 127, 127]).bins() == (Bin(109, 128, 3),)
    sizes = MeasuredSizes("h.txt", Tally(), given=(Bin(0, 10, 2), Bin(10, 20, 2)))
    # (2 x (4.5 + 0.1) + 2 x 14.5), 0.1 for the tenth of sizes that is zero: 38.2.
    assert (sizes.files, sizes.bytes) == (4, 38)
    assert sizes.bins() == sizes.given
    assert "bins = 2: a histogram cannot be divided" in refused(sizes.bins, 2)
    for number in (0, 3, 128, -1, True, 1.5):
        assert "1, 2, 4, 8, 16, 32 or 64 bins" in refused(measured([5]).bins, number)
    # Three files of 1 byte and five of 2 or 3 are expected to hold 15.5 bytes, shown as 16.
    histogram = MeasuredSizes("h.txt", Tally(), given=(Bin(1, 2, 3), Bin(2, 4, 5)))
    assert histogram.bytes == 16
    assert histogram.volume_error(histogram.bins()) == 0.0
    tally = Tally()
    tally.add([1, FILE_BYTES_MAX, FILE_BYTES_MAX + 1, 2**63 - 1])
    assert (tally.files, tally.too_large_count) == (2, 2)
    # 4 EiB = 4096 files of 1 PiB are the most.
    tally = Tally()
    tally.add([FILE_BYTES_MAX] * 4096)
    assert "more than 4 EiB, the largest volume" in refused(tally.add, [FILE_BYTES_MAX])


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 5000), st.integers(1, 9)), min_size=1)
)
def test_expectations_by_class_add_up_to_the_histogram(parts: list[tuple[int, int, int]]) -> None:
    low, bins = 0, []
    for gap, width, count in parts:
        bins.append(Bin(low + gap, low + gap + width, count))
        low += gap + width
    expected = expected_by_class(bins)
    total = sum(item.file_count for item in bins)
    assert sum(share for share, _ in expected.values()) == 1
    assert sum(size for _, size in expected.values()) * total == drawn_bytes(bins)
    # Class k holds sizes of 2^k to 2^(k+1) - 1, and so does its share of the mean.
    for k, (share, size) in expected.items():
        assert share * 2**k <= size <= share * (2 ** (k + 1) - 1)
