"""`--affected`: what loses copies when parts of a cluster fail at once, and who takes them over."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table

from resilver.cli.console import output, print_json, say
from resilver.cli.place.options import Judging
from resilver.cli.place.source import ClusterSource, Source, StudySource
from resilver.errors import ConfigError
from resilver.units import format_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.importers import PoolInfo

_SUFFIXES = (".parquet", ".csv")

# Rows of a table for a person to read, those that get the most first; JSON and files have all.
_PARTS_SHOWN = 10
_GROUPS_SHOWN = 20


@dataclass(frozen=True)
class _Homes:
    """Who takes over what was lost: a row a device or host, the one that gets the most first."""

    level: str
    rows: list[dict[str, Any]]

    def table(self) -> Table:
        """The first rows, for a person to read."""
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.add_column(self.level)
        table.add_column("gets", justify="right")
        table.add_column("pieces", justify="right")
        for row in self.rows[:_PARTS_SHOWN]:
            table.add_row(row["name"], _amount(row["bytes"]), f"{row['pieces']:,}")
        if (hidden := len(self.rows) - _PARTS_SHOWN) > 0:
            table.add_row(f"and {hidden:,} more", "", "", style="dim")
        return table


def _amount(value: int | None) -> str:
    return "unknown" if value is None else format_bytes(value)


def print_affected(source: Source, judging: Judging, path: Path | None, *, as_json: bool) -> None:
    """Say what the failed parts held, which hosts and devices take it over, and then the groups.

    Args:
        source: A cluster, whose groups are listed, or a study, whose objects are summed.
        judging: What fails, and of which pool.
        path: A file for the table of groups or objects, or None.
        as_json: Print all of it as JSON.

    Raises:
        ConfigError: A part is unknown, or the source is a bare map, which holds nothing.
    """
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise ConfigError(
            f"-o {path}: the table is written as Parquet or CSV; name a file that ends in .parquet "
            "or .csv"
        )
    # Known before minutes of work, which would be lost.
    if path is not None and not path.parent.is_dir():
        raise ConfigError(
            f"-o {path}: there is no folder {str(path.parent)!r}; make it first, or choose another"
        )
    if isinstance(source, StudySource):
        table, sums, words, homes = _of_study(source, judging)
        groups: list[dict[str, Any]] = []
    elif isinstance(source, ClusterSource):
        table, sums, words, homes = _of_cluster(source, judging)
        groups = table.to_pylist()
    else:
        raise ConfigError(
            f"--affected: {source.label!r} is a CRUSH map, which holds no data; give a "
            "`ceph report` or a STUDY.toml"
        )
    if path is not None:
        _save(table, path)
    if as_json:
        received = {f"{one.level}s": one.rows for one in homes}
        more = {"groups": groups} if isinstance(source, ClusterSource) else {}
        print_json({"failed": list(judging.fail), **sums, "homes": received, **more})
        return
    console = output()
    console.print(words, soft_wrap=True)
    for one in homes:
        if one.rows:
            console.print(one.table())
    width = max((len(row["pgid"]) for row in groups), default=0)
    for row in groups[:_GROUPS_SHOWN]:
        left, to = (", ".join(row[key]) or "none" for key in ("survivors", "homes"))
        sys.stdout.write(f"{row['pgid']:<{width}}  lost {row['lost']}  left {left}  to {to}\n")
    if (hidden := len(groups) - _GROUPS_SHOWN) > 0:
        sys.stdout.write(f"and {hidden:,} more placement groups; -o FILE.csv and --json have all\n")


def _received(
    homes: pa.ListArray,
    piece_bytes: npt.NDArray[np.int64],
    parts: Sequence[tuple[str, dict[int, str]]],
) -> list[_Homes]:
    """Sums by part of what new homes get.

    Args:
        homes: By row, the numbers of the devices that take a lost piece over.
        piece_bytes: By row, the bytes of a piece; -1 where nobody knows.
        parts: For each level its name, and the name of each device's part of it by number.

    Returns:
        The sums, a level each.
    """
    flat = homes.combine_chunks().flatten().to_numpy() if len(homes) else np.zeros(0, np.int64)
    lengths = np.diff(homes.combine_chunks().offsets.to_numpy()) if len(homes) else []
    each = np.repeat(piece_bytes, lengths)
    found = []
    for level, names in parts:
        rows: list[dict[str, Any]]
        sums: dict[str, list[int]] = {}
        for device in np.unique(flat).tolist():
            here = each[flat == device]
            one = sums.setdefault(names[device], [0, 0, 0])
            one[0] += int(here.sum())
            one[1] += len(here)
            one[2] += int(np.count_nonzero(here < 0))
        rows = [
            {"name": name, "bytes": None if unknown else amount, "pieces": count}
            for name, (amount, count, unknown) in sums.items()
        ]
        rows.sort(key=lambda row: (-(row["bytes"] or 0), -row["pieces"]))
        found.append(_Homes(level, rows))
    return found


def _of_study(
    source: StudySource, judging: Judging
) -> tuple[pa.Table, dict[str, Any], str, list[_Homes]]:
    from resilver.core_input import devices
    from resilver.simulate import affected

    pools = source.pools(judging.pool)
    if len(pools) > 1:
        names = ", ".join(source.system.pool_names)
        raise ConfigError(f"--affected: the study has the pools {names}; choose with --pool POOL")
    system = pools[0]
    with _naming_the_option():
        table = affected(system, list(judging.fail), seed=judging.seed)
    sizes = table["size_bytes"].to_numpy()
    if system.code is None:
        sums, words = _sums_of_copies(table)
    else:
        # A piece is an object's size over the data pieces, rounded up.
        sizes = -(-sizes // system.code.data)
        sums, words = _sums_of_pieces(StudySource(source.label, system), judging, table, sizes)
    known = devices(system)
    level = system.cluster.tree.device_level if system.cluster.tree else "server"
    parts = [(level, {one.number: one.name for one in known})]
    if any(one.host != one.name for one in known):
        parts.insert(0, ("host", {one.number: one.host for one in known}))
    return table, sums, words, _received(table["homes"], sizes, parts)


def _sums_of_copies(table: pa.Table) -> tuple[dict[str, int], str]:
    """What lost copies come to, and a sentence of it."""
    import pyarrow.compute as pc

    sizes, lost = table["size_bytes"].to_numpy(), table["lost"].to_numpy()
    left = pc.list_value_length(table["survivors"]).to_numpy()
    sums = {
        "objects": table.num_rows,
        "bytes": int(sizes.sum()),
        "copies_lost": int(lost.sum()),
        "bytes_to_rebuild": int((sizes * lost)[left > 0].sum()),
        "objects_without_survivor": int(np.count_nonzero(left == 0)),
        "bytes_without_survivor": int(sizes[left == 0].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({format_bytes(sums['bytes'])}) lose "
        f"{sums['copies_lost']:,} copies; {format_bytes(sums['bytes_to_rebuild'])} to rebuild; "
        f"{sums['objects_without_survivor']:,} objects "
        f"({format_bytes(sums['bytes_without_survivor'])}) have no copy left"
    )
    return sums, words


def _sums_of_pieces(
    source: StudySource, judging: Judging, table: pa.Table, piece_bytes: npt.NDArray[np.int64]
) -> tuple[dict[str, int], str]:
    """What lost pieces of a code come to, and a sentence of it."""
    from resilver.simulate import unrecoverable

    sizes, lost = table["size_bytes"].to_numpy(), table["lost"].to_numpy()
    objects = table["object"].to_numpy()
    gone = unrecoverable(source.system, objects, list(judging.fail), seed=judging.seed)
    sums = {
        "objects": table.num_rows,
        "bytes": int(sizes.sum()),
        "pieces_lost": int(lost.sum()),
        "bytes_to_rebuild": int((piece_bytes * lost)[~gone].sum()),
        "objects_unrecoverable": int(np.count_nonzero(gone)),
        "bytes_unrecoverable": int(sizes[gone].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({format_bytes(sums['bytes'])}) lose "
        f"{sums['pieces_lost']:,} pieces; {format_bytes(sums['bytes_to_rebuild'])} to rebuild; "
        f"{sums['objects_unrecoverable']:,} objects "
        f"({format_bytes(sums['bytes_unrecoverable'])}) cannot be decoded any more"
    )
    return sums, words


@contextmanager
def _naming_the_option() -> Iterator[None]:
    """What a function calls `failed`, the command line calls --fail."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        if not text.startswith("failed = "):
            raise
        raise ConfigError(f"--fail{text.removeprefix('failed')}") from None


