"""A real cluster as the core reads it, and as a plan's steps change it one after another."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from resilver.errors import ConfigError, Problem, name_remedy, raise_all, show
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph import (
    MDS_PLUGINS,
    NEW_CLUSTER,
    ClusterReport,
    ConfigEntry,
    PoolInfo,
)
from resilver.simulate import code_tree
from resilver.units import exact_bytes
from resilver.whatif.configuration import (
    Configuration,
    Daemon,
    Ledger,
    has_old_clients,
    setting_commands,
)
from resilver.whatif.declared.forms import CONFIG_SET, FLAGS, NEW_CLIENTS, has
from resilver.whatif.fitting import Need
from resilver.whatif.hardware import Hardware, choose_hardware
from resilver.whatif.options import ClusterRequest
from resilver.whatif.osd_settings import AllSettings, OsdKind, all_settings
from resilver.whatif.releases import Release


@dataclass
class PoolState:
    """A pool while a plan changes it."""

    info: PoolInfo
    size: int
    min_size: int
    rule: int
    pg_num: int
    stored_bytes: int

    @property
    def data_pieces(self) -> int:
        """Pieces that hold data: 1 of a replicated pool."""
        return self.info.data_pieces or 1

    @property
    def need(self) -> Need:
        """What it needs of the OSDs."""
        taken = self.stored_bytes * self.size // self.data_pieces
        return Need(self.info.name, self.rule, self.size, taken)


@dataclass
class Cluster:
    """The cluster while its plan is read.

    Attributes:
        report: What its dumps say.
        configuration: Its settings.
        tree: Its hierarchy.
        hardware: Its devices and its network.
        pools: Its pools by name, in the order of the report.
        osds: Its OSDs by number, as the core reads them.
        reweights: The reweight of each OSD, 16.16.
        kinds: What each OSD is, for its settings.
        settings: The settings that hold now.
        ledger: What was used of them at the start.
        notes: What a reader must know of the dumps.
        is_changed: Whether a step has changed the map.
        has_new_clients: Whether a step has asked for clients that heed upmap entries.
    """

    report: ClusterReport
    configuration: Configuration
    tree: BucketTree
    hardware: Hardware
    ledger: Ledger
    pools: dict[str, PoolState] = field(default_factory=dict)
    osds: dict[int, dict[str, Any]] = field(default_factory=dict)
    reweights: dict[int, int] = field(default_factory=dict)
    kinds: dict[int, OsdKind] = field(default_factory=dict)
    settings: AllSettings = field(default_factory=lambda: AllSettings({}, [], {}))
    notes: list[str] = field(default_factory=list)
    is_changed: bool = False
    has_new_clients: bool = False

    @property
    def release(self) -> Release:
        """What it runs."""
        return self.configuration.release

    @property
    def osd_names(self) -> dict[str, int]:
        """Every name an OSD goes by, with its number."""
        names = {f"osd.{number}": number for number in self.osds}
        return {
            one.name: one.id for one in self.tree.devices.values() if one.id in self.osds
        } | names

    def name_of(self, osd: int) -> str:
        """The name of an OSD."""
        device = self.tree.devices.get(osd)
        return device.name if device is not None else f"osd.{osd}"

    def pool(self, name: str) -> PoolState:
        """The pool of a name or a number.

        Raises:
            ConfigError: There is none.
        """
        by_number = {str(one.info.id): one for one in self.pools.values()}
        found = self.pools.get(name) or by_number.get(name)
        if found is None:
            remedy = name_remedy(name, list(self.pools), "pools")
            raise ConfigError("there is no pool of this name", remedy, value=show(name))
        return found

    def setting_lines(self, entry: ConfigEntry) -> list[str]:
        """The lines that set a setting here."""
        daemons = [kind.daemon for kind in self.kinds.values()]
        if not has(CONFIG_SET, self.release):
            self.note(
                "Before 13.2.0 settings are injected into running daemons: write them into "
                "ceph.conf as well, or a restart loses them."
            )
        return setting_commands(entry, self.report.config or (), daemons, self.release)

    def upmap_lines(self, lines: list[str]) -> list[str]:
        """Lines that write upmap entries, the first of them after what lets clients heed them."""
        if self.has_new_clients or not has_old_clients(self.report):
            return lines
        self.has_new_clients = True
        return [NEW_CLIENTS, *lines]

    def note(self, sentence: str) -> None:
        """Tell a reader something once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def is_usable(self, osd: int) -> bool:
        """Whether an OSD takes data, as far as the operator has decided: whether it is in."""
        return self.reweights.get(osd, 0) > 0

    @property
    def capacities(self) -> dict[int, int]:
        """The bytes of each OSD."""
        return {number: self.capacity_of(number) for number in self.osds}

    def capacity_of(self, osd: int) -> int:
        """The bytes of an OSD."""
        return self.osds[osd]["capacity_bytes"]  # type: ignore[no-any-return]


