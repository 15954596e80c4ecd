"""What the project may cost: lines by room, seconds by step, by folder of tests and by test.

All of it is in `budget.toml`. Standard library only, as `tools/checkout.py`.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools import checkout, graph
from tools.checkout import DevError

COUNTED = (".rs", ".py", ".pyi", ".ts", ".tsx", ".css", ".js", ".mjs", ".html", ".md", ".toml")
"""Files whose lines count: sources of all languages, documents, and tables in TOML."""

SLACK = 100
"""A ceiling is the present size rounded up to this, so that a correction of a few lines passes."""


@dataclass(frozen=True)
class Room:
    """A part of the house and its size.

    Attributes:
        name: Its folders and files, as `budget.toml` lists them.
        unit: ``lines`` or ``folders``.
        present: Its size now.
        ceiling: The size that it may have; it may fall and never rise.
        budget: The size that the design gives it.
    """

    name: str
    unit: str
    present: int
    ceiling: int
    budget: int


def path() -> Path:
    """The file of all budgets."""
    return checkout.ROOT / "budget.toml"


def read() -> dict[str, Any]:
    """All budgets."""
    return tomllib.loads(path().read_text(encoding="utf-8"))


def tracked() -> list[str]:
    """The project's files: tracked, or new and not ignored.

    Raises:
        DevError: The checkout is not one of git.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=checkout.ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        raise DevError("sizes are those of the files that git knows, and this is no git checkout")
    names = sorted(set(listed.stdout.split("\0")) - {""})
    return [name for name in names if (checkout.ROOT / name).is_file()]


@cache
def _modules() -> graph.Python:
    names = [name for name in tracked() if name.startswith("python/resilver/")]
    return graph.Python.of(checkout.ROOT, names)


def circles(name: str) -> list[list[str]]:
    """Modules of a crate, or rooms of Python, that name each other in a circle."""
    if name == "python/resilver":
        found = graph.rooms(_modules().graph(), "resilver")
    else:
        source = checkout.ROOT / name / "src"
        files = {path.relative_to(source).as_posix(): path for path in source.rglob("*.rs")}
        sources = {path: file.read_text(encoding="utf-8") for path, file in files.items()}
        found = graph.crate_modules(sources)
    return graph.circles(found)


def inner_imports() -> int:
    """How many imports of the Python package stand inside functions."""
    return _modules().inner_imports()


def rooms() -> list[Room]:
    """The rooms of `budget.toml`, measured."""
    files, budgets = tracked(), read()
    lines = {
        name: (checkout.ROOT / name).read_bytes().count(b"\n")
        for name in files
        if name.endswith(COUNTED)
    }

    def inside(room: str, names: list[str]) -> Iterator[str]:
        places = room.split()
        return (name for name in names if any(f"{name}/".startswith(f"{p}/") for p in places))

    found = []
    for room, limit in budgets["lines"].items():
        present = sum(lines[name] for name in inside(room, list(lines)))
        found.append(Room(room, "lines", present, limit["ceiling"], limit["budget"]))
    for room, limit in budgets["folders"].items():
        below = {name.split("/")[1] for name in inside(room, files) if name.count("/") > 1}
        found.append(Room(room, "folders", len(below), limit["ceiling"], limit["budget"]))
    return found


def check_sizes() -> None:
    """Print each room's size beside its ceiling and its budget.

    Raises:
        DevError: A room is above its ceiling.
    """
    measured = rooms()
    width = max(len(room.name) for room in measured)
    print(f"  {'':<{width}} {'present':>8} {'ceiling':>8} {'budget':>8}")
    for room in measured:
        sizes = f"{room.present:>8,} {room.ceiling:>8,} {room.budget:>8,}"
        over = max(0, room.present - room.budget)
        print(f"  {room.name:<{width}} {sizes} {room.unit}{f', {over:,} to go' if over else ''}")
    if above := [room for room in measured if room.present > room.ceiling]:
        named = "; ".join(
            f"{room.name} has {room.present:,} {room.unit} of {room.ceiling:,}" for room in above
        )
        raise DevError(f"above the ceiling of budget.toml: {named}. Take as much away elsewhere")


def lower_ceilings() -> None:
    """Write the present sizes into `budget.toml` where they are below the ceilings there.

    No ceiling falls below its budget.
    """
    text = path().read_text(encoding="utf-8")
    for room in rooms():
        slack = SLACK if room.unit == "lines" else 1
        ceiling = min(room.ceiling, max(room.budget, -(-room.present // slack) * slack))
        row = re.compile(rf'^("?{re.escape(room.name)}"? = .*ceiling = )[\d_]+', re.MULTILINE)
        text = row.sub(rf"\g<1>{ceiling:_}", text)
    path().write_text(text, encoding="utf-8")
