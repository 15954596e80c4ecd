"""The settings of every OSD, of the monitors and of the manager, as the core reads them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from resilver.whatif.configuration import Configuration, Daemon, Found, Ledger
from resilver.whatif.declared import SETTINGS
from resilver.whatif.declared.forms import MANAGED_PG_NUM, has
from resilver.whatif.mclock import (
    MEASURED,
    cost_model,
    custom_shares,
    forced_limits,
    item_cost,
    profile_shares,
    sub_reads_in_class,
)

_SAME = (
    "osd_recovery_max_single_start",
    "osd_recovery_max_chunk",
    "osd_min_recovery_priority",
    "osd_backfill_retry_interval",
    "osd_recovery_retry_interval",
    "osd_allow_recovery_below_min_size",
    "osd_max_pg_log_entries",
    "osd_target_pg_log_entries_per_osd",
    "osd_min_pg_log_entries",
    "osd_target_transaction_size",
)
"""What the core takes as it is."""

OVERRIDE = "osd_mclock_override_recovery_settings"
"""With this mClock leaves recovery's limits as they are set."""

_OF_MONITORS = (
    "osd_heartbeat_grace",
    "mon_osd_down_out_interval",
    "mon_osd_down_out_subtree_limit",
    "mon_osd_min_in_ratio",
    "mon_osd_min_up_ratio",
    "mon_osd_max_creating_pgs",
    "mon_stretch_cluster_recovery_ratio",
    "mon_stretch_recovery_min_wait",
    "mon_stretch_pool_min_size",
)

_OF_THE_MANAGER = (
    "mgr_tick_period",
    "target_max_misplaced_ratio",
    "mgr/balancer/sleep_interval",
    "mgr/balancer/upmap_max_optimizations",
    "mgr/balancer/upmap_max_deviation",
)


@dataclass(frozen=True)
class OsdKind:
    """What an OSD is, as far as its settings depend on it.

    Attributes:
        id: Its number.
        name: Its name.
        is_disk: Whether its data is on a disk that turns.
        is_hybrid: Whether its journal or database is not.
        device_class: Its class, or empty.
        places: The bucket of each CRUSH type above it, lowest first.
    """

    id: int
    name: str
    is_disk: bool
    is_hybrid: bool
    device_class: str
    places: dict[str, str]

    @property
    def daemon(self) -> Daemon:
        """Who asks for its settings."""
        return Daemon("osd", self.id, self.device_class, self.places)


@dataclass(frozen=True)
class AllSettings:
    """The settings of a cluster.

    Attributes:
        cluster: Of monitors and manager.
        osd: Of OSDs, each once.
        of_osd: Which of them each OSD has, by its number.
    """

    cluster: dict[str, Any]
    osd: list[dict[str, Any]]
    of_osd: dict[int, int]


def all_settings(
    configuration: Configuration, osds: Iterable[OsdKind], ledger: Ledger
) -> AllSettings:
    """The settings of every daemon.

    Args:
        configuration: What the cluster and the user say.
        osds: The OSDs.
        ledger: Where it is kept what was used.
    """
    distinct: dict[str, int] = {}
    of_osd = {}
    # OSDs that no entry tells apart have the same, and are looked up once.
    known: dict[Hashable, tuple[int, Ledger]] = {}
    for osd in osds:
        alike = (osd.is_disk, osd.is_hybrid, configuration.telling(osd.daemon))
        if alike not in known:
            used = Ledger()
            text = json.dumps(_OneOsd(configuration, osd, used).made())
            known[alike] = (distinct.setdefault(text, len(distinct)), used)
        of_osd[osd.id], used = known[alike]
        ledger.repeat(used, osd.name)
    return AllSettings(_cluster(configuration, ledger), list(map(json.loads, distinct)), of_osd)


def _cluster(configuration: Configuration, ledger: Ledger) -> dict[str, Any]:
    made = {}
    for kind, names in (("mon", _OF_MONITORS), ("mgr", _OF_THE_MANAGER)):
        for name in names:
            found = configuration.find(name, Daemon(kind))
            ledger.found(SETTINGS[name], found, "")
            key = name.rpartition("/")[2]
            made["balancer_sleep_interval" if key == "sleep_interval" else key] = found.value
    return {**made, "pg_num_by_operator": not has(MANAGED_PG_NUM, configuration.release)}


