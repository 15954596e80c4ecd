"""Replica sets to judge: of a pool's groups, a rule's inputs or a study's objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.cli.crush.inputs import copies_of, range_of, reweights_of, rules_of
from resilver.cli.crush.options import Inputs
from resilver.cli.crush.source import (
    ClusterSource,
    MapSource,
    Source,
    StudySource,
    reweighted,
)
from resilver.cli.crush.structure import MapLevel
from resilver.cli.place.options import Asked
from resilver.errors import ConfigError
from resilver.importers.buckets import Rule
from resilver.spec.tree import Level, Tree, plural

if TYPE_CHECKING:
    from resilver.importers import ClusterReport, PoolInfo
    from resilver.spec import System

Sets = npt.NDArray[np.int32]

PG = "PG"
"""The unit of what is placed by placement groups."""

_WEIGHT_ONE = 0x10000

# Copies a device in a judgement of inputs, where nobody says how many: what operators give a device
# in placement groups, and a study's "auto".
_COPIES_A_DEVICE = 100
_INPUTS_MIN, _INPUTS_MAX = 1024, 2**20

# Inputs placed between two looks at Ctrl-C: under a second of the slowest map.
_BLOCK = 2**17


@dataclass(frozen=True)
class Placement:
    """Replica sets with what is known of them and of their devices.

    Attributes:
        title: What they are, for a heading.
        key: What two placements have in common that can be compared, such as a pool's name.
        unit: What a set is: PG, input or object.
        sets: A row a set; -1 after a short one, 2147483647 for a hole.
        set_bytes: The bytes of one copy or piece of each, or None.
        by_position: Whether a place in a set has a meaning of its own.
        device_names: By device number.
        weights: Effective weights by device number; zero for what holds nothing.
        levels: What devices are in, the lowest level first.
        after: The sets of some rows once a device is out.
        rows_alone: Whether `after` places no more than the rows asked for.
        is_coded: Whether sets hold the pieces of a code, not copies.
        fatal: How many losses no set of a code survives, where its number alone tells.
        by_device: Whether a device is repaired as a whole, and not PG by PG.
    """

    title: str
    key: str
    unit: str
    sets: Sets
    set_bytes: npt.NDArray[np.float64] | None
    by_position: bool
    device_names: list[str]
    weights: npt.NDArray[np.float64]
    levels: tuple[MapLevel, ...]
    after: Callable[[int, npt.NDArray[np.int64]], Sets]
    rows_alone: bool = False
    is_coded: bool = False
    fatal: int | None = None
    by_device: bool = False


def placements(source: Source, asked: Asked) -> list[Placement]:
    """Everything to judge in a source.

    Args:
        asked: The rule with its inputs and copies; reweights, the pool, and the seed of objects.

    Returns:
        A placement a pool of a cluster (of a rule, with --rule) or of a study; one a rule of a map.

    Raises:
        ConfigError: There is no such pool, rule or device.
    """
    source = source if asked.rule is not None else reweighted(source, asked.weights)
    if isinstance(source, StudySource):
        named = zip(source.pools(asked.pool), _names(source, asked.pool), strict=True)
        return [_of_study(system, name, asked) for system, name in named]
    if isinstance(source, ClusterSource) and asked.rule is None:
        return [_of_pool(source, pool) for pool in source.pools(asked.pool)]
    keys = ("rule", "copies", "first", "last", "weights")
    inputs = Inputs(**{key: getattr(asked, key) for key in keys})
    rules = [rule for _, rule in rules_of(source, inputs) if rule is not None]
    if not rules:
        raise ConfigError(f"{source.label!r} has no rules, so nothing is placed; add a rule to it")
    return [_of_rule(source, rule, inputs) for rule in rules]


def _of_pool(source: ClusterSource, pool: PoolInfo) -> Placement:
    from resilver.simulate import group_sets

    report, structure = source.report, source.structure
    weights = structure.device_weights(structure.rules.get(pool.rule_id))
    reweights = np.zeros(len(weights))
    given = np.asarray(report.osd_states.reweights[: len(weights)], dtype=np.float64) / _WEIGHT_ONE
    reweights[: len(given)] = given

    def after(device: int, rows: npt.NDArray[np.int64]) -> Sets:
        osds = tuple(
            replace(osd, reweight=0, in_cluster=False) if osd.id == device else osd
            for osd in report.osds
        )
        return group_sets(replace(report, osds=osds), pool.id).up[rows]

    return Placement(
        title=f"pool '{pool.name}' ({pool.id}): {pool.pg_num:,} PGs of size {pool.size}",
        key=pool.name,
        unit=PG,
        sets=group_sets(report, pool.id).up,
        set_bytes=_piece_bytes(report, pool),
        by_position=pool.kind == "erasure",
        device_names=structure.device_names(),
        weights=weights * reweights,
        levels=structure.levels,
        after=after,
    )


def _piece_bytes(report: ClusterReport, pool: PoolInfo) -> npt.NDArray[np.float64] | None:
    """The bytes of one copy of each group; None for an erasure pool, whose k no report states, and
    where the report says nothing of bytes.
    """
    if pool.kind != "replicated":
        return None
    try:
        loads = report.loads
    except ConfigError:
        return None
    of_group = np.array([load.bytes for load in loads if load.pool == pool.id], dtype=np.float64)
    return of_group if of_group.any() else None


def _of_rule(source: MapSource, rule: Rule, asked: Inputs) -> Placement:
    copies = copies_of(rule, asked)[1]
    known = source.report.osd_states.reweights if isinstance(source, ClusterSource) else ()
    structure, weights = source.structure, reweights_of(source, asked, known)
    effective = structure.device_weights(rule) * weights / _WEIGHT_ONE
    first, last = _inputs(asked, int(np.count_nonzero(effective)), copies)
    inputs = np.arange(first, last + 1, dtype=np.uint32)
    sets = np.empty((len(inputs), copies), dtype=np.int32)
    # In blocks, between which Ctrl-C is heard.
    for start in range(0, len(inputs), _BLOCK):
        block = slice(start, start + _BLOCK)
        sets[block] = source.crush.map_rule(rule.id, inputs[block], copies, weights)

    def after(device: int, rows: npt.NDArray[np.int64]) -> Sets:
        without = weights.copy()
        without[device] = 0
        return source.crush.map_rule(rule.id, inputs[rows], copies, without)

    return Placement(
        title=f"rule {rule.id} ({rule.name}): inputs {first} to {last}, {copies} copies",
        key=rule.name,
        unit="input",
        sets=sets,
        set_bytes=None,
        by_position=any("indep" in step["op"] for step in rule.steps),
        device_names=structure.device_names(),
        weights=effective,
        levels=structure.levels,
        after=after,
        rows_alone=True,
    )


def _inputs(asked: Inputs, devices: int, copies: int) -> tuple[int, int]:
    """The inputs asked for; else from 0 on so many that a device holds some hundred copies."""
    if asked.first is not None or asked.last is not None:
        return range_of(asked)
    count = _INPUTS_MIN
    while count * copies < _COPIES_A_DEVICE * devices and count < _INPUTS_MAX:
        count *= 2
    return 0, count - 1


def _names(source: StudySource, wanted: str | None) -> list[str]:
    """The names of the pools of a study that were asked for; of one that names none, empty."""
    names = [name for name in source.system.pool_names if wanted in (None, name)]
    return names if source.system.pools else [""] * len(names)


def _of_study(system: System, name: str, asked: Asked) -> Placement:
    from resilver.simulate import group_sets_of, place_objects, redundancy

    servers, copies = system.server_count, system.copies or 1
    tree = system.cluster.tree or Tree((Level("server", servers),), "server")
    only = system.placement.only_class if system.placement else None
    groups = system.placement_group_count
    inputs = Inputs(first=asked.first, last=asked.last)
    first, last = _inputs(inputs, servers, copies)

    def sets(failed: tuple[int, ...]) -> Sets:
        if groups is not None:
            return group_sets_of(system, failed, seed=asked.seed)
        return place_objects(system, asked.seed, first, last - first + 1, failed)

    what = f"{groups:,} PGs" if groups is not None else f"objects {first} to {last}"
    algorithm = system.placement.algorithm if system.placement else "crush"
    code = system.code
    fatal = None
    # Of losses beyond its tolerance any other code survives some and others not.
    if code is not None and code.is_separable:
        fatal = redundancy(code.label).fault_tolerance + 1
    return Placement(
        title=(f"pool '{name}': " if name else "")
        + f"{algorithm} on {servers:,} {plural(tree.device_level)}: {what} of {copies}",
        key=name or "study",
        unit="object" if groups is None else PG,
        sets=sets(()),
        set_bytes=None,
        by_position=code is not None and algorithm == "crush",
        device_names=[f"{tree.device_level}.{number}" for number in range(servers)],
        weights=np.array(system.cluster.is_of_class(only), dtype=float),
        levels=tuple(
            _even_level(level.name, level.count, servers) for level in reversed(tree.levels[:-1])
        ),
        after=lambda device, rows: sets((device,))[rows],
        is_coded=code is not None,
        fatal=fatal,
        by_device=groups is None or algorithm == "groups",
    )


def _even_level(name: str, count: int, servers: int) -> MapLevel:
    """Servers fill the first rack, then the next, as the core's map has them."""
    part_of = np.arange(servers, dtype=np.int64) // (servers // count)
    return MapLevel(name, tuple(f"{name}.{number}" for number in range(count)), part_of)
