"""What `resilver what-if` prints of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import output
from resilver.cli.tables import print_figures

if TYPE_CHECKING:
    from resilver.whatif.answer import WhatIf

_ROWS = 12


def print_answer(answer: WhatIf) -> None:
    """Print an answer: sentences, its pools, who gets full, what it rests on, lines to paste.

    Args:
        answer: The answer.
    """
    from resilver.report.whatif import sentences, tables
    from resilver.report.whatif.page import upmap_lines
    from resilver.report.whatif.source import LEVELS, Facts

    console, facts = output(), Facts(answer)
    console.print(Text(sentences.question(answer)))
    for rank, text in enumerate(sentences.answer_sentences(answer)):
        console.print(Text(text, "" if rank else "bold"))
    if not facts.is_calm:
        print_figures("Pools", tables.pools_table(facts), tables.POOL_WORDS, _ROWS)
    crossings = tables.crossings_table(facts)
    if crossings.rows:
        passed = sum(bool(facts.passing(level)) for level in LEVELS)
        print_figures("OSDs that get to a ratio", crossings, 2 + passed, _ROWS)
    for text in (*sentences.assumption_sentences(answer.assumptions), *answer.notes):
        console.print(Text(text, "dim"))
    print_lines("To paste:", answer.commands)
    print_lines("The balancer's entries:", upmap_lines(answer))


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
