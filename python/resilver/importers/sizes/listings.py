"""Listings of files, format by format: each line's size goes into a tally."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.sizes.stream import HEAD_BYTES, Batch, Listing
from resilver.importers.sizes.tally import Tally
from resilver.units import BYTES_MAX

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


SIZE_NAMES = ("size", "size_bytes", "file_size", "filesize", "st_size", "bytes", "length")
"""What the column of sizes is called in a header, whatever the case."""

_SAMPLE_ROWS = 100
_ROWS_A_TIME = 8192
_SIZE_DIGITS_MAX = 19  # Of 2^63 - 1.
_LABELLED = re.compile(rb"(?i)(?<![a-z])(?:file_?)?size\s*[=:]?\s*(\d+)(?!\S)")


def read_words(listing: Listing, tally: Tally, field: int = 1) -> None:
    """Lines of words, one of which is the size, such as ``find -printf '%s %p\\n'`` writes.

    Args:
        field: Which word of a line is the size, from 1.

    Raises:
        ConfigError: A line has no size there.
    """
    for batch in listing.batches():
        sizes = _all_at_once(batch, field)
        tally.add(list(_words_one_by_one(listing, batch, field)) if sizes is None else sizes)


def _all_at_once(batch: Batch, field: int) -> list[int] | None:
    """The sizes of a batch in which every line has one, which most have; otherwise None."""
    words = batch.records
    try:
        if field > 1 or not b"".join(words).isdigit():
            words = [record.split(None, field)[field - 1] for record in words]
            if not b"".join(words).isdigit():
                return None
        sizes = [int(word) for word in words]
    except (ValueError, IndexError):
        return None
    return sizes if max(sizes) <= BYTES_MAX else None


def _words_one_by_one(listing: Listing, batch: Batch, field: int) -> Iterator[int]:
    for line, record in enumerate(batch.records, batch.first):
        words = record.split(None, field)
        if not words or (field == 1 and words[0].startswith(b"#")):
            continue
        if len(words) < field:
            listing.refuse(
                line,
                f"the line has {len(words)} words, and the size is word {field}",
                "is a name broken into two lines? Write sizes with find -printf '%s\\n'",
            )
        yield _size(listing, line, words[field - 1])


def _size(listing: Listing, line: int, word: bytes | str) -> int:
    text = word.decode("utf-8", "replace") if isinstance(word, bytes) else word
    if not (text.isascii() and text.isdecimal()):
        listing.refuse(
            line,
            f"{show(text[:80])} is not a size: a whole number of bytes",
            "is a name broken into two lines? Write sizes with find -printf '%s\\n'",
        )
    digits = text.lstrip("0") or "0"
    if len(digits) > _SIZE_DIGITS_MAX or int(digits) > BYTES_MAX:
        listing.refuse(line, f"the size {digits[:40]} is above 2^63 - 1 bytes")
    return int(digits)


def read_gpfs(listing: Listing, tally: Tally, field: int | None = None) -> None:
    """File lists of GPFS (IBM Storage Scale), as ``mmapplypolicy -f`` and LIST rules write them.

    Args:
        listing: The listing; a rule such as ``RULE 'all' LIST 'all' SHOW(VARCHAR(FILE_SIZE))``
            makes it.
        field: Which word of the SHOW text is the size, from 1; by default the one number in it, or
            the one that ``size`` stands before.

    Raises:
        ConfigError: A line is none of such a list, or shows no size.
    """
    for batch in listing.batches():
        sizes: list[int] = []
        for line, record in enumerate(batch.records, batch.first):
            if not record.strip():
                continue
            match = GPFS_LINE.fullmatch(record)
            if match is None:
                listing.refuse(
                    line,
                    f"{show(record[:60].decode('utf-8', 'replace'))} is no line of a file list",
                    "expected: inode generation snapshot shown -- path",
                )
            sizes.append(_shown_size(listing, line, match.group(1), field))
        tally.add(sizes)


def _shown_size(listing: Listing, line: int, shown: bytes, field: int | None) -> int:
    words = shown.split()
    if field is not None:
        if len(words) < field:
            rule = f"the line shows {len(words)} words, and the size is word {field} of them"
            listing.refuse(line, rule, "count the words between the snapshot and --")
        return _size(listing, line, words[field - 1])
    labelled = _LABELLED.search(shown)
    if labelled:
        return _size(listing, line, labelled.group(1))
    numbers = [word for word in words if word.isdigit()]
    if len(numbers) == 1:
        return _size(listing, line, numbers[0])
    if not numbers:
        listing.refuse(
            line, "the line shows no size", "have the LIST rule end with SHOW(VARCHAR(FILE_SIZE))"
        )
    rule = f"the line shows {len(numbers)} numbers, any of which could be the size"
    listing.refuse(line, rule, "say which word of the shown text it is with --field N")


def read_s3_listing(listing: Listing, tally: Tally) -> None:
    """What ``aws s3 ls --recursive`` writes: date, time, size and key.

    Raises:
        ConfigError: A line is none of such a listing.
    """
    for batch in listing.batches():
        sizes: list[int] = []
        for line, record in enumerate(batch.records, batch.first):
            match = S3_LINE.fullmatch(record.strip())
            if match:
                sizes.append(_size(listing, line, match.group(1)))
            elif not S3_OTHER.fullmatch(record):
                listing.refuse(
                    line,
                    f"{show(record[:60].decode('utf-8', 'replace'))} is no line of aws s3 ls",
                    "expected: date time size key, with sizes in bytes",
                )
        tally.add(sizes)


def read_csv(listing: Listing, tally: Tally, columns: str | None = None) -> int:
    """CSV with a column of sizes, such as an S3 inventory.

    Args:
        columns: The names of the columns, separated by commas, as ``fileSchema`` of an inventory's
            ``manifest.json`` has them. By default the first row is asked for names; without any,
            the column is the only one of whole numbers.

    Returns:
        How many rows have no size, such as those of delete markers.

    Raises:
        ConfigError: A row cannot be read, or it cannot be told which column has the sizes.
    """
    reader = csv.reader(_lines(listing), strict=True)
    rows = _rows(listing, reader)
    sample = list(itertools.islice(rows, _SAMPLE_ROWS))
    column, skip = _size_column(listing, [row for _, row in sample], columns)
    all_rows = itertools.chain(sample[skip:], rows)
    without = 0
    while batch := list(itertools.islice(all_rows, _ROWS_A_TIME)):
        sizes: list[int] = []
        for line, row in batch:
            if len(row) <= column:
                rule = f"the row has {len(row)} columns, and the size is in column {column + 1}"
                listing.refuse(line, rule, "is the file complete?")
            cell = row[column].strip()
            if cell:
                sizes.append(_size(listing, line, cell))
            else:
                without += 1
        tally.add(sizes)
    return without


def _lines(listing: Listing) -> Iterator[str]:
    """The lines with their ends, as the CSV reader wants them."""
    for batch in listing.batches():
        for line, record in enumerate(batch.records, batch.first):
            text = record.decode("utf-8", "surrogateescape")
            yield (text.removeprefix("\ufeff") if line == 1 else text) + "\n"


def _rows(listing: Listing, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the number of its last line."""
    line = 1
    try:
        for row in reader:
            line = getattr(reader, "line_num", line)
            if row and row != [""]:
                yield line, row
    except csv.Error as error:
        listing.refuse(
            getattr(reader, "line_num", line),
            f"this is not valid CSV: {error}",
            "is a quote missing, or the file cut off?",
        )


