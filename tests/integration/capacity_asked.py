"""What `resilver size --json` says of capacity, for the tests of closed forms and of inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resilver import cli


def asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int = 0
) -> dict[str, Any]:
    """The section `capacity` of the answer to a sizing file, and the exit code that is due."""
    (tmp_path / "sizing.toml").write_text(text)
    assert cli.run(["size", str(tmp_path / "sizing.toml"), "--json"]) == code, capsys.readouterr()
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["capacity"]
    return found


def values(found: dict[str, Any]) -> dict[str, float]:
    """Its figures by name."""
    return {figure["key"]: figure["value"] for figure in found["figures"]}
