"""What breaks, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from resilver.errors import ConfigError, Problem, Problems, show
from resilver.spec.corrupt import Corrupt
from resilver.spec.section import Count, Flag, Positive, Section
from resilver.spec.tree import plural, singular
from resilver.units import Seconds, exact_duration

HORIZON_SECONDS = 2**64 / 1e12
"""Where simulated time ends: the core counts picoseconds in 64 bits."""

COUNT_MAX = 2**31 - 1
"""The most parts that one fault is of."""

NETWORK_LEVELS = ("link", "switch")
"""What the fabric is made of, beside the cluster's parts."""

UNTOLD_LEVELS = ("disk", *NETWORK_LEVELS)
"""What is gone with nobody told, unless a fault says otherwise."""

KINDS = ("servers", "osds", "hosts", "racks", "rows", "disks", "links", "switches")
"""What faults are of, as they are written; beside these, the levels of a cluster's parts."""


def targets_of(value: object) -> int | tuple[str, ...] | None:
    """How many fail at random, or which.

    Args:
        value: A whole number from 1, or a list of names, or None.

    Raises:
        ConfigError: It is neither, or a name stands twice.
    """
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= COUNT_MAX:
        return value
    if isinstance(value, str):
        raise ConfigError("names are a list", f"write [{show(value)}]", value=show(value))
    if (
        not isinstance(value, list | tuple)
        or not value
        or not all(isinstance(name, str) for name in value)
    ):
        rule = "this is how many fail, from 1, or a list of names"
        raise ConfigError(rule, 'write 1 or ["osd.12"]', value=show(value))
    twice = [name for index, name in enumerate(value) if name in value[:index]]
    if twice:
        raise ConfigError(f'"{twice[0]}" stands twice', "name each once", value=show(value))
    return tuple(value)


Targets = Annotated[
    int | tuple[str, ...] | None,
    PlainValidator(targets_of),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "array", "minItems": 1, "items": {"type": "string"}, "uniqueItems": True},
            ],
            "description": "How many break, drawn at random, or the names of those that do.",
        }
    ),
]


class Failing(Section):
    """What a fault is of: exactly one kind.

    Beside these, any other level of ``cluster.parts``, by its plural or its singular: its parts
    with all their devices, how many of them or names such as ``enclosure.3``.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Targets] = Field(init=False)

    servers: Targets = None
    """Servers of a synthetic cluster: how many, or names such as ``server.3``."""
    osds: Targets = None
    """OSDs of a real cluster: how many, or names such as ``osd.12``."""
    hosts: Targets = None
    """Hosts of a real cluster with all their OSDs."""
    racks: Targets = None
    """Racks with all their servers, ``rack.0`` in a synthetic cluster."""
    rows: Targets = None
    """Rows with all their servers, ``row.0`` in a synthetic cluster."""
    disks: Targets = None
    """Disks of servers that go on forwarding, ``server.3`` or ``osd.12``."""
    links: Targets = None
    """Links of the fabric, both ways, by the names of their ends: ``host.3-switch.7``."""
    switches: Targets = None
    """Nodes of the fabric with all their links, such as ``switch.7``."""

    @property
    def _given(self) -> list[str]:
        keys = [*KINDS, *(self.__pydantic_extra__ or {})]
        return [key for key in keys if self._value(key) is not None]

    def _value(self, key: str) -> Any:
        # A level may have the name of an attribute, as `targets` has.
        own = self.__pydantic_extra__ or {}
        return own[key] if key in own else getattr(self, key)

    def _problems(self) -> Problems:
        if len(self._given) != 1:
            rule = f"a fault is of exactly one of {', '.join(KINDS)}"
            yield Problem(
                rule, "give one, such as { servers = 1 }, and add a [[faults]] for another"
            )

    @property
    def key(self) -> str:
        """What breaks, as it is written."""
        return self._given[0]

    @property
    def targets(self) -> int | tuple[str, ...]:
        """How many, or their names."""
        value: int | tuple[str, ...] = self._value(self.key)
        return value


class ServerRecovery(Section):
    """What a server does once it is back, or its standby runs: it waits for its clients.

    It serves nobody until all of them have reconnected, or its window ends.
    """

    window: Positive[Seconds] = Field(examples=["150 s"])
    """How long it waits at the most."""
    reconnect: Seconds = Field(examples=["25 s"])
    """Within what time after it is back each client finds out, at a random moment: the interval of
    its pings. 0 s where all are informed at once, by imperative recovery.
    """
    clients: Count = Field(le=COUNT_MAX, examples=[18688])
    """How many clients it waits for."""
    missing: Annotated[int, Field(strict=True, ge=0)] = 0
    """How many of them never reconnect, so that it waits for all of its window."""

    def _problems(self) -> Problems:
        if self.missing > self.clients:
            rule = f"these are some of {self.clients} clients"
            yield self.problem("missing", rule, "use fewer")

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: times in seconds."""
        return self.model_dump(mode="json")


