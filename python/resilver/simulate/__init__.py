"""The one caller of the native core: runs systems, and places groups and objects."""

from resilver import _core
from resilver.simulate.affected import affected, affected_batches, affected_groups
from resilver.simulate.crush import CrushMap
from resilver.simulate.pools import (
    GroupSets,
    StatedGroups,
    compare_stated,
    group_sets,
    group_up_sets,
    object_group,
)
from resilver.simulate.run import Progress, RunResult, simulate, validate

__all__ = [
    "CrushMap",
    "GroupSets",
    "Progress",
    "RunResult",
    "StatedGroups",
    "affected",
    "affected_batches",
    "affected_groups",
    "compare_stated",
    "group_sets",
    "group_up_sets",
    "object_group",
    "simulate",
    "validate",
    "version",
]

version: str = _core.__version__
"""The version of the native core, which is the package's."""
