"""What `resilver size --json` says of a sizing file, for the tests of its sections."""

from pathlib import Path
from typing import Any

from tests.terminal import json_output


def sized(folder: Path, text: str, code: int = 0) -> dict[str, Any]:
    """The answer to a sizing file, and the exit code that is due."""
    (folder / "sizing.toml").write_text(text, encoding="utf-8")
    found: dict[str, Any] = json_output("size", folder / "sizing.toml", code=code)
    return found


def values(figures: list[dict[str, Any]]) -> dict[str, float]:
    """Figures by name."""
    return {figure["key"]: figure["value"] for figure in figures}