def read_state(
    report: ClusterReport, request: ClusterRequest, configuration: Configuration
) -> Cluster:
    """The cluster before the first step.

    Args:
        report: What its dumps say.
        request: What the user says beside.
        configuration: Its settings, with what the user states of them for the start.

    Raises:
        ConfigError: A pool is coded in a way that is not modelled, no group's bytes are known, or
            what the user says names nothing.
    """
    notes = _check_codes(report)
    ledger = Ledger()
    tree = BucketTree(json.loads(report.crushmap))
    hardware = choose_hardware(report, request, ledger)
    cluster = Cluster(report, configuration, tree, hardware, ledger)
    stored: dict[int, int] = {}
    for load in report.loads:
        stored[load.pool] = stored.get(load.pool, 0) + load.bytes
    cluster.pools = {
        pool.name: PoolState(
            pool, pool.size, pool.min_size, pool.rule_id, pool.pg_num, stored.get(pool.id, 0)
        )
        for pool in report.pools
    }
    for osd in report.osds:
        is_disk, is_hybrid = hardware.turns(osd.id)
        cluster.kinds[osd.id] = OsdKind(
            osd.id, f"osd.{osd.id}", is_disk, is_hybrid, tree.classes.get(osd.id, ""),
            tree.places_of(osd.id),
        )  # fmt: skip
        cluster.reweights[osd.id] = osd.reweight
    cluster.settings = all_settings(configuration, cluster.kinds.values(), ledger)
    cluster.notes += [*notes, *ledger.warnings]
    _read_osds(cluster)
    _note_dumps(cluster)
    return cluster


def _read_osds(cluster: Cluster) -> None:
    report, hardware = cluster.report, cluster.hardware
    used = {one.osd: one.used_bytes for one in report.usage}
    hosts = {place.name: place.id for place in cluster.tree.buckets.values()}
    for osd in report.osds:
        kind = cluster.kinds[osd.id]
        cluster.osds[osd.id] = {
            "id": osd.id,
            "up": osd.up,
            "reweight": osd.reweight,
            "affinity": osd.affinity,
            "capacity_bytes": hardware.capacity(osd.id, cluster.ledger),
            "used_bytes": used.get(osd.id),
            "min_alloc_bytes": _min_alloc(cluster, kind),
            "device": hardware.law(osd.id),
            "rotational": kind.is_disk,
            "settings": cluster.settings.of_osd[osd.id],
            "host": hosts.get(kind.places.get("host", ""), -1),
        }


def _min_alloc(cluster: Cluster, kind: OsdKind) -> int:
    """The smallest unit that an OSD allocates: as its metadata says, else of its release."""
    stated = cluster.hardware.metadata.get(kind.id)
    name = f"bluestore_min_alloc_size_{'hdd' if kind.is_disk else 'ssd'}"
    if stated is not None and stated.min_alloc_bytes:
        size = stated.min_alloc_bytes
        cluster.ledger.note(name, exact_bytes(size), "dump", "ceph osd metadata", kind.name)
        if cluster.configuration.find(name, kind.daemon).origin == "stated":
            cluster.note(
                f"{name} as stated has no effect: OSDs keep the unit that they began with."
            )
        return size
    found = cluster.configuration.find(name, kind.daemon)
    size = new_min_alloc(cluster, kind)
    origin = "assumed" if found.origin == "release default" else found.origin
    sentence = "the release's default; an OSD keeps that of the release that made it"
    cluster.ledger.note(name, exact_bytes(size), origin, sentence, kind.name)
    return size


def new_min_alloc(cluster: Cluster, kind: OsdKind) -> int:
    """The smallest unit that a new OSD allocates, in bytes."""
    name = f"bluestore_min_alloc_size_{'hdd' if kind.is_disk else 'ssd'}"
    return int(cluster.configuration.find(name, kind.daemon).value)


def _check_codes(report: ClusterReport) -> list[str]:
    """Refuse pools of unknown k and m; notes on those for which an MDS code stands."""
    coded = [pool for pool in report.pools if pool.kind == "erasure" and pool.code is None]
    raise_all(
        Problem(
            f"pool '{pool.name}' is coded by an unknown profile",
            "add erasure_code_profiles with its k and m to the osdmap",
            place=report.label,
        )
        for pool in coded
        if pool.profile is None
    )
    for pool in report.pools:
        try:
            code_tree(pool.code or "copies 1")
        except ConfigError as error:
            place = f"{report.label}, pool '{pool.name}'"
            raise ConfigError(replace(problem, place=place) for problem in error.problems) from None
    return [
        f"Pool '{pool.name}' uses the plugin '{profile.plugin}', simulated as an MDS code: any "
        f"{profile.data} of its {pool.size} shards restore data, and recovery reads "
        f"{profile.data} whole shards."
        for pool in coded
        if (profile := pool.profile) is not None
    ]


