"""Which objects a set of failures makes unreadable, counted from placement and the code alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import core_input
from resilver.errors import ConfigError
from resilver.simulate.affecting import affected_batches, failed_numbers
from resilver.simulate.codes import Code, redundancy
from resilver.simulate.layouts import place_pieces
from resilver.simulate.progress import Progress
from resilver.spec import System


@dataclass(frozen=True)
class LostObjects:
    """What a set of failures at once does to the objects of a system.

    Attributes:
        affected_objects: Objects that had a piece on a failed device.
        affected_bytes: Their user data.
        lost_pieces: Pieces on failed devices.
        objects_by_losses: How many objects lack so many pieces, by that number from 1; pieces that
            found no device to begin with are lacking too.
        unrecoverable_objects: Objects that cannot be read any more.
        unrecoverable_bytes: Their user data.
    """

    affected_objects: int
    affected_bytes: int
    lost_pieces: int
    objects_by_losses: dict[int, int]
    unrecoverable_objects: int
    unrecoverable_bytes: int


def lost_objects(
    system: System,
    failed: Sequence[str | int],
    *,
    seed: int = 1,
    progress: Callable[[Progress], bool] | None = None,
) -> LostObjects:
    """Count the objects that cannot be read once some devices have failed at once.

    Nothing is simulated: the inverse of placement finds the objects with a piece on a failed
    device, placement says which of their pieces those are, and the code whether it survives that.

    Args:
        system: A synthetic system with a code or copies; its own faults play no part.
        failed: What fails: device numbers, or names such as ``server.3`` or ``rack.1``.
        seed: The key of the population's random draws.
        progress: Told several times a second how far the search is; answers whether to go on.

    Returns:
        The counts.

    Raises:
        ConfigError: A name or number is not one of the system's, or the system is a real cluster's.
        PlacementError: The placement cannot be built.
        Interrupted: `progress` answered False.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 12},
    ...     "population": {"file_size": "1 MiB", "files": 400},
    ...     "placement": {"algorithm": "groups", "group_size": 6},
    ...     "redundancy": {"code": "rs 4+2"},
    ... })
    >>> counted = lost_objects(study.runs()[0].system, [0, 1, 2])
    >>> counted.objects_by_losses == {3: counted.unrecoverable_objects}
    True
    """
    code = _code_of(system)
    numbers = failed_numbers(system, failed)
    objects = size_bytes = lost_count = lost_bytes = pieces = 0
    by_losses: Counter[int] = Counter()
    for batch in affected_batches(system, failed, seed=seed, progress=progress):
        sizes = batch["size_bytes"].to_numpy()
        losses = _losses(system, batch["object"].to_numpy(), numbers, seed)
        is_lost = _is_lost(code, losses)
        objects += len(sizes)
        size_bytes += int(sizes.sum())
        pieces += int(batch["lost"].to_numpy().sum())
        lost_count += int(np.count_nonzero(is_lost))
        lost_bytes += int(sizes[is_lost].sum())
        counts = np.bincount(losses.sum(axis=1))
        by_losses.update({int(number): int(counts[number]) for number in np.flatnonzero(counts)})
    ordered = {number: by_losses[number] for number in sorted(by_losses)}
    return LostObjects(objects, size_bytes, pieces, ordered, lost_count, lost_bytes)


def unrecoverable(
    system: System, objects: npt.ArrayLike, failed: Sequence[str | int], *, seed: int = 1
) -> npt.NDArray[np.bool_]:
    """Which of some objects cannot be read once some devices have failed at once.

    Args:
        system: A synthetic system with a code or copies.
        objects: Identifiers of objects, shape (n,).
        failed: What fails, as for `lost_objects`.
        seed: The seed of the run, which decides what copysets draw at random.

    Returns:
        Whether each is lost, shape (n,).

    Raises:
        ConfigError: A name or number is not one of the system's, or the system is a real cluster's.
        PlacementError: The placement cannot be built.
    """
    code = _code_of(system)
    numbers = failed_numbers(system, failed)
    asked = np.ascontiguousarray(objects, dtype=np.uint64)
    return _is_lost(code, _losses(system, asked, numbers, seed))


def _code_of(system: System) -> Code:
    """The code of a system's objects; copies are one too."""
    core_input.check_synthetic(system)
    if system.pools:
        system.of_pool()
    if system.population is None or system.redundancy is None:
        rule = "nothing is stored in this study, and so nothing can be lost"
        remedy = 'add [population], such as file_size = "64 MiB" and files = 1000'
        raise ConfigError(rule, remedy, key="population")
    return redundancy(f"copies {system.copies}" if system.code is None else system.code.label)


def _losses(
    system: System, objects: npt.NDArray[np.uint64], failed: list[int], seed: int
) -> npt.NDArray[np.bool_]:
    """Whether each piece of each object is lacking, shape (objects, pieces)."""
    placed = place_pieces(system, seed, objects)
    # A position without a device holds nothing, as a failed one.
    return np.isin(placed, [-1, *failed])


def _is_lost(code: Code, losses: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether the code does not survive what each object lacks; equal losses are asked once."""
    if not len(losses):
        return np.zeros(0, dtype=bool)
    kinds, kind_of = np.unique(losses, axis=0, return_inverse=True)
    is_lost = [not code.is_survivable(np.flatnonzero(kind).tolist()) for kind in kinds]
    return np.array(is_lost)[kind_of.reshape(-1)]
