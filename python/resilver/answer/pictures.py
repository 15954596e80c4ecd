"""The tables and the charts of an answer as files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from resilver.answer.model import Answer
from resilver.charts.vega import write_picture
from resilver.errors import ConfigError
from resilver.tables import Table, table_bytes, to_csv


def write_files(
    answer: Answer, tables: Path | None, pictures: Path | None, format: str = "png"
) -> None:
    """Write the tables of an answer and its charts as pictures, each named by its part.

    Args:
        tables: The folder of its tables and of those of its charts, as CSV, or of the tables of its
            runs; None for none.
        pictures: The folder of its charts; None for none.
        format: "png", "svg" or "pdf".

    Raises:
        ConfigError: A file cannot be written.
    """
    if tables is not None:
        files = {f"{name}.csv": partial(_csv, one) for name, one in answer.tables().items()}
        if answer.runs:
            runs = answer.runs.items()
            files = {f"{name}.parquet": partial(table_bytes, one, ".parquet") for name, one in runs}
        for name, content in files.items():
            path = tables / name
            try:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content())
            except OSError as error:
                rule = f"--tables: {str(path)!r} cannot be written ({error.strerror})"
                raise ConfigError(f"{rule}; choose another place") from error
    if pictures is not None:
        for chart in answer.charts():
            path = pictures / f"{chart.name}.{format}"
            write_picture(chart.make(), path, chart.heading, "--figures")


def _csv(table: Table) -> bytes:
    return to_csv(table, None).encode()
