"""Each part of a level failing in turn: at the start, or once a plan has settled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph import ClusterReport
from resilver.quantities import duration
from resilver.units import SECONDS_MAX, Seconds
from resilver.whatif.answer import Outcome, WhatIf
from resilver.whatif.options import Request
from resilver.whatif.perform import Told, run_all, same
from resilver.whatif.plan import AT, Plan
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.several import Harm, Ranking, harm_order

OPTION = "--each"
SETTLED = "settled"
"""What stands for the time at which the changes have settled."""

Parts = Mapping[str, tuple[int, ...]]
"""The OSDs of each part that run."""


class NotSettled(ConfigError):
    """Data of the changes still moves at the end of the run."""


def rank_failures(
    report: ClusterReport,
    each: str,
    beside: Plan,
    request: Request,
    told: Told | None = None,
    only: str = "",
    *,
    with_today: bool = True,
    option: str = OPTION,
) -> Ranking:
    """Have each part of a level fail in turn, and rank them by harm.

    Args:
        report: The cluster, as its dumps say.
        each: The level: ``osd``, or a type of bucket such as ``host``. Behind it when they fail:
            ``host @ settled``, which goes without saying beside changes, or ``host @ 2 d`` after
            the start of the changes. What comes of each is counted from its failure.
        beside: Changes that are made in each run too.
        request: What is asked beside.
        told: Told how far it is.
        only: The part to fail alone; empty for each.
        with_today: Whether each part fails without the changes too, where there are some.
        option: What an error names.

    Raises:
        ConfigError: The map has no such level, or nothing of it that runs, or it is not written so.
        NotSettled: The parts fail once the changes have settled, and they do not.
    """
    level, at = _read(each, bool(beside.changes))
    base = prepare(report, beside, request)
    start = at
    if start is None:
        start = settled_seconds(run_all([partial(same, base)], told, same)[0], OPTION, each)
    horizon = float(base.input["horizon_seconds"])
    check_end(start + horizon, OPTION, each)
    parts = parts_at(start, level, base, report, option)

    def failing(like: Prepared, start: float, osds: tuple[int, ...]) -> Prepared:
        failure = {"at_seconds": start, "change": {"kind": "fail", "osds": list(osds)}}
        return ending_after(like, [failure], start, horizon)

    chosen = {name: osds for name, osds in parts.items() if only in ("", name)}
    runs = [partial(failing, base, start, osds) for osds in chosen.values()]
    today: Parts = {}
    if beside.changes and with_today:
        now = prepare(report, Plan("as it is", ()), request)
        today = parts_at(0.0, level, now, report)
        runs += [partial(failing, now, 0.0, osds) for osds in today.values()]
    ends = run_all(runs, told, harm_end)
    named = zip([*chosen.items(), *today.items()], ends, strict=True)
    harms = [Harm(*part, *end) for part, end in named]
    after, before = harms[: len(chosen)], harms[len(chosen) :]
    return Ranking(
        level,
        base.facts,
        tuple(sorted(after, key=harm_order)),
        base.assumptions,
        base.notes,
        horizon,
        start,
        is_settled=at is None,
        today=tuple(sorted(before, key=harm_order)),
    )


def ending_after(
    like: Prepared, steps: list[dict[str, Any]], start: float, horizon: float
) -> Prepared:
    """A run with more steps, whose times count from their start, and which ends so long after."""
    plan = sorted([*like.input["plan"], *steps], key=lambda step: float(step["at_seconds"]))
    times = {"horizon_seconds": start + horizon, "counted_from_seconds": start}
    return replace(like, input={**like.input, "plan": plan, **times})


def harm_end(answer: WhatIf) -> tuple[Outcome, str]:
    """What comes of a failure, and why most PGs are stuck at its end."""
    reasons = Counter(answer.tables["stuck"]["reason"].to_pylist())
    return answer.outcome, max(reasons, key=reasons.__getitem__, default="")


def _read(text: str, has_changes: bool) -> tuple[str, float | None]:
    """The level, and when its parts fail; None for once the changes have settled."""
    match = AT.fullmatch(text)
    if match is None:
        return text.strip(), None if has_changes else 0.0
    when = match[2].strip()
    if when == SETTLED:
        return match[1].strip(), None
    try:
        return match[1].strip(), float(Seconds.parse(when))
    except ConfigError:
        rule = f"a part fails after a time, or once the changes have {SETTLED}"
        remedy = 'such as "host @ 2 d" or "host @ settled"'
        raise ConfigError(rule, remedy, OPTION, show(text)) from None


def settled_seconds(answer: WhatIf, option: str, text: str) -> float:
    """When the last data has moved and the last PG that gets clean is.

    Args:
        answer: The changes alone.
        option: The option that asks, for messages.
        text: Its value.

    Raises:
        NotSettled: Data still moves at the end.
    """
    timeline = answer.tables["timeline"]
    times = timeline["time_seconds"].to_numpy()
    working = ("recovering", "backfilling", "deleting")
    moving = sum(timeline[f"{name}_groups"].to_numpy() for name in working)
    last = max(np.flatnonzero(moving), default=-1) + 1
    if last == len(times):
        rule = f"the changes have not settled within {duration(answer.horizon_seconds)}"
        remedy = "give a longer --horizon"
        remedy += ', or a time, such as --each "host @ 2 d"' * (option == OPTION)
        raise NotSettled(Problem(rule, remedy, option, show(text)))
    ends = [times[last], answer.outcome.whole_seconds or 0.0]
    return float(max([*ends, *(step.at_seconds for step in answer.steps)]))


def check_end(
    end_seconds: float, option: str, text: str, what: str = "a failure and --horizon behind it are"
) -> None:
    """A run goes on as long after the failure as --horizon says, and no run beyond 213 days."""
    if end_seconds > SECONDS_MAX:
        rule = f"{what} within 213 days of the start of the changes"
        raise ConfigError(rule, "give a shorter --horizon", option, show(text))


def parts_at(
    start: float, level: str, base: Prepared, report: ClusterReport, option: str = OPTION
) -> Parts:
    """The parts of a level that run at a time, changes of that time included, with their OSDs.

    Raises:
        ConfigError: The map of that time has no such level, or nothing of it that runs.
    """
    running = {osd.id for osd in report.osds if osd.up}
    tree = BucketTree(json.loads(report.crushmap))
    for change in (s["change"] for s in base.input["plan"] if s["at_seconds"] <= start):
        kind, osds = change["kind"], change.get("osds", ())
        if kind in ("fail", "stop"):
            running -= set(osds)
        elif kind == "start":
            running |= set(osds)
        elif kind == "add":
            running |= {one["osd"]["id"] for one in osds}
        elif kind == "crush":
            tree = BucketTree(json.loads(change["crushmap"]))
        elif kind == "crush_move":
            tree.move(change["item"], change["location"])
        elif kind == "crush_rename":
            tree.rename(change["item"], change["name"])
    parts: dict[str, tuple[int, ...]]
    if level == tree.types[0]:
        parts = {f"osd.{osd}": (osd,) for osd in sorted(running)}
    elif level in tree.types:
        of = [one for one in tree.buckets.values() if one.kind == level]
        found = {one.name: {osd for osd in tree.below(one.name) if osd in running} for one in of}
        for osd in running - {one.id for one in report.osds}:
            if name := base.facts.places[osd].get(level):
                found.setdefault(name, set()).add(osd)
        parts = {name: tuple(sorted(osds)) for name, osds in found.items() if osds}
    else:
        remedy = name_remedy(level, tree.types, "levels")
        raise ConfigError("the map has no such level", remedy, option, show(level))
    if not parts:
        rule = f"the map has no {level} with an OSD that runs"
        kinds = sorted({tree.types[0], *(place.kind for place in tree.buckets.values())})
        raise ConfigError(rule, f"it has {', '.join(kinds)}", option, show(level))
    return parts
