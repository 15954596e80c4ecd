"""Small studies for tests: by name, with a change that reads as a study file does."""

import copy
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Run, Study, System
from resilver.study import validate_runs

CASES = Path(__file__).parent / "cases"
STUDIES: dict[str, dict[str, Any]] = tomllib.loads((CASES / "studies.toml").read_text())
STREAMED, CODED = STUDIES["streamed"], STUDIES["coded"]
FABRIC = STREAMED["cluster"]["fabric"]

# Two leaves of two places each under one spine. One place is a router's, so 3 hosts, 3 switches
# (the leaves and the spine) and 4 + 2 links.
STAR = "leaf spine 2x1 hosts 2 routers 1"


def fast_star(places: int) -> dict[str, str]:
    """A star of 1 Tb/s without switch latency, one of whose places is a router's."""
    return {
        "model": "switched",
        "topology": f"leaf spine 1x1 hosts {places} routers 1",
        "link_rate": "1 Tb/s",
        "switch_latency": "0 s",
    }


def merged(base: Any, change: Any) -> Any:
    """A value with a change: by key, by the number of an item, and "(absent)" takes a key away."""
    if isinstance(base, list) and isinstance(change, dict) and "".join(change).isdecimal():
        return list(merged({str(at): item for at, item in enumerate(base)}, change).values())
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    kept = {key: value for key, value in base.items() if change.get(key) != "(absent)"}
    others = {key: value for key, value in change.items() if value != "(absent)"}
    return kept | {key: merged(kept.get(key), value) for key, value in others.items()}


def changed(base: dict[str, Any] | str, change: str = "", /, **keys: Any) -> dict[str, Any]:
    """A study, or one of that name, with a change in TOML and with keys replaced.

    Keys are named with two underscores for each dot; None takes one away.
    """
    base = STUDIES[base] if isinstance(base, str) else base
    made: dict[str, Any] = copy.deepcopy(merged(base, tomllib.loads(change)))
    for name, value in keys.items():
        *path, last = name.split("__")
        table: Any = made
        for part in path:
            table = table[int(part)] if part.isdecimal() else table.setdefault(part, {})
        if value is None:
            del table[last]
        else:
            table[last] = value
    return made


def study_of(
    base: dict[str, Any] | str, change: str = "", /, folder: Path | None = None, **keys: Any
) -> Study:
    """The study of a change; files are those of a folder."""
    return Study.from_dict(changed(base, change, **keys), folder)


def system_of(base: dict[str, Any] | str, change: str = "", /, **keys: Any) -> System:
    """The system of the first run of a change."""
    return study_of(base, change, **keys).runs()[0].system


def refused(function: Callable[..., object], *arguments: Any, **keys: Any) -> str:
    """Why a call is refused."""
    with pytest.raises(ConfigError) as caught:
        function(*arguments, **keys)
    return str(caught.value)


def refusal(base: dict[str, Any] | str, change: str = "", /, **keys: Any) -> str:
    """Why the runs of a change are refused."""
    return refused(lambda: validate_runs(study_of(base, change, **keys).runs()))


def assert_said(says: str, said: str) -> None:
    """That a message has these words, in which "..." stands for any."""
    assert re.search(".*".join(map(re.escape, re.split(r" ?\.\.\. ?", says))), said), said


def read_again(study: Study) -> Study:
    """A study read from what it writes: the same, wherever it is read."""
    again = Study.from_dict(tomllib.loads(study.to_toml()), Path("/"))
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
    assert again.resolved() == study.resolved()
    return again


def network_run(
    faults: list[dict[str, Any]] | None = None,
    topology: str | dict[str, str] = STAR,
    **traffic: Any,
) -> Run:
    """The run of a closed loop of clients over a small network.

    Args:
        faults: the tables of `faults`.
        topology: the network.
        traffic: what differs in the section `traffic`.
    """
    fabric = {"model": "switched", "topology": topology, "link_rate": "1 Gb/s"}
    clients = {"outstanding": 4, "interval": "22 ms", "duration": "1 s"} | traffic
    cluster = {"device": {"service": "22 ms"}, "queue": "reads_first", "fabric": fabric}
    tables = {"cluster": cluster, "traffic": clients, "faults": faults or []}
    return Study.from_dict(tables).runs()[0]
