"""What is read of a Ceph cluster: its pools, OSDs and groups, and what its groups hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from resilver.crush.model import WEIGHT_ONE, Osds, Pool
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph.facts import BalancerState, ConfigEntry, OsdMetadata, OsdPerf, Ratios

SIZE_MAX = 64
"""The most copies or pieces of a group."""

PG_NUM_MAX = 2**24
"""The most PGs of a pool that are read, as the core follows."""

MDS_PLUGINS = ("jerasure", "isa")
"""Ceph's plugins whose codes survive any m losses and rebuild from any k pieces."""


@dataclass(frozen=True)
class ErasureProfile:
    """The erasure code profile of a pool.

    Attributes:
        name: Its name.
        plugin: The plugin that codes, such as ``jerasure``.
        data: k, the pieces that hold data.
        parity: The others: m, and of lrc its local parities too.
        own_code: The code of lrc, clay and shec as `resilver redundancy` writes it, or empty.
        values: (key, value) of the profile that say that code.
    """

    name: str
    plugin: str
    data: int
    parity: int
    own_code: str = ""
    values: tuple[tuple[str, str], ...] = ()

    @property
    def code(self) -> str | None:
        """The code as `resilver redundancy` writes it; None where none of ours is the plugin's.

        >>> ErasureProfile("default", "jerasure", 4, 2).code
        'rs 4+2'
        """
        if self.plugin in MDS_PLUGINS:
            return f"rs {self.data}+{self.parity}"
        return self.own_code or None


@dataclass(frozen=True)
class PoolLimits:
    """What the monitors and the autoscaler hold a pool to.

    Attributes:
        flags: What is set on the pool beside ``hashpspool``, such as ``nopgchange``, by name.
        quota_bytes: The user data from which on clients write no more; 0 for no quota.
        quota_objects: Likewise, objects.
        pg_num_min: The fewest PGs; 0 where the pool states none.
        pg_num_max: The most PGs; 0 where the pool states none.
        autoscale_mode: ``on``, ``warn`` or ``off``.
        autoscale_bias: By which the autoscaler multiplies the pool's PGs.
        target_size_bytes: User data that the pool is expected to hold; 0 for none.
        target_size_ratio: The share of the capacity that it is expected to take; 0 for none.
    """

    flags: tuple[str, ...] = ()
    quota_bytes: int = 0
    quota_objects: int = 0
    pg_num_min: int = 0
    pg_num_max: int = 0
    autoscale_mode: str = "off"
    autoscale_bias: float = 1.0
    target_size_bytes: int = 0
    target_size_ratio: float = 0.0


@dataclass(frozen=True)
class PoolStretch:
    """What a stretch pool asks of the OSDs that serve a PG: ``peering_crush_bucket_...`` of it.

    Attributes:
        count: Buckets that must have an OSD among them.
        target: Buckets that copies are spread over.
        barrier: The CRUSH type of these buckets.
        mandatory_member: The bucket that must be among them, or None.
    """

    count: int
    target: int
    barrier: int
    mandatory_member: int | None = None


@dataclass(frozen=True)
class StretchMode:
    """Stretch mode, as the map has it.

    Attributes:
        bucket_count: Sites that a PG has OSDs in.
        bucket: The CRUSH type of a site.
        is_degraded: Whether one site serves alone.
        is_recovering: Whether the other is back and recovers.
    """

    bucket_count: int
    bucket: int
    is_degraded: bool = False
    is_recovering: bool = False


@dataclass(frozen=True)
class PoolInfo(Pool):
    """A pool of the cluster.

    Attributes:
        profile: The erasure code profile of its objects: its name, plugin, k and m; None for a
            replicated pool, and where the osdmap does not hold the profile.
        min_size: OSDs below which a group serves nobody; where the osdmap has none, Ceph's own
            rule for a new pool: size - size / 2, or k + min(1, m - 1).
        recovery_priority: What is added to the priorities of its groups, -10 to 10.
        stripe_width: Bytes of a stripe of all data pieces; 0 of a replicated pool.
        pg_num_target: The `pg_num` that the manager is on the way to.
        applications: What uses it: ``rbd``, ``cephfs``, ``rgw``, ``mgr``; by name.
        stretch: What it asks of the OSDs that serve a PG; None where it is no stretch pool.
        limits: Its quotas, its options and its flags.
    """

    profile: ErasureProfile | None = None
    min_size: int = 1
    recovery_priority: int = 0
    stripe_width: int = 0
    pg_num_target: int = 0
    applications: tuple[str, ...] = ()
    stretch: PoolStretch | None = None
    limits: PoolLimits = PoolLimits()

    @property
    def data_pieces(self) -> int | None:
        """Into how many pieces its data is cut: one of copies; None where no dump states k."""
        if self.kind == "replicated":
            return 1
        return self.profile.data if self.profile is not None else None

    @property
    def code(self) -> str | None:
        """The code of its objects as a study names it, ``rs 4+2``; None for a replicated pool.

        Of an erasure-coded pool it is None where no code of ours is its profile's.
        """
        return self.profile.code if self.profile is not None else None


