"""A trace as a file that Perfetto opens: lanes of slices, and counters.

Source: the messages `Trace`, `TracePacket`, `TrackDescriptor`, `TrackEvent`, `CounterDescriptor`
and `DebugAnnotation` of Perfetto's published schema (protos/perfetto/trace), by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_COUNT, _BYTES = 2, 3
_SEQUENCE = 1
_NS = 1e9

_Reals = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.int64]
_Slice = tuple[int, int, str, Mapping[str, Any]]


def perfetto_trace(tables: Mapping[str, pa.Table]) -> bytes:
    """The tables of a trace as a Perfetto trace.

    Each port has a lane for each direction, each device one, and each place that waits one; the
    memory of recovery, the queues of devices and the engine are counters.

    Args:
        tables: As of `trace`, by name.

    Returns:
        The content of the file.
    """
    file = _File()
    _ports(file, tables["messages"])
    _devices(file, tables["disks"])
    _memory(file, tables)
    _waits(file, tables["waits"])
    _engine(file, tables["engine"])
    return b"".join(file.packets)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# Keys and lengths are few, and so is most of what is known of slices.
_small = lru_cache(1 << 16)(_varint)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _small(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _small(number << 3 | 2) + _small(len(content)) + content


class _File:
    """The packets of a trace, written one after another."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self._tracks = 0
        self._sequence = _field(10, _SEQUENCE)

    def track(self, name: str, parent: int = 0, unit: int | None = None) -> int:
        """A track in another: a counter where it has a unit, else a lane or what lanes are in."""
        self._tracks += 1
        told = _field(1, self._tracks) + _field(2, name) + (_field(5, parent) if parent else b"")
        if unit is not None:
            told += _field(8, _field(3, unit))
        # Tracks stand in the order in which they are written.
        told += _field(11, 3) + _field(12, self._tracks)
        self._packet(_field(60, told))
        return self._tracks

    def slices(self, track: int, rows: Iterable[_Slice]) -> None:
        """Slices that follow each other: begin and end in nanoseconds, name, and what is known."""
        of_track = _field(11, track)
        for begin, end, name, known in rows:
            told = b"".join(_annotation(*pair) for pair in known.items() if pair[1] is not None)
            self._event(begin, _field(9, _BEGIN) + of_track + _field(23, name) + told)
            self._event(end, _field(9, _END) + of_track)

    def instant(self, track: int, time: int, name: str) -> None:
        """Something that happens at one time."""
        self._event(time, _field(9, _INSTANT) + _field(11, track) + _field(23, name))

    def counter(self, track: int, rows: Iterable[tuple[int, int]]) -> None:
        """A counter's values from times on, in nanoseconds."""
        of_track = _field(9, _COUNTER) + _field(11, track)
        for time, value in rows:
            self._event(time, of_track + _field(30, value))

    def _event(self, time: int, event: bytes) -> None:
        self._packet(_field(8, time) + _field(11, event))

    def _packet(self, content: bytes) -> None:
        self.packets.append(_field(1, content + self._sequence))


@lru_cache(1 << 16)
def _annotation(name: str, value: int | str) -> bytes:
    content = _field(6, value) if isinstance(value, str) else _field(4, value)
    return _field(4, _field(10, name) + content)


def _nanoseconds(seconds: _Reals) -> _Whole:
    return np.rint(seconds * _NS).astype(np.int64)


def _reals(table: pa.Table, column: str) -> _Reals:
    return np.asarray(table[column], dtype=np.float64)


def _groups(table: pa.Table, column: str) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each name in a column, by name in the order of the parts' numbers."""
    if not table.num_rows:
        return
    cells = table[column].cast(pa.string())
    for name in sorted(pc.unique(cells).drop_null().to_pylist(), key=_by_number):
        yield name, table.filter(pc.equal(cells, name))


def _by_number(name: str) -> tuple[str, int, str]:
    head, _, tail = name.partition(".")
    number = tail.split(" ")[0]
    return head, int(number) if number.isdecimal() else 0, tail


def _lane(begins: _Reals, ends: _Reals) -> tuple[_Whole, _Whole, _Whole]:
    """Slices of a lane that serves one after another: each begins when the one before has ended.

    Returns:
        The order of the rows, and in it when each begins and ends, in nanoseconds.
    """
    order = np.lexsort((begins, ends))
    ends = ends[order]
    before = np.concatenate([[-np.inf], ends[:-1]])
    return order, _nanoseconds(np.maximum(begins[order], before)), _nanoseconds(ends)


def _slices(
    rows: pa.Table, lane: tuple[_Whole, _Whole, _Whole], name: str, known: Iterable[str]
) -> Iterator[_Slice]:
    """The slices of a lane, with the name and what is known of the rows."""
    names = rows[name].to_pylist()
    cells = {column: rows[column].to_pylist() for column in known}
    for row, begin, end in zip(*(part.tolist() for part in lane), strict=True):
        yield begin, end, names[row], {column: of[row] for column, of in cells.items()}


def _ports(file: _File, messages: pa.Table) -> None:
    """What each port sends and receives; messages between devices of a host pass none."""
    parent = file.track("Ports")
    crossing = messages.filter(pc.not_equal(*(messages[end].cast(pa.string()) for end in _ENDS)))
    for end, verb in zip(_ENDS, ("sends", "receives"), strict=True):
        for name, rows in _groups(crossing, end):
            track = file.track(f"{name} {verb}", parent)
            _port(file, track, rows, is_sender=end == "source")


