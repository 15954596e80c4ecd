"""What moves between two placements, on sets small enough to count by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.crush import compare
from resilver.errors import ConfigError

rows = st.lists(
    st.tuples(*(2 * [st.lists(st.integers(-1, 7), min_size=3, max_size=3)])), min_size=1
)


def test_only_copies_that_are_new_to_a_device_or_place_move() -> None:
    # Set 0: device 2 takes over from 1, 10 bytes. Set 1: only the order differs. Set 2: both
    # members are others, 2 x 1 bytes. Of 2 x 10 + 2 x 5 + 2 x 1 = 32 bytes, 12 move.
    result = compare([[0, 1], [0, 1], [0, 1]], [[0, 2], [1, 0], [2, 3]], set_bytes=[10, 5, 1])
    assert (result.total, result.moved) == (32.0, 12.0)
    assert result.moved_share == 12 / 32
    assert (result.changed_sets, result.reordered_sets, result.primary_changes) == (2, 1, 2)
    devices = result.levels[0]
    assert devices.gained.tolist() == [0, 0, 11, 1]
    assert devices.lost.tolist() == [1, 11, 0, 0]
    # By position the two members of a code swap what they hold: both move.
    assert compare([[0, 1]], [[1, 0]], by_position=True).moved == 2.0
    assert compare([[0, 1]], [[1, 0]]).moved == 0.0
    # A hole that is filled is one copy in, and nothing out.
    filled = compare([[0, 2**31 - 1]], [[0, 1]], by_position=True).levels[0]
    assert (filled.gained.sum(), filled.lost.sum()) == (1.0, 0.0)
    # Devices 0 and 1 are in rack 0, 2 and 3 in rack 1. The first set moves within rack 0, the
    # second from rack 0 to rack 1.
    racks = [0, 0, 1, 1]
    result = compare([[0, 2], [0, 2]], [[1, 2], [3, 2]], levels={"rack": (racks, racks)})
    assert result.moved == 2.0
    rack = result.levels[1]
    assert (rack.level, rack.moved) == ("rack", 1.0)
    assert (rack.gained.tolist(), rack.lost.tolist()) == ([0.0, 1.0], [1.0, 0.0])


def test_the_least_to_move_is_what_shares_grow_by() -> None:
    # Four devices become five of equal weight: the fifth's share grows from 0 to 1/5, the others'
    # shrink. Of 20 copies at least 4 move. A placement that renames all devices moves all.
    before = [[device] for device in range(4)] * 5
    after = [[device] for device in range(5)] * 4
    result = compare(before, after, weights=([1] * 4, [1] * 5))
    assert result.least_by_weight == pytest.approx(4.0)
    assert result.least_by_load == 4.0
    assert result.moved >= result.least_by_weight
    assert result.over_least == pytest.approx(result.moved / 4.0)
    assert compare(before, before, weights=([1] * 4, [1] * 4)).over_least is None


@given(rows)
def test_the_plain_count_agrees_and_the_way_back_moves_it_out_again(
    pairs: list[tuple[list[int], list[int]]],
) -> None:
    before, after = [one for one, _ in pairs], [other for _, other in pairs]
    moved = 0
    for one, other in pairs:
        more = Counter(device for device in other if device >= 0)
        more.subtract(device for device in one if device >= 0)
        moved += sum(count for count in more.values() if count > 0)
    assert compare(before, after).moved == moved
    there, back = compare(before, after).levels[0], compare(after, before).levels[0]
    assert np.array_equal(there.gained, back.lost)
    assert np.array_equal(there.lost, back.gained)
    # No placement changes the loads by more than it moves.
    assert compare(before, after).least_by_load <= there.moved


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(before=[[0]], after=[[0], [1]]), "before has 1 sets and after 2"),
        (dict(before=[[0]], after=[[1]], set_bytes=[1, 2]), "set_bytes has the shape (2,)"),
        (
            dict(before=[[0]], after=[[3]], levels={"rack": ([0], [0])}),
            "a set names device 3, and the level says the part of 1 devices",
        ),
    ],
)
def test_what_cannot_be_compared_is_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compare(**arguments)  # type: ignore[arg-type]
    assert words in str(caught.value)
