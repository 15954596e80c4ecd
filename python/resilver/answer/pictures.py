"""The tables and the charts of an answer as files."""

from __future__ import annotations

from pathlib import Path

from resilver.answer.model import Answer
from resilver.charts.vega import write_picture
from resilver.errors import ConfigError
from resilver.tables import to_csv


def write_files(
    answer: Answer, tables: Path | None, pictures: Path | None, format: str = "png"
) -> None:
    """Write the tables of an answer as CSV and its charts as pictures, each named by its part.

    Args:
        answer: The answer.
        tables: The folder of its tables and of those of its charts; None for none.
        pictures: The folder of its charts; None for none.
        format: "png", "svg" or "pdf".

    Raises:
        ConfigError: A file cannot be written.
    """
    if tables is not None:
        for name, made in answer.tables().items():
            path = tables / f"{name}.csv"
            try:
                path.write_text(to_csv(made, None), encoding="utf-8")
            except OSError as error:
                rule = f"--tables: {str(path)!r} cannot be written ({error.strerror})"
                raise ConfigError(f"{rule}; choose another place") from error
    if pictures is not None:
        for chart in answer.charts():
            path = pictures / f"{chart.name}.{format}"
            write_picture(chart.make(), path, chart.heading, "--figures")
