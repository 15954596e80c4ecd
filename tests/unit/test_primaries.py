"""Primaries are as even as the sets allow, and those that the map itself then has."""

import random
from itertools import product

import numpy as np
import pytest

from resilver.crush import (
    CrushMap,
    Osds,
    Pool,
    PoolExceptions,
    group_sets,
    read_score,
    upmap_primaries,
    with_primaries,
)
from resilver.crush.model import WEIGHT_ONE
from tests.scale import numbers

LAYERS = [("host", "straw2", 2), ("root", "straw2", 0)]


def cost(primaries: list[int], affinities: list[float]) -> float:
    """Primaries squared over affinity; one of an OSD that is to have none costs without bound."""
    counts = np.bincount(primaries, minlength=len(affinities)).tolist()
    own = zip(counts, affinities, strict=True)
    return sum(count**2 / share if share else count * 1e9 for count, share in own)


@pytest.mark.parametrize("seed", numbers(40))
def test_no_other_primaries_are_more_even(seed: int) -> None:
    """Every choice is tried: what an entry for a PG does is asked PG by PG, which no chain does."""
    draw = random.Random(seed)
    count, groups = draw.choice([6, 8, 10]), draw.choice([4, 6, 8])
    affinities = [draw.choice([1.0, 1.0, 1.0, 0.5, 0.0]) for _ in range(count)]
    osds = Osds([WEIGHT_ONE] * count, [True] * count, [int(own * WEIGHT_ONE) for own in affinities])
    crush, size = CrushMap.build(count, LAYERS), draw.choice([2, 3])
    bare = Pool(1, "rbd", groups, groups, size, 0)
    up = group_sets(crush, bare, osds).up.tolist()
    stale = tuple((group, draw.choice(up[group])) for group in range(groups) if draw.random() < 0.3)
    pool = Pool(1, "rbd", groups, groups, size, 0, exceptions=PoolExceptions(upmap_primaries=stale))

    def asked(entries: tuple[tuple[int, int], ...]) -> list[int]:
        of = PoolExceptions(upmap_primaries=entries)
        tried = Pool(1, "rbd", groups, groups, size, 0, exceptions=of)
        return group_sets(crush, tried, osds).up_primary.tolist()

    reached = [
        {asked(())[group], *(asked(((group, osd),))[group] for osd in up[group])}
        for group in range(groups)
    ]
    entries = upmap_primaries(crush, pool, osds)
    after = group_sets(crush, with_primaries(pool, entries), osds)
    assert [sorted(row) for row in after.up.tolist()] == [sorted(row) for row in up]
    least = min(cost(list(one), affinities) for one in product(*reached))
    assert cost(after.up_primary.tolist(), affinities) == pytest.approx(least)
    for entry in entries:
        assert entry.osd in (None, after.up_primary[entry.group])
        assert entry.pgid in entry.command.split()
    few = upmap_primaries(crush, pool, osds, entries=1)
    assert len(few) <= 1
    before = group_sets(crush, pool, osds).up_primary.tolist()
    then = group_sets(crush, with_primaries(pool, few), osds).up_primary.tolist()
    assert cost(then, affinities) <= cost(before, affinities)


def test_the_score_is_cephs() -> None:
    """Most primaries over their mean, over the mean share of OSDs that may be primary."""
    crush, pool = CrushMap.flat(4), Pool(1, "rbd", 32, 32, 4, 0)
    every = [(group, 0) for group in range(32)]
    on_one = Pool(1, "rbd", 32, 32, 4, 0, exceptions=PoolExceptions(upmap_primaries=tuple(every)))
    assert read_score(crush, on_one, Osds.all_in(4)) == 4.0
    # Of 32 primaries on 4 OSDs two may have none: 16 at best, which is 2 times 8, and scores 1.
    half = Osds([WEIGHT_ONE] * 4, [True] * 4, [WEIGHT_ONE, WEIGHT_ONE, 0, 0])
    even = with_primaries(pool, upmap_primaries(crush, pool, half))
    assert read_score(crush, even, half) == 1.0
    # On average an affinity of a fifth, where a set of four needs a quarter.
    low = Osds([WEIGHT_ONE] * 4, [True] * 4, [WEIGHT_ONE // 5] * 4)
    assert read_score(crush, pool, low) is None
