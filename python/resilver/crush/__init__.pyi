"""The public names of `resilver.crush` and where each is from."""

from .balance import (
    UpmapEntry as UpmapEntry,
    upmaps_by_bytes as upmaps_by_bytes,
    upmaps_by_groups as upmaps_by_groups,
    with_entries as with_entries,
)
from .comparison import Comparison as Comparison, LevelMoves as LevelMoves, compare as compare
from .maps import CrushMap as CrushMap
from .model import Osds as Osds, Pool as Pool, PoolExceptions as PoolExceptions
from .pools import (
    GroupSets as GroupSets,
    group_sets as group_sets,
    object_group as object_group,
    rule_shares as rule_shares,
)
from .primaries import (
    PrimaryEntry as PrimaryEntry,
    primary_counts as primary_counts,
    read_score as read_score,
    upmap_primaries as upmap_primaries,
    with_primaries as with_primaries,
)
