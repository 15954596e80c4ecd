"""What breaks, and when."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeAlias

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from resilver.errors import ConfigError, Problem, show
from resilver.spec.corrupt import Corrupt
from resilver.spec.section import Section
from resilver.spec.tree import plural, singular
from resilver.units import Seconds, exact_duration

Kind: TypeAlias = str
"""What can fail, named as in the study file: one of `KINDS`, or the plural of a level of parts."""

HORIZON_SECONDS = 2**64 / 1e12
"""Where simulated time ends: the core counts picoseconds in 64 bits."""

REBUILD_KINDS: tuple[Kind, ...] = ("servers", "osds", "hosts", "racks", "rows")
"""What the system is told of, and rebuilds."""

SILENT_KINDS: tuple[Kind, ...] = ("disks", "links", "switches")
"""What fails with nobody told: requests meet it, and nothing is rebuilt."""

KINDS: tuple[Kind, ...] = (*REBUILD_KINDS, *SILENT_KINDS)


def targets_of(value: object) -> int | tuple[str, ...] | None:
    """How many fail at random, or which.

    Args:
        value: A whole number from 1, or a list of names, or None.

    Returns:
        The number, or the names.

    Raises:
        ConfigError: It is neither, or a name stands twice.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    if isinstance(value, str):
        raise ConfigError(Problem("names are a list", f"write [{show(value)}]", value=show(value)))
    if (
        not isinstance(value, list | tuple)
        or not value
        or not all(isinstance(name, str) for name in value)
    ):
        raise ConfigError(
            Problem(
                "this is how many fail, from 1, or a list of names",
                'write 1 or ["osd.12"]',
                value=show(value),
            )
        )
    twice = [name for index, name in enumerate(value) if name in value[:index]]
    if twice:
        raise ConfigError(
            Problem(f'"{twice[0]}" stands twice', "name each once", value=show(value))
        )
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
            "description": "How many fail, drawn at random, or the names of those that fail.",
        }
    ),
]


