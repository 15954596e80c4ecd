"""Fixed groups of servers: where pieces are, where they go, and what is refused."""

from functools import partial
from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from resilver.simulate import place_objects
from resilver.spec import System
from tests.reference.layouts import layout_of
from tests.unit.test_layouts import sets_of, system

in_groups = partial(system, algorithm="groups")


def rows_of(at: System, first: int, count: int, failed: list[int]) -> list[list[int]]:
    return sets_of(place_objects(at, 1, first, count, failed))


@settings(max_examples=60)
@given(
    groups=st.integers(1, 5),
    size=st.integers(1, 70),
    pieces=st.integers(1, 16),
    spares=st.integers(0, 3),
    first=st.integers(0, 2**63),
    order=st.lists(st.integers(0, 349), max_size=12, unique=True),
)
def test_pieces_are_where_the_plain_twin_puts_them(
    groups: int, size: int, pieces: int, spares: int, first: int, order: list[int]
) -> None:
    # Rule: for any groups, spares and failures in any order, every object is where the layout's
    # description puts it; sizes on both sides of 64, where the core's permutation has more room.
    spares = min(spares, size - 1)
    pieces = min(pieces, size - spares)
    keys = {"spare": "dedicated", "spares": spares} if spares else {}
    at = in_groups(groups * size, pieces, group_size=size, **keys)
    failed = [server for server in order if server < groups * size]
    place = layout_of(at, 1)
    out = dict.fromkeys(failed).keys()
    expected = [place(number, out) for number in range(first, first + 15)]
    assert rows_of(at, first, 15, failed) == expected


@settings(max_examples=30)
@given(
    racks=st.sampled_from([2, 3, 4, 6, 12]),
    spare=st.sampled_from(["distributed", "dedicated"]),
    failed=st.lists(st.integers(0, 47), max_size=6, unique=True),
)
def test_racks_are_kept_apart(racks: int, spare: str, failed: list[int]) -> None:
    # Rule: pieces lie in different racks before and after failures: two groups of 24 of 48 servers
    # lie in half of the racks each, or in both of two or of three.
    most = {2: 1, 3: 2, 4: 2, 6: 3, 12: 6}[racks]
    # With one spare the last rack of a group of four lacks none: all racks still hold data.
    at = in_groups(48, most, racks, group_size=24, spare=spare)
    place = layout_of(at, 1)
    out = dict.fromkeys(failed).keys()
    rows = rows_of(at, 7, 30, failed)
    assert rows == [place(number, out) for number in range(7, 37)]
    for row in rows:
        assert len({server // (48 // racks) for server in row}) == len(row)
        assert out.isdisjoint(row)


def test_failures_in_turn_move_only_what_they_take() -> None:
    at = in_groups(30, 6, group_size=10, spare="dedicated", spares=2)
    turns = list(accumulate([[3], [9], [12], [7], [8]]))
    for earlier, later in zip([[], *turns], turns, strict=False):
        before, after = rows_of(at, 0, 200, earlier), rows_of(at, 0, 200, later)
        for old, new in zip(before, after, strict=True):
            kept = [server for server in old if server not in later]
            assert [server for server in new if server in old] == kept