@dataclass(frozen=True)
class Broken:
    """What breaks, in the one form that all faults but soft errors have.

    Attributes:
        key: Where the study says it, below the fault: ``part.osd``, or in short ``fail.osds``.
        level: The level of the parts, in the singular; ``disk``, ``link`` and ``switch`` too.
        targets: How many of them, or their names.
        health: The share of its speed that each works at; 0 is gone.
        is_told: Whether the system is told, and rebuilds what was there.
        detected: When it is told, where that is later than the fault.
        until: When all is as before, or None.
        replaced: When empty devices are in place of those that are gone, or None.
    """

    key: str
    level: str
    targets: int | tuple[str, ...]
    health: float
    is_told: bool
    detected: Seconds | None
    until: Seconds | None
    replaced: Seconds | None = None

    @property
    def words(self) -> str:
        """What breaks, in words: ``8 links``, ``1 switch slowed to 0.1``, ``1 host untold``."""
        targets, several = self.targets, plural(self.level)
        if isinstance(targets, int):
            one, several = ("OSD", "osds") if self.level == "osd" else (self.level, several)
            text = f"{targets} {one if targets == 1 else several}"
        else:
            text = ", ".join(targets)
            if self.level == "disk":
                text = f"{'disk' if len(targets) == 1 else 'disks'} of {text}"
        if self.health:
            return f"{text} slowed to {self.health:g}"
        is_usual = self.is_told != (self.level in UNTOLD_LEVELS)
        return text if is_usual else f"{text} {'detected' if self.is_told else 'undetected'}"


