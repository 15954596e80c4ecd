"""`affected` equals the plain forward answer: every object placed before and after."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from resilver.errors import ConfigError, Interrupted
from resilver.importers import read_report
from resilver.simulate import affected, affected_batches, affected_groups
from resilver.spec import System
from tests.build import refused
from tests.reference.ceph_losses import UpSets
from tests.reference.losses import OBJECTS_A_FILE, Layout, file_sizes, object_sizes
from tests.scale import times
from tests.unit.small_reports import report

MIXED = {"bins": [["0 B", "4 KiB", 40], ["4 KiB", "2 MiB", 30], ["2 MiB", "20 MiB", 8]]}
KINDS: dict[str, dict[str, Any]] = {
    "rehash": {"algorithm": "ring", "ring_points": 32, "placement_groups": "none"},
    "crush": {"algorithm": "crush", "placement_groups": "none"},
    "straw": {"algorithm": "crush", "bucket": "straw", "placement_groups": "none"},
    "groups": {"algorithm": "crush", "placement_groups": 64},
    "ring-groups": {"algorithm": "ring", "ring_points": 32, "placement_groups": 50},
}
KINDS["successors"] = {**KINDS["rehash"], "ring_walk": "successors"}


def system_of(
    placement: dict[str, Any],
    extent: dict[str, Any] | None = None,
    code: str | None = None,
    **cluster: int,
) -> System:
    """A cluster of 200 files, about 500 objects, or of what `extent` says."""
    stored = {"histogram": MIXED, "objects": {"chunk": "3 MiB"}, **(extent or {"files": 200})}
    study = Study.from_dict(
        {
            "cluster": {"servers": 12, **cluster},
            "population": stored,
            "placement": placement,
            "redundancy": {"code": code} if code else {"replicas": 3},
            "faults": [{"fail": {"servers": 1}}],
        }
    )
    return study.runs()[0].system


def forward(system: System, failed: set[int], seed: int) -> list[dict[str, Any]]:
    """The rows, from the plain-Python twin's placement of every object."""
    layout, rows = Layout(system, seed), []
    for file, file_size in enumerate(file_sizes(system, seed)):
        for place, size in enumerate(object_sizes(system, file_size)):
            number = file * OBJECTS_A_FILE + place
            before = layout.set_of_object(number, frozenset())
            if failed.isdisjoint(before):
                continue
            after = layout.set_of_object(number, frozenset(failed))
            rows.append(row(before, after, failed) | {"object": number, "size_bytes": size})
    return rows


def row(before: list[int], after: list[int], failed: set[int]) -> dict[str, Any]:
    return {
        "survivors": [device for device in before if device not in failed],
        "homes": [device for device in after if device not in before],
        "lost": sum(device in failed for device in before),
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=times(4), deadline=None)
@given(failed=st.sets(st.integers(0, 11), max_size=12), seed=st.integers(1, 1000))
def test_rows_equal_the_forward_answer(kind: str, failed: set[int], seed: int) -> None:
    # Rule: for none, some or all devices failed, the rows are those of placing every object.
    system = system_of(KINDS[kind])
    assert affected(system, sorted(failed), seed=seed).to_pylist() == forward(system, failed, seed)


def test_racks_and_servers_go_by_their_names() -> None:
    # Rule: every name stands for its devices: rack 1 of 3 holds servers 4 to 7 of 12.
    system = system_of(KINDS["crush"], racks=3)
    by_number = affected(system, [0, 4, 5, 6, 7])
    assert by_number.num_rows > 0
    for names in (["server.0", "rack.1"], ["server=0", "rack=1"], [0, "rack=rack.1", "server.5"]):
        assert affected(system, names).equals(by_number)
    with pytest.raises(Interrupted):
        affected(system_of(KINDS["rehash"]), [1], progress=lambda _: False)


@pytest.mark.parametrize(
    ("failed", "expected"),
    [
        (["server.12"], "there are 12, server.0 to server.11"),
        (["sever.1"], 'did you mean "server.1"?'),
        (["rack=foo"], "the cluster has no racks; name one of server"),
        (["disk"], "names are such as"),
        ([12], "the numbers are from 0 to 11"),
        ([-1], "the numbers are from 0 to 11"),
        ([True], "no device has this number"),
        ("server.1", "it is a list"),
    ],
)
def test_what_is_not_there_is_refused_with_a_remedy(failed: Any, expected: str) -> None:
    with pytest.raises(ConfigError, match="failed = ") as caught:
        affected_batches(system_of(KINDS["crush"]), failed)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("names", "failed"),
    [(["osd.4"], {4}), (["host=a"], {0, 1}), (["osd.4", "osd.10"], {4, 10}), (["a"], {0, 1})],
)
def test_a_real_cluster_s_groups_equal_the_forward_answer(
    tmp_path: Path, names: list[str], failed: set[int]
) -> None:
    # Rule: for a report, every group is placed before and after; objects are its share of bytes.
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(osds_as_domains=True)))
    description = {"cluster": {"ceph": path.name}, "faults": [{"fail": {"osds": 1}}]}
    system = Study.from_dict(description, base=tmp_path).runs()[0].system
    cluster = read_report(path)
    sets, expected = UpSets(system, failed), []
    pools = {pool.id: pool for pool in cluster.pools}
    for load in cluster.loads:
        before = sets.place(pools[load.pool], load.number, frozenset())
        after = sets.place(pools[load.pool], load.number, failed)
        if not failed.isdisjoint(before):
            what = {"pool": load.pool, "group": load.number}
            held = {"bytes": load.bytes, "objects": load.objects}
            expected.append(what | held | row(before, after, failed))
    assert expected
    groups = affected_groups(cluster, names)
    assert groups.to_pylist() == expected
    assert affected(system, names).equals(groups)
    assert "use affected_groups" in refused(affected_batches, system, names)
