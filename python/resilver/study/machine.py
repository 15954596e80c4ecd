"""How much memory this machine has for runs, and which runs would not fit."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.errors import Problem, raise_all
from resilver.units import format_bytes

if TYPE_CHECKING:
    from resilver.spec import Run


_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_MEMINFO = Path("/proc/meminfo")
_UNLIMITED = 2**60
"""What version 1 of control groups calls no limit is about 2^63; no machine has this much."""


@dataclass(frozen=True)
class Memory:
    """The memory that runs may use.

    Attributes:
        total_bytes: That of the machine, or what its control group allows if that is less.
        available_bytes: What of it nobody uses now.
        limit: What sets the total: ``machine`` or ``control group``.
    """

    total_bytes: int
    available_bytes: int
    limit: str

    @property
    def words(self) -> str:
        """How much there is, and by whose leave."""
        who = "this machine has" if self.limit == "machine" else "the control group allows"
        return f"{who} {format_bytes(self.total_bytes)}"


def machine_memory() -> Memory | None:
    """The memory of this machine; None where it does not say."""
    total, available = _of_system()
    if not total:
        return None
    allowed, free, limit = total, available, "machine"
    for most, used in _of_cgroups():
        if most < allowed:
            allowed, limit = most, "control group"
        free = min(free, max(most - used, 0))
    return Memory(allowed, min(free, allowed), limit)


def memory_problems(
    needs: Sequence[float], names: Sequence[str], memory: Memory | None = None
) -> list[Problem]:
    """That one run of a system alone needs more memory than there is.

    Args:
        needs: What a run of each system needs, in bytes.
        names: What tells the systems apart, in words; may be empty.
        memory: What there is; by default what this machine has.

    Returns:
        A problem for the system that needs most, with how many others there are; none where all
        fit.
    """
    memory = memory or machine_memory()
    if memory is None or not needs:
        return []
    most = memory.total_bytes
    larger = [(need, name) for need, name in zip(needs, names, strict=True) if need > most]
    if not larger:
        return []
    need, name = max(larger, key=lambda one: one[0])
    at = f" at {name}" if name else ""
    rule = f"a run{at} needs about {format_bytes(need)} of memory, and {memory.words}"
    if len(larger) > 1:
        rule += f"; so it is with {len(larger)} of {len(needs)} systems"
    remedy = (
        "store less or in larger objects, use a larger recovery.pipeline_buffer, or run it where "
        "there is more memory with --cluster"
    )
    return [Problem(rule, remedy)]


def refuse_too_large(runs: Sequence[Run]) -> None:
    """Refuse runs that this machine cannot hold.

    Raises:
        ConfigError: One of them alone needs more memory than there is.
    """
    from resilver.estimate import estimate

    systems = {id(run.system): run for run in runs}.values()
    needs = [float(estimate(run.system)["memory_bytes"]) for run in systems]
    names = [", ".join(f"{key} = {value}" for key, value in run.swept.items()) for run in systems]
    raise_all(memory_problems(needs, names))


def _of_system() -> tuple[int, int]:
    """The machine's memory, and what of it is free or can be freed; zeros where it is unknown."""
    try:
        rows = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines() if ":" in line)
        sizes = {name: int(value.split()[0]) * 1024 for name, value in rows.items()}
        return sizes["MemTotal"], sizes.get("MemAvailable", sizes["MemTotal"])
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0, 0
    return max(total, 0), max(total, 0)


def _of_cgroups() -> Iterator[tuple[int, int]]:
    """The limit and the use of each control group that this process is in, of either version."""
    try:
        lines = _OWN_CGROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            root, names = _CGROUPS, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = _CGROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # A group above may allow less; in a container the path is not seen, and its root is ours.
        folder = root / path.lstrip("/")
        for one in dict.fromkeys([folder, *folder.parents, root]):
            if one == root or root in one.parents:
                most, used = (_number(one / name) for name in names)
                if most is not None and most < _UNLIMITED:
                    yield most, used or 0


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def reset_peak_memory() -> None:
    """Begin a new measurement of this process's peak memory, where the system can do that."""
    try:
        # Writing 5 resets the high-water mark of the resident set (proc(5), clear_refs), so that a
        # worker's second run is not charged with its first.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory_bytes() -> int | None:
    """The largest resident set of this process since `reset_peak_memory`.

    Returns:
        Bytes, with the interpreter and its libraries included; None if the system does not tell.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        # getrusage cannot be reset and covers the whole life of the process: an upper bound. It
        # counts KiB, and bytes on macOS.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    match = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None
