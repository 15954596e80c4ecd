"""Layouts beside CRUSH in plain Python (docs/models/layouts.md): where the copies of a number are.

Each states what it does for one number and the servers that are out. Nothing is prepared but what
the layout is made of, and nothing is shared with the core but which servers make up a parity group.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cache
from math import ceil

from resilver.simulate import parity_group_balance, place_objects
from resilver.spec import System
from tests.reference.draws import WORD, mix, share, upper_half

STEP = 0xD6E8FEB86659FD93
POINT_SALT = 0x6A09E667F3BCC908
EXTRA_DRAWS = 50


def draw(number: int, attempt: int) -> int:
    """Draw number `attempt` of an object; draw 0 is its hash."""
    return mix(number ^ attempt * STEP % WORD)


class Words:
    """The random words of one stream of a seed."""

    def __init__(self, seed: int, stream: int) -> None:
        self.key = mix(mix(seed) ^ stream * STEP % WORD)
        self.next = 0

    def below(self, limit: int) -> int:
        """The next word, scaled."""
        word = mix(self.key ^ self.next * STEP % WORD)
        self.next += 1
        return share(word, limit)


class Cluster:
    """What every layout knows: how many servers there are, their domains, and the copies."""

    def __init__(self, system: System, seed: int) -> None:
        assert system.placement is not None
        self.system, self.placement, self.seed = system, system.placement, seed
        self.servers, self.copies = system.server_count, system.copies or 1
        counts = {"server": self.servers, "rack": system.cluster.racks, "row": system.cluster.rows}
        self.domains = counts[system.failure_domain or "server"] or 1

    def domain(self, server: int) -> int:
        """The failure domain of a server."""
        return server // (self.servers // self.domains)

    def take(self, candidates: Iterable[int], out: Set[int], found: list[int], most: int) -> None:
        """Add servers that are in and in new domains, in order, until there are `most`."""
        for server in candidates:
            if len(found) >= most:
                return
            used = {self.domain(other) for other in found}
            if server not in out and self.domain(server) not in used:
                found.append(server)

    def placed(self, candidates: Iterable[int], out: Set[int]) -> list[int]:
        """The servers of all copies, where nothing but candidates decides."""
        found: list[int] = []
        self.take(candidates, out, found, self.copies)
        return found

    def around(self, first: int) -> Iterator[int]:
        """All servers, from one on."""
        return ((first + step) % self.servers for step in range(self.servers))


Place = Callable[[int, Set[int]], list[int]]


def ring_points(servers: int, points: int, ring: int = 0) -> list[tuple[int, int]]:
    """The points of a ring with their servers, in order."""
    return sorted(
        (upper_half(mix((server * 2**32 + point) ^ POINT_SALT ^ ring * STEP % WORD)), server)
        for server in range(servers)
        for point in range(points)
    )


def on_from(points: list[tuple[int, int]], position: int) -> Iterator[int]:
    """The servers of all points, once around, from the first at or after a position."""
    first = bisect_left(points, (position, 0))
    return (points[(first + step) % len(points)][1] for step in range(len(points)))


def half_draw(number: int, attempt: int) -> int:
    """The position of a number's draw on a ring: two halves of one hash, then of the next."""
    word = draw(number, attempt // 2)
    return word % 2**32 if attempt % 2 else upper_half(word)


def ring(cluster: Cluster) -> Place:
    """A hash ring: each copy by a position of its own, or all along from one.

    With successors, copies go on along the ring from the number's own position. Otherwise each has
    a position of its own, from which it goes on along the ring where it meets a domain found
    before. Copies whose servers are out go on along the ring from one position more.
    """
    points = ring_points(cluster.servers, cluster.placement.ring_points or 0)
    successors = cluster.placement.ring_walk == "successors"
    copies = cluster.copies

    def place(number: int, out: Set[int]) -> list[int]:
        found: list[int] = []
        for copy in range(0 if successors else copies):
            along = on_from(points, half_draw(number, copy))
            cluster.take(along, frozenset(), found, len(found) + 1)
        kept = [server for server in found if server not in out]
        last = 0 if successors else copies
        cluster.take(on_from(points, half_draw(number, last)), out, kept, copies)
        return kept

    return place


def multi_ring(cluster: Cluster) -> Place:
    """Copy c on ring c; a lost copy goes on along its ring once the others have their places."""
    count = cluster.system.ring_count or 1
    points = cluster.placement.ring_points or 0
    rings = [ring_points(cluster.servers, points, ring) for ring in range(count)]

    def place(number: int, out: Set[int]) -> list[int]:
        def along(copy: int) -> Iterator[int]:
            return on_from(rings[copy % count], upper_half(draw(number, 0)))

        before: list[int] = []
        for copy in range(cluster.copies):
            cluster.take(along(copy), set(), before, copy + 1)
        found = [server for server in before if server not in out]
        for copy, server in enumerate(before):
            if server in out:
                cluster.take(along(copy), out, found, len(found) + 1)
        return found

    return place


def rendezvous(cluster: Cluster) -> Place:
    """The greatest hashes of object and server win."""

    def place(number: int, out: Set[int]) -> list[int]:
        def bid(server: int) -> int:
            return mix(draw(number, 0) ^ mix(WORD - 1 - server))

        best_first = sorted(range(cluster.servers), key=lambda server: (-bid(server), server))
        return cluster.placed(best_first, out)

    return place


def xor(cluster: Cluster) -> Place:
    """The nearest identifiers by exclusive or."""
    identifiers = ring_points(cluster.servers, cluster.placement.ring_points or 0)

    def place(number: int, out: Set[int]) -> list[int]:
        target = upper_half(draw(number, 0))
        nearest = sorted(identifiers, key=lambda one: (one[0] ^ target, one[1]))
        return cluster.placed((server for _, server in nearest), out)

    return place


def modulo(cluster: Cluster) -> Place:
    """The hash modulo the servers, and those that follow."""

    def place(number: int, out: Set[int]) -> list[int]:
        return cluster.placed(cluster.around(draw(number, 0) % cluster.servers), out)

    return place


def jump_bucket(key: int, buckets: int) -> int:
    """Lamping and Veach's jump consistent hash."""
    bucket, following = 0, 0
    while following < buckets:
        bucket = following
        key = (key * 2862933555777941757 + 1) % WORD
        following = int((bucket + 1) * (2.0**31 / ((key >> 33) + 1)))
    return bucket


def jump(cluster: Cluster) -> Place:
    """Each draw's bucket in turn, and all servers behind the last draw."""

    def place(number: int, out: Set[int]) -> list[int]:
        draws = cluster.copies + EXTRA_DRAWS
        buckets = [jump_bucket(draw(number, i), cluster.servers) for i in range(draws + 1)]
        return cluster.placed([*buckets[:-1], *cluster.around(buckets[-1])], out)

    return place


def parity_group(number: int, groups: int, width: int) -> tuple[int, int]:
    """Which parity group an object is in, and at which of its servers it begins."""
    return share(draw(number, 0), groups), share(draw(number, 1), width)


def declustered(cluster: Cluster) -> Place:
    """An object's group by its hash, begun at any of its servers; a lost copy draws a new one.

    Which servers a group has is learned from the first object in it: every other object must be
    there as well. That groups share pairs of servers evenly is a test of its own.
    """
    width, count = cluster.copies, parity_group_balance(cluster.system).groups
    groups: dict[int, list[int]] = {}

    def place(number: int, out: Set[int]) -> list[int]:
        chosen, first = parity_group(number, count, width)
        if chosen not in groups:
            (row,) = place_objects(cluster.system, cluster.seed, number, 1).tolist()
            groups[chosen] = row[width - first :] + row[: width - first]
        before = groups[chosen][first:] + groups[chosen][:first]
        found = [server for server in before if server not in out]
        attempts = range(2, 2 + width + EXTRA_DRAWS)
        draws = [share(draw(number, attempt), cluster.servers) for attempt in attempts]
        cluster.take([*draws, *cluster.around(draws[-1])], out, found, width)
        return found

    return place


def copyset_table(cluster: Cluster) -> list[list[int]]:
    """Random permutations cut into sets, whose servers lie in different domains."""
    width, sets = cluster.copies, []
    scatter = cluster.placement.scatter_width or 1
    for permutation in range(ceil(scatter / (width - 1)) if width > 1 else 1):
        words = Words(cluster.seed, permutation)
        order = list(range(cluster.servers))
        for place in range(cluster.servers):
            other = place + words.below(cluster.servers - place)
            order[place], order[other] = order[other], order[place]
        waiting: dict[int, list[int]] = {}
        for place, server in enumerate(order):
            waiting.setdefault(cluster.domain(server), []).append(place)
        for _ in range(cluster.servers // width):
            # The domains with the most servers left, and of equal ones those that come first.
            left = [domain for domain in waiting if waiting[domain]]
            chosen = sorted(left, key=lambda one: (-len(waiting[one]), waiting[one][0]))[:width]
            if len(chosen) < width:
                break
            sets.append([order[place] for place in sorted(waiting[one].pop(0) for one in chosen)])
    return sets


def copysets(cluster: Cluster) -> Place:
    """A primary by one draw, one of its sets by another; every set has its own replacements."""
    sets = copyset_table(cluster)
    primaries = sorted({server for members in sets for server in members})
    sets_of = {
        primary: [number for number, members in enumerate(sets) if primary in members]
        for primary in primaries
    }

    def place(number: int, out: Set[int]) -> list[int]:
        primary = primaries[share(draw(number, 0), len(primaries))]
        mine = sets_of[primary]
        chosen = mine[share(draw(number, 1), len(mine))]
        members = sets[chosen]
        before = [primary] + [server for server in members if server != primary]
        found = [server for server in before if server not in out]
        words = Words(cluster.seed, 2**32 + chosen)
        draws = [words.below(cluster.servers) for _ in range(cluster.copies + EXTRA_DRAWS)]
        unfit = set(out) | set(members)
        cluster.take([*draws, *cluster.around(draws[-1])], unfit, found, cluster.copies)
        return found

    return place


def groups(cluster: Cluster) -> Place:
    """A group by the first draw, its members in the order of a shuffle by the further ones.

    Distributed spare room: those that are out drop out of the order. Dedicated: the last members
    hold nothing until others fail, one after another as `out` lists them.
    """
    size = cluster.placement.group_size or 1
    spares = cluster.placement.spares or 0

    def place(number: int, out: Set[int]) -> list[int]:
        first = size * share(draw(number, 0), cluster.servers // size)
        order = list(range(first, first + size - spares))
        for place in range(len(order)):
            other = place + share(draw(number, 1 + place), len(order) - place)
            order[place], order[other] = order[other], order[place]
        if not spares:
            return cluster.placed(order, out)
        found = cluster.placed(order, frozenset())
        holder = {member: member for member in order}
        free = list(range(first + size - spares, first + size))
        for failed in out:
            free = [spare for spare in free if spare != failed]
            for member in [member for member, by in holder.items() if by == failed]:
                del holder[member]
                if free:
                    holder[member] = free.pop(0)
        kept = [member for member in found if holder.get(member) == member]
        for member in found:
            if holder.get(member, member) != member:
                cluster.take([holder[member]], frozenset(), kept, cluster.copies)
        return kept

    return place


LAYOUTS: dict[str, Callable[[Cluster], Place]] = {
    "ring": ring,
    "multi_ring": multi_ring,
    "rendezvous": rendezvous,
    "xor": xor,
    "modulo": modulo,
    "jump": jump,
    "declustered": declustered,
    "copysets": copysets,
    "groups": groups,
}


@cache
def layout_of(system: System, seed: int) -> Place:
    """The layout of a system, made once."""
    assert system.placement is not None
    return LAYOUTS[system.placement.algorithm](Cluster(system, seed))
