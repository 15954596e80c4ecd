"""Listings of files with their ages: tables of scans, ne2scan's bars, `find`, lists of GPFS.

A file's age is the time since it was last read, changed or written, whichever is latest: that is
what purges go by. ne2scan's format is as `fslist` of github.com/ORNL-TechInt/lester writes it; the
lists of GPFS are IBM's "File list format" of Storage Scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from resilver.errors import show
from resilver.importers.age_blocks import Columns, find_columns, gpfs_columns, ne2scan_columns
from resilver.importers.scanned import is_scan, read_scanned, scanned_batches
from resilver.importers.sizes.listings import GPFS_LINE
from resilver.importers.sizes.stream import Listing
from resilver.text import refuse

DAY_SECONDS = 86_400
AGE_DAYS_MAX = 1000
"""Files that are older are counted with those of this age."""
SIZE_CLASSES = 64
"""A class holds sizes from a power of two up to the next; the first also files of no bytes."""
FUTURE_SHARE_MAX = 0.01
"""More bytes than this share with times after the scan mean that a clock is wrong."""
SKEW_SECONDS = 60.0
"""How far a clock may be ahead of the scan without a word."""
COMPLETE = b"#complete#"

_IDENT = b"#IDENT#"
_FIND = "find DIR -type f -printf '%s %A@ %C@ %T@ %U %p\\n'"
_NE2SCAN_WORDS = 9

Floats = npt.NDArray[np.float64]
_Row = tuple[int, float, bytes]
"""A file's size, its time (or its age in days, in the lists of GPFS), and its owner."""


@dataclass(frozen=True)
class AgedFiles:
    """What a listing holds, by age.

    Attributes:
        place: The listing.
        scanned_seconds: When it was made, since 1970; None where it holds ages and no times.
        is_scan_told: Whether it says so itself; else this is the newest time in it.
        files: By age in days, how many files; the last is of `AGE_DAYS_MAX` and more.
        bytes: By class of sizes and age in days, their bytes.
        owners: By owner's number, the bytes by age in days; empty where it has no owners.
        future_files, future_bytes: Of files with times after the scan, which count as just used.
    """

    place: str
    scanned_seconds: float | None
    is_scan_told: bool
    files: Floats = field(repr=False)
    bytes: Floats = field(repr=False)
    owners: dict[str, Floats] = field(repr=False)
    future_files: int = 0
    future_bytes: int = 0

    @property
    def bytes_by_day(self) -> Floats:
        """The bytes by age in days."""
        return np.asarray(self.bytes.sum(axis=0))

    def older(self, days: int) -> tuple[int, float, int | None]:
        """What a purge of this age frees now.

        Returns:
            Files, bytes, and of how many owners; None where the listing has no owners.
        """
        touched = sum(bool(own[days:].any()) for own in self.owners.values())
        return (
            int(self.files[days:].sum()),
            float(self.bytes[:, days:].sum()),
            touched if self.owners else None,
        )


def read_ages(path: Path) -> AgedFiles:
    """Read a listing of files with their ages.

    Args:
        path: The table of a scan (`resilver scan -o`), or a listing, gzipped or not: ne2scan's
            (``atime|ctime|mtime|uid|gid|mode|size|...``), what ``find -printf '%s %A@ %C@ %T@ %U
            %p\\n'`` writes, or a list of GPFS that shows the size and the days since the last
            access, and since the last change if it likes. A listing ends with a line
            ``#complete#``, after which the time may stand, in seconds since 1970.

    Raises:
        ConfigError: It is none of these, a line is damaged, it is cut off, it has no sizes, or more
            than a hundredth of its bytes have times after the scan.
    """
    if is_scan(path):
        return _scanned(path)
    try:
        with path.open("rb") as stream:
            return _read(Listing(stream, str(path)))
    except FileNotFoundError:
        refuse(path, "there is no such file", "check the path")
    except OSError as error:
        refuse(path, f"the file cannot be read: {error.strerror}")


