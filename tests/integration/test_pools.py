"""Several pools on the same parts, through the command: losses, rebuilds and clients of each."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from resilver.cli import run
from resilver.simulate import affected, group_sets_of, simulate, unrecoverable
from resilver.simulate.result import RunResult
from resilver.spec import Study
from resilver.spec.toml import write_toml
from resilver.study import Results
from tests.build import STUDIES


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


def alone(table: dict[str, Any], pool: int) -> dict[str, Any]:
    """The same with one of the pools only, in the form of a study that names none."""
    kept = {key: value for key, value in table.items() if key != "pools"}
    own = {key: value for key, value in table["pools"][pool].items() if key != "name"}
    return {**kept, **own}


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


def test_a_pool_among_others_is_the_pool_alone() -> None:
    # The first pool's files, groups and pieces do not know of the second; where both share nothing
    # but hosts, and the second moves nothing, the rebuild takes as long too.
    table = two({"osds": ["osd.0"]})
    first = found(table).pools.to_pylist()[0]
    single = found(alone(table, 0))
    for name in ("rebuilt_objects", "rebuilt_pieces", "rebuilt_bytes", "affected_objects"):
        assert first[name] == single.metrics[name], name
    assert first["rebuild_seconds"] == single.metrics["rebuild_seconds"]
    (row,) = single.pools.to_pylist()
    assert (row["pool"], row["objects"]) == ("objects", single.metrics["population_objects"])


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


def test_the_command_shows_a_row_a_pool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "pools.toml"
    study.write_text(write_toml(two({"osds": ["osd.0"]}, clients=True)))
    folder = tmp_path / "out"
    assert run(["run", str(study), "-o", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "Pool archive on hdd: rs 4+2, each piece on another host" in shown.replace("\n", " ")
    for words in ("Clients before", "Whole after", "archive", "volumes"):
        assert words in shown, words
    results = Results.open(folder)
    assert results.pools.num_rows == 2 and "run" in results.pools.column_names
    assert run(["report", str(folder)]) == 0
    page = folder / "report.html"
    text = page.read_text()
    assert ">Pools</h3>" in text and "Clients before" in text
    assert run(["check", str(study), "--json"]) == 0
    capsys.readouterr()
    assert run(["place", str(study), "--quality", "--pool", "volumes", "--json"]) == 0
    described = json.dumps(json.loads(capsys.readouterr().out))
    assert "volumes" in described and "archive" not in described


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--quality", "--pool", "volume"], 'did you mean "volumes"'),
        (["--affected", "--fail", "osd.0"], "choose with --pool"),
    ],
)
def test_place_asks_which_pool(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "pools.toml"
    study.write_text(write_toml(two({"osds": ["osd.0"]})))
    assert run(["place", str(study), *arguments]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert says in error and "Traceback" not in error
