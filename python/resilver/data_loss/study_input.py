"""A study as a system whose durability is asked: its levels, and the sets its placement makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver import core_input
from resilver.crush.replica_sets import summed
from resilver.data_loss.question import Question
from resilver.data_loss.scenario import Level, StoredPool
from resilver.errors import ConfigError, show
from resilver.simulate import code_tree
from resilver.simulate.affecting import affected_batches
from resilver.simulate.layouts import group_sets_of, place_pieces
from resilver.spec import System

OBJECTS_MAX = 4_000_000
"""The most objects that are placed one by one to learn the sets they lie in."""

_FIRST = 2**18
"""So many objects tell in a second whether all lie in too many sets."""

# Where so few sets hold all objects that were placed, the chance that another holds one of the
# rest is negligible: each known set was met a hundred times on average.
_MEETINGS = 100


def levels_of(system: System) -> tuple[Level, ...]:
    """The levels of a synthetic system's parts, from the top."""
    tree = system.cluster.tree
    if tree is None:
        raise ConfigError("a study without a tree of parts has no devices", key="cluster.servers")
    levels = []
    above = 1
    for level in tree.levels:
        parents = np.arange(level.count, dtype=np.int64) * above // level.count
        levels.append(Level(level.name, parents))
        above = level.count
    return tuple(levels)


def pools_of(system: System, seed: int) -> tuple[StoredPool, ...]:
    """What is stored where: the sets that the system's own placement makes.

    Args:
        system: A synthetic system that stores something.
        seed: The seed of the run, which decides what copysets draw at random.

    Raises:
        ConfigError: Nothing is stored, or objects on their own are too many.
        PlacementError: A layout cannot be built.
    """
    _refuse_empty(system)
    return tuple(
        _pool(pool, name, seed)
        for pool, name in zip(system.of_pools, system.pool_names, strict=True)
    )


def refuse_scattered(system: System, seed: int) -> None:
    """Refuse what `pools_of` refuses, by the first objects alone.

    Args:
        system: A synthetic system.
        seed: The seed of the run.

    Raises:
        ConfigError: Nothing is stored, or objects on their own are too many.
    """
    _refuse_empty(system)
    for pool in system.of_pools:
        if pool.placement_group_count is None and _objects_about(pool) > OBJECTS_MAX:
            _object_sets(pool, seed, _FIRST)


def _refuse_empty(system: System) -> None:
    if system.is_traffic_only or not any(pool.population for pool in system.of_pools):
        rule = "nothing is stored in this study, and so nothing can be lost"
        remedy = 'add [population], such as file_size = "64 MiB" and bytes_per_server = "20 TiB"'
        raise ConfigError(rule, remedy, key="population")


def _alike(system: System, sets: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sets, sorted where any pieces may be lost as long as they are few enough."""
    code = code_tree(_code(system))
    return np.sort(sets, axis=1) if code.fault_tolerance == code.pieces - code.data else sets


def _pool(system: System, name: str, seed: int) -> StoredPool:
    code = _code(system)
    data = code_tree(code).data
    if system.placement_group_count is None:
        sets, stored = _object_sets(system, seed)
    else:
        sets = group_sets_of(system, seed=seed).astype(np.int64)
        stored = np.full(len(sets), _stored_bytes(system) / len(sets))
    piece_bytes = np.maximum(np.ceil(stored / data), 1).astype(np.int64)
    sets[(sets < 0) | (sets == 2**31 - 1)] = -1
    return StoredPool(name, code, sets, piece_bytes)


def _code(system: System) -> str:
    return f"copies {system.copies}" if system.code is None else system.code.label


def _stored_bytes(system: System) -> float:
    """What a pool stores before redundancy."""
    if system.population_target_bytes is not None:
        return float(system.population_target_bytes)
    population = system.population
    assert population is not None
    return float(population.mean_file_bytes * (population.files or 0))


def _object_sets(
    system: System, seed: int, most: int = OBJECTS_MAX
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The different sets that objects lie in, and what each holds; of so many objects at most."""
    sets = np.zeros((0, system.copies or 1), dtype=np.int64)
    stored: npt.NDArray[np.float64] = np.zeros(0)
    placed, is_hopeless = 0, False
    for objects, sizes in _objects(system, seed):
        found = place_pieces(system, seed, objects).astype(np.int64)
        joined = _alike(system, np.concatenate([sets, found]))
        weights = np.concatenate([stored, sizes])
        sets, which = np.unique(joined, axis=0, return_inverse=True)
        stored = summed(which.reshape(-1), weights, len(sets))
        placed += len(objects)
        # So many sets are too many for as many objects as are placed at the most.
        is_hopeless = _MEETINGS * len(sets) > OBJECTS_MAX and _objects_about(system) > OBJECTS_MAX
        if placed >= most or is_hopeless:
            break
    if placed >= most or is_hopeless:
        if is_hopeless or OBJECTS_MAX <= placed < _MEETINGS * len(sets):
            rule = f"more than {OBJECTS_MAX:,} objects lie each in a set of its own"
            remedy = "place by groups (placement_groups = 4096), or store less"
            raise ConfigError(rule, remedy, key="placement.placement_groups", value=show("none"))
        stored *= _stored_bytes(system) / stored.sum()
    if not placed:
        raise ConfigError("the study stores no object", key="population")
    return sets, stored


def _objects_about(system: System) -> float:
    """How many objects a pool stores, about."""
    population = system.population
    assert population is not None
    return _stored_bytes(system) / population.mean_file_bytes


def _objects(
    system: System, seed: int
) -> Iterator[tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]]:
    """The identifiers and sizes of a pool's objects, in batches: those that losing all touches."""
    everything = [device.number for device in core_input.devices(system)]
    for batch in affected_batches(system, everything, seed=seed):
        objects = np.ascontiguousarray(batch["object"].to_numpy(), dtype=np.uint64)
        yield objects, batch["size_bytes"].to_numpy().astype(np.float64)


def is_by_device(system: System, question: Question) -> bool:
    """Whether devices come back as a whole: RAID sets, and what is rebuilt onto a replacement.

    Where objects are placed one by one a set holds many of them, of which the last is back at the
    end of a device's repair.
    """
    return question.section.is_onto_replacement or any(
        pool.placement_group_count is None
        or (pool.placement is not None and pool.placement.algorithm == "groups")
        for pool in system.of_pools
    )
