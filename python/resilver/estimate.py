"""What a run of a system will cost, before it is run."""

from __future__ import annotations

from typing import Any

from resilver.spec import System

# Measured with `python3 dev.py bench` on two cores of an AMD EPYC; good to a factor of two there
# and elsewhere.
_EVENTS_PER_SECOND = 2.0e7
_EVENTS_PER_BUFFER = 7
_OBJECTS_PER_SECOND_GROUPS = 6.0e8
# Of rings that the inverse knows, the time to pass an object over; of the others, to place it.
_SECONDS_PER_OBJECT = {
    "ring": 2.0e-9,
    "multi_ring": 2.0e-7,
    "rendezvous": 1.0e-7,
    "xor": 1.6e-7,
    "modulo": 6e-9,
    "jump": 7.5e-8,
    "declustered": 3.5e-8,
    "copysets": 1.0e-8,
}
_BIDS_PER_SECOND = 1.9e9
_OBJECTS_PER_SECOND_SCREENED = 7.0e6
_DRAWS_PER_SECOND = 8.0e8
_DEVICES_SCREENED = 32
_FILES_PER_SECOND = 1.2e8
_SECONDS_TO_START = 0.3
_BYTES_TO_START = 120e6
_BYTES_PER_PULL = 80
_BYTES_PER_BUFFER_HELD = 96


def estimate(system: System) -> dict[str, Any]:
    """What one run of a system is expected to cost.

    Args:
        system: The system.

    Returns:
        ``objects`` to look through, ``replicas_to_move``, ``bytes_to_move``, ``buffers``,
        ``events``, ``seconds`` of wall time, the ``rebuilding_seconds`` among them, and
        ``memory_bytes`` at the peak. Counts are expectations; times are good to a factor of two.
    """
    files, objects, volume = _population(system)
    devices = max(system.server_count, 1)
    copies = system.copies or _mean_copies(system)
    share = min(1.0, _failed_count(system) / devices)
    replicas = objects * copies * share
    moved = volume * copies * share
    buffer = int(system.recovery.pipeline_buffer)
    # Objects end in the middle of a buffer, half a buffer on average.
    buffers = moved / buffer + replicas / 2 if replicas else 0.0
    events = buffers * _EVENTS_PER_BUFFER
    held = min(buffers, devices * int(system.recovery.receive_memory) / buffer)
    rebuilding = events / _EVENTS_PER_SECOND
    seconds = (
        _SECONDS_TO_START
        + files / _FILES_PER_SECOND
        + _placing_seconds(system, objects, devices, copies)
        + rebuilding
    )
    return {
        "objects": round(objects),
        "replicas_to_move": round(replicas),
        "bytes_to_move": round(moved),
        "buffers": round(buffers),
        "events": round(events),
        "seconds": seconds,
        "rebuilding_seconds": rebuilding,
        "memory_bytes": round(
            _BYTES_TO_START + replicas * _BYTES_PER_PULL + held * _BYTES_PER_BUFFER_HELD
        ),
    }


def _population(system: System) -> tuple[float, float, float]:
    """Files, objects and bytes before replication."""
    if system.report is not None:
        loads = system.group_loads
        objects = sum(load.objects for load in loads)
        return 0.0, float(objects), float(sum(load.bytes for load in loads))
    bins = system.histogram_bins
    total = sum(item.file_count for item in bins)
    if total == 0:
        return 0.0, 0.0, 0.0
    sizes = [((item.min_bytes + item.max_bytes) / 2, item.file_count / total) for item in bins]
    mean_size = sum(size * share for size, share in sizes)
    mean_objects = sum(_objects(system, size) * share for size, share in sizes)
    target = system.population_target_bytes
    files = target / mean_size if target is not None else float(system.population_target_files or 0)
    return files, files * mean_objects, files * mean_size


def _objects(system: System, size: float) -> float:
    if system.chunk_bytes is not None:
        return max(1.0, size / system.chunk_bytes + 0.5)
    if system.stripe_unit_bytes is not None:
        return min(float(system.stripe_width or 1), max(1.0, size / system.stripe_unit_bytes + 0.5))
    return 1.0


def _mean_copies(system: System) -> float:
    pools = system.report.pools if system.report else ()
    groups = sum(pool.pg_num for pool in pools)
    return sum(pool.size * pool.pg_num for pool in pools) / groups if groups else 0.0


def _failed_count(system: System) -> int:
    """About how many devices fail; a domain counts for an even share of them."""
    from resilver.spec.failing import ceph_members

    failed = 0.0
    for fault in system.faults:
        kind, targets = fault.fail.kind, fault.fail.targets
        count = targets if isinstance(targets, int) else len(targets)
        if system.report is not None:
            members = list(ceph_members(system.report, kind).values())
            failed += count * sum(map(len, members)) / max(len(members), 1)
        else:
            domains = {"racks": system.cluster.racks, "rows": system.cluster.rows}.get(kind)
            failed += count * system.server_count / (domains or system.server_count)
    return round(failed)


def _placing_seconds(system: System, objects: float, devices: int, copies: float) -> float:
    """Time to place the groups and to look through the objects."""
    groups = system.placement_group_count
    algorithm = system.placement.algorithm if system.placement is not None else "crush"
    draws = copies * devices if algorithm == "crush" else copies
    if groups is not None:
        looking = 0.0 if system.report is not None else objects / _OBJECTS_PER_SECOND_GROUPS
        return groups * draws / _DRAWS_PER_SECOND + looking
    if algorithm == "rendezvous":
        return objects * (_SECONDS_PER_OBJECT[algorithm] + devices / _BIDS_PER_SECOND)
    if algorithm in _SECONDS_PER_OBJECT:
        return objects * _SECONDS_PER_OBJECT[algorithm]
    placing = objects * draws / _DRAWS_PER_SECOND
    if system.cluster.racks is None and devices >= _DEVICES_SCREENED:
        # One flat bucket: a screen settles most objects, and only the others are placed.
        return min(placing, objects / _OBJECTS_PER_SECOND_SCREENED)
    return placing
