"""`--balance`: upmap entries that even a cluster out, as commands, and what they do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Form, Lines, Section, Shown
from resilver.cli.crush.source import ClusterSource, as_cluster, open_source
from resilver.cli.place.options import Asked
from resilver.crush import (
    CrushMap,
    primary_counts,
    read_score,
    upmap_primaries,
    with_primaries,
)
from resilver.errors import ConfigError
from resilver.record import record
from resilver.request import value_of
from resilver.simulate import BalancePlan, OsdShares, balance_by_bytes, balance_by_groups
from resilver.tables import table_of
from resilver.whatif.configuration import has_old_clients
from resilver.whatif.declared.forms import FORMS, NEW_CLIENTS, UPMAP, UPMAP_PRIMARY, has
from resilver.whatif.releases import REEF
from resilver.words import plural, size_of

if TYPE_CHECKING:
    from resilver.importers import ClusterReport

_DEVIATION = 5
_ENTRIES = 100
_WITHIN_PERCENT = 1.0

_MEASURES = {
    "most_fill": ("fullest OSD", "{:.1%}"),
    "least_fill": ("emptiest OSD", "{:.1%}"),
    "fill_deviation": ("fill, standard deviation", "{:.1%}"),
    "most_groups": ("most PGs on an OSD", "{:,}"),
    "least_groups": ("fewest PGs on an OSD", "{:,}"),
    "groups_deviation": ("PGs, standard deviation", "{:.1f}"),
}
"""What is compared before and after, each with its words and its form."""


def balance_answer(asked: Asked) -> Answer:
    """Upmap entries, and how even the cluster is before and after.

    Raises:
        ConfigError: There is no such pool, an option is no number, bytes are not stated, no OSD
            holds anything, or the release or the pool has no entries of this kind.
    """
    source = as_cluster(open_source(asked.words[0], asked), "--balance").reweighted(asked.weights)
    if asked.balance == "read":
        return _reads_answer(source, asked)
    report = source.report
    plan = _plan(report, [pool.id for pool in source.pools(asked.pool)], asked)
    if not plan.before.groups.any():
        rule = "nothing is placed: the rules of these pools find no OSD that is in"
        raise ConfigError(rule, "bring OSDs in (`ceph osd in`)", place=source.label)
    before, after = _spread(plan.before), _spread(plan.after)
    rows = [
        (words, form.format(before[key]), form.format(after[key]))
        for key, (words, form) in _MEASURES.items()
        if before[key] is not None
    ]
    record = _record(plan, asked) | {"before": before, "after": after, "osds": _osds(plan)}
    needs, commands = _needs(report, plan), [entry.command for entry in plan.entries]
    answer = _answer(source, asked, _sentence(plan, asked), rows, commands, needs, record)
    return replace(answer, notes=[*needs, *_reweights(report, plan)])


def _answer(
    source: ClusterSource,
    asked: Asked,
    verdict: str,
    rows: list[tuple[str, str, str]],
    commands: list[str],
    needs: list[str],
    record: dict[str, Any],
) -> Answer:
    """Entries and what they do, as a table and as a script."""
    width = max(26, *(len(words) for words, _, _ in rows))
    lines = [f"{words:<{width}}{one:>9}{other:>9}" for words, one, other in rows]
    comments = [verdict, f"{'':<{width}}   before    after", *lines, *needs]
    script = "".join(f"{line}\n" for line in [*(f"# {line}" for line in comments), *commands])
    heads = (("measure", ""), ("before", "before"), ("after", "after"))
    made = table_of(rows, *((name, heading, "text") for name, heading in heads))
    sections = [Section("Balance", (Shown("balance", "Before and after", made),))]
    if asked.output is None:
        sections.append(Section("Commands", (Lines("commands", "Commands", commands),)))
    title, forms = f"Balance of {source.label}", {"": Form(lambda: script)}
    return Answer(title, [verdict], sections, record, notes=needs, forms=forms)


def _reads_answer(source: ClusterSource, asked: Asked) -> Answer:
    """Other primaries of the replicated pools, so that each OSD serves its share of the reads."""
    report, osds = source.report, source.report.osd_states
    if report.release is not None and not has(UPMAP_PRIMARY, report.release):
        rule = FORMS[UPMAP_PRIMARY].problem(UPMAP_PRIMARY, report.release).rule
        raise ConfigError(rule, "upgrade first", "--balance", '"read"')
    crush, left = CrushMap.from_json(report.crushmap), asked.entries
    rows: list[tuple[str, str, str]] = []
    entries, pools = [], []
    for pool in source.pools(asked.pool):
        if pool.kind != "replicated" and asked.pool is None:
            continue
        found = upmap_primaries(crush, pool, osds, entries=left, label=report.label)
        left = None if left is None else left - len(found)
        entries += found
        states = pool, with_primaries(pool, found)
        most = [max(primary_counts(crush, one, osds), default=0) for one in states]
        scores = [read_score(crush, one, osds) for one in states]
        rows.append((f"most primaries, {pool.name}", f"{most[0]:,}", f"{most[1]:,}"))
        first, last = ["n/a" if one is None else f"{one:.2f}" for one in scores]
        rows.append((f"read_balance_score, {pool.name}", first, last))
        pools.append({"pool": pool.name, "most_primaries": most, "scores": scores})
    if not pools:
        rule = "no pool is replicated, and the shards of a code have their places"
        raise ConfigError(rule, "leave --balance read out", place=source.label)
    said = "no entry makes primaries more even."
    if entries:
        said = f"{plural(len(entries), 'PG')} would get another primary, and no data moves."
    is_needed = bool(entries) and has_old_clients(report, REEF)
    needs = ["clients of Reef or later: ceph osd set-require-min-compat-client reef"] * is_needed
    listed = [record(entry, "pgid", "osd", "command") for entry in entries]
    commands = [entry.command for entry in entries]
    known = {"by": "read", "entries": listed, "pools": pools}
    return _answer(source, asked, f"By reads: {said}", rows, commands, needs, known)


def _plan(report: ClusterReport, pools: list[int], asked: Asked) -> BalancePlan:
    entries = asked.entries or _ENTRIES
    if asked.balance == "ceph":
        deviation = asked.deviation or _DEVIATION
        return balance_by_groups(report, pools, entries=entries, deviation=deviation)
    percent = _WITHIN_PERCENT if asked.within is None else asked.within
    options: dict[str, Any] = {"entries": entries, "within": percent / 100}
    if asked.move_at_most is not None:
        options["moved_bytes"] = int(value_of(asked, "move_at_most") or 0)
    return balance_by_bytes(report, pools, **options)


def _sentence(plan: BalancePlan, asked: Asked) -> str:
    way = "By PGs, as Ceph's balancer" if asked.balance == "ceph" else "By bytes"
    if not plan.entries:
        return f"{way}: no upmap entry makes it more even."
    moved = "" if plan.moved_bytes is None else f" ({size_of(plan.moved_bytes)})"
    entries = f"{len(plan.entries):,} upmap " + ("entry" if len(plan.entries) == 1 else "entries")
    copies = "1 copy" if plan.moved_pieces == 1 else f"{plan.moved_pieces:,} copies"
    return f"{way}: {entries} would move {copies}{moved}."


def _needs(report: ClusterReport, plan: BalancePlan) -> list[str]:
    """What the entries need of the release and of clients, where the map does not have it."""
    release = report.release
    if release is not None and not has(UPMAP, release):
        return [FORMS[UPMAP].problem("upmap entries", release).rule]
    is_needed = plan.entries and has_old_clients(report)
    return [f"clients of Luminous or later: {NEW_CLIENTS}"] if is_needed else []


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


def _record(plan: BalancePlan, asked: Asked) -> dict[str, Any]:
    entries = [record(entry, "pgid", "pairs", "command") for entry in plan.entries]
    return {"by": asked.balance, "entries": entries, **record(plan, "moved_pieces", "moved_bytes")}


def _osds(plan: BalancePlan) -> list[dict[str, Any]]:
    """A row an OSD."""
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
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _reweights(report: ClusterReport, plan: BalancePlan) -> list[str]:
    """OSDs of a smaller reweight get that much less, which evenness has to leave."""
    weights = report.osd_states.reweights
    few = [int(osd) for osd in plan.before.osds if weights[int(osd)] < 0x10000]
    if not few:
        return []
    named = ", ".join(f"osd.{osd}" for osd in few[:3]) + (", ..." if len(few) > 3 else "")
    return [
        f"{len(few)} of {plural(len(plan.before.osds), 'OSD')} have a reweight below 1 ({named}) "
        "and get no more than that share of what others have; `ceph osd reweight N 1` resets it."
    ]
