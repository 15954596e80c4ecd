"""A cluster as it stands: every part of some levels fails in turn, and what fits is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.ceph import ClusterReport
from resilver.simulate import room
from resilver.whatif.answer import host_level
from resilver.whatif.each import rank_failures
from resilver.whatif.options import Request
from resilver.whatif.perform import Told, answer_of
from resilver.whatif.plan import Plan
from resilver.whatif.watched import Watched

PARTS_MAX = 100
"""Levels of more parts are watched only where they are named: each part is a run."""


def watch(
    report: ClusterReport,
    levels: Iterable[str] = (),
    request: Request | None = None,
    grow: Iterable[str] = (),
    older: ClusterReport | None = None,
    told: Told | None = None,
) -> Watched:
    """Let every part of some levels fail in turn, and see how much more fits.

    Args:
        report: The cluster, as its dumps say.
        levels: Types of its CRUSH map; none for those of at most `PARTS_MAX` parts.
        request: What is asked beside.
        grow: How fast pools grow, such as ``rbd=2%/week``.
        older: The cluster earlier: pools whose growth is not stated grow as since then.
        told: Told how far it is.

    Raises:
        ConfigError: The map has no such level, or a dump that this needs is missing.
    """
    asked = request or Request(counterfactuals=False)
    chosen, types = tuple(dict.fromkeys(levels)) or watched_levels(report), report.buckets.types
    for level in chosen:
        if level not in types:
            remedy = name_remedy(level, types, "levels")
            raise ConfigError("the map has no such level", remedy, "--level", show(level))
    # What is wrong with it is said before anything is simulated.
    fits, nothing = room(report, None, grow, older), Plan("as it is", ())
    return Watched(
        now=answer_of(report, nothing, asked, told),
        rankings=tuple(
            rank_failures(report, level, nothing, asked, told, option="--level") for level in chosen
        ),
        room=fits,
        stamp_seconds=report.stamp_seconds,
    )


def watched_levels(report: ClusterReport) -> tuple[str, ...]:
    """The level that holds OSDs, and the others below a root that have at most `PARTS_MAX` parts.

    A level has several parts of which an OSD is up.
    """
    tree, up = report.buckets, {osd.id for osd in report.osds if osd.up}
    counts = Counter({tree.types[0]: len(up)})
    for place in tree.buckets.values():
        if place.parent and not up.isdisjoint(tree.below(place.name)):
            counts[place.kind] += 1
    places = {osd: tree.places_of(osd) for osd in sorted(up) if osd in tree.devices}
    counts[host_level(places)] = min(counts[host_level(places)], PARTS_MAX)
    return tuple(kind for kind in tree.types if 1 < counts[kind] <= PARTS_MAX)
