"""What measured rates say of layers: the best of each, and what the layer above costs.

The cost of a file system is 1 - (its rate / the rate of what is below it), by mode and size of
requests, on the same hardware (S. Oral et al., "Best practices and lessons learned from deploying
and operating large-scale data-centric parallel file systems", SC 2014, section on benchmarks).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from resilver.importers.benchmarks import LAYERS, Benchmark
from resilver.importers.benchmarks.table import repeated
from resilver.importers.fio import MODES

DATA_LAYERS = LAYERS[:-1]


@dataclass(frozen=True)
class LayerCost:
    """What one layer costs on another at one kind of request.

    Attributes:
        mode: ``read``, ``write``, ``randread`` or ``randwrite``.
        request_bytes: The size of a request.
        below, above: The two layers.
        below_bytes_per_second: The rate of the layer below, of as many devices as the layer above
            had where both say how many.
        above_bytes_per_second: The rate of the layer above.
        devices: How many devices both rates are of; None where one does not say.
    """

    mode: str
    request_bytes: int
    below: str
    above: str
    below_bytes_per_second: float
    above_bytes_per_second: float
    devices: int | None

    @property
    def cost(self) -> float:
        """1 - above / below; below zero where caches made the upper layer the faster one."""
        return 1.0 - self.above_bytes_per_second / self.below_bytes_per_second


def medians(rows: Iterable[Benchmark]) -> list[Benchmark]:
    """The rates of data with repeats of a test as one row, which has their median."""
    groups = repeated([one for one in rows if one.bytes_per_second is not None])
    return [
        replace(
            of_test[0],
            bytes_per_second=statistics.median(one.bytes_per_second or 0.0 for one in of_test),
        )
        for of_test in groups.values()
    ]


def best(rows: Sequence[Benchmark]) -> list[Benchmark]:
    """The best rate of each layer by mode and size, over queues, threads and clients.

    Of runs on several numbers of devices, those on the most count; devices that ran alone have the
    median of them.

    Args:
        rows: Rates; those of one device among others are passed over.
    """
    found: dict[tuple[str, str, int | None], Benchmark] = {}
    for one in medians(replace(one, device="") for one in rows if one.is_of_all):
        key = (one.layer, str(one.mode), one.request_bytes)
        if key not in found or _rank(one) > _rank(found[key]):
            found[key] = one
    return list(found.values())


def _rank(one: Benchmark) -> tuple[int, float]:
    return (one.devices or 0, one.bytes_per_second or 0.0)


def costs(rows: Sequence[Benchmark]) -> list[LayerCost]:
    """What each layer costs on the next below it that was measured alike.

    Args:
        rows: Rates of several layers.

    Returns:
        A cost a mode, size and pair of layers, in the order of modes and sizes.
    """
    by_cell: dict[tuple[str, int], dict[str, Benchmark]] = {}
    for one in best(rows):
        if one.request_bytes is not None:
            by_cell.setdefault((str(one.mode), one.request_bytes), {})[one.layer] = one
    made = []
    for (mode, size), layers in sorted(
        by_cell.items(), key=lambda cell: (MODES.index(cell[0][0]), cell[0][1])
    ):
        there = [layers[layer] for layer in DATA_LAYERS if layer in layers]
        for below, above in pairwise(there):
            made.append(_cost(mode, size, below, above))
    return made


def _cost(mode: str, size: int, below: Benchmark, above: Benchmark) -> LayerCost:
    low, high = below.bytes_per_second or 0.0, above.bytes_per_second or 0.0
    devices = None
    if below.devices is not None and above.devices is not None:
        low, devices = low * above.devices / below.devices, above.devices
    return LayerCost(mode, size, below.layer, above.layer, low, high, devices)
