"""What the monitors, the manager and its balancer go by."""

from __future__ import annotations

from collections.abc import Iterator

from resilver.whatif.releases import (
    ALWAYS,
    KRAKEN,
    LUMINOUS,
    NAUTILUS,
    OCTOPUS,
    PACIFIC,
    QUINCY,
    Release,
    Span,
)
from resilver.whatif.settings import Kind, Setting, Value

_ROWS: tuple[tuple[str, Kind, Value, float, float | None, str], ...] = (
    # Name, kind, default, least, most, sentence.
    (
        "osd_heartbeat_grace",
        "seconds",
        20.0,
        0,
        None,
        "How long after its death the monitors hold an OSD for down.",
    ),
    (
        "mon_osd_down_out_interval",
        "seconds",
        600.0,
        0,
        None,
        "How long after an OSD went down it is marked out; 0 never.",
    ),
    (
        "mon_osd_down_out_subtree_limit",
        "word",
        "rack",
        0,
        None,
        "The CRUSH type of which a whole bucket that is down is never marked out.",
    ),
    (
        "mon_osd_min_in_ratio",
        "share",
        0.75,
        0,
        1,
        "The share of OSDs that are in below which nothing more is marked out.",
    ),
    (
        "mon_osd_min_up_ratio",
        "share",
        0.3,
        0,
        1,
        "The share of OSDs that are up below which nothing more is marked down.",
    ),
    (
        "mon_osd_max_creating_pgs",
        "whole",
        1024,
        1,
        None,
        "The most PGs that may be under creation at a time.",
    ),
    (
        "mon_stretch_cluster_recovery_ratio",
        "share",
        0.6,
        0.51,
        1,
        "The share of OSDs that are up above which a site that is back ends degraded stretch mode.",
    ),
    (
        "mon_stretch_recovery_min_wait",
        "seconds",
        15.0,
        1,
        None,
        "How long after that degraded stretch mode may end.",
    ),
    (
        "mon_stretch_pool_min_size",
        "whole",
        2,
        2,
        4,
        "min_size of stretch pools once degraded stretch mode has ended.",
    ),
    (
        "mgr_tick_period",
        "seconds",
        2.0,
        0.1,
        None,
        "How often the manager looks at pg_num and pgp_num.",
    ),
    (
        "target_max_misplaced_ratio",
        "share",
        0.05,
        0,
        1,
        "The share of objects that the manager's changes may misplace.",
    ),
    ("mgr/balancer/sleep_interval", "seconds", 60.0, 1, None, "How often the balancer looks."),
    (
        "mgr/balancer/upmap_max_optimizations",
        "whole",
        10,
        1,
        None,
        "The most entries of a round of the balancer.",
    ),
    (
        "mgr/balancer/upmap_max_deviation",
        "whole",
        5,
        1,
        None,
        "How many PGs an OSD may be off its share before the balancer acts.",
    ),
    (
        "mgr/pg_autoscaler/threshold",
        "number",
        3.0,
        1,
        None,
        "By which factor a pool's pg_num may be off before the autoscaler acts.",
    ),
)

_SPANS = {
    "mon_osd_max_creating_pgs": Span(LUMINOUS),
    "mon_stretch_cluster_recovery_ratio": Span(PACIFIC),
    "mon_stretch_recovery_min_wait": Span(PACIFIC),
    "mon_stretch_pool_min_size": Span(PACIFIC),
    "mgr_tick_period": Span(KRAKEN),
    "target_max_misplaced_ratio": Span(NAUTILUS),
    "mgr/balancer/sleep_interval": Span(LUMINOUS),
    # Before, it was upmap_max_iterations, and the deviation a share of an OSD's groups.
    "mgr/balancer/upmap_max_optimizations": Span(OCTOPUS),
    "mgr/balancer/upmap_max_deviation": Span((14, 2, 5)),
    # Before, it was 3 in the module itself.
    "mgr/pg_autoscaler/threshold": Span(QUINCY),
}

_EARLIER: dict[str, Value] = {"mon_osd_down_out_interval": 300.0, "mon_osd_min_in_ratio": 0.3}
"""Defaults before Luminous."""

_CAPPED: Release = (12, 2, 1)
"""PR 17427 and its backport: the monitors refuse more PGs than `mon_max_pg_per_osd`."""


def monitors() -> Iterator[Setting]:
    """The settings of monitors and manager."""
    for name, kind, default, least, most, sentence in _ROWS:
        daemon = "mgr" if name.startswith(("mgr", "target")) else "mon"
        source = name.split("/")[1] if name.startswith("mgr/") else "options"
        span = _SPANS.get(name, Span())
        defaults: tuple[tuple[Release, Value], ...] = ((ALWAYS, default),)
        if name in _EARLIER:
            defaults = ((ALWAYS, _EARLIER[name]), (LUMINOUS, default))
        yield Setting(name, daemon, kind, defaults, sentence, source, least, most, span=span)
    yield from _caps()


def _caps() -> Iterator[Setting]:
    """What the monitors refuse."""
    yield Setting(
        "mon_max_pg_per_osd",
        "global",
        "whole",
        # 12.2.9 and 13.2.2 raised it.
        ((_CAPPED, 200), ((12, 2, 9), 250), ((13, 0, 0), 200), ((13, 2, 2), 250)),
        "The most PGs an OSD on the average that the monitors let a pool's pg_num or size come to.",
        "options; PR 17427, and PR 23862 and PR 23861 (250); counted by "
        "`OSDMonitor::check_pg_num`, since 17.2.6 (PR 50327) of the pools of one rule over the "
        "OSDs below its root, before of all pools over all OSDs that are in",
        least=1,
        span=Span(_CAPPED),
    )
    yield Setting(
        "mon_max_pool_pg_num",
        "mon",
        "whole",
        ((ALWAYS, 65536),),
        "The most PGs of a pool.",
        least=1,
    )
    yield Setting(
        "mon_target_pg_per_osd",
        "global",
        "whole",
        ((OCTOPUS, 100),),
        "How many PGs an OSD the autoscaler aims at.",
        least=1,
        span=Span(OCTOPUS),
    )
    yield Setting(
        "mon_osd_max_split_count",
        "mon",
        "whole",
        ((ALWAYS, 32),),
        "The most PGs an OSD that one command may split off.",
        least=1,
        span=Span(until=NAUTILUS),
    )
