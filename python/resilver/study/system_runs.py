"""What a report needs of a study's results, and which run stands for each system."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from resilver.errors import ConfigError
from resilver.failure_rates import WrittenQuantity
from resilver.quantities import LinkRate
from resilver.spec.problems import field_of, kinds_in
from resilver.spec.sweep import section_models
from resilver.spec.system import System
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes, exact_rate

if TYPE_CHECKING:
    from resilver.study.results import StudyTables

Row = dict[str, Any]


@dataclass(frozen=True)
class SystemRuns:
    """The runs of one swept system, that is, of one combination of the swept values.

    Args:
        swept: The swept values by their dotted key; empty in a study without a sweep.
        rows: The rows of the table `runs`, one a seed.
        median: The row whose rebuild time is the median (the lower one of two); without a rebuild
            the one whose goodput is.
        system: The system as the study declares it; None where its inputs are not at hand.
    """

    swept: dict[str, Any]
    rows: tuple[Row, ...]
    median: Row
    system: System | None = None

    @property
    def label(self) -> str:
        """The swept values in words, such as `cluster.servers = 64`."""
        if not self.swept:
            return "the system"
        return ", ".join(f"{key} = {format_swept(key, value)}" for key, value in self.swept.items())

    @property
    def short_label(self) -> str:
        """The swept value where one key is swept, by itself where it is a word: `copies 3`."""
        if len(self.swept) != 1:
            return self.label
        ((key, value),) = self.swept.items()
        text = format_swept(key, value)
        return text if isinstance(value, str) else f"{key.rpartition('.')[2]} = {text}"

    def known(self, column: str) -> list[float]:
        """A metric of every run that has it."""
        return [value for row in self.rows if (value := number(row, column)) is not None]

    def middle(self, column: str) -> float | None:
        """The median of a metric over the runs that have it; None where none has."""
        values = self.known(column)
        return float(statistics.median(values)) if values else None

    @property
    def devices(self) -> int:
        """The number of devices of the system, 0 where the results do not say."""
        return int(number(self.median, "servers") or 0)

    @property
    def holder(self) -> str:
        """What holds data, in the singular: "server", "OSD" or the level of the devices."""
        cluster = self.system.cluster if self.system is not None else None
        if cluster is None or not (cluster.ceph or cluster.parts):
            return "server"
        level = cluster.tree.device_level if cluster.tree is not None else "osd"
        return level.upper() if level in ("osd", "ost") else level

    @property
    def is_coded(self) -> bool:
        """Whether any of what is stored is cut into pieces by a code."""
        system = self.system
        if system is None:
            return bool(number(self.median, "decoded_bytes"))
        codes = (pool.code for pool in system.of_pools)
        return any(code is not None and code.family != "copies" for code in codes)

    @property
    def piece(self) -> str:
        """What is lost and rebuilt, in the singular: a replica, or of a coded system a piece."""
        return "piece" if self.is_coded else "replica"

    @property
    def last_words(self) -> str:
        """How little an object at risk has left."""
        return "at zero redundancy" if self.is_coded else "down to one replica"

    @property
    def first_fault_seconds(self) -> float:
        """When the first fault begins, from the beginning of the run; 0 where nobody knows."""
        faults = self.system.faults if self.system is not None else ()
        return min((float(fault.at) for fault in faults if not fault.corrupt), default=0.0)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class of each device, by index; empty where devices have none."""
        if self.system is None:
            return ()
        cluster = self.system.cluster
        kinds = cluster.device_kinds
        names = tuple(kinds[kind].device_class or "" for kind in cluster.kind_of)
        return names if any(names) else ()


_EXACT_TIMES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@cache
def unit_of(key: str) -> type[Any]:
    """The type of the values of a study file's dotted key: `Bytes`, `Seconds`, ... or `object`.

    >>> unit_of("recovery.bandwidth").__name__, unit_of("faults.1.at").__name__
    ('BytesPerSecond', 'Seconds')
    """
    head, *path = key.split(".")
    found: list[type[Any]] = [section_models().get(head, object)]
    # An item of a list goes by its place.
    for part in (one for one in path if not one.isdecimal()):
        fields = [field_of(kind, part) for kind in found if issubclass(kind, BaseModel)]
        found = [kind for field in fields if field for kind in kinds_in(field.annotation)]
    units = (Bytes, Seconds, LinkRate, BytesPerSecond, *WrittenQuantity.__subclasses__())
    return next((unit for unit in units if unit in found), object)


