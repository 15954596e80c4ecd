"""How fast a cluster recovers, by two dumps of it: the pace of its devices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport
from resilver.quantities import duration
from resilver.simulate.ceph import HealProgress, heal
from resilver.simulate.pool_growth import seconds_between
from resilver.whatif.options import PACE_MAX, Request
from resilver.whatif.plan import Plan
from resilver.whatif.request import prepare

_KEY = "--since"
_PACE_MIN = 1e-4
_CLOSE = 0.01
"""The model recovers as much as the cluster did to this share of it."""
_NEAR = 0.05
"""Where no pace is as close, because objects are few, one that is so near is taken."""
_COPIES_MIN = 100
_RUNS_MAX = 12
_NO_PLAN = Plan("", ())
_LACKING = ("degraded_objects", "misplaced_objects")


def paced(
    newer: ClusterReport,
    older: ClusterReport,
    request: Request,
    told: Callable[[int, int, HealProgress], bool] | None = None,
) -> Request:
    """A request whose devices work at the pace that recovery had between two dumps.

    The model begins where the older dumps stand and ends when the newer ones were taken, with the
    settings of the dumps. Its devices become faster or slower, all by one factor, until it recovers
    as many copies as the cluster did, to 1 %. Settings that a plan states hold from now on, and
    not there.

    Args:
        newer: The cluster now.
        older: The same cluster, a little earlier, in the same recovery.
        request: What is known of the cluster beside.
        told: Told how far it is.

    Returns:
        The same with `pace` and `pace_source`.

    Raises:
        ConfigError: They are not of one cluster, or not of two times in this order; more changed
            between them than recovery does; too little was recovered, or all; no pace is near, as
            where settings let recovery do less; or a pace is stated, too.
        Interrupted: `told` answered False.
    """
    if request.pace:
        rule = "the pace of devices is stated or measured, and not both"
        raise ConfigError(rule, "give --pace or --since", "--pace", show(request.pace))
    seconds = seconds_between(older, newer, _KEY)
    _check_unchanged(older, newer)
    before, after = _left(older), _left(newer)
    recovered = before - after
    if not after or recovered < _COPIES_MIN:
        rule = f"{before:,} copies of objects had to be recovered then, and {after:,} now"
        remedy = f"give dumps between which {_COPIES_MIN} or more are recovered, and not all"
        raise _refused(older, rule, remedy)
    asked = replace(request, pace="", fill="", grow=(), frames=0, horizon=f"{seconds} s")
    first = prepare(older, _NO_PLAN, replace(asked, anyway=True))
    runs = 0

    def modelled(pace: float) -> int:
        nonlocal runs
        ready = prepare(older, _NO_PLAN, replace(asked, anyway=True, pace=f"{pace}"), first)
        show_run = None if told is None else partial(told, runs, 0)
        rows, runs = heal(ready.text, show_run).tables["timeline"], runs + 1
        left: int = sum(rows[name][-1].as_py() for name in _LACKING)
        return before - left

    by_models = modelled(1.0)
    source = (
        f"Between the dumps, in {duration(seconds)}, {recovered:,} copies of objects were "
        f"recovered; devices as fast as their models would have recovered {max(by_models, 0):,}."
    )
    pace, count = _matching(modelled, by_models, recovered)
    if abs(count - recovered) > _NEAR * recovered:
        rule = f"{source[:-1]}, and {pace:.3g} times as fast {max(count, 0):,}"
        remedy = "take dumps further apart, and add `ceph config dump` for the settings in force"
        raise _refused(older, rule, remedy)
    return replace(request, pace=f"{pace:.4g}", pace_source=source)


def _matching(
    modelled: Callable[[float], int], by_models: int, recovered: int
) -> tuple[float, int]:
    """The pace at which the model recovers as much, or most nearly so, and how much it does."""
    pace, count = 1.0, by_models
    low, high = _PACE_MIN, PACE_MAX
    for _ in range(_RUNS_MAX):
        if abs(count - recovered) <= _CLOSE * recovered:
            break
        low, high = (pace, high) if count < recovered else (low, pace)
        if low == PACE_MAX:
            break
        # In proportion, where that stays between what was too slow and what was too fast.
        pace *= recovered / max(count, 0.1 * recovered)
        if not low < pace < high:
            pace = high if high == PACE_MAX else math.sqrt(low * high)
        count = modelled(pace)
    return pace, count


def _check_unchanged(older: ClusterReport, newer: ClusterReport) -> None:
    """Refuse dumps between which more happened than recovery."""
    facts = (
        ("which OSDs are up", lambda one: {osd.id: osd.up for osd in one.osds}),
        (
            "a reweight, or which OSDs are in",
            lambda one: {osd.id: osd.reweight for osd in one.osds},
        ),
        ("the CRUSH map", lambda one: one.crushmap),
        ("a flag", lambda one: sorted(one.flags)),
        (
            "a pool",
            lambda one: [(pool.id, pool.size, pool.rule_id, pool.pg_num) for pool in one.pools],
        ),
        ("an upmap entry", lambda one: [pool.exceptions.upmap_items for pool in one.pools]),
        ("a setting of `ceph config dump`", lambda one: one.config),
    )
    for what, of in facts:
        if of(older) != of(newer):
            rule = f"{what} changed between the dumps"
            raise _refused(older, rule, "take both after the last change")


def _left(report: ClusterReport) -> int:
    """Copies of objects that are missing or not where they should be."""
    counts = [count for group in report.groups for count in (group.degraded, group.misplaced)]
    if not counts or None in counts:
        rule = "no dump states what PGs lack"
        raise _refused(report, rule, "add `ceph pg dump`")
    return sum(count or 0 for count in counts)


def _refused(older: ClusterReport, rule: str, remedy: str) -> ConfigError:
    return ConfigError(rule, remedy, _KEY, show(older.label))
