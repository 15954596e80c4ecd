"""What `resilver what-if` shows: sentences, tables, charts and pages of answers."""

from __future__ import annotations

from resilver.report.whatif.page import write_answer
from resilver.report.whatif.sentences import answer_sentences

__all__ = ["answer_sentences", "write_answer"]
