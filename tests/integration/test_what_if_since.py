"""Two dumps of a recovery under way, and when it is over by the pace between them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.importers.ceph import read_cluster
from resilver.simulate import group_sets
from resilver.whatif.answer import WhatIf
from resilver.whatif.perform import what_if
from tests.reference.ceph_cluster import edited, write_cluster
from tests.terminal import Terminal
from tests.unit.what_if_clusters import SMALL

SHAPE = replace(SMALL, balancer=False)
FAILED = 3
HOLE = 2**31 - 1
EARLY, LATER = (f"2026-01-01T00:{minute}:00.000000+0000" for minute in ("00", "42"))
Kept = dict[str, Any]


def dump(healthy: Path, folder: Path, run: WhatIf, minute: int) -> Path:
    """The dumps of a cluster at the end of a run in which an OSD died and was marked out."""
    shutil.copytree(healthy, folder)
    (folder / "ceph_report.json").unlink()

    with edited(folder / "ceph_osd_dump.json") as osds:
        osds["osds"][FAILED] |= {"up": 0, "in": 0, "weight": 0, "state": ["exists"]}
    for name in ("osd_df", "osd_df_tree"):
        with edited(folder / f"ceph_{name}.json") as usage:
            next(row for row in usage["nodes"] if row["id"] == FAILED)["reweight"] = 0
    report = read_cluster(folder)
    up = {
        f"{pool.id}.{number:x}": row
        for pool in report.pools
        for number, row in enumerate(group_sets(report, pool_id=pool.id).up.tolist())
    }
    left = {row["pgid"]: row for row in run.tables["stuck"].to_pylist()}

    with edited(folder / "ceph_pg_dump.json") as document:
        document["pg_map"]["stamp"] = f"2026-01-01T00:{minute:02}:00.000000+0000"
        for row in document["pg_map"]["pg_stats"]:
            members = [osd for osd in up[row["pgid"]] if osd >= 0]
            row |= {"up": members, "acting": members, "up_primary": members[0]}
            if lacking := left.get(row["pgid"]):
                serving = lacking["osds"].split()
                row["acting"] = [HOLE if osd == "-" else int(osd) for osd in serving]
                row["state"] = lacking["state"]
                for what in ("degraded", "misplaced"):
                    row["stat_sum"][f"num_objects_{what}"] = lacking[f"{what}_objects"]
            row["acting_primary"] = next(osd for osd in row["acting"] if osd != HOLE)
    return folder


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cluster(tmp_path_factory.mktemp("healthy") / "dumps", SHAPE)


@pytest.fixture(scope="module")
def slow(healthy: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, float]:
    """Dumps of a cluster of devices a third as fast, a minute apart, and seconds until its end."""
    folder = tmp_path_factory.mktemp("slow")

    def run(until: float) -> WhatIf:
        asked = {"horizon": f"{until} s", "counterfactuals": False, "events": True}
        return what_if(healthy, {"fail": f"osd.{FAILED}"}, pace="33.33%", **asked)

    whole = run(10 * 86_400).outcome.whole_seconds
    assert whole is not None
    dumps = [dump(healthy, folder / str(minute), run(60 * minute), minute) for minute in (40, 41)]
    return dumps[0], dumps[1], whole - 41 * 60


def test_the_end_is_forecast_from_two_dumps_a_minute_apart(
    slow: tuple[Path, Path, float], tmp_path: Path, terminal: Terminal
) -> None:
    older, newer, left = slow
    page = tmp_path / "page.html"
    known = terminal.json_output("what-if", newer, "--since", older, "-o", page)
    assert "Between the dumps, in 1 min," in page.read_text(encoding="utf-8")
    (pace,) = [one for one in known["assumptions"] if one["name"] == "pace of devices"]
    assert pace["origin"] == "dump"
    # The model spends the first seconds on reservations, which slower devices make up for.
    assert float(pace["value"].removesuffix(" %")) == pytest.approx(33.3, rel=0.06)
    # The tolerance was set before the run. By their models devices are three times as fast.
    assert known["answer"]["whole_seconds"] == pytest.approx(left, rel=0.1)
    by_models = terminal.json_output("what-if", newer, "--json")
    assert by_models["answer"]["whole_seconds"] < 0.4 * left


def test_devices_at_a_pace_are_devices_that_are_all_slowed(healthy: Path) -> None:
    fail = {"fail": f"osd.{FAILED}"}
    every = ",".join(f"osd.{osd}" for osd in range(SHAPE.osds))
    slowed = what_if(healthy, fail | {"slow": f"{every}=40%"}, counterfactuals=False)
    paced = what_if(healthy, fail, pace="40%", counterfactuals=False)
    assert paced.outcome.whole_seconds == pytest.approx(slowed.outcome.whole_seconds, rel=1e-9)
    assert paced.outcome.recovered_bytes == slowed.outcome.recovered_bytes


@contextmanager
def changed(bundle: Path, name: str, dump: str = "pg_dump") -> Iterator[tuple[Path, Kept]]:
    """The same dumps beside them, under another name, and one of these to change."""
    folder = shutil.copytree(bundle, bundle.with_name(name))
    with edited(folder / f"ceph_{dump}.json") as document:
        yield folder, document


def test_dumps_between_which_no_pace_can_be_measured_are_refused(
    slow: tuple[Path, Path, float], healthy: Path, terminal: Terminal
) -> None:
    older, newer, _ = slow

    def refused(now: Path, before: Path, *words: str) -> str:
        return terminal.refusal("what-if", now, "--since", before, *words)

    assert "it was taken 1 min after" in refused(older, newer)
    assert "at the same time as" in refused(newer, newer)
    assert "give --pace or --since" in refused(newer, older, "--pace", "40%")

    with changed(newer, "later") as (later, dump):
        dump["pg_map"]["stamp"] = LATER
    assert "copies of objects had to be recovered then" in refused(later, newer)
    with changed(newer, "over") as (over, dump):
        dump["pg_map"]["stamp"] = LATER
        for row in dump["pg_map"]["pg_stats"]:
            row["stat_sum"] |= {"num_objects_degraded": 0, "num_objects_misplaced": 0}
    assert "and 0 now" in refused(over, newer)
    with changed(healthy, "whole") as (whole, dump):
        dump["pg_map"]["stamp"] = EARLY
    (whole / "ceph_report.json").unlink()
    assert "which OSDs are up changed between the dumps" in refused(newer, whole)
    with changed(older, "held", "osd_dump") as (held, dump):
        dump |= {"flags": "nobackfill,norecover", "flags_set": ["nobackfill", "norecover"]}
    assert "a flag changed between the dumps" in refused(newer, held)
    with changed(newer, "fast") as (fast, dump):
        for row in dump["pg_map"]["pg_stats"]:
            row["stat_sum"]["num_objects_degraded"] //= 2
    said = refused(fast, older)
    assert "and 10 times as fast" in said and "ceph config dump" in said
    with changed(older, "other", "osd_dump") as (other, dump):
        dump["fsid"] = "76543210-89ab-cdef-0123-456789abcdef"
    assert "it is of another cluster" in refused(newer, other)
    bare = shutil.copytree(older, older.with_name("bare"))
    (bare / "ceph_pg_dump.json").unlink()
    assert "add `ceph pg dump`" in refused(newer, bare)
