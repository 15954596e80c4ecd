"""What an OSD orders its operations by: WPQ with sleeps, or mClock."""

from __future__ import annotations

from collections.abc import Iterator

from resilver.whatif.releases import (
    ALWAYS,
    COSTS_FIXED,
    EVER,
    KRAKEN,
    LIMITS_CUT,
    LUMINOUS,
    MIMIC,
    NAUTILUS,
    OCTOPUS,
    PACIFIC,
    Span,
)
from resilver.whatif.settings import Setting, Value, osd_setting

MIB = 2**20
PROFILES = ("balanced", "high_client_ops", "high_recovery_ops", "custom")
QUEUES = {
    "mclock_scheduler": Span(OCTOPUS),
    "wpq": EVER,
    "prioritized": Span(LUMINOUS, OCTOPUS),
    "prio": Span(until=LUMINOUS),
    "mclock_opclass": Span(LUMINOUS, OCTOPUS),
    "mclock_client": Span(LUMINOUS, OCTOPUS),
}
_SHARDS = "options; five queues became one of five threads by 18.2.5 and 19.2.1, tracker 66289"


def queues() -> Iterator[Setting]:
    """The queue, and what WPQ goes by."""
    yield osd_setting(
        "osd_op_queue",
        "word",
        "How an OSD orders its operations.",
        "wpq",
        quincy="mclock_scheduler",
        words=tuple(QUEUES),
        word_spans=QUEUES,
    )
    for who, weight in (("client", 63), ("recovery", 3)):
        yield osd_setting(
            f"osd_{who}_op_priority",
            "whole",
            f"The weight of {who} operations under WPQ.",
            weight,
            least=1,
            most=63,
        )
    yield osd_setting(
        "osd_recovery_cost",
        "bytes",
        "The cost of an item of recovery under WPQ, and under the first mClock.",
        20 * MIB,
        span=Span(KRAKEN),
    )
    deleted = {"": (0.0,) * 2, "_hdd": (0.0, 5.0), "_ssd": (0.0, 1.0), "_hybrid": (0.0, 1.0)}
    slept = {"": (0.0,) * 2, "_hdd": (0.0, 0.1), "_ssd": (0.0,) * 2, "_hybrid": (0.0, 0.025)}
    for tail in slept:
        of = f" on a device of kind {tail[1:]}" if tail else "; 0 takes that of its device"
        yield osd_setting(
            f"osd_recovery_sleep{tail}",
            "seconds",
            f"How long an OSD waits before each item of recovery{of}; 0 under mClock.",
            slept[tail][0],
            luminous=slept[tail][1],
            span=Span(LUMINOUS) if tail else EVER,
        )
        yield osd_setting(
            f"osd_delete_sleep{tail}",
            "seconds",
            f"How long an OSD waits before each transaction of a deletion{of}; 0 under mClock.",
            deleted[tail][0],
            nautilus=deleted[tail][1],
            span=Span(NAUTILUS if tail else MIMIC),
        )
    yield osd_setting(
        "osd_target_transaction_size",
        "whole",
        "Objects of a transaction of a deletion.",
        30,
        least=1,
    )
    yield from _shards()


def _shards() -> Iterator[Setting]:
    split = ((18, 2, 5), (19, 0, 0), (19, 2, 1))
    kinds = {
        "osd_op_num_shards": ("Independent queues of an OSD", 5, (5, 1, 5, 1), 8),
        "osd_op_num_threads_per_shard": ("Threads that serve each queue", 2, (1, 5, 1, 5), 2),
    }
    for name, (what, first, disk, flash) in kinds.items():
        since = zip((LUMINOUS, *split), disk, strict=True)
        rows: dict[str, tuple[tuple[tuple[int, int, int], Value], ...]] = {
            "": ((ALWAYS, first), (LUMINOUS, 0)),
            "_hdd": tuple(since),
            "_ssd": ((LUMINOUS, flash),),
        }
        for tail, defaults in rows.items():
            of = f" on a device of kind {tail[1:]}." if tail else "; 0 takes that of its device."
            sentence = what + of
            span = Span(LUMINOUS) if tail else EVER
            yield Setting(name + tail, "osd", "whole", defaults, sentence, _SHARDS, span=span)


def mclock() -> Iterator[Setting]:
    """What mClock goes by."""
    yield osd_setting(
        "osd_mclock_profile",
        "word",
        "Which shares clients, recovery and the rest have under mClock.",
        # The first mClock had no profiles, but for the shares that one sets oneself.
        "custom",
        pacific="high_client_ops",
        costs_fixed="balanced",
        words=PROFILES,
        source="options; PR 49973",
        span=Span(PACIFIC),
    )
    yield osd_setting(
        "osd_mclock_override_recovery_settings",
        "flag",
        "Whether osd_max_backfills and osd_recovery_max_active may be set under mClock.",
        False,
        source="PR 49437 (17.2.6); before, they could not be set",
        span=Span(LIMITS_CUT),
    )
    figures = {"hdd": (315, 150 * MIB, 25_000.0, 5.2), "ssd": (21_500, 1200 * MIB, 50.0, 0.011)}
    for device, (iops, rate, per_io, per_byte) in figures.items():
        yield osd_setting(
            f"osd_mclock_max_capacity_iops_{device}",
            "number",
            f"Requests a second that an OSD on a device of kind {device} can do; an OSD measures "
            "it at its first start and keeps it in the configuration.",
            float(iops),
            least=1,
            span=Span(PACIFIC),
        )
        yield osd_setting(
            f"osd_mclock_max_sequential_bandwidth_{device}",
            "bytes",
            f"Bytes a second that an OSD on a device of kind {device} can do.",
            rate,
            least=1,
            source="options; PR 49973",
            span=Span(COSTS_FIXED),
        )
        yield osd_setting(
            f"osd_mclock_cost_per_io_usec_{device}",
            "number",
            f"The cost of a request on a device of kind {device}, before 17.2.7.",
            per_io,
            source="documentation of Quincy's mClock",
            span=Span(PACIFIC, COSTS_FIXED),
        )
        yield osd_setting(
            f"osd_mclock_cost_per_byte_usec_{device}",
            "number",
            f"The cost of a byte on a device of kind {device}, before 17.2.7.",
            per_byte,
            source="documentation of Quincy's mClock",
            span=Span(PACIFIC, COSTS_FIXED),
        )
    yield from _own_shares()


def _own_shares() -> Iterator[Setting]:
    names = {"client": "clients", "background_recovery": "recovery"}
    names["background_best_effort"] = "all else"
    for key, who in names.items():
        yield osd_setting(
            f"osd_mclock_scheduler_{key}_res",
            "number",
            f"What is kept for {who} by the profile custom: a share of the capacity, before "
            "17.2.7 requests a second.",
            1.0,
            costs_fixed=0.0,
            span=Span(OCTOPUS),
        )
        yield osd_setting(
            f"osd_mclock_scheduler_{key}_wgt",
            "number",
            f"The weight of {who} in what is not kept, by the profile custom.",
            1.0,
            least=0.001,
            span=Span(OCTOPUS),
        )
        yield osd_setting(
            f"osd_mclock_scheduler_{key}_lim",
            "number",
            f"The most that {who} get by the profile custom, likewise; 0 is no limit.",
            999_999.0,
            costs_fixed=0.0,
            span=Span(OCTOPUS),
        )
