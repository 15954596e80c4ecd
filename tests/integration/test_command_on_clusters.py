"""The command on maps and reports of real clusters, held to what they and Ceph's own tools say."""

import json
from pathlib import Path

import pytest

from tests.terminal import json_output

# What Ceph writes for a position without a device: CRUSH_ITEM_NONE, 0x7fffffff.
HOLE = 2_147_483_647


def test_every_group_of_a_real_cluster_is_where_the_cluster_says(
    report: Path, tmp_path: Path
) -> None:
    rows = json_output("place", report, "--groups", cwd=tmp_path)
    stated = json.loads(report.read_text())["pgmap"]["pg_stats"]
    assert {row["pgid"]: row["up"] for row in rows} == {row["pgid"]: row["up"] for row in stated}
    keys = [(int(p), int(n, 16)) for p, n in (row["pgid"].split(".") for row in rows)]
    assert keys == sorted(keys)


@pytest.mark.parametrize("kind", ["replicated", "erasure"])
def test_an_osd_that_is_down_leaves_a_hole_only_in_an_erasure_pool(
    report: Path, tmp_path: Path, kind: str
) -> None:
    document = json.loads(report.read_text())
    if kind == "erasure":
        document["osdmap"]["pools"][0]["type"] = 3
        for rule in document["crushmap"]["rules"]:
            rule["type"] = 3
            for step in rule["steps"]:
                step["op"] = step["op"].replace("firstn", "indep")
    path = tmp_path / "report.json"
    sets = []
    for up in (1, 0):
        for osd in document["osdmap"]["osds"]:
            osd["up"] = up if osd["osd"] == 12 else 1
        path.write_text(json.dumps(document))
        sets.append([row["up"] for row in json_output("place", path, "--groups", cwd=tmp_path)])
    before, after = sets
    assert any(12 in devices for devices in before)
    # Copies move up; strips keep their positions, and 2147483647 is what Ceph writes for none.
    if kind == "replicated":
        assert after == [[osd for osd in devices if osd != 12] for devices in before]
    else:
        assert after == [[HOLE if osd == 12 else osd for osd in devices] for devices in before]
