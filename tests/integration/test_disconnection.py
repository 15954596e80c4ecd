"""A network that falls in two, through the command: losses are named, and the run ends."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver.study import Results
from tests.front_door import command

# Two leaves joined by one link, the router at the first.
GRAPH = """{
  "nodes": [
    {"id": "gate", "kind": "router"}, {"id": "left", "kind": "switch"},
    {"id": "right", "kind": "switch"}, {"id": "near-1", "kind": "host"},
    {"id": "near-2", "kind": "host"}, {"id": "far-1", "kind": "host"},
    {"id": "far-2", "kind": "host"}
  ],
  "links": [
    {"source": "gate", "target": "left"}, {"source": "left", "target": "right"},
    {"source": "near-1", "target": "left"}, {"source": "near-2", "target": "left"},
    {"source": "far-1", "target": "right"}, {"source": "far-2", "target": "right"}
  ]
}"""
STUDY = """
[cluster]
device = {{ service = "1 ms" }}

[cluster.fabric]
model = "switched"
topology = {{ graph = "two.json" }}
link_rate = "1 Gb/s"

[traffic]
outstanding = 8
warm_up = "0 s"
duration = "2 s"
{timeout}

[[faults]]
at = "0 s"
fail = {{ links = ["left-right"] }}
"""


def ran(folder: Path, timeout: str) -> tuple[dict[str, object], list[dict[str, object]], str]:
    (folder / "two.json").write_text(GRAPH)
    (folder / "study.toml").write_text(STUDY.format(timeout=timeout))
    done = command("run", "study.toml", "-o", "runs", cwd=folder)
    assert done.returncode == 0, done.stderr
    results = Results.open(folder / "runs")
    (run,) = results.to_pandas("runs").to_dict("records")
    return run, results.to_pandas("servers").to_dict("records"), done.stdout + done.stderr


def test_what_is_cut_off_is_lost_and_named(tmp_path: Path) -> None:
    run, servers, output = ran(tmp_path, "")
    # Nobody is told of the fault: a half of the first attempts go to the far side, and are lost at
    # the left switch, where no link leads on but those to the near side.
    lost = {str(server["name"]): server["requests_lost"] for server in servers}
    assert {name for name, count in lost.items() if count} == {"server.2", "server.3"}
    assert run["requests_lost"] == sum(lost.values())  # type: ignore[arg-type]
    assert run["failed_links"] == "left-right"
    # The near side is served all the time, by two disks.
    done = {str(server["name"]): server["requests_completed"] for server in servers}
    assert {name for name, count in done.items() if count} == {"server.0", "server.1"}
    assert run["simulated_seconds"] == 2.0
    assert "server.2" in output


def test_with_a_timeout_it_ends_as_well(tmp_path: Path) -> None:
    run, servers, _ = ran(tmp_path, 'timeout = "100 ms"')
    lost = {str(server["name"]) for server in servers if server["requests_lost"]}
    assert lost == {"server.2", "server.3"}
    assert run["simulated_seconds"] == 2.0


def test_a_graph_in_two_parts_is_refused_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text(GRAPH.replace('{"source": "left", "target": "right"},', ""))
    (tmp_path / "study.toml").write_text(STUDY.format(timeout=""))
    done = command("check", "study.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "no way leads from" in done.stderr
