"""Finding and reading the entries of the catalog, which are TOML files in this package."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, name_remedy, show

KINDS = (
    "coding",
    "devices",
    "failures",
    "lots",
    "machines",
    "networks",
    "policies",
    "populations",
    "sizings",
    "studies",
)
"""What the catalog holds."""

STUDY_FILE = "study.toml"
"""The study file in the folder of a study that ships."""

_SINGULAR = {
    "coding": "coding speed",
    "devices": "device",
    "failures": "failure law",
    "lots": "lot",
    "machines": "machine",
    "networks": "network",
    "policies": "recovery policy",
    "populations": "population",
    "sizings": "sizing",
    "studies": "study",
}


@dataclass(frozen=True)
class CatalogEntry:
    """An entry of the catalog.

    Attributes:
        kind: One of `KINDS`.
        name: Its name, as a study file writes it.
        description: What it is, in a sentence; empty for studies.
        source: Where its figures are from; empty for studies.
        content: The tables of its TOML file, without the others.
        data_sheet: What its maker states of it, with units, for comparison with what the model
            does; empty where the entry was fitted to measurements.
    """

    kind: str
    name: str
    description: str
    source: str
    content: dict[str, Any]
    data_sheet: dict[str, Any] = field(default_factory=dict)


@cache
def _names(kind: str) -> tuple[str, ...]:
    if kind not in KINDS:
        raise ConfigError(
            f"{show(kind)} is not a kind of catalog entry", name_remedy(kind, KINDS, "kinds")
        )
    folder = resources.files(__package__).joinpath(kind)
    if not folder.is_dir():
        return ()
    if kind == "studies":
        # A study is a folder, with what is said about it beside its file.
        return tuple(
            sorted(item.name for item in folder.iterdir() if item.joinpath(STUDY_FILE).is_file())
        )
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))


def names(kind: str) -> list[str]:
    """The names of the entries of a kind.

    Args:
        kind: One of `KINDS`.

    Returns:
        The names, sorted.

    Raises:
        ConfigError: There is no such kind.
    """
    return list(_names(kind))


def load(kind: str, name: str) -> CatalogEntry:
    """An entry of the catalog.

    Args:
        kind: One of `KINDS`.
        name: Its name.

    Returns:
        The entry.

    Raises:
        ConfigError: There is no such kind or name; the message suggests the nearest.
    """
    known = _names(kind)
    if name not in known:
        raise ConfigError(
            f"the catalog has no {_SINGULAR[kind]} of this name",
            name_remedy(name, known),
            value=show(name),
        )
    file = f"{name}/{STUDY_FILE}" if kind == "studies" else f"{name}.toml"
    content = tomllib.loads(read_data(kind, file))
    return CatalogEntry(
        kind=kind,
        name=name,
        description=str(content.pop("description", "")),
        source=str(content.pop("source", "")),
        data_sheet=content.pop("data_sheet", {}),
        content=content,
    )


def read_data(kind: str, file: str) -> str:
    """The text of a file that stands beside the entries of a kind.

    Args:
        kind: One of `KINDS`.
        file: The file's name; of a study, its folder's and its own.

    Returns:
        Its text.
    """
    return resources.files(__package__).joinpath(kind, *file.split("/")).read_text(encoding="utf-8")


def study_path(file: str | Path) -> Path:
    """The file of a study that is given by it, or by its name in the catalog.

    Args:
        file: The file, or a name; a file of that name here comes first.
    """
    path = Path(file).expanduser()
    if path.is_file() or str(file) not in names("studies"):
        return path
    return Path(__file__).parent / "studies" / str(file) / STUDY_FILE
