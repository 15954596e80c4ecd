"""What a failure asks for, in plain Python: every file, every object, before and after.

Nothing is inverted or skipped: each object of the population is placed twice, once on all servers
and once without those that failed, and the two sets are compared (docs/models/population.md,
docs/models/placement.md, docs/models/rebuild.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from resilver.simulate import CrushMap
from resilver.spec import System
from tests.reference.draws import Stream, draw_block, jenkins_of_two, mix, share, upper_half
from tests.reference.layouts import layout_of

OBJECTS_A_FILE = 2**28
"""An object's identifier is its file's number times this, and its place in the file."""


@dataclass
class Pull:
    """One object that one new home fetches.

    Attributes:
        object: The object's identifier.
        size: Its bytes.
        destination: The new home.
        holders: The survivors that may be asked, in placement order.
        replaces_lost: Whether it replaces a lost copy; otherwise a copy moves that was not lost.
    """

    object: int
    size: int
    destination: int
    holders: list[int]
    replaces_lost: bool


@dataclass
class Losses:
    """What the failure did, and the pulls it asks for in the order of the population."""

    files: int = 0
    objects: int = 0
    bytes: int = 0
    affected_objects: int = 0
    unrecoverable_objects: int = 0
    undersized_copies: int = 0
    affected_groups: int = 0
    groups_gained: Counter[int] = field(default_factory=Counter)
    pulls: list[Pull] = field(default_factory=list)


def file_sizes(system: System, seed: int) -> Iterator[int]:
    """The sizes of the files, in order, up to the end of the population.

    File i takes block i of the stream "filesize": the first word chooses a bin in proportion to its
    count, the second a size within it. Files end at their number, or before the one that would take
    the total past the volume.
    """
    bins = system.histogram_bins
    count = sum(bin.file_count for bin in bins)
    volume, total, index = system.population_target_bytes, 0, 0
    while volume is not None or index < (system.population_target_files or 0):
        bin_word, size_word, _, _ = draw_block(seed, "filesize", 0, index)
        rank = share(bin_word, count)
        for bin in bins:
            if rank < bin.file_count:
                break
            rank -= bin.file_count
        size = max(1, bin.min_bytes + share(size_word, bin.max_bytes - bin.min_bytes))
        total, index = total + size, index + 1
        if volume is not None and total > volume:
            return
        yield size


def object_sizes(system: System, size: int) -> list[int]:
    """The sizes of the objects of one file, in order."""
    if system.chunk_bytes is not None:
        chunk = system.chunk_bytes
        return [min(chunk, size - start) for start in range(0, size, chunk)]
    if system.stripe_unit_bytes is None:
        return [size]
    # Units are dealt to the objects in turn; the last unit may be short.
    unit, dealt = system.stripe_unit_bytes, [0] * (system.stripe_width or 1)
    for turn, start in enumerate(range(0, size, unit)):
        dealt[turn % len(dealt)] += min(unit, size - start)
    return [amount for amount in dealt if amount]


def failed_servers(system: System, seed: int) -> set[int]:
    """The servers that fail: those named, and those drawn."""
    servers, failed = system.server_count, set()
    counts = {"servers": servers, "racks": system.cluster.racks, "rows": system.cluster.rows}
    # What is drawn is drawn among what is still whole once the named ones have failed.
    order = sorted(enumerate(system.faults), key=lambda one: isinstance(one[1].fail.targets, int))
    for number, fault in order:
        size = servers // (counts[fault.fail.kind] or 1)
        members = [range(first, first + size) for first in range(0, servers, size)]
        targets = fault.fail.targets
        if isinstance(targets, int):
            whole = [group for group in members if failed.isdisjoint(group)]
            chosen = choose(seed, number, whole, targets)
        else:
            chosen = [members[int(name.split(".")[1])] for name in targets]
        failed.update(server for group in chosen for server in group)
    return failed


def choose(seed: int, fault: int, urn: list[Any], count: int) -> list[Any]:
    """What fault number `fault` draws: the beginning of a shuffle, by its stream of "failure"."""
    stream = Stream(seed, "failure", fault)
    for place in range(min(count, len(urn))):
        other = place + stream.below(len(urn) - place)
        urn[place], urn[other] = urn[other], urn[place]
    return urn[:count]


# What each release's tunables are, in the words of `crushtool`; those left out are zero.
_NO_LOCAL_TRIES = {"choose_total_tries": 50, "chooseleaf_descend_once": 1}
TUNABLES = {
    "argonaut": {
        "choose_local_tries": 2,
        "choose_local_fallback_tries": 5,
        "choose_total_tries": 19,
    },
    "bobtail": _NO_LOCAL_TRIES,
    "firefly": {**_NO_LOCAL_TRIES, "chooseleaf_vary_r": 1},
    "hammer": {**_NO_LOCAL_TRIES, "chooseleaf_vary_r": 1, "straw_calc_version": 1},
    "jewel": {
        **_NO_LOCAL_TRIES,
        "chooseleaf_vary_r": 1,
        "chooseleaf_stable": 1,
        "straw_calc_version": 1,
    },
}
TUNABLE_NAMES = (
    "choose_local_tries",
    "choose_local_fallback_tries",
    "choose_total_tries",
    "chooseleaf_descend_once",
    "chooseleaf_vary_r",
    "chooseleaf_stable",
    "straw_calc_version",
)


def crush_text(system: System) -> str:
    """The map of a synthetic cluster as `crushtool -d` would write it.

    Servers weigh 1 each; the root is bucket -1, racks follow from -2 on, then rows.
    """
    placement, servers = system.placement, system.server_count
    assert placement is not None
    chosen = TUNABLES[placement.tunables or "jewel"]
    lines = [f"tunable {name} {chosen.get(name, 0)}" for name in TUNABLE_NAMES]
    lines += [f"device {server} server.{server}" for server in range(servers)]
    lines += [f"type {number} {kind}" for number, kind in enumerate(("server", "rack", "row"))]
    lines += ["type 3 root"]
    inside = [(f"server.{server}", 1) for server in range(servers)]
    number = -1
    for kind, count in (("rack", system.cluster.racks), ("row", system.cluster.rows)):
        if count is None:
            continue
        share_of_each, outside = len(inside) // count, []
        for index in range(count):
            number -= 1
            items = inside[index * share_of_each : (index + 1) * share_of_each]
            lines.append(_bucket(kind, f"{kind}.{index}", number, placement.bucket, items))
            outside.append((f"{kind}.{index}", sum(weight for _, weight in items)))
        inside = outside
    lines.append(_bucket("root", "default", -1, placement.bucket, inside))
    domain = system.failure_domain
    step = "choose" if domain == "server" else "chooseleaf"
    lines.append(
        "rule replicated { id 0 type replicated min_size 1 max_size 100 "
        f"step take default step {step} firstn 0 type {domain} step emit }}"
    )
    return "\n".join(lines)


def _bucket(
    kind: str, name: str, number: int, alg: str | None, items: list[tuple[str, int]]
) -> str:
    inside = " ".join(f"item {item} weight {weight}.000" for item, weight in items)
    return f"{kind} {name} {{ id {number} alg {alg} hash 0 {inside} }}"


class Crush:
    """CRUSH: the map is written here, and `CrushMap` draws from it."""

    def __init__(self, system: System) -> None:
        self.servers, self.copies = system.server_count, system.copies or 1
        self.map = CrushMap.from_text(crush_text(system))

    def place(self, crush_input: int, out: Set[int]) -> list[int]:
        """The servers of an input's copies; servers that are out have reweight zero."""
        reweight = [0 if server in out else 0x10000 for server in range(self.servers)]
        chosen = self.map.map_rule(
            0, np.array([crush_input], np.uint32), self.copies, np.array(reweight, np.uint32)
        )
        return [int(server) for server in chosen[0] if server >= 0]


