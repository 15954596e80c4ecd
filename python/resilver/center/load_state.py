"""What is busy in a file system and how full it is, put together from several logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.lctl import is_devices, is_dump, read_devices, read_dumps
from resilver.importers.lfs_df import is_df, read_last_df
from resilver.importers.log_rows import UP, PartLoad, worse_state
from resilver.importers.run_devices import read_run_devices
from resilver.importers.tokio import MAGIC, WINDOW_SECONDS, read_tokio
from resilver.spec import Study
from resilver.text import decode, read_bytes, refuse
from resilver.units import format_duration

Floats = npt.NDArray[np.float64]
Column = Sequence[float] | npt.NDArray[np.floating | np.integer]

_NUMBER = re.compile(r"[0-9a-f]{4,}")
_NAMED_MAX = 8
_OLD_SECONDS = 3600.0
_MEASURED = ("read_bytes_per_second", "write_bytes_per_second", "streams", "fill", "seconds")


@dataclass(frozen=True, eq=False)
class LoadState:
    """What is busy and how full: a row a target.

    Attributes:
        targets: Their names, in the order of their numbers.
        read_bytes_per_second: What each reads: shape (targets,), NaN where nothing says.
        write_bytes_per_second: What each writes: likewise.
        streams: How many clients read or write there: likewise.
        fill: The share of it that is used: likewise.
        seconds: Since 1970, when that was: likewise.
        servers: The server of each; empty where nothing says.
        states: ``up``, ``degraded``, or why it cannot be written (see `PartLoad`).
        advised: Streams of jobs that were advised since: shape (targets,).
        advised_routers: The same of the routers of a machine: shape (routers,), or none.
        notes: What a reader of an answer must know of how this was put together.
    """

    targets: tuple[str, ...] = field(repr=False)
    read_bytes_per_second: Floats = field(repr=False)
    write_bytes_per_second: Floats = field(repr=False)
    streams: Floats = field(repr=False)
    fill: Floats = field(repr=False)
    seconds: Floats = field(repr=False)
    servers: tuple[str, ...] = field(repr=False)
    states: tuple[str, ...] = field(repr=False)
    advised: Floats = field(repr=False)
    advised_routers: Floats | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        targets: int | Sequence[str],
        *,
        streams: Column | None = None,
        write_bytes_per_second: Column | None = None,
        fill: Column | None = None,
        servers: Sequence[str] | None = None,
    ) -> Self:
        """A state that a program knows already.

        Args:
            targets: Their names, or how many there are: OST0000 and so on.
            streams: How many clients read or write at each; none by default.
            write_bytes_per_second: What each moves.
            fill: The share of each that is used.
            servers: The server of each.

        Raises:
            ConfigError: There is no target, a list is of another length, or has impossible values.

        >>> LoadState.of(3, streams=[0, 2, 1]).targets
        ('OST0000', 'OST0001', 'OST0002')
        """
        names = (
            tuple(f"OST{number:04x}" for number in range(targets))
            if isinstance(targets, int)
            else tuple(targets)
        )
        if not names or len(set(names)) < len(names):
            raise ConfigError("a state has targets, each of a name of its own", "", "targets")
        given = {"write_bytes_per_second": write_bytes_per_second, "fill": fill, "streams": streams}
        columns: dict[str, Any] = {
            name: _column(name, values, len(names)) for name, values in given.items()
        }
        if servers is not None and len(servers) != len(names):
            rule = f"there are {len(names)} targets"
            raise ConfigError(rule, "give the server of each", "servers", show(len(servers)))
        if streams is None and write_bytes_per_second is None:
            columns["streams"] = np.zeros(len(names))
        unknown = np.full(len(names), np.nan)
        return cls(
            targets=names,
            read_bytes_per_second=unknown,
            seconds=unknown,
            servers=tuple(servers or ("",) * len(names)),
            states=(UP,) * len(names),
            advised=np.zeros(len(names)),
            **columns,
        )

    @cached_property
    def filesystems(self) -> tuple[str, ...]:
        """The file systems that the targets are of, by name."""
        return tuple(sorted({_split(name)[0] for name in self.targets}))

    @cached_property
    def numbers(self) -> tuple[int | None, ...]:
        """The number of each target in its file system, which its name ends with."""
        return tuple(_split(name)[1] for name in self.targets)

    @cached_property
    def bytes_per_second(self) -> Floats:
        """What each target reads and writes; NaN where nothing says."""
        both = np.stack([self.read_bytes_per_second, self.write_bytes_per_second])
        return np.where(np.isnan(both).all(axis=0), np.nan, np.nansum(both, axis=0))

    @cached_property
    def is_load_known(self) -> npt.NDArray[np.bool_]:
        """Of which targets the load is known."""
        return np.asarray(~(np.isnan(self.bytes_per_second) & np.isnan(self.streams)))

    def only(self, filesystem: str) -> Self:
        """The targets of one file system.

        Args:
            filesystem: Its name.

        Raises:
            ConfigError: The state has none of it.
        """
        names = self.filesystems
        if filesystem not in names:
            rule = "the state has no such file system"
            remedy = name_remedy(filesystem, names)
            raise ConfigError(rule, remedy, "--filesystem", show(filesystem))
        if len(names) == 1:
            return self
        kept = [at for at, name in enumerate(self.targets) if _split(name)[0] == filesystem]
        columns: dict[str, Any] = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in ("notes", "advised_routers")
        }
        for name, values in columns.items():
            is_text = isinstance(values, tuple)
            columns[name] = tuple(values[at] for at in kept) if is_text else values[kept]
        return replace(self, **columns)


def read_state(paths: Sequence[str | Path], window_seconds: float = WINDOW_SECONDS) -> LoadState:
    """Put a state together from logs.

    Args:
        paths: In any order: two dumps or more of `lctl get_param`, HDF5 files of LMT or TOKIO,
            `lfs df`, `lctl dl -t`, or a run folder. Text may be gzipped.
        window_seconds: Over how long the end of a time series is averaged.

    Raises:
        ConfigError: A file is none of these, is damaged, or contradicts another.
    """
    if not paths:
        raise ConfigError("a state is read from one file or more", "name some", "STATE")
    given = [Path(path).expanduser() for path in paths]
    if repeated := [path for path in given if given.count(path) > 1]:
        refuse(repeated[0], "the file is given twice", "give each one once")
    dumps: list[Path] = []
    sources: list[tuple[str, list[PartLoad]]] = []
    for path in given:
        kind = _kind(path)
        if kind == "dump":
            dumps.append(path)
        elif kind == "tokio":
            sources.append((str(path), read_tokio(path, window_seconds)))
        elif kind == "run":
            sources.append((str(path), read_run_devices(path, _sets_of(path))))
        else:
            readers = {"df": read_last_df, "devices": read_devices}
            sources.append((str(path), readers[kind](path)))
    notes: list[str] = []
    if dumps:
        loads, alone = read_dumps(dumps)
        sources.append((" and ".join(str(path) for path in dumps), loads))
        if alone:
            notes.append(f"of {_named(alone)} one dump alone has counters: how busy is not known")
    # What is newer takes the place of what is older.
    sources.sort(key=lambda one: max((load.seconds or 0.0 for load in one[1]), default=0.0))
    return _joined(sources, notes)


def _sets_of(folder: Path) -> dict[str, tuple[str, list[str]]] | None:
    """The RAID sets that a run folder's data is placed on, with their servers and devices."""
    file = folder / "study.toml"
    system = Study.load(file).runs()[0].system if file.is_file() else None
    if system is None or system.cluster.tree is None or system.placement is None:
        return None
    tree, level = system.cluster.tree, system.placement.level
    if level is None or (sets := tree.side(level)) is None:
        return None
    return {
        tree.name(level, number): (
            tree.carrier(level, number) or "",
            [tree.name(tree.device_level, device) for device in tree.members(level, number)],
        )
        for number in range(sets.count)
    }


