"""Mapping many inputs at once: nothing depends on which inputs are mapped together."""

from __future__ import annotations

import re

import numpy as np
import pytest

from resilver.crush import CrushMap
from resilver.errors import ConfigError

# Hosts of equal devices, osd.3 excepted, so that some buckets have equal weights and some not.
HOSTS = 12
DEVICES_PER_HOST = 4


def _map() -> CrushMap:
    lines = ["type 0 osd", "type 1 host", "type 2 root"]
    lines += [
        f"tunable choose_{name} {value}"
        for name, value in [("local_tries", 0), ("local_fallback_tries", 0), ("total_tries", 50)]
    ]
    lines += [f"tunable chooseleaf_{name} 1" for name in ("descend_once", "vary_r", "stable")]
    lines += [f"device {device} osd.{device}" for device in range(HOSTS * DEVICES_PER_HOST)]
    for host in range(HOSTS):
        first = host * DEVICES_PER_HOST
        items = [
            f"item osd.{device} weight {0.25 if device == 3 else 1.0}"
            for device in range(first, first + DEVICES_PER_HOST)
        ]
        lines += [f"host host{host} {{ id -{host + 2} alg straw2 hash 0", *items, "}"]
    hosts = [f"item host{host} weight {3.25 if host == 0 else 4.0}" for host in range(HOSTS)]
    lines += ["root default { id -1 alg straw2 hash 0", *hosts, "}"]
    for number, mode in enumerate(["firstn", "indep"]):
        lines.append(
            f"rule {mode} {{ id {number} type replicated step take default "
            f"step chooseleaf {mode} 0 type host step emit }}"
        )
    return CrushMap.from_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("rule", [0, 1])
def test_rows_do_not_depend_on_their_neighbours(rule: int) -> None:
    # Rule: 20,000 inputs, which several tasks share, map as each of them alone; with a device out
    # and one that turns half its inputs away, so that some take further attempts.
    crush = _map()
    inputs = np.arange(20_000, dtype=np.uint32)
    reweight = np.full(HOSTS * DEVICES_PER_HOST, 0x10000, dtype=np.uint32)
    reweight[[7, 20]] = [0, 0x8000]
    together = crush.map_rule(rule, inputs, 3, reweight)
    for x in range(0, 20_000, 97):
        alone = crush.map_rule(rule, inputs[x : x + 1], 3, reweight)
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
