"""A simulated failure moves every group where `osdmaptool` says after the OSD is marked out."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from resilver import Study
from resilver.study import simulate
from resilver.whatif.answer import WhatIf
from tests.oracle import crush_text
from tests.oracle.osdmap_file import EXISTS, UP, OsdMapSpec, PoolSpec, answers, tool, write

pytestmark = pytest.mark.oracle

ONE = 0x10000
GROUPS, OBJECTS, OBJECT_BYTES = 256, 3, 1_000_000
RATIOS = {"nearfull_ratio": 0.85, "backfillfull_ratio": 0.9, "full_ratio": 0.95}


def cluster() -> OsdMapSpec:
    """Six hosts of four OSDs, with pairs that lead four groups in five away from some OSD."""
    items = {
        (1, group): [(osd, (osd + 7 * group + 1) % 24) for osd in range(group % 4, 24, 4)]
        for group in range(GROUPS)
        if group % 5
    }
    affinities = [ONE // 2 if osd % 5 == 0 else ONE for osd in range(24)]
    pools = {1: PoolSpec(3, GROUPS, GROUPS)}
    return OsdMapSpec(pools, [EXISTS | UP] * 24, [ONE] * 24, affinities, upmap_items=items)


def cleaned(folder: Path, spec: OsdMapSpec, *options: str) -> OsdMapSpec:
    """The written map without what monitors take away of its upmap entries with each new map.

    Those are pairs of which the first OSD is not what CRUSH chose or the second is out, and sets
    that break the rule; the tool lists the commands that do it.
    """
    tool("osdmaptool", "osdmap.bin", *options, "--upmap-cleanup", "cleanup.txt", folder=folder)
    items = dict(spec.upmap_items)
    for line in (folder / "cleanup.txt").read_text(encoding="utf-8").splitlines():
        verb, group, *osds = line.removeprefix("ceph osd ").split()
        pool, _, number = group.partition(".")
        of, found = (int(pool), int(number, 16)), list(map(int, osds))
        if verb == "rm-pg-upmap-items":
            del items[of]
        else:
            assert verb == "pg-upmap-items"
            items[of] = list(zip(found[::2], found[1::2], strict=True))
    return replace(spec, upmap_items=items)


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
    return {"osdmap": osdmap, "crushmap": json.loads(crush), "pgmap": {"pg_stats": stats}}


# Rule: with upmap entries, a failure loses the groups whose up sets had the OSD, and every OSD
# gains the groups that osdmaptool's sets after marking it out have and those before had not, once
# the entries that no longer hold are gone.
@pytest.mark.parametrize("failed", [0, 5, 18])
def test_groups_move_where_the_tool_says(tmp_path: Path, failed: int) -> None:
    for name in ("osdmaptool", "crushtool"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed (Debian: ceph-base)")
    hosts = [{4 * host + osd: ONE for osd in range(4)} for host in range(6)]
    crush, out = crush_text.of_hosts(hosts, {}), ("--mark-out", str(failed))
    write(tmp_path, cluster(), crush)
    spec = cleaned(tmp_path, cluster())
    write(tmp_path, spec, crush)
    (tmp_path / "report.json").write_text(json.dumps(report(tmp_path)), encoding="utf-8")
    before = {gid: set(one.up) for gid, one in answers(tmp_path).items()}
    write(tmp_path, cleaned(tmp_path, spec, *out), crush)
    after = {gid: set(one.up) for gid, one in answers(tmp_path, *out).items()}
    lost = {gid for gid, up in before.items() if failed in up}
    only_moved = {gid for gid in before if gid not in lost and after[gid] != before[gid]}
    assert lost and only_moved, "the case has groups of both kinds"

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
    # One copy of each lost group is made anew; all else that OSDs gain moves.
    assert metrics["rebuilt_bytes"] == held * len(lost)
    assert metrics["remapped_bytes"] == held * (gained.total() - len(lost))
