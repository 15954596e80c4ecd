"""A cluster as a tree of parts: racks, enclosures, hosts and devices of several classes."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver import catalog
from resilver.core_errors import judged_parts
from resilver.errors import Problem, Problems, collected, name_remedy, raise_all, show
from resilver.spec.device import Device, device_of
from resilver.spec.passing import PartService, ServiceOfParts
from resilver.spec.section import Count, Flag, Section
from resilver.spec.tree import Level, Side, Tree, plural

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
_OF_DEVICES = ("device", "spread", "queue")


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
    spread: float | None = Field(default=None, ge=0, le=SPREAD_MAX, examples=[0.02])
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

    def structure(self) -> dict[str, Any]:
        """The level in the core's words, which counts and judges it: JSON-able."""
        stated = self.model_dump(mode="json", by_alias=True, exclude={*_OF_DEVICES})
        of_devices = [key for key in _OF_DEVICES if getattr(self, key) is not None]
        return {**stated, "for_devices": of_devices}

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
    problems = [*_name_problems(parts)]
    with collected(problems):
        tree_of(parts)
    return problems


def tree_of(parts: tuple[PartLevel, ...]) -> Tree:
    """The tree of levels, as the core counts them.

    Raises:
        ConfigError: They make no cluster; with all that is wrong, by keys below ``cluster``.
    """
    shape, problems = judged_parts(json.dumps([part.structure() for part in parts]))
    raise_all([_problem(parts, *problem) for problem in problems])
    return Tree(
        levels=tuple(Level(*level) for level in shape["levels"]),
        port_level=shape["port_level"],
        ports=shape["ports"],
        kinds=tuple(shape["kinds"]),
        sides=tuple(Side(**side) for side in shape["sides"]),
    )


def _problem(
    parts: tuple[PartLevel, ...],
    key: str,
    _count: None,
    _name: None,
    rule: str,
    remedy: str,
    known: list[str],
) -> Problem:
    """A problem of the core, with the value of its key and what it could be instead."""
    _, index, name = key.split(".")
    value = getattr(parts[int(index)], PartLevel.names()[name])
    if known:
        remedy = name_remedy(value, known, remedy)
    shown = value.words if isinstance(value, PartService) else getattr(value, "label", value)
    return Problem(rule, remedy, key, None if value is None else show(shown))


def device_parts(parts: tuple[PartLevel, ...]) -> tuple[PartLevel, ...]:
    """The declarations of the devices, a kind each."""
    device = tree_of(parts).device_level
    return tuple(part for part in parts if part.level == device)


def _name_problems(parts: tuple[PartLevel, ...]) -> Problems:
    for index, part in enumerate(parts):
        rule, remedy = "", "choose another"
        if not _NAME.fullmatch(part.level):
            rule, remedy = "a level's name is of small letters, digits, _ and -", 'such as "host"'
        elif part.level in _RESERVED:
            rule = f"no level has this name: {_RESERVED[part.level]}"
        for other in parts[:index]:
            if other.level != part.level and plural(other.level) == plural(part.level):
                rule = f'faults would call this level and "{other.level}" the same'
                remedy = "rename one of them"
        if rule:
            yield part.problem("level", rule, remedy).under(f"parts.{index}")
