"""Mapping many inputs at once: nothing depends on which inputs are mapped together."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from resilver.crush import CrushMap, Osds, Pool, group_sets, upmaps_by_bytes, upmaps_by_groups
from resilver.errors import ConfigError, ResilverError

DEVICES = 48


def _map(for_codes: bool = False) -> CrushMap:
    """Hosts of equal devices, osd.3 excepted: some buckets have equal weights and some not."""
    crush = CrushMap.build(DEVICES, [("host", "straw2", 4), ("root", "straw2", 0)])
    crush = crush.reweighted("osd.3", 0.25)
    return crush.for_codes() if for_codes else crush


@pytest.mark.parametrize("for_codes", [False, True])
def test_rows_do_not_depend_on_their_neighbours(for_codes: bool) -> None:
    # Rule: 20,000 inputs, which several tasks share, map as each of them alone; with a device out
    # and one that turns half its inputs away, so that some take further attempts.
    crush = _map(for_codes)
    inputs = np.arange(20_000, dtype=np.uint32)
    reweight = np.full(DEVICES, 0x10000, dtype=np.uint32)
    reweight[[7, 20]] = [0, 0x8000]
    together = crush.map_rule(0, inputs, 3, reweight)
    for x in range(0, 20_000, 97):
        alone = crush.map_rule(0, inputs[x : x + 1], 3, reweight)
        assert together[x].tolist() == alone[0].tolist()
    assert not np.any(together == 7)
    # osd.20 keeps half of an even share, 20,000 x 3 / 48 / 2 = 625; standard deviation 25.
    assert abs(int(np.count_nonzero(together == 20)) - 625) < 150


def test_no_inputs_are_no_rows() -> None:
    # Rule: an empty list of inputs gives an array of no rows, and no copies an array of no columns.
    crush = _map()
    assert crush.map_rule(0, np.empty(0, dtype=np.uint32), 3).shape == (0, 3)
    assert crush.map_rule(0, np.arange(5, dtype=np.uint32), 0).shape == (5, 0)


@pytest.mark.parametrize(
    ("inputs", "copies", "reweight", "words"),
    [
        ([-1], 3, None, "inputs: they are a row of whole numbers"),
        ([2**32], 3, None, "inputs: they are a row of whole numbers"),
        ([0.5], 3, None, "inputs: they are a row of whole numbers"),
        ([[1]], 3, None, "inputs: they are a row of whole numbers"),
        ([1], -1, None, "copies = -1: use a number from 0 to 1024"),
        ([1], 10**9, None, "copies = 1000000000: use a number from 0 to 1024"),
        ([1], 3, [0.5], "reweight: they are a row of whole numbers"),
    ],
)
def test_numbers_that_no_input_can_be_are_named(
    inputs: object, copies: int, reweight: object, words: str
) -> None:
    """Rule: what cannot be 32 bits is an error of ours; any other whole numbers are as good."""
    cluster = CrushMap.flat(8)
    with pytest.raises(ConfigError, match=re.escape(words)):
        cluster.map_rule(0, inputs, copies, reweight)
    expected = cluster.map_rule(0, np.array([1, 5], dtype=np.uint32), 3)
    assert (cluster.map_rule(0, [1, 5], 3) == expected).all()
    assert (cluster.map_rule(0, np.array([1, 5]), 3, [0x10000] * 8) == expected).all()


_POOL = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
_IN, _FEW = Osds.all_in(8), Osds.all_in(3)
_FULL = {"capacities": [1000] * 8, "used_bytes": [240] * 8}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda _: replace(_POOL, size=10**6), "pool rbd: size = 1000000: use a whole number"),
        (lambda one: group_sets(one, _POOL, Osds([1.5] * 8, [True] * 8)), "reweights: they are"),
        (lambda one: group_sets(one, replace(_POOL, rule_id=9), _IN), "pool 1: rule = 9"),
        (lambda one: upmaps_by_groups(one, [_POOL], _IN, entries=-1), "entries = -1: use"),
        (lambda one: upmaps_by_bytes(one, [_POOL], _IN, piece_bytes=[[1] * 6], **_FULL), "as many"),
        (lambda one: upmaps_by_bytes(one, [_POOL], _FEW, piece_bytes=[[1] * 64], **_FULL), "OSD"),
    ],
)
def test_a_script_is_told_what_cannot_be(asked: Callable[[CrushMap], Any], said: str) -> None:
    with pytest.raises(ResilverError, match=re.escape(said)):
        asked(CrushMap.flat(8))
