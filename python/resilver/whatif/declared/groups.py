"""What an OSD goes by with the groups that it has: reservations, objects under way, logs, space."""

from __future__ import annotations

from collections.abc import Iterator

from resilver.whatif.releases import EVER, LUMINOUS, OCTOPUS, Release, Span
from resilver.whatif.settings import Setting, osd_setting

MIB = 2**20
_HARD: Release = (12, 2, 2)
"""PR 18719: OSDs take on no more than so many groups."""
_LIMIT = 2**40
"""No limit, of logs before there was one."""


def reservations() -> Iterator[Setting]:
    """What is reserved, and when it is refused."""
    yield osd_setting(
        "osd_max_backfills",
        "whole",
        "Slots of an OSD's local reserver, and as many of its remote one.",
        1,
        least=1,
        most=2**20,
        source="options; under mClock PR 41004 (Quincy: 1000), PR 49437 (17.2.6: 10), PR 49973 (1)",
    )
    yield osd_setting(
        "osd_min_recovery_priority",
        "whole",
        "The priority below which nothing is reserved.",
        0,
        least=-255,
        most=255,
    )
    for what, first in (("backfill", 10.0), ("recovery", 30.0)):
        yield osd_setting(
            f"osd_{what}_retry_interval",
            "seconds",
            f"How long a {what} that was refused for space waits before it asks again.",
            first,
            luminous=30.0,
            least=0.001,
            # A recovery is refused for space since 12.2 alone.
            span=EVER if what == "backfill" else Span(LUMINOUS),
        )
    yield osd_setting(
        "osd_allow_recovery_below_min_size",
        "flag",
        "Whether PGs of coded pools recover with fewer pieces than min_size.",
        False,
        octopus=True,
        source="options; release notes of 15.2.0",
    )
    yield Setting(
        "osd_max_pg_per_osd_hard_ratio",
        "osd",
        "number",
        ((_HARD, 2.0), ((12, 2, 6), 3.0), ((13, 0, 0), 2.0), ((13, 2, 1), 3.0)),
        "How many times mon_max_pg_per_osd PGs an OSD takes on; what is beyond stays activating.",
        "options; PR 18358 and PR 18719, PR 22592 and PR 22621 (3)",
        least=1,
        most=1000,
        span=Span(_HARD),
    )
    yield osd_setting(
        "osd_failsafe_full_ratio",
        "share",
        "The share of its bytes at which an OSD drops writes by itself.",
        0.97,
        most=1,
    )
    yield osd_setting(
        "osd_backfill_full_ratio",
        "share",
        "The share of its bytes above which an OSD takes no backfill, where the map has none.",
        0.85,
        luminous=0.9,
        most=1,
        source="options; since Luminous it is backfillfull_ratio of the OSD map",
        span=Span(until=LUMINOUS),
    )


def inside_a_group() -> Iterator[Setting]:
    """Objects under way, logs, and what an object takes."""
    yield osd_setting(
        "osd_recovery_max_active",
        "whole",
        "Objects under way of all PGs of which an OSD is primary; 0 takes that of its device.",
        3,
        octopus=0,
    )
    for device, count in (("hdd", 3), ("ssd", 10)):
        yield osd_setting(
            f"osd_recovery_max_active_{device}",
            "whole",
            f"The same of an OSD on a device of kind {device}.",
            count,
            least=1,
            source="options; under mClock 1000 in Quincy, 10 and 20 in 17.2.6 (PR 49437)",
            span=Span(OCTOPUS),
        )
    yield osd_setting(
        "osd_recovery_max_single_start", "whole", "Objects an item of the queue starts.", 1, least=1
    )
    yield osd_setting(
        "osd_recovery_max_chunk", "bytes", "Bytes of a chunk of a push.", 8 * MIB, least=4096
    )
    yield osd_setting(
        "osd_max_pg_log_entries",
        "whole",
        "The most entries of a PG's log; a replica behind by more is backfilled.",
        10_000,
        least=1,
    )
    yield osd_setting(
        "osd_min_pg_log_entries",
        "whole",
        "The fewest entries of a PG's log.",
        3000,
        luminous=1500,
        nautilus=3000,
        octopus=250,
        least=1,
    )
    yield osd_setting(
        "osd_target_pg_log_entries_per_osd",
        "whole",
        "Entries that an OSD aims at over the logs of all its PGs.",
        _LIMIT,
        octopus=300_000,
        least=1,
        source="options; before Octopus there was no aim, and a degraded PG kept the most",
        span=Span(OCTOPUS),
    )
    for device, size in (("hdd", 64 * 1024), ("ssd", 16 * 1024)):
        octopus = 4096 if device == "ssd" else size
        yield osd_setting(
            f"bluestore_min_alloc_size_{device}",
            "bytes",
            f"The least that BlueStore allocates on a device of kind {device}, kept since the OSD "
            "was made.",
            4096,
            luminous=size,
            octopus=octopus,
            pacific=4096,
            least=512,
            source="options; before Luminous FileStore, whose file system allocates 4 KiB",
            span=Span(LUMINOUS),
        )
