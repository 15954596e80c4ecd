"""The public names of `resilver.study` and where each is from."""

from .effects import Effect as Effect, sensitivity as sensitivity
from .execution import execute as execute
from .executors import BatchJobs as BatchJobs
from .results import PartialResults as PartialResults
from .profiling import profile as profile
from .progress import (
    Counts as Counts,
    Incomplete as Incomplete,
    RunProgress as RunProgress,
    RunState as RunState,
    StudyProgress as StudyProgress,
)
from .results import Results as Results, StudyTables as StudyTables
from .run import simulate as simulate, validate_runs as validate_runs
from .sweep_status import (
    Driver as Driver,
    PointStatus as PointStatus,
    Status as Status,
    status as status,
)
from .tracing import Trace as Trace, trace as trace
from .system_runs import SystemRuns as SystemRuns, systems as systems
