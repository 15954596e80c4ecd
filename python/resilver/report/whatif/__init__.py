"""What `resilver what-if` shows: sentences, tables, charts and pages of answers."""

from __future__ import annotations

from resilver.report.whatif.comparison import compared_sentences, write_compared
from resilver.report.whatif.page import write_answer
from resilver.report.whatif.ranking import (
    ranking_sentences,
    search_sentences,
    write_ranking,
    write_search,
)
from resilver.report.whatif.sentences import answer_sentences

__all__ = [
    "answer_sentences",
    "compared_sentences",
    "ranking_sentences",
    "search_sentences",
    "write_answer",
    "write_compared",
    "write_ranking",
    "write_search",
]
