"""Judgement from the command line: real clusters, maps and studies, held to plain counts."""

import functools
import json
import math
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from resilver.crush import CrushMap
from resilver.importers import read_report
from resilver.simulate import affected_groups, group_sets
from tests.integration.study_runs import study_text
from tests.terminal import json_output, output, with_page, written

answer = functools.partial(json_output, "place")


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """Sixteen devices in one straw2 bucket, and device 3 of twice the weight beside it."""
    even = CrushMap.build(16, [("root", "straw2", 0)])
    for name, made in (("even", even), ("heavier", even.reweighted("osd.3", 2.0))):
        text = made.to_text().replace("chooseleaf firstn 0 type root", "choose firstn 0 type osd")
        written(tmp_path / f"{name}.txt", text)
    return tmp_path


@pytest.mark.usefixtures("without_loss")
def test_a_real_pool_is_judged_by_the_groups_it_has(report: Path) -> None:
    (judged,) = answer(report, "--quality")
    sets = group_sets(read_report(report), 3).up.tolist()
    copies = Counter(osd for devices in sets for osd in devices)
    primaries = Counter(devices[0] for devices in sets)
    partners: dict[int, set[int]] = {}
    for devices in sets:
        for osd in devices:
            partners.setdefault(osd, set()).update(devices)
    widths = sorted(len(others) - 1 for others in partners.values())
    assert judged["sets"] == len(sets) == 4096
    assert judged["copy_balance"]["total"] == sum(copies.values())
    assert judged["primary_balance"]["total"] == sum(primaries.values())
    assert (judged["scatter_width_min"], judged["scatter_width_max"]) == (widths[0], widths[-1])
    assert judged["distinct_sets"] == len({frozenset(devices) for devices in sets})
    # Groups of this pool hold nearly equal bytes, so bytes lie as copies do.
    assert judged["byte_balance"]["max_over_fair"] == pytest.approx(
        judged["copy_balance"]["max_over_fair"], rel=0.01
    )
    assert judged["rebuild_targets"]["devices_tried"] == 64


def test_a_cluster_is_compared_with_itself_under_a_new_map(report: Path, tmp_path: Path) -> None:
    (same,) = answer("--compare", report, report)
    assert (same["moved"], same["changed_sets"], same["reordered_sets"]) == (0, 0, 0)
    document = json.loads(report.read_text())
    osd, factor = 12, 2
    crush = document["crushmap"]
    items = [(one, item) for one in crush["buckets"] for item in one["items"]]
    ((host, item),) = [pair for pair in items if pair[1]["id"] == osd]
    item["weight"] *= factor
    for _, above in items:
        if above["id"] == host["id"]:
            above["weight"] = sum(item["weight"] for item in host["items"])
    changed, bare = tmp_path / "report.json", tmp_path / "map.json"
    changed.write_text(json.dumps(document))
    bare.write_text(json.dumps(crush))
    (moves,) = answer("--compare", report, changed)
    # The map alone stands for the same cluster under it.
    (by_map,) = answer("--compare", report, bare)
    assert by_map["moved"] == moves["moved"]
    before, after = read_report(report), read_report(changed)
    held = {load.number: load.bytes for load in before.loads}
    pairs = zip(*(group_sets(one, 3).up.tolist() for one in (before, after)), strict=True)
    moved = sum(held[at] * len(set(new) - set(old)) for at, (old, new) in enumerate(pairs))
    assert moves["unit"] == "bytes"
    assert moves["moved"] == moved > moves["least_by_weight"] > 0
    assert moves["total"] == 3 * sum(held.values())
    devices = {part["name"]: part for part in moves["levels"][0]["parts"]}
    assert max(devices, key=lambda name: devices[name]["gained"]) == f"osd.{osd}"
    assert moves["levels"][1]["level"] == "host"
    assert moves["levels"][1]["moved"] < moves["moved"]


