"""What the page that computes makes of scenarios: its own code, run in Node.

A scenario has ``stops``, the number of a stop by the key of its control, and ``changes``: each with
its ``key``, the place of its ``part``, ``at`` in seconds and, where it has one, its ``share``.
"""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.core_answers import node
from tools.checkout import ROOT

_RUNNER = Path(__file__).parent / "scenario_runner.mjs"
_ESBUILD = ROOT / "web" / "node_modules" / ".bin" / "esbuild"

Scenario = dict[str, Any]
AS_THINGS_ARE: Scenario = {"stops": {}, "changes": []}


class Made(NamedTuple):
    """What a page makes of a scenario.

    Attributes:
        input: The core's input.
        command: The command that gives the same answer.
        text: The study file, or empty.
    """

    input: Any
    command: str
    text: str


@cache
def _runner() -> str:
    """The runner with the page's code; a test that needs it is skipped where nothing builds it."""
    if not _ESBUILD.is_file():
        pytest.skip("what builds the page is not there: run `python3 dev.py web`")
    words = [_ESBUILD, _RUNNER, "--bundle", "--minify", "--platform=node", "--format=esm"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout


def made_by_page(document: Mapping[str, Any], scenarios: Sequence[Scenario]) -> list[Made]:
    """What a page of a document makes of scenarios."""
    done = subprocess.run(
        [node(), "--input-type=module", "--eval", _runner()],
        input=json.dumps({"document": document, "scenarios": scenarios}),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [Made(**one) for one in json.loads(done.stdout)]


def as_page_reads(value: Any) -> Any:
    """A JSON-able value with whole numbers as a page writes them, which knows 1 and 1.0 as one."""
    if isinstance(value, dict):
        return {key: as_page_reads(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_page_reads(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def drawn(document: Mapping[str, Any], draw: random.Random, latest: float) -> Scenario:
    """A scenario: a stop of every control, and up to four changes, some at one time.

    Many are of what fails by itself, or has changed before.
    """
    controls = [control for group in document["groups"] for control in group["controls"]]
    stops = {one["key"]: draw.randrange(len(one["stops"])) for one in controls}
    study, changes = document["study"], []
    kinds = [*document["changes"], *([study["ending"]] if study and study["ending"] else [])]
    failing = _failing(document)
    for _ in range(draw.randrange(5) if kinds else 0):
        kind = draw.choice(kinds)
        parts = [at for at, part in enumerate(document["parts"]) if part["kind"] in kind["kinds"]]
        at = draw.choice([0.0, 0.1 * latest, round(draw.random() * 0.9 * latest, 3)])
        share = draw.choice(kind.get("shares") or [None])
        before = changes[-1]["part"] if changes else parts[0]
        part = draw.choice([before, draw.choice(parts), *failing[:1]])
        if document["parts"][part]["kind"] in kind["kinds"]:
            changes.append({"key": kind["key"], "part": part, "at": at, "share": share})
    return {"stops": stops, "changes": changes}


def _failing(document: Mapping[str, Any]) -> list[int]:
    """The places of the parts that a study itself lets fail."""
    faults = document["input"].get("faults", {}).get("faults", ())
    named = [each for fault in faults for each in fault.get("part", {}).values()]
    names = {name for each in named if isinstance(each, list) for name in each}
    return [at for at, part in enumerate(document["parts"]) if part["name"] in names]
