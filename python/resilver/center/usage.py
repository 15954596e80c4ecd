"""Who uses a file system, how much, and since when not: asked of the table of a scan.

No question asks the metadata servers again, which `du` loads heavily (Oral et al., "Best Practices
and Lessons Learned from Deploying and Operating Large-Scale Data-Centric Parallel File Systems",
2014, on LustreDU). A file's age is the time since it was last read, changed or written, whichever
is latest, when the scan began. What a purge frees is what the files occupy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.capacity import AGE_BINS_DAYS
from resilver.center.stat_cost import StatCost
from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.ages import AGE_DAYS_MAX
from resilver.importers.scanned import Scanned, read_scanned
from resilver.record import record

BY = ("owner", "age", "path", "size")
"""What usage is told by."""

PURGE_DAYS = 14
DEPTH_MAX = 64

# Ages of less than nothing are of a clock that is ahead, or of what changed while it was scanned.
_VIEWS = """
CREATE VIEW every AS SELECT * FROM read_parquet(getvariable('path'));
CREATE VIEW rows AS SELECT
  CASE WHEN getvariable('below') = '' THEN folder
    ELSE substr(folder, length(getvariable('below')) + 2) END AS folder,
  kind, owner, size_bytes, allocated_bytes, stripes,
  greatest(0, floor((getvariable('begun')
    - epoch_us(greatest(accessed, modified, changed)) / 1e6) / 86400)) AS days
FROM every WHERE getvariable('below') = '' OR folder = getvariable('below')
  OR starts_with(folder, getvariable('below') || '/');
"""
_SUMS = """count(*) FILTER (kind = 'file') AS files,
  coalesce(sum(size_bytes) FILTER (kind = 'file'), 0) AS size_bytes,
  sum(allocated_bytes) AS allocated_bytes,
  coalesce(sum(allocated_bytes) FILTER (kind = 'file' AND days >= $purge), 0) AS purged_bytes"""


@dataclass(frozen=True)
class UsageRow:
    """What is of one owner, age, path or size.

    Attributes:
        name: Whose, or what: an owner's number, days as ``7 to 13``, a folder, bytes as text.
        files: How many files.
        size_bytes: What they hold.
        allocated_bytes: What they occupy, and their folders with them.
        purged_bytes: What of this a purge frees.
    """

    name: str
    files: int
    size_bytes: int
    allocated_bytes: int
    purged_bytes: int


@dataclass(frozen=True)
class Purge:
    """What a purge of an age frees: days, files, the bytes that they occupy, and of how many."""

    days: int
    files: int
    allocated_bytes: int
    owners: int


@dataclass(frozen=True)
class Usage:
    """What a scan's table answers.

    Attributes:
        scanned: What the scan says of itself.
        by: The rows by owner, age, path and size: the largest first, ages and sizes in order.
        purges: What purges of several ages free; the one asked for is among them.
        purge_days: The one asked for.
        bytes_by_day: Occupied bytes by age in days, the last of all older: shape (days,).
        depth: Into how many folders paths go.
        stat: What a `stat` of everything costs.
    """

    scanned: Scanned
    by: Mapping[str, tuple[UsageRow, ...]] = field(repr=False)
    purges: tuple[Purge, ...]
    purge_days: int
    bytes_by_day: npt.NDArray[np.float64] = field(repr=False)
    depth: int
    stat: StatCost

    @property
    def files(self) -> int:
        """How many files were asked about."""
        return sum(row.files for row in self.by["owner"])

    @property
    def size_bytes(self) -> int:
        """What they hold."""
        return sum(row.size_bytes for row in self.by["owner"])

    @property
    def allocated_bytes(self) -> int:
        """What they occupy, and their folders with them."""
        return sum(row.allocated_bytes for row in self.by["owner"])

    @property
    def purge(self) -> Purge:
        """The one asked for."""
        return next(one for one in self.purges if one.days == self.purge_days)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON can carry it."""
        return {
            **record(self, "by", "purge_days", "purges", "stat"),
            "scan": self.scanned.to_dict(),
        }


def usage(
    table: str | Path,
    *,
    purge_days: int = PURGE_DAYS,
    depth: int = 1,
    below: str = "",
    stripes: int | None = None,
) -> Usage:
    """Ask the table of a scan.

    Args:
        table: The Parquet file that `resilver scan -o` wrote.
        purge_days: From which age on a purge takes files.
        depth: Into how many folders paths go.
        below: Only what is below this folder of the scan; its own path is left out of paths.
        stripes: Objects a file that has none of its own counted, as where layouts are not known.

    Returns:
        All rows, by owner, age, path and size.

    Raises:
        ConfigError: It is no such table, or an option is out of range.
    """
    path = Path(table).expanduser()
    _check("purge", purge_days, 0, AGE_DAYS_MAX, "days")
    _check("depth", depth, 1, DEPTH_MAX, "folders")
    said = read_scanned(path)
    # The schema of a damaged table may be whole; what it holds is read here.
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    try:
        asked = _Asked(connection, path, said.begun_seconds, purge_days, below)
        if below and not asked.one("SELECT count(*) FROM rows")[0]:
            roots = [name for (name,) in asked.all("SELECT DISTINCT folder FROM every LIMIT 10000")]
            rule = "the scan has no such folder"
            raise ConfigError(rule, name_remedy(below, roots), "--below", show(below))
        return Usage(
            said,
            {name: _QUESTIONS[name](asked, depth) for name in BY},
            asked.purges({*AGE_BINS_DAYS, purge_days}),
            purge_days,
            asked.by_day(),
            depth,
            asked.stat(stripes),
        )
    except (duckdb.Error, OverflowError, TypeError, ValueError) as error:
        rule = f"it cannot be read to its end: {show(str(error).partition(chr(10))[0][:80])}"
        raise ConfigError(rule, "scan again", place=str(path)) from error
    finally:
        connection.close()


