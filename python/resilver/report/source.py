"""What a report needs of a study's results, and which run stands for each system."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from resilver.errors import ConfigError
from resilver.units import BYTE_UNITS, exact_rate, shortest_text

if TYPE_CHECKING:
    import pyarrow as pa


class ResultsLike(Protocol):
    """The tables and records of one run folder; `resilver.study.Results` is one."""

    @property
    def runs(self) -> pa.Table:
        """One row a run: its key, the swept values, the seed, then the metrics."""
        ...

    @property
    def servers(self) -> pa.Table:
        """One row a run and server."""
        ...

    @property
    def transfers(self) -> pa.Table:
        """One row a run, source and destination."""
        ...

    @property
    def timeline(self) -> pa.Table:
        """One row a run and interval of time."""
        ...

    @property
    def links(self) -> pa.Table:
        """One row a run and link of its network."""
        ...

    @property
    def distributions(self) -> pa.Table:
        """One row a run, quantity and bin of its histogram."""
        ...

    @property
    def traffic(self) -> pa.Table:
        """One row a run and interval of what clients got."""
        ...

    @property
    def lanes(self) -> pa.Table:
        """One row a run, part of the system and class of traffic."""
        ...

    @property
    def lending(self) -> pa.Table:
        """One row a run, part of the system, lender and borrower."""
        ...

    @property
    def stripe_groups(self) -> pa.Table:
        """One row a run and group of servers that streams go over."""
        ...

    @property
    def pools(self) -> pa.Table:
        """One row a run and pool."""
        ...

    @property
    def limits(self) -> pa.Table:
        """One row a run and part that the device waited for which made the last lost piece."""
        ...

    @property
    def study(self) -> dict[str, Any]:
        """The study as resolved."""
        ...

    @property
    def provenance(self) -> dict[str, Any]:
        """Which version, host and command made the results."""
        ...


Row = dict[str, Any]


@dataclass(frozen=True)
class SystemRuns:
    """The runs of one swept system, that is, of one combination of the swept values.

    Args:
        swept: The swept values by their dotted key; empty in a study without a sweep.
        rows: The rows of the table `runs`, one a seed.
        median: The row whose rebuild time is the median (the lower one of two); without a rebuild
            the one whose goodput is.
    """

    swept: dict[str, Any]
    rows: tuple[Row, ...]
    median: Row

    @property
    def label(self) -> str:
        """The swept values in words, such as `cluster.servers = 64`."""
        if not self.swept:
            return "the system"
        return ", ".join(f"{key} = {format_swept(key, value)}" for key, value in self.swept.items())

    @property
    def devices(self) -> int:
        """The number of devices of the system, 0 where the results do not say."""
        return int(number(self.median, "servers") or 0)


_BYTE_KEYS = frozenset(
    {
        "pipeline_buffer",
        "receive_memory",
        "send_memory",
        "control_message",
        "bytes",
        "bytes_per_server",
        "file_size",
        "chunk",
        "stripe_unit",
    }
)


def is_bytes_key(key: str) -> bool:
    """Whether the values of a study file's dotted key are sizes in bytes."""
    return key.rsplit(".", 1)[-1] in _BYTE_KEYS


_SECONDS_KEYS = frozenset({"at", "timeout", "interval", "warm_up", "duration", "repair_after"})
_EXACT_TIMES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_RATE_KEYS = frozenset({"bandwidth"})


def format_swept(key: str, value: object) -> str:
    """One swept value for people: quantities exactly and with their unit, counts with separators.

    >>> format_swept("faults.1.at", 90.0), format_swept("faults.1.at", 600.0)
    ('90 s', '10 min')
    >>> format_swept("recovery.bandwidth", 50e6), format_swept("cluster.servers", 1024)
    ('50 MB/s', '1,024')
    """
    last = key.rsplit(".", 1)[-1]
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int) and is_bytes_key(key):
        return shortest_text(value, BYTE_UNITS)
    if isinstance(value, int | float) and last in _SECONDS_KEYS:
        size, unit = next(pair for pair in _EXACT_TIMES if value % pair[0] == 0 or pair[0] == 1)
        return f"{value / size:,g} {unit}" if value else "0 s"
    if isinstance(value, int | float) and last in _RATE_KEYS:
        return exact_rate(value)
    if isinstance(value, int | float):
        return f"{value:,}"
    return str(value)


def number(row: Row, column: str) -> float | None:
    """A metric of a run as a number, or None where it is absent, null or not finite."""
    value = row.get(column)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def swept_keys(results: ResultsLike) -> list[str]:
    """The swept keys, in the order of their columns: those between `run` and `seed`."""
    names = list(results.runs.column_names)
    return names[names.index("run") + 1 : names.index("seed")]


def systems(results: ResultsLike) -> list[SystemRuns]:
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
    return [
        SystemRuns(dict(zip(keys, values, strict=True)), tuple(rows), _median_row(rows))
        for values, rows in grouped.items()
    ]


def largest(points: list[SystemRuns]) -> SystemRuns:
    """The system that stands for the study: most devices, most bytes rebuilt, then the last."""
    return max(
        enumerate(points),
        key=lambda item: (item[1].devices, number(item[1].median, "rebuilt_bytes") or 0.0, item[0]),
    )[1]


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


def with_swept(study: dict[str, Any], swept: dict[str, Any]) -> dict[str, Any]:
    """A copy of the study's sections with the swept values put in at their dotted keys."""
    copy: dict[str, Any] = study
    for key, value in swept.items():
        copy = _put(copy, key.split("."), value)
    return copy


def _put(place: object, path: list[str], value: object) -> Any:
    """A copy of a table or list with a value set at a path of keys and of positions in lists."""
    if not path:
        return value
    head, *rest = path
    if isinstance(place, list | tuple):
        items = list(place)
        if head.isdecimal() and int(head) < len(items):
            items[int(head)] = _put(items[int(head)], rest, value)
        return items
    table = place if isinstance(place, dict) else {}
    return {**table, head: _put(table.get(head), rest, value)}
