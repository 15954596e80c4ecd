"""A cluster as a tree of parts: racks, enclosures, hosts and devices of several classes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver import catalog
from resilver.errors import Problem, Problems, name_remedy, show
from resilver.spec.device import Device, device_of
from resilver.spec.passing import (
    ServiceOfParts,
    count_problems,
    is_side,
    port_level_of,
    relation_problems,
    sides_of,
)
from resilver.spec.section import Count, Flag, Section
from resilver.spec.tree import Level, Tree, plural

SPREAD_MAX = 0.2
"""The largest spread of speeds: a device four standard deviations off is then at a fifth of it."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_RESERVED = {
    "disk": "disks fail undetected by definition; call the level drive, or osd",
    "link": "links are the fabric's",
    "switch": "switches are the fabric's",
    "root": "the root holds all that is at the top",
}
_RELATIONS = ("carries", "partner", "of", "size", "across", "spares")
_OF_DEVICES = ("device_class", "device", "spread", "queue")


PartDevice = Annotated[
    Device,
    PlainValidator(device_of, json_schema_input_type=str),
    WithJsonSchema(
        {
            "description": "The disk of each: a name of the catalog, a file or a table. "
            "Default: cluster.device.",
            "anyOf": [{"type": "string", "examples": catalog.list("devices")}, {"type": "object"}],
        }
    ),
]


class PartLevel(Section):
    """Parts of one level, as many in each part that contains them.

    The lowest level is the devices', and may be declared once for each class.
    """

    level: str = Field(examples=["host"])
    """The level's name, a word of your own: ``rack``, ``enclosure``, ``host``, ``osd``. Its parts
    are called ``rack.0`` and so on, numbered through the whole tree.
    """
    within: str | None = Field(default=None, alias="in", examples=["rack"])
    """The level that contains this one, in a study file ``in``; none at the top."""
    count: Count | None = Field(default=None, examples=[20])
    """How many there are in each container."""
    ports: Count | None = Field(default=None, le=8, examples=[2])
    """Network ports of each part; of one level. Default: 1 of what contains the devices."""
    device_class: str | None = Field(default=None, alias="class", examples=["hdd"])
    """The class of these devices, in a study file ``class``."""
    device: PartDevice | None = Field(default=None, examples=["jbod10-sata"])
    """The disk of each: a catalog name, ``{ file = ... }`` or a table. Default: ``cluster.device``.
    """
    spread: float | None = Field(default=None, examples=[0.02])
    """Standard deviation of the devices' speeds around their table's. Default: 0."""
    queue: Literal["fifo", "reads_first"] | None = Field(default=None, examples=["reads_first"])
    """In which order these devices serve requests. Default: ``cluster.queue``."""
    service: ServiceOfParts = Field(default=None, examples=["17 GB/s"])
    """What a byte or a request takes to pass such a part between device and port: ``"17 GB/s"``, or
    ``{ rate = "17 GB/s", per_request = "5 us" }``.
    """
    carries: str | None = Field(default=None, examples=["osd"])
    """The level whose bytes pass such parts, which do not contain it: devices, what contains them
    or what is made of them. Those of one container are dealt over its carriers in turn.
    """
    partner: Flag | None = Field(default=None, examples=[True])
    """Whether each two neighbours take over for each other, where they carry."""
    of: str | None = Field(default=None, examples=["osd"])
    """The level of the devices that such parts are made of, as RAID sets are."""
    size: Count | None = Field(default=None, examples=[10])
    """Of what is made of devices: of how many."""
    across: str | None = Field(default=None, examples=["enclosure"])
    """Of what is made of devices: the level over whose parts these are dealt."""
    spares: Count | None = Field(default=None, examples=[1])
    """Of what is made of devices: how many of each of these parts stand by, its last ones. Default:
    0.
    """

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        return {
            "level": self.level,
            "in": self.within,
            "count": self.count,
            "ports": self.ports,
            "class": self.device_class,
            "device": None if self.device is None else self.device.content(),
            "spread": self.spread or 0.0,
            "queue": self.queue,
            # Left out where they say nothing, so that runs without them keep their keys.
            **{key: value for key in _RELATIONS if (value := getattr(self, key)) is not None},
            **(
                {"service": self.service.model_dump(mode="json")}
                if self.service is not None
                else {}
            ),
        }


def part_problems(parts: tuple[PartLevel, ...]) -> list[Problem]:
    """What is wrong with the levels of a cluster.

    Returns:
        The problems, with keys below ``cluster``.
    """
    problems = [*_name_problems(parts), *_figure_problems(parts), *count_problems(parts)]
    problems = problems or _container_problems(parts)
    problems = problems or [*_device_problems(parts), *_port_problems(parts)]
    return problems or relation_problems(parts, _chain(parts), _tree_alone(parts))


def tree_of(parts: tuple[PartLevel, ...]) -> Tree:
    """The tree of levels that have no problems."""
    tree = _tree_alone(parts)
    return replace(tree, sides=sides_of(parts, tree))


def _chain(parts: tuple[PartLevel, ...]) -> list[str]:
    """The levels that contain the devices, from the devices up."""
    by_name = {part.level: part for part in parts}
    chain = [_device_level(parts)]
    while (above := by_name[chain[-1]].within) is not None:
        chain.append(above)
    return chain


