"""The sections that make up a system, which a study and each of its systems share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from resilver.spec.ceph_run import CephRun
from resilver.spec.cluster import Cluster
from resilver.spec.detection import Detection
from resilver.spec.durability import DurabilityQuestion
from resilver.spec.faults import Fault
from resilver.spec.lanes import Lanes
from resilver.spec.placement import Placement
from resilver.spec.pools import Pool
from resilver.spec.population import Population
from resilver.spec.recovery import Recovery
from resilver.spec.redundancy import Redundancy
from resilver.spec.section import Section
from resilver.spec.traffic import Traffic


class Sections(Section):
    """The sections of a system; see `System` and `Study`."""

    cluster: Cluster
    """What exists, and where it sits."""
    population: Population | None = None
    """What is stored; not for a real cluster, and not needed where there is traffic alone."""
    placement: Placement | None = None
    """Where each piece goes."""
    redundancy: Redundancy | None = None
    """What a piece needs to survive."""
    pools: tuple[Pool, ...] = ()
    """Several populations on the same parts, instead of population, placement and redundancy."""
    lanes: Lanes | None = None
    """What each class of traffic is guaranteed of every port. Default: all share one queue."""
    traffic: Traffic | None = None
    """What clients do. Default: there are none."""
    faults: tuple[Fault, ...] = ()
    """What breaks, and when."""
    detection: Detection | None = None
    """How devices detect failures. Default: they are known at once, or as a fault says."""
    recovery: Recovery = Field(default_factory=Recovery)
    """How it heals."""
    ceph: CephRun | None = None
    """What holds of a real Ceph cluster beside its dumps. Default: what they and its release say.
    """
    durability: DurabilityQuestion | None = None
    """What fails over years, and how long data has to last; runs do not depend on it. Default: not
    asked.
    """

    @classmethod
    def defaults_beside(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Default placement and redundancy of a synthetic cluster.

        Where there is only traffic, nothing is stored, placed or kept in copies.
        """
        cluster = given.get("cluster")
        real = (
            cluster.ceph is not None
            if isinstance(cluster, Cluster)
            else isinstance(cluster, dict) and "ceph" in cluster
        )
        stores = "traffic" not in given or "population" in given
        needed = stores and not real and not given.get("pools")
        return {"placement": Placement(), "redundancy": Redundancy()} if needed else {}

    def sections(self) -> dict[str, Any]:
        """The sections of the system by name, None where there is none."""
        return {name: getattr(self, name) for name in Sections.model_fields}
