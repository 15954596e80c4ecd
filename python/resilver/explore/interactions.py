"""Which controls of a page heed each other, found by having inputs made for several at once.

Patches of controls that do not heed each other make together what the core's input would be under
all of them. Where they do not, the controls are of one group, and every combination of their stops
is made. Stops that are refused together cannot both be shown: that of the later control goes.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resilver.explore.patches import Patch, changes_between, patched

Chosen = Mapping[int, int]
"""The number of a stop by that of its control; controls that are not in it are as they are."""

Make = Callable[[Chosen], Any]
"""The core's input under some stops; None where they are refused."""

_Stop = tuple[int, int]
"""A control by its number, and one of its stops."""

_Choice = Mapping[tuple[int, ...], Chosen]
"""The stops of each group."""

_SEED = 21
_SOONER = 4
"""How many times as many choices are tried for whether they are refused alone."""
_CANDIDATES = 12
"""Among how many combinations of a group the one with most untried pairs is taken."""


class Heeding:
    """Groups of controls that heed each other.

    Args:
        patches: What each stop of each control changes alone.
        chosen: Which of them is how things are, of each control.
        make: What makes the input.
        is_refused: What tells sooner whether there is none.
        combinations_max: How many combinations of a group are made at the most.
        rounds: How many choices of all controls at once are tried at the most; fewer, where they
            have every two stops of different groups in one of them.
    """

    def __init__(
        self,
        patches: Sequence[Sequence[list[Patch]]],
        chosen: Sequence[int],
        make: Make,
        is_refused: Callable[[Chosen], bool],
        combinations_max: int,
        rounds: int,
    ) -> None:
        self.chosen = list(chosen)
        self.kept = [list(range(len(stops))) for stops in patches]
        self.combinations_max, self.rounds = combinations_max, rounds
        self._make, self._is_refused = make, is_refused
        self._made: dict[frozenset[tuple[int, int]], list[Patch] | None] = {
            frozenset({(one, stop)}): found
            for one, stops in enumerate(patches)
            for stop, found in enumerate(stops)
        }
        self.base = make({})
        self._draw = random.Random(_SEED)
        self.groups: list[tuple[int, ...]] = [(one,) for one in range(len(patches))]
        self._join_overlapping()
        self._try_together(self._is_allowed, rounds * _SOONER)
        self._try_together(self._is_sum, rounds)

    def patches_of(self, choice: Chosen) -> list[Patch] | None:
        """What stops of one group change; None where they are refused together."""
        moved = {one: stop for one, stop in choice.items() if stop != self.chosen[one]}
        key = frozenset(moved.items())
        if key not in self._made:
            made = self._make(moved) if moved else self.base
            self._made[key] = None if made is None else changes_between(self.base, made)
        return self._made[key]

    def combinations(self, group: Sequence[int]) -> list[tuple[int, ...]]:
        """All combinations of the stops that the controls of a group keep."""
        return list(itertools.product(*(self.kept[one] for one in group)))

    def _join(self, groups: Sequence[tuple[int, ...]]) -> None:
        joined = tuple(sorted(itertools.chain.from_iterable(groups)))
        self.groups = sorted([*(one for one in self.groups if one not in groups), joined])
        self._shrink(joined)

    def _join_overlapping(self) -> None:
        """Join what changes the same places, or a place inside another."""
        paths = [
            {patch.path for stop in self.kept[one] for patch in self.patches_of({one: stop}) or ()}
            for one in range(len(self.kept))
        ]
        above = [{path[:end] for path in own for end in range(len(path))} for own in paths]
        for one, other in itertools.combinations(range(len(paths)), 2):
            if paths[one] & (paths[other] | above[other]) or paths[other] & above[one]:
                found = [group for group in self.groups if one in group or other in group]
                if len(found) > 1:
                    self._join(found)

    def _try_together(self, judge: Callable[[_Choice], bool | None], rounds: int) -> None:
        """Join what is not the sum of its parts, and leave out what is refused together."""
        tried: set[tuple[_Stop, _Stop]] = set()
        for _ in range(rounds):
            choice, pairs = self._untried(tried)
            if not pairs:
                return
            while (verdict := judge(choice)) is not True:
                for group in list(choice):
                    fewer = {one: stops for one, stops in choice.items() if one != group}
                    if judge(fewer) is verdict:
                        choice = fewer
                if verdict is None:
                    *_, (one, stop) = self._moved(choice)
                    self.kept[one].remove(stop)
                else:
                    self._join(list(choice))
                choice, pairs = self._untried(tried)
            tried |= pairs

    def _is_allowed(self, choice: _Choice) -> bool | None:
        return None if self._is_refused(dict(self._moved(choice))) else True

    def _untried(
        self, tried: set[tuple[_Stop, _Stop]]
    ) -> tuple[dict[tuple[int, ...], dict[int, int]], set[tuple[_Stop, _Stop]]]:
        """A choice of all controls with many pairs of stops that were in none, and those pairs."""
        choice: dict[tuple[int, ...], dict[int, int]] = {}
        found: set[tuple[_Stop, _Stop]] = set()
        stops: list[_Stop] = []
        order = list(self.groups)
        self._draw.shuffle(order)
        for group in order:
            combinations = self.combinations(group)
            self._draw.shuffle(combinations)
            best: tuple[set[tuple[_Stop, _Stop]], list[_Stop]] = (set(), [])
            for combination in combinations[:_CANDIDATES]:
                own = list(zip(group, combination, strict=True))
                pairs = {(min(a, b), max(a, b)) for a in own for b in stops} - tried
                if not best[1] or len(pairs) > len(best[0]):
                    best = (pairs, own)
            found |= best[0]
            stops += best[1]
            choice[group] = dict(best[1])
        return dict(sorted(choice.items())), found

    def _moved(self, choice: _Choice) -> list[_Stop]:
        """The stops of a choice that are not how things are, by control."""
        together = itertools.chain.from_iterable(stops.items() for stops in choice.values())
        return sorted((one, stop) for one, stop in together if stop != self.chosen[one])

    def _is_sum(self, choice: _Choice) -> bool | None:
        """Whether the patches of several groups make what all their stops make together.

        None where the stops are refused.
        """
        patches = [patch for stops in choice.values() for patch in self.patches_of(stops) or ()]
        made = self._make(dict(self._moved(choice)))
        if made is None:
            return None
        return not changes_between(patched(self.base, patches), made)

    def _shrink(self, group: tuple[int, ...]) -> None:
        """Leave stops out, until all combinations of a group are possible and not too many."""
        while math.prod(len(self.kept[one]) for one in group) > self.combinations_max:
            one = max(group, key=lambda control: (len(self.kept[control]), control))
            kept = self.kept[one]
            inner = [stop for stop in kept[1:-1] if stop != self.chosen[one]]
            others = inner or [stop for stop in kept if stop != self.chosen[one]]
            kept.remove(others[len(others) // 2])
        while refused := [
            combination
            for combination in self.combinations(group)
            if self.patches_of(dict(zip(group, combination, strict=True))) is None
        ]:
            counts: dict[tuple[int, int], int] = {}
            for combination in refused:
                for one, stop in zip(group, combination, strict=True):
                    if stop != self.chosen[one]:
                        counts[one, stop] = counts.get((one, stop), 0) + 1
            one, stop = max(counts, key=lambda at: (counts[at], at))
            self.kept[one].remove(stop)
