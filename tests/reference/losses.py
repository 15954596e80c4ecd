"""What failures touch, in plain Python: every file, every object, before and after.

Nothing is inverted or skipped: each object of the population is placed on all servers, and once for
each time at which servers fail without those that have, and the sets are compared
(docs/models/population.md, docs/models/placement.md, docs/models/rebuild.md).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from resilver.crush import CrushMap
from resilver.spec import System
from resilver.spec.tree import plural
from tests.reference.ceph_rows import crush_bucket
from tests.reference.draws import (
    HALF_WORD,
    WORD,
    Stream,
    draw_block,
    jenkins_of_two,
    mix,
    share,
    upper_half,
)
from tests.reference.layouts import layout_of

OBJECTS_A_FILE = 2**28
"""An object's identifier is its file's number times this, and its place in the file."""


@dataclass
class Subject:
    """One object that some failure touches.

    Attributes:
        object: The object's identifier.
        size: Its bytes.
        before: The devices of its copies before anything failed, in placement order.
        after: Those once the devices of each stage have failed.
        copies: How many copies its pool asks for.
    """

    object: int
    size: int
    before: list[int]
    after: list[list[int]]
    copies: int


@dataclass
class Losses:
    """The population, and the objects that failures touch in its order."""

    files: int = 0
    objects: int = 0
    bytes: int = 0
    affected_groups: int = 0
    groups_gained: Counter[int] = field(default_factory=Counter)
    subjects: list[Subject] = field(default_factory=list)


Span = tuple[int, int | None]
"""From when to when a device is gone, in picoseconds; None where it never comes back."""


def stages_of(gone: dict[int, list[Span]]) -> list[tuple[int, frozenset[int]]]:
    """The times at which devices fail or come back, each with all that are gone from then on.

    At one time devices come back before others fail.
    """
    ends = {(end, 0) for spans in gone.values() for _, end in spans if end is not None}
    begins = {(begin, 1) for spans in gone.values() for begin, _ in spans}

    def is_gone(span: Span, now: int, has_begun: int) -> bool:
        return span[0] < now + has_begun and (span[1] is None or now < span[1])

    return [
        (now, frozenset(one for one in gone if any(is_gone(span, now, rank) for span in gone[one])))
        for now, rank in sorted(ends | begins)
    ]


def joined(spans: list[Span]) -> list[Span]:
    """Spans in their order, those that meet or overlap as one."""
    all_spans: list[Span] = []
    for begin, end in sorted(spans, key=lambda span: span[0]):
        last = all_spans[-1] if all_spans else None
        if last is None or (last[1] is not None and last[1] < begin):
            all_spans.append((begin, end))
        elif last[1] is not None:
            all_spans[-1] = (last[0], None if end is None else max(last[1], end))
    return all_spans


NARROW_WIDTH = 2**16
"""Sizes of the widest bin whose files need one word."""


def file_sizes(system: System, seed: int) -> Iterator[int]:
    """The sizes of the files, in order, up to the end of the population.

    File i takes draw i of the stream "filesize", entity 0: it chooses a bin in proportion to its
    count, and a size within it where the bin is narrow; else draw i of entity 1 chooses the size.
    Files end at their number, or before the one that would take the total past the volume.
    """
    volume, total, index = system.population_target_bytes, 0, 0
    while volume is not None or index < (system.population_target_files or 0):
        size = max(1, _size_of(system, seed, index))
        total, index = total + size, index + 1
        if volume is not None and total > volume:
            return
        yield size


def _size_of(system: System, seed: int, file: int) -> int:
    block, lane = divmod(file, 4)
    word = draw_block(seed, "filesize", 0, block)[lane]
    bins = system.histogram_bins
    count, counted = sum(bin.file_count for bin in bins), 0
    for bin in bins:
        # A bin's words begin where its first file's share of all words does.
        begin, counted = -(-counted * WORD // count), counted + bin.file_count
        end = -(-counted * WORD // count)
        if word < end:
            break
    width = bin.max_bytes - bin.min_bytes
    if width > NARROW_WIDTH or end - begin < HALF_WORD:
        return bin.min_bytes + share(draw_block(seed, "filesize", 1, block)[lane], width)
    # The leading 32 bits of the place among the bin's words, times a factor of 32 bits.
    dropped = (end - begin - 1).bit_length() - 32
    places = ((end - begin - 1) >> dropped) + 1
    scale = max(s for s in range(64) if (width << s) // places < HALF_WORD)
    return bin.min_bytes + (((word - begin) >> dropped) * ((width << scale) // places) >> scale)


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


def failed_servers(system: System, seed: int) -> dict[int, list[Span]]:
    """When the servers are gone that fail: those named, and those drawn."""
    servers = system.server_count
    counts = {"servers": servers, "racks": system.cluster.racks, "rows": system.cluster.rows}
    members_of = {
        kind: {
            f"{kind[:-1]}.{number}": tuple(
                range(servers // count * number, servers // count * (number + 1))
            )
            for number in range(count)
        }
        for kind, count in counts.items()
        if count
    }
    gone: dict[int, list[Span]] = {}
    # What is drawn is drawn among what no fault names, and no earlier draw has taken.
    order = sorted(
        enumerate(system.faults),
        key=lambda one: (isinstance(one[1].broken.targets, int), one[1].at),
    )
    for number, fault in order:
        members, targets = members_of[plural(fault.broken.level)], fault.broken.targets
        if isinstance(targets, int):
            whole = [group for group in sorted(members.values()) if gone.keys().isdisjoint(group)]
            chosen = choose(seed, number, whole, targets)
        else:
            chosen = [members[name] for name in targets]
        until = fault.broken.until
        end = None if until is None else round(Fraction(float(until)) * 10**12)
        for device in (device for group in chosen for device in group):
            gone.setdefault(device, []).append((round(Fraction(float(fault.at)) * 10**12), end))
    return {device: joined(spans) for device, spans in gone.items()}


def choose(seed: int, fault: int, urn: list[Any], count: int) -> list[Any]:
    """What fault number `fault` draws: the beginning of a shuffle, by its stream of "failure"."""
    stream = Stream(seed, "failure", fault)
    for place in range(min(count, len(urn))):
        other = place + stream.below(len(urn) - place)
        urn[place], urn[other] = urn[other], urn[place]
    return urn[:count]


# What each release's tunables are, in the words of `crushtool`; those left out are zero.
_LOCAL_TRIES = {"choose_local_tries": 2, "choose_local_fallback_tries": 5}
_BOBTAIL = {"choose_total_tries": 50, "chooseleaf_descend_once": 1}
_FIREFLY = {**_BOBTAIL, "chooseleaf_vary_r": 1}
_HAMMER = {**_FIREFLY, "straw_calc_version": 1}
TUNABLES = {
    "argonaut": {**_LOCAL_TRIES, "choose_total_tries": 19},
    "bobtail": _BOBTAIL,
    "firefly": _FIREFLY,
    "hammer": _HAMMER,
    "jewel": {**_HAMMER, "chooseleaf_stable": 1},
}
TUNABLE_NAMES = [*_LOCAL_TRIES, *TUNABLES["jewel"]]


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
    number, bucket = -1, placement.bucket or ""
    for kind, count in (("rack", system.cluster.racks), ("row", system.cluster.rows)):
        if count is None:
            continue
        share_of_each, outside = len(inside) // count, []
        for index in range(count):
            number -= 1
            items = inside[index * share_of_each : (index + 1) * share_of_each]
            lines += _bucket(kind, f"{kind}.{index}", number, bucket, items)
            outside.append((f"{kind}.{index}", sum(weight for _, weight in items)))
        inside = outside
    lines += _bucket("root", "default", -1, bucket, inside)
    domain = system.failure_domain
    step = "choose" if domain == "server" else "chooseleaf"
    lines.append(
        "rule replicated { id 0 type replicated min_size 1 max_size 100 "
        f"step take default step {step} firstn 0 type {domain} step emit }}"
    )
    return "\n".join(lines)


def _bucket(kind: str, name: str, number: int, alg: str, items: list[tuple[str, int]]) -> list[str]:
    inside = [f"item {item} weight {weight}.000" for item, weight in items]
    return crush_bucket(kind, name, number, inside, alg)


def by_crush(system: System) -> Callable[[int, Set[int]], list[int]]:
    """CRUSH: the map is written here, and `CrushMap` draws from it."""
    crush = CrushMap.from_text(crush_text(system))

    def place(crush_input: int, out: Set[int]) -> list[int]:
        """The servers of an input's copies; servers that are out have reweight zero."""
        reweight = [0 if server in out else 0x10000 for server in range(system.server_count)]
        inputs = np.array([crush_input], np.uint32)
        chosen = crush.map_rule(0, inputs, system.copies or 1, np.array(reweight, np.uint32))
        return [int(server) for server in chosen[0] if server >= 0]

    return place


