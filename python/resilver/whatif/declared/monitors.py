"""What the monitors, the manager and its balancer go by."""

from __future__ import annotations

from collections.abc import Iterator

from resilver.whatif.settings import ALWAYS, LUMINOUS, Kind, Setting, Value

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
        "The most groups that may be under creation at a time.",
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
        "How many groups an OSD may be off its share before the balancer acts.",
    ),
)

_BEFORE_LUMINOUS: dict[str, Value] = {
    "mon_osd_down_out_interval": 300.0,
    "mon_osd_min_in_ratio": 0.3,
}


def monitors() -> Iterator[Setting]:
    """The settings of monitors and manager."""
    for name, kind, default, least, most, sentence in _ROWS:
        daemon = "mgr" if name.startswith(("mgr", "target")) else "mon"
        source = "balancer" if name.startswith("mgr/") else "options"
        defaults: tuple[tuple[tuple[int, int, int], Value], ...] = ((ALWAYS, default),)
        if name in _BEFORE_LUMINOUS:
            defaults = ((ALWAYS, _BEFORE_LUMINOUS[name]), (LUMINOUS, default))
        yield Setting(name, daemon, kind, defaults, sentence, source, least, most)
