"""The document of a real cluster: what a page of `explore` computes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from resilver.explore.document import (
    FRAMES,
    MOVING,
    WHO_MOVES,
    Change,
    Document,
    Film,
    Lines,
    Map,
    Part,
    Series,
    Shown,
    Waiting,
)
from resilver.explore.offers import cluster_groups
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph import ClusterReport
from resilver.report.whatif.sentences import GOVERNS
from resilver.request import words_of
from resilver.whatif.changes import CHANGES
from resilver.whatif.cluster import Cluster, read_state
from resilver.whatif.configuration import Configuration, Ledger, release_of
from resilver.whatif.figures import FIGURES, HARM
from resilver.whatif.kinds import KINDS
from resilver.whatif.options import Request
from resilver.whatif.plan import TAKES_ROOM, plan_of_options
from resilver.whatif.request import prepare

_LABELS = {
    "drain": "Drain",
    "in": "Mark in",
    "out": "Mark out",
    "start": "Start again",
    "slow": "Slow down",
    "stop": "Stop",
    "fail": "Fail",
}
"""The changes that a reader has happen by a click, with the verbs of their buttons."""

_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of their rates at which OSDs may work."""

_EACH = {"clients": "pool"}

_BEGINS = Shown(
    "begins_seconds",
    "Copying begins after",
    "seconds",
    "film",
    "written_bytes_per_second",
    "begins",
    over="since_seconds",
)
"""When the first bytes move: before it the monitors wait for what is down."""

_RESTS = Shown(
    "rests_seconds", "Data moves until", "seconds", "timeline", "time_seconds", "highest"
)
"""Where a run ends: all is whole, nothing can go on, or no more is computed."""

_LIMIT = Shown(
    "limit",
    "PGs wait most for",
    "",
    "limits",
    "kind",
    "leading",
    over="share",
    better="",
    words=GOVERNS,
)
"""What PGs wait for most, and its share of their time; no bottleneck, which a rerun alone shows."""

_CHARTS = (
    Lines(
        "groups",
        "PGs that are not active+clean",
        "timeline",
        "count",
        (
            Series("degraded_groups", "degraded"),
            Series("at_risk_groups", "at risk"),
            Series("inactive_groups", "inactive"),
            Series("backfill_wait_groups", "waiting for their turn"),
            Series("toofull_groups", "waiting for space"),
        ),
    ),
    Lines(
        "rates",
        "What is written to heal",
        "timeline",
        "bytes_per_second",
        (
            Series("recovered_bytes_per_second", "copies rebuilt"),
            Series("moved_bytes_per_second", "copies moved"),
        ),
    ),
    Lines(
        "clients",
        "What clients get of what they ask, in the pool that gets least",
        "clients",
        "share",
        (Series("served_share", "served"),),
        each="pool",
    ),
    Lines(
        "delays",
        "How long clients wait, in the pool that waits longest",
        "clients",
        "seconds",
        (Series("p99_seconds", "99 % of requests"), Series("mean_seconds", "mean")),
        each="pool",
        worst="most",
    ),
)

_MAP = Map(
    "osds",
    "osd",
    (
        Series("received_bytes", "Bytes written to heal", "bytes"),
        Series("sent_bytes", "Bytes read to heal", "bytes"),
        Series("peak_used_bytes", "Fullest ever", "share", "capacity_bytes"),
        Series("busy_seconds", "Busy with healing", "share", MOVING),
    ),
    (
        Film(
            "film",
            "osd",
            WHO_MOVES,
            "since_seconds",
            "time_seconds",
            "waits_for",
            "waiting_groups",
            Waiting("PG", "a turn or for space", "its own turn"),
        ),
        Film("fill", "osd", (Series("used_bytes", "Fill", "share", "capacity"),)),
    ),
)


def cluster_document(report: ClusterReport, source: str, request: Request) -> Document:
    """The document of a cluster.

    Args:
        report: The cluster, as its dumps say.
        source: Its file, as the command line takes it.
        request: What is asked beside the changes.

    Raises:
        ConfigError: Something is not written as it should be, or names nothing.
    """
    request = replace(request, frames=FRAMES)
    base = prepare(report, plan_of_options({}), request)
    tree = report.buckets
    return Document(
        kind="cluster",
        title=base.facts.label,
        source=source,
        input=base.input,
        maps=(),
        unit=tree.types[0],
        parts=tuple(_parts(report, tree, base.input)),
        groups=cluster_groups(report, base, request),
        changes=tuple(_changes(report, tree, request)),
        changes_at=("plan",),
        figures=_figures(base.facts.ratios),
        harm=HARM,
        charts=_CHARTS,
        map=replace(_MAP, full=base.facts.ratios["backfillfull"]),
        assumptions=[asdict(one) for one in base.assumptions],
        notes=(*_pool_notes(report), *base.notes),
        command=("resilver", "what-if", source, *words_of(request)[1]),
        until=base.input["horizon_seconds"],
    )


