"""The inverse of placement: which objects a failure touches, and where their copies go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, Interrupted, name_remedy
from resilver.importers.ceph import ClusterReport, GroupLoad
from resilver.simulate.maps import maps_of
from resilver.simulate.pools import group_sets
from resilver.simulate.progress import Progress
from resilver.spec import System
from resilver.spec.failing import ceph_members, part_names
from resilver.spec.tree import plural

_SCHEMA = pa.schema(
    [
        ("object", pa.uint64()),
        ("size_bytes", pa.int64()),
        ("survivors", pa.list_(pa.int32())),
        ("homes", pa.list_(pa.int32())),
        ("lost", pa.int32()),
    ]
)
_HOLE = 2**31 - 1
_LEVELS = ("osd", "host", "rack", "row")


def affected(
    system: System,
    failed: Sequence[str | int],
    *,
    seed: int = 1,
    progress: Callable[[Progress], bool] | None = None,
) -> pa.Table:
    """Which objects of a system the failure of some devices touches.

    The population is not held: memory is that of the table. Faults of the system itself play no
    part.

    Args:
        failed: What fails: device numbers, or names such as ``server.3`` or ``rack=1``; any number
            of them, and none.
        seed: The key of the population's random draws.
        progress: Told several times a second how far the search is; answers whether to go on.

    Returns:
        A row an object that had a copy on a failed device, in the order of the population:
        ``object`` (uint64), ``size_bytes`` (int64), ``survivors`` and ``homes`` (lists of device
        numbers in placement order: who keeps a copy, and who gains one), ``lost`` (int32, copies).
        Of a real cluster, whose objects nobody knows one by one, a row a PG: the table of
        `affected_groups`.

    Raises:
        ConfigError: A name or number is not one of the system's.
        PlacementError: The CRUSH map cannot be used.
        Interrupted: `progress` answered False.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 8},
    ...     "population": {"file_size": "64 MiB", "files": 100},
    ...     "placement": {"algorithm": "ring", "placement_groups": "none"},
    ...     "faults": [{"fail": {"servers": 1}}],
    ... })
    >>> table = affected(study.runs()[0].system, ["server.3"])
    >>> all(3 not in survivors for survivors in table["survivors"].to_pylist())
    True
    >>> table["lost"].unique().to_pylist()
    [1]
    """
    if system.report is not None:
        return affected_groups(system.report, failed)
    batches = affected_batches(system, failed, seed=seed, progress=progress)
    return pa.Table.from_batches(batches, _SCHEMA)


def affected_batches(
    system: System,
    failed: Sequence[str | int],
    *,
    seed: int = 1,
    progress: Callable[[Progress], bool] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of `affected` in batches of at most 2^20, for answers larger than the memory.

    Args:
        system: The system, a synthetic one.
        failed: What fails, as for `affected`.
        seed: The key of the population's random draws.
        progress: Told several times a second how far the search is; answers whether to go on.

    Returns:
        Batches of the columns of `affected`, in the order of the population; none is empty.

    Raises:
        ConfigError: A name or number is not one of the system's, or the system is a real cluster.
        PlacementError: The CRUSH map cannot be used.
        Interrupted: `progress` answered False.
    """
    core_input.check_synthetic(system)
    numbers = failed_numbers(system, failed)
    if isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise ConfigError(f"seed = {seed!r}: it must be a whole number from 0 to 2^64 - 1")
    return _batches(system, numbers, seed, progress)


def _batches(
    system: System,
    failed: list[int],
    seed: int,
    progress: Callable[[Progress], bool] | None,
) -> Iterator[pa.RecordBatch]:
    if not failed:
        return
    with core_errors(f"seed {seed}"):
        search = _core.AffectedSearch(core_input.core_json(system, seed, failed), maps_of(system))
    while not search.is_complete():
        with core_errors(f"seed {seed}"):
            fraction, columns = search.advance()
        if progress is not None and not progress(Progress("scanning", fraction)):
            raise Interrupted("the search was stopped before its end")
        if len(columns["object"]):
            yield _record_batch(columns)


