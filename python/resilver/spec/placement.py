"""Where each piece goes, by which algorithm, and by placement group or object by object."""

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

PARITY_GROUPS_MAX = 2**22
"""The most declustered parity groups: with sixteen servers each they then take 256 MiB."""

GROUP_SIZE_MAX = 1024
"""The most servers of a group: the core draws their order on its stack."""

Algorithm = Literal[
    "crush",
    "ring",
    "multi_ring",
    "rendezvous",
    "xor",
    "modulo",
    "jump",
    "declustered",
    "copysets",
    "groups",
    "sets",
]

Bucket = Literal["straw", "straw2", "list", "tree", "uniform", "vring"]

_DEFAULTS: dict[str, dict[str, Any]] = {
    "crush": {"placement_groups": "auto", "bucket": "straw2", "tunables": "jewel"},
    "ring": {"ring_points": 1024, "ring_walk": "rehash"},
    "multi_ring": {"ring_points": 1024},
    "xor": {"ring_points": 1024},
    "declustered": {"parity_groups": "auto"},
    "copysets": {"scatter_width": 4},
    "groups": {"spare": "distributed"},
}
"""The defaults of the keys that only some algorithms have, and where they differ by algorithm."""

_ONLY = {
    "bucket": ("crush",),
    "tunables": ("crush",),
    "only_class": ("crush",),
    "ring_points": ("ring", "multi_ring", "xor"),
    "ring_walk": ("ring",),
    "rings": ("multi_ring",),
    "parity_groups": ("declustered",),
    "scatter_width": ("copysets",),
    "group_size": ("groups",),
    "spare": ("groups",),
    "spares": ("groups",),
    "level": ("sets",),
}
"""The algorithms with which a key has a meaning."""


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


def parity_groups_of(value: object) -> int | Literal["auto"] | None:
    """The number of parity groups that a study file's ``parity_groups`` means.

    Args:
        value: ``"auto"``, a whole number from 1, or None for the algorithm's default.

    Returns:
        The value.

    Raises:
        ConfigError: It is none of these.
    """
    if value is None or value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= PARITY_GROUPS_MAX:
        rule = f'parity groups are "auto" or a whole number from 1 to {PARITY_GROUPS_MAX}'
        remedy = name_remedy(value, ["auto"]) if isinstance(value, str) else ""
        raise ConfigError(Problem(rule, remedy, value=show(value)))
    return value