class Fault(Section):
    """Parts, links or switches that break, or soft errors beside which all servers stay alive."""

    at: Seconds = Field(default=Seconds(0), examples=["10 min"])
    """When, from the start of the run: at once, or while what failed before is rebuilt."""
    fail: Failing | None = Field(default=None, examples=[{"servers": 1}])
    """The short form of a ``part`` that is gone."""
    corrupt: Corrupt | None = Field(default=None, examples=[{"groups": 4}])
    """Instead of ``part``: the groups whose servers rebuild strips in place."""
    part: Failing | None = Field(default=None, examples=[{"osd": 1}])
    """What breaks. A number is drawn among what no fault names and no earlier draw took."""
    health: float | None = Field(default=None, examples=[0.1])
    """The share of its speed that each works at. Default: 0, which is gone."""
    told: Flag | None = Field(default=None, examples=[False])
    """Whether the system is told and rebuilds what was there. Default: of parts of the cluster that
    are gone; a disk, a link, a switch and what is slow tell nobody.
    """
    detection: Seconds | None = Field(default=None, examples=["30 s"])
    """How long after ``at`` the system is told: until then the part answers nobody and nothing is
    rebuilt. A part that is back by then is not rebuilt. Default: 0 s.
    """
    until: Seconds | None = Field(default=None, examples=["3 h"])
    """When all is as before. Default: never."""
    repair_after: Seconds | None = Field(default=None, examples=["30 s"])
    """The short form of ``until``: how long after ``at``. Default: to the end."""
    replaced_after: Seconds | None = Field(default=None, examples=["4 h"])
    """How long after ``at`` an empty device of the same kind is in the place of each that is gone.
    What they held is rebuilt there and nowhere else, from then on. 0 s where a spare is ready.
    Default: it is rebuilt on others at once.
    """
    recovery: ServerRecovery | None = Field(
        default=None, examples=[{"window": "150 s", "reconnect": "25 s", "clients": 18688}]
    )
    """How a server that is back then recovers before it serves anyone; clients wait, and send again
    what it had not answered. Default: it serves at once.
    """

    def _problems(self) -> Problems:
        wrong = [*self.exactly_one(("fail", "corrupt", "part"), "such as part = { server = 1 }")]
        if not 0 <= self.at < HORIZON_SECONDS:
            rule = "a fault happens from 0 s on and within the 213 days that a run can last"
            wrong.append(self.problem("at", rule, 'write such as at = "10 min"'))
        if self.detection and self.at + self.detection >= HORIZON_SECONDS:
            rule = "it lies beyond the 213 days of a run"
            wrong.append(self.problem("detection", rule, "write less"))
        yield from wrong or [*self._end_problems(), *self._extent_problems()]

    @property
    def broken(self) -> Broken | None:
        """What breaks; None of soft errors."""
        given = self.part or self.fail
        if given is None:
            return None
        level, health = singular(plural(given.key)), self.health or 0.0
        told, until = self._is_told(level), self.until
        if self.repair_after is not None:
            until = Seconds(self.at + self.repair_after)
        detected = (
            Seconds(self.at + self.detection) if told and self.detection is not None else None
        )
        if detected is not None and until is not None and until <= detected:
            told, detected = False, None
        key = f"{'fail' if self.part is None else 'part'}.{given.key}"
        replaced = self.replaced_after
        replaced = None if replaced is None else Seconds(self.at + replaced)
        return Broken(key, level, given.targets, health, told, detected, until, replaced)

    @property
    def starts_rebuild(self) -> bool:
        """Whether components fail of which the system is told, so that it rebuilds elsewhere."""
        broken = self.broken
        return broken is not None and broken.is_told

    @property
    def waits(self) -> bool:
        """Whether the system rebuilds elsewhere once it knows, and the fault does not say when."""
        return self.starts_rebuild and self.detection is None

    def _is_told(self, level: str) -> bool:
        """Whether the system is told of the fault at all, sooner or later."""
        if self.told is not None:
            return self.told
        return not self.health and self.recovery is None and level not in UNTOLD_LEVELS

    def _end_problems(self) -> Problems:
        """What is wrong with when the fault ends."""
        if self.repair_after is not None and self.until is not None:
            yield self.problem("repair_after", "until says this already", "keep one of the two")
            return
        key, end = "until", self.until
        if self.repair_after is not None:
            key, end = "repair_after", Seconds(self.at + self.repair_after)
        if end is None:
            return
        if self.corrupt is not None:
            rule = "soft errors are rebuilt in place, and nothing comes back"
            yield self.problem(key, rule, "remove it")
        elif end <= self.at:
            yield self.problem(key, "it ends later than it begins", "write a later time")
        elif end >= HORIZON_SECONDS:
            rule = "it ends beyond the 213 days that a run can last"
            yield self.problem(key, rule, "leave it out for a fault that lasts")

    def _recovery_problems(self) -> Problems:
        """What is wrong with a server that recovers, or that nothing brings back to do so."""
        broken, recovery = self.broken, self.recovery
        if recovery is None or broken is None:
            return
        rule, remedy = "a server that is gone for a while recovers", "remove it"
        if broken.level in NETWORK_LEVELS or broken.health:
            yield self.problem("recovery", rule, remedy)
        elif broken.is_told:
            rule = "what is rebuilt elsewhere does not fail over"
            yield self.problem("told", rule, "remove it, or the recovery")
        elif broken.until is None:
            yield self.problem("recovery", rule, 'add repair_after = "60 s", the time to fail over')
        elif broken.until + recovery.window >= HORIZON_SECONDS:
            rule = "it ends beyond the 213 days that a run can last"
            yield Problem(rule, "write less", key="recovery.window")

    def _replacement_problems(self) -> Problems:
        """What is wrong with devices that are replaced where they were."""
        broken, key = self.broken, "replaced_after"
        if broken is None or broken.replaced is None:
            return
        if not broken.is_told:
            rule = "only what the system is told of is replaced and rebuilt"
            yield self.problem(key, rule, "remove it, or write told = true for what is gone")
        elif broken.until is not None:
            yield self.problem(key, "what comes back is not replaced", "keep one of the two")
        elif broken.replaced >= HORIZON_SECONDS:
            yield self.problem(key, "it lies beyond the 213 days of a run", "write less")

    def _extent_problems(self) -> Problems:
        """What is wrong with how far parts fail, and who is told."""
        broken, health = self.broken, self.health
        yield from self._recovery_problems()
        yield from self._replacement_problems()
        if broken is None:
            for key in ("health", "told", "detection", "recovery", "replaced_after"):
                if getattr(self, key) is not None:
                    yield self.problem(key, "soft errors have none", "remove it")
        elif health is not None and not 0 <= health < 1:
            rule = "a health is a share of the speed, below 1; 0 is gone"
            yield self.problem("health", rule, "such as health = 0.1")
        elif health and self.fail is not None:
            yield self.problem("health", "fail is of what is gone", "write part, for what is slow")
        elif self.told and health:
            yield self.problem("told", "slow parts are not detected", "remove it, or the health")
        elif self.told and broken.level in NETWORK_LEVELS:
            rule = f"a {broken.level} is no part whose data could be rebuilt, and who is to go "
            rule += "round it is for the routing to say"
            remedy = 'remove it; cluster.fabric.routing = "adaptive" goes round it'
            yield self.problem("told", rule, remedy)
        elif self.detection is not None and not self._is_told(broken.level):
            remedy = "remove it, or write told = true for parts of the cluster that are gone"
            yield self.problem("detection", "this fault is never detected", remedy)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: the one form, whichever was written."""
        at, broken = float(self.at), self.broken
        if broken is None:
            return {"at": at, "corrupt": None if self.corrupt is None else self.corrupt.content()}
        targets = broken.targets
        content = {
            "at": at,
            "part": {broken.level: targets if isinstance(targets, int) else [*targets]},
            "health": broken.health,
            "told": broken.is_told,
            "until": None if broken.until is None else float(broken.until),
        }
        recovery = {} if self.recovery is None else {"recovery": self.recovery.content()}
        detected = {} if broken.detected is None else {"detected": float(broken.detected)}
        replaced = {} if broken.replaced is None else {"replaced": float(broken.replaced)}
        return content | detected | replaced | recovery


def fault_words(faults: tuple[Fault, ...]) -> str:
    """Faults in words, as a sweep over them is to be read.

    Returns:
        Such as ``none``, ``4 disks`` or ``8 links + 1 switch at 600 s for 30 s``.

    >>> fault_words((Fault(fail={"links": 8}), Fault(fail={"switches": 1}, at="10 min")))
    '8 links + 1 switch at 600 s'
    """
    words = []
    for fault in faults:
        broken = fault.broken
        text = broken.words if broken is not None else fault.corrupt.words if fault.corrupt else ""
        if fault.at:
            text += f" at {exact_duration(fault.at)}"
        if broken is not None and broken.detected is not None:
            text += f" detected after {exact_duration(Seconds(broken.detected - fault.at))}"
        if broken is not None and broken.until is not None:
            text += f" for {exact_duration(Seconds(round(broken.until - fault.at, 12)))}"
        if fault.replaced_after is not None:
            text += f" replaced after {exact_duration(fault.replaced_after)}"
        if fault.recovery is not None:
            text += f" and a recovery of up to {exact_duration(fault.recovery.window)}"
        words.append(text)
    return " + ".join(words) or "none"
