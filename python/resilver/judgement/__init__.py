"""Judgement of a placement: how even, how spread and how safe it is, and what a change would move.

Plain NumPy over replica sets; where the sets come from (CRUSH, a ring, a cluster's report, a file)
makes no difference here. `docs/models/judgement.md` defines every measure.
"""

from resilver.judgement.balance import Balance, balance
from resilver.judgement.bursts import BurstLoss, burst_losses, enclosure_loss_probability
from resilver.judgement.comparison import Comparison, LevelMoves, compare
from resilver.judgement.loss import LossProbability, group_loss_probability, loss_probability
from resilver.judgement.quality import Quality, quality
from resilver.judgement.rebuild import Parallelism, rebuild_sources, rebuild_targets
from resilver.judgement.replica_sets import NO_DEVICE, replica_sets

__all__ = [
    "NO_DEVICE",
    "Balance",
    "BurstLoss",
    "Comparison",
    "LevelMoves",
    "LossProbability",
    "Parallelism",
    "Quality",
    "balance",
    "burst_losses",
    "compare",
    "enclosure_loss_probability",
    "group_loss_probability",
    "loss_probability",
    "quality",
    "rebuild_sources",
    "rebuild_targets",
    "replica_sets",
]