@dataclass(frozen=True)
class OsdInfo:
    """An OSD of the cluster.

    Attributes:
        id: Its number.
        name: Its name in the CRUSH map, usually ``osd.N``.
        host: The host it is in, or None when the map has no bucket of type host above it.
        up: Whether it runs.
        in_cluster: Whether it is in; an OSD that is out gets no data.
        reweight: Its reweight as CRUSH takes it, 16.16 fixed point, zero when out.
        listed: Whether the osdmap lists it. A device of the CRUSH map that the osdmap omits is
            taken to be up and in, with full weight, where the osdmap is one cut down by hand (it
            has no ``max_osd``); a whole osdmap omits what does not exist.
        affinity: Its primary affinity, 16.16 fixed point.
    """

    id: int
    name: str
    host: str | None
    up: bool
    in_cluster: bool
    reweight: int
    listed: bool
    affinity: int = WEIGHT_ONE


@dataclass(frozen=True)
class GroupInfo:
    """A placement group as the report states it.

    Attributes:
        pool: Its pool's number.
        number: Its number in the pool.
        up: The OSDs it should be on, the primary first.
        acting: The OSDs it is on.
        bytes: Its bytes, before replication, or None where the report leaves them out.
        objects: Its objects, likewise.
        up_primary: The primary of `up`, -1 for none, or None where the report leaves it out.
        acting_primary: The primary of `acting`, likewise.
        omap_bytes: Bytes of its objects' omaps, as of its last deep scrub, or None.
        degraded: Copies or pieces that its objects lack, or None.
        misplaced: Copies or pieces that are not where they should be, or None.
        state: Its state in Ceph's words, ``active+clean``, or empty.
    """

    pool: int
    number: int
    up: tuple[int, ...]
    acting: tuple[int, ...]
    bytes: int | None
    objects: int | None
    up_primary: int | None = None
    acting_primary: int | None = None
    omap_bytes: int | None = None
    degraded: int | None = None
    misplaced: int | None = None
    state: str = ""

    @property
    def pgid(self) -> str:
        """Its name as Ceph writes it: pool, a dot, the number in hexadecimal."""
        return f"{self.pool}.{self.number:x}"


@dataclass(frozen=True)
class OsdUsage:
    """What `ceph osd df` says of an OSD.

    Attributes:
        osd: Its number.
        capacity_bytes: How much fits on it.
        used_bytes: How much is on it.
        groups: How many placement groups are on it, or None where the dump leaves it out.
        data_bytes: What objects take of `used_bytes`, allocated; None where the dump, as before
            Luminous, does not tell.
        omap_bytes: What omaps take of it, likewise.
        meta_bytes: What the OSD itself takes of it, likewise.
        available_bytes: How much is free, or None.
    """

    osd: int
    capacity_bytes: int
    used_bytes: int
    groups: int | None
    data_bytes: int | None = None
    omap_bytes: int | None = None
    meta_bytes: int | None = None
    available_bytes: int | None = None