class Failing(Section):
    """What a fault takes away: exactly one kind.

    Args:
        servers: Servers of a synthetic cluster: how many, or names such as ``server.3``.
        osds: OSDs of a real cluster: how many, or names such as ``osd.12``.
        hosts: Hosts of a real cluster with all their OSDs.
        racks: Racks with all their servers, ``rack.0`` in a synthetic cluster.
        rows: Rows with all their servers, ``row.0`` in a synthetic cluster.
        any other level of ``cluster.parts``: Parts of it with all their devices: how many, or
            names such as ``enclosure.3``. Levels go by their plural or their singular.
        disks: Disks of servers that go on forwarding, ``server.3`` or ``osd.12``; nobody is told.
        links: Links of the fabric, both ways, by the names of their ends: ``host.3-switch.7``.
        switches: Nodes of the fabric with all their links, such as ``switch.7``.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Targets] = Field(init=False)

    servers: Targets = None
    osds: Targets = None
    hosts: Targets = None
    racks: Targets = None
    rows: Targets = None
    disks: Targets = None
    links: Targets = None
    switches: Targets = None

    @property
    def _given(self) -> list[str]:
        keys = [*KINDS, *(self.__pydantic_extra__ or {})]
        return [key for key in keys if getattr(self, key) is not None]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self._given) != 1:
            rule = f"a fault takes away exactly one of {', '.join(KINDS)}"
            raise ConfigError(
                Problem(rule, "give one, such as { servers = 1 }, and add a [[faults]] for another")
            )
        return self

    @property
    def key(self) -> str:
        """What fails, as it is written."""
        return self._given[0]

    @property
    def kind(self) -> Kind:
        """What fails, in the plural."""
        return plural(self.key)

    @property
    def targets(self) -> int | tuple[str, ...]:
        """How many fail, or their names."""
        value: int | tuple[str, ...] = getattr(self, self.key)
        return value

    @property
    def starts_rebuild(self) -> bool:
        """Whether the system is told, and rebuilds what was there."""
        return self.kind not in SILENT_KINDS

    @property
    def words(self) -> str:
        """What fails, in words: ``8 links``, ``1 switch`` or names."""
        targets = self.targets
        if isinstance(targets, int):
            one = "OSD" if self.kind == "osds" else singular(self.kind)
            return f"{targets} {one if targets == 1 else self.kind}"
        names = ", ".join(targets)
        if self.kind != "disks":
            return names
        return f"{'disk' if len(targets) == 1 else 'disks'} of {names}"


class Fault(Section):
    """A failure, or soft errors beside which all servers stay alive.

    Args:
        at: When, from the start of the run: at once, or while what failed before is rebuilt.
        fail: What fails. A number is drawn among what no fault names and no earlier draw took.
        corrupt: Instead of it: the groups whose servers rebuild strips in place.
        part: Instead of it: what becomes slow, named as in ``fail``. Nobody is told, and nothing is
            rebuilt.
        health: Of slow parts: the share of its speed that each device in them works at.
        until: Of slow parts: when they work as before. Default: never.
        repair_after: Of disks, links and switches: how long after that they work again. Default:
            never.
    """

    at: Seconds = Field(
        default=Seconds(0),
        description="When it happens, from the start of the run.",
        examples=["10 min"],
    )
    fail: Failing | None = Field(default=None, description="What fails.", examples=[{"servers": 1}])
    corrupt: Corrupt | None = Field(
        default=None,
        description="Instead of it: groups whose servers rebuild strips in place.",
        examples=[{"groups": 4}],
    )
    part: Failing | None = Field(
        default=None,
        description="Instead of it: what becomes slow, with a health.",
        examples=[{"osd": 1}],
    )
    health: float | None = Field(
        default=None,
        description="The share of its speed that each device of a slow part works at.",
        examples=[0.1],
    )
    until: Seconds | None = Field(
        default=None,
        description="When slow parts work as before. Default: never.",
        examples=["3 h"],
    )
    repair_after: Seconds | None = Field(
        default=None,
        description="How long disks, links or switches stay failed. Default: to the end.",
        examples=["30 s"],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = []
        given = [name for name in ("fail", "corrupt", "part") if getattr(self, name) is not None]
        if len(given) != 1:
            words = f"{' and '.join(given)} are given" if given else "none is given"
            rule = f"exactly one of fail, corrupt and part is needed, and {words}"
            remedy = "such as fail = { servers = 1 }"
            problems.append(Problem(rule, remedy, key=given[1] if given else "fail"))
        if not 0 <= self.at < HORIZON_SECONDS:
            problems.append(
                Problem(
                    "a fault happens from 0 s on and within the 213 days that a run can last",
                    'write such as at = "10 min"',
                    key="at",
                    value=show(f"{float(self.at):g} s"),
                )
            )
        if self.repair_after is not None:
            problems += self._repair_problems(self.repair_after)
        problems += self._slow_problems()
        if problems:
            raise ConfigError(problems)
        return self

    @property
    def failing(self) -> Failing:
        """What fails; asked only of a fault that is no soft error."""
        if self.fail is None:
            raise ConfigError(Problem("soft errors take nothing away", key="fail"))
        return self.fail

    @property
    def starts_rebuild(self) -> bool:
        """Whether components fail of which the system is told, so that it rebuilds elsewhere."""
        return self.fail is not None and self.fail.starts_rebuild

    @property
    def is_silent(self) -> bool:
        """Whether components fail of which nobody is told."""
        return self.fail is not None and not self.fail.starts_rebuild

    def _repair_problems(self, after: Seconds) -> list[Problem]:
        value = show(exact_duration(after))
        if self.part is not None:
            rule, remedy = "slow parts are slow until a time", "write until instead"
        elif self.corrupt is not None:
            rule, remedy = "soft errors are rebuilt in place, and nothing comes back", "remove it"
        elif self.starts_rebuild:
            rule = f"{self.failing.kind} are rebuilt elsewhere and do not come back"
            remedy = f"remove it; {', '.join(SILENT_KINDS)} can be repaired"
        elif after <= 0:
            rule, remedy = "the time must be above zero", 'such as repair_after = "30 s"'
        elif self.at + after >= HORIZON_SECONDS:
            rule = "the repair lies beyond the 213 days that a run can last"
            remedy = "leave it out for a fault that lasts"
        else:
            return []
        return [Problem(rule, remedy, key="repair_after", value=value)]

    def _slow_problems(self) -> list[Problem]:
        """What is wrong with how slow parts are, and until when."""
        health, until = self.health, self.until
        if self.part is None:
            return [
                Problem(
                    "this is said of slow parts",
                    "write part = { osd = 1 } with it, or remove it",
                    key=key,
                    value=show(value),
                )
                for key, value in (
                    ("health", health),
                    ("until", None if until is None else exact_duration(until)),
                )
                if value is not None
            ]
        problems = []
        if self.part.kind in SILENT_KINDS:
            rule = "levels of parts can be slow, and the fabric's cannot"
            remedy = "name servers, or the level of the devices"
            value = show(self.part.targets)
            problems.append(Problem(rule, remedy, key=f"part.{self.part.kind}", value=value))
        if health is None or not 0 < health < 1:
            rule = "a slow part works at a share of its speed, above 0 and below 1"
            remedy = "such as health = 0.1; for parts that are gone write fail"
            shown = None if health is None else show(health)
            problems.append(Problem(rule, remedy, key="health", value=shown))
        if until is not None and not self.at < until < HORIZON_SECONDS:
            rule = "it ends later than it begins, and within the 213 days that a run can last"
            value = show(exact_duration(until))
            problems.append(Problem(rule, "write a later time", key="until", value=value))
        return problems

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        at = float(self.at)
        if self.part is not None:
            targets = self.part.targets
            return {
                "at": at,
                "part": {self.part.kind: targets if isinstance(targets, int) else [*targets]},
                "health": self.health,
                "until": None if self.until is None else float(self.until),
            }
        if self.corrupt is not None:
            return {"at": at, "corrupt": self.corrupt.content()}
        targets = self.failing.targets
        return {
            "at": at,
            "fail": {self.failing.kind: targets if isinstance(targets, int) else [*targets]},
            "repair_after": None if self.repair_after is None else float(self.repair_after),
        }


def fault_words(faults: tuple[Fault, ...]) -> str:
    """Faults in words, as a sweep over them is to be read.

    Args:
        faults: The faults of a system.

    Returns:
        Such as ``none``, ``4 disks`` or ``8 links + 1 switch at 600 s for 30 s``.

    >>> fault_words((Fault(fail={"links": 8}), Fault(fail={"switches": 1}, at="10 min")))
    '8 links + 1 switch at 600 s'
    """
    words = []
    for fault in faults:
        if fault.part is not None:
            text = f"{fault.part.words} slowed to {fault.health:g}"
        else:
            text = fault.corrupt.words if fault.corrupt is not None else fault.failing.words
        if fault.at:
            text += f" at {exact_duration(fault.at)}"
        if fault.repair_after is not None:
            text += f" for {exact_duration(fault.repair_after)}"
        if fault.until is not None:
            text += f" for {exact_duration(Seconds(fault.until - fault.at))}"
        words.append(text)
    return " + ".join(words) or "none"
