"""A plain twin of the core's storage system that fails and heals: every group and part by itself.

It shares no idea of speed with the core. Each part has a clock of its own for each cause, set by a
life drawn when the part is new; each lost device carries all its groups, each with its own place in
the repair; after each event everything is looked at anew. Codes are those that count (copies, rs).
"""

import heapq
import math
import random
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Lost:
    """A device that is lost."""

    cause: int
    ready: float
    drawn: float
    order: int
    left: float = 1.0
    passed: float = 0.0
    places: dict[int, float] = field(default_factory=dict)
    spent: dict[int, float] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)


class Twin:
    """One mission of a system in the form of the core's `DurabilityInput`."""

    def __init__(self, system: dict[str, Any], seed: int) -> None:
        self.system, self.random = system, random.Random(seed)
        self.parents = [level["parents"] for level in system["levels"]]
        self.lowest = len(self.parents) - 1
        self.groups: list[tuple[list[int], int, int]] = []
        for pool in system["pools"]:
            kind, numbers = pool["code"].split()
            data, parity = (
                (1, int(numbers) - 1) if kind == "copies" else map(int, numbers.split("+"))
            )
            pieces = data + parity
            for first in range(0, len(pool["sets"]), pieces):
                members = pool["sets"][first : first + pieces]
                self.groups.append((members, parity, pool["piece_bytes"][0]))
        devices = range(len(self.parents[-1]))
        self.of_device = [
            [g for g, group in enumerate(self.groups) if device in group[0]] for device in devices
        ]
        self.now, self.count = 0.0, 0
        self.lost: dict[int, Lost] = {}
        self.away: set[tuple[int, int]] = set()
        self.events: list[tuple[float, int, tuple[Any, ...]]] = []
        self.clocks: dict[tuple[int, int], int] = {}
        self.loss: tuple[float, list[float]] | None = None

    def later(self, at: float, *what: Any) -> int:
        """Something is certain to happen."""
        self.count += 1
        heapq.heappush(self.events, (at, self.count, what))
        return self.count

    def time(self, law: dict[str, Any], exceeded: float | None = None) -> float:
        """A drawn time."""
        u = exceeded if exceeded is not None else 1.0 - self.random.random()
        match law["kind"]:
            case "fixed":
                return float(law["seconds"])
            case "exponential":
                return -float(law["mean_seconds"]) * math.log(u)
            case "weibull":
                scaled = float(law["scale_seconds"]) * (-math.log(u)) ** (1 / law["shape"])
                return scaled + float(law.get("least_seconds", 0.0))
        return float(law["seconds"][int(u * len(law["seconds"]))])

    def ancestor(self, device: int, level: int) -> int:
        """The part of a level that a device is in."""
        for above in range(self.lowest, level, -1):
            device = self.parents[above][device]
        return device

    def parts(self, cause: int) -> list[int]:
        failure = self.system["failures"][cause]
        return failure.get("parts") or list(range(len(self.parents[failure["level"]])))

    def wind(self, cause: int, part: int, age: float) -> None:
        """Sets the clock of a part: the rest of a life that has lasted for an age."""
        law = self.system["failures"][cause]["law"]
        life = -math.log(1.0 - self.random.random())
        if law["kind"] == "exponential":
            rest = life / law["rate_per_second"]
        else:
            spent = (age / law["scale_seconds"]) ** law["shape"]
            rest = law["scale_seconds"] * (spent + life) ** (1 / law["shape"]) - age
        self.clocks[cause, part] = self.later(self.now + rest, "clock", cause, part)

    def run(self) -> tuple[float, list[float]] | None:
        """The time of the first loss and the shares of its causes, or None."""
        for cause, failure in enumerate(self.system["failures"]):
            law = failure["law"]
            if law["kind"] == "planned":
                self.later(law["first_seconds"], "planned", cause, 0)
            elif law["kind"] == "trace":
                for at, part in zip(law["seconds"], law["parts"], strict=True):
                    self.later(at, "strike", cause, [part])
            elif failure.get("burst"):
                self.wind(cause, -1, 0.0)
            else:
                ages = law.get("age_seconds") or [0.0]
                for place, part in enumerate(self.parts(cause)):
                    self.wind(cause, part, ages[place % len(ages)])
        while self.loss is None:
            device, step = min(
                ((device, self.next_step(lost)) for device, lost in self.lost.items()),
                key=lambda one: one[1][0],
                default=(-1, (math.inf, None)),
            )
            certain = self.events[0][0] if self.events else math.inf
            if min(step[0], certain) > self.system["mission_seconds"]:
                return None
            if certain <= step[0]:
                self.go_to(certain)
                _, number, what = heapq.heappop(self.events)
                self.happen(number, what)
            else:
                self.go_to(step[0])
                self.take(device, step[1])
            self.release()
        return self.loss

    def happen(self, number: int, what: tuple[Any, ...]) -> None:
        match what:
            case ("clock", cause, part) if self.clocks.get((cause, part)) == number:
                if part < 0:
                    self.burst(cause)
                    self.wind(cause, -1, 0.0)
                elif not self.is_down(cause, part):
                    self.strike(cause, [part])
                    level = self.system["failures"][cause]["level"]
                    is_lost = self.system["failures"][cause]["effect"]["kind"] == "lost"
                    if is_lost and level < self.lowest:
                        self.wind(cause, part, 0.0)
            case ("planned", cause, done):
                law = self.system["failures"][cause]["law"]
                parts = self.parts(cause)
                self.strike(cause, [parts[done % len(parts)]])
                self.later(
                    law["first_seconds"] + (done + 1) * law["every_seconds"],
                    "planned",
                    cause,
                    done + 1,
                )
            case ("strike", cause, parts):
                self.strike(cause, parts)
            case ("back", level, part):
                self.away.discard((level, part))
                self.rewind(level, part, only_away=True)

    def rewind(self, level: int, part: int, only_away: bool) -> None:
        """A part is new for the laws that can hit it."""
        for cause, failure in enumerate(self.system["failures"]):
            is_away = failure["effect"]["kind"] == "away"
            is_random = failure["law"]["kind"] in ("exponential", "weibull")
            is_clocked = failure["level"] == level and is_random and not failure.get("burst")
            if is_clocked and part in self.parts(cause) and (is_away or not only_away):
                self.wind(cause, part, 0.0)

    def is_down(self, cause: int, part: int) -> bool:
        failure = self.system["failures"][cause]
        is_lost = failure["level"] == self.lowest and part in self.lost
        is_away = (failure["level"], part) in self.away
        return is_lost or (failure["effect"]["kind"] == "away" and is_away)

    def burst(self, cause: int) -> None:
        failure = self.system["failures"][cause]
        burst, parts = failure["burst"], self.parts(cause)
        sizes, weights = zip(*burst["sizes"], strict=True)
        size = self.random.choices(sizes, weights)[0]
        if burst.get("within") is not None:
            above = {}
            for part in parts:
                upper = part
                for level in range(failure["level"], burst["within"], -1):
                    upper = self.parents[level][upper]
                above.setdefault(upper, []).append(part)
            parts = self.random.choice(list(above.values()))
        chosen = self.random.sample(parts, min(size, len(parts)))
        if burst["spread_seconds"] == 0:
            self.strike(cause, chosen)
        else:
            for part in chosen:
                after = self.random.random() * burst["spread_seconds"]
                self.later(self.now + after, "strike", cause, [part])

    def strike(self, cause: int, parts: list[int]) -> None:
        """Parts fail at once."""
        failure = self.system["failures"][cause]
        level, effect = failure["level"], failure["effect"]
        devices = range(len(self.parents[-1]))

        def below(part: int) -> list[int]:
            return [device for device in devices if self.ancestor(device, level) == part]

        if effect["kind"] == "lost":
            self.lose([device for part in parts for device in below(part)], cause, self.now)
            return
        for part in parts:
            if self.is_down(cause, part):
                continue
            until = self.now + self.time(effect["lasts"])
            self.away.add((level, part))
            self.later(until, "back", level, part)
            share = effect.get("lost_share", 0.0)
            gone = [device for device in below(part) if self.random.random() < share]
            self.lose(gone, cause, until)

    def lose(self, devices: list[int], cause: int, noticed: float) -> None:
        """Devices are lost together; data with them, if it is too many."""
        repair = self.system["repair"]
        ready = noticed + self.time(repair["detection"]) + self.time(repair["replacement"])
        for device in devices:
            if device not in self.lost:
                self.count += 1
                lost = Lost(cause, ready, 1.0 - self.random.random(), self.count)
                lost.places = {g: self.random.random() for g in self.of_device[device]}
                self.lost[device] = lost
                # The repair begins in an event of its own, after which all is looked at anew.
                self.later(ready, "ready")
        for g, (_, parity, _) in enumerate(self.groups):
            lacking = self.lacking(g)
            if len(lacking) > parity and self.loss is None:
                shares = [0.0] * (len(self.system["failures"]) + 1)
                for device in lacking:
                    shares[self.lost[device].cause] += 1 / len(lacking)
                self.loss = (self.now, shares)

    def lacking(self, g: int) -> list[int]:
        """The devices that lack their piece of a group."""
        members = self.groups[g][0]
        return [one for one in members if one in self.lost and g in self.lost[one].places]

    def is_blocked(self, g: int) -> bool:
        """Whether too few pieces of a group can be read."""
        members, parity, _ = self.groups[g]
        lacking = set(self.lacking(g))
        for device in members:
            if any(
                (level, self.ancestor(device, level)) in self.away
                for level in range(self.lowest + 1)
            ):
                lacking.add(device)
        return len(lacking) > parity

    def takes(self, lost: Lost) -> float:
        """How long the whole repair of a device takes at its present speed."""
        if lost.ready > self.now or not self.is_under_way(lost):
            return math.inf
        speed = self.system["repair"]["speed"]
        running = [one for one in self.lost.values() if self.is_under_way(one)]
        if speed["kind"] == "by_lost":
            law = speed["takes"][min(len(running), len(speed["takes"])) - 1]
        else:
            law = speed["takes"]
        if speed["kind"] == "serial":
            turn = (lost.ready, lost.order)
            before = [one for one in running if (one.ready, one.order) < turn]
            crews = speed.get("crews")
            if crews is None:
                # Each RAID set has a repair of its own: it waits for those that share a group.
                if any(self.groups_of(one) & self.groups_of(lost) for one in before):
                    return math.inf
            elif len(before) >= crews:
                return math.inf
        return self.time(law, lost.drawn)

    def groups_of(self, lost: Lost) -> set[int]:
        """The groups that a lost device held a piece of."""
        return set(next(self.of_device[at] for at, one in self.lost.items() if one is lost))

    def is_under_way(self, lost: Lost) -> bool:
        return lost.ready <= self.now and lost.left > 0

    def first(self, lost: Lost) -> int | None:
        """The group that is made whole before its place, if any."""
        repair = self.system["repair"]
        if repair["returns"] == "devices" or not repair["most_lost_first"]:
            return None
        several = [g for g in lost.places if g not in lost.held and len(self.lacking(g)) > 1]
        order = {g: (self.groups[g][1] - len(self.lacking(g)), lost.places[g]) for g in several}
        return min(several, key=order.__getitem__, default=None)

    def share(self, lost: Lost, g: int) -> float:
        device = next(device for device, one in self.lost.items() if one is lost)
        return self.groups[g][2] / sum(self.groups[other][2] for other in self.of_device[device])

    def next_step(self, lost: Lost) -> tuple[float, int | None]:
        """When something happens to a lost device, and to which group: None is its end."""
        takes = self.takes(lost)
        if not math.isfinite(takes):
            return math.inf, None
        first = self.first(lost)
        if first is not None:
            left = min(self.share(lost, first) - lost.spent.get(first, 0.0), lost.left)
            return self.now + left * takes, first
        waiting = [g for g in lost.places if g not in lost.held]
        if self.system["repair"]["returns"] == "devices" or not waiting:
            return self.now + lost.left * takes, None
        g = min(waiting, key=lost.places.__getitem__)
        share = (lost.places[g] - lost.passed) * lost.left / (1 - lost.passed)
        return self.now + max(share, 0.0) * takes, g

    def go_to(self, at: float) -> None:
        """Time passes, and repairs go on."""
        done = {device: (self.takes(lost), self.first(lost)) for device, lost in self.lost.items()}
        for device, (takes, first) in done.items():
            if math.isfinite(takes):
                lost = self.lost[device]
                work = min((at - self.now) / takes, lost.left)
                if first is not None:
                    lost.spent[first] = lost.spent.get(first, 0.0) + work
                elif lost.left > 0:
                    lost.passed += work * (1 - lost.passed) / lost.left
                lost.left -= work
        self.now = at

    def take(self, device: int, g: int | None) -> None:
        """A group is made anew, or a device."""
        lost = self.lost[device]
        for one in [g] if g is not None else list(lost.places):
            if self.is_blocked(one):
                # Its part of the work is done, and stays done whatever becomes of the others.
                lost.spent.pop(one, None)
                lost.held.add(one)
            else:
                self.put_back(device, one)
        if g is None:
            lost.left = 0.0

    def put_back(self, device: int, g: int) -> None:
        lost = self.lost[device]
        lost.places.pop(g)
        lost.held.discard(g)
        lost.spent.pop(g, None)
        others = self.lacking(g)
        if len(others) == 1:
            other = self.lost[others[0]]
            other.left = min(other.left + other.spent.pop(g, 0.0), 1.0)

    def release(self) -> None:
        """What was held comes back when it can be read, and a device when it has all."""
        for device, lost in list(self.lost.items()):
            if lost.left <= 0:
                # What rounding left over has come with the end.
                lost.held.update(lost.places)
            for g in list(lost.held):
                if not self.is_blocked(g):
                    self.put_back(device, g)
            if lost.left <= 0 and not lost.places:
                del self.lost[device]
                self.rewind(self.lowest, device, only_away=False)
