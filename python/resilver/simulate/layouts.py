"""Where objects and groups of a synthetic system are, under any of its algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, show
from resilver.simulate.maps import maps_of
from resilver.spec import System

ROWS_MAX = 2**28
"""The most places of one answer: objects times copies, which then take 1 GiB."""


@dataclass(frozen=True)
class ParityGroupBalance:
    """How even declustered parity groups are.

    Attributes:
        groups: How many groups there are.
        load_min: The fewest groups that a server is in.
        load_max: The most groups that a server is in.
        pairs_min: The fewest groups that two servers of different failure domains share.
        pairs_max: The most groups that two servers of different failure domains share.
    """

    groups: int
    load_min: int
    load_max: int
    pairs_min: int
    pairs_max: int


def place_objects(
    system: System, seed: int, first: int, count: int, failed: Sequence[int] = ()
) -> npt.NDArray[np.int32]:
    """Where the objects of a range of identifiers are.

    Args:
        system: A synthetic system; with placement groups, an object is where its group is.
        seed: The seed of the run, which decides what copysets draw at random.
        first: The identifier of the first object, 0 to 2^64 - 1.
        count: How many objects, of consecutive identifiers.
        failed: Numbers of servers that failed; objects are then where they go after it.

    Returns:
        Numbers of servers in placement order, shape (count, copies); -1 after the end of a set that
        is short.

    Raises:
        ConfigError: The system is a real cluster's, or a number is out of range.
        PlacementError: The layout cannot be built.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 5},
    ...     "population": {"file_size": "1 MiB", "files": 1},
    ...     "placement": {"algorithm": "modulo"},
    ... })
    >>> place_objects(study.runs()[0].system, seed=1, first=0, count=2).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    copies = _copies(system, failed)
    rule = f"an answer has at most 2^28 = {ROWS_MAX} places, {copies} an object"
    if not 0 <= count <= ROWS_MAX // copies:
        raise ConfigError(rule, "ask for fewer at a time", key="count", value=show(count))
    if not 0 <= first <= 2**64 - max(count, 1):
        rule = "identifiers of objects are from 0 to 2^64 - 1"
        raise ConfigError(rule, "begin lower", key="first", value=show(first))
    with core_errors():
        text = core_input.core_json(system, seed, failed)
        return _core.place_objects(text, maps_of(system), first, count, copies)


def place_pieces(
    system: System, seed: int, objects: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int32]:
    """Where the pieces of some objects are.

    Args:
        system: A synthetic system.
        seed: The seed of the run, which decides what copysets draw at random.
        objects: Identifiers of objects, shape (n,).

    Returns:
        Numbers of servers in placement order, shape (n, copies); -1 where there is none.

    Raises:
        ConfigError: The system is a real cluster's.
        PlacementError: The layout cannot be built.
    """
    copies = _copies(system, ())
    with core_errors(f"seed {seed}"):
        text = core_input.core_json(system, seed, ())
        return _core.place_pieces(text, maps_of(system), objects, copies)


def group_sets_of(
    system: System, failed: Sequence[int] = (), *, seed: int = 1
) -> npt.NDArray[np.int32]:
    """Where all placement groups are.

    Args:
        system: A synthetic system with placement groups.
        failed: Numbers of servers that failed; groups are then where they go after it.
        seed: The seed of the run, which decides what copysets draw at random.

    Returns:
        Numbers of servers in placement order, shape (groups, copies); -1 after the end of a set
        that is short.

    Raises:
        ConfigError: The system is a real cluster's, or has no placement groups.
        PlacementError: The layout cannot be built.
    """
    copies = _copies(system, failed)
    if system.placement_group_count is None:
        rule = "each object is placed on its own"
        remedy = 'use placement_groups = "auto" or a number, or ask where objects are'
        raise ConfigError(rule, remedy, key="placement.placement_groups", value=show("none"))
    with core_errors():
        text = core_input.core_json(system, seed, failed)
        return _core.system_group_sets(text, maps_of(system), copies)


def parity_group_balance(system: System) -> ParityGroupBalance:
    """How evenly declustered parity groups fall on servers and on pairs of servers.

    Args:
        system: A system with ``algorithm = "declustered"``.

    Returns:
        The number of groups, and by how much servers and pairs of servers differ.

    Raises:
        ConfigError: The system has another layout.
        PlacementError: The layout cannot be built.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 64},
    ...     "population": {"file_size": "1 MiB", "files": 1},
    ...     "placement": {"algorithm": "declustered"},
    ... })
    >>> balance = parity_group_balance(study.runs()[0].system)
    >>> (balance.groups, balance.pairs_min, balance.pairs_max)
    (1344, 2, 2)
    """
    algorithm = system.placement.algorithm if system.placement else None
    if algorithm != "declustered":
        rule = 'parity groups are there with algorithm = "declustered"'
        raise ConfigError(rule, key="placement.algorithm", value=show(algorithm))
    with core_errors():
        balance = _core.parity_group_balance(core_input.core_json(system, 0, ()))
    if balance is None:
        raise ConfigError("the core built another layout than declustered groups")
    return ParityGroupBalance(**balance)


def _copies(system: System, failed: Sequence[int]) -> int:
    """Copies of an object, once it is sure that the question has an answer."""
    core_input.check_synthetic(system)
    if system.pools:
        system.of_pool()
    if system.population is None or system.copies is None:
        rule = "nothing is stored in this study, and so nothing has a place"
        remedy = 'add [population], such as file_size = "64 MiB" and files = 1000'
        raise ConfigError(rule, remedy, key="population")
    for server in failed:
        if not 0 <= server < system.server_count:
            rule = f"servers are numbered from 0 to {system.server_count - 1}"
            raise ConfigError(rule, key="failed", value=show(server))
    return system.copies