@dataclass(frozen=True)
class ClusterReport:
    """What a cluster's dumps say of it, as far as placement and rebuild need it.

    Attributes:
        label: The file's name.
        sha256: The hash of the file's bytes; of several files, the hash of their hashes.
        version: The Ceph version that wrote it, or empty.
        crushmap: The ``crushmap`` object as JSON text, for the core.
        pools: The pools by number.
        osds: The OSDs by number.
        groups: The groups that ``pg_stats`` lists, by pool and number; empty without a pgmap.
        pool_totals: (pool, bytes, objects) where the report sums up a pool.
        total: (bytes, objects) of the whole cluster, where the report has it.
        usage: What `ceph osd df` says of each OSD, by number; empty without it.
        osd_bytes: (number, capacity in bytes) of the OSDs whose capacity a pgmap states.
        release: The release as (major, minor, patch): of `version`, else the lowest that an OSD
            runs; None where nothing says it.
        require_osd_release: The release that the map demands of OSDs, such as ``reef``; or empty.
        require_min_compat_client: The release that the map demands of clients, likewise.
        epoch: The OSD map's epoch, or None.
        ratios: The map's ratios, or None.
        flags: The map's flags, such as ``noout``, by name.
        stretch_mode: Stretch mode; None where it is not enabled.
        config: What `ceph config dump` lists, in its order; None without it.
        metadata: What `ceph osd metadata` says of OSDs, by number.
        perf: What `ceph osd perf` says of OSDs, by number.
        balancer: The manager's balancer, or None where no dump says it.
        dumps: What the cluster was read from: (kind, the file that it stood in), by kind.
        fsid: The cluster's id, or empty.
        stamp_seconds: When what its PGs hold was counted, in seconds since 1970; None where no dump
            says it.
    """

    label: str
    sha256: str
    version: str
    crushmap: str
    pools: tuple[PoolInfo, ...]
    osds: tuple[OsdInfo, ...]
    groups: tuple[GroupInfo, ...]
    pool_totals: tuple[tuple[int, int, int | None], ...]
    total: tuple[int, int | None] | None
    usage: tuple[OsdUsage, ...] = ()
    osd_bytes: tuple[tuple[int, int], ...] = ()
    release: tuple[int, int, int] | None = None
    require_osd_release: str = ""
    require_min_compat_client: str = ""
    epoch: int | None = None
    ratios: Ratios | None = None
    flags: tuple[str, ...] = ()
    stretch_mode: StretchMode | None = None
    config: tuple[ConfigEntry, ...] | None = None
    metadata: tuple[OsdMetadata, ...] = ()
    perf: tuple[OsdPerf, ...] = ()
    balancer: BalancerState | None = None
    dumps: tuple[tuple[str, str], ...] = ()
    fsid: str = ""
    stamp_seconds: float | None = None

    @cached_property
    def buckets(self) -> BucketTree:
        """The hierarchy of the CRUSH map, which nobody changes."""
        return BucketTree(json.loads(self.crushmap))

    @cached_property
    def capacities(self) -> dict[int, int]:
        """The bytes that fit on each OSD: as a dump states, else its CRUSH weight in TiB."""
        known = {one.id: round(one.weight * 2**40) for one in self.buckets.devices.values()}
        known |= {one.osd: one.size_bytes for one in self.metadata if one.size_bytes}
        known |= dict(self.osd_bytes)
        known |= {one.osd: one.capacity_bytes for one in self.usage}
        return {number: size for number, size in known.items() if size > 0}

    @cached_property
    def osd_ids(self) -> dict[str, int]:
        """Every name an OSD goes by, ``osd.N`` and its name in the CRUSH map, with its number."""
        names = {f"osd.{osd.id}": osd.id for osd in self.osds}
        return {osd.name: osd.id for osd in self.osds} | names

    @cached_property
    def _device_count(self) -> int:
        """One more than the highest number of an OSD or of a device in a bucket; at least one."""
        numbers = [osd.id for osd in self.osds] + list(self.buckets.devices)
        return max(numbers, default=0) + 1

    @cached_property
    def osd_states(self) -> Osds:
        """The state of each OSD by number; a number without one is down and out."""
        count = self._device_count
        reweights, up, affinities = [0] * count, [False] * count, [WEIGHT_ONE] * count
        for osd in self.osds:
            reweights[osd.id], up[osd.id], affinities[osd.id] = osd.reweight, osd.up, osd.affinity
        return Osds(reweights, up, affinities)

    @cached_property
    def loads(self) -> tuple[GroupLoad, ...]:
        """What every group of every pool holds, by pool and number; see `group_loads`."""
        from resilver.importers.loads import group_loads

        return group_loads(self)

    @cached_property
    def shared_pools(self) -> tuple[str, ...]:
        """The names of the pools of which some groups share a sum, since no dump states theirs."""
        shared = {load.pool for load in self.loads if not load.measured}
        return tuple(pool.name for pool in self.pools if pool.id in shared)


@dataclass(frozen=True)
class GroupLoad:
    """What a placement group holds, before replication.

    Attributes:
        pool: Its pool's number.
        number: Its number in the pool.
        bytes: Its bytes.
        objects: Its objects.
        measured: Whether the report itself states the group's bytes; otherwise they are an even
            share.
    """

    pool: int
    number: int
    bytes: int
    objects: int
    measured: bool
