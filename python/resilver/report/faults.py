"""What breaks in a system, and when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from resilver.units import format_duration
from resilver.words import listed, percent, plural

if TYPE_CHECKING:
    from resilver.spec.faults import Fault
    from resilver.study.system_runs import SystemRuns

_SHOWN_MAX = 6
_MOMENTS_SHOWN_MAX = 4


def fault_seconds(point: SystemRuns) -> tuple[float, ...]:
    """When something breaks for good or for a while, in the order of time, each moment once."""
    return tuple(sorted({float(fault.at) for fault in _faults(point) if not _is_slow(fault)}))


def repair_seconds(point: SystemRuns) -> tuple[float, ...]:
    """When something that broke is repaired, in the order of time."""
    ends = (fault.broken for fault in _faults(point) if not _is_slow(fault))
    return tuple(sorted({float(one.until) for one in ends if one and one.until is not None}))


def _faults(point: SystemRuns) -> list[Fault]:
    """All faults of parts; soft errors are of strips."""
    faults = point.system.faults if point.system is not None else ()
    return [fault for fault in faults if fault.broken is not None]


def _is_slow(fault: Fault) -> bool:
    return fault.broken is not None and fault.broken.health > 0.0


def targets_words(fault: Fault) -> list[str]:
    """What a fault of parts is of: its names, or how many are drawn."""
    broken = fault.broken
    if broken is None:
        return []
    if isinstance(broken.targets, int):
        noun = "OSD" if broken.level == "osd" else broken.level
        return [f"{plural(broken.targets, noun)} at random"]
    return [*broken.targets]


def fault_sentences(point: SystemRuns) -> list[str]:
    """What breaks, when, for how long, and what is slow or rotten; "Nothing fails." for nothing."""
    moments: dict[float, list[str]] = {}
    for fault in _faults(point):
        if not _is_slow(fault):
            moments.setdefault(float(fault.at), []).extend(targets_words(fault))
    said = [f"Lost {_when(at)}: {_short(moments[at])}." for at in sorted(moments)]
    if (more := len(said) - _MOMENTS_SHOWN_MAX) > 0:
        said[_MOMENTS_SHOWN_MAX:] = [f"And so at {more:,} later moments."]
    if repairs := repair_seconds(point):
        said.append(f"Repaired at {_short([format_duration(at) for at in repairs])}.")
    replaced = {one.replaced_after for one in _faults(point) if one.replaced_after is not None}
    if replaced:
        times = ", ".join(map(format_duration, sorted(replaced)))
        said.append(f"Replaced where it was, and rebuilt there alone, {times} after it failed.")
    windows = [one.recovery.window for one in _faults(point) if one.recovery is not None]
    if windows:
        ends = format_duration(float(max(windows)))
        said.append(f"What is repaired serves once its clients have reconnected, {ends} at most.")
    slow = [_slow(fault) for fault in _faults(point) if _is_slow(fault)]
    said += [f"Slow: {'; '.join(slow)}."] if slow else []
    faults = point.system.faults if point.system is not None else ()
    rotten = [_rotten(fault) for fault in faults if fault.corrupt is not None]
    said += [f"Soft errors: {'; '.join(rotten)}."] if rotten else []
    return said or ["Nothing fails."]


def _when(seconds: float) -> str:
    return f"at {format_duration(seconds)}" if seconds else "at time zero"


def _short(words: list[str]) -> str:
    """The first of a list, and how many more there are."""
    more = len(words) - _SHOWN_MAX
    return ", ".join(words[:_SHOWN_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _slow(fault: Fault) -> str:
    names, broken = targets_words(fault), fault.broken
    assert broken is not None
    is_one = len(names) == 1 and broken.targets in (1, tuple(names))
    text = f"{_short(names)} {'works' if is_one else 'work'} at {percent(broken.health)} of "
    text += "the speed" + (f" from {format_duration(fault.at)} on" if fault.at else "")
    return text + (f" until {format_duration(broken.until)}" if broken.until is not None else "")


def _rotten(fault: Fault) -> str:
    corrupt = fault.corrupt
    assert corrupt is not None
    groups = corrupt.groups
    count = groups if isinstance(groups, int) else len(groups)
    where = plural(count, "group")
    if not isinstance(groups, int):
        where = f"{'group' if count == 1 else 'groups'} {listed([str(at) for at in groups])}"
    text = f"{where} {'rebuilds' if count == 1 else 'rebuild'} strips in place"
    text += f" ({corrupt.code})" if corrupt.code is not None else ""
    return text + (f" from {format_duration(fault.at)} on" if fault.at else "")


def fault_marks_text(seconds: Iterable[float]) -> str:
    """What the dashed lines at these seconds are; empty for one fault at the beginning."""
    moments = [format_duration(at) for at in seconds]
    if not any(seconds):
        return ""
    which = "A dashed line marks the fault" if len(moments) == 1 else "Dashed lines mark faults"
    return f"{which}, at {_short(moments)}."
