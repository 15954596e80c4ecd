"""The one caller of the native core: runs systems, and places groups and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver import _core
from resilver.on_demand import on_demand

if TYPE_CHECKING:
    from resilver.simulate.affecting import affected, affected_batches, affected_groups
    from resilver.simulate.balance import (
        BalancePlan,
        OsdShares,
        UpmapEntry,
        balance_by_bytes,
        balance_by_groups,
        with_entries,
    )
    from resilver.simulate.code_trees import CodeTree, RepairStep, code_tree
    from resilver.simulate.codes import Code, Survivable, redundancy
    from resilver.simulate.crush import CrushMap
    from resilver.simulate.devices import drawn_speeds, named_faults
    from resilver.simulate.flows import FairRates, fair_rates
    from resilver.simulate.incident import set_loss_probability
    from resilver.simulate.layouts import (
        ParityGroupBalance,
        group_sets_of,
        parity_group_balance,
        place_objects,
        place_pieces,
    )
    from resilver.simulate.lost import LostObjects, lost_objects, unrecoverable
    from resilver.simulate.network import network_measures
    from resilver.simulate.parts import PartOfPopulation, PopulationScan, simulate_found
    from resilver.simulate.pools import (
        GroupSets,
        StatedGroups,
        compare_stated,
        group_sets,
        group_up_sets,
        object_group,
    )
    from resilver.simulate.population import census
    from resilver.simulate.progress import Progress
    from resilver.simulate.result import RunResult
    from resilver.simulate.run import simulate, validate, validate_runs
    from resilver.simulate.topologies import Topology, topology

__all__ = [
    "BalancePlan",
    "Code",
    "CodeTree",
    "CrushMap",
    "FairRates",
    "GroupSets",
    "LostObjects",
    "OsdShares",
    "ParityGroupBalance",
    "PartOfPopulation",
    "PopulationScan",
    "Progress",
    "RepairStep",
    "RunResult",
    "StatedGroups",
    "Survivable",
    "Topology",
    "UpmapEntry",
    "affected",
    "affected_batches",
    "affected_groups",
    "balance_by_bytes",
    "balance_by_groups",
    "census",
    "code_tree",
    "compare_stated",
    "drawn_speeds",
    "fair_rates",
    "group_sets",
    "group_sets_of",
    "group_up_sets",
    "lost_objects",
    "named_faults",
    "network_measures",
    "object_group",
    "parity_group_balance",
    "place_objects",
    "place_pieces",
    "redundancy",
    "set_loss_probability",
    "simulate",
    "simulate_found",
    "topology",
    "unrecoverable",
    "validate",
    "validate_runs",
    "version",
    "with_entries",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "affecting": "affected affected_batches affected_groups",
        "balance": (
            "BalancePlan OsdShares UpmapEntry balance_by_bytes balance_by_groups with_entries"
        ),
        "code_trees": "CodeTree RepairStep code_tree",
        "codes": "Code Survivable redundancy",
        "crush": "CrushMap",
        "devices": "drawn_speeds named_faults",
        "flows": "FairRates fair_rates",
        "incident": "set_loss_probability",
        "layouts": (
            "ParityGroupBalance group_sets_of parity_group_balance place_objects place_pieces"
        ),
        "lost": "LostObjects lost_objects unrecoverable",
        "network": "network_measures",
        "parts": "PartOfPopulation PopulationScan simulate_found",
        "pools": "GroupSets StatedGroups compare_stated group_sets group_up_sets object_group",
        "population": "census",
        "result": "RunResult",
        "progress": "Progress",
        "run": "simulate validate validate_runs",
        "topologies": "Topology topology",
    },
)

version: str = _core.__version__
"""The version of the native core, which is the package's."""
