"""The most memory that this process has had."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path


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
