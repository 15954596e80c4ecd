"""Codes of several levels and products against plain Python that looks at every set of losses."""

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import pytest

import resilver
from resilver.placement_quality import burst_losses, enclosure_loss_probability
from tests.reference.codes import (
    Survives,
    dead_groups,
    enclosures_lost,
    is_survivable,
)


def by_rank(code: resilver.Code) -> Survives:
    """Whether a code survives, by the rank of its generator in plain Python."""
    rows = code.generator.tolist()

    @cache
    def known(lost: tuple[int, ...]) -> bool:
        return is_survivable(rows, lost)

    return lambda lost: known(tuple(lost))


TREES = [
    "rs 2+1 over rs 2+1",
    "copies 2 over lrc 2+3 local 1",
    "lrc 2+3 local 1 over copies 2",
    "copies 2 over rs 1+1 over rs 2+1",
    "rs 1+1 over product rs 1+1 x rs 2+1",
]


REPEATED = [("rs 2+1", 4), ("lrc 2+3 local 1", 2), ("copies 2 over rs 2+1", 2)]


@pytest.mark.parametrize(("text", "groups"), [*((text, 1) for text in TREES), *REPEATED])
def test_bursts_lose_what_every_set_of_failures_says(text: str, groups: int) -> None:
    tree = resilver.code_tree(text)
    levels = [(code.pieces, by_rank(code)) for code in tree.levels]
    devices = groups * tree.pieces
    most = min(6, devices)
    for found in burst_losses(tree.levels, most, groups=groups):
        # By level, the sets of failures that kill some group of it.
        killed = [0] * len(levels)
        for failed in combinations(range(devices), found.failures):
            gone: set[int] = set(failed)
            for level in reversed(range(len(levels))):
                gone = dead_groups(*levels[level], gone)
                killed[level] += bool(gone)
        sets = comb(devices, found.failures)
        assert found.devices == devices
        chances = [float(Fraction(ways, sets)) for ways in killed]
        assert (found.data, *found.dead_groups) == tuple(chances)


@pytest.mark.parametrize("across", [2, 5, 10])
@pytest.mark.parametrize("rebuilding", [0, 1, 2, 3])
def test_lost_enclosures_lose_what_every_way_says(across: int, rebuilding: int) -> None:
    survives = resilver.redundancy("rs 8+2").is_survivable
    found = enclosure_loss_probability(10, survives, across=across, rebuilding=rebuilding)
    enumerated = enclosures_lost(10, lambda lost: len(lost) <= 2, across, rebuilding)
    assert found == float(enumerated)
