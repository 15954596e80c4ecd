"""What fails in a run with nobody told: disks, links and switches, by name or drawn by the core."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resilver import _core, describe
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.simulate.network import node_names, topology_of
from resilver.spec import System

if TYPE_CHECKING:
    from resilver.spec import Run
    from resilver.spec.faults import Fault


@dataclass(frozen=True)
class SilentFaults:
    """The disks, links and switches that fail in a run.

    Attributes:
        described: The faults as the core reads them, in the order of their times.
        names: The names of what fails, by kind: ``disks``, ``links``, ``switches``.
    """

    described: tuple[dict[str, Any], ...]
    names: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Candidates:
    """What of a kind there is: names by number, those that a draw may take, and other spellings."""

    names: dict[int, str]
    drawable: tuple[int, ...]
    also: dict[str, int]


def silent_faults(system: System, seed: int, failed: Collection[int] = ()) -> SilentFaults:
    """What fails in a run besides the servers whose data is rebuilt.

    Args:
        system: The system, whose faults name components or say how many.
        seed: The seed of the run, which decides where a fault says how many.
        failed: The numbers of the devices that other faults take away; they are not drawn.

    Returns:
        The faults. Draws are made in the order of their times, among what no fault names and no
        earlier draw took.

    Raises:
        ConfigError: A name is not one of the system's, or fewer components are left to draw from
            than a fault says.
    """
    silent = [(index, fault) for index, fault in enumerate(system.faults) if fault.is_silent]
    silent.sort(key=lambda numbered: numbered[1].at)
    kinds = sorted({fault.failing.kind for _, fault in silent})
    candidates = {kind: _candidates(system, seed, kind, failed) for kind in kinds}
    taken: dict[str, set[int]] = {kind: set() for kind in kinds}
    chosen: dict[int, list[int]] = {}
    for index, fault in silent:
        kind, targets = fault.failing.kind, fault.failing.targets
        if not isinstance(targets, int):
            chosen[index] = _named(index, kind, targets, candidates[kind])
            taken[kind].update(chosen[index])
    for index, fault in silent:
        kind, targets = fault.failing.kind, fault.failing.targets
        if isinstance(targets, int):
            chosen[index] = _drawn(index, kind, targets, seed, candidates[kind], taken[kind])
            taken[kind].update(chosen[index])
    return SilentFaults(
        tuple(_described(fault, chosen[index]) for index, fault in silent),
        {
            kind: tuple(candidates[kind].names[number] for number in sorted(taken[kind]))
            for kind in kinds
        },
    )


def check_silent_faults(runs: Iterable[Run]) -> None:
    """Check that every run's topology can be built and has what its faults name or draw.

    Args:
        runs: Runs of a study.

    Raises:
        ConfigError: A topology cannot be built, a name is not one of the network's, or a fault
            draws more than there are.
    """
    seen: set[tuple[str, int | None]] = set()
    for run in runs:
        faults = [fault for fault in run.system.faults if fault.is_silent]
        topology = run.system.cluster.fabric.topology
        if not faults and topology is None:
            continue
        # How many there are is the same for all seeds; which name is where may not be.
        is_named = any(not isinstance(fault.failing.targets, int) for fault in faults)
        content = [
            topology.content() if topology else None,
            run.system.server_count,
            [fault.content() for fault in run.system.faults],
        ]
        case = (json.dumps(content, sort_keys=True), run.seed if is_named else None)
        if case not in seen:
            seen.add(case)
            topology_of(run.system, run.seed)
            failed = describe.failed_devices(run.system, run.seed, _core.choose_failed)
            silent_faults(run.system, run.seed, failed)


def link_names(node_names: Sequence[str], first: Sequence[int], second: Sequence[int]) -> list[str]:
    """The names of links by those of their ends.

    Args:
        node_names: The name of every node.
        first: For each link the node at its one end.
        second: For each link the node at its other end.

    Returns:
        Names such as ``host.3-switch.7``; of parallel links, those after the first end in ``#2``,
        ``#3`` and so on.

    >>> link_names(["leaf.0", "spine.0"], [0, 0], [1, 1])
    ['leaf.0-spine.0', 'leaf.0-spine.0#2']
    """
    names = []
    count: dict[str, int] = {}
    for one, other in zip(first, second, strict=True):
        name = f"{node_names[one]}-{node_names[other]}"
        count[name] = count.get(name, 0) + 1
        names.append(name if count[name] == 1 else f"{name}#{count[name]}")
    return names


def _candidates(system: System, seed: int, kind: str, failed: Collection[int]) -> _Candidates:
    if kind == "disks":
        names = {device.number: device.name for device in describe.devices(system)}
        left = tuple(number for number in names if number not in set(failed))
        return _Candidates(names, left, {})
    topology = topology_of(system, seed)
    if topology is None:
        rule = f'{kind} are those of a fabric of switches, and this one is of model "loggp"'
        remedy = 'add model = "switched" and a topology to cluster.fabric'
        raise ConfigError(Problem(rule, remedy, key=f"faults.fail.{kind}"))
    nodes = node_names(system, topology)
    if kind == "switches":
        drawable = tuple(map(int, topology.failing_switches()))
        return _Candidates(dict(enumerate(nodes)), drawable, {})
    ends = [array.tolist() for array in topology.ends()]
    names = dict(enumerate(link_names(nodes, *ends)))
    turned = link_names(nodes, ends[1], ends[0])
    return _Candidates(
        names,
        tuple(map(int, topology.failing_links())),
        {name: number for number, name in enumerate(turned)},
    )


def _named(index: int, kind: str, targets: Sequence[str], candidates: _Candidates) -> list[int]:
    numbers = {name: number for number, name in candidates.names.items()}
    problems = []
    chosen = []
    for name in targets:
        number = numbers.get(name, candidates.also.get(name))
        if number is None:
            singular = {"disks": "disk", "links": "link", "switches": "switch"}[kind]
            remedy = name_remedy(name, list(numbers))
            problems.append(
                Problem(
                    f"there is no such {singular}",
                    remedy,
                    key=f"faults.{index}.fail.{kind}",
                    value=show(name),
                )
            )
        elif number not in chosen:
            chosen.append(number)
    if problems:
        raise ConfigError(problems)
    return sorted(chosen)


def _drawn(
    index: int, kind: str, count: int, seed: int, candidates: _Candidates, taken: set[int]
) -> list[int]:
    left = [number for number in candidates.drawable if number not in taken]
    if count > len(left):
        among = {
            "disks": "disks",
            "links": "links between nodes that pass packets on",
            "switches": "nodes that pass packets on and are no routers",
        }[kind]
        rule = f"{len(left)} {among} are left to draw from"
        key = f"faults.{index}.fail.{kind}"
        raise ConfigError(Problem(rule, "let fewer fail", key=key, value=show(count)))
    return [left[number] for number in _core.choose_failed(seed, index, len(left), count)]


def _described(fault: Fault, numbers: list[int]) -> dict[str, Any]:
    repair = None if fault.repair_after is None else float(fault.at + fault.repair_after)
    described: dict[str, Any] = {
        "at_seconds": float(fault.at),
        "repair_at_seconds": repair,
        "links": [],
        "nodes": [],
        "disks": [],
    }
    described["nodes" if fault.failing.kind == "switches" else fault.failing.kind] = numbers
    return described
