"""Runs of a study by events and by flows, by the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.test_command import command

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


def run(folder: Path, study: str, engine: str) -> dict[str, Any]:
    """The row of a study's run by an engine, in the folder of the engine's name."""
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(study, encoding="utf-8")
    setting = f'traffic.engine="{engine}"'
    done = command("run", "study.toml", "--set", setting, "--json", "-o", engine, cwd=folder)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert isinstance(row, dict)
    return row


def rows(folder: Path, table: str, engine: str = "flows") -> list[dict[str, Any]]:
    """The rows of a table of that run."""
    from resilver.study import Results

    found: list[dict[str, Any]] = getattr(Results.open(folder / engine), table).to_pylist()
    return found
