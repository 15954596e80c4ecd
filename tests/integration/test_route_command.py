"""`resilver route`: the policies side by side, one node's routers, LNet's options, and refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import resilver
from resilver import cli

SMALL = """
torus = [6, 4, 4]
nodes = 2
[routers]
networks = [10, 20]
groups = [["x0y0z0", "x3y2z2"]]
[fine_grained]
zone = 1
window = [-1, 0]
"""


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """What a command ends with and prints."""
    code = cli.run(["route", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_the_policies_stand_side_by_side(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in ("80", "60", "40"):
        monkeypatch.setenv("COLUMNS", width)
        code, out, _ = ask(capsys, str(small))
        assert code == 0
        assert all(word in out for word in ("fine-grained", "nearest", "round robin", "balanced"))
        assert max(map(len, out.splitlines())) <= int(width)


def test_json_is_what_python_computes(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, str(small), "--policy", "nearest", "--json")
    (found,) = json.loads(out)["policies"]
    figures = resilver.route_figures(resilver.route(resilver.machine(small), "nearest"))
    assert code == 0
    assert found == json.loads(json.dumps(figures.to_dict()))
    # Of 192 nodes four are routers, two a network.
    assert found["clients_a_router"][1] == 188 / 2


def test_a_node_s_routers_are_told(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, str(small), "--policy", "nearest", "--node", "x3y2z1n1", "--json")
    (first, second) = json.loads(out)["routers"]["nearest"]
    assert code == 0
    assert (first["network"], first["router"], first["hops"]) == (10, "x3y2z2n0", 1)
    assert (second["network"], second["router"], second["hops"]) == (20, "x3y2z2n1", 1)


def test_files_hold_every_client(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "routes.csv"
    assert ask(capsys, str(small), "--policy", "nearest", "-o", str(made))[0] == 0
    rows = list(csv.DictReader(made.open(encoding="utf-8")))
    assert len(rows) == 188
    assert list(rows[0]) == ["client", "network_10", "network_20"]
    page = tmp_path / "routes.html"
    assert ask(capsys, str(small), "--policy", "nearest", "-o", str(page))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "Where routers stand" in text and str(tmp_path) not in text
    code, out, _ = ask(capsys, str(small), "--policy", "nearest", "--lnet")
    assert code == 0 and out.count("options lnet routes=") == 2


def test_modules_find_their_places(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, str(small), "--place", "4", "--json")
    found = json.loads(out)
    assert code == 0
    assert [len(group) for group in found["modules"]] == [4]
    assert found["mean_cost"] < found["own_mean_cost"]
    code, out, _ = ask(capsys, str(small), "--place", "4")
    assert code == 0 and "drawn at random" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "fastest"], "there is no such policy"),
        (["--by", "time"], "cost or hops"),
        (["--node", "x9y9z9n9"], "no node of this number or name"),
        (["--node", "x0y0z0n0"], "does not compute"),
        (["--lnet"], "add --policy"),
        (["-o", "x.csv"], "add --policy"),
        (["-o", "x.pdf", "--policy", "nearest"], ".html"),
        (["--place", "0"], "1 at least"),
        (["--place", "9999"], "there is room for"),
        (["--place", "4", "--lnet"], "ask for them apart"),
        (["--set", "torus=[1, 4, 4]"], "torus"),
        (["--set", "fine_grained.zone=0"], "zone"),
        (["--set", "fine_grained.window=[0, 0]"], "no zone of group 0 takes"),
    ],
)
def test_what_means_nothing_is_refused(
    small: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(capsys, str(small), *words)
    assert code == 2 and not out
    assert message in " ".join(err.split())


def test_a_machine_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ask(capsys, "titann")
    assert code == 2 and "titan" in err


def test_titan_is_in_the_catalog() -> None:
    found: Any = resilver.machine("titan")
    assert len(found.clients) == 18_688
