"""What a run of a system will cost, before it is run: counts, time and memory."""

from resilver.estimate.rebuild import paper_note
from resilver.estimate.run import estimate

__all__ = ["estimate", "paper_note"]
