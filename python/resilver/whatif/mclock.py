"""mClock as a profile or own settings give it to an OSD.

Shares by profile: Ceph's `src/osd/scheduler/mClockScheduler.cc` before and after PR 49975.
"""

from __future__ import annotations

from typing import Any

from resilver.whatif.releases import COSTS_FIXED, LIMITS_CUT, Release

_SharesOf = dict[str, tuple[float, float, float | None]]

_PROFILES: dict[str, _SharesOf] = {
    "balanced": {
        "client": (0.5, 1, None),
        "recovery": (0.5, 1, None),
        "best_effort": (0.0, 1, 0.9),
    },
    "high_client_ops": {
        "client": (0.6, 2, None),
        "recovery": (0.4, 1, None),
        "best_effort": (0.0, 1, 0.7),
    },
    "high_recovery_ops": {
        "client": (0.3, 1, None),
        "recovery": (0.7, 2, None),
        "best_effort": (0.0, 1, None),
    },
}

# Before the fix every backfill was of the class of recovery, so what moves misplaced groups has its
# shares here. Deletion, which had those of the rest, has them too.
_FIRST_PROFILES: dict[str, _SharesOf] = {
    "balanced": {"client": (0.4, 1, 1.0), "recovery": (0.4, 1, 1.5)},
    "high_client_ops": {"client": (0.5, 2, None), "recovery": (0.25, 1, 1.0)},
    "high_recovery_ops": {"client": (0.3, 1, 0.8), "recovery": (0.6, 2, 2.0)},
}

_SUB_READS_IN_CLASS: Release = (20, 2, 3)
"""PR 69773, the backport of PR 64618, puts the reads of a coded recovery into its class."""

MEASURED = (
    "fitted to one of six recoveries that others measured before 17.2.6, on disks and on flash, "
    "which took 1.73 to 1.94 times as long as Ceph's options say; later releases were not measured"
)
"""Why an item of recovery costs what it does (`resilver reproduce ceph-recoveries`)."""

_UNLIMITED = 999_999
"""What Ceph wrote for no limit before the fix, in requests a second."""


def profile_shares(profile: str, release: Release) -> dict[str, Any]:
    """The shares of a built-in profile, as the core reads them."""
    table = _PROFILES[profile] if release >= COSTS_FIXED else _FIRST_PROFILES[profile]
    rest = table.get("best_effort", table["recovery"])
    return {key: _share(*of) for key, of in {**table, "best_effort": rest}.items()}


def custom_shares(
    settings: dict[str, tuple[float, float, float]], iops: float, release: Release
) -> dict[str, Any]:
    """The shares of the profile ``custom``.

    Args:
        settings: (res, wgt, lim) of ``client``, ``background_recovery`` and
            ``background_best_effort``: shares, before the fix requests a second.
        iops: The capacity in requests a second.
    """
    made = {}
    for key, (kept, weight, limit) in settings.items():
        if release < COSTS_FIXED:
            kept, limit = kept / iops, 0.0 if limit >= _UNLIMITED else limit / iops
        made[key.removeprefix("background_")] = _share(kept, weight, limit or None)
    if release < COSTS_FIXED:
        made["best_effort"] = made["recovery"]
    return made


def _share(reservation: float, weight: float, limit: float | None) -> dict[str, Any]:
    return {"reservation": reservation, "weight": float(weight), "limit": limit}


def item_cost(release: Release) -> float:
    """What an item of recovery costs under mClock, in `osd_recovery_cost`; see `MEASURED`."""
    return 1.78 if release < LIMITS_CUT else 1.0


def cost_model(
    release: Release, per_byte_usec: float, item_bytes: int, is_disk: bool
) -> dict[str, Any]:
    """What a request costs, as the core reads it.

    Args:
        per_byte_usec: ``osd_mclock_cost_per_byte_usec_*``.
        item_bytes: ``osd_recovery_cost``, which every item of recovery cost before the fix.
        is_disk: Whether the device turns.
    """
    if release >= COSTS_FIXED:
        return {"kind": "bandwidth"}
    # Costs were whole seconds of a disk and whole milliseconds of flash, at least 1, so the cost of
    # a request itself (25 ms, 50 us) never showed: round(25e-3 + 5.2e-6 x bytes), at least 1.
    per_byte = per_byte_usec * (1e-6 if is_disk else 1e-3)
    item = round(item_cost(release) * item_bytes)
    return {"kind": "iops", "per_io": 1.0, "per_byte": per_byte, "osd_recovery_cost": item}


def sub_reads_in_class(release: Release) -> bool:
    """Whether the reads of a coded recovery from other OSDs are in its class."""
    return release >= _SUB_READS_IN_CLASS


def forced_limits(release: Release) -> dict[str, int]:
    """What mClock sets whatever the configuration says, by setting."""
    if release < LIMITS_CUT:
        slots, disk, flash = 1000, 1000, 1000
    elif release < COSTS_FIXED:
        slots, disk, flash = 10, 10, 20
    else:
        slots, disk, flash = 1, 3, 10
    return {
        "osd_max_backfills": slots,
        "osd_recovery_max_active_hdd": disk,
        "osd_recovery_max_active_ssd": flash,
    }