class Layout:
    """Where each object is: through its placement group, or by itself."""

    def __init__(self, system: System, seed: int) -> None:
        assert system.placement is not None
        self.is_crush = system.placement.algorithm == "crush"
        self.groups = system.placement_group_count
        place = by_crush(system) if self.is_crush else layout_of(system, seed)
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
    """The population and what failures touch of it.

    Raises:
        AssertionError: An object that lost nothing would move, which no placement may do.
    """
    losses, layout = Losses(), Layout(system, seed)
    stages = [failed for _, failed in stages_of(failed_servers(system, seed))]
    ever = frozenset().union(*stages)
    for file, file_size in enumerate(file_sizes(system, seed)):
        losses.files += 1
        losses.bytes += file_size
        for place, size in enumerate(object_sizes(system, file_size)):
            losses.objects += 1
            number = file * OBJECTS_A_FILE + place
            before = layout.set_of_object(number, frozenset())
            after = [layout.set_of_object(number, failed) for failed in stages]
            for failed, moved in zip(stages, after, strict=True):
                if failed.isdisjoint(before):
                    assert moved == before, f"object {number} moves from {before} to {moved}"
            if not ever.isdisjoint(before):
                losses.subjects.append(Subject(number, size, before, after, system.copies or 1))
    for group in range(layout.groups or 0):
        before = layout.set_of_group(group, frozenset())
        if not ever.isdisjoint(before):
            losses.affected_groups += 1
            losses.groups_gained.update(set(layout.set_of_group(group, ever)) - set(before))
    return losses
