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
    as many copies as the cluster did, to 1 %.

    Args:
        newer: The cluster now.
        older: The same cluster, a little earlier, in the same recovery.
        request: What is known of the cluster beside.
        told: Told how far it is.

    Returns:
        The same with `pace` and `pace_source`.

    Raises:
        ConfigError: They are not of one cluster, or not of two times in this order; OSDs or the map
            changed between them; nothing was recovered; or more was than the settings let any
            device recover.
        Interrupted: `told` answered False.
    """
    seconds = seconds_between(older, newer, _KEY)
    _check_unchanged(older, newer)
    before, after = _left(older), _left(newer)
    recovered = before - after
    if recovered <= 0:
        rule = f"{before:,} copies of objects had to be recovered then, and {after:,} now"
        remedy = "leave it out; the answer then goes by the models of devices"
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
    pace = _matching(modelled, by_models, recovered)
    if pace is None:
        rule = f"{source[:-1]}, and {PACE_MAX:g} times as fast not enough either"
        raise _refused(older, rule, "add `ceph config dump` to both: settings let recovery do less")
    return replace(request, pace=f"{pace:.4g}", pace_source=source)


def _matching(modelled: Callable[[float], int], by_models: int, recovered: int) -> float | None:
    """The pace at which the model recovers as much; None where no pace is enough."""
    pace, count = 1.0, by_models
    low, high = _PACE_MIN, PACE_MAX
    for _ in range(_RUNS_MAX):
        if abs(count - recovered) <= _CLOSE * recovered:
            break
        low, high = (pace, high) if count < recovered else (low, pace)
        if low == PACE_MAX:
            return None
        # In proportion, where that stays between what was too slow and what was too fast.
        pace *= recovered / max(count, 0.1 * recovered)
        if not low < pace < high:
            pace = high if high == PACE_MAX else math.sqrt(low * high)
        count = modelled(pace)
    return pace


def _check_unchanged(older: ClusterReport, newer: ClusterReport) -> None:
    """Refuse dumps between which more happened than recovery."""
    states = [{one.id: (one.up, one.reweight) for one in report.osds} for report in (older, newer)]
    changed = [f"osd.{osd}" for osd in states[1] if states[0].get(osd) != states[1][osd]]
    what = f"{changed[0]} went up, down, in or out" if changed else ""
    if not what and [pool.pg_num for pool in older.pools] != [pool.pg_num for pool in newer.pools]:
        what = "pg_num of a pool changed"
    if not what and older.crushmap != newer.crushmap:
        what = "the CRUSH map changed"
    if what:
        raise _refused(older, f"{what} between the dumps", "take both after the last change")


def _left(report: ClusterReport) -> int:
    """Copies of objects that are missing or not where they should be."""
    counts = [count for group in report.groups for count in (group.degraded, group.misplaced)]
    if not counts or None in counts:
        rule = "no dump states what PGs lack"
        raise _refused(report, rule, "add `ceph pg dump`")
    return sum(count or 0 for count in counts)


def _refused(older: ClusterReport, rule: str, remedy: str) -> ConfigError:
    return ConfigError(rule, remedy, _KEY, show(older.label))
