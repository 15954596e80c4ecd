"""One system to simulate: its sections, and what follows from them."""

from __future__ import annotations

from typing import Any, Self

from pydantic import PrivateAttr, model_validator

from resilver.errors import ConfigError, name_remedy, raise_all, show
from resilver.importers.ceph import ClusterReport
from resilver.importers.netgauge import LogGpRow
from resilver.importers.sizes import Bin
from resilver.spec.capacity import capacity_problems
from resilver.spec.ceph_run import CephRun
from resilver.spec.check import cross_problems, default_failure_domain, holders
from resilver.spec.code import ErasureCode
from resilver.spec.device import Device
from resilver.spec.jobs import names_of
from resilver.spec.sections import Sections
from resilver.spec.serving import with_routers
from resilver.spec.streams import Streams


class System(Sections):
    """A storage system and what happens to it, complete and consistent."""

    _pool_number: int = PrivateAttr(default=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = cross_problems(self.model_fields_set, self.sections()) or capacity_problems(self)
        raise_all(problems)
        if self.traffic is not None or any(pool.traffic is not None for pool in self.pools):
            # A frozen model is still being made here.
            self.__dict__["cluster"] = with_routers(self.cluster)
        return self

    @property
    def of_pools(self) -> tuple[System, ...]:
        """The system as each of its pools has it: one population, one placement, one redundancy.

        A system that names no pools is the only one; its own clients are then its pool's.
        """
        if not self.pools:
            return (self,)
        shared = {**self.sections(), "pools": ()}
        own = ("population", "placement", "redundancy", "traffic")
        views = []
        for number, pool in enumerate(self.pools, 1):
            stored = {name: getattr(pool, name) for name in own}
            view = System.model_construct(**{**shared, **stored})
            view._pool_number = number
            views.append(view)
        return tuple(views)

    @property
    def pool_number(self) -> int:
        """The number of the pool that this is the view of, from 1; CRUSH places by it."""
        return self._pool_number

    def of_pool(self, name: str | None = None) -> System:
        """The system as one of its pools has it.

        Args:
            name: The pool's name; None where there is one pool.

        Raises:
            ConfigError: There is no such pool, or there are several and none is named.
        """
        names = [pool.name for pool in self.pools]
        if name is None and len(self.of_pools) == 1:
            return self.of_pools[0]
        if name in names:
            return self.of_pools[names.index(name)]
        rule = "the study has several pools" if name is None else "there is no such pool"
        remedy = f"name one of {', '.join(names)}" if name is None else name_remedy(name, names)
        raise ConfigError(rule, remedy, key="pool", value=None if name is None else show(name))

    @property
    def pool_names(self) -> tuple[str, ...]:
        """The names of the pools; of a system that names none, ``objects``."""
        if self.report is not None:
            return tuple(pool.name for pool in self.report.pools)
        return tuple(pool.name for pool in self.pools) or ("objects",)

    @property
    def report(self) -> ClusterReport | None:
        """The real cluster's report, or None for a synthetic cluster."""
        return self.cluster.ceph.report if self.cluster.ceph else None

    @property
    def server_count(self) -> int:
        """How many devices there are."""
        return self.cluster.server_count

    @property
    def holder_count(self) -> int:
        """How many devices data is placed on: all, or those of the placement's class."""
        return holders(self.cluster, self.placement)

    @property
    def copies(self) -> int | None:
        """On how many devices an object is: copies, or pieces under a code.

        None for a real cluster, whose pools may differ.
        """
        return self.redundancy.pieces if self.redundancy else None

    @property
    def code(self) -> ErasureCode | None:
        """The code that objects are kept under; None for copies that are pulled whole."""
        return self.redundancy.code if self.redundancy else None

    @property
    def streams(self) -> Streams | None:
        """Reads and writes of whole stripes; None without them."""
        return self.traffic.streams if self.traffic else None

    @property
    def stripe_groups(self) -> tuple[range, ...]:
        """The servers of each group that streams go over; none where objects are placed."""
        size = self.placement.group_size if self.placement else None
        if self.streams is None or not self.is_traffic_only or size is None:
            return ()
        return tuple(range(first, first + size) for first in range(0, self.server_count, size))

    @property
    def has_bursts(self) -> bool:
        """Whether volumes are moved all at once, by jobs or beside streams."""
        has_jobs = self.traffic is not None and bool(self.traffic.jobs)
        return has_jobs or (self.streams is not None and self.streams.bursts is not None)

    @property
    def job_names(self) -> tuple[str, ...]:
        """The names of the jobs, in their order; none without jobs."""
        return names_of(self.traffic.jobs) if self.traffic is not None else ()

    @property
    def failure_domain(self) -> str | None:
        """What no two copies share, or None for a real cluster, whose rules say it."""
        return self.failure_domains[-1] if self.placement is not None else None

    @property
    def failure_domains(self) -> tuple[str, ...]:
        """The levels that groups of a code, and at last its pieces, are spread over, from the top.

        One where a code has one level, or its groups lie anywhere; none for a real cluster.
        """
        if self.placement is None:
            return ()
        if self.placement.algorithm == "sets" and self.cluster.tree is not None:
            # A set's members are where its level says; its pieces share no device.
            return (self.cluster.tree.device_level,)
        return self.placement.domains or (default_failure_domain(self.cluster),)

    @property
    def is_traffic_only(self) -> bool:
        """Whether there is traffic over disks of which nothing is placed, lost or rebuilt."""
        stores = self.population is not None or self.pools or self.report is not None
        return self.traffic is not None and not stores

    @property
    def ring_count(self) -> int | None:
        """How many rings there are, or None where the algorithm has not several."""
        if self.placement is None or self.placement.algorithm != "multi_ring":
            return None
        return self.placement.rings or self.copies

    @property
    def placement_group_count(self) -> int | None:
        """How many placement groups there are, or None when each object is placed on its own."""
        if self.report is not None:
            return sum(pool.pg_num for pool in self.report.pools)
        if self.pools:
            counts = [pool.placement_group_count for pool in self.of_pools]
            return sum(filter(None, counts)) if any(counts) else None
        groups = self.placement.placement_groups if self.placement else None
        if groups == "auto":
            return auto_group_count(self.holder_count, self.copies or 1)
        return groups if isinstance(groups, int) else None

    @property
    def population_target_bytes(self) -> int | None:
        """The volume before replication, or None when the population is a number of files."""
        if self.report is not None:
            return sum(load.bytes for load in self.report.loads)
        if self.pools:
            volumes = [pool.population_target_bytes for pool in self.of_pools]
            return None if None in volumes else sum(filter(None, volumes))
        return self.population.volume_bytes(self.holder_count) if self.population else 0

    @property
    def population_target_files(self) -> int | None:
        """The number of files, or None when the population is a volume."""
        return self.population.files if self.population else None

    @property
    def histogram_bins(self) -> tuple[Bin, ...]:
        """The bins of file sizes; empty for a real cluster."""
        return self.population.bins if self.population else ()

    @property
    def chunk_bytes(self) -> int | None:
        """The size of chunks, or None when files are whole or striped."""
        return self.population.cut.chunk_bytes if self.population else None

    @property
    def stripe_unit_bytes(self) -> int | None:
        """The size of stripe units, or None when files are whole or chunked."""
        return self.population.cut.stripe_unit_bytes if self.population else None

    @property
    def stripe_width(self) -> int | None:
        """Over how many objects a file is striped, or None when it is not."""
        if self.stripe_unit_bytes is None or self.population is None:
            return None
        return self.population.cut.width(self.holder_count, self.copies or 1)

    @property
    def device(self) -> Device:
        """The device that data is placed on; of several kinds the first that holds any."""
        name = self.placement.only_class if self.placement else None
        kinds = self.cluster.device_kinds
        holders = [kind for kind in kinds if not kind.serves_metadata]
        return next((k.device for k in holders if name in (None, k.device_class)), kinds[0].device)

    @property
    def loggp_rows(self) -> tuple[LogGpRow, ...]:
        """The LogGP parameters by message size, in file order; none of a switched fabric."""
        table = self.cluster.fabric.table
        return table.rows if table is not None else ()

    def resolved(self) -> dict[str, Any]:
        """All that affects results, in SI units, with every default filled in.

        Returns:
            A JSON-able dictionary. External files are in it by content: tables and bins in full, a
            report by its hash. ``label`` entries name where content came from and do not affect
            results; `resilver.spec.run_key` leaves them out.
        """
        pools = [
            {
                "name": pool.name,
                **stored._stored(),
                "traffic": pool.traffic.content() if pool.traffic else None,
            }
            for pool, stored in zip(self.pools, self.of_pools, strict=False)
        ]
        return {
            "cluster": self.cluster.content(),
            **self._stored(),
            # Left out where there is none, so that runs without it keep their keys.
            **({"pools": pools} if pools else {}),
            **({"ceph": (self.ceph or CephRun()).content()} if self.report else {}),
            "lanes": self.lanes.content(bursts=self.has_bursts) if self.lanes else None,
            "traffic": self.traffic.content() if self.traffic else None,
            "faults": [fault.content() for fault in self.faults],
            **({"detection": self.detection.content()} if self.detection else {}),
            "recovery": self.recovery.content(),
        }

    def _stored(self) -> dict[str, Any]:
        """What is stored of one pool, where and how."""
        placement = (
            self.placement.model_dump(mode="json", exclude={"only_class", "level", "within"})
            if self.placement
            else None
        )
        if placement is not None and self.placement is not None:
            # Left out where it says nothing, so that runs without it keep their keys.
            for name, key in (("only_class", "class"), ("level", "level"), ("within", "within")):
                if (value := getattr(self.placement, name)) is not None:
                    placement[key] = value
            domains = list(self.failure_domains)
            placement["failure_domain"] = domains if len(domains) > 1 else domains[0]
            placement["placement_groups"] = self.placement_group_count
            placement["rings"] = self.ring_count
        population = self.population.content() if self.population else None
        if population is not None and population["objects"]["stripe_width"] is not None:
            population["objects"]["stripe_width"] = self.stripe_width
        return {
            "population": population,
            "placement": placement,
            "redundancy": self.redundancy.content() if self.redundancy else None,
        }


def auto_group_count(servers: int, copies: int) -> int:
    """The number of placement groups that ``"auto"`` means.

    Args:
        servers: How many servers there are.
        copies: Copies of each object.

    Returns:
        Below 5 servers 128, below 10 512, below 50 4096; from there the least power of two that is
        not below 100 x servers / copies.

    Source: the rule reproduces Table II of the rebuild study, such as 65,536 groups at 1,024
    servers; it is the advice Ceph's documentation of that time gave.

    >>> auto_group_count(1024, 3)
    65536
    """
    for below, count in ((5, 128), (10, 512), (50, 4096)):
        if servers < below:
            return count
    least = -(-100 * servers // copies)
    return 1 << (least - 1).bit_length()
