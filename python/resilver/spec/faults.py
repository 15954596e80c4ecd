"""What breaks, and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from resilver.errors import ConfigError, Problem, show
from resilver.spec.section import Section
from resilver.units import Seconds

Kind = Literal["servers", "osds", "hosts", "racks", "rows"]
"""What can fail, named as in the study file."""

HORIZON_SECONDS = 2**64 / 1e12
"""Where simulated time ends: the core counts picoseconds in 64 bits."""

KINDS: tuple[Kind, ...] = ("servers", "osds", "hosts", "racks", "rows")


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
    """

    servers: Targets = None
    osds: Targets = None
    hosts: Targets = None
    racks: Targets = None
    rows: Targets = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            rule = f"a fault takes away exactly one of {', '.join(KINDS)}"
            raise ConfigError(
                Problem(rule, "give one, such as { servers = 1 }, and add a [[faults]] for another")
            )
        return self

    @property
    def kind(self) -> Kind:
        """What fails."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def targets(self) -> int | tuple[str, ...]:
        """How many fail, or their names."""
        value: int | tuple[str, ...] = getattr(self, self.kind)
        return value


class Fault(Section):
    """A failure.

    Args:
        at: When, from the start of the run: at once, or while what failed before is rebuilt.
        fail: What fails. A number is drawn among what no fault names and no earlier draw took.
    """

    at: Seconds = Field(
        default=Seconds(0),
        description="When it happens, from the start of the run.",
        examples=["10 min"],
    )
    fail: Failing = Field(description="What fails.", examples=[{"servers": 1}])

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not 0 <= self.at < HORIZON_SECONDS:
            raise ConfigError(
                Problem(
                    "a fault happens from 0 s on and within the 213 days that a run can last",
                    'write such as at = "10 min"',
                    key="at",
                    value=show(f"{float(self.at):g} s"),
                )
            )
        return self

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        targets = self.fail.targets
        return {
            "at": float(self.at),
            "fail": {self.fail.kind: targets if isinstance(targets, int) else [*targets]},
        }
