"""Systems in which nothing happens, which is seldom meant."""

from __future__ import annotations

from collections.abc import Sequence

from resilver.spec.system import System


def idle(system: System) -> str:
    """Why nothing will happen in a system, in words; empty where something will.

    >>> from resilver import Cluster, Population, System
    >>> idle(System(cluster=Cluster(servers=8), population=Population(file_size="1 MiB", files=9)))
    'nothing fails and no client asks for anything'
    """
    pools = system.of_pools
    if system.report is not None:
        # What is not clean heals, whatever fails.
        return ""
    if any(pool.traffic is not None for pool in pools):
        return ""
    if all(_stores_nothing(pool) for pool in pools):
        return "nothing is stored and no client asks for anything"
    if not system.faults:
        return "nothing fails and no client asks for anything"
    if not any(fault.starts_rebuild or fault.corrupt for fault in system.faults):
        return "the system detects no failure and no client sends a request"
    return ""


def idle_note(systems: Sequence[System]) -> str:
    """A sentence on the systems of a study that do nothing; empty where all do something.

    Args:
        systems: The systems of its sweep.
    """
    reasons = [why for system in systems if (why := idle(system))]
    if not reasons:
        return ""
    if len(reasons) == len(systems):
        return f"the study does nothing: {reasons[0]}."
    return f"{len(reasons)} of {len(systems)} systems do nothing: {reasons[0]}."


def _stores_nothing(pool: System) -> bool:
    files, volume = pool.population_target_files, pool.population_target_bytes
    return files == 0 if files is not None else volume == 0