def test_a_pool_with_twice_the_groups_keeps_its_bytes(report: Path, tmp_path: Path) -> None:
    # Groups are split and their halves are placed apart: every byte is still somewhere, 3 times.
    document = json.loads(report.read_text())
    (pool,) = document["osdmap"]["pools"]
    pool["pg_num"] = pool["pg_placement_num"] = 2 * pool["pg_num"]
    split = written(tmp_path / "split.json", json.dumps(document))
    (moves,) = answer("--compare", report, split)
    assert moves["sets"] == 8192
    assert moves["total"] == 3 * sum(load.bytes for load in read_report(report).loads)
    # The lower half of the new groups is placed as before; of the upper half nearly all moves.
    assert 0.4 < moves["moved_share"] < 0.5
    assert moves["changed_sets"] <= 4096


def test_reweighting_moves_only_to_the_device_reweighted(flat: Path) -> None:
    # straw2's law: with one copy, what moves goes to the item whose weight grew, and nowhere else.
    (moves,) = answer(
        "--compare", flat / "even.txt", flat / "heavier.txt", "--rule", 0, "--num-rep", 1,
        "--min-x", 0, "--max-x", 49_999,
    )  # fmt: skip
    (gaining,) = [part for part in moves["levels"][0]["parts"] if part["gained"]]
    assert gaining["name"] == "osd.3"
    assert (gaining["gained"], gaining["lost"]) == (moves["moved"], 0)
    # Its share grows from 1/16 to 2/17 of 50,000: 2,757; of 50,000 inputs each moves with the
    # probability 0.0551, a standard deviation of 51; 5 of these are exceeded once in 1.7 million.
    assert moves["least_by_weight"] == pytest.approx(50_000 * (2 / 17 - 1 / 16))
    assert moves["moved"] == pytest.approx(moves["least_by_weight"], abs=255)


@pytest.mark.usefixtures("without_loss")
def test_a_code_s_losses_need_to_be_told(flat: Path) -> None:
    # Four pieces of which two may be lost: 3 of one set are fatal. All C(16, 3) = 560 triples are
    # in some set of a thousand; without --fatal nobody knows.
    text = (flat / "even.txt").read_text().replace("choose firstn", "choose indep")
    options = [
        written(flat / "code.txt", text),
        "--quality",
        "--rule",
        0,
        "--num-rep",
        4,
        "--max-x",
        999,
    ]
    (unknown,) = answer(*options)
    assert unknown["loss_share"] is None
    (known,) = answer(*options, "--fatal", 3)
    assert (known["fatal"], known["loss_share"]) == (3, 1.0)


def test_affected_groups_are_those_that_hold_the_part(report: Path, tmp_path: Path) -> None:
    found = answer(report, "--affected", "--fail", "osd.12", "--fail", "host=cloud3-1359")
    rows = found["groups"]
    cluster = read_report(report)
    failed = {12, *(osd.id for osd in cluster.osds if osd.host == "cloud3-1359")}
    hit = [
        f"3.{number:x}"
        for number, devices in enumerate(group_sets(cluster, 3).up.tolist())
        if failed & set(devices)
    ]
    assert [row["pgid"] for row in rows] == hit
    names = {f"osd.{number}" for number in failed}
    assert all(not names & {*row["survivors"], *row["homes"]} for row in rows)
    # What hosts get, and what OSDs get, is what the groups hold, a copy for each home.
    amount = sum(row["bytes"] * len(row["homes"]) for row in rows)
    for level, most in (("hosts", "cloud3-"), ("osds", "osd.")):
        parts = found["homes"][level]
        assert sum(part["bytes"] for part in parts) == amount > 0
        assert [part["bytes"] for part in parts] == sorted(
            (p["bytes"] for p in parts), reverse=True
        )
        assert all(part["name"].startswith(most) for part in parts)
    table = tmp_path / "affected.csv"
    answer(report, "--affected", "--fail", "osd.12", "-o", table)
    sets = group_sets(cluster, 3).up.tolist()
    with_osd = [number for number, row in enumerate(sets) if 12 in row]
    lines = table.read_text().splitlines()
    assert len(lines) == 1 + len(with_osd)
    assert lines[1].startswith(f'"3.{with_osd[0]:x}","cephstor3",')


