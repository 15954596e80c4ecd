"""Several pools on the same parts: losses, rebuilds and clients of each, and of a real cluster."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.cli import run
from resilver.importers import read_cluster
from resilver.simulate import affected, group_sets, group_sets_of, unrecoverable
from resilver.simulate.result import RunResult
from resilver.spec import Study
from resilver.spec.toml import write_toml
from resilver.study import Results, simulate
from tests.build import STUDIES
from tests.reference.ceph_cluster import write_cluster
from tests.terminal import json_output, output, written
from tests.unit.what_if_clusters import SMALL


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
    names = ["host=host.1", "host=host.7", "host=host.12"]
    listed = affected(system.of_pools[0], names)["object"].to_numpy()
    gone_for_good = unrecoverable(system.of_pools[0], listed, names).sum()
    assert gone_for_good == rows[0]["unrecoverable_objects"]


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
    assert "Pool archive on hdd: rs 4+2, each piece on another host" in " ".join(shown.split())
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


def test_copies_and_shards_of_one_osd_come_back_together(tmp_path: Path) -> None:
    """A cluster of two pools of copies and one of shards, of a code of four data pieces."""
    dumps = write_cluster(tmp_path / "dumps", replace(SMALL, balancer=False))
    report = read_cluster(dumps)
    objects = {(one.pool, one.number): (one.bytes, one.objects) for one in report.loads}
    lost: dict[str, int] = {}
    for pool in report.pools:
        for number, up in enumerate(group_sets(report, pool.id).up.tolist()):
            size, count = objects[pool.id, number]
            if 4 in up and count:
                # Objects of a PG are of one size, in whole bytes; the code cuts them in four.
                share = -(-size // count)
                share = -(-share // 4) if pool.kind == "erasure" else share
                lost[pool.kind] = lost.get(pool.kind, 0) + count * share
    study = '[cluster]\nceph = "dumps"\n[[faults]]\nfail = { osds = ["osd.4"] }\n'
    words = ("run", written(tmp_path / "study.toml", study), "-o", tmp_path / "out")
    (metrics,) = json_output(*words)
    # Every PG has another OSD to go to, so all that the OSD held is made anew.
    assert lost["replicated"] > 0 < lost["erasure"]
    assert metrics["rebuilt_bytes"] == sum(lost.values())
    # What only moves may end after the last lost piece is there again.
    assert metrics["rebuild_seconds"] >= metrics["last_redundant_seconds"] > 0
