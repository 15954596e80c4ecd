"""What a job is expected to get where its files are, and where round robin would put them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from resilver.center.layers import Layers
from resilver.center.shares import Floats, Ints

LAYERS = ("routers", "servers", "targets")

_STARTS = 16
"""From how many targets round robin is begun, evenly spread."""

_FEW = 64
"""Of no more targets than these it is begun from each."""


@dataclass(frozen=True)
class Expected:
    """What a job gets.

    Rates are bytes/s where the rate of a target is known, else targets' worth of it.

    Attributes:
        slowest: The files' number times the slowest file's rate: a job ends with its last file.
        mean: The files' number times their mean rate, each file at its own slowest part.
        binding: The layer that the slowest file waits for.
    """

    slowest: float
    mean: float
    binding: str


@dataclass(frozen=True)
class RoundRobin:
    """What a job gets from the file system's own round robin, which begins anywhere.

    Attributes:
        slowest: As `Expected` has it, by the job's mean time over these beginnings.
        mean: As `Expected` has it: the mean over them.
        least: The least that the files' number times the slowest comes to.
        most: The most.
        binding: The layer that mostly binds.
        starts: Over how many beginnings.
    """

    slowest: float
    mean: float
    least: float
    most: float
    binding: str
    starts: int = field(default=0)


def expect(layers: Layers, placed: Ints, clients: Ints | None) -> Expected:
    """What a job gets of a placement.

    Args:
        placed: The targets of each file: shape (files, stripes).
        clients: The client of each file, as a row of the layers' ways, or None.
    """
    paces = stream_paces(layers, placed, clients)
    files, stripes = placed.shape
    worst = paces.max(axis=0)
    slowest_file = worst.max(axis=1)
    unit = 1.0 if layers.rate is not None else float(layers.nested.targets.rates.max())
    found = np.unravel_index(int(paces.argmax()), paces.shape)[0]
    # Targets of which none is nearer are told before what lies before them.
    ties = [at for at in range(len(LAYERS)) if paces[at].max() >= paces.max() * (1.0 - 1e-9)]
    binding = LAYERS[ties[-1] if ties else int(found)]
    return Expected(
        files * stripes / float(slowest_file.max()) / unit,
        float((stripes / slowest_file).sum()) / unit,
        binding,
    )


def stream_paces(layers: Layers, placed: Ints, clients: Ints | None) -> Floats:
    """How long each stream takes a byte at its router, server and target.

    Args:
        placed: The targets of each file: shape (files, stripes).
        clients: The client of each file, or None.

    Returns:
        Shape (3, files, stripes); 0 where there are no routers.
    """
    nested = layers.nested
    targets = np.bincount(placed.reshape(-1), minlength=len(nested.targets.rates))
    behind = np.bincount(nested.server_of[placed].reshape(-1), minlength=len(nested.servers.rates))
    paces = np.zeros((3, *placed.shape))
    paces[1] = nested.servers.pace(behind)[nested.server_of[placed]]
    paces[2] = nested.targets.pace(targets)[placed]
    if layers.routers is not None and layers.ways is not None and clients is not None:
        by = layers.ways[clients[:, None], nested.network_of[placed]]
        counts = np.bincount(by.reshape(-1), minlength=len(layers.routers.rates))
        paces[0] = layers.routers.pace(counts)[by]
    return paces


def round_robin(layers: Layers, files: int, stripes: int, start: int) -> Ints:
    """Where the file system's own round robin puts files, beginning at a target.

    Args:
        layers: The layers; targets that are not active are passed over.
        files: How many files.
        start: The target that it begins with, of those that are active.

    Returns:
        Shape (files, stripes).
    """
    active = np.flatnonzero(layers.is_active)
    turn = (start + np.arange(files * stripes)) % len(active)
    return active[turn].reshape(files, stripes)


def expect_round_robin(
    layers: Layers, files: int, stripes: int, clients: Ints | None
) -> RoundRobin:
    """What a job gets from round robin, over its beginnings.

    Args:
        files: How many files.
        clients: The client of each file, or None.
    """
    active = int(layers.is_active.sum())
    starts = active if active <= _FEW else _STARTS
    begins = np.linspace(0, active, starts, endpoint=False).astype(int)
    found = [
        expect(layers, round_robin(layers, files, stripes, int(start)), clients) for start in begins
    ]
    slowest = [one.slowest for one in found]
    binding = [one.binding for one in found]
    return RoundRobin(
        float(1.0 / np.mean(1.0 / np.array(slowest))),
        float(np.mean([one.mean for one in found])),
        min(slowest),
        max(slowest),
        max(LAYERS, key=binding.count),
        len(found),
    )
