"""A simulated failure moves every group where `osdmaptool` says after the OSD is marked out."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from resilver import Study
from resilver.simulate import simulate
from resilver.whatif.answer import WhatIf
from tests.oracle import crush_text
from tests.oracle.osdmap_file import EXISTS, UP, OsdMapSpec, PoolSpec, answers, tool, write

pytestmark = pytest.mark.oracle

ONE = 0x10000
GROUPS, OBJECTS, OBJECT_BYTES = 256, 3, 1_000_000
RATIOS = {"nearfull_ratio": 0.85, "backfillfull_ratio": 0.9, "full_ratio": 0.95}


def cluster() -> OsdMapSpec:
    """Six hosts of four OSDs; monitors take entries away as maps change, so there are none."""
    affinities = [ONE // 2 if osd % 5 == 0 else ONE for osd in range(24)]
    pools = {1: PoolSpec(3, GROUPS, GROUPS)}
    return OsdMapSpec(pools, [EXISTS | UP] * 24, [ONE] * 24, affinities)


def report(folder: Path) -> dict[str, object]:
    """The written map as a `ceph report`, each group with three objects of a megabyte."""
    printed = tool("osdmaptool", "osdmap.bin", "--dump", "json", folder=folder)
    crush = tool("crushtool", "-i", "crush.bin", "--dump", folder=folder)
    held = {"num_bytes": OBJECTS * OBJECT_BYTES, "num_objects": OBJECTS}
    stats = [
        {"pgid": f"{pool}.{group:x}", "up": one.up, "acting": one.up, "stat_sum": held}
        for (pool, group), one in answers(folder).items()
    ]
    osdmap = {**json.loads(printed[printed.index("{") :]), **RATIOS}
    for pool in osdmap["pools"]:
        # It is to stay as it is.
        pool |= {"pg_num_target": GROUPS, "pg_placement_num_target": GROUPS}
    return {
        "osdmap": osdmap,
        "crushmap": json.loads(crush),
        "pgmap": {"pg_stats": stats},
    }


# Rule: a failure loses the groups whose up sets had the OSD, and every OSD
# gains the groups that osdmaptool's sets after marking it out have and those before had not.
@pytest.mark.parametrize("failed", [0, 5, 18])
def test_groups_move_where_the_tool_says(tmp_path: Path, failed: int) -> None:
    for name in ("osdmaptool", "crushtool"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed (Debian: ceph-base)")
    hosts = [{4 * host + osd: ONE for osd in range(4)} for host in range(6)]
    write(tmp_path, cluster(), crush_text.of_hosts(hosts, {}))
    (tmp_path / "report.json").write_text(json.dumps(report(tmp_path)), encoding="utf-8")
    before = {gid: set(one.up) for gid, one in answers(tmp_path).items()}
    marked = answers(tmp_path, "--mark-out", str(failed))
    after = {gid: set(one.up) for gid, one in marked.items()}
    lost = {gid for gid, up in before.items() if failed in up}
    assert lost

    study = Study.from_dict(
        {"cluster": {"ceph": "report.json"}, "faults": [{"fail": {"osds": [f"osd.{failed}"]}}]},
        base=tmp_path,
    )
    (run,) = study.runs()
    result = simulate(run.system, run.seed)
    gained = Counter(osd for gid in before for osd in after[gid] - before[gid])
    held = OBJECTS * OBJECT_BYTES
    osds = WhatIf.from_rows(result.answers).tables["osds"].to_pylist()
    assert {row["osd"]: row["received_bytes"] for row in osds} == {
        osd: gained[osd] * held for osd in range(24)
    }
    metrics = result.metrics
    assert metrics["placement_groups_affected"] == len(lost)
    assert metrics["rebuilt_bytes"] + metrics["remapped_bytes"] == held * gained.total()
    assert metrics["rebuilt_bytes"] >= held * len(lost)