def _tree_alone(parts: tuple[PartLevel, ...]) -> Tree:
    """The tree without the levels beside it."""
    chain = _chain(parts)
    levels: list[Level] = []
    for name in reversed(chain):
        each = sum(part.count or 1 for part in parts if part.level == name)
        levels.append(Level(name, each * (levels[-1].count if levels else 1)))
    owner = next((part for part in parts if part.ports is not None), None)
    turns = [part.count or 1 for part in parts if part.level == chain[0]]
    return Tree(
        levels=tuple(levels),
        port_level=port_level_of(parts, chain) if owner is None else owner.level,
        ports=1 if owner is None else owner.ports or 1,
        kinds=tuple(kind for kind, count in enumerate(turns) for _ in range(count))
        if len(turns) > 1
        else (0,),
    )


def device_parts(parts: tuple[PartLevel, ...]) -> tuple[PartLevel, ...]:
    """The declarations of the devices, a kind each."""
    return tuple(part for part in parts if part.level == _device_level(parts))


def _device_level(parts: tuple[PartLevel, ...]) -> str:
    held = {part.within for part in parts}
    return next(part.level for part in parts if part.level not in held and not is_side(part))


def _at(index: int, key: str, rule: str, remedy: str, value: object) -> Problem:
    return Problem(rule, remedy, key=f"parts.{index}.{key}", value=show(value))


def _name_problems(parts: tuple[PartLevel, ...]) -> Problems:
    for index, part in enumerate(parts):
        if not _NAME.fullmatch(part.level):
            rule = "a level's name is of small letters, digits, _ and -"
            yield _at(index, "level", rule, 'such as "host"', part.level)
        elif part.level in _RESERVED:
            rule = f"no level has this name: {_RESERVED[part.level]}"
            yield _at(index, "level", rule, "choose another", part.level)
        for other in parts[:index]:
            if other.level != part.level and plural(other.level) == plural(part.level):
                rule = f'faults would call this level and "{other.level}" the same'
                yield _at(index, "level", rule, "rename one of them", part.level)


def _figure_problems(parts: tuple[PartLevel, ...]) -> list[Problem]:
    return [
        _at(index, "spread", f"this must be from 0 to {SPREAD_MAX}", "such as 0.02", part.spread)
        for index, part in enumerate(parts)
        if part.spread is not None and not 0 <= part.spread <= SPREAD_MAX
    ]


def _container_problems(parts: tuple[PartLevel, ...]) -> list[Problem]:
    """Containers that there are not, circles, and levels that are no tree."""
    names = list(dict.fromkeys(part.level for part in parts))
    above = {part.level: part.within for part in parts}
    problems = []
    for index, part in enumerate(parts):
        if part.within is not None and part.within not in names:
            remedy = name_remedy(part.within, names, "levels")
            problems.append(_at(index, "in", "there is no such level", remedy, part.within))
            continue
        seen, level = {part.level}, part.within
        while level is not None and level in names and level not in seen:
            seen.add(level)
            level = above[level]
        if level is not None and level in seen:
            rule, remedy = "the level is in itself", "let it be in another, or leave it out"
            problems.append(_at(index, "in", rule, remedy, part.within))
    if problems:
        return problems
    beside = {part.level for part in parts if is_side(part)}
    lowest = [name for name in names if name not in above.values() and name not in beside]
    if not lowest:
        rule = "one level holds no other, carries none and is the devices', and here none does"
        problems.append(_at(0, "level", rule, "declare it", names[0]))
    if len(lowest) > 1:
        listed = ", ".join(lowest)
        rule = f"one level holds no other and is the devices', and here {listed} hold none"
        index = next(i for i, part in enumerate(parts) if part.level == lowest[1])
        remedy = f'let it contain "{lowest[0]}", or declare one level once for each class'
        problems.append(_at(index, "level", rule, remedy, lowest[1]))
    return problems


def _device_problems(parts: tuple[PartLevel, ...]) -> Problems:
    """Levels declared twice, and what is said of others than devices."""
    device = _device_level(parts)
    seen: dict[str, PartLevel] = {}
    classes: set[str | None] = set()
    for index, part in enumerate(parts):
        first = seen.setdefault(part.level, part)
        if part.level != device:
            if first is not part:
                rule = "only the level of the devices is declared more than once"
                yield _at(index, "level", rule, "merge them", part.level)
            for field in _OF_DEVICES:
                if getattr(part, field) != PartLevel.model_fields[field].default:
                    key = PartLevel.model_fields[field].alias or field
                    value = part.content()[key]
                    rule = f'this is said of devices, and the devices here are "{device}"'
                    shown = "a table" if isinstance(value, dict) else value
                    yield _at(index, key, rule, "say it there", shown)
            continue
        if first.within != part.within:
            rule = f'devices are in one level, and the first of these are in "{first.within}"'
            yield _at(index, "in", rule, "let all be in one", part.within)
        if first is not part and (part.device_class is None or part.device_class in classes):
            rule = "devices that are declared apart have classes of their own"
            yield _at(index, "class", rule, 'such as class = "ssd"', part.device_class)
        if first is not part and first.device_class is None:
            at = parts.index(first)
            rule = "devices that are declared apart have classes of their own"
            yield _at(at, "class", rule, 'such as class = "hdd"', None)
        classes.add(part.device_class)


def _port_problems(parts: tuple[PartLevel, ...]) -> list[Problem]:
    owners = [(index, part) for index, part in enumerate(parts) if part.ports is not None]
    if len({part.level for _, part in owners}) > 1:
        index, part = owners[1]
        rule = f'one level has the network ports, and "{owners[0][1].level}" has them already'
        return [_at(index, "ports", rule, "remove one of them", part.ports)]
    if len({part.ports for _, part in owners}) > 1 or (
        owners and len(owners) < sum(part.level == owners[0][1].level for part in parts)
    ):
        index, part = owners[-1]
        rule = "all parts of a level have as many ports"
        return [_at(index, "ports", rule, "say the same of each", part.ports)]
    return []
