"""`resilver plan`: what it prints and writes; where PGs are then is a matter of tests/oracle."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reference.ceph_cluster import edited, write_cluster
from tests.terminal import Terminal
from tests.unit.what_if_clusters import SMALL

SHAPE = replace(SMALL, balancer=False)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cluster(tmp_path_factory.mktemp("plan") / "dumps", SHAPE, stderr=False)


def test_a_host_gets_other_weights_step_by_step(
    bundle: Path, tmp_path: Path, terminal: Terminal
) -> None:
    """The script holds what moves at once without it, and releases all of it once."""
    script = tmp_path / "steps.sh"
    words = ("plan", bundle, "--crush-reweight", "host=node-000=8")
    out = " ".join(terminal.output(*words, "--step", "1 TiB", "-o", script).split())
    assert "cannot be held" not in out
    known = terminal.json_output(*words, "--step", "1 TiB")
    lines = script.read_text().splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    holds = [line for step in known["steps"] for line in step["hold"]]
    releases = [line for step in known["steps"] for line in step["release"]]
    first = commands.index(holds[0])
    assert commands[first:] == [*holds, "ceph osd unset norebalance", *releases]
    assert commands[:2] == ["ceph osd getcrushmap -o before.crush", "ceph osd set norebalance"]
    assert commands[2:first] == ["ceph osd crush reweight-subtree node-000 8"]
    assert {line.split()[3] for line in holds} == {line.split()[3] for line in releases}
    # What is released is the least that the change writes, but for what allocation rounds up.
    moves = sum(step["bytes"] for step in known["steps"])
    pools = known["at_once"]["tables"]["pools"]
    assert moves == pytest.approx(sum(pool["least_bytes"] for pool in pools), rel=1e-3)
    assert f"in {len(known['steps'])} steps of at most" in out
    assert 10 <= len(terminal.json_output(*words)["steps"]) <= 11


@pytest.mark.parametrize(
    ("change", "back"),
    [
        (("--reweight", "osd.3=0.5"), "ceph osd reweight 3 1"),
        (("--out", "osd.3"), "ceph osd reweight 3 1"),
        (("--set-rule", "fast=vms_rule"), "ceph osd pool set fast crush_rule fast_rule"),
    ],
)
def test_each_change_has_a_way_back(
    bundle: Path, tmp_path: Path, terminal: Terminal, change: tuple[str, str], back: str
) -> None:
    terminal.output("plan", bundle, *change, "-o", tmp_path / "steps.sh", code=None)
    text = (tmp_path / "steps.sh").read_text()
    assert f"# ceph osd setcrushmap -i before.crush\n# {back}\n" in text


def test_what_an_osd_without_weight_holds_moves_at_once(bundle: Path, terminal: Terminal) -> None:
    known = terminal.json_output("plan", bundle, "--drain", "osd.3", code=1)
    document = json.loads((bundle / "ceph_pg_dump.json").read_text())
    on_it = {row["pgid"] for row in document["pg_map"]["pg_stats"] if 3 in row["up"]}
    assert {one["pgid"] for one in known["loose"]} == on_it
    assert all(line.split()[3] not in on_it for step in known["steps"] for line in step["hold"])
    assert terminal.json_output("plan", bundle, "--crush-reweight", "osd.3=14.55191")["steps"] == []


def test_a_cluster_that_heals_is_not_planned_for(tmp_path: Path, terminal: Terminal) -> None:
    bundle = write_cluster(tmp_path / "dumps", SHAPE, stderr=False)
    with edited(bundle / "ceph_osd_dump.json") as dump:
        dump["osds"][3]["up"] = 0
    (bundle / "ceph_report.json").unlink()
    said = terminal.refusal("plan", bundle, "--out", "osd.7")
    assert "osd.3 is down and in" in said


def test_a_backfill_is_cancelled_but_for_pgs_that_lack_an_osd(
    tmp_path: Path, terminal: Terminal
) -> None:
    """One PG is served by three OSDs, of which the map has two, and is held; one by two OSDs."""
    bundle = write_cluster(tmp_path / "dumps", SHAPE, stderr=False)
    (bundle / "ceph_report.json").unlink()
    with edited(bundle / "ceph_pg_dump.json") as dump:
        rows = [row for row in dump["pg_map"]["pg_stats"] if len(row["up"]) == 3]
        held, short = rows[:2]
        # A host has four OSDs, and the set may have one of each.
        hosts = {osd // 4 for osd in held["up"]}
        other = next(osd for row in rows for osd in row["up"] if osd // 4 not in hosts)
        held["acting"] = [other, *held["up"][1:]]
        short["acting"] = short["up"][1:]
    script = tmp_path / "steps.sh"
    answer = terminal.json_output("plan", bundle, code=1)
    terminal.output("plan", bundle, "-o", script, code=1)
    (step,) = answer["steps"]
    pair = f"{held['pgid']} {held['up'][0]} {other}"
    assert step["hold"] == [f"ceph osd pg-upmap-items {pair}"]
    assert step["release"] == [f"ceph osd rm-pg-upmap-items {held['pgid']}"]
    assert [one["pgid"] for one in answer["loose"]] == [short["pgid"]]
    text = script.read_text()
    assert "moves as it does now" in text and "setcrushmap" not in text
