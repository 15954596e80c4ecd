"""Where each piece goes: CRUSH or a hash ring, by placement group or object by object."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.spec.section import Section

GROUPS_MAX = 2**24
"""The most placement groups: their up sets, three copies each, then take 200 MB."""

_CRUSH_ONLY = ("bucket", "tunables")
_RING_ONLY = ("ring_points", "ring_walk")


def groups_of(value: object) -> int | Literal["auto", "none"] | None:
    """The number of placement groups that a study file's ``placement_groups`` means.

    Args:
        value: ``"auto"``, ``"none"``, a whole number from 1, or None for the algorithm's default.

    Returns:
        The value.

    Raises:
        ConfigError: It is none of these.
    """
    if value is None or value == "auto" or value == "none":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= GROUPS_MAX:
        rule = f'placement groups are "auto", "none" or a whole number from 1 to {GROUPS_MAX}'
        remedy = name_remedy(value, ["auto", "none"]) if isinstance(value, str) else ""
        raise ConfigError(Problem(rule, remedy, value=show(value)))
    return value


class Placement(Section):
    """Where copies go.

    Args:
        algorithm: ``crush`` or ``ring`` (a consistent-hash ring).
        bucket: The kind of every CRUSH bucket; only with crush. Default ``straw2``.
        tunables: The CRUSH tunables profile; only with crush. Default ``jewel``.
        failure_domain: What no two copies share. Default: rack when the cluster has racks (crush),
            else server.
        placement_groups: ``auto``, ``none`` (each object on its own) or a number. Default: auto for
            crush, none for ring.
        ring_points: Points a server has on the ring; only with ring. Default 1024.
        ring_walk: Where further copies go; only with ring. ``rehash``: each copy has a position
            of its own. ``successors``: they continue along the ring. Default ``rehash``.
    """

    algorithm: Literal["crush", "ring"] = Field(
        default="crush", description="How devices are chosen."
    )
    bucket: Literal["straw", "straw2"] | None = Field(
        default=None,
        description="The kind of every CRUSH bucket. Default: straw2.",
        examples=["straw"],
    )
    tunables: Literal["argonaut", "bobtail", "firefly", "hammer", "jewel"] | None = Field(
        default=None, description="The CRUSH tunables profile. Default: jewel.", examples=["jewel"]
    )
    failure_domain: Literal["server", "rack", "row"] | None = Field(
        default=None,
        description="What no two copies share. Default: rack if there are racks, else server.",
    )
    placement_groups: Annotated[
        int | Literal["auto", "none"] | None,
        PlainValidator(groups_of),
        WithJsonSchema(
            {
                "description": 'How many groups there are; "none" places each object on its own. '
                "Default: auto for crush, none for ring.",
                "examples": ["auto", "none", 4096],
                "anyOf": [
                    {"enum": ["auto", "none"]},
                    {"type": "integer", "minimum": 1, "maximum": GROUPS_MAX},
                ],
            }
        ),
    ] = None
    ring_points: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=65536,
        description="Points a server has on the ring. Default: 1024.",
    )
    ring_walk: Literal["rehash", "successors"] | None = Field(
        default=None,
        description="Where further copies go on a ring: each to a position of its own, "
        "or on along the ring. Default: rehash.",
        examples=["rehash"],
    )

    @model_validator(mode="wrap")
    @classmethod
    def _defaults(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the defaults that depend on the algorithm, which do not count as given."""
        if not isinstance(data, dict):
            return handler(data)
        ring = data.get("algorithm", "crush") == "ring"
        defaults: dict[str, Any] = {"placement_groups": "none" if ring else "auto"}
        if ring:
            defaults |= {"ring_points": 1024, "ring_walk": "rehash"}
        else:
            defaults |= {"bucket": "straw2", "tunables": "jewel"}
        given = {key: value for key, value in data.items() if value is not None}
        placement = handler({**defaults, **given})
        placement.model_fields_set.intersection_update(given)
        return placement

    @model_validator(mode="after")
    def _check(self) -> Self:
        foreign = _RING_ONLY if self.algorithm == "crush" else _CRUSH_ONLY
        problems = [
            Problem(
                f'this key has no meaning with algorithm = "{self.algorithm}"',
                "remove it",
                key=name,
                value=show(getattr(self, name)),
            )
            for name in foreign
            if getattr(self, name) is not None
        ]
        if self.algorithm == "ring" and self.failure_domain not in (None, "server"):
            rule = "a ring knows no failure domain above the server"
            remedy = 'remove it, or use algorithm = "crush"'
            problems.append(
                Problem(rule, remedy, key="failure_domain", value=show(self.failure_domain))
            )
        if problems:
            raise ConfigError(problems)
        return self
