"""Measured rates of layers: read from CSV, or from what benchmark programs wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from resilver.center.benchmarks import LayerCost, best, costs
from resilver.center.layering import Measured
from resilver.center.rates_file import SI_COLUMN, rate_in, rate_rows, text_in
from resilver.errors import ConfigError, name_remedy, placed, show
from resilver.importers.benchmarks import Benchmark, is_benchmark, read_benchmarks
from resilver.spec.tree import Tree
from resilver.text import refuse
from resilver.units import Bytes

_COLUMNS = ("layer", "rate", SI_COLUMN, "mode", "size", "parts")
_MODES = ("read", "write")
_SERVERS = ("server", "oss", "nsd", "host", "node")
"""What the level of servers is called."""


@dataclass(frozen=True)
class MeasuredFiles:
    """What several files of measured rates say.

    Attributes:
        rates: The rates, of layers of the study.
        costs: What layers cost that benchmarks measured alike.
        notes: What was left out, or taken for what.
    """

    rates: tuple[Measured, ...] = ()
    costs: tuple[LayerCost, ...] = ()
    notes: tuple[str, ...] = ()


def read_measured(given: Sequence[str | Path], tree: Tree | None = None) -> MeasuredFiles:
    """Read rates that were measured of layers.

    Args:
        given: Files: what benchmark programs wrote, see `read_benchmarks`, or CSV with a header:
            ``layer`` and ``rate`` (with its unit) or ``rate_bytes_per_second``; ``parts``, how many
            of the layer were measured together; ``mode`` (read or write) and ``size`` of a request
            where they are known. ``LEVEL=FILE`` says of which level the devices of a benchmark are.
        tree: The parts of the study, which say what the devices of benchmarks are: by default the
            sets of devices, or the devices themselves where there are no sets.

    Raises:
        ConfigError: A column is missing, a cell is not what its column says, or a benchmark cannot
            be read or has no level in the study.
    """
    found: list[Measured] = []
    notes: list[str] = []
    rows: list[Benchmark] = []
    for one in given:
        level, path = _named(one)
        if level is None and not is_benchmark(path):
            for made in _of_csv(path):
                _add(made, found)
            continue
        read = read_benchmarks(path)
        notes += read.notes
        rows += read.rows
        for made in _of_benchmarks(read.rows, level, tree, path, notes):
            _add(made, found)
    return MeasuredFiles(tuple(found), tuple(costs(rows)), tuple(dict.fromkeys(notes)))


def _named(given: str | Path) -> tuple[str | None, Path]:
    """The level that a file's benchmarks are of, if it is said, and the file."""
    path = Path(given).expanduser()
    level, sign, name = str(given).partition("=")
    if not sign or not level.isidentifier() or path.is_file():
        return None, path
    return level, Path(name).expanduser()


def _add(one: Measured, found: list[Measured]) -> None:
    of_both = attrgetter("layer", "parts", "mode", "size")
    twice = next((other for other in found if of_both(other) == of_both(one)), None)
    if twice is not None:
        rule = f"{show(one.layer)} stands twice, as at {twice.place}"
        refuse(one.place, rule, "remove one, or take their mean")
    found.append(one)


def _of_csv(path: Path) -> list[Measured]:
    names, rows = rate_rows(path, "layer", _COLUMNS, "a layer")
    return [
        Measured(
            text_in(row, "layer", place),
            rate_in(row, place),
            _parts(row, place) if "parts" in names else None,
            _mode(row, place) if "mode" in names else None,
            _size(row, place) if "size" in names else None,
            place,
        )
        for place, row in rows
    ]


def _of_benchmarks(
    rows: Sequence[Benchmark], level: str | None, tree: Tree | None, path: Path, notes: list[str]
) -> list[Measured]:
    """The best rates of benchmarks as those of layers of a study."""
    found, told = [], set()
    for row in best(rows):
        layer, parts, words = _layer_of(row, level, tree)
        if words and words not in told:
            told.add(words)
            notes.append(f"{row.file}: {words}")
        if layer is None:
            continue
        rate, mode, size = row.bytes_per_second or 0.0, row.mode, row.request_bytes
        found.append(Measured(layer, rate, parts, mode, size, row.place, is_stacked=True))
    if not found:
        why = f": {notes[-1]}" if notes else ""
        refuse(path, f"it has no rate of a layer of this study{why}", "give rates of data")
    return found


def _layer_of(
    row: Benchmark, level: str | None, tree: Tree | None
) -> tuple[str | None, int | None, str]:
    """The study's layer of a rate, how many of its parts were measured, and what to say of it."""
    if row.layer == "file system" and level is None:
        return "clients", None, ""
    if tree is None:
        return "server", row.devices, ""
    sets = next((side.name for side in tree.sides if side.size), tree.device_level)
    if level is not None:
        if level not in tree.names:
            remedy = name_remedy(level, tree.names, "levels")
            rule = f"the study has no level {show(level)}"
            raise ConfigError(rule, remedy, key="measured", value=show(level))
        sets = level if row.layer == "block" else sets
    if row.devices is None:
        return None, None, "it does not say how many devices worked together: left out"
    devices = row.devices * tree.size(sets)
    layer = tree.device_level if row.layer == "block" else level or _server_level(tree)
    if layer is None:
        rule = "no level of the study is called as servers are"
        remedy = "say of which it is: --measured LEVEL=FILE"
        raise ConfigError(rule, remedy, key="measured", value=show(row.file))
    each, have = tree.size(layer), tree.count(sets) or 0
    if row.devices > have:
        rule = f"{row.devices:,} devices worked together, and the study has {have:,} of {sets}"
        refuse(row.place, rule, "is this of another system? LEVEL=FILE says what its devices are")
    if devices % each:
        return None, None, f"{row.devices:,} of {sets} are no whole number of {layer}: left out"
    words = "" if sets == tree.device_level else f"its devices are taken for the study's {sets}"
    return layer, devices // each, words


def _server_level(tree: Tree) -> str | None:
    return next((name for name in tree.names if name in _SERVERS), None)


def _parts(row: dict[str, Any], place: str) -> int | None:
    text = str(row.get("parts") or "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        refuse(place, f"parts = {show(text)}: this is how many were measured", "such as 1")
    return int(text)


def _mode(row: dict[str, Any], place: str) -> str | None:
    text = str(row.get("mode") or "").strip()
    if text and text not in _MODES:
        refuse(
            place, f"mode = {show(text)}: rates are of reads or of writes", "write read or write"
        )
    return text or None


def _size(row: dict[str, Any], place: str) -> int | None:
    text = str(row.get("size") or "").strip()
    if not text:
        return None
    with placed(place, key="size"):
        return int(Bytes.parse(text))
