"""How many files, objects and buffers a system is expected to have, before it is run."""

from __future__ import annotations

import math

from resilver.spec import System

# A histogram's sizes are looked at so many times in each bin, evenly.
_SIZES_PER_BIN = 16


def population_of(system: System) -> tuple[float, float, float, float]:
    """What a system is expected to store.

    Returns:
        Files, objects, their bytes before replication, and pipeline buffers of a copy of each, or
        of a piece under a code.
    """
    buffer = int(system.recovery.pipeline_buffer)
    bins = system.histogram_bins
    total = sum(item.file_count for item in bins)
    if total == 0:
        return 0.0, 0.0, 0.0, 0.0
    data = 1 if system.code is None else system.code.data
    size = objects = buffers = 0.0
    for item in bins:
        share = item.file_count / total / _SIZES_PER_BIN
        for step in range(_SIZES_PER_BIN):
            width = (item.max_bytes - item.min_bytes) / _SIZES_PER_BIN
            one = item.min_bytes + math.floor((step + 0.5) * width)
            size += share * one
            for count, each in _objects(system, one):
                objects += share * count
                buffers += share * count * math.ceil(each / data / buffer)
    target = system.population_target_bytes
    files = target / size if target is not None else float(system.population_target_files or 0)
    return files, files * objects, files * size, files * buffers


def _objects(system: System, size: float) -> list[tuple[int, float]]:
    """The objects of a file: how many, of how many bytes each."""
    chunk, unit = system.chunk_bytes, system.stripe_unit_bytes
    if chunk is not None:
        whole, rest = divmod(size, chunk)
        return (
            [(int(whole), float(chunk)), (1, rest)] if rest or not whole else [(int(whole), chunk)]
        )
    if unit is not None:
        width = min(system.stripe_width or 1, max(1, math.ceil(size / unit)))
        return [(width, size / width)]
    return [(1, size)]
