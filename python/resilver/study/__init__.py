"""Studies: sweeps of systems times an ensemble of seeds, executed, stored and read back."""

from resilver.study.execution import execute
from resilver.study.progress import Counts, Incomplete, StudyProgress, run_fraction
from resilver.study.results import Results

__all__ = ["Counts", "Incomplete", "Results", "StudyProgress", "execute", "run_fraction"]
