"""`--affected`: what loses copies when parts of a cluster fail at once, and who takes them over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.answer import Answer, Form, Section, Shown
from resilver.cli.crush.source import ClusterSource, StudySource, open_source, reweighted
from resilver.cli.place.options import Asked
from resilver.cli.saving import TABLES
from resilver.errors import ConfigError
from resilver.spec.tree import Level, Tree, plural
from resilver.tables import table, table_bytes
from resilver.words import size_of

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.importers import PoolInfo

# Rows of tables that a terminal shows, those that get the most first; JSON and files have all.
_PARTS_SHOWN = 10
_GROUPS_SHOWN = 20

_Received = dict[str, list[dict[str, Any]]]
"""Who takes over what was lost, by level: a row a part, the one that gets the most first."""


def affected_answer(asked: Asked) -> Answer:
    """What the failed parts held, which hosts and devices take it over, and the PGs.

    Raises:
        ConfigError: A part is unknown, or the source is a bare map, which holds nothing.
    """
    source = reweighted(open_source(asked.words[0], asked), asked.weights)
    groups: list[dict[str, Any]] = []
    if isinstance(source, StudySource):
        found, record, text, received = _of_study(source, asked)
    elif isinstance(source, ClusterSource):
        found, record, text, received = _of_cluster(source, asked)
        groups = found.to_pylist()
    else:
        raise ConfigError(
            f"--affected: {source.label!r} is a CRUSH map, which holds no data; give a "
            "`ceph report` or a STUDY.toml"
        )
    failed = list(dict.fromkeys(asked.fail))
    homes = {plural(level): rows for level, rows in received.items()}
    record = {"failed": list(asked.fail), **record, "homes": homes}
    sections = [_homes_section(level, rows) for level, rows in received.items() if rows]
    if isinstance(source, ClusterSource):
        record["groups"] = groups
        sections.append(Section("PGs", (_groups_shown(groups),)))
    forms = {suffix: Form(partial(table_bytes, found, suffix)) for suffix in TABLES}
    title = f"What fails with {', '.join(failed)}"
    return Answer(title, [text], sections, record, forms=forms)


def _homes_section(level: str, rows: list[dict[str, Any]]) -> Section:
    made = table(
        ("name", level, "text", [row["name"] for row in rows]),
        ("bytes", "receives", "bytes", [row["bytes"] for row in rows]),
        ("pieces", "copies or shards", "count", [row["pieces"] for row in rows]),
    )
    title = f"Targets of the rebuild, by {level}"
    return Section(title, (Shown(f"targets-{level}", title, made, printed=_PARTS_SHOWN),))


def _groups_shown(groups: list[dict[str, Any]]) -> Shown:
    made = table(
        ("pgid", "PG", "text", [row["pgid"] for row in groups]),
        ("lost", "lost", "count", [row["lost"] for row in groups]),
        ("survivors", "left on", "text", [_names(row["survivors"]) for row in groups]),
        ("homes", "targets", "text", [_names(row["homes"]) for row in groups]),
    )
    return Shown("pgs", "PGs", made, printed=_GROUPS_SHOWN)


def _names(devices: list[str]) -> str:
    return ", ".join(devices) or "none"


def _received(
    homes: pa.ChunkedArray,
    piece_bytes: npt.NDArray[np.float64],
    gone: npt.NDArray[np.bool_],
    parts: Mapping[str, Mapping[int, str]],
) -> _Received:
    """Sums by part of what the targets of the rebuild receive.

    Args:
        homes: By row, the numbers of the devices that receive a lost copy or strip.
        piece_bytes: By row, the bytes of one; NaN where nobody knows.
        gone: By row, whether too little is left to rebuild from.
        parts: By level, the name of each device's part of it by number.
    """
    import pyarrow as pa

    kept = homes.filter(pa.array(~gone)).combine_chunks()
    flat = kept.flatten().to_numpy()
    each = np.repeat(piece_bytes[~gone], np.diff(kept.offsets.to_numpy()))
    counts, amounts = np.bincount(flat), np.bincount(flat, weights=each)
    found: _Received = {}
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
        found[level] = rows
    return found


_Found = tuple["pa.Table", dict[str, Any], str, _Received]
"""The table, its sums, a sentence of them, and who takes over what."""


def _of_study(source: StudySource, asked: Asked) -> _Found:
    import pyarrow.compute as pc

    from resilver.simulate import affected, unrecoverable

    pools = source.pools(asked.pool)
    if len(pools) > 1:
        names = ", ".join(source.system.pool_names)
        raise ConfigError(f"--affected: the study has the pools {names}; choose with --pool POOL")
    system, fail = pools[0], list(asked.fail)
    with _naming_the_option():
        objects = affected(system, fail, seed=asked.seed)
    sizes, lost = objects["size_bytes"].to_numpy(), objects["lost"].to_numpy()
    pieces, noun, key, end = "copies", "copies", "without_survivor", "have no copy left"
    if system.code is None:
        gone, piece_bytes = pc.list_value_length(objects["survivors"]).to_numpy() == 0, sizes
    else:
        pieces, noun, key, end = "pieces", "strips", "unrecoverable", "cannot be decoded"
        gone = unrecoverable(system, objects["object"].to_numpy(), fail, seed=asked.seed)
        # A piece is an object's size over the data pieces, rounded up.
        piece_bytes = -(-sizes // system.code.data)
    sums = {
        "objects": objects.num_rows,
        "bytes": int(sizes.sum()),
        f"{pieces}_lost": int(lost.sum()),
        "bytes_to_rebuild": int((piece_bytes * lost)[~gone].sum()),
        f"objects_{key}": int(np.count_nonzero(gone)),
        f"bytes_{key}": int(sizes[gone].sum()),
    }
    words = (
        f"{sums['objects']:,} objects ({size_of(sums['bytes'])}) lose "
        f"{sums[f'{pieces}_lost']:,} {noun}; {size_of(sums['bytes_to_rebuild'])} to rebuild; "
        f"{sums[f'objects_{key}']:,} objects ({size_of(sums[f'bytes_{key}'])}) {end}."
    )
    # Only a real cluster has no tree, and that is a cluster here.
    tree = system.cluster.tree or Tree((Level("server", system.server_count),), "server")
    numbers = range(tree.devices)
    parts = {tree.device_level: {one: tree.name(tree.device_level, one) for one in numbers}}
    hosts = {one: tree.part_above(tree.port_level, one) for one in numbers}
    if hosts != parts[tree.device_level]:
        parts = {tree.port_level: hosts, **parts}
    homes = _received(objects["homes"], piece_bytes.astype(float), gone, parts)
    return objects, sums, words, homes


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


def _of_cluster(source: ClusterSource, asked: Asked) -> _Found:
    import pyarrow as pa

    from resilver.simulate import affected_groups

    pools = {pool.id: pool for pool in source.pools(asked.pool)}
    with _naming_the_option():
        found = affected_groups(source.report, list(asked.fail))
    rows = [row for row in found.to_pylist() if row["pool"] in pools]
    data = [pools[row["pool"]].data_pieces for row in rows]
    gone = np.array([len(row["survivors"]) < (k or 1) for row, k in zip(rows, data, strict=True)])
    piece_bytes = np.array(
        [
            np.nan if k is None or row["bytes"] is None else -(-row["bytes"] // k)
            for row, k in zip(rows, data, strict=True)
        ],
        dtype=np.float64,
    )
    osds = {osd.id: osd for osd in source.report.osds}
    parts = {
        "host": {id: osd.host or osd.name for id, osd in osds.items()},
        "osd": {id: osd.name for id, osd in osds.items()},
    }
    homes = pa.chunked_array([pa.array([row["homes"] for row in rows], pa.list_(pa.int32()))])
    received = _received(homes, piece_bytes, gone.astype(bool), parts)
    # All are stated, or none.
    known = [row["bytes"] for row in rows if row["bytes"] is not None]
    has_bytes = len(known) == len(rows)
    sums: dict[str, Any] = {
        "placement_groups": len(rows),
        "bytes": sum(known) if has_bytes else None,
        "copies_lost": sum(row["lost"] for row in rows),
        "placement_groups_without_data": int(gone.sum()),
    }
    named = [_group_row(row, pools[row["pool"]], osds) for row in rows]
    size = f" ({size_of(sums['bytes'])})" if has_bytes else ""
    words = (
        f"{', '.join(dict.fromkeys(asked.fail))}: {len(rows):,} PGs{size} lose "
        f"{sums['copies_lost']:,} copies or shards; "
        f"{sums['placement_groups_without_data']:,} have too few left to rebuild from."
    )
    if not has_bytes:
        words += " PG sizes are unknown: add `ceph pg dump` (--pg-dump)."
    return pa.Table.from_pylist(named, _group_schema()), sums, words, received


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
