"""Several pools on the same parts: losses, rebuilds and clients of each, and of a real cluster."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from resilver.cli import run
from resilver.importers import read_report
from resilver.simulate import affected, group_sets, group_sets_of, unrecoverable
from resilver.simulate.result import RunResult
from resilver.spec import Study
from resilver.spec.toml import write_toml
from resilver.study import Results, simulate
from tests.build import STUDIES
from tests.terminal import json_output, output, written
from tests.unit import small_reports


def two(failed: dict[str, Any], *, clients: bool = False, **keys: Any) -> dict[str, Any]:
    """The two pools with this failure, with or without clients."""
    table = deepcopy(STUDIES["pools"])
    table["faults"] = [{"fail": failed, **({"at": "1 s"} if clients else {})}]
    for pool in table["pools"]:
        if not clients:
            del pool["traffic"]
        else:
            pool["traffic"] = {**pool["traffic"], "duration": "4 s"}
    return {**table, **keys}


def found(table: dict[str, Any], seed: int = 1) -> RunResult:
    (one, *_) = Study.from_dict(table).runs()
    return simulate(one.system, seed)


def test_a_pool_loses_what_lies_on_its_own_class() -> None:
    # osd.3 is the flash device of host.0, and osd.0 one of its disks.
    for failed, touched, other in (("osd.0", 0, 1), ("osd.3", 1, 0)):
        result = found(two({"osds": [failed]}))
        rows = result.pools.to_pylist()
        assert [row["pool"] for row in rows] == ["archive", "volumes"]
        assert rows[touched]["rebuilt_pieces"] > 0
        assert rows[other]["affected_objects"] == rows[other]["rebuilt_bytes"] == 0
        for name in ("rebuilt_objects", "rebuilt_pieces", "rebuilt_bytes", "affected_objects"):
            assert sum(row[name] for row in rows) == result.metrics[name], name
        assert sum(row["bytes"] for row in rows) == result.metrics["population_bytes"]
        assert max(row["rebuild_seconds"] for row in rows) == result.metrics["rebuild_seconds"]
        assert rows[other]["before_seconds"] is None


def test_what_is_lost_is_counted_by_each_pool_s_own_sets() -> None:
    # Neither rs 4+2 nor three copies survive three hosts at once. By the sets of its own groups,
    # one is lost where three of its pieces were there.
    table = two({"hosts": ["host.1", "host.7", "host.12"]})
    result = found(table)
    system = Study.from_dict(table).runs()[0].system
    gone = {4 * host + disk for host in (1, 7, 12) for disk in range(4)}
    rows = result.pools.to_pylist()
    for row, view in zip(rows, system.of_pools, strict=True):
        sets = group_sets_of(view, seed=1)
        lost = sum(len(gone & set(pieces)) >= 3 for pieces in sets.tolist())
        share = row["unrecoverable_objects"] / row["objects"]
        assert share == pytest.approx(lost / len(sets), abs=0.03), row["pool"]
    assert rows[0]["unrecoverable_objects"] > 0
    listed = affected(system.of_pools[0], ["host=host.1", "host=host.7", "host=host.12"])
    names = ["host=host.1", "host=host.7", "host=host.12"]
    assert (
        unrecoverable(system.of_pools[0], listed["object"].to_numpy(), names).sum()
        == (rows[0]["unrecoverable_objects"])
    )


def test_clients_of_each_pool_are_measured_apart() -> None:
    result = found(two({"osds": ["osd.0"]}, clients=True))
    archive, volumes = result.pools.to_pylist()
    for period in ("before", "during", "after"):
        for name in ("requests_completed", "requests_lost"):
            both = (archive[f"{period}_{name}"] or 0) + (volumes[f"{period}_{name}"] or 0)
            assert both == (result.metrics[f"{period}_{name}"] or 0)
        rates = [pool[f"{period}_throughput_bytes_per_second"] or 0 for pool in (archive, volumes)]
        whole = result.metrics[f"{period}_throughput_bytes_per_second"] or 0
        assert sum(rates) == pytest.approx(whole)
    # Flash of 0.1 ms behind an idle network against disks of 8 ms.
    assert (
        volumes["before_mean_read_delay_seconds"] < 0.1 * archive["before_mean_read_delay_seconds"]
    )
    assert archive["before_requests_completed"] > 0 and volumes["before_requests_completed"] > 0


def test_clients_of_all_pools_ask_by_what_is_stored() -> None:
    # Without clients of their own the pools share those of the study: 60 GiB are in one of them and
    # 2 GiB in the other.
    table = two({"osds": ["osd.0"]}, traffic={"outstanding": 16, "duration": "4 s"})
    result = found(table)
    completed = result.metrics["requests_completed"]
    assert isinstance(completed, int) and completed > 100
    servers = result.servers.to_pylist()
    flash = sum(row["requests_completed"] for row in servers if row["server"] % 4 == 3)
    assert 0 < flash < completed
    assert [row["during_seconds"] for row in result.pools.to_pylist()] == [None, None]


@pytest.mark.usefixtures("without_loss")
def test_the_command_shows_a_row_a_pool(tmp_path: Path) -> None:
    study = written(tmp_path / "pools.toml", write_toml(two({"osds": ["osd.0"]}, clients=True)))
    folder = tmp_path / "out"
    shown = output("run", study, "-o", folder)
    assert "Pool archive on hdd: rs 4+2, each piece on another host" in shown.replace("\n", " ")
    for words in ("Goodput before faults", "Healthy after", "archive", "volumes"):
        assert words in shown, words
    results = Results.open(folder)
    assert results.pools.num_rows == 2 and "run" in results.pools.column_names
    assert run(["report", str(folder)]) == 0
    page = folder / "report.html"
    text = page.read_text()
    assert ">Pools</h3>" in text and "Goodput before faults" in text
    json_output("check", study)
    described = json.dumps(json_output("place", study, "--quality", "--pool", "volumes"))
    assert "volumes" in described and "archive" not in described


CODED_GROUPS = 48
PROFILE = {"plugin": "jerasure", "technique": "reed_sol_van", "k": "2", "m": "2"}


def cluster() -> dict[str, Any]:
    """The report of two pools of copies, and beside them one of four pieces on four of five hosts.

    Group g of it holds what group g of the others does, in objects that the code cuts in two.
    """
    described = small_reports.report(osds_as_domains=False)
    # With all OSDs up, every group is complete before the failure.
    for one in described["osdmap"]["osds"]:
        one["up"] = 1
    coded = {
        **small_reports.pool(7, CODED_GROUPS, CODED_GROUPS, 4, 2),
        "type": 3,
        "erasure_code_profile": "two-two",
    }
    described["osdmap"]["pools"].append(coded)
    described["osdmap"]["erasure_code_profiles"] = {"two-two": PROFILE}
    indep = {**small_reports.rule(2, "chooseleaf_indep", "host"), "type": 3}
    # Ceph's own rules for codes try that often, so that no place is left without an OSD.
    tries = [("set_chooseleaf_tries", 5), ("set_choose_tries", 100)]
    indep["steps"] = [*({"op": op, "num": num} for op, num in tries), *indep["steps"]]
    described["crushmap"]["rules"].append(indep)
    for group in range(CODED_GROUPS):
        size, objects = small_reports.LOADS[group % 6]
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
        for group, row in enumerate(group_sets(found, one.id).up.tolist()):
            if osd not in row:
                continue
            size, objects = small_reports.LOADS[group % 6]
            # Objects of a PG are of one size, in whole bytes; the code cuts them in two.
            share = -(-size // objects) if objects else 0
            if one.kind == "erasure":
                pieces += objects
                amount += objects * -(-share // 2)
            else:
                copies += objects
                amount += objects * share
    return copies, pieces, amount


def test_copies_and_pieces_of_one_osd_come_back_together(tmp_path: Path) -> None:
    path, described = tmp_path / "report.json", cluster()
    path.write_text(json.dumps(described), encoding="utf-8")
    # Every PG is where the map has it.
    found = read_report(path)
    sets = {one.id: group_sets(found, one.id).up.tolist() for one in found.pools}
    for one in described["pgmap"]["pg_stats"]:
        pool_id, _, group = one["pgid"].partition(".")
        held = [osd for osd in sets[int(pool_id)][int(group, 16)] if osd >= 0]
        one |= {"up": held, "acting": held}
    path.write_text(json.dumps(described), encoding="utf-8")
    study = tmp_path / "study.toml"
    study.write_text(
        '[cluster]\nceph = "report.json"\n[[faults]]\nfail = { osds = ["osd.4"] }\n', "utf-8"
    )
    (metrics,) = json_output("run", study, "-o", tmp_path / "out")
    copies, pieces, amount = lost_pieces(tmp_path / "report.json", 4)
    # Every group has another host to go to, so all that the OSD held is made anew.
    assert copies > 100 and pieces > 100
    # A PG that lost a copy may move another too, which is no lost one.
    assert metrics["rebuilt_bytes"] == amount > 0
    assert metrics["remapped_bytes"] > 0
    # What only moves may end after the last lost piece is there again.
    assert metrics["rebuild_seconds"] >= metrics["last_redundant_seconds"] > 0