def _of_cluster(
    source: ClusterSource, judging: Judging
) -> tuple[pa.Table, dict[str, Any], str, list[_Homes]]:
    import pyarrow as pa

    from resilver.simulate import affected_groups

    pools = {pool.id: pool for pool in source.pools(judging.pool)}
    with _naming_the_option():
        found = affected_groups(source.report, list(judging.fail))
    rows = [row for row in found.to_pylist() if row["pool"] in pools]
    data = {id: _data_pieces(pool) for id, pool in pools.items()}
    gone = [len(row["survivors"]) < (data[row["pool"]] or 1) for row in rows]
    piece_bytes = np.array(
        [-(-row["bytes"] // k) if (k := data[row["pool"]]) else -1 for row in rows], dtype=np.int64
    )
    osds = {osd.id: osd for osd in source.report.osds}
    parts = [
        ("host", {id: osd.host or osd.name for id, osd in osds.items()}),
        ("osd", {id: osd.name for id, osd in osds.items()}),
    ]
    homes = pa.chunked_array([pa.array([row["homes"] for row in rows], pa.list_(pa.int32()))])
    received = _received(homes, piece_bytes, parts)
    sums = {
        "placement_groups": len(rows),
        "bytes": sum(row["bytes"] for row in rows),
        "copies_lost": sum(row["lost"] for row in rows),
        "placement_groups_without_data": sum(gone),
    }
    table = pa.Table.from_pylist(
        [_group_row(row, pools[row["pool"]], osds) for row in rows], _group_schema()
    )
    words = (
        f"{', '.join(dict.fromkeys(judging.fail))}: {len(rows):,} placement groups "
        f"({format_bytes(sums['bytes'])}) lose {sums['copies_lost']:,} copies or pieces; "
        f"{sum(gone):,} have too few left to rebuild from"
    )
    return table, sums, words, received


def _data_pieces(pool: PoolInfo) -> int | None:
    """Over how many pieces a group's bytes are cut: one for copies; None where nobody states k."""
    if pool.kind == "replicated":
        return 1
    return pool.profile.data if pool.profile is not None else None


def _group_schema() -> pa.Schema:
    import pyarrow as pa

    text = pa.string()
    whole = [(name, pa.int64()) for name in ("bytes", "objects", "lost")]
    lists = [(name, pa.list_(text)) for name in ("survivors", "homes")]
    return pa.schema([("pgid", text), ("pool", text), *whole, *lists])


def _group_row(row: dict[str, Any], pool: PoolInfo, osds: Mapping[int, Any]) -> dict[str, Any]:
    """A group by the id that Ceph's tools print, with names."""
    return {
        **row,
        "pgid": f"{pool.id}.{row['group']:x}",
        "pool": pool.name,
        **{key: [osds[osd].name for osd in row[key]] for key in ("survivors", "homes")},
    }


def _save(table: pa.Table, path: Path) -> None:
    from resilver.study.files import replace_file

    csv = path.suffix.lower() == ".csv"
    write = _write_csv if csv else _write_parquet
    try:
        replace_file(path.resolve(), lambda temporary: write(table, temporary))
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be written: {error.strerror or error}; choose another with -o FILE"
        ) from error
    say(f"{table.num_rows:,} rows written to {path}")


def _write_csv(table: pa.Table, path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(_without_lists(table), path)


def _write_parquet(table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _without_lists(table: pa.Table) -> pa.Table:
    """Lists as text with spaces between, since CSV has no lists."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [" ".join(map(str, one or ())) for one in table[field.name].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table