def test_reweighting_an_osd_moves_its_groups_as_taking_it_out_does(report: Path) -> None:
    # Rule: `ceph osd reweight 12 0` takes it out. What it held goes where its failure would have
    # it go, and --compare counts the same moves.
    groups = answer(report, "--groups", "-w", "12", "0")
    assert not any(12 in group["up"] for group in groups)
    lost = answer(report, "--affected", "--fail", "osd.12")
    homes = {row["pgid"]: row["homes"] for row in lost["groups"]}
    up = {group["pgid"]: group["up"] for group in groups}
    assert all({int(name[4:]) for name in names} <= {*up[pgid]} for pgid, names in homes.items())
    (moves,) = answer("--compare", report, report, "-w", "osd.12", "0")
    assert moves["moved"] == sum(row["bytes"] for row in lost["groups"])


@pytest.mark.parametrize("groups", ["none", 256])
@pytest.mark.usefixtures("without_loss")
def test_a_study_is_judged_and_compared(tmp_path: Path, groups: str | int) -> None:
    study = tmp_path / "study.toml"
    study.write_text(study_text("racks", placement__placement_groups=groups))
    (judged,) = answer(study, "--quality")
    # One copy a rack: of 24 servers in 4 racks, 18 are in other racks.
    assert judged["devices"] == 24
    assert judged["scatter_width_max"] <= 18
    assert judged["short_sets"] == 0
    (same,) = answer("--compare", study, study)
    assert same["moved"] == 0
    assert [level["level"] for level in same["levels"]] == ["device", "rack"]


def test_loss_in_a_year_is_counted_over_the_sets_that_are_there(
    shared_data: Path, tmp_path: Path
) -> None:
    """A fatal set of three is lost 3 (rate x repair)^3 / repair times a second, as they are few."""
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    words = ("place", report, "--quality", "--afr", "2 %", "--repair", "1 d")
    words += ("--repair-order", "device")
    told, page = with_page(tmp_path, *words, "--json")
    (found,) = json.loads(told)
    assert found["fatal"] == 3
    rate, day, year = -math.log1p(-0.02) / (365.25 * 86_400), 86_400, 365.25 * 86_400
    expected = found["distinct_sets"] * 3 * (rate * day) ** 3 / day * year
    assert found["a_year"]["loss_chance"] == pytest.approx(expected, rel=0.15)
    assert "loss in a year, device by device" in page and "AFR 2 %, repair 1 d" in page
    assert "loss in a year, PGs by priority" in page


def test_which_groups_are_affected_needs_no_bytes(shared_data: Path, report: Path) -> None:
    stated = read_report(report)
    bare = replace(stated, groups=(), pool_totals=(), total=None)
    told, counted = (affected_groups(one, ["host=cloud3-1359"]) for one in (stated, bare))
    sizes = ["bytes", "objects"]
    assert counted.drop_columns(sizes) == told.drop_columns(sizes)
    assert counted["bytes"].null_count == counted.num_rows > 0 == told["bytes"].null_count
    if shutil.which("osdmaptool") is None:
        pytest.skip("osdmaptool is not installed (Debian: ceph-base)")
    osdmap = shared_data / "ceph" / "osdmaps" / "18.2.0.bin"
    text = " ".join(output("place", osdmap, "--affected", "--fail", "osd.2").split())
    assert text.startswith("osd.2: 347 PGs lose 347 copies or shards; 0 have too few left")
    assert "PG sizes are unknown: add `ceph pg dump` (--pg-dump)." in text