def _check(key: str, value: int, least: int, most: int, what: str) -> None:
    if not least <= value <= most:
        raise ConfigError(f"it is {least} to {most:,} {what}", "", f"--{key}", show(value))


class _Asked:
    """The rows of a scan as a view, and the questions that all share."""

    def __init__(
        self, connection: Any, path: Path, begun: float, purge_days: int, below: str
    ) -> None:
        self._connection = connection
        self._purge = purge_days
        connection.execute("SET VARIABLE begun = ?", [begun])
        connection.execute("SET VARIABLE path = ?", [escape(str(path))])
        below = below.strip("/")
        connection.execute("SET VARIABLE below = ?", [below])
        connection.execute(_VIEWS)

    def all(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        named = {"purge": self._purge} if "$purge" in query else {}
        found: list[tuple[Any, ...]] = self._connection.execute(query, named).fetchall()
        return found

    def one(self, query: str) -> tuple[Any, ...]:
        """Its only row."""
        return self.all(query)[0]

    def rows(self, name: str, order: str, source: str = "rows") -> tuple[UsageRow, ...]:
        """Sums by what a piece of SQL says, in an order."""
        query = f"SELECT {name} AS name, {_SUMS} FROM {source} GROUP BY name ORDER BY {order}"
        return tuple(UsageRow(str(first), *map(int, rest)) for first, *rest in self.all(query))

    def purges(self, ages: set[int]) -> tuple[Purge, ...]:
        """What purges of these ages free."""
        query = """SELECT count(*), coalesce(sum(allocated_bytes), 0), count(DISTINCT owner)
            FROM rows WHERE kind = 'file' AND days >= """
        return tuple(Purge(days, *map(int, self.one(f"{query} {days:d}"))) for days in sorted(ages))

    def by_day(self) -> npt.NDArray[np.float64]:
        """Occupied bytes of files by age in days."""
        query = f"""SELECT least(days, {AGE_DAYS_MAX})::INT AS day, sum(allocated_bytes)
            FROM rows WHERE kind = 'file' GROUP BY day"""
        found = np.zeros(AGE_DAYS_MAX + 1)
        for day, size in self.all(query):
            found[day] = float(size)
        return found

    def stat(self, stripes: int | None) -> StatCost:
        """What a stat of all asks the servers."""
        entries, files, known, objects = self.one(
            """SELECT count(*), count(*) FILTER (kind = 'file'), count(stripes),
            coalesce(sum(stripes), 0) FROM rows"""
        )
        return StatCost.of(int(entries), int(files), int(known), int(objects), stripes)


def _by_owner(asked: _Asked, depth: int) -> tuple[UsageRow, ...]:
    return asked.rows("owner", "allocated_bytes DESC, size_bytes DESC, name")


def _by_age(asked: _Asked, depth: int) -> tuple[UsageRow, ...]:
    edges = sorted(AGE_BINS_DAYS)
    named = [(0, f"under {edges[0]}")]
    named += [(low, f"{low} to {high - 1}") for low, high in pairwise(edges)]
    named += [(edges[-1], f"{edges[-1]} and more")]
    steps = " ".join(f"WHEN days >= {low} THEN {low}" for low, _ in reversed(named))
    files = "(SELECT * FROM rows WHERE kind = 'file')"
    words = dict(named)
    return tuple(
        replace(row, name=words[int(row.name)])
        for row in asked.rows(f"CASE {steps} END", "name", files)
    )


def _by_path(asked: _Asked, depth: int) -> tuple[UsageRow, ...]:
    # Folders are few beside files: each path is cut once.
    cut = f"array_to_string(list_slice(string_split(folder, '/'), 1, {depth:d}), '/')"
    query = f"""WITH folders AS (SELECT folder, {_SUMS} FROM rows GROUP BY folder)
        SELECT {cut} AS name, sum(files), sum(size_bytes), sum(allocated_bytes), sum(purged_bytes)
        FROM folders GROUP BY name ORDER BY 4 DESC, 3 DESC, name"""
    return tuple(UsageRow(name or ".", *map(int, rest)) for name, *rest in asked.all(query))


def _by_size(asked: _Asked, depth: int) -> tuple[UsageRow, ...]:
    # Base 2 has a digit more from each power of two on; a file of no bytes has none.
    power = "CASE WHEN size_bytes = 0 THEN -1 ELSE length(format('{:b}', size_bytes)) - 1 END"
    rows = asked.rows(power, "name", "(SELECT * FROM rows WHERE kind = 'file')")
    return tuple(
        replace(row, name="0" if row.name == "-1" else str(2 ** int(row.name))) for row in rows
    )


_QUESTIONS = {"owner": _by_owner, "age": _by_age, "path": _by_path, "size": _by_size}