class _OneOsd:
    """One OSD's settings while they are looked up."""

    def __init__(self, configuration: Configuration, osd: OsdKind, ledger: Ledger) -> None:
        self._configuration = configuration
        self._osd = osd
        self._daemon = osd.daemon
        self._ledger = ledger
        self._device = "hdd" if osd.is_disk else "ssd"

    def made(self) -> dict[str, Any]:
        """The settings as the core reads them."""
        is_wpq = not str(self._value("osd_op_queue")).startswith("mclock_scheduler")
        return {
            **{name: self._value(name) for name in _SAME},
            **self._limits(is_wpq),
            **self._most_groups(),
            "osd_recovery_sleep": self._sleep("osd_recovery_sleep") if is_wpq else 0.0,
            "osd_delete_sleep": self._sleep("osd_delete_sleep") if is_wpq else 0.0,
            "queue": self._wpq() if is_wpq else self._mclock(),
            "osd_op_num_shards": self._of_device("osd_op_num_shards"),
            "osd_op_num_threads_per_shard": self._of_device("osd_op_num_threads_per_shard"),
        }

    def _find(self, name: str) -> Found:
        return self._configuration.find(name, self._daemon)

    def _value(self, name: str) -> Any:
        found = self._find(name)
        self._ledger.found(SETTINGS[name], found, self._osd.name)
        return found.value

    def _of_device(self, name: str) -> Any:
        """A setting that 0 leaves to the one of the kind of device."""
        general = self._find(name)
        return self._value(name if general.value else f"{name}_{self._device}")

    def _sleep(self, name: str) -> float:
        if self._find(name).value:
            return float(self._value(name))
        tail = "hybrid" if self._osd.is_hybrid else self._device
        return float(self._value(f"{name}_{tail}"))

    def _limits(self, is_wpq: bool) -> dict[str, Any]:
        """How many reservations and objects under way, which mClock sets by itself."""
        active = "osd_recovery_max_active"
        release = self._configuration.release
        forced = forced_limits(release)
        is_free = bool(self._find(OVERRIDE).value)
        if is_wpq:
            return {
                "osd_max_backfills": self._value("osd_max_backfills"),
                active: self._of_device(active),
            }
        if is_free:
            self._value(OVERRIDE)
            general = self._find(active)
            # The release's own default of the general one is for WPQ.
            is_general = general.origin != "release default" and bool(general.value)
            name = active if is_general else f"{active}_{self._device}"
            return {
                "osd_max_backfills": self._own("osd_max_backfills", forced["osd_max_backfills"]),
                active: self._own(name, forced[f"{active}_{self._device}"]),
            }
        return {
            "osd_max_backfills": self._reset("osd_max_backfills", forced["osd_max_backfills"]),
            active: self._reset(
                f"{active}_{self._device}", forced[f"{active}_{self._device}"], also=active
            ),
        }

    def _most_groups(self) -> dict[str, Any]:
        """How many groups an OSD takes on; 0 in a release without a limit."""
        names = ("mon_max_pg_per_osd", "osd_max_pg_per_osd_hard_ratio")
        has_limit = SETTINGS[names[1]].span.holds(self._configuration.release)
        return {name: self._value(name) if has_limit else 0 for name in names}

    def _own(self, name: str, default: int) -> Any:
        """What is set, else mClock's own default."""
        found = self._find(name)
        if found.origin == "release default":
            found = Found(default, "release default", "mClock's own default")
        self._ledger.found(SETTINGS[name], found, self._osd.name)
        return found.value

    def _reset(self, name: str, value: int, also: str = "") -> int:
        """What mClock makes of it; a value that it throws away is told."""
        sentence = "mClock sets it by itself"
        for one in filter(None, (name, also)):
            found = self._find(one)
            if found.origin != "release default" and found.value not in (0, value):
                remedy = (
                    f"set {OVERRIDE} to true first"
                    if SETTINGS[OVERRIDE].span.holds(self._configuration.release)
                    else "this release lets nobody change that"
                )
                sentence = (
                    f"{one} = {found.value} ({found.where or found.origin}) has no effect, as "
                    f"mClock resets it; {remedy}"
                )
                self._ledger.warn(sentence)
        self._ledger.note(name, str(value), "release default", sentence, self._osd.name)
        return value

    def _wpq(self) -> dict[str, Any]:
        names = ("osd_client_op_priority", "osd_recovery_op_priority", "osd_recovery_cost")
        return {"kind": "wpq", **{name: self._value(name) for name in names}}

    def _mclock(self) -> dict[str, Any]:
        release, device = self._configuration.release, self._device
        iops = float(self._value(f"osd_mclock_max_capacity_iops_{device}"))
        profile = str(self._value("osd_mclock_profile"))
        if profile == "custom":
            own = {
                key: tuple(
                    float(self._value(f"osd_mclock_scheduler_{key}_{tail}"))
                    for tail in ("res", "wgt", "lim")
                )
                for key in ("client", "background_recovery", "background_best_effort")
            }
            shares = custom_shares(own, iops, release)  # type: ignore[arg-type]
        else:
            shares = profile_shares(profile, release)
        per_byte = float(self._find(f"osd_mclock_cost_per_byte_usec_{device}").value)
        item_bytes = int(self._find("osd_recovery_cost").value)
        if (cost := item_cost(release)) != 1.0:
            times = f"{cost:g} times osd_recovery_cost"
            name = "cost of an item under mClock"
            self._ledger.note(name, times, "assumed", MEASURED, self._osd.name)
        return {
            "kind": "mclock",
            "max_sequential_bandwidth": float(
                self._value(f"osd_mclock_max_sequential_bandwidth_{device}")
            ),
            "max_capacity_iops": iops,
            "cost": cost_model(release, per_byte, item_bytes, self._osd.is_disk),
            "shares": shares,
            "sub_reads_in_class": sub_reads_in_class(release),
        }
