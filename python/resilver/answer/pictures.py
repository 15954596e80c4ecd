"""The charts and the tables of an answer as files."""

from __future__ import annotations

from pathlib import Path

from resilver.answer.model import Answer
from resilver.charts.vega import write_picture


def write_pictures(answer: Answer, folder: Path, format: str = "png") -> list[Path]:
    """Write the charts of an answer as files, one a chart, named by it.

    Args:
        answer: The answer.
        folder: Where the files go.
        format: "png", "svg" or "pdf".

    Returns:
        The files.

    Raises:
        ConfigError: A file cannot be written.
    """
    return [
        write_picture(chart.make(), folder / f"{chart.name}.{format}", chart.heading, "--figures")
        for chart in answer.charts()
    ]
