"""How likely a real cluster of 88 OSDs loses data, and what bursts lose of its 4,096 sets."""

import functools
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from resilver import redundancy
from resilver.data_loss.correlated import crowd_loss
from tests.terminal import json_output

asked = functools.partial(json_output, "durability", "--afr", "1.36%", "--relative-error", "10%")


def test_repairs_of_a_cluster_begin_once_its_monitors_mark_an_osd_out(report: Path) -> None:
    """Jewel's grace of 20 s and its interval of 300 s; what is known at once is never less safe."""
    found, at_once, late = (
        asked(report, "--repair", "20 min", *more)
        for more in ((), ("--detection", "0 s"), ("--detection", "2 h"))
    )
    premises = {row["name"]: (row["value"], row["origin"]) for row in found["premises"]}
    assert premises["detection"] == ("5 min 20 s", "dump")
    assert found["groups"] == 4096 and found["devices"] == 88
    ranges = [one["loss_probability"] for one in (at_once, found, late)]
    assert all(below["high"] < above["low"] for below, above in itertools.pairwise(ranges))


def test_what_heals_in_what_ifs_is_counted_from_when_an_osd_is_out(report: Path) -> None:
    found = asked(report, "--bursts", "3")
    premises = {row["name"]: (row["value"], row["origin"]) for row in found["premises"]}
    assert premises["detection"] == ("5 min 20 s", "dump")
    assert premises["repair"][1] == "simulated"
    # All three OSDs of any of 3,978 sets, of C(88, 3) triples: counted by hand.
    three = [row for row in found["bursts"] if row["level"] == "osd" and row["failures"] == 3]
    anywhere = next(row for row in three if row["within"] is None)
    assert anywhere["loss_probability"] == pytest.approx(3_978 / 109_736, rel=1e-12)


THREE = redundancy("copies 3").is_survivable


@pytest.fixture(scope="module")
def acting(report: Path) -> list[list[int]]:
    text = report.read_text(encoding="utf-8")
    # OSDs are named 0 to 88 with a gap, and failures are of the 88 that there are.
    names = sorted(osd["osd"] for osd in json.loads(text)["osdmap"]["osds"])
    place = {name: number for number, name in enumerate(names)}
    groups = [group["acting"] for group in json.loads(text)["pgmap"]["pg_stats"]]
    return [[place[osd] for osd in group] for group in groups]


def test_all_fours_of_its_osds_are_tried(acting: list[list[int]]) -> None:
    # Each fatal triple with each other OSD, and each four of that only once.
    groups = {tuple(sorted(set(one))) for one in acting}
    fours = {tuple(sorted((*one, osd))) for one in groups for osd in range(88) if osd not in one}
    found = crowd_loss(acting, 4, THREE, devices=88)
    assert found.is_exact
    assert found.probability == len(fours) / math.comb(88, 4)


def test_a_sample_of_eight_failures_is_near_a_plain_one(acting: list[list[int]]) -> None:
    # 2,000 draws by sets of Python, 20,000 by bits: four standard errors of the difference.
    generator = np.random.default_rng(6)
    groups = [frozenset(one) for one in acting]
    hits = 0
    for _ in range(2000):
        failed = set(generator.choice(88, 8, replace=False).tolist())
        hits += any(one <= failed for one in groups)
    share = hits / 2000
    found = crowd_loss(acting, 8, THREE, devices=88)
    error = math.hypot(found.standard_error, math.sqrt(share * (1 - share) / 2000))
    assert abs(found.probability - share) < 4 * error