def _pool_notes(report: ClusterReport) -> list[str]:
    """How many copies or pieces each pool has, and from how many on it serves."""
    return [
        f"Pool {pool.name!r} has {pool.size} {'pieces' if pool.kind == 'erasure' else 'copies'} of"
        f" each PG, of which {pool.min_size} {'has' if pool.min_size == 1 else 'have'} to be"
        " there for clients, and"
        f" {pool.pg_num:,} PGs."
        for pool in report.pools
    ]


def _figures(ratios: Mapping[str, float]) -> tuple[Shown, ...]:
    """Those of a what-if, when it begins and comes to rest, and what groups wait for."""
    found = {
        one.key: Shown(**asdict(one), each=_EACH.get(one.table, ""))
        for one in FIGURES
        # Which rates OSDs fail at, the page does not know.
        if one.table != "risks"
    }
    stops = f"Fullest OSD (backfill stops at {100 * ratios['backfillfull']:g}\N{NO-BREAK SPACE}%)"
    found["peak_share"] = replace(found["peak_share"], label=stops)
    whole, *rest = found.values()
    return (whole, _RESTS, _BEGINS, _LIMIT, *rest)


def _parts(report: ClusterReport, tree: BucketTree, made: dict[str, Any]) -> list[Part]:
    """Every bucket and OSD, each behind the bucket that holds it; OSDs without a place at last."""
    osds = {osd.id: osd for osd in report.osds}
    used = _used(made)
    capacities = {osd["id"]: osd["capacity_bytes"] for osd in made["osds"]}
    parts: list[Part] = []
    placed: set[int] = set()

    def unit(number: int, parent: int) -> None:
        if number in osds and number not in placed:
            placed.add(number)
            up = osds[number].up
            device_class = tree.classes.get(number, "")
            size = capacities[number]
            parts.append(
                Part(f"osd.{number}", tree.types[0], parent, number, device_class, size,
                     used.get(number), up)
            )  # fmt: skip

    def below(name: str, parent: int) -> None:
        place = tree.buckets[name]
        own = len(parts)
        parts.append(Part(name, place.kind, parent))
        for item in place.items:
            if isinstance(item, int):
                unit(item, own)
            else:
                below(item, own)

    for place in tree.buckets.values():
        if not place.parent:
            below(place.name, -1)
    for number in osds:
        unit(number, -1)
    return parts


def _used(made: dict[str, Any]) -> dict[int, int]:
    """What the dumps say that OSDs have used."""
    return {osd["id"]: osd["used_bytes"] for osd in made["osds"] if osd["used_bytes"] is not None}


def _changes(report: ClusterReport, tree: BucketTree, request: Request) -> list[Change]:
    """What may happen to parts: each as the core gets it for an OSD that is there, as a form."""
    osd = f"osd.{report.osds[0].id}"
    kinds = (tree.types[0], *sorted({place.kind for place in tree.buckets.values()}))
    changes = []
    for kind in KINDS:
        if kind.key not in _LABELS:
            continue
        shares = _SHARES if kind.key == "slow" else ()
        value = f"{osd}={_SHARES[0]:%}" if shares else osd
        # Made for itself, since whether the pools would still fit is of no matter here.
        (step,) = CHANGES[kind.key](value, _state(report, request)).changes
        holes = {"osds": "$numbers", "item": "$name", "share": "$share"}
        change = {key: holes.get(key, one) for key, one in step.items()}
        form = {"at_seconds": "$at", "change": change}
        label = _LABELS[kind.key]
        beside = "--anyway" if kind.key in TAKES_ROOM else ""
        changes.append(
            Change(kind.key, label, kind.sentence, kinds, form, kind.option, (), shares, beside)
        )
    return changes


def _state(report: ClusterReport, request: Request) -> Cluster:
    release = release_of(report, request.release, Ledger())
    return read_state(report, request, Configuration(release, report.config or (), ()))
