"""Record what a terminal shows of answers, for the test beside.

    python -m tests.unit.what_if_golden

Review the difference before committing.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from resilver.cli import what_if_answer
from tests.unit import what_if_answers

RECORD = Path(__file__).resolve().parents[1] / "golden" / "what-if.txt"
WIDTHS = (80, 60)


def shown(width: int) -> str:
    """All kinds of answers as a terminal of this many columns shows them."""
    text = io.StringIO()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": str(width)}),
        contextlib.redirect_stdout(text),
    ):
        for regime in ("nothing", "whole", "stuck", "horizon"):
            print(f"---- {regime}, {width} columns")
            what_if_answer.print_answer(what_if_answers.answer(regime))
        print(f"---- plans, {width} columns")
        what_if_answer.print_compared(what_if_answers.plans())
        print(f"---- ranking, {width} columns")
        what_if_answer.print_ranking(what_if_answers.ranking())
        print(f"---- search, {width} columns")
        what_if_answer.print_search(what_if_answers.search())
    # Tables end lines with blanks, which no reader sees.
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


if __name__ == "__main__":
    RECORD.write_text("".join(shown(width) for width in WIDTHS), encoding="utf-8")
