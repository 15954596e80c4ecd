"""File-size histograms: plain text and CSV.

Plain text has the line ``# total_count: N`` and then lines ``min max count``. CSV has the columns
min, max, count, with or without a header that names them. A bin holds sizes from min up to, and
without, max, in bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from resilver.errors import show
from resilver.text import read_text, refuse
from resilver.units import BYTES_MAX

FILE_BYTES_MAX = 2**50
"""The largest file that a population can have, 1 PiB; larger ones are left out and counted."""

_TOTAL = re.compile(r"#\s*total_count\s*:\s*(\S*)\s*")
_BINS_MAX = 1_000_000


class Bin(NamedTuple):
    """One bin of a histogram of file sizes.

    Attributes:
        min_bytes: The smallest size in it.
        max_bytes: The first size past it.
        file_count: How many files it holds, relative to the other bins.
    """

    min_bytes: int
    max_bytes: int
    file_count: int


def read_sizes(path: Path) -> tuple[Bin, ...]:
    """Read a histogram of file sizes.

    Args:
        path: The file, plain text or CSV.

    Returns:
        Its bins, sizes rising.

    Raises:
        ConfigError: The file cannot be read, is empty or has a bad line, which the message names.
    """
    return parse_sizes(read_text(path), str(path))


def parse_sizes(text: str, place: str) -> tuple[Bin, ...]:
    """Read a histogram of file sizes from text; see `read_sizes`.

    Raises:
        ConfigError: The text has no bins, or a bad line.
    """
    bins: list[Bin] = []
    total: int | None = None
    order = ("min", "max", "count")
    for number, line in enumerate(text.splitlines(), start=1):
        at = f"{place}, line {number}"
        stripped = line.strip()
        if stripped.startswith("#"):
            match = _TOTAL.fullmatch(stripped)
            if match:
                total = _whole(match.group(1), "total_count", at)
            continue
        if not stripped:
            continue
        words = (
            [word.strip() for word in stripped.split(",")] if "," in stripped else stripped.split()
        )
        names = tuple(word.strip("\"'").casefold() for word in words)
        if not bins and sorted(names) == sorted(order):
            order = (names[0], names[1], names[2])
            continue
        bins.append(_bin(words, order, bins[-1] if bins else None, at))
        if len(bins) > _BINS_MAX:
            refuse(at, f"more than {_BINS_MAX:,} bins", "merge bins")
    if not bins:
        refuse(
            place,
            "the histogram is empty",
            "it needs at least one line with a bin's min, max and count",
        )
    counted = sum(item.file_count for item in bins)
    if total is not None and total != counted:
        refuse(
            place,
            f"total_count is {total}, but the bins' counts add up to {counted}",
            "is the file complete?",
        )
    return tuple(bins)


def drawn_bytes(bins: Iterable[Bin]) -> Fraction:
    """The expected volume of as many files as the bins count, drawn from them.

    Args:
        bins: The bins. Sizes are equally likely within one, and a size of zero becomes one byte.

    Returns:
        The volume in bytes, exactly.

    >>> drawn_bytes([Bin(0, 2, 4)])  # Sizes 0 and 1 both become one byte.
    Fraction(4, 1)
    """
    volume = Fraction(0)
    for item in bins:
        mean = Fraction(item.min_bytes + item.max_bytes - 1, 2)
        if item.min_bytes == 0:
            mean += Fraction(1, item.max_bytes)
        volume += item.file_count * mean
    return volume


def expected_by_class(bins: Iterable[Bin]) -> dict[int, tuple[Fraction, Fraction]]:
    """What files drawn from bins are expected to be, by class of sizes.

    Args:
        bins: The bins, of at least one file. Sizes are equally likely within one, and a size of
            zero becomes one byte.

    Returns:
        By the *k* of each class [2^k, 2^(k+1)) that occurs: the share of the files, and how many
        bytes of the mean file are in it. The latter add up to the expected size of a file.

    >>> {k: float(share) for k, (share, _) in expected_by_class([Bin(2, 8, 1)]).items()}
    {1: 0.3333333333333333, 2: 0.6666666666666666}
    """
    items = list(bins)
    total = sum(item.file_count for item in items)
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for item in items:
        low = item.min_bytes
        while low < item.max_bytes:
            k = max(low, 1).bit_length() - 1
            high = min(item.max_bytes, 2 ** (k + 1))
            weight = Fraction(item.file_count, total * (item.max_bytes - item.min_bytes))
            # The sizes from low to high - 1 add up to this, with one more where zero becomes one.
            added = (high - low) * (low + high - 1) // 2 + (low == 0)
            share, size = found.get(k, (Fraction(0), Fraction(0)))
            found[k] = share + weight * (high - low), size + weight * added
            low = high
    return dict(sorted(found.items()))


def check_bin(item: Bin, previous: Bin | None) -> tuple[str, str] | None:
    """What is wrong with a bin, if anything.

    Returns:
        The rule broken and the remedy, or None.
    """
    if item.min_bytes >= item.max_bytes:
        return (
            f"a bin's min is below its max, and {item.min_bytes} is not below {item.max_bytes}",
            "a bin holds sizes from min up to, and without, max",
        )
    if previous is not None and item.min_bytes < previous.max_bytes:
        return (
            f"the bin from {item.min_bytes} overlaps the one before, up to {previous.max_bytes}",
            "sort the bins by size and let each begin where the last ended or later",
        )
    if item.file_count == 0:
        return "a bin's count must be at least 1", "leave empty bins out"
    return None


def _bin(words: list[str], order: tuple[str, str, str], previous: Bin | None, at: str) -> Bin:
    if len(words) != 3:
        refuse(
            at,
            f"{len(words)} values where a bin has three",
            "expected min, max and count; resilver import sizes makes bins of a listing",
        )
    cells = dict(zip(order, words, strict=True))
    item = Bin(
        _whole(cells["min"], "min", at, " of bytes"),
        _whole(cells["max"], "max", at, " of bytes"),
        _whole(cells["count"], "count", at),
    )
    wrong = check_bin(item, previous)
    if wrong:
        refuse(at, *wrong)
    return item


def _whole(word: str, name: str, at: str, of: str = "") -> int:
    try:
        value = Decimal(word) if len(word) <= 40 else None
    except InvalidOperation:
        value = None
    if (
        value is None
        or not value.is_finite()
        or not 0 <= value <= BYTES_MAX
        or value != value.to_integral()
    ):
        refuse(at, f"{name} {show(word)} is not a whole number{of}, zero or more")
    return int(value)
