"""What `resilver what-if` prints of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import output
from resilver.cli.tables import print_figures

if TYPE_CHECKING:
    from resilver.study import Results
    from resilver.whatif.answer import WhatIf
    from resilver.whatif.several import FillSearch, PlansCompared, Ranking, Search

_ROWS = 12
_RANKED = 20
_NAMES_WIDTH = 26
_PLAN_WIDTH = 17


def print_answer(answer: WhatIf, told: Sequence[str] = ()) -> None:
    """Print an answer: sentences, its pools, who gets full, what it rests on, lines to paste.

    Args:
        answer: The answer.
        told: Lines to paste that stand above already.
    """
    from resilver.report.counterfactuals import HEADING, counterfactuals_table
    from resilver.report.whatif import sentences, tables
    from resilver.report.whatif.page import upmap_lines
    from resilver.report.whatif.source import LEVELS, Facts

    facts = Facts(answer)
    output().print(Text(sentences.question(answer)))
    _print_sentences(sentences.answer_sentences(answer))
    if not facts.is_calm:
        print_figures("Pools", tables.pools_table(facts), tables.POOL_WORDS, _ROWS)
    crossings = tables.crossings_table(facts)
    if crossings.rows:
        passed = sum(bool(facts.passing(level)) for level in LEVELS)
        print_figures("OSDs that get to a ratio", crossings, 2 + passed, _ROWS)
    if found := answer.counterfactuals:
        made = counterfactuals_table(found)
        # Which settings they are stands on the page.
        print_figures(HEADING, made, len(made.columns) - 1, _ROWS)
    _print_basis([*sentences.assumption_sentences(answer.assumptions), *answer.notes])
    print_lines("To paste:", [line for line in answer.commands if line not in told])
    entries = upmap_lines(answer)
    print_lines("The balancer's entries:", entries[:_ROWS])
    if len(entries) > _ROWS:
        output().print(Text(f"... and {len(entries) - _ROWS:,} more; the page and --json have all"))


def print_clusters(results: Results, *, next_command: str | None = None) -> None:
    """Print the answers of a study of real clusters: one alone, or several side by side.

    Args:
        results: The study's results.
        next_command: What the reader may want to type next.
    """
    from resilver.cli.summary import print_whereabouts
    from resilver.report.clusters import ANSWERS_MAX, answers_of
    from resilver.whatif.several import PlansCompared

    first, *others = answers_of(results)
    if others:
        print_compared(PlansCompared((first, *others)))
    else:
        print_answer(first)
    runs = results.runs.num_rows
    if runs > ANSWERS_MAX:
        said = f"Of {runs:,} runs these are healthy last; all are in {results.folder}/runs.parquet."
        output().print(Text(said, "dim"))
    output().print()
    print_whereabouts(output(), results, next_command)


def print_compared(compared: PlansCompared) -> None:
    """Print plans side by side, as many as the window has room for below each other.

    Args:
        compared: The plans' answers.
    """
    from resilver.report.whatif.comparison import compared_sentences, compared_table
    from resilver.tables import Table

    _print_sentences(compared_sentences(compared))
    made = compared_table(compared)
    plans = len(made.columns) - 1
    most = max(1, (output().width - _NAMES_WIDTH) // _PLAN_WIDTH)
    for first in range(1, plans + 1, most):
        chosen = [0, *range(first, min(first + most, plans + 1))]
        lines = [[row[at] for at in chosen] for row in made.rows]
        part = Table(tuple(made.columns[at] for at in chosen), lines)
        print_figures("Side by side" if first == 1 else "", part, len(chosen))
    output().print(Text(made.note, "dim"))


def print_ranking(ranking: Ranking) -> None:
    """Print the parts by the harm that their failure does.

    Args:
        ranking: The ranking.
    """
    from resilver.report.whatif.ranking import RANKING_WORDS, ranking_sentences, ranking_table
    from resilver.report.whatif.sentences import assumption_sentences

    _print_sentences(ranking_sentences(ranking))
    shown = RANKING_WORDS + bool(ranking.today)
    print_figures("The worst first", ranking_table(ranking), shown, _RANKED)
    _print_basis([*assumption_sentences(ranking.assumptions), *ranking.notes])


def print_search(search: Search) -> None:
    """Print what was tried for an aim, the lines that set it, and the answer with it.

    Args:
        search: The search.
    """
    from resilver.report.whatif.ranking import search_sentences, search_table

    _print_sentences(search_sentences(search))
    made = search_table(search)
    print_figures("What was tried", made, len(search.names) + 4, _RANKED)
    print_lines("To paste:", search.commands)
    nearest = "With these settings:" if search.holds else "With what comes nearest:"
    output().print(Text(nearest, "bold"))
    print_answer(search.answer, search.commands)


def print_fill(found: FillSearch) -> None:
    """Print how full the cluster may be, and which part's failure is the worst there.

    Args:
        found: The search.
    """
    from resilver.report.whatif.headroom import fill_sentences, fill_table

    _print_sentences(fill_sentences(found))
    made = fill_table(found)
    print_figures("What was tried", made, len(made.columns), _RANKED)
    best = found.best_share
    at = "the highest fill at which all heal" if best else "the lowest fill that was tried"
    if found.ranking is not None:
        output().print(Text(f"At {at}:", "bold"))
        print_ranking(found.ranking)


def _print_sentences(said: Sequence[str]) -> None:
    for rank, text in enumerate(said):
        output().print(Text(text, "" if rank else "bold"))


def _print_basis(said: Sequence[str]) -> None:
    for text in said:
        output().print(Text(text, "dim"))


def print_lines(title: str, lines: Sequence[str]) -> None:
    """Print lines to paste, each whole on a line of its own; nothing where there are none.

    Args:
        title: What they are.
        lines: The lines.
    """
    if not lines:
        return
    output().print(Text(title, "bold"))
    for line in lines:
        output().print(Text(f"  {line}"), soft_wrap=True)