def _note_dumps(cluster: Cluster) -> None:
    report, notes = cluster.report, cluster.notes
    names = {pool.id: pool.name for pool in report.pools}
    unstated = Counter(names[load.pool] for load in report.loads if not load.measured)
    for name, count in unstated.items():
        notes.append(
            f"Sizes of {count:,} PGs of pool '{name}' are unknown: its data is spread evenly over "
            "them. Add `ceph pg dump` for their sizes."
        )
    if report.config is None:
        notes.append(
            "No `ceph config dump` was given, so release defaults apply, except for settings that "
            "you state."
        )
    if not report.usage:
        notes.append(
            "No `ceph osd df` was given, so an OSD's used bytes are those of its PGs alone."
        )


def cluster_json(cluster: Cluster, groups: list[Any] | None = None) -> dict[str, Any]:
    """The cluster before the first step, as the core reads it; the run and its plan lack yet.

    `groups` is what its groups hold, where that has been made before.
    """
    report = cluster.report
    return {
        "crushmap": report.crushmap,
        "osds": list(cluster.osds.values()),
        "pools": [_pool_json(cluster.pools[pool.name]) for pool in report.pools],
        "groups": _groups_json(report) if groups is None else groups,
        "ratios": ratios_of(cluster),
        "flags": [flag for flag in report.flags if flag in FLAGS],
        "stretch_mode": asdict(report.stretch_mode) if report.stretch_mode else None,
        "settings": cluster.settings.cluster,
        "osd_settings": cluster.settings.osd,
        "network": cluster.hardware.network,
    }


def ratios_of(cluster: Cluster) -> dict[str, float]:
    """The shares of an OSD at which Ceph acts; what the map lacks is Ceph's default.

    Before Luminous the share for backfills was a setting of OSDs, which may stand below the share
    that warns.
    """
    stated = cluster.report.ratios
    first = Daemon("osd")
    failsafe = float(cluster.configuration.find("osd_failsafe_full_ratio", first).value)
    back = float(cluster.configuration.find("osd_backfill_full_ratio", first).value)
    near, full = (stated or NEW_CLUSTER).nearfull, (stated or NEW_CLUSTER).full
    if stated is not None and stated.backfillfull is not None:
        back = stated.backfillfull
    return {
        "nearfull": near,
        "backfillfull": min(back, full),
        "full": full,
        "failsafe": max(failsafe, full),
    }


def _pool_json(pool: PoolState) -> dict[str, Any]:
    info = pool.info
    return {
        "pool": info.to_core(),
        "name": info.name,
        "min_size": info.min_size,
        "data_pieces": pool.data_pieces,
        # Codes of which any k shards restore the data have no need of their equations.
        "code": info.code if info.profile and info.profile.plugin not in MDS_PLUGINS else None,
        "stripe_width": info.stripe_width if info.kind == "erasure" else 0,
        "recovery_priority": info.recovery_priority,
        "pg_num_target": info.pg_num_target or info.pg_num,
        "stretch": asdict(info.stretch) if info.stretch else None,
    }


def _groups_json(report: ClusterReport) -> list[dict[str, Any]]:
    """What the groups of each pool hold, in the order of the pools."""
    loads: dict[int, list[Any]] = {pool.id: [] for pool in report.pools}
    for load in report.loads:
        loads[load.pool].append(load)
    stated: dict[int, list[Any]] = {pool.id: [] for pool in report.pools}
    for group in report.groups:
        stated[group.pool].append(group)
    made = []
    for pool in report.pools:
        # A column is given whole or not at all.
        all_of = groups if len(groups := stated[pool.id]) == pool.pg_num else []
        made.append(
            {
                "bytes": [load.bytes for load in loads[pool.id]],
                "objects": [load.objects for load in loads[pool.id]],
                "omap_bytes": _whole([one.omap_bytes for one in all_of]),
                "acting": _acting(all_of),
                "degraded": _whole([one.degraded for one in all_of]),
                "misplaced": _whole([one.misplaced for one in all_of]),
            }
        )
    return made


def _whole(column: list[int | None]) -> list[int]:
    return [one or 0 for one in column] if any(column) else []


def _acting(groups: list[Any]) -> list[list[int]]:
    acting = [list(one.acting) for one in groups]
    return acting if all(acting) else []
