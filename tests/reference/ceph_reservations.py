"""Reservations of a Ceph cluster in plain Python: a twin of the core's, claim by claim.

Written from Ceph's `AsyncReserver.h` and `PeeringState.cc`: each OSD has a local and a remote
reserver; a claim takes a local slot of its primary, then a remote slot of each target in turn, and
holds what it has. Every claim moves for a given time once it has all. What the crate's test plays
again is written by `python tests/reference/ceph_reservations.py`.
"""

import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

RETRY = 30
"""Time until a claim that lost a slot on the way asks again."""

CASES = Path(__file__).parents[2] / "crates/ceph/tests/suite/heal/reservations.json"
"""Where the cases of the crate's test are."""


@dataclass
class Claim:
    """Who wants what, for how long; ``has`` are places of ``wants`` that hold a slot."""

    number: int
    wants: list[tuple[str, int]]
    priority: int
    kind: str
    left: int
    serial: int = 0
    asked: int = 0
    has: set[int] = field(default_factory=set)
    began: int | None = None


@dataclass
class Request:
    """A request at a reserver: of which claim and which try of it, for which of its places."""

    claim: Claim
    serial: int
    place: int
    order: int


class Slots:
    """One reserver: a list of holders and a list of those who wait."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.holders: list[Request] = []
        self.waiting: list[Request] = []

    def give(self, heard: list[tuple[str, Request]]) -> None:
        """Grant what can be granted; what is said is added to `heard`."""
        while self.waiting:
            first = min(self.waiting, key=lambda one: (-one.claim.priority, one.order))
            if len(self.holders) >= self.slots:
                lowest = min(self.holders, key=lambda one: (one.claim.priority, one.claim.number))
                if lowest.claim.priority >= first.claim.priority:
                    return
                self.holders.remove(lowest)
                heard.append(("lost", lowest))
            self.waiting.remove(first)
            self.holders.append(first)
            heard.append(("got", first))

    def drop(self, claim: Claim, heard: list[tuple[str, Request]]) -> None:
        """Take a claim off the reserver."""
        self.holders = [one for one in self.holders if one.claim is not claim]
        self.waiting = [one for one in self.waiting if one.claim is not claim]
        self.give(heard)


class Cluster:
    """All reservers, and what happened."""

    def __init__(self, osds: int, slots: int) -> None:
        self.sides = {side: [Slots(slots) for _ in range(osds)] for side in ("local", "remote")}
        self.heard: list[tuple[str, Request]] = []
        self.events: list[tuple[int, int, str]] = []
        self.requests = 0
        self.moving: list[Claim] = []
        self.retries: list[tuple[int, Claim]] = []

    def ask(self, claim: Claim, place: int) -> None:
        side, osd = claim.wants[place]
        self.requests += 1
        claim.asked = place + 1
        reserver = self.sides[side][osd]
        reserver.waiting.append(Request(claim, claim.serial, place, self.requests))
        reserver.give(self.heard)

    def begin(self, claim: Claim) -> None:
        claim.serial += 1
        claim.has = set()
        self.ask(claim, 0)

    def give_up(self, claim: Claim, now: int) -> None:
        """Give back every slot; a claim that moved keeps what it has moved."""
        for side, osd in claim.wants[: claim.asked]:
            self.sides[side][osd].drop(claim, self.heard)
        claim.serial += 1
        if claim.began is not None:
            claim.left -= now - claim.began
            claim.began = None
            self.moving.remove(claim)

    def settle(self, now: int) -> None:
        """Hear all that was said, in the order in which it was said."""
        while self.heard:
            what, request = self.heard.pop(0)
            claim = request.claim
            if request.serial != claim.serial:
                continue
            if what == "got":
                claim.has.add(request.place)
                if request.place + 1 < len(claim.wants):
                    self.ask(claim, request.place + 1)
                else:
                    claim.began = now
                    self.moving.append(claim)
                    self.events.append((now, claim.number, "held"))
            elif claim.began is not None:
                self.give_up(claim, now)
                self.events.append((now, claim.number, "deferred"))
                self.begin(claim)
            elif request.place > 0 and claim.kind == "backfill":
                self.give_up(claim, now)
                self.events.append((now, claim.number, "revoked"))
                self.retries.append((now + RETRY, claim))


def play(case: dict) -> list[tuple[int, int, str]]:
    """What happens to the claims of a case: (time, claim, what), in order.

    At one time claims end first, by number; then those whose retry is due ask, by number; then new
    ones come, by number.
    """
    cluster = Cluster(case["osds"], case["slots"])
    coming = [
        (row["at"], Claim(number, _wants(row), row["priority"], row["kind"], row["time"]))
        for number, row in enumerate(case["claims"])
    ]
    while coming or cluster.moving or cluster.retries:
        ends = [claim.began + claim.left for claim in cluster.moving if claim.began is not None]
        now = min(ends + [at for at, _ in cluster.retries + coming])
        ended = [
            claim
            for claim in sorted(cluster.moving, key=lambda one: one.number)
            if claim.began is not None and claim.began + claim.left == now
        ]
        for claim in ended:
            cluster.events.append((now, claim.number, "done"))
            cluster.give_up(claim, now)
        cluster.settle(now)
        due = sorted((claim.number, claim) for at, claim in cluster.retries if at == now)
        cluster.retries = [entry for entry in cluster.retries if entry[0] != now]
        new = sorted((claim.number, claim) for at, claim in coming if at == now)
        coming = [entry for entry in coming if entry[0] != now]
        for _, claim in due + new:
            cluster.begin(claim)
            cluster.settle(now)
    return cluster.events


def _wants(row: dict) -> list[tuple[str, int]]:
    return [("local", row["primary"]), *(("remote", osd) for osd in row["targets"])]


def draw(seed: int) -> dict:
    """A random case: claims of all kinds on few OSDs, so that they wait and preempt."""
    random_ = random.Random(seed)
    osds = random_.randint(3, 9)
    claims = []
    for _ in range(random_.randint(5, 40)):
        kind = random_.choice(["backfill", "backfill", "recovery", "deletion"])
        primary, *others = random_.sample(range(osds), min(osds, random_.randint(2, 4)))
        targets = [] if kind == "deletion" else sorted(others)
        priority = random_.choice([110, 110, 150, 151, 179, 190, 254])
        claim = {"at": random_.randint(0, 60), "primary": primary, "targets": targets}
        claim |= {"priority": priority, "kind": kind, "time": random_.randint(1, 50)}
        claims.append(claim)
    return {"osds": osds, "slots": random_.randint(1, 2), "claims": claims}


def cases() -> str:
    """The cases of the crate's test with what happens, one a line."""
    drawn = [draw(seed) for seed in range(40)]
    rows = [json.dumps(case | {"events": play(case)}, separators=(",", ":")) for case in drawn]
    return "[\n" + ",\n".join(rows) + "\n]\n"


if __name__ == "__main__":
    CASES.write_text(cases())
    sys.stdout.write(f"{CASES.name} is written\n")
