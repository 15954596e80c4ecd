"""resilver predicts how a storage system heals.

Build a study from a file or from objects, run it, and read tables:

    >>> import resilver
    >>> study = resilver.Study.load("study.toml")  # doctest: +SKIP
    >>> results = resilver.execute(study, "runs/study")  # doctest: +SKIP
    >>> results.to_pandas("runs")  # doctest: +SKIP

Every name here is loaded when it is first used, so that the import itself is fast and needs no
plotting library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resilver import catalog, estimate, importers, report, simulate, units
    from resilver.calibration import (
        CodingCalibration,
        DiskCalibration,
        FailureCalibration,
        FillCalibration,
        NetworkCalibration,
        calibrate_coding,
        calibrate_disk,
        calibrate_failures,
        calibrate_fill,
        calibrate_network,
    )
    from resilver.center import (
        Advice,
        FoundSignature,
        LoadState,
        QualityCharts,
        ShiftPlan,
        Signature,
        SignaturesCompared,
        Sizing,
        advise,
        compare_signatures,
        job_rates,
        machine,
        quality_chart,
        read_signature,
        read_state,
        route,
        route_figures,
        shift_signatures,
        signature,
        sites,
        size,
    )
    from resilver.center.usage import usage
    from resilver.errors import (
        ConfigError,
        Interrupted,
        PlacementError,
        ResilverError,
        SimulationError,
    )
    from resilver.importers import Benchmarks, MeasuredSizes, import_sizes, read_benchmarks
    from resilver.importers.logs import read_logs
    from resilver.judgement import Comparison, Quality, compare, quality
    from resilver.simulate import (
        Code,
        CodeTree,
        CrushMap,
        FairRates,
        Progress,
        RunResult,
        Topology,
        census,
        code_tree,
        fair_rates,
        redundancy,
        topology,
    )
    from resilver.spec import (
        Bursts,
        Cluster,
        Corrupt,
        DeviceService,
        DeviceTable,
        DurabilityQuestion,
        Ensemble,
        Fabric,
        Failing,
        Failure,
        Fault,
        Histogram,
        Job,
        JobSignature,
        Lanes,
        Objects,
        Placement,
        Population,
        Recovery,
        Redundancy,
        Run,
        Streams,
        Study,
        System,
        Traffic,
    )
    from resilver.study import (
        BatchJobs,
        Effect,
        Results,
        Status,
        execute,
        profile,
        sensitivity,
        status,
    )
    from resilver.survival.answer import Durabilities, Durability, Figure, Premise
    from resilver.survival.perform import durability
    from resilver.whatif.answer import WhatIf
    from resilver.whatif.fitting import PlanDoesNotFit
    from resilver.whatif.perform import what_if

    __version__: str

_HOMES = {
    "resilver.calibration": (
        "CodingCalibration",
        "DiskCalibration",
        "FailureCalibration",
        "FillCalibration",
        "NetworkCalibration",
        "calibrate_coding",
        "calibrate_disk",
        "calibrate_failures",
        "calibrate_fill",
        "calibrate_network",
    ),
    "resilver.center": (
        "Advice",
        "FoundSignature",
        "LoadState",
        "ShiftPlan",
        "Signature",
        "SignaturesCompared",
        "QualityCharts",
        "Sizing",
        "advise",
        "compare_signatures",
        "job_rates",
        "machine",
        "read_signature",
        "quality_chart",
        "read_state",
        "route",
        "route_figures",
        "shift_signatures",
        "signature",
        "sites",
        "size",
    ),
    "resilver.center.usage": ("usage",),
    "resilver.errors": (
        "ConfigError",
        "Interrupted",
        "PlacementError",
        "ResilverError",
        "SimulationError",
    ),
    "resilver.importers": ("Benchmarks", "MeasuredSizes", "import_sizes", "read_benchmarks"),
    "resilver.importers.logs": ("read_logs",),
    "resilver.judgement": ("Comparison", "Quality", "compare", "quality"),
    "resilver.simulate": (
        "Code",
        "CodeTree",
        "CodeTree",
        "CrushMap",
        "FairRates",
        "Progress",
        "RunResult",
        "Topology",
        "census",
        "code_tree",
        "fair_rates",
        "redundancy",
        "topology",
    ),
    "resilver.spec": (
        "Bursts",
        "Cluster",
        "Corrupt",
        "DeviceService",
        "DeviceTable",
        "DurabilityQuestion",
        "Ensemble",
        "Fabric",
        "Failing",
        "Failure",
        "Fault",
        "Histogram",
        "Job",
        "JobSignature",
        "Lanes",
        "Objects",
        "Placement",
        "Population",
        "Recovery",
        "Redundancy",
        "Run",
        "Streams",
        "Study",
        "System",
        "Traffic",
    ),
    "resilver.study": (
        "BatchJobs",
        "Effect",
        "Results",
        "Status",
        "execute",
        "profile",
        "sensitivity",
        "status",
    ),
    "resilver.survival.answer": ("Durabilities", "Durability", "Figure", "Premise"),
    "resilver.survival.perform": ("durability",),
    "resilver.whatif.answer": ("WhatIf",),
    "resilver.whatif.fitting": ("PlanDoesNotFit",),
    "resilver.whatif.perform": ("what_if",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = ("catalog", "estimate", "importers", "report", "simulate", "units")

__all__ = [
    "Advice",
    "BatchJobs",
    "Benchmarks",
    "Bursts",
    "Cluster",
    "Code",
    "CodeTree",
    "CodingCalibration",
    "Comparison",
    "ConfigError",
    "Corrupt",
    "CrushMap",
    "DeviceService",
    "DeviceTable",
    "DiskCalibration",
    "Durabilities",
    "Durability",
    "DurabilityQuestion",
    "Effect",
    "Ensemble",
    "Fabric",
    "Failing",
    "Failure",
    "FailureCalibration",
    "FairRates",
    "Fault",
    "Figure",
    "FillCalibration",
    "FoundSignature",
    "Histogram",
    "Interrupted",
    "Job",
    "JobSignature",
    "Lanes",
    "LoadState",
    "MeasuredSizes",
    "NetworkCalibration",
    "Objects",
    "Placement",
    "PlacementError",
    "PlanDoesNotFit",
    "Population",
    "Premise",
    "Progress",
    "Quality",
    "QualityCharts",
    "Recovery",
    "Redundancy",
    "ResilverError",
    "Results",
    "Run",
    "RunResult",
    "ShiftPlan",
    "Signature",
    "SignaturesCompared",
    "SimulationError",
    "Sizing",
    "Status",
    "Streams",
    "Study",
    "System",
    "Topology",
    "Traffic",
    "WhatIf",
    "__version__",
    "advise",
    "calibrate_coding",
    "calibrate_disk",
    "calibrate_failures",
    "calibrate_fill",
    "calibrate_network",
    "catalog",
    "census",
    "code_tree",
    "compare",
    "compare_signatures",
    "durability",
    "estimate",
    "execute",
    "fair_rates",
    "import_sizes",
    "importers",
    "job_rates",
    "machine",
    "profile",
    "quality",
    "quality_chart",
    "read_benchmarks",
    "read_logs",
    "read_signature",
    "read_state",
    "redundancy",
    "report",
    "route",
    "route_figures",
    "sensitivity",
    "shift_signatures",
    "signature",
    "simulate",
    "sites",
    "size",
    "status",
    "topology",
    "units",
    "usage",
    "what_if",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        value: Any = _version()
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"resilver.{name}")
    else:
        raise AttributeError(f"module 'resilver' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("resilver")
    except PackageNotFoundError:
        # A checkout on the path that was never installed.
        return "0+uninstalled"
