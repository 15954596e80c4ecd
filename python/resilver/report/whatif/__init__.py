"""What `resilver what-if` answers: sentences, figures, tables, charts and commands."""

from __future__ import annotations

from resilver.answer import Answer
from resilver.report.whatif.comparison import compared_answer
from resilver.report.whatif.headroom import fill_answer
from resilver.report.whatif.maintenance import maintenance_answer
from resilver.report.whatif.plan import plan_answer
from resilver.report.whatif.ranking import ranking_answer, search_answer
from resilver.whatif.answer import WhatIf
from resilver.whatif.several import FillSearch, Maintenance, PlansCompared, Ranking, Search


def answer_of(
    found: WhatIf | PlansCompared | Ranking | Maintenance | Search | FillSearch,
) -> Answer:
    """The answer for the terminal, for a page and for a program."""
    if isinstance(found, WhatIf):
        return plan_answer(found)
    if isinstance(found, PlansCompared):
        return compared_answer(found)
    if isinstance(found, Ranking):
        return ranking_answer(found)
    if isinstance(found, Maintenance):
        return maintenance_answer(found)
    return search_answer(found) if isinstance(found, Search) else fill_answer(found)