_ENDS = ("source", "destination")


def _port(file: _File, track: int, rows: pa.Table, *, is_sender: bool) -> None:
    if is_sender:
        begin, end, other = "handed_seconds", "left_seconds", "destination"
        over = rows.filter(pc.is_valid(rows[end]))
    else:
        begin, end, other = "left_seconds", "ended_seconds", "source"
        over = rows.filter(pc.and_(pc.equal(rows["state"], "delivered"), pc.is_valid(rows[begin])))
    ends = _reals(over, end)
    # A port may be done with a message only after that has arrived.
    lane = _lane(np.minimum(_reals(over, begin), ends), ends)
    file.slices(track, _slices(over, lane, "kind", (other, *_KNOWN)))
    if is_sender:
        lost = rows.filter(pc.equal(rows["state"], "lost"))
        for time in _nanoseconds(_reals(lost, "ended_seconds")).tolist():
            file.instant(track, time, "lost")


_KNOWN = ("bytes", "class", "object", "piece", "buffer")


def _devices(file: _File, disks: pa.Table) -> None:
    """What each device serves, and how many requests are queued there or being served."""
    parent = file.track("Devices")
    for name, rows in _groups(disks, "device"):
        served = rows.filter(pc.equal(rows["state"], "served"))
        ends = (_reals(served, f"{end}_seconds") for end in ("begun", "ended"))
        known = ("bytes", "class", "object")
        file.slices(file.track(name, parent), _slices(served, _lane(*ends), "direction", known))
        _held(file, f"{name} queue", parent, _COUNT, [_spans(rows, "queued", "ended", None)])


def _spans(table: pa.Table, begin: str, end: str, amount: str | None) -> tuple[Any, Any, Any]:
    """From when until when rows hold how much; one each where no column says."""
    amounts = np.ones(table.num_rows) if amount is None else _reals(table, amount)
    return _reals(table, f"{begin}_seconds"), _reals(table, f"{end}_seconds"), amounts


def _held(file: _File, name: str, parent: int, unit: int, spans: list[Any]) -> None:
    """A counter of what is held over time, by spans whose end may never come."""
    times = np.concatenate([time for begin, end, _ in spans for time in (begin, end)])
    steps = np.concatenate([step for *_, amount in spans for step in (amount, -amount)])
    comes = np.isfinite(times)
    at, places = np.unique(_nanoseconds(times[comes]), return_inverse=True)
    levels = np.cumsum(np.bincount(places, steps[comes], minlength=len(at)))
    values = np.rint(levels).astype(np.int64)
    if len(at):
        file.counter(file.track(name, parent, unit), zip(at.tolist(), values.tolist(), strict=True))


def _memory(file: _File, tables: Mapping[str, pa.Table]) -> None:
    """The memory of recovery: of destinations while a buffer is under way, of sources while a
    part is read and sent."""
    parent = file.track("Memory of recovery")
    for name, rows in _groups(tables["buffers"], "device"):
        spans = [_spans(rows, "asked", "ended", "gathered_bytes")]
        _held(file, f"{name} receive memory", parent, _BYTES, spans)
    disks, messages = tables["disks"], tables["messages"]
    is_read = pc.and_(pc.equal(disks["direction"], "read"), pc.is_valid(disks["object"]))
    sent = dict(_groups(messages.filter(pc.equal(messages["kind"], "data")), "source_device"))
    read = dict(_groups(disks.filter(is_read), "device"))
    for name in sorted({*sent, *read}, key=_by_number):
        spans = [_spans(read[name], "queued", "ended", "bytes")] if name in read else []
        if name in sent:
            spans.append(_spans(sent[name], "handed", "left", "bytes"))
        _held(file, f"{name} send memory", parent, _BYTES, spans)


def _waits(file: _File, waits: pa.Table) -> None:
    """Lanes of destinations that ask for nothing, and how many requests wait at sources."""
    parent = file.track("Waits of recovery")
    at_sources = pc.equal(waits["waits_for"], "send memory")
    for name, rows in _groups(waits.filter(pc.invert(at_sources)), "device"):
        over = rows.filter(pc.is_valid(rows["ended_seconds"]))
        ends = (_reals(over, f"{end}_seconds") for end in ("begun", "ended"))
        track = file.track(f"{name} held back", parent)
        file.slices(track, _slices(over, _lane(*ends), "waits_for", ()))
    for name, rows in _groups(waits.filter(at_sources), "device"):
        spans = [_spans(rows, "begun", "ended", None)]
        _held(file, f"{name} requests that wait for send memory", parent, _COUNT, spans)


def _engine(file: _File, engine: pa.Table) -> None:
    """Events that were executed in each interval, by kind, and those pending at its end."""
    parent = file.track("Engine")
    starts = _reals(engine, "start_seconds")
    for column in engine.column_names[2:]:
        is_pending = column == "pending_events"
        times = starts + _reals(engine, "duration_seconds") if is_pending else starts
        values = engine[column].to_pylist()
        if any(values):
            track = file.track(column.replace("_", " "), parent, _COUNT)
            file.counter(track, zip(_nanoseconds(times).tolist(), values, strict=True))
