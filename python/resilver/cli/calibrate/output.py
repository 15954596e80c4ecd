"""Options that calibrations share."""

from __future__ import annotations

from functools import partial
from typing import Any

from resilver.cli.options import file_output
from resilver.cli.saving import PAGES, PICTURES
from resilver.request import option


def figure_output(text: str = "Draw measured against modelled bandwidth there") -> Any:
    """Where the chart of a calibration goes.

    Args:
        text: What is drawn.
    """
    text = f"{text} (.png, .svg or .pdf)."
    return option("--figure", metavar="FILE", text=text, is_output=True, endings=PICTURES)


def table_output(text: str) -> Any:
    """Where the calibrated part goes.

    Args:
        text: What is written.
    """
    return file_output("FILE.toml", f"{text} Or the answer as a page (.html).", (".toml", *PAGES))


measuring = partial(option, rich_help_panel="Measuring")
"""An option of a measurement."""