def _kind(path: Path) -> str:
    """What a file is: "dump", "devices", "df", "tokio" or "run"."""
    if path.is_dir():
        return "run"
    if _begins_with(path, MAGIC):
        return "tokio"
    data = read_bytes(path)
    if b"\0" in data:
        refuse(path, "it is binary, and not HDF5", "give text, or an HDF5 file of LMT or TOKIO")
    text = decode(data, path)
    for kind, is_one in (("dump", is_dump), ("devices", is_devices), ("df", is_df)):
        if is_one(text):
            return kind
    rule = "it is empty" if not text.strip() else "nothing says how busy or how full targets are"
    remedy = "give two dumps of lctl get_param, lfs df, lctl dl -t, HDF5 of LMT, or a run folder"
    refuse(path, rule, remedy)


def _begins_with(path: Path, magic: bytes) -> bool:
    """Whether a file begins with some bytes; one that cannot be read is told of later."""
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except (OSError, ValueError):
        return False


def _joined(sources: Sequence[tuple[str, list[PartLoad]]], notes: list[str]) -> LoadState:
    """One row a target, of all that say something of it."""
    rows: dict[str, PartLoad] = {}
    said: dict[tuple[str, str], str] = {}
    for source, loads in sources:
        for load in loads:
            known = rows.get(load.name, PartLoad(load.name))
            for name in (*_MEASURED, "server"):
                value = getattr(load, name)
                if value is None:
                    continue
                other = said.setdefault((load.name, name), source)
                if other != source and name not in ("seconds", "fill", "server"):
                    rule = f"{other} says too what {load.name} moves"
                    refuse(source, rule, "give one of the two")
                if name == "seconds":
                    value = max(value, known.seconds or 0.0)
                known = replace(known, **{name: value})
            rows[load.name] = replace(known, state=worse_state(known.state, load.state))
    order = sorted(rows, key=lambda name: (_split(name)[0], _split(name)[1] or 0))
    notes += _missing(sources)
    notes += _ages(sources)
    # None becomes NaN.
    columns: dict[str, Any] = {
        name: np.array([getattr(rows[one], name) for one in order], dtype=np.float64)
        for name in _MEASURED
    }
    return LoadState(
        targets=tuple(order),
        servers=tuple(rows[one].server or "" for one in order),
        states=tuple(rows[one].state or UP for one in order),
        advised=np.zeros(len(order)),
        notes=tuple(notes),
        **columns,
    )


