"""Rolling maintenance: the parts of a level stopped and started again, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from resilver.errors import ConfigError, Problem, show
from resilver.importers.ceph import ClusterReport
from resilver.quantities import duration
from resilver.units import Seconds
from resilver.whatif.answer import PlannedStep, WhatIf
from resilver.whatif.each import (
    NotSettled,
    check_end,
    ending_after,
    harm_end,
    parts_at,
    settled_seconds,
)
from resilver.whatif.options import Request
from resilver.whatif.perform import Told, run_all, same
from resilver.whatif.plan import Plan, Wanted
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.several import Harm, Maintenance, Work, harm_order

OPTION = "--maintain"
_EXAMPLE = 'such as "each host, 20 min, noout"'


def read_work(text: str) -> Work:
    """What `--maintain` states: ``each host, 20 min, noout``; a flag counts once.

    Raises:
        ConfigError: It is not written so.
    """
    first, *rest = (part.strip() for part in text.split(","))
    level = "" if first == "each" else first.removeprefix("each ").strip()
    if not level or not rest or "" in rest:
        rule = "maintenance names a level, how long each part is down, and flags, if any"
        raise ConfigError(rule, _EXAMPLE, OPTION, show(text))
    try:
        seconds = float(Seconds.parse(rest[0]))
    except ConfigError as error:
        raise ConfigError(problem.under(OPTION) for problem in error.problems) from None
    if seconds < 1:
        raise ConfigError("a part is down for a second or more", _EXAMPLE, OPTION, show(text))
    return Work(level, seconds, tuple(dict.fromkeys(rest[1:])))


def maintain(
    report: ClusterReport,
    text: str,
    beside: Plan,
    request: Request,
    progress: Told | None = None,
) -> Maintenance:
    """Stop and start the parts of a level in turn, each once the cluster is healthy again.

    Each turn begins with the same map and the same data, so each is a run of its own.

    Args:
        report: The cluster, as its dumps say.
        text: The level, how long each part is down, and flags: ``each host, 20 min, noout``. Flags
            are set before a part stops, and unset a minute after it is back; those that are set
            already stay.
        beside: Changes that are made and have settled before.
        request: What is asked beside; its horizon counts from when a part is back.
        progress: Is told how far it is.

    Raises:
        ConfigError: It is not written so, or the map has no such level, or nothing of it runs.
        NotSettled: Before the first stop data still moves at the horizon, or PGs are not clean.
    """
    work = read_work(text)
    base = prepare(report, beside, request)
    before = run_all([partial(same, base)], progress, same)[0]
    start, base_commands = settled_seconds(before, OPTION, text), before.commands
    _check_healthy(before, text)
    work = replace(work, flags=tuple(flag for flag in work.flags if flag not in _flags_set(base)))
    horizon = float(base.input["horizon_seconds"])
    end = start + work.least_seconds + horizon
    check_end(end, OPTION, text, "a turn ends, with --horizon behind it,")
    parts = parts_at(start, work.level, base, report, OPTION)
    first = next(iter(parts))
    plan = Plan(text, (*beside.changes, *_changes(work, parts[first], start)))
    whole = prepare(report, plan, replace(request, horizon=f"{end:.6f} s"), base)
    own = [step for step in whole.input["plan"] if step not in base.input["plan"]]

    def turn(osds: Sequence[int]) -> Prepared:
        return ending_after(base, [_step_of(step, osds) for step in own], start, end - start)

    if start:
        still = ending_after(base, [], start, work.least_seconds)
        before = run_all([partial(same, still)], progress, same)[0]
    ends = run_all([partial(turn, osds) for osds in parts.values()], progress, harm_end)
    turns = [Harm(*part, *end) for part, end in zip(parts.items(), ends, strict=True)]
    return Maintenance(
        work,
        base.facts,
        tuple(sorted(turns, key=harm_order)),
        before.outcome,
        base_commands,
        first,
        tuple(_lines(work, [step for step in whole.steps if step not in base.steps], start)),
        base.assumptions,
        base.notes,
        start,
        end - start,
        _unwritten(report, base),
        is_long=_is_long(work, base),
    )


def _check_healthy(before: WhatIf, text: str) -> None:
    """Refuse maintenance of a cluster that is not healthy: faults before it are not its own.

    Raises:
        NotSettled: PGs are not clean at the end of the changes alone.
    """
    outcome = before.outcome
    if not before.holds or outcome.whole_seconds is None:
        left = outcome.lost_groups or outcome.stuck_groups
        state = "lost" if outcome.lost_groups else "not clean"
        plural = "s" * (left != 1)
        rule = f"before the first stop {left:,} PG{plural} {state}, and no data moves any more"
        remedy = "maintenance begins with a healthy cluster; leave --maintain out to see why"
        raise NotSettled(Problem(rule, remedy, OPTION, show(text)))


def _flags_set(base: Prepared) -> set[str]:
    """The flags that are set when the changes have settled."""
    flags = set(base.input["flags"])
    for change in (step["change"] for step in base.input["plan"]):
        if change["kind"] == "flags":
            flags = flags - set(change["unset"]) | set(change["set"])
    return flags


def _changes(work: Work, osds: Sequence[int], start: float) -> tuple[Wanted, ...]:
    """The changes of one turn."""
    names, flags = ",".join(f"osd.{osd}" for osd in osds), ",".join(work.flags)
    back, end = start + work.down_seconds, start + work.least_seconds
    steps = [("stop", names, start), ("start", names, back)]
    if flags:
        steps = [("flag", flags, start), *steps, ("unflag", flags, end)]
    return tuple(Wanted(*step, OPTION) for step in steps)


def _step_of(step: Mapping[str, Any], osds: Sequence[int]) -> dict[str, Any]:
    """A step of a turn with the OSDs of another."""
    change = step["change"]
    return {**step, "change": {**change, "osds": list(osds)} if "osds" in change else change}


def _lines(work: Work, steps: Sequence[PlannedStep], start: float) -> Iterator[str]:
    """The lines that do a turn, with a comment of the shell before those that are for later."""
    if start:
        yield f"# once no data moves any more, some {duration(start)} after the changes:"
    last = start
    for step in steps:
        if step.at_seconds > last:
            last = step.at_seconds
            yield f"# {duration(last - start)} after the stop:"
        yield from step.commands
    yield f"# once the cluster is healthy, the next {work.noun}"


def _is_long(work: Work, base: Prepared) -> bool:
    """Whether a part is down for longer than the monitors wait before they mark OSDs out."""
    interval = float(base.input["settings"]["mon_osd_down_out_interval"])
    return "noout" not in {*work.flags, *_flags_set(base)} and work.down_seconds > interval > 0


def _unwritten(report: ClusterReport, base: Prepared) -> tuple[str, ...]:
    """The pools that hold data and of which no client writes are stated."""
    filled = {load.pool for load in report.loads if load.objects}
    loads = base.input["load"] or [{} for _ in report.pools]
    return tuple(
        pool.name
        for pool, load in zip(report.pools, loads, strict=True)
        if pool.id in filled and not load.get("writes_per_second")
    )
