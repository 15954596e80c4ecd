"""The public names of `resilver` and where each is from."""

from . import (
    catalog as catalog,
    crush as crush,
    estimate as estimate,
    importers as importers,
    report as report,
    simulate as simulate,
    units as units,
)
from .calibration import (
    CodingCalibration as CodingCalibration,
    DiskCalibration as DiskCalibration,
    FailureCalibration as FailureCalibration,
    FillCalibration as FillCalibration,
    NetworkCalibration as NetworkCalibration,
    calibrate_coding as calibrate_coding,
    calibrate_disk as calibrate_disk,
    calibrate_failures as calibrate_failures,
    calibrate_fill as calibrate_fill,
    calibrate_network as calibrate_network,
)
from .center import (
    Advice as Advice,
    FoundSignature as FoundSignature,
    LoadState as LoadState,
    QualityCharts as QualityCharts,
    ShiftPlan as ShiftPlan,
    Signature as Signature,
    SignaturesCompared as SignaturesCompared,
    Sizing as Sizing,
    advise as advise,
    compare_signatures as compare_signatures,
    job_rates as job_rates,
    machine as machine,
    quality_chart as quality_chart,
    read_signature as read_signature,
    read_state as read_state,
    route as route,
    route_figures as route_figures,
    shift_signatures as shift_signatures,
    signature as signature,
    sites as sites,
    size as size,
)
from .center.usage import usage as usage
from .crush import Comparison as Comparison, CrushMap as CrushMap, compare as compare
from .errors import (
    ConfigError as ConfigError,
    Interrupted as Interrupted,
    PlacementError as PlacementError,
    ResilverError as ResilverError,
    SimulationError as SimulationError,
)
from .figure import Figure as Figure
from .importers import (
    Benchmarks as Benchmarks,
    MeasuredSizes as MeasuredSizes,
    import_sizes as import_sizes,
    read_benchmarks as read_benchmarks,
)
from .importers.logs import read_logs as read_logs
from .placement_quality import Quality as Quality, quality as quality
from .simulate import (
    Code as Code,
    CodeTree as CodeTree,
    FairRates as FairRates,
    Progress as Progress,
    RunResult as RunResult,
    Topology as Topology,
    census as census,
    code_tree as code_tree,
    fair_rates as fair_rates,
    redundancy as redundancy,
    topology as topology,
)
from .spec import (
    Bursts as Bursts,
    Cluster as Cluster,
    Corrupt as Corrupt,
    DeviceService as DeviceService,
    DeviceTable as DeviceTable,
    DurabilityQuestion as DurabilityQuestion,
    Ensemble as Ensemble,
    Fabric as Fabric,
    Failing as Failing,
    Failure as Failure,
    Fault as Fault,
    Histogram as Histogram,
    Job as Job,
    JobSignature as JobSignature,
    Lanes as Lanes,
    Objects as Objects,
    Placement as Placement,
    Population as Population,
    Recovery as Recovery,
    Redundancy as Redundancy,
    Run as Run,
    Streams as Streams,
    Study as Study,
    System as System,
    Traffic as Traffic,
)
from .study import (
    BatchJobs as BatchJobs,
    Effect as Effect,
    Results as Results,
    Status as Status,
    Trace as Trace,
    execute as execute,
    profile as profile,
    sensitivity as sensitivity,
    status as status,
    trace as trace,
)
from .data_loss.answer import (
    Durabilities as Durabilities,
    Durability as Durability,
    Premise as Premise,
)
from .data_loss.perform import durability as durability
from .whatif.answer import WhatIf as WhatIf
from .whatif.fitting import PlanDoesNotFit as PlanDoesNotFit
from .whatif.perform import what_if as what_if

__version__: str
