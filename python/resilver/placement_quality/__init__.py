"""Judgement of a placement: how even, how spread and how safe it is, and what a change would move.

Plain NumPy over replica sets; where the sets come from (CRUSH, a ring, a cluster's report, a file)
makes no difference here. `docs/models/placement-quality.md` defines every measure.
"""

from resilver.crush.replica_sets import NO_DEVICE, replica_sets
from resilver.placement_quality.balance import (
    Balance,
    Parallelism,
    balance,
    rebuild_sources,
    rebuild_targets,
)
from resilver.placement_quality.bursts import BurstLoss, burst_losses, enclosure_loss_probability
from resilver.placement_quality.loss import (
    LossProbability,
    group_loss_probability,
    loss_probability,
)
from resilver.placement_quality.quality import Quality, quality
