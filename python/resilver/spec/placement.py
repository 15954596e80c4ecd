"""Where each piece goes, by which algorithm, and by placement group or object by object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from resilver.errors import ConfigError, Problem, Problems, name_remedy, show
from resilver.spec.section import Count, Only, Section

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

Tunables = Literal["argonaut", "bobtail", "firefly", "hammer", "jewel"]
Bucket = Literal["straw", "straw2", "list", "tree", "uniform", "vring"]


class _NumberOr:
    """In a key's annotation: a whole number from 1, or one of some words.

    Args:
        what: What the number counts, in the plural.
        most: The largest number.
        words: The words.
    """

    def __init__(self, what: str, most: int, *words: str) -> None:
        self.what, self.most, self.words = what, most, words

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: Any) -> dict[str, Any]:
        number = {"type": "integer", "minimum": 1, "maximum": self.most}
        return {"examples": [*self.words, 4096], "anyOf": [{"enum": [*self.words]}, number]}

    def _read(self, value: object) -> object:
        if value is None or value in self.words:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self.most:
            listed = ", ".join(f'"{word}"' for word in self.words)
            rule = f"{self.what} are {listed} or a whole number from 1 to {self.most}"
            remedy = name_remedy(value, self.words) if isinstance(value, str) else ""
            raise ConfigError(rule, remedy, value=show(value))
        return value


class Placement(Section):
    """Where copies go."""

    algorithm: Algorithm = "crush"
    """How servers are chosen. ``crush``; ``ring``, a consistent-hash ring; ``multi_ring``, a ring
    for each copy; ``rendezvous``, the highest random weight; ``xor``, the nearest identifier by
    exclusive or; ``modulo``, the object's hash modulo the servers, and those that follow; ``jump``,
    jump consistent hash; ``declustered``, parity groups in which all pairs of servers occur equally
    often; ``copysets``, few sets; ``groups``, fixed groups of consecutive servers, of each of which
    an object draws its own members; ``sets``, the RAID sets that a level of the parts is made of.
    """
    bucket: Annotated[Bucket | None, Only("crush", default="straw2")] = Field(
        default=None, examples=["straw"]
    )
    """The kind of every CRUSH bucket."""
    tunables: Annotated[Tunables | None, Only("crush", default="jewel")] = Field(
        default=None, examples=["jewel"]
    )
    """The CRUSH tunables profile."""
    failure_domain: str | tuple[str, ...] | None = Field(default=None, examples=["rack"])
    """What no two copies share: a level of the cluster. Default: the level above that of the
    network ports, such as the rack, where there is one; else the latter. Of a code of several
    levels also as many levels, from the top: ``["rack", "host"]`` keeps each group in a rack of its
    own, and each of its pieces on another host there; only with crush.
    """
    only_class: Annotated[str | None, Only("crush")] = Field(
        default=None, alias="class", examples=["ssd"]
    )
    """The class of the devices that copies go to. Default: all devices."""
    placement_groups: Annotated[
        int | Literal["auto", "none"] | None,
        _NumberOr("placement groups", GROUPS_MAX, "auto", "none"),
        Only("crush", default="auto", elsewhere=True),
    ] = "none"
    """How many placement groups there are, ``auto`` for as many as is usual, or ``none``, which
    places each object on its own; group n is placed like object n.
    """
    ring_points: Annotated[Count | None, Only("ring", "multi_ring", "xor", default=1024)] = Field(
        default=None, le=65536, examples=[1024]
    )
    """Points a server has on a ring, or identifiers."""
    ring_walk: Annotated[Literal["rehash", "successors"] | None, Only("ring", default="rehash")] = (
        Field(default=None, examples=["rehash"])
    )
    """Where further copies go. ``rehash``: each copy has a position of its own. ``successors``:
    they continue along the ring.
    """
    rings: Annotated[Count | None, Only("multi_ring")] = Field(default=None, le=16, examples=[3])
    """How many rings there are. Default: one a copy."""
    parity_groups: Annotated[
        int | Literal["auto"] | None,
        _NumberOr("parity groups", PARITY_GROUPS_MAX, "auto"),
        Only("declustered", default="auto"),
    ] = None
    """How many parity groups there are; ``auto``: as many as make all pairs of servers equal."""
    scatter_width: Annotated[Count | None, Only("copysets", default=4)] = Field(
        default=None, examples=[4]
    )
    """How many others a server shares data with."""
    group_size: Annotated[Count | None, Only("groups")] = Field(
        default=None, le=GROUP_SIZE_MAX, examples=[24]
    )
    """Servers in a group, spares included: a divisor of the servers. Groups need it."""
    spare: Annotated[
        Literal["distributed", "dedicated"] | None, Only("groups", default="distributed")
    ] = Field(default=None, examples=["dedicated"])
    """Where the pieces of a failed server go. ``distributed``: to other members of its group that
    hold none of the object's. ``dedicated``: to the first of the group's spares that none stands
    behind yet.
    """
    spares: Annotated[Count | None, Only("groups")] = Field(
        default=None, le=GROUP_SIZE_MAX, examples=[1]
    )
    """How many members of a group stand by, its last ones, where ``spare = "dedicated"``. Default:
    1 there.
    """
    level: Annotated[str | None, Only("sets")] = Field(default=None, examples=["raid"])
    """The level of the sets. Sets need it. A lost piece goes to a spare of the enclosure that the
    members are dealt across.
    """
    within: Annotated[tuple[str, ...] | None, Only("sets")] = Field(
        default=None, min_length=1, examples=[["couplet.0", "couplet.1"]]
    )
    """The parts whose sets are used, such as those of a namespace. Default: all sets."""

    kind_key: ClassVar[str] = "algorithm"

    @classmethod
    def defaults_beside(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """One dedicated spare, beside the defaults of the algorithm."""
        dedicated = given.get("algorithm") == "groups" and given.get("spare") == "dedicated"
        return {**super().defaults_beside(given), **({"spares": 1} if dedicated else {})}

    def _problems(self) -> Problems:
        yield from self._group_problems()
        if isinstance(self.failure_domain, tuple) and self.algorithm != "crush":
            rule = "only CRUSH keeps groups in domains of their own"
            yield self.problem("failure_domain", rule, "name one level")
        elif isinstance(self.failure_domain, tuple) and len(self.failure_domain) < 2:
            rule = "these are the levels of groups and of their pieces"
            yield self.problem("failure_domain", rule, "name two or one")
        if self.algorithm == "sets" and self.level is None:
            remedy = 'say which level they are, such as level = "raid"'
            yield Problem("sets are of a level of the parts", remedy, key="level")
        if self.algorithm == "sets" and self.failure_domain is not None:
            rule = "a set's members are where its level says, across which parts"
            yield self.problem("failure_domain", rule, "remove it, and say across in cluster.parts")

    @property
    def domains(self) -> tuple[str, ...]:
        """The failure domains that are given, from the top."""
        given = self.failure_domain
        return given if isinstance(given, tuple) else (given,) if given is not None else ()

    def _group_problems(self) -> Problems:
        """What is wrong with groups, whatever the cluster."""
        if self.algorithm != "groups":
            return
        if self.group_size is None:
            remedy = "say how many servers a group has, such as group_size = 24"
            yield Problem("groups have a size", remedy, key="group_size")
        elif self.spares is not None and self.spare != "dedicated":
            rule = "spares stand by only where they are dedicated"
            yield self.problem("spares", rule, 'remove it, or use spare = "dedicated"')
        elif self.spares is not None and self.spares >= self.group_size:
            rule = f"a group of {self.group_size} has members that hold data beside its spares"
            remedy = f"use at most {self.group_size - 1}, or larger groups"
            yield self.problem("spares", rule, remedy)
