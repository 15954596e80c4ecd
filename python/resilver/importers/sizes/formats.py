"""Telling the formats of listings apart by their beginnings."""

from __future__ import annotations

import csv
import re
from typing import Literal, TypeAlias, get_args

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.sizes.stream import HEAD_BYTES, Listing

Format: TypeAlias = Literal["sizes", "gpfs", "csv", "s3-ls", "histogram"]
"""``sizes``: a size in bytes at the start of each line, as ``find -printf '%s %p\\n'`` writes.
``gpfs``: file lists of ``mmapplypolicy``. ``csv``: CSV such as S3 inventories. ``s3-ls``: the
output of ``aws s3 ls --recursive``. ``histogram``: bins as ``min max count``."""

FORMATS: tuple[Format, ...] = get_args(Format)

GPFS_LINE = re.compile(rb"\s*\d+\s+\d+\s+-?\d+\s+(.*?)\s*(?<!\S)-- (.*)", re.DOTALL)
"""``InodeNumber GenNumber SnapId [OptionalShowArgs] -- FullPathToFile``, as IBM's documentation of
Storage Scale ("File list format") has it."""

S3_LINE = re.compile(rb"\d{4}-\d\d-\d\d\s+\d\d:\d\d:\d\d\s+(\S+)\s.*", re.DOTALL)
S3_OTHER = re.compile(rb"\s*(?:PRE\s.*|Total Objects:.*|Total Size:.*|)", re.DOTALL)
"""What else ``aws s3 ls`` writes: common prefixes, and the sums of ``--summarize``."""

_SIZE_LINE = re.compile(rb"\s*\d+(?:\s.*)?", re.DOTALL)
_BIN_LINE = re.compile(rb"\s*\d[\d.eE+]*[\s,]+\d[\d.eE+]*[\s,]+\d[\d.eE+]*\s*")


def known_format(name: object) -> Format | None:
    """The format of this name, or None for None.

    Raises:
        ConfigError: There is no such format.
    """
    if name is None:
        return None
    for known in FORMATS:
        if name == known:
            return known
    raise ConfigError(
        "this is not a format", name_remedy(name, FORMATS, "formats"), "format", show(name)
    )


def sniff(listing: Listing) -> Format:
    """The format of a listing, told from its beginning.

    Raises:
        ConfigError: It is none that is known.
    """
    records = listing.head.split(listing.separator)
    if len(listing.head) == HEAD_BYTES and len(records) > 1:
        records.pop()  # The last one may be cut off.
    whole = [(number, record.strip()) for number, record in enumerate(records, 1) if record.strip()]
    lines = [record for _, record in whole if not record.startswith(b"#")]
    if not lines:
        refused = "there is nothing in it" if not listing.head else "it holds no line with a file"
        listing.refuse(1, refused, "a listing has one file a line")
    first = lines[0]
    if _is_histogram(lines, [record for _, record in whole]):
        return "histogram"
    if GPFS_LINE.fullmatch(first):
        return "gpfs"
    if S3_LINE.fullmatch(first) or (first.startswith(b"PRE ") and len(lines) > 1):
        return "s3-ls"
    if _SIZE_LINE.fullmatch(first):
        return "sizes"
    if _is_csv(first):
        return "csv"
    number = next(number for number, record in whole if record == first)
    remedy = f"write sizes with find -printf '%s\\n', or name a format: {', '.join(FORMATS)}"
    if first[:1] in b"{[":
        remedy = "write sizes only: aws s3api ... --query 'Contents[].[Size]' --output text"
    text = first[:60].decode("utf-8", "replace")
    listing.refuse(number, f"{show(text)} is no line of a listing that is known", remedy)


def _is_histogram(lines: list[bytes], with_comments: list[bytes]) -> bool:
    if any(line.startswith(b"#") and b"total_count" in line for line in with_comments):
        return True
    words = re.split(rb"[\s,]+", lines[0].replace(b'"', b"").lower())
    if sorted(words) == [b"count", b"max", b"min"]:
        return True
    if not all(_BIN_LINE.fullmatch(line) for line in lines):
        return False
    # A size before a name of two numbers has this form too, but it seldom is below the first.
    try:
        edges = [re.split(rb"[\s,]+", line)[:2] for line in lines]
        return all(float(low) < float(high) for low, high in edges)
    except ValueError:
        return False


def _is_csv(line: bytes) -> bool:
    if b"," not in line:
        return False
    try:
        rows = list(csv.reader([line.decode("utf-8", "surrogateescape")]))
    except csv.Error:
        return False
    return bool(rows) and len(rows[0]) > 1