def _missing(sources: Sequence[tuple[str, list[PartLoad]]]) -> Iterator[str]:
    """Which targets some file does not have, of a file system that it has others of."""
    every = dict.fromkeys(load.name for _, loads in sources for load in loads)
    for source, loads in sources:
        has = {load.name for load in loads}
        its = {_split(name)[0] for name in has}
        gone = [name for name in every if name not in has and _split(name)[0] in its]
        if gone:
            yield f"{source} does not have {_named(gone)}"


def _ages(sources: Sequence[tuple[str, list[PartLoad]]]) -> list[str]:
    """Which files are much older than the newest."""
    newest = {
        source: max(times)
        for source, loads in sources
        if (times := [load.seconds for load in loads if load.seconds is not None])
    }
    last = max(newest.values(), default=0.0)
    return [
        f"{source} is {format_duration(last - seconds)} older than the newest of these files"
        for source, seconds in newest.items()
        if last - seconds > _OLD_SECONDS
    ]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX:,} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more


def _split(name: str) -> tuple[str, int | None]:
    """A target's file system and number; of one that is no Lustre target none."""
    filesystem, mark, number = name.rpartition("OST")
    if not mark or not _NUMBER.fullmatch(number) or filesystem[-1:] not in ("", "-"):
        return "", None
    return filesystem[:-1], int(number, 16)


def _column(name: str, values: Any, count: int) -> Floats:
    """A column that a program gives."""
    if values is None:
        return np.full(count, np.nan)
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (count,):
        rule = f"there are {count} targets"
        raise ConfigError(rule, "give a value for each", name, show(len(column)))
    most = 1.0 if name == "fill" else np.inf
    wrong = column[(column < 0.0) | (column > most) | np.isinf(column)]
    if len(wrong):
        rule = "it is a share of 0 to 1" if name == "fill" else "it is 0 or more"
        raise ConfigError(rule, "", name, show(float(wrong[0])))
    return column
