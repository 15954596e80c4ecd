"""Rolling maintenance: the parts of a level stopped and started again, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport
from resilver.quantities import duration
from resilver.units import Seconds
from resilver.whatif.each import check_end, harm_end, parts_at, settled_seconds
from resilver.whatif.options import Request
from resilver.whatif.perform import Told, run_all, same
from resilver.whatif.plan import Plan, Wanted
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.several import Harm, Maintenance, Work, harm_order

OPTION = "--maintain"


def read_work(text: str) -> Work:
    """What `--maintain` states: ``each host, 20 min, noout``.

    Raises:
        ConfigError: It is not written so.
    """
    first, *rest = (part.strip() for part in text.split(","))
    level = "" if first == "each" else first.removeprefix("each ").strip()
    remedy = 'such as "each host, 20 min, noout"'
    if not level or not rest or "" in rest:
        rule = "maintenance names a level, how long each part is down, and flags, if any"
        raise ConfigError(rule, remedy, OPTION, show(text))
    try:
        seconds = float(Seconds.parse(rest[0]))
    except ConfigError as error:
        raise ConfigError(problem.under(OPTION) for problem in error.problems) from None
    if seconds <= 0:
        raise ConfigError("a part is down for some time", remedy, OPTION, show(text))
    return Work(level, seconds, tuple(rest[1:]))


def maintain(
    report: ClusterReport,
    text: str,
    beside: Plan,
    request: Request,
    told: Told | None = None,
) -> Maintenance:
    """Stop and start the parts of a level in turn, each once the cluster is healthy again.

    Each turn begins with the same map and the same data, so each is a run of its own.

    Args:
        report: The cluster, as its dumps say.
        text: The level, how long each part is down, and flags: ``each host, 20 min, noout``. Flags
            are set before a part stops, and unset a minute after it is back.
        beside: Changes that are made and have settled before.
        request: What is asked beside; its horizon counts from the stop.
        told: Told how far it is.

    Raises:
        ConfigError: It is not written so, the map has no such level, or nothing of it that runs.
        NotSettled: The cluster as it is, or the changes, have not settled within the horizon.
    """
    work = read_work(text)
    base = prepare(report, beside, request)
    start = settled_seconds(run_all([partial(same, base)], told, same)[0], OPTION, text)
    horizon = float(base.input["horizon_seconds"])
    check_end(start + work.least_seconds + horizon, OPTION, text)
    longer = replace(request, horizon=f"{start + work.least_seconds + horizon:.6f} s")

    def turn(osds: Sequence[int]) -> Prepared:
        plan = Plan(text, (*beside.changes, *_turn(work, osds, start)))
        made = prepare(report, plan, longer, base)
        return replace(made, input={**made.input, "counted_from_seconds": start})

    parts = parts_at(start, work.level, base, report, OPTION)
    ends = run_all([partial(turn, osds) for osds in parts.values()], told, harm_end)
    turns = [Harm(*part, *end) for part, end in zip(parts.items(), ends, strict=True)]
    first = turn(next(iter(parts.values())))
    return Maintenance(
        work,
        base.facts,
        tuple(sorted(turns, key=harm_order)),
        tuple(_lines(work, first, start)),
        base.assumptions,
        base.notes,
        start,
        has_load=bool(request.load),
    )


def _turn(work: Work, osds: Sequence[int], start: float) -> tuple[Wanted, ...]:
    """The changes of one turn."""
    names, flags = ",".join(f"osd.{osd}" for osd in osds), ",".join(work.flags)
    back, end = start + work.down_seconds, start + work.least_seconds
    steps = [("stop", names, start), ("start", names, back)]
    if flags:
        steps = [("flag", flags, start), *steps, ("unflag", flags, end)]
    return tuple(Wanted(*step, OPTION) for step in steps)


def _lines(work: Work, turn: Prepared, start: float) -> Iterator[str]:
    """The lines that do a turn, with a comment of the shell before those that are for later."""
    said = start
    for step in turn.steps:
        if step.at_seconds > said:
            said = step.at_seconds
            yield f"# {duration(said - start)} after the stop:"
        if step.at_seconds >= start:
            yield from step.commands
    yield f"# once the cluster is healthy, the next {work.noun}"
