"""What `resilver durability` shows: sentences, tables, charts and pages of answers."""

from __future__ import annotations

from resilver.report.durability.page import charts, write_durability
from resilver.report.durability.sentences import answer_sentences, compared_sentences
from resilver.report.durability.tables import durability_tables

__all__ = [
    "answer_sentences",
    "charts",
    "compared_sentences",
    "durability_tables",
    "write_durability",
]