def format_swept(key: str, value: object) -> str:
    """One swept value for people: quantities exactly and with their unit, counts with separators.

    >>> format_swept("faults.1.at", 90.0), format_swept("faults.1.at", 600.0)
    ('90 s', '10 min')
    >>> format_swept("recovery.bandwidth", 50e6), format_swept("cluster.servers", 1024)
    ('50 MB/s', '1,024')
    >>> format_swept("durability.mission", 315_576_000.0)
    '10 y'
    >>> format_swept("durability.failures.0.afr", 0.01)
    '1 %'
    """
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if not isinstance(value, int | float):
        return str(value)
    unit = unit_of(key)
    if unit is Bytes and value == int(value):
        return exact_bytes(int(value))
    if unit is Seconds:
        size, name = next(pair for pair in _EXACT_TIMES if value % pair[0] == 0 or pair[0] == 1)
        return f"{value / size:,g} {name}" if value else "0 s"
    if issubclass(unit, WrittenQuantity):
        return unit(value).as_text()
    if issubclass(unit, BytesPerSecond):
        return exact_rate(value, bits=unit is LinkRate)
    return f"{value:,}"


def number(row: Row, column: str) -> float | None:
    """A metric of a run as a number, or None where it is absent, null or not finite."""
    value = row.get(column)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def swept_keys(results: StudyTables) -> list[str]:
    """The swept keys, in the order of their columns: those between `run` and `seed`."""
    names = list(results.runs.column_names)
    return names[names.index("run") + 1 : names.index("seed")]


def short_names(keys: Sequence[str]) -> list[str]:
    """The last words of dotted keys, where they tell the keys apart; else the whole keys.

    Args:
        keys: Swept keys, such as ``cluster.servers``.
    """
    last = [key.rpartition(".")[2] for key in keys]
    return last if len(set(last)) == len(last) else list(keys)


def systems(results: StudyTables) -> list[SystemRuns]:
    """The swept systems in the order of their first runs.

    Raises:
        ConfigError: There is no finished run to report on.
    """
    keys = swept_keys(results)
    grouped: dict[tuple[object, ...], list[Row]] = {}
    for row in results.runs.to_pylist():
        grouped.setdefault(tuple(row[key] for key in keys), []).append(row)
    if not grouped:
        raise ConfigError(
            "the run folder holds no finished run, and a report needs one; "
            "finish the study with `resilver run`"
        )
    typed: dict[tuple[object, ...], System] = {
        tuple(point.swept[key] for key in keys): point.system for point in results.systems
    }
    return [
        SystemRuns(
            dict(zip(keys, values, strict=True)),
            tuple(rows),
            _median_row(rows),
            typed.get(values) or (results.systems[0].system if len(results.systems) == 1 else None),
        )
        for values, rows in grouped.items()
    ]


def largest(points: list[SystemRuns]) -> SystemRuns:
    """The system that stands for the study: most devices, most bytes rebuilt, then the last."""
    return max(
        enumerate(points),
        key=lambda item: (item[1].devices, number(item[1].median, "rebuilt_bytes") or 0.0, item[0]),
    )[1]


def bursts_alone(point: SystemRuns) -> bool:
    """Whether bursts are all that clients of a system ask for, so that they have no goodput."""
    asks = point.system is not None and point.system.has_bursts
    return asks and not any(row.get("throughput_bytes_per_second") for row in point.rows)


def serves_only(rows: Iterable[Row]) -> bool:
    """Whether clients ask of a system that stores nothing which a failure could make it rebuild.

    Args:
        rows: Rows of the table `runs`.
    """
    kept = list(rows)
    clients = any(number(row, "requests_completed") is not None for row in kept)
    return clients and not any(number(row, "population_objects") for row in kept)


def _median_row(rows: list[Row]) -> Row:
    """The run of median rebuild time or goodput; of two middle ones the lower: it did happen."""
    served = "throughput_bytes_per_second"
    for column in (served,) if serves_only(rows) else ("rebuild_seconds", served):
        known = sorted(
            (value, int(row["seed"]), rank)
            for rank, row in enumerate(rows)
            if (value := number(row, column)) is not None
        )
        if known:
            return rows[known[(len(known) - 1) // 2][2]]
    return rows[0]
