"""`--affected`: what loses copies when parts of a cluster fail at once, and who takes them over."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
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
from resilver.spec.tree import Level, Tree, plural
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
        received = {plural(one.level): one.rows for one in homes}
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
        sys.stdout.write(f"and {hidden:,} more PGs; -o FILE.csv and --json have all\n")


def _received(
    homes: pa.ChunkedArray,
    piece_bytes: npt.NDArray[np.float64],
    gone: npt.NDArray[np.bool_],
    parts: Mapping[str, Mapping[int, str]],
) -> list[_Homes]:
    """Sums by part of what new homes get.

    Args:
        homes: By row, the numbers of the devices that take a lost piece over.
        piece_bytes: By row, the bytes of a piece; NaN where nobody knows.
        gone: By row, whether too little is left to make anything anew.
        parts: By level, the name of each device's part of it by number.
    """
    import pyarrow as pa

    kept = homes.filter(pa.array(~gone)).combine_chunks()
    flat = kept.flatten().to_numpy()
    each = np.repeat(piece_bytes[~gone], np.diff(kept.offsets.to_numpy()))
    counts, amounts = np.bincount(flat), np.bincount(flat, weights=each)
    found = []
    for level, names in parts.items():
        sums: dict[str, list[float]] = {}
        for device in np.flatnonzero(counts).tolist():
            one = sums.setdefault(names[device], [0.0, 0])
            one[0] += amounts[device]
            one[1] += counts[device]
        rows: list[dict[str, Any]] = [
            {"name": name, "bytes": None if np.isnan(amount) else int(amount), "pieces": int(count)}
            for name, (amount, count) in sums.items()
        ]
        rows.sort(key=lambda row: (-(row["bytes"] or 0), -row["pieces"]))
        found.append(_Homes(level, rows))
    return found


_Found = tuple["pa.Table", dict[str, Any], str, list[_Homes]]
"""The table, its sums, a sentence of them, and who takes over what."""


def _of_study(source: StudySource, judging: Judging) -> _Found:
    import pyarrow.compute as pc

    from resilver.simulate import affected, unrecoverable

    pools = source.pools(judging.pool)
    if len(pools) > 1:
        names = ", ".join(source.system.pool_names)
        raise ConfigError(f"--affected: the study has the pools {names}; choose with --pool POOL")
    system, fail = pools[0], list(judging.fail)
    with _naming_the_option():
        table = affected(system, fail, seed=judging.seed)
    sizes, lost = table["size_bytes"].to_numpy(), table["lost"].to_numpy()
    pieces, key, end = "copies", "without_survivor", "have no copy left"
    if system.code is None:
        gone, piece_bytes = pc.list_value_length(table["survivors"]).to_numpy() == 0, sizes
    else:
        pieces, key, end = "pieces", "unrecoverable", "cannot be decoded any more"
        gone = unrecoverable(system, table["object"].to_numpy(), fail, seed=judging.seed)
        # A piece is an object's size over the data pieces, rounded up.
        piece_bytes = -(-sizes // system.code.data)
    sums = {
        "objects": table.num_rows,
        "bytes": int(sizes.sum()),
        f"{pieces}_lost": int(lost.sum()),
        "bytes_to_rebuild": int((piece_bytes * lost)[~gone].sum()),
        f"objects_{key}": int(np.count_nonzero(gone)),
        f"bytes_{key}": int(sizes[gone].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({format_bytes(sums['bytes'])}) lose "
        f"{sums[f'{pieces}_lost']:,} {pieces}; {format_bytes(sums['bytes_to_rebuild'])} to "
        f"rebuild; {sums[f'objects_{key}']:,} objects ({format_bytes(sums[f'bytes_{key}'])}) {end}"
    )
    # Only a real cluster has no tree, and that is a cluster here.
    tree = system.cluster.tree or Tree((Level("server", system.server_count),), "server")
    numbers = range(tree.devices)
    parts = {tree.device_level: {one: tree.name(tree.device_level, one) for one in numbers}}
    hosts = {one: tree.part_above(tree.port_level, one) for one in numbers}
    if hosts != parts[tree.device_level]:
        parts = {tree.port_level: hosts, **parts}
    homes = _received(table["homes"], piece_bytes.astype(float), gone, parts)
    return table, sums, words, homes


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


def _of_cluster(source: ClusterSource, judging: Judging) -> _Found:
    import pyarrow as pa

    from resilver.simulate import affected_groups

    pools = {pool.id: pool for pool in source.pools(judging.pool)}
    with _naming_the_option():
        found = affected_groups(source.report, list(judging.fail))
    rows = [row for row in found.to_pylist() if row["pool"] in pools]
    data = [_data_pieces(pools[row["pool"]]) for row in rows]
    gone = np.array([len(row["survivors"]) < (k or 1) for row, k in zip(rows, data, strict=True)])
    piece_bytes = np.array(
        [-(-row["bytes"] // k) if k else np.nan for row, k in zip(rows, data, strict=True)]
    )
    osds = {osd.id: osd for osd in source.report.osds}
    parts = {
        "host": {id: osd.host or osd.name for id, osd in osds.items()},
        "osd": {id: osd.name for id, osd in osds.items()},
    }
    homes = pa.chunked_array([pa.array([row["homes"] for row in rows], pa.list_(pa.int32()))])
    received = _received(homes, piece_bytes, gone.astype(bool), parts)
    sums = {
        "placement_groups": len(rows),
        "bytes": sum(row["bytes"] for row in rows),
        "copies_lost": sum(row["lost"] for row in rows),
        "placement_groups_without_data": int(gone.sum()),
    }
    named = [_group_row(row, pools[row["pool"]], osds) for row in rows]
    words = (
        f"{', '.join(dict.fromkeys(judging.fail))}: {len(rows):,} PGs "
        f"({format_bytes(sums['bytes'])}) lose {sums['copies_lost']:,} copies or pieces; "
        f"{sums['placement_groups_without_data']:,} have too few left to rebuild from"
    )
    return pa.Table.from_pylist(named, _group_schema()), sums, words, received


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
