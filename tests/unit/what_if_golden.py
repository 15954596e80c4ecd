"""Record what a terminal shows of answers, for the test beside.

    python -m tests.unit.what_if_golden

Review the difference before committing.
"""

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from resilver.answer.terminal import print_answer
from resilver.report.whatif import answer_of
from tests.unit import what_if_answers as answers

RECORD = Path(__file__).resolve().parents[1] / "golden" / "what-if.txt"


def shown(width: int) -> str:
    """All kinds of answers as a terminal of this many columns shows them."""
    text = io.StringIO()
    console = Console(file=text, width=width, color_system=None)
    regimes = ("nothing", "whole", "stuck", "horizon")
    found: dict[str, Any] = {regime: answers.answer(regime) for regime in regimes}
    found |= {"plans": answers.plans(), "ranking": answers.ranking(), "search": answers.search()}
    for name, one in found.items():
        console.print(f"---- {name}, {width} columns", highlight=False)
        print_answer(answer_of(one), console)
    # Tables end lines with blanks, which no reader sees.
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


if __name__ == "__main__":
    RECORD.write_text(shown(80), encoding="utf-8")
