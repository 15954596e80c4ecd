"""The sizes of files: a histogram, and the ways in which a study file gives one."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from pydantic import ValidationInfo

from resilver import catalog
from resilver.errors import ConfigError, Problem, collected, raise_all, show
from resilver.importers.sizes import Bin, check_bin, drawn_bytes, read_sizes
from resilver.spec.section import TEXT, either, file_path, one_key
from resilver.text import name_of
from resilver.units import BYTES_MAX, Bytes


@dataclass(frozen=True)
class Histogram:
    """A histogram of file sizes.

    Attributes:
        label: Its name in the catalog, the name of its file, what was measured, or ``inline``.
        bins: The bins, sizes rising. A file's size is drawn by a bin's count, then uniformly in
            [min, max).
        path: The file it was read from, or None.
    """

    label: str
    bins: tuple[Bin, ...]
    path: Path | None = field(default=None, compare=False)

    @cached_property
    def largest_bytes(self) -> int:
        """The largest size that can be drawn; a size of zero counts as one byte."""
        return max((item.max_bytes - 1 for item in self.bins), default=1) or 1

    @cached_property
    def mean_bytes(self) -> Fraction:
        """The expected size of a file, the sizes of each bin being equally likely; a size of zero
        counts as one byte.
        """
        total = sum(item.file_count for item in self.bins)
        return drawn_bytes(self.bins) / max(1, total)


def histogram_of(value: object, info: ValidationInfo) -> Histogram | None:
    """The histogram that a study file's ``histogram`` means.

    Args:
        value: A catalog name, ``{ file = "sizes.txt" }``, ``{ scan = "/data" }``, which measures
            the files below a folder, ``{ bins = [[min, max, count], ...] }``, perhaps with a
            ``label``, a `Histogram`, or what `resilver.import_sizes` measured.

    Raises:
        ConfigError: There is no such histogram, or it has problems.
    """
    if value is None or isinstance(value, Histogram):
        return value
    if isinstance(value, str):
        return Histogram(value, bins_of(catalog.load("populations", value).content["bins"]))
    if not isinstance(value, dict):
        from resilver.importers.sizes import MeasuredSizes

        if isinstance(value, MeasuredSizes):
            return Histogram(value.source, value.bins())
        raise ConfigError(
            "a histogram is a name of the catalog, a file, a folder to measure, or bins",
            'write "genomes1000", { file = "sizes.txt" }, { scan = "/data" } or '
            '{ bins = [["0 B", "4 KiB", 100]] }',
            value=show(value),
        )
    # Only bins go without a name of their own.
    kind = one_key(
        {key: item for key, item in value.items() if key != "label" or "bins" not in value},
        ("file", "scan", "bins"),
    )
    if kind == "bins":
        label = value.get("label", "inline")
        if not isinstance(label, str) or not label.isprintable():
            rule, remedy = "a label is a line of text", 'such as "our archive"'
            raise ConfigError(rule, remedy, key="label", value=show(label))
        return Histogram(label, bins_of(value["bins"]))
    path = file_path(value[kind], info)
    return measured(path) if kind == "scan" else Histogram(name_of(path), read_sizes(path), path)


def measured(folder: Path) -> Histogram:
    """The sizes of the files below a folder.

    It stands in the resolved study as bins with a label: that is the same after the tree has
    changed, and where there is no such folder.

    Raises:
        ConfigError: It is no folder that can be read, or has no files.
    """
    from resilver.importers.sizes import scan_tree

    return Histogram(f"files below {folder.name or folder}", scan_tree(folder).bins())


def bins_of(rows: object) -> tuple[Bin, ...]:
    """The bins that a list of rows means.

    Args:
        rows: ``[[min, max, count], ...]``, sizes with their units and rising.

    Raises:
        ConfigError: With every row that is no bin.

    >>> bins_of([["0 B", "4 KiB", 100]])
    (Bin(min_bytes=0, max_bytes=4096, file_count=100),)
    """
    if not isinstance(rows, list | tuple) or not rows:
        rule = "a histogram needs at least one bin"
        raise ConfigError(rule, 'write [["0 B", "4 KiB", 100]]', key="bins", value=show(rows))
    bins: list[Bin] = []
    problems: list[Problem] = []
    for index, row in enumerate(rows):
        key = f"bins.{index}"
        with collected(problems, key):
            item = _bin(row)
            wrong = check_bin(item, bins[-1] if bins else None)
            if wrong:
                problems.append(Problem(*wrong, key=key, value=show(row)))
            bins.append(item)
    raise_all(problems)
    return tuple(bins)


def _bin(row: object) -> Bin:
    if not isinstance(row, list | tuple) or len(row) != 3:
        rule = "a bin is min, max and count"
        raise ConfigError(rule, 'such as ["0 B", "4 KiB", 100]', value=show(row))
    count = row[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= BYTES_MAX:
        raise ConfigError("a count is a whole number, zero or more", value=show(count))
    return Bin(Bytes.parse(row[0]), Bytes.parse(row[1]), count)


_BINS = {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 3, "maxItems": 3}}
HISTOGRAM_SCHEMA = either(
    {"file": TEXT},
    {"scan": TEXT},
    {"bins": _BINS, "label?": TEXT},
    names=catalog.list("populations"),
)
