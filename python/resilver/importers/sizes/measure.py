"""Measuring file sizes from any source: a tree, listings, or a histogram that there is already."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from resilver.errors import ConfigError, show
from resilver.importers.scanned import is_scan, scanned_batches
from resilver.importers.sizes.histogram import Bin, parse_sizes
from resilver.importers.sizes.listings import (
    Format,
    known_format,
    read_csv,
    read_gpfs,
    read_s3_listing,
    read_words,
    sniff,
)
from resilver.importers.sizes.measured import MeasuredSizes
from resilver.importers.sizes.stream import Listing
from resilver.importers.sizes.tally import Tally
from resilver.importers.walk import WORKERS_DEFAULT, LeftOut, TreeWalk, WalkProgress, printable
from resilver.text import decode, refuse
from resilver.units import format_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa


HISTOGRAM_BYTES_MAX = 1 << 28
"""The largest histogram, as text: far more than a million bins take."""


def import_sizes(
    source: str | Path | BinaryIO | Iterable[str | Path],
    *,
    format: Format | None = None,
    field: int | None = None,
    columns: str | None = None,
    one_file_system: bool = False,
    hard_links: Literal["once", "each"] = "once",
    threads: int = WORKERS_DEFAULT,
    progress: Callable[[WalkProgress], None] | None = None,
) -> MeasuredSizes:
    """Measure the file sizes of a store, for a population with files like them.

    Args:
        source: A folder, whose tree is walked; the table of a scan (`resilver scan -o`); a listing
            or a histogram, or several listings of one format; or a stream of bytes that is one.
            Listings may be gzipped and of any length.
        format: The format of listings, one of ``sizes`` (``find -printf '%s %p\\n'``), ``gpfs``
            (``mmapplypolicy``), ``csv`` (S3 inventories), ``s3-ls`` and ``histogram``; by default
            told from their beginning.
        field: Which word of a line is the size, from 1: of the whole line in ``sizes``, of the
            shown text in ``gpfs``.
        columns: The names of the columns of ``csv``, as an inventory's manifest has them.
        one_file_system: In a tree, stay out of folders on which another file system is mounted.
        hard_links: In a tree, whether a file of several names counts once or by each name.
        threads: In a tree, how many threads read folders at once.
        progress: In a tree, called a few times a second.

    Returns:
        The sizes, in memory that does not grow with their number.

    Raises:
        ConfigError: The source cannot be read or is none of these, with the line; no file is in it;
            or an option is out of range.

    >>> import io
    >>> sizes = import_sizes(io.BytesIO(b"4096 a\\n6000 b\\n12 c\\n"))
    >>> sizes.files, sizes.bytes
    (3, 10108)
    >>> [tuple(item) for item in sizes.bins()]
    [(12, 13, 1), (4096, 6001, 2)]
    """
    wanted = known_format(format)
    if field is not None and (isinstance(field, bool) or not 1 <= field <= 1000):
        raise ConfigError("a word is numbered from 1 to 1000", key="field", value=show(field))
    paths = _paths(source)
    if paths is not None and len(paths) == 1 and paths[0].is_dir():
        _refuse_options_of_listings(wanted, field, columns)
        return scan_tree(
            paths[0],
            one_file_system=one_file_system,
            hard_links=hard_links,
            threads=threads,
            progress=progress,
        )
    reading = _Reading(wanted, field, columns)
    if paths is None:
        reading.add(source, "the stream")  # type: ignore[arg-type]
    for path in paths or ():
        if is_scan(path):
            reading.add_scan(path)
            continue
        with _opened(path) as stream:
            reading.add(stream, printable(str(path)))
    return reading.measured()


def _paths(source: object) -> list[Path] | None:
    """The paths of the sources; None where the source is a stream."""
    if hasattr(source, "read"):
        return None
    given = [source] if isinstance(source, str | Path) else source
    try:
        paths = [Path(item).expanduser() for item in given]  # type: ignore[attr-defined]
    except TypeError:
        rule = "sizes are imported from a path, several, or a stream of bytes"
        raise ConfigError(rule, key="source", value=show(source)) from None
    if not paths:
        raise ConfigError("there is no listing to read", "name at least one")
    for path in paths:
        if len(paths) > 1 and path.is_dir():
            refuse(
                printable(str(path)), "a folder is measured alone, and several sources are named"
            )
    return paths


def _refuse_options_of_listings(
    format: Format | None, field: int | None, columns: str | None
) -> None:
    given = {"format": format, "field": field, "columns": columns}
    for name, value in given.items():
        if value is not None:
            rule = "a folder has files, not lines"
            raise ConfigError(rule, "leave it out", key=name, value=show(value))


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        refuse(printable(str(path)), "there is no such file", "check the path")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refuse(printable(str(path)), f"the file cannot be read: {reason}")


class _Reading:
    """Listings that are read into one tally, all of one format."""

    def __init__(self, format: Format | None, field: int | None, columns: str | None) -> None:
        self._named = format
        self._found: Format | None = None
        self._field = field
        self._columns = columns
        self._tally = Tally()
        self._places: list[str] = []
        self._without_size = 0
        self._bins: tuple[Bin, ...] | None = None

    def add(self, stream: BinaryIO, place: str) -> None:
        """Read a listing to its end.

        Raises:
            ConfigError: It cannot be read, or is of another format than those before.
        """
        listing = Listing(stream, place)
        self._found = self._format_of(listing)
        self._places.append(place)
        self._check_options(self._found)
        match self._found:
            case "histogram":
                if len(self._places) > 1:
                    refuse(place, "histograms are imported one at a time", "name one")
                self._bins = _histogram(listing)
            case "gpfs":
                read_gpfs(listing, self._tally, self._field)
            case "csv":
                self._without_size += read_csv(listing, self._tally, self._columns)
            case "s3-ls":
                read_s3_listing(listing, self._tally)
            case "sizes":
                read_words(listing, self._tally, self._field or 1)

    def add_scan(self, path: Path) -> None:
        """Read the files of a scan's table.

        Raises:
            ConfigError: It cannot be read, or others are listings.
        """
        place = printable(str(path))
        if self._named or self._field or self._columns:
            refuse(place, "a scan's table says itself what it holds", "leave out how it is read")
        if self._found is not None:
            rule = f"it is a scan's table, and the format of {self._places[0]} is {self._found}"
            refuse(place, rule, "import one format at a time")
        self._places.append(place)
        for batch in scanned_batches(path, ("kind", "size_bytes")):
            self._tally.add(file_sizes(batch))

    def measured(self) -> MeasuredSizes:
        """What was read.

        Raises:
            ConfigError: There is no file in it.
        """
        first, *others = self._places
        source = f"{first} and {len(others)} more" if others else first
        left_out = LeftOut(without_size=self._without_size, too_large=self._tally.too_large_count)
        if self._bins is None and self._tally.files == 0:
            refuse(source, "there is no file in it", "a listing has one file a line")
        return MeasuredSizes(source, self._tally, left_out, self._bins)

    def _format_of(self, listing: Listing) -> Format:
        if self._named is not None:
            return self._named
        # Of lists that a tool wrote in several files, some may be empty.
        if self._found is not None and not listing.head.strip():
            return self._found
        found = sniff(listing)
        if self._found not in (None, found):
            rule = f"its format is {found}, and that of {self._places[0]} is {self._found}"
            refuse(listing.place, rule, "import one format at a time, or name the format of all")
        return found

    def _check_options(self, found: Format) -> None:
        for name, value, formats in (
            ("field", self._field, ("sizes", "gpfs")),
            ("columns", self._columns, ("csv",)),
        ):
            if value is not None and found not in formats:
                rule = f"this is for the format {' or '.join(formats)}, and the listing is {found}"
                raise ConfigError(rule, "leave it out", key=name, value=show(value))


def _histogram(listing: Listing) -> tuple[Bin, ...]:
    """The bins of a histogram, whose text is read as a whole."""
    parts: list[bytes] = []
    size = 0
    for batch in listing.batches():
        parts += batch.records
        size += sum(map(len, batch.records))
        if size > HISTOGRAM_BYTES_MAX:
            rule = f"a histogram has at most {format_bytes(HISTOGRAM_BYTES_MAX)} of text"
            refuse(listing.place, rule, "merge bins")
    return parse_sizes(decode(b"\n".join(parts), Path(listing.place)), listing.place)


def scan_tree(
    folder: str | Path,
    *,
    one_file_system: bool = False,
    hard_links: Literal["once", "each"] = "once",
    threads: int = WORKERS_DEFAULT,
    progress: Callable[[WalkProgress], None] | None = None,
) -> MeasuredSizes:
    """Measure the files below a folder by their apparent size (``st_size``).

    Args:
        folder: The folder. It may be a symbolic link; those below it are not followed.
        one_file_system: Stay out of folders on which another file system is mounted.
        hard_links: Whether a file of several names counts once or by each name.
        threads: How many threads read folders at once.
        progress: Called a few times a second, and once at the end.

    Returns:
        The sizes, and what was left out: what cannot be read is counted and does not end the walk.

    Raises:
        ConfigError: The folder itself cannot be read, no file is below it, or an option is out of
            range.
    """
    if hard_links not in ("once", "each"):
        rule = 'files of several names count "once" or "each"'
        raise ConfigError(rule, key="hard_links", value=show(hard_links))
    tally = Tally()
    with TreeWalk(
        folder, workers=threads, one_file_system=one_file_system, every_name=hard_links == "each"
    ) as walk:
        for batch in walk.batches(progress):
            tally.add(file_sizes(batch))
        left_out = walk.left_out(tally.too_large_count)
    if tally.files == 0:
        said = "; " + "; ".join(left_out.examples) if left_out.examples else ""
        refuse(printable(str(walk.root)), f"there is no file below it that can be read{said}")
    return MeasuredSizes(str(walk.root), tally, left_out)


def file_sizes(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The apparent sizes of the files among rows of a walk."""
    import pyarrow.compute as pc

    is_file = pc.equal(batch.column("kind"), "file")
    sizes: npt.NDArray[np.int64] = batch.column("size_bytes").filter(is_file).to_numpy()
    return sizes