def _size_column(listing: Listing, sample: list[list[str]], columns: str | None) -> tuple[int, int]:
    """The column of sizes, and how many rows stand above the first file's."""
    names = [cell.strip().casefold() for cell in sample[0]] if sample else []
    header = [number for number, name in enumerate(names) if name in SIZE_NAMES]
    if columns is not None:
        wanted = [name.strip().strip("\"'").casefold() for name in columns.split(",")]
        found = [number for number, name in enumerate(wanted) if name in SIZE_NAMES]
        if len(found) != 1:
            listing.refuse(
                1,
                f"of the columns {show(columns)}, one must be the size",
                "name the columns as fileSchema of manifest.json does, such as Bucket, Key, Size",
            )
        return found[0], 1 if header == found else 0
    if header:
        if len(header) > 1:
            rule = "the header names more than one column that could be the size"
            listing.refuse(1, rule, "name the columns with --columns")
        return header[0], 1
    width = min((len(row) for row in sample), default=0)
    numbers = [
        column
        for column in range(width)
        if all(not row[column].strip() or _is_digits(row[column]) for row in sample)
        and any(_is_digits(row[column]) for row in sample)
    ]
    # In an inventory the bucket and the key come first, and may be numbers too.
    later = [column for column in numbers if column >= 2]
    for candidates in (numbers, later):
        if len(candidates) == 1:
            return candidates[0], 0
    which = " and ".join(str(column + 1) for column in numbers[:5])
    listing.refuse(
        1,
        f"columns {which} are whole numbers, and any could be the size"
        if numbers
        else "no column is whole numbers, and no header names the size",
        "name the columns with --columns, as fileSchema of manifest.json does: Bucket, Key, Size",
    )


def _is_digits(cell: str) -> bool:
    text = cell.strip()
    return text.isascii() and text.isdecimal()