def _read(listing: Listing) -> AgedFiles:
    first = next((one for one in listing.head.split(b"\n") if one.strip()), b"")
    parse, columns_of, is_aged = _format(listing, first)
    tally = _Tally()
    begun = ended = None
    is_complete, number = False, 1
    for block in listing.blocks():
        columns = None if is_complete or listing.separator != b"\n" else columns_of(block)
        if columns is not None:
            tally.add_columns(columns)
            number += len(columns.sizes)
            continue
        rows: list[_Row] = []
        batch = listing.batch(number, block)
        number += len(batch.records)
        for line, record in enumerate(batch.records, batch.first):
            if record.startswith(b"#"):
                if record.startswith(_IDENT):
                    begun = _epoch(record.split(b"|")[3:4])
                elif record.startswith(COMPLETE):
                    is_complete, ended = True, _epoch([record[len(COMPLETE) :].strip(b"# \r")])
            elif record.strip():
                if is_complete:
                    listing.refuse(line, "files stand behind the end of the listing")
                rows.append(_parsed(listing, line, record, parse))
        tally.add(rows)
    if not is_complete:
        rule = "the listing does not end with #complete#, and may be cut off: nothing is forecast"
        refuse(listing.place, rule, "list again; if it is whole, add the line #complete#")
    if not tally.sizes:
        refuse(listing.place, "there is no file in the listing", "list the folder that is purged")
    return tally.aged(listing.place, begun, ended, is_aged=is_aged)


def _scanned(path: Path) -> AgedFiles:
    """The files of a scan, by its own columns."""
    import pyarrow.compute as pc

    said = read_scanned(path)
    tally = _Tally()
    times = ("accessed", "modified", "changed")
    for batch in scanned_batches(path, ("kind", "size_bytes", "owner", *times)):
        files = batch.filter(pc.equal(batch.column("kind"), "file"))
        newest = pc.max_element_wise(*(files.column(name).cast("int64") for name in times))
        known, owners = np.unique(files.column("owner").to_numpy(), return_inverse=True)
        sizes, names = (
            files.column("size_bytes").to_numpy(),
            [b"%d" % one for one in known.tolist()],
        )
        tally.add_columns(Columns(sizes, newest.to_numpy() / 1e6, owners, names))
    if not tally.sizes:
        refuse(path, "there is no file in the scan", "scan the folder that is purged")
    begun = said.begun_seconds
    return tally.aged(str(path), begun, begun + said.seconds, is_aged=False)


def _epoch(words: list[bytes]) -> float | None:
    return float(words[0]) if words and words[0].isdigit() else None


def _format(
    listing: Listing, first: bytes
) -> tuple[Callable[[bytes], _Row], Callable[[bytes], Columns | None], bool]:
    """How a line is read, how a block of plain ones, and whether they hold ages and no times."""
    if first.startswith(_IDENT):
        return _ne2scan, ne2scan_columns, False
    if GPFS_LINE.fullmatch(first):
        return _gpfs, gpfs_columns, True
    if first.count(b"|") >= _NE2SCAN_WORDS:
        return _ne2scan, ne2scan_columns, False
    words = first.split(None, 5)
    if len(words) >= 5 and words[0].isdigit():
        return _find, find_columns, False
    text = show(first[:60].decode("utf-8", "replace"))
    listing.refuse(1, f"{text} is no line of a listing with ages", f"write one with {_FIND}")


def _ne2scan(record: bytes) -> _Row:
    atime, ctime, mtime, uid, _, _, size, _, _ = record.split(b"|", _NE2SCAN_WORDS)[:9]
    return int(size), float(max(int(atime), int(ctime), int(mtime))), uid


def _find(record: bytes) -> _Row:
    size, atime, ctime, mtime, uid = record.split(None, 5)[:5]
    return int(size), max(float(atime), float(ctime), float(mtime)), uid


def _gpfs(record: bytes) -> _Row:
    match = GPFS_LINE.fullmatch(record)
    if match is None:
        raise ValueError
    size, *ages = match.group(1).split()
    return int(size), float(min(map(int, ages[:2]))), b""


def _parsed(listing: Listing, line: int, record: bytes, parse: Callable[[bytes], _Row]) -> _Row:
    try:
        row = parse(record)
    except ValueError:
        _damaged(listing, line, record)
    if not (0 <= row[0] < 2**63 and abs(row[1]) < 2**53):
        _damaged(listing, line, record)
    return row