def _record_batch(columns: dict[str, npt.NDArray[Any]]) -> pa.RecordBatch:
    def lists(name: str, offsets: str) -> pa.Array:
        return pa.ListArray.from_arrays(pa.array(columns[offsets]), pa.array(columns[name]))

    arrays = [
        pa.array(columns["object"]),
        pa.array(columns["size_bytes"]),
        lists("survivors", "survivor_offsets"),
        lists("homes", "home_offsets"),
        pa.array(columns["lost"]),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def affected_groups(report: ClusterReport, failed: Sequence[str | int]) -> pa.Table:
    """Which placement groups of a real cluster the failure of some OSDs touches.

    Args:
        failed: What fails: OSD numbers, or names such as ``osd.12``, ``host=node3``, ``rack=r3``.

    Returns:
        A row a group that had a failed OSD in its up set, by pool and number: ``pool``, ``group``,
        ``bytes`` and ``objects`` (int64, before replication; null where no dump states what groups
        hold), ``survivors`` and ``homes`` (lists of
        OSDs in placement order), ``lost`` (int32). Homes are those of the cluster with the failed
        OSDs marked out.

    Raises:
        ConfigError: A name or number is not one of the cluster's.
        PlacementError: The CRUSH map cannot be used.
    """
    lost = set(_numbers(failed, {osd.id for osd in report.osds}, _ceph_names(report)))
    # What fails held its data until then, also where the report has it down already.
    before = replace(report, osds=tuple(replace(o, up=o.up or o.id in lost) for o in report.osds))
    after = replace(
        before,
        osds=tuple(
            replace(o, reweight=0, in_cluster=False) if o.id in lost else o for o in before.osds
        ),
    )
    rows: list[dict[str, Any]] = []
    loads: dict[tuple[int, int], GroupLoad] = {}
    # Which groups lose what is a matter of sets alone.
    with suppress(ConfigError):
        loads = {(load.pool, load.number): load for load in report.loads}
    for pool in report.pools:
        old_sets, new_sets = group_sets(before, pool.id).up, group_sets(after, pool.id).up
        for group in np.flatnonzero(np.isin(old_sets, list(lost)).any(axis=1)).tolist():
            old, new = _members(old_sets[group]), _members(new_sets[group])
            load = loads.get((pool.id, group))
            rows.append(
                {
                    "pool": pool.id,
                    "group": group,
                    "bytes": load and load.bytes,
                    "objects": load and load.objects,
                    "survivors": [osd for osd in old if osd not in lost],
                    "homes": [osd for osd in new if osd not in old],
                    "lost": sum(osd in lost for osd in old),
                }
            )
    schema = pa.schema(
        [
            *((name, pa.int64()) for name in ("pool", "group", "bytes", "objects")),
            ("survivors", pa.list_(pa.int32())),
            ("homes", pa.list_(pa.int32())),
            ("lost", pa.int32()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def _members(row: npt.NDArray[np.int32]) -> list[int]:
    return [osd for osd in row.tolist() if 0 <= osd < _HOLE]


def failed_numbers(system: System, failed: Sequence[str | int]) -> list[int]:
    """The device numbers that names and numbers stand for.

    Args:
        failed: Device numbers, or names: ``server.3``, ``rack.1``, ``rack=1``.

    Returns:
        The numbers, rising, each once.

    Raises:
        ConfigError: One is not the system's.
    """
    known = {device.number for device in core_input.devices(system)}
    names: dict[str, tuple[int, ...]] = {}
    tree = system.cluster.tree
    for level in tree.names if tree is not None else ():
        # What carries others has no devices in it that its failure alone would take.
        if tree is None or tree.carrier_of(plural(level)) is not None:
            continue
        for number, (name, members) in enumerate(part_names(system.cluster, level).items()):
            names[name] = names[f"{level}={name}"] = members
            names[f"{level}={number}"] = members
    return _numbers(failed, known, names)


def _ceph_names(report: ClusterReport) -> dict[str, tuple[int, ...]]:
    """Every name a failure goes by: an OSD's alone, any name with its kind and an equals sign."""
    names: dict[str, tuple[int, ...]] = dict(ceph_members(report, "osd"))
    for level in _LEVELS:
        for name, members in ceph_members(report, level).items():
            names[f"{level}={name}"] = members
            names.setdefault(name, members)
    return names


def _numbers(
    failed: Sequence[str | int], known: set[int], names: dict[str, tuple[int, ...]]
) -> list[int]:
    if isinstance(failed, str):
        raise ConfigError(f"failed = '{failed}': it is a list of names or numbers; write [...]")
    numbers: set[int] = set()
    for one in failed:
        if isinstance(one, str) and one in names:
            numbers.update(names[one])
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and int(one) in known:
            numbers.add(int(one))
        else:
            raise ConfigError(_unknown(one, known, names))
    return sorted(numbers)


def _unknown(one: object, known: set[int], names: dict[str, tuple[int, ...]]) -> str:
    if not isinstance(one, str):
        limits = f"from {min(known)} to {max(known)}" if known else "none"
        return f"failed = {one!r}: no device has this number; the numbers are {limits}"
    level, equals, wanted = one.partition("=")
    if equals:
        inside = [name.partition("=")[2] for name in names if name.startswith(f"{level}=")]
        if inside:
            remedy = name_remedy(wanted, inside, plural(level))
            return f"failed = '{one}': there is no such {level}; {remedy}"
        levels = sorted({name.partition("=")[0] for name in names if "=" in name})
        rule = f"the cluster has no {plural(level)}"
        return f"failed = '{one}': {rule}; name one of {', '.join(levels)}"
    plain = [name for name in names if "=" not in name]
    stems = sorted({re.sub(r"[0-9]+$", "N", name) for name in plain})[:4]
    remedy = name_remedy(one, plain)
    if remedy.startswith("valid"):
        remedy = f"names are such as {', '.join(stems)}"
    return f"failed = '{one}': nothing of the cluster has this name; {remedy}"
