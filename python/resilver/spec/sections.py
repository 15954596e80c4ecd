"""The sections that make up a system, which a study and each of its systems share."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from resilver.spec.cluster import Cluster
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

    cluster: Cluster = Field(description="What exists, and where it sits.")
    population: Population | None = Field(default=None, description="What is stored.")
    placement: Placement | None = Field(default=None, description="Where each piece goes.")
    redundancy: Redundancy | None = Field(
        default=None, description="What a piece needs to survive."
    )
    pools: tuple[Pool, ...] = Field(
        default=(),
        description="Several populations on the same parts, instead of population, placement and "
        "redundancy.",
    )
    lanes: Lanes | None = Field(
        default=None, description="What each class of traffic is guaranteed."
    )
    traffic: Traffic | None = Field(default=None, description="What clients do.")
    faults: tuple[Fault, ...] = Field(default=(), description="What breaks.")
    recovery: Recovery = Field(default_factory=Recovery, description="How it heals.")

    @model_validator(mode="wrap")
    @classmethod
    def _defaults(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Default placement and redundancy of a synthetic cluster, which do not count as given.

        Where there is only traffic, nothing is stored, placed or kept in copies.
        """
        if not isinstance(data, dict):
            return handler(data)
        given = {key: value for key, value in data.items() if value is not None}
        cluster = given.get("cluster")
        real = (
            cluster.ceph is not None
            if isinstance(cluster, Cluster)
            else isinstance(cluster, dict) and "ceph" in cluster
        )
        stores = "traffic" not in given or "population" in given
        needed = stores and not real and not given.get("pools")
        defaults = {"placement": Placement(), "redundancy": Redundancy()} if needed else {}
        made = handler({**defaults, **given})
        made.model_fields_set.intersection_update(given)
        return made

    def sections(self) -> dict[str, Any]:
        """The sections of the system by name, None where there is none."""
        return {name: getattr(self, name) for name in Sections.model_fields}