def _damaged(listing: Listing, line: int, record: bytes) -> NoReturn:
    text = show(record[:60].decode("utf-8", "replace"))
    rule = f"{text} is not a line like the first: size and times are not where they stand there"
    listing.refuse(line, rule, "is a name broken into two lines? List again without such names")


class _Tally:
    """Sizes, times and owners of all files; a line takes 24 bytes."""

    def __init__(self) -> None:
        self.sizes: list[npt.NDArray[np.int64]] = []
        self.times: list[Floats] = []
        self.owners: list[npt.NDArray[np.int64]] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, rows: list[_Row]) -> None:
        """Add lines."""
        if not rows:
            return
        sizes, times, owners = zip(*rows, strict=True)
        numbers = self._numbers
        self.sizes.append(np.array(sizes, dtype=np.int64))
        self.times.append(np.array(times, dtype=np.float64))
        found = [numbers.setdefault(owner, len(numbers)) for owner in owners]
        self.owners.append(np.array(found, dtype=np.int64))

    def add_columns(self, columns: Columns) -> None:
        """Add files by the block."""
        numbers = self._numbers
        own = np.array([numbers.setdefault(name, len(numbers)) for name in columns.names])
        self.sizes.append(columns.sizes)
        self.times.append(columns.times)
        self.owners.append(own[columns.owners].astype(np.int64))

    def aged(
        self, place: str, begun: float | None, ended: float | None, *, is_aged: bool
    ) -> AgedFiles:
        """All files by age."""
        sizes, times = np.concatenate(self.sizes), np.concatenate(self.times)
        owners = np.concatenate(self.owners)
        if not sizes.any():
            rule = "every file has 0 bytes: the listing was made where sizes are not known"
            refuse(place, rule, "list where they are, such as on a client")
        scanned = None
        if is_aged:
            ages = times
        else:
            told = begun if begun is not None else ended
            scanned = float(times.max()) if told is None else told
            # What changes while the scan runs is not ahead of its clock, nor by what clocks differ.
            last = max(scanned, ended or scanned) + SKEW_SECONDS
            ages = (scanned - times) / DAY_SECONDS
            ages[(ages < 0) & (times <= last)] = 0.0
        future = ages < 0
        share = float(sizes[future].sum()) / float(sizes.sum())
        if share > FUTURE_SHARE_MAX:
            rule = f"{100 * share:.1f} % of the bytes have times after the scan: a clock is wrong"
            refuse(place, rule, "set the clocks, or list again")
        days = np.clip(ages, 0, AGE_DAYS_MAX).astype(np.int64)
        classes = np.frexp(np.maximum(sizes, 1).astype(np.float64))[1] - 1
        table = _by_day(classes, SIZE_CLASSES, days, sizes)
        return AgedFiles(
            place=place,
            scanned_seconds=scanned,
            is_scan_told=not is_aged and (begun is not None or ended is not None),
            files=np.bincount(days, minlength=AGE_DAYS_MAX + 1).astype(np.float64),
            bytes=table,
            owners=dict(self._of_owners(owners, days, sizes)),
            future_files=int(future.sum()),
            future_bytes=int(sizes[future].sum()),
        )

    def _of_owners(self, owners: Any, days: Any, sizes: Any) -> Iterator[tuple[str, Floats]]:
        if set(self._numbers) == {b""}:
            return
        count = len(self._numbers)
        table = _by_day(owners, count, days, sizes)
        found: dict[str, Floats] = {}
        for name, number in self._numbers.items():
            text = name.decode("utf-8", "replace")
            found[text] = found[text] + table[number] if text in found else table[number]
        yield from found.items()


def _by_day(kinds: Any, count: int, days: Any, sizes: Any) -> Floats:
    """Bytes by kind and age in days, of so many kinds."""
    width = AGE_DAYS_MAX + 1
    places = kinds.astype(np.int64) * width + days
    table = np.bincount(places, weights=sizes, minlength=count * width).reshape(count, width)
    return table.astype(np.float64, copy=False)
