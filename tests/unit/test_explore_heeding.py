"""Controls that heed each other are found by trying them together."""

from __future__ import annotations

from typing import Any

from resilver.explore.heeding import Heeding
from resilver.explore.patches import Patch, changes_between, patched


def test_controls_that_heed_each_other_are_found() -> None:
    """Of four, the product of two is in the input, and two are refused together."""

    def make(chosen: Any) -> Any:
        first, second, third, fourth = (chosen.get(one, 0) for one in range(4))
        if (third, fourth) == (2, 1):
            return None
        return {"a": first, "b": second, "both": first * second, "c": third, "d": fourth}

    base = make({})
    stops = [3, 3, 3, 2]
    patches: list[list[list[Patch]]] = [
        [changes_between(base, make({one: stop})) for stop in range(count)]
        for one, count in enumerate(stops)
    ]
    found = Heeding(patches, [0] * 4, make, lambda chosen: make(chosen) is None, 100, 50)
    assert found.groups == [(0, 1), (2,), (3,)]
    assert found.kept == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0]]
    both = found.patches_of({0: 2, 1: 2})
    assert both is not None and patched(base, both)["both"] == 4


def test_a_group_keeps_the_ends_and_how_things_are() -> None:
    """Of 10 x 10 combinations, 20 are too many by 4 stops of one and 6 of the other or so."""

    def make(chosen: Any) -> Any:
        return {"both": [chosen.get(0, 4), chosen.get(1, 4)]}

    patches = [[changes_between(make({}), make({one: at})) for at in range(10)] for one in (0, 1)]
    found = Heeding(patches, [4, 4], make, lambda _: False, 20, 10)
    assert found.groups == [(0, 1)]
    assert len(found.combinations((0, 1))) <= 20
    assert all({0, 4, 9} <= set(kept) for kept in found.kept)
