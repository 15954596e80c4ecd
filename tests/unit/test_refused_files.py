"""Files that readers refuse: with the file, the line or the place, the rule and the remedy.

The rows are those of `tests/cases/files.toml`.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resilver.browser import CoreRequest
from resilver.importers import read_netgauge
from resilver.importers.bandwidth import read_point_to_point
from resilver.importers.failures import read_failures
from resilver.importers.fio import read_fio
from resilver.importers.graph import read_graph
from resilver.importers.jobs import read_jobs
from resilver.importers.logs import read_log
from resilver.importers.series import read_series
from resilver.importers.sizes import read_sizes
from resilver.importers.trace import read_trace
from resilver.text import parse_json, read_text, read_toml
from tests.build import CASES, assert_said, refused

READERS: dict[str, Callable[[Path], Any]] = {
    "series": read_series,
    "jobs": read_jobs,
    "sizes": read_sizes,
    "trace": read_trace,
    "netgauge": read_netgauge,
    "graph": read_graph,
    "log": read_log,
    "failures": read_failures,
    "point to point": read_point_to_point,
    "fio": lambda path: read_fio([path]),
    "JSON": lambda path: parse_json(read_text(path), path),
    "TOML": read_toml,
    "request": lambda path: CoreRequest.from_json(read_text(path)),
}
ROWS = tomllib.loads((CASES / "files.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("reader", "row"), [(reader, row) for reader, rows in ROWS.items() for row in rows]
)
def test_a_file_is_refused(reader: str, row: tuple[str, str], tmp_path: Path) -> None:
    text, says = row
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    said = refused(READERS[reader], path)
    assert_said(says, said)
    assert "a.csv" in said or reader == "request"
