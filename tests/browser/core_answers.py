"""What the core answers natively, in Node and in Chromium, in one form that can be compared."""

import json
import math
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from resilver import ConfigError, _core
from resilver.browser import CoreRequest, core_module
from resilver.core_input import core_json
from resilver.simulate.ceph import heal
from resilver.simulate.maps import maps_of
from resilver.spec import Run
from resilver.whatif.request import Prepared
from tests.browser.chromium import Page
from tools.checkout import child_environment
from tools.web import is_outdated

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "crates" / "web" / "core.mjs"
RUNNER = Path(__file__).parent / "core_runner.mjs"

Answer = dict[str, Any]


@cache
def module() -> Path:
    """The core for browsers; a test that needs it is skipped where it was not built."""
    try:
        found = core_module()
    except ConfigError as error:
        pytest.skip(str(error))
    if is_outdated(child_environment()):
        pytest.skip(f"{found} is older than the sources: run `python3 dev.py web`")
    return found


def node() -> str:
    """The path of Node; a test that needs it is skipped where there is none."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node on PATH: install it (Debian: apt-get install nodejs)")
    return program


def answered_by_node(script: str, given: Any) -> Any:
    """What a module answers in Node to what it reads."""
    done = subprocess.run(
        [node(), "--input-type=module", "--eval", script],
        input=json.dumps(given), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def asked_of_node(call: str, *values: Any) -> Any:
    """What a function of the runner answers, after the module, in Node."""
    script = (
        'import { readFileSync } from "node:fs";'
        f"import {{ instantiate }} from {json.dumps(CORE.as_uri())};"
        f"import * as runner from {json.dumps(RUNNER.as_uri())};"
        f"const module = new WebAssembly.Module(readFileSync({json.dumps(str(module()))}));"
        "const values = JSON.parse(readFileSync(0));"
        f"const answer = await runner.{call}(instantiate, module, ...values);"
        "process.stdout.write(JSON.stringify(answer));"
    )
    return answered_by_node(script, values)


def in_node(requests: Sequence[CoreRequest]) -> list[Answer]:
    """What requests come to in Node."""
    answers: list[Answer] = asked_of_node(
        "answersOf", [json.loads(one.to_json()) for one in requests]
    )
    return answers


def in_chromium(page: Page, folder: Path, requests: Sequence[CoreRequest]) -> list[Answer]:
    """What requests come to in a page of one file, in Chromium."""
    bytes_of_module = b64encode(module().read_bytes()).decode("ascii")
    values = [json.loads(one.to_json()) for one in requests]
    # A text in a script must not end it.
    given = json.dumps(values).replace("<", "\\u003c")
    script = (
        f"{CORE.read_text(encoding='utf-8')}\n{RUNNER.read_text(encoding='utf-8')}\n"
        f'const bytes = Uint8Array.from(atob("{bytes_of_module}"), (one) => one.charCodeAt(0));\n'
        f"const module = await WebAssembly.compile(bytes);\n"
        f"globalThis.answers = JSON.stringify(await answersOf(instantiate, module, {given}));\n"
    )
    file = folder / "core.html"
    file.write_text(f'<!doctype html><meta charset="utf-8"><script type="module">{script}</script>')
    page.call("Page.navigate", url=file.resolve().as_uri())
    page.wait("globalThis.answers !== undefined", 120.0)
    answers: list[Answer] = json.loads(page.evaluate("globalThis.answers"))
    return answers


def of_system(run: Run) -> Answer:
    """What a run of a system comes to natively, by what `resilver.study.simulate` calls."""
    simulation = _core.Simulation(core_json(run.system, run.seed), maps_of(run.system))
    while simulation.advance()[0] != "done":
        pass
    metrics, tables = simulation.report()
    digest = metrics["digest"]
    row = {name: [value] for name, value in metrics.items()}
    found = {name: {} if one is None else _columns(pa.table(one)) for name, one in tables.items()}
    found["metrics"] = {name: [_plain(one) for one in cells] for name, cells in row.items()}
    return {"state": "done", "digest": digest, "tables": found}


def of_cluster(ready: Prepared) -> Answer:
    """What a cluster comes to natively."""
    healed = heal(ready.text)
    tables = {name: _columns(table) for name, table in healed.tables.items()}
    return {"state": "done", "digest": healed.digest, "tables": tables}


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    return {name: [_plain(one) for one in table[name].to_pylist()] for name in table.column_names}


def _plain(value: Any) -> Any:
    """A cell as the runner in JavaScript writes it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(int(value))


def differences(native: Answer, other: Answer) -> list[str]:
    """Where two answers differ: each column once, with its first row that does."""
    found = [] if native["digest"] == other.get("digest") else [f"digest: {other}"[:200]]
    theirs = other.get("tables", {})
    for name in sorted({*native["tables"], *theirs}):
        ours, own = native["tables"].get(name), theirs.get(name)
        if ours is None or own is None or list(ours) != list(own):
            found.append(f"table {name}: {list(ours or ())} and {list(own or ())}")
            continue
        for column, cells in ours.items():
            if cells == own[column]:
                continue
            pairs = zip(cells, own[column], strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), "other length")
            found.append(f"{name}.{column}: {first}")
    return found