class Placement(Section):
    """Where copies go.

    Args:
        algorithm: How servers are chosen. ``crush``; ``ring``, a consistent-hash ring;
            ``multi_ring``, a ring for each copy; ``rendezvous``, the highest random weight;
            ``xor``, the nearest identifier by exclusive or; ``modulo``, the object's hash modulo
            the servers, and those that follow; ``jump``, jump consistent hash; ``declustered``,
            parity groups in which all pairs of servers occur equally often; ``copysets``, few sets;
            ``groups``, fixed groups of consecutive servers, of each of which an object draws its
            own members; ``sets``, the RAID sets that a level of the parts is made of.
        bucket: The kind of every CRUSH bucket; only with crush. Default ``straw2``.
        tunables: The CRUSH tunables profile; only with crush. Default ``jewel``.
        failure_domain: What no two copies share: a level of the cluster. Default: the level above
            that of the network ports, such as the rack, where there is one; else the latter. Of a
            code of several levels also as many levels, from the top: ``["rack", "host"]`` keeps
            each group in a rack of its own, and each of its pieces on another host there; only
            with crush.
        only_class: The class of the devices that copies go to, in a study file ``class``; only
            with crush. Default: all devices.
        placement_groups: ``auto``, ``none`` (each object on its own) or a number; group n is
            placed like object n. Default: auto for crush, none for the others.
        ring_points: Points a server has on a ring, or identifiers; with ring, multi_ring and xor.
            Default 1024.
        ring_walk: Where further copies go; only with ring. ``rehash``: each copy has a position
            of its own. ``successors``: they continue along the ring. Default ``rehash``.
        rings: How many rings there are; only with multi_ring. Default: one a copy.
        parity_groups: How many parity groups there are; only with declustered. ``auto``: as many
            as make all pairs of servers equal. Default auto.
        scatter_width: How many others a server shares data with; only with copysets. Default 4.
        group_size: Servers in a group, spares included; a divisor of the servers, at most 1024;
            only with groups, which need it.
        spare: Where the pieces of a failed server go; only with groups. ``distributed``: to other
            members of its group that hold none of the object's. ``dedicated``: to the first of the
            group's spares that none stands behind yet. Default ``distributed``.
        spares: How many members of a group stand by, its last ones; only with
            ``spare = "dedicated"``. Default 1 there.
        level: The level of the sets; only with sets, which need it. A lost piece goes to a spare of
            the enclosure that the members are dealt across.
    """

    algorithm: Algorithm = Field(default="crush", description="How servers are chosen.")
    bucket: Bucket | None = Field(
        default=None,
        description="The kind of every CRUSH bucket. Default: straw2.",
        examples=["straw"],
    )
    tunables: Literal["argonaut", "bobtail", "firefly", "hammer", "jewel"] | None = Field(
        default=None, description="The CRUSH tunables profile. Default: jewel.", examples=["jewel"]
    )
    failure_domain: str | tuple[str, ...] | None = Field(
        default=None,
        description="What no two copies share: server, rack, row or a level of the parts; or a "
        "level for each of a code's levels. Default: rack if there are racks, else server.",
        examples=["rack"],
    )
    only_class: str | None = Field(
        default=None,
        alias="class",
        description="The class of the devices that copies go to. Default: all devices.",
        examples=["ssd"],
    )
    placement_groups: Annotated[
        int | Literal["auto", "none"] | None,
        PlainValidator(groups_of),
        WithJsonSchema(
            {
                "description": 'How many groups there are; "none" places each object on its own. '
                "Default: auto for crush, none for the others.",
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
        description="Points a server has on a ring, or identifiers with xor. Default: 1024.",
    )
    ring_walk: Literal["rehash", "successors"] | None = Field(
        default=None,
        description="Where further copies go on a ring: each to a position of its own, "
        "or on along the ring. Default: rehash.",
        examples=["rehash"],
    )

    rings: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=16,
        description="How many rings there are. Default: one a copy.",
    )
    parity_groups: Annotated[
        int | Literal["auto"] | None,
        PlainValidator(parity_groups_of),
        WithJsonSchema(
            {
                "description": "How many parity groups there are. Default: auto, as many as make "
                "all pairs of servers equal.",
                "examples": ["auto", 4096],
                "anyOf": [
                    {"enum": ["auto"]},
                    {"type": "integer", "minimum": 1, "maximum": PARITY_GROUPS_MAX},
                ],
            }
        ),
    ] = None
    scatter_width: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        description="How many others a server shares data with in copysets. Default: 4.",
    )
    group_size: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=GROUP_SIZE_MAX,
        description="Servers in a group, spares included.",
        examples=[24],
    )
    spare: Literal["distributed", "dedicated"] | None = Field(
        default=None,
        description="Where the pieces of a failed member of a group go. Default: distributed.",
        examples=["dedicated"],
    )
    spares: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=GROUP_SIZE_MAX,
        description='Members of a group that stand by with spare = "dedicated". Default: 1.',
        examples=[1],
    )
    level: str | None = Field(
        default=None, description="The level of the sets that hold data.", examples=["raid"]
    )

    @model_validator(mode="wrap")
    @classmethod
    def _defaults(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the defaults that depend on the algorithm, which do not count as given."""
        if not isinstance(data, dict):
            return handler(data)
        algorithm = data.get("algorithm", "crush")
        own = _DEFAULTS.get(algorithm, {}) if isinstance(algorithm, str) else {}
        if algorithm == "groups" and data.get("spare") == "dedicated":
            own = {**own, "spares": 1}
        given = {key: value for key, value in data.items() if value is not None}
        placement = handler({"placement_groups": "none", **own, **given})
        placement.model_fields_set.intersection_update(given)
        return placement

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = [
            Problem(
                f'this key has no meaning with algorithm = "{self.algorithm}"',
                f"remove it, or use {' or '.join(algorithms)}",
                key=type(self).model_fields[name].alias or name,
                value=show(getattr(self, name)),
            )
            for name, algorithms in _ONLY.items()
            if self.algorithm not in algorithms and getattr(self, name) is not None
        ]
        if self.algorithm == "groups":
            problems += self._group_problems()
        if isinstance(self.failure_domain, tuple):
            problems += self._levels_problems(self.failure_domain)
        if self.algorithm == "sets":
            if self.level is None:
                remedy = 'say which level they are, such as level = "raid"'
                problems.append(Problem("sets are of a level of the parts", remedy, key="level"))
            if self.failure_domain is not None:
                rule = "a set's members are where its level says, across which parts"
                value = show(self.failure_domain)
                remedy = "remove it, and say across in cluster.parts"
                problems.append(Problem(rule, remedy, key="failure_domain", value=value))
        if problems:
            raise ConfigError(problems)
        return self

    def _levels_problems(self, domains: tuple[str, ...]) -> list[Problem]:
        """What is wrong with several failure domains, whatever the cluster and the code."""
        rule = ""
        if self.algorithm != "crush":
            rule, remedy = "only CRUSH keeps groups in domains of their own", "name one level"
        elif len(domains) < 2:
            rule, remedy = "these are the levels of groups and of their pieces", "name two or one"
        if not rule:
            return []
        return [Problem(rule, remedy, key="failure_domain", value=show(list(domains)))]

    @property
    def domains(self) -> tuple[str, ...]:
        """The failure domains that are given, from the top."""
        given = self.failure_domain
        return given if isinstance(given, tuple) else (given,) if given is not None else ()

    def _group_problems(self) -> list[Problem]:
        """What is wrong with groups, whatever the cluster."""
        if self.group_size is None:
            remedy = "say how many servers a group has, such as group_size = 24"
            return [Problem("groups have a size", remedy, key="group_size")]
        if self.spare != "dedicated" and self.spares is not None:
            rule = "spares stand by only where they are dedicated"
            remedy = 'remove it, or use spare = "dedicated"'
            return [Problem(rule, remedy, key="spares", value=show(self.spares))]
        if self.spares is not None and self.spares >= self.group_size:
            rule = f"a group of {self.group_size} has members that hold data beside its spares"
            remedy = f"use at most {self.group_size - 1}, or larger groups"
            return [Problem(rule, remedy, key="spares", value=show(self.spares))]
        return []
