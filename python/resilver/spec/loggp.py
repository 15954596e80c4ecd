"""The tables of the LogGP fabric, which has a queue at each network interface.

A message of s bytes is delivered L + (s - 1) G after its send begins and keeps the interface at
each end busy for g + (s - 1) G. Sending and receiving queue apart (full duplex) and switches never
hold a message back.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from pydantic import ValidationInfo

from resilver import catalog
from resilver.errors import ConfigError, Problem, collected, raise_all, show
from resilver.importers.netgauge import (
    LogGpRow,
    LogGpTable,
    check_rows,
    parse_netgauge,
    read_netgauge,
)
from resilver.spec.section import TEXT, either, file_path, one_key
from resilver.units import Bytes, Seconds

_ROWS = {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 4, "maxItems": 4}}
LOGGP_SCHEMA = either({"netgauge": TEXT}, {"rows": _ROWS}, names=catalog.list("networks"))
"""What an editor is told of a LogGP table."""

_ROW = 'such as [["4 KiB", "6.78 us", "1.07 us", "0.000324 us"]], the last being a time a byte'


@cache
def catalog_table(name: str) -> LogGpTable:
    """A LogGP table of the catalog.

    Raises:
        ConfigError: There is none of this name.
    """
    content = catalog.load("networks", name).content
    if "rows" in content:
        return replace(_inline(content["rows"]), label=name)
    file = content["table"]
    return parse_netgauge(catalog.read_data("networks", file), name, file)


def table_of(value: object, info: ValidationInfo) -> LogGpTable:
    """The LogGP table that a study file's ``table`` means.

    Args:
        value: A catalog name, ``{ netgauge = "file.dat" }``, ``{ rows = [[size, L, g, G], ...] }``
            or a `LogGpTable`.

    Raises:
        ConfigError: There is no such table, or the file is not one.
    """
    if isinstance(value, LogGpTable):
        return _checked(value, "")
    if isinstance(value, str):
        return catalog_table(value)
    if not isinstance(value, dict):
        rule = "a LogGP table is a name of the catalog, a file or rows"
        remedy = 'write "qdr-infiniband" or { netgauge = "file.dat" }'
        raise ConfigError(rule, remedy, value=show(value))
    if one_key(value, ("netgauge", "rows")) == "rows":
        return _inline(value["rows"])
    return read_netgauge(file_path(value["netgauge"], info))


def _inline(rows: object) -> LogGpTable:
    if not isinstance(rows, list | tuple) or not rows:
        rule = "a LogGP table needs at least one row"
        raise ConfigError(rule, _ROW, key="rows", value=show(rows))
    parsed: list[LogGpRow] = []
    problems: list[Problem] = []
    for index, row in enumerate(rows):
        with collected(problems, f"rows.{index}"):
            if not isinstance(row, list | tuple) or len(row) != 4:
                raise ConfigError("a row is a size, L, g and G", _ROW, value=show(row))
            size, latency = Bytes.parse(row[0]), Seconds.parse(row[1])
            parsed.append(LogGpRow(size, latency, _signed(row[2]), _signed(row[3])))
    raise_all(problems)
    return _checked(LogGpTable("inline", tuple(parsed)), "rows")


def _signed(value: object) -> float:
    """A gap, which a fit may make negative; G is a time a byte and is written as a time."""
    if isinstance(value, str) and value.lstrip().startswith("-"):
        return -Seconds.parse(value.lstrip()[1:])
    return Seconds.parse(value)


def _checked(table: LogGpTable, key: str) -> LogGpTable:
    if not table.rows:
        raise ConfigError("a LogGP table needs at least one row", _ROW)
    prefix = f"{key}." if key else ""
    problems = [
        Problem(rule, remedy, key=f"{prefix}{index}")
        for index, rule, remedy in check_rows(table.rows)
    ]
    raise_all(problems)
    return table
