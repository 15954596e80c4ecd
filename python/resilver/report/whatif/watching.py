"""What a cluster would survive as it stands now: sentences, the gauges, and their file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Section, Shown
from resilver.quantities import duration
from resilver.report.whatif.capacity import safe_fill_sentence
from resilver.report.whatif.plan import assumption_parts
from resilver.report.whatif.sentences import assumption_sentences
from resilver.report.whatif.source import Facts
from resilver.tables import Table, table_of
from resilver.whatif.several import noun_of
from resilver.whatif.watched import metrics_text
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.whatif.several import Ranking
    from resilver.whatif.watched import Watched

_ROWS = 40


def watched_answer(found: Watched) -> Answer:
    """What the failure of any part would do, and the gauges that say so."""
    facts, now = Facts(found.now), found.now
    stuck = now.outcome.stuck_groups
    verdict = [
        *(_sentence(ranking) for ranking in found.rankings),
        safe_fill_sentence(facts),
        f"Without any failure {plural(stuck, 'PG')} stay stuck." if stuck else "",
        *_reached(found),
    ]
    shown = Shown("gauges", "Gauges", gauges_table(found), rows=_ROWS, printed=_ROWS)
    record = {
        "cluster": now.cluster.to_dict(),
        "gauges": [
            {"name": one.name, "labels": dict(labels), "value": value}
            for one in found.gauges
            for labels, value in one.samples
        ],
    }
    return Answer(
        f"What {now.cluster.label} would survive now",
        [text for text in verdict if text],
        [Section("Gauges", (shown,))],
        record,
        notes=[*assumption_sentences(now.assumptions), *now.notes],
        basis=assumption_parts(now.assumptions),
        forms={".prom": Form(lambda: metrics_text(found.gauges), "a textfile collector reads {}")},
    )


def _sentence(ranking: Ranking) -> str:
    """Whether any part of a level may fail, and how long healing takes at the longest."""
    noun, harms = noun_of(ranking.level), [harm.outcome for harm in ranking.harms]
    lost = sum(1 for one in harms if one.lost_groups)
    inactive = sum(1 for one in harms if one.inactive_groups)
    worst = f"{ranking.harms[0].name} has the largest impact"
    ends = [one.whole_seconds for one in harms if one.holds]
    if lost or inactive:
        what = "loses data" if lost else "leaves PGs inactive"
        count = f"{lost or inactive:,} of {plural(len(harms), noun)}"
        return f"Not safe: the failure of one {noun}, any of {count}, {what}; {worst}."
    text = f"Any {noun} may fail: no data is lost and no PG becomes inactive"
    longest = max((end for end in ends if end is not None), default=0.0)
    if len(ends) == len(harms):
        return f"{text}; the cluster is healthy again after {duration(longest)} at most."
    left = f"{len(harms) - len(ends):,} of {plural(len(harms), noun)}"
    return f"{text}; PGs stay stuck after the failure of any of {left}; {worst}."


def _reached(found: Watched) -> Iterator[str]:
    for state, first in found.room.reached.items():
        when = f"in {duration(first.seconds)}" if first.seconds else "already"
        yield f"The first OSD is {state} {when} (osd.{first.osd})."


def gauges_table(found: Watched) -> Table:
    """A sample a row."""
    rows = [
        (one.name, ", ".join(f"{name} {text}" for name, text in labels.items()), value)
        for one in found.gauges
        for labels, value in one.samples
    ]
    columns = (("gauge", "gauge", "text"), ("of", "of", "text"), ("value", "value", "number"))
    return table_of(rows, *columns)
