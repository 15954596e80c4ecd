"""How fast pools grow, as people state it: ``rbd=2%/week``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from resilver.errors import ConfigError, name_remedy, show
from resilver.failure_rates import LongSeconds
from resilver.importers.ceph import ClusterReport, PoolInfo
from resilver.quantities import duration
from resilver.units import DURATION_UNITS, BytesPerSecond

_GROWTH = re.compile(r"(?:(?P<pool>[^=]+)=)?\s*\+?(?P<amount>[^/=]+)/(?P<period>[^/=]+)")
_PERIODS = {
    "hour": float(DURATION_UNITS["h"]),
    "day": float(DURATION_UNITS["d"]),
    "week": float(7 * DURATION_UNITS["d"]),
    "month": float(DURATION_UNITS["y"] / 12),
    "year": float(DURATION_UNITS["y"]),
}
_PERCENT = re.compile(r"\s*([^%]+?)\s*%\s*")
_PERCENT_MAX = 1e6
_EXAMPLE = 'such as "rbd=2%/week" or "rbd=1 TiB/d"; without a pool for all'


def growth_rates(
    texts: Iterable[str], pools: Sequence[PoolInfo], stored: Mapping[int, int | None]
) -> dict[str, float]:
    """Bytes of user data a second that pools gain, at a constant rate.

    Args:
        texts: ``rbd=2%/week``, of what the pool stores now, or ``rbd=1 TiB/d``; without a pool's
            name or number for all that no other text names. A period is hour, day, week, month,
            year or a duration.
        pools: The pools of the cluster.
        stored: User data of each pool by its number; None where no dump states it.

    Raises:
        ConfigError: A text is not written so, names no pool, or is a share of what is unknown.
    """
    of_all: dict[str, float] = {}
    rates: dict[str, float] = {}
    for text in texts:
        match = _GROWTH.fullmatch(text.strip())
        if match is None:
            raise _refused("a pool grows by an amount in a period", _EXAMPLE, text)
        name = (match["pool"] or "").strip()
        grown = [pool for pool in pools if name in ("", pool.name, str(pool.id))]
        if not grown:
            raise _refused("no such pool", name_remedy(name, [pool.name for pool in pools]), text)
        seconds = _period(match["period"].strip(), text)
        for pool in grown:
            amount = _amount(match["amount"].strip(), pool.name, stored[pool.id], text)
            (rates if name else of_all)[pool.name] = amount / seconds
    return of_all | rates


def growth_between(older: ClusterReport, newer: ClusterReport) -> dict[str, float]:
    """Bytes of user data a second that each pool gained from one day to another.

    Args:
        older: The cluster on the earlier day; a pool that it lacks held nothing.
        newer: The same cluster later.

    Returns:
        By the pool's name; below 0 where it has shrunk.

    Raises:
        ConfigError: They are not of one cluster, or not of two times in this order, or do not state
            what pools hold.
    """
    seconds = seconds_between(older, newer, "--grow-from")
    before, after = (stored_bytes(report) for report in (older, newer))
    if None in (*before.values(), *after.values()):
        rule = "no dump states what pools store"
        raise _not_older(older, rule, "add `ceph pg dump` to both", "--grow-from")
    return {
        pool.name: ((after[pool.id] or 0) - (before.get(pool.id) or 0)) / seconds
        for pool in newer.pools
    }


def seconds_between(older: ClusterReport, newer: ClusterReport, key: str) -> float:
    """How long after the dumps of a cluster others were taken; the option `key` names the older.

    Raises:
        ConfigError: They are not of one cluster, or not of two times in this order.
    """
    if older.fsid and newer.fsid and older.fsid != newer.fsid:
        rule = f"it is of another cluster: {older.fsid}, and {newer.label} of {newer.fsid}"
        raise _not_older(older, rule, "give two dumps of one cluster", key)
    times = [report.stamp_seconds for report in (older, newer)]
    for report, time in zip((older, newer), times, strict=True):
        if time is None:
            rule = f"no dump of {report.label} says when it was taken"
            raise _not_older(older, rule, "add `ceph pg dump` with its stamp to it", key)
    seconds = (times[1] or 0.0) - (times[0] or 0.0)
    if seconds <= 0:
        when = "at the same time as" if not seconds else f"{duration(-seconds)} after"
        rule = f"it was taken {when} {newer.label}"
        raise _not_older(older, rule, "give the older of two dumps here", key)
    return seconds


def stored_bytes(report: ClusterReport) -> dict[int, int | None]:
    """User data of each pool by its number; None where no dump states it."""
    with suppress(ConfigError):
        sums = Counter[int]()
        for load in report.loads:
            sums[load.pool] += load.bytes
        return {pool.id: sums[pool.id] for pool in report.pools}
    return dict.fromkeys(pool.id for pool in report.pools)


def _not_older(older: ClusterReport, rule: str, remedy: str, key: str) -> ConfigError:
    return ConfigError(rule, remedy, key, show(older.label))


def _refused(rule: str, remedy: str, text: str) -> ConfigError:
    return ConfigError(rule, remedy, "--grow", show(text))


def _period(text: str, whole: str) -> float:
    if unit := _PERIODS.get(text) or DURATION_UNITS.get(text):
        return float(unit)
    try:
        seconds = float(LongSeconds.parse(text))
    except ConfigError:
        rule = f"a period is one of {', '.join(_PERIODS)}, or a duration"
        raise _refused(rule, _EXAMPLE, whole) from None
    if not seconds:
        raise _refused("a period is longer than nothing", _EXAMPLE, whole)
    return seconds


def _amount(text: str, pool: str, stored: int | None, whole: str) -> float:
    """Bytes: of a size, or of a share of what a pool stores."""
    if match := _PERCENT.fullmatch(text):
        try:
            percent = float(match[1])
        except ValueError:
            percent = math.nan
        if not 0 <= percent <= _PERCENT_MAX:
            rule = f"a pool grows by a share from 0 to {_PERCENT_MAX:,.0f} % of what it stores"
            raise _refused(rule, _EXAMPLE, whole)
        if stored is None:
            remedy = f'state an amount, such as "{pool}=1 TiB/d", or add `ceph pg dump`'
            raise _refused(f"no dump states what pool {pool} stores", remedy, whole)
        return percent / 100 * stored
    try:
        # A size may be of part of a byte here, as a rate may.
        return float(BytesPerSecond.parse(f"{text}/s"))
    except ConfigError as error:
        rule = "a pool grows by a size, not below 0, or by a share of what it stores"
        raise _refused(rule, _EXAMPLE, whole) from error