class Layout:
    """Where each object is: through its placement group, or by itself."""

    def __init__(self, system: System, seed: int) -> None:
        assert system.placement is not None
        self.is_crush = system.placement.algorithm == "crush"
        self.groups = system.placement_group_count
        place = Crush(system).place if self.is_crush else layout_of(system, seed)
        # A group's set is asked for once an object.
        self.place = cache(place)

    def group_of(self, number: int) -> int | None:
        """The group of an object: the lower half of its hash, modulo the number of groups."""
        return None if self.groups is None else mix(number) % 2**32 % self.groups

    def set_of_group(self, group: int, out: frozenset[int]) -> list[int]:
        """The servers of a group's copies.

        With CRUSH, groups belong to pool 1, whose number is hashed in with theirs. Under the other
        algorithms, a group stands like an object of that number.
        """
        return self.place(jenkins_of_two(group, 1) if self.is_crush else group, out)

    def set_of_object(self, number: int, out: frozenset[int]) -> list[int]:
        """The servers of an object's copies."""
        group = self.group_of(number)
        if group is not None:
            return self.set_of_group(group, out)
        return self.place(upper_half(mix(number)) if self.is_crush else number, out)


def find_losses(system: System, seed: int) -> Losses:
    """What was lost, and who has to fetch what.

    Raises:
        AssertionError: An object that lost nothing would move, which no placement may do.
    """
    losses, layout = Losses(), Layout(system, seed)
    failed = frozenset(failed_servers(system, seed))
    for file, file_size in enumerate(file_sizes(system, seed)):
        losses.files += 1
        losses.bytes += file_size
        for place, size in enumerate(object_sizes(system, file_size)):
            losses.objects += 1
            number = file * OBJECTS_A_FILE + place
            before = layout.set_of_object(number, frozenset())
            after = layout.set_of_object(number, failed)
            if failed.isdisjoint(before):
                assert after == before, f"object {number} moves from {before} to {after}"
                continue
            losses.affected_objects += 1
            relocate(system, seed, (number, size), (before, after), failed, losses)
    for group in range(layout.groups or 0):
        before = layout.set_of_group(group, frozenset())
        if not failed.isdisjoint(before):
            losses.affected_groups += 1
            losses.groups_gained.update(set(layout.set_of_group(group, failed)) - set(before))
    return losses


def relocate(
    system: System,
    seed: int,
    object_and_size: tuple[int, int],
    sets: tuple[list[int], list[int]],
    failed: frozenset[int],
    losses: Losses,
) -> None:
    """List the pulls of one affected object, and count what cannot be restored."""
    (number, size), (before, after) = object_and_size, sets
    survivors = [server for server in before if server not in failed]
    homes = [server for server in after if server not in before]
    lost = len(before) - len(survivors)
    if not survivors:
        losses.unrecoverable_objects += 1
        return
    # A survivor that leaves the set needs a home as much as a lost copy does, and is served first.
    leaving = [server for server in survivors if server not in after]
    rebuilt = min(lost, max(0, len(homes) - len(leaving)))
    losses.undersized_copies += lost - rebuilt
    holders = survivors
    if system.recovery.source == "primary":
        holders = survivors[:1]
    elif system.recovery.source == "random":
        holders = [survivors[Stream(seed, "source", number).below(len(survivors))]]
    for rank, home in enumerate(homes):
        losses.pulls.append(Pull(number, size, home, holders, rank < rebuilt))
