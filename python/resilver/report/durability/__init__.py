"""The answer of `resilver durability`: its sentences, tables and charts."""

from __future__ import annotations

from resilver.report.durability.answer import durability_answer
