"""`resilver place --balance`: lines to paste, what they do, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.importers import read_report
from tests.terminal import command, json_output, output, refusal


def balanced(report: Path, folder: Path, *words: object) -> Any:
    return json_output("place", report, "--balance", *words, cwd=folder)


# Rule: pasted into the cluster's map, the lines lead every group where the plan says: what each OSD
# has then, counted by `--groups` on the changed map, is what the plan states of it.
@pytest.mark.parametrize("way", ["ceph", "bytes"])
def test_the_lines_do_what_the_plan_says(report: Path, tmp_path: Path, way: str) -> None:
    plan = balanced(report, tmp_path, way, "--entries", 60)
    assert plan["entries"]
    document = json.loads(report.read_text(encoding="utf-8"))
    document["osdmap"]["pg_upmap_items"] = []
    for entry in plan["entries"]:
        words = entry["command"].split()
        assert words[:4] == ["ceph", "osd", "pg-upmap-items", entry["pgid"]]
        pairs = list(zip(map(int, words[4::2]), map(int, words[5::2]), strict=True))
        mappings = [{"from": one, "to": other} for one, other in pairs]
        document["osdmap"]["pg_upmap_items"].append({"pgid": entry["pgid"], "mappings": mappings})
    (tmp_path / "after.json").write_text(json.dumps(document), encoding="utf-8")
    stats = document["pgmap"]["pg_stats"]
    held = {f"{load.pool}.{load.number:x}": load.bytes for load in read_report(report).loads}
    done = output("place", "after.json", "--groups", "--json", cwd=tmp_path)
    groups: dict[int, int] = {}
    used: dict[int, int] = {}
    moved_bytes = moved = 0
    before = {group["pgid"]: group["up"] for group in stats}
    for group in json.loads(done):
        for osd in group["up"]:
            groups[osd] = groups.get(osd, 0) + 1
            used[osd] = used.get(osd, 0) + held[group["pgid"]]
            if osd not in before[group["pgid"]]:
                moved += 1
                moved_bytes += held[group["pgid"]]
    assert {one["osd"]: one["groups_after"] for one in plan["osds"]} == groups
    assert {one["osd"]: one["used_after_bytes"] for one in plan["osds"]} == used
    assert (plan["moved_pieces"], plan["moved_bytes"]) == (moved, moved_bytes)
    assert moved <= 60


# Rule: limits hold, and a wider one gives no less even a cluster.
def test_limits(report: Path, tmp_path: Path) -> None:
    few = balanced(report, tmp_path, "bytes", "--move-at-most", "100 GiB", "--entries", 500)
    assert 90 * 2**30 < few["moved_bytes"] <= 100 * 2**30
    near = balanced(report, tmp_path, "bytes", "--within", 5, "--entries", 500)
    far = balanced(report, tmp_path, "bytes", "--within", 1, "--entries", 500)
    assert 0 < near["moved_bytes"] < far["moved_bytes"]
    assert far["after"]["fill_deviation"] < near["after"]["fill_deviation"]


# Rule: what is written is a script, of which all that does not run is a comment.
def test_a_script(report: Path, tmp_path: Path) -> None:
    words = ("place", report, "--balance", "ceph", "--entries", 5)
    # The first of these is what `osdmaptool --upmap` of Ceph 16 writes for this map.
    assert "  ceph osd pg-upmap-items 3.12 41 16\n" in output(*words, cwd=tmp_path)
    written = output(*words, "-o", "upmaps.sh", cwd=tmp_path)
    lines = (tmp_path / "upmaps.sh").read_text(encoding="utf-8").splitlines()
    assert "ceph osd pg-upmap-items 3.12 41 16" in lines
    assert all(line.startswith(("# ", "ceph osd ")) and len(line) <= 80 for line in lines)
    assert "ceph osd pg" not in written


# Rule: what entries need of the release and of clients is a comment before them.
def test_what_entries_need_is_said(report: Path, tmp_path: Path) -> None:
    def said(way: str = "ceph", **osdmap: str) -> str:
        document = json.loads(report.read_text(encoding="utf-8"))
        document["version"] = osdmap.pop("version", document["version"])
        document["osdmap"].update(osdmap)
        (tmp_path / "r.json").write_text(json.dumps(document), encoding="utf-8")
        words = ("--balance", way, "--entries", 5, "-o", "upmaps.sh")
        assert command("place", "r.json", *words, cwd=tmp_path).returncode == 0
        return (tmp_path / "upmaps.sh").read_text(encoding="utf-8")

    needs = "# clients of Luminous or later: ceph osd set-require-min-compat-client luminous"
    assert "# Ceph has upmap entries since 12.2.0, and this cluster runs 10.2.7" in said()
    assert needs in said(version="14.2.22", require_min_compat_client="jewel").splitlines()
    assert "luminous" not in said(version="14.2.22", require_min_compat_client="luminous")
    needs = "# clients of Reef or later: ceph osd set-require-min-compat-client reef"
    assert needs in said("read", version="18.2.4", require_min_compat_client="quincy").splitlines()
    script = said("read", version="18.2.4", require_min_compat_client="reef").splitlines()
    assert not any("set-require" in line for line in script)
    assert {len(line.split()) for line in script if line[:1] != "#"} == {5}
    assert all(line.startswith(("#", "ceph osd pg-upmap-primary ")) for line in script)


# Rule: without bytes, groups can still be evened out, and nothing is said of fill; bytes cannot.
def test_a_dump_without_bytes(report: Path, tmp_path: Path) -> None:
    document = json.loads(report.read_text(encoding="utf-8"))
    for name, part in (("osd", "osdmap"), ("crush", "crushmap")):
        (tmp_path / f"{name}.json").write_text(json.dumps(document[part]), encoding="utf-8")
    words = ("place", "osd.json", "--crush", "crush.json", "--balance")
    plan = json_output(*words, "ceph", cwd=tmp_path)
    assert plan["entries"] and plan["moved_bytes"] is None
    assert plan["after"]["most_fill"] is None and "used_after_bytes" not in plan["osds"][0]
    assert "no sum for the others" in refusal(*words, "bytes", cwd=tmp_path)


# Rule: where no OSD is in, no PG is anywhere, which is not the same as perfectly even.
def test_a_map_that_places_nothing_is_no_even_one(report: Path, tmp_path: Path) -> None:
    document = json.loads(report.read_text(encoding="utf-8"))
    for osd in document["osdmap"]["osds"]:
        osd["in"], osd["weight"] = 0, 0
    (tmp_path / "out.json").write_text(json.dumps(document), encoding="utf-8")
    for way in ("ceph", "bytes"):
        said = refusal("place", "out.json", "--balance", way, cwd=tmp_path)
        assert "nothing is placed" in said
