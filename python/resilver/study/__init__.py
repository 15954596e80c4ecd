"""Studies: sweeps of systems times an ensemble of seeds, executed, stored and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.on_demand import on_demand

if TYPE_CHECKING:
    from resilver.study.effects import Effect, sensitivity
    from resilver.study.execution import execute
    from resilver.study.executors import BatchJobs
    from resilver.study.partial import PartialResults
    from resilver.study.profiling import profile
    from resilver.study.progress import Counts, Incomplete, RunProgress, RunState, StudyProgress
    from resilver.study.results import Results
    from resilver.study.sweep_status import Driver, PointStatus, Status, status

__all__ = [
    "BatchJobs",
    "Counts",
    "Driver",
    "Effect",
    "Incomplete",
    "PartialResults",
    "PointStatus",
    "Results",
    "RunProgress",
    "RunState",
    "Status",
    "StudyProgress",
    "execute",
    "profile",
    "sensitivity",
    "status",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "effects": "Effect sensitivity",
        "execution": "execute",
        "executors": "BatchJobs",
        "partial": "PartialResults",
        "profiling": "profile",
        "progress": "Counts Incomplete RunProgress RunState StudyProgress",
        "results": "Results",
        "sweep_status": "Driver PointStatus Status status",
    },
)
