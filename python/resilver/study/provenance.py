"""What a run folder says about itself: the study, its runs, and how they came to be."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError
from resilver.spec import RESULTS_SCHEMA_VERSION

if TYPE_CHECKING:
    from resilver.spec import Run

PROVENANCE_FILE = "provenance.json"
STUDY_FILE = "study.toml"
SHARDS_FOLDER = "shards"


def read_provenance(folder: Path) -> dict[str, Any]:
    """The provenance of a run folder.

    Returns:
        The content of its provenance.json.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: it cannot be read or is corrupt, with how it is written anew.
    """
    path = folder / PROVENANCE_FILE
    try:
        provenance = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except OSError as error:
        rule = f"{str(path)!r} cannot be read ({error.strerror}); make it readable"
        raise ConfigError(rule) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(_corrupt(folder, f"it is no JSON ({error})")) from error
    if not isinstance(provenance, dict):
        raise ConfigError(_corrupt(folder, "it is no JSON object"))
    for key, kind in _KINDS.items():
        if key not in provenance:
            raise ConfigError(_corrupt(folder, f"it has no {key!r}"))
        if not isinstance(provenance[key], kind):
            raise ConfigError(_corrupt(folder, f"its {key!r} is not as resilver writes it"))
    return provenance


_KINDS = {
    "resilver_version": str,
    "study": dict,
    "run_keys": list,
    "swept_keys": list,
    "state": str,
}
"""What every provenance has."""


def _corrupt(folder: Path, why: str) -> str:
    """What is wrong with a provenance, and how it is written anew from the runs beside it."""
    said = f"{str(folder / PROVENANCE_FILE)!r} is corrupt: {why}"
    if not any((folder / SHARDS_FOLDER).glob("*/")):
        return f"{said}; no finished run is beside it, so choose another folder with -o DIR"
    study = folder / STUDY_FILE
    named = study if study.is_file() else "STUDY.toml"
    mending = shlex.join(["resilver", "run", str(named), "-o", str(folder)])
    return f"{said}; repair it with `{mending}`, which keeps the finished runs"


def refuse_other_folders(folder: Path) -> None:
    """Check that a folder is a run folder, before it is read.

    Args:
        folder: what a person gave.

    Raises:
        ConfigError: there is nothing of this name, it is a file, or it has no provenance.
    """
    if folder.is_file():
        raise ConfigError(f"{str(folder)!r} is a file; give a folder that `resilver run` wrote")
    if not folder.is_dir():
        raise ConfigError(
            f"run folder {str(folder)!r} does not exist; "
            f"make it with `resilver run STUDY.toml -o {folder}`"
        )
    if not (folder / PROVENANCE_FILE).exists():
        raise ConfigError(
            f"{str(folder)!r} is not a run folder: it has no {PROVENANCE_FILE}; "
            "give a folder that `resilver run` wrote"
        )


def current_version() -> str:
    """The version of resilver that runs."""
    from resilver import __version__

    return str(__version__)


def results_version() -> int:
    """The version of the results that are written now."""
    return RESULTS_SCHEMA_VERSION


def fresh_provenance(
    resolved: Mapping[str, Any], runs: Sequence[Run], command: Sequence[str]
) -> dict[str, Any]:
    """The provenance of a study about to run.

    Args:
        resolved: the study with every default filled in.
        runs: its runs, in order.
        command: the command line.
    """
    return {
        "resilver_version": current_version(),
        "schema_version": results_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "command": recorded(command),
        "started": timestamp(),
        "finished": None,
        "state": "incomplete",
        "study": resolved,
        "run_keys": [run.key for run in runs],
        "swept_keys": list(runs[0].swept) if runs else [],
        "points": _points(runs),
        "failures": [],
        "runs": {},
        "tables": {},
    }


def recorded(command: Sequence[str]) -> list[str]:
    """A command line for the record: of absolute paths the names, since folders and pages move."""
    return [re.sub(r"(?<![^=\s])/\S*/(?=[^/\s]+/?$)", "", word) for word in command]


def _points(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The swept values of the runs, in the order of their keys, once for neighbours alike."""
    return [
        {"swept": swept, "runs": len(list(alike))}
        for swept, alike in itertools.groupby(dict(run.swept) for run in runs)
    ]


def timestamp() -> str:
    """The present moment in ISO 8601, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def difference_of(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The keys in which two resolved studies differ, in words.

    Args:
        there: the one study, of a folder.
        here: the other, about to run.
    """
    old, new = dict(_flat(there)), dict(_flat(here))
    changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    # Titles and names of content do not change what is computed, and a hash tells a person nothing.
    silent = ("title", "label", "sha256", "systems_sha256")
    changed = [key for key in changed if key.rpartition(".")[2] not in silent] or changed
    words = [
        f"{key} is {_short(old.get(key))} there and {_short(new.get(key))} here"
        for key in changed[:3]
    ]
    if len(changed) > 3:
        words.append(f"and {len(changed) - 3} more keys differ")
    return ", ".join(words) if words else "its runs are others"


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and item:
            yield from _flat(item, f"{name}.")
        else:
            yield name, item


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
