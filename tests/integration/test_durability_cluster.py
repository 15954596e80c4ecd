"""How likely a real cluster of 88 OSDs loses data, and what bursts lose of its 4,096 sets."""

import functools
import itertools
from pathlib import Path

import pytest

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
