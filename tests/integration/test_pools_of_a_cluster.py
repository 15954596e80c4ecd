"""A real cluster's replicated and erasure-coded pools, recovered together, through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.cli import run
from resilver.importers import read_report
from resilver.simulate import group_up_sets
from tests.unit.small_reports import LOADS, pool, report, rule

CODED_GROUPS = 48
PROFILE = {"plugin": "jerasure", "technique": "reed_sol_van", "k": "2", "m": "2"}


def cluster() -> dict[str, Any]:
    """The report of two pools of copies, and beside them one of four pieces on four of five hosts.

    Group g of it holds what group g of the others does, in objects that the code cuts in two.
    """
    described = report(osds_as_domains=False)
    # With all OSDs up, every group is complete before the failure.
    for one in described["osdmap"]["osds"]:
        one["up"] = 1
    coded = {
        **pool(7, CODED_GROUPS, CODED_GROUPS, 4, 2),
        "type": 3,
        "erasure_code_profile": "two-two",
    }
    described["osdmap"]["pools"].append(coded)
    described["osdmap"]["erasure_code_profiles"] = {"two-two": PROFILE}
    indep = {**rule(2, "chooseleaf_indep", "host"), "type": 3}
    # Ceph's own rules for codes try that often, so that no place is left without an OSD.
    tries = [("set_chooseleaf_tries", 5), ("set_choose_tries", 100)]
    indep["steps"] = [*({"op": op, "num": num} for op, num in tries), *indep["steps"]]
    described["crushmap"]["rules"].append(indep)
    for group in range(CODED_GROUPS):
        size, objects = LOADS[group % 6]
        stat = {"num_bytes": size, "num_objects": objects}
        described["pgmap"]["pg_stats"].append(
            {"pgid": f"7.{group:x}", "up": [], "acting": [], "stat_sum": stat}
        )
    return described


def lost_pieces(path: Path, osd: int) -> tuple[int, int, int]:
    """What one OSD holds: copies, then pieces of the code, and the bytes of both together."""
    found = read_report(path)
    copies = pieces = amount = 0
    for one in found.pools:
        for group, row in enumerate(group_up_sets(found, one.id).tolist()):
            if osd not in row:
                continue
            size, objects = LOADS[group % 6]
            # Objects of a PG are of one size, in whole bytes; the code cuts them in two.
            share = -(-size // objects) if objects else 0
            if one.kind == "erasure":
                pieces += objects
                amount += objects * -(-share // 2)
            else:
                copies += objects
                amount += objects * share
    return copies, pieces, amount


def test_copies_and_pieces_of_one_osd_come_back_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, described = tmp_path / "report.json", cluster()
    path.write_text(json.dumps(described), encoding="utf-8")
    # Every PG is where the map has it.
    found = read_report(path)
    sets = {one.id: group_up_sets(found, one.id).tolist() for one in found.pools}
    for one in described["pgmap"]["pg_stats"]:
        pool_id, _, group = one["pgid"].partition(".")
        held = [osd for osd in sets[int(pool_id)][int(group, 16)] if osd >= 0]
        one |= {"up": held, "acting": held}
    path.write_text(json.dumps(described), encoding="utf-8")
    study = tmp_path / "study.toml"
    study.write_text(
        '[cluster]\nceph = "report.json"\n[[faults]]\nfail = { osds = ["osd.4"] }\n', "utf-8"
    )
    assert run(["run", str(study), "-o", str(tmp_path / "out"), "--json"]) == 0
    (metrics,) = json.loads(capsys.readouterr().out)
    copies, pieces, amount = lost_pieces(tmp_path / "report.json", 4)
    # Every group has another host to go to, so all that the OSD held is made anew.
    assert copies > 100 and pieces > 100
    # A PG that lost a copy may move another too, which is no lost one.
    assert metrics["rebuilt_bytes"] == amount > 0
    assert metrics["remapped_bytes"] > 0
    # What only moves may end after the last lost piece is there again.
    assert metrics["rebuild_seconds"] >= metrics["last_redundant_seconds"] > 0
