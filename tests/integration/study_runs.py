"""Runs of a study's text by the command, by events and by flows."""

import tomllib
from pathlib import Path
from typing import Any

from resilver.spec.toml import write_toml
from resilver.study import Results
from tests.build import CASES, changed
from tests.terminal import json_output

RUNS = tomllib.loads((CASES / "runs.toml").read_text(encoding="utf-8"))


def study_text(name: str, change: str = "", /, **keys: Any) -> str:
    """The study file of a name in `runs.toml`, with a change in TOML and with keys replaced."""
    return write_toml(changed(RUNS[name], change, **keys))


LOST = study_text("lost")


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
