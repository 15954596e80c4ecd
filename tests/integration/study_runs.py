"""Runs of a study's text by the command, by events and by flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resilver.study import Results
from tests.terminal import json_output

COPIED = """
[cluster]
servers = 16
device = "jbod10-sata"
fabric = { routers = 64 }
[population]
file_size = "8 MiB"
files = 20000
[placement]
placement_groups = 2048
[redundancy]
replicas = 3
[traffic]
"""
"""Three copies by CRUSH on 16 servers, 64 places where clients enter; what these do follows."""


LOST = """
[cluster]
servers = 8
device = "jbod10-sata"
fabric = { model = "loggp", table = "qdr-infiniband" }
[population]
file_size = "64 MiB"
bytes_per_server = "4 GiB"
[redundancy]
replicas = 3
[[faults]]
fail = { servers = 1 }
"""
"""One of eight servers is lost, and three copies are made whole again."""


def study_rows(folder: Path, study: str, *settings: str, out: str = "out") -> list[dict[str, Any]]:
    """The rows of a study's runs with these keys set; what they keep is in `out`."""
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(study, encoding="utf-8")
    words = ["study.toml", *(word for setting in settings for word in ("--set", setting))]
    rows: list[dict[str, Any]] = json_output("run", *words, "-o", out, cwd=folder)
    return rows


def study_row(folder: Path, study: str, *settings: str, out: str = "out") -> dict[str, Any]:
    """The row of the one run."""
    (row,) = study_rows(folder, study, *settings, out=out)
    return row


def table_rows(folder: Path, table: str, out: str = "out") -> list[dict[str, Any]]:
    """The rows of a table of these runs."""
    found: list[dict[str, Any]] = getattr(Results.open(folder / out), table).to_pylist()
    return found


def run(folder: Path, study: str, engine: str) -> dict[str, Any]:
    """The row of a study's run by an engine, in the folder of the engine's name."""
    return study_row(folder, study, f'traffic.engine="{engine}"', out=engine)


def rows(folder: Path, table: str, engine: str = "flows") -> list[dict[str, Any]]:
    """The rows of a table of that run."""
    return table_rows(folder, table, engine)
