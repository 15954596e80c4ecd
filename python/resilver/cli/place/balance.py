"""`--balance`: upmap entries that even a cluster out, as lines to paste, and what they do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.cli.calibrate.output import option_bytes
from resilver.cli.console import print_json, say
from resilver.cli.place.options import Balance, Balancing, Inputs, Judging, Reading
from resilver.cli.place.source import open_cluster
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError, Problem
from resilver.units import format_bytes

if TYPE_CHECKING:
    from resilver.importers import ClusterReport
    from resilver.simulate import BalancePlan, OsdShares

_DEVIATION = 5
_WITHIN_PERCENT = 1.0


def print_balance(
    reading: Reading,
    inputs: Inputs,
    judging: Judging,
    balancing: Balancing,
    path: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the entries, with what they do as comments of a shell before them.

    Args:
        reading: The cluster.
        inputs: Its reweights, where --weight changes them.
        judging: The pool, if one alone may move.
        balancing: Which way, and when to stop.
        path: A file for the lines, or None.
        as_json: Print JSON instead.

    Raises:
        ConfigError: There is no such pool, an option is no number, bytes are not stated, or no OSD
            holds anything.
    """
    source = open_cluster(reading, "--balance").reweighted(inputs)
    pools = [pool.id for pool in source.pools(judging.pool)]
    plan = _plan(source.report, pools, balancing)
    if not plan.before.groups.any():
        rule = "nothing is placed: the rules of these pools find no OSD that is in"
        raise ConfigError(Problem(rule, "bring OSDs in (`ceph osd in`)", place=source.report.label))
    words = [f"# {line}" for line in [*_in_words(plan, balancing), *_needs(source.report, plan)]]
    lines = [entry.command for entry in plan.entries]
    if path is not None:
        save_whole(path, "".join(f"{line}\n" for line in [*words, *lines]))
        say(f"{len(lines)} lines written to {path}")
    if as_json:
        print_json(_json(plan, balancing))
        return
    shown = words if path is not None else [*words, *lines]
    sys.stdout.write("".join(f"{line}\n" for line in shown))
    _note_reweights(source.report, plan)


def _plan(report: ClusterReport, pools: list[int], balancing: Balancing) -> BalancePlan:
    from resilver.simulate import balance_by_bytes, balance_by_groups

    if balancing.balance is Balance.ceph:
        deviation = balancing.deviation or _DEVIATION
        return balance_by_groups(report, pools, entries=balancing.entries, deviation=deviation)
    percent = _WITHIN_PERCENT if balancing.within is None else balancing.within
    options: dict[str, Any] = {"entries": balancing.entries, "within": percent / 100}
    if balancing.move_at_most is not None:
        options["moved_bytes"] = option_bytes("--move-at-most", balancing.move_at_most)
    return balance_by_bytes(report, pools, **options)


def _in_words(plan: BalancePlan, balancing: Balancing) -> list[str]:
    count = len(plan.entries)
    way = "by PGs, as Ceph's balancer" if balancing.balance is Balance.ceph else "by bytes"
    if not count:
        return [f"{way}: no entry makes it more even"]
    moved = "" if plan.moved_bytes is None else f", {format_bytes(plan.moved_bytes)}"
    entries = "1 entry changes" if count == 1 else f"{count:,} entries change"
    pieces = "1 piece moves" if plan.moved_pieces == 1 else f"{plan.moved_pieces:,} pieces move"
    rows = [f"{way}: {entries}, {pieces}{moved}", f"{'':<22}{'before':>9}{'after':>9}"]
    for name, before, after in _measures(plan):
        rows.append(f"{name:<22}{before:>9}{after:>9}")
    return rows


def _needs(report: ClusterReport, plan: BalancePlan) -> list[str]:
    """What the entries need of the release and of clients, where the map does not have it."""
    from resilver.whatif.configuration import has_old_clients
    from resilver.whatif.declared.forms import FORMS, NEW_CLIENTS, UPMAP, has

    release = report.release
    if release is not None and not has(UPMAP, release):
        return [FORMS[UPMAP].problem("upmap entries", release).rule]
    is_needed = plan.entries and has_old_clients(report)
    return [f"clients of Luminous or later: {NEW_CLIENTS}"] if is_needed else []


def _measures(plan: BalancePlan) -> list[tuple[str, str, str]]:
    """Name, before and after, as they are printed."""
    both = (_spread(plan.before), _spread(plan.after))
    names = {
        "most_fill": "fullest OSD",
        "least_fill": "emptiest OSD",
        "fill_deviation": "  standard deviation",
        "most_groups": "most PGs on an OSD",
        "least_groups": "fewest",
        "groups_deviation": "  standard deviation",
    }
    rows = []
    for key, name in names.items():
        if both[0][key] is not None:
            form = "{:.1%}" if "fill" in key else "{:.1f}" if "deviation" in key else "{:,}"
            rows.append((name, form.format(both[0][key]), form.format(both[1][key])))
    return rows


def _spread(shares: OsdShares) -> dict[str, Any]:
    fill, groups = shares.fill, shares.groups
    has_osds = len(groups) > 0
    return {
        "most_fill": None if fill is None else float(fill.max()),
        "least_fill": None if fill is None else float(fill.min()),
        "fill_deviation": None if fill is None else float(fill.std()),
        "most_groups": int(groups.max()) if has_osds else None,
        "least_groups": int(groups.min()) if has_osds else None,
        "groups_deviation": float(groups.std()) if has_osds else None,
    }


def _json(plan: BalancePlan, balancing: Balancing) -> dict[str, Any]:
    columns = {
        "osd": plan.before.osds,
        "capacity_bytes": plan.before.capacity_bytes.astype(int),
        "groups_before": plan.before.groups,
        "groups_after": plan.after.groups,
    }
    for name, shares in (("before", plan.before), ("after", plan.after)):
        if shares.used_bytes is not None:
            columns[f"used_{name}_bytes"] = shares.used_bytes.astype(int)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {
        "by": balancing.balance,
        "entries": [
            {
                "pgid": entry.pgid,
                "pairs": [list(pair) for pair in entry.pairs],
                "command": entry.command,
            }
            for entry in plan.entries
        ],
        "moved_pieces": plan.moved_pieces,
        "moved_bytes": plan.moved_bytes,
        "before": _spread(plan.before),
        "after": _spread(plan.after),
        "osds": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def _note_reweights(report: ClusterReport, plan: BalancePlan) -> None:
    """Say that OSDs of a smaller reweight get that much less, which evenness has to leave."""
    weights = report.reweights
    few = [int(osd) for osd in plan.before.osds if weights[int(osd)] < 0x10000]
    if few:
        named = ", ".join(f"osd.{osd}" for osd in few[:3]) + (", ..." if len(few) > 3 else "")
        say(
            f"note: {len(few)} of {len(plan.before.osds)} OSDs have a reweight below 1 ({named}) "
            "and get no more than that share of what others have; `ceph osd reweight N 1` gives "
            "them all of it"
        )
