"""What requests pass between devices and network ports, and levels that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, WithJsonSchema, model_validator

from resilver.errors import Problem, Problems, name_remedy, show
from resilver.spec.section import Positive, Section
from resilver.spec.tree import Side, Tree
from resilver.units import BytesPerSecond, Seconds, exact_rate

if TYPE_CHECKING:
    from resilver.spec.parts import PartLevel

PER_REQUEST_MAX = Seconds(3600)
"""The longest that a part takes for a request beside its bytes: what is slower is a slip."""


class PartService(Section):
    """What it takes to pass a part, one request after another.

    In a study file a rate alone says it: ``service = "17 GB/s"``.
    """

    rate: Positive[BytesPerSecond] | None = Field(default=None, examples=["17 GB/s"])
    """How fast bytes pass. Default: they take no time."""
    per_request: Seconds = Field(default=Seconds(0), examples=["5 us"])
    """The time of each request beside its bytes."""

    @model_validator(mode="before")
    @classmethod
    def _of_rate(cls, data: Any) -> Any:
        """Take a rate alone."""
        return data if isinstance(data, dict | PartService) else {"rate": data}

    def _problems(self) -> Problems:
        if not 0 <= self.per_request <= PER_REQUEST_MAX:
            rule, remedy = "a request passes within an hour", 'such as "5 us"'
            yield Problem(rule, remedy, key="per_request")
        if self.rate is None and not self.per_request:
            yield Problem("it takes no time", 'say how much, such as "17 GB/s"')


ServiceOfParts = Annotated[
    PartService | None,
    WithJsonSchema(
        {
            "description": "What a byte or a request takes to pass such a part: a rate, or a table "
            "of rate and per_request.",
            "examples": ["17 GB/s"],
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"rate": {"type": "string"}, "per_request": {"type": "string"}},
                    "additionalProperties": False,
                },
            ],
        }
    ),
]


def is_side(part: PartLevel) -> bool:
    """Whether a level is none that contains the devices, but carries them or is made of them."""
    return part.carries is not None or part.of is not None


def sides_of(parts: Sequence[PartLevel], tree: Tree) -> tuple[Side, ...]:
    """The levels beside the tree, of parts that have no problems.

    Args:
        tree: The tree of those that contain the devices.
    """
    made = []
    for part in parts:
        if part.of is not None:
            scopes, hands, used = _hands(part, tree)
            size, spares = part.size or 1, part.spares or 0
            made.append(Side(part.level, scopes, hands * used // size, size, hands, spares))
    carriers = [
        Side(
            part.level,
            scopes=tree.count(part.within or "") or 1,
            each=part.count or 1,
            carries=part.carries,
            has_partners=bool(part.partner),
        )
        for part in parts
        if part.carries is not None
    ]
    return (*made, *carriers)


def _hands(part: PartLevel, tree: Tree) -> tuple[int, int, int]:
    """The parts that sets are in, those of each they are dealt over, and devices dealt of these."""
    scopes = 1 if part.within is None else tree.count(part.within) or 1
    hands = (tree.count(part.across) or 1) // scopes if part.across else 1
    return scopes, hands, tree.devices // (scopes * hands) - (part.spares or 0)


def port_level_of(parts: Sequence[PartLevel], chain: Sequence[str]) -> str:
    """The level that has the network ports where none says so.

    It is what contains the devices or, where other parts carry these, what contains the carriers.
    """
    above = [chain.index(part.within) for part in parts if is_side(part) and part.within in chain]
    return chain[max([min(1, len(chain) - 1), *above])]


def _at(index: int, key: str, rule: str, remedy: str, value: object) -> Problem:
    shown = None if value is None else show(value)
    return Problem(rule, remedy, key=f"parts.{index}.{key}", value=shown)


def count_problems(parts: Sequence[PartLevel]) -> Problems:
    """Levels that do not say how many parts they have, or say it twice."""
    for index, part in enumerate(parts):
        if part.of is None:
            if part.count is None:
                rule = "a level says how many there are in each container"
                yield _at(index, "count", rule, "such as count = 2", None)
            yield from [
                _at(index, key, 'this is said of a level made of another, by "of"', "remove it", of)
                for key in ("size", "across", "spares")
                if (of := getattr(part, key)) is not None
            ]
            continue
        if part.size is None:
            rule = "a level made of another says of how many"
            yield _at(index, "size", rule, "such as size = 10", None)
        for key in ("count", "carries", "partner", "ports"):
            if getattr(part, key) is not None:
                rule = f'a level made of "{part.of}" is as many as its size makes, and carries none'
                yield _at(index, key, rule, "remove it", getattr(part, key))


def relation_problems(
    parts: Sequence[PartLevel], chain: Sequence[str], tree: Tree | None
) -> list[Problem]:
    """What is wrong with levels that carry others, or are made of others, and with services.

    Args:
        parts: The levels as declared, whose names and containers have no problems.
        tree: The tree of these, where it has no problems.
    """
    problems: list[Problem] = []
    for index, part in enumerate(parts):
        if part.within is not None and part.within not in chain:
            rule = f'"{part.within}" contains no devices'
            remedy = name_remedy(part.within, list(chain[1:]), "levels that do")
            problems.append(_at(index, "in", rule, remedy, part.within))
        elif part.of is not None:
            problems += _made_problems(index, part, chain, tree)
        elif part.carries is not None:
            problems += _carrier_problems(index, part, parts, chain)
        elif part.partner is not None:
            rule = "what is in a part fails with it; only parts that carry others have partners"
            problems.append(_at(index, "partner", rule, "remove it", part.partner))
        if part.service is not None and part.level == chain[0]:
            rule, remedy = "these are the devices, whose times are their device's", "use device"
            problems.append(_at(index, "service", rule, remedy, _shown(part.service)))
    carried = [part.carries for part in parts if part.carries is not None]
    for index, part in enumerate(parts):
        if part.carries is not None and carried.count(part.carries) > 1:
            rule = f'more than one level carries "{part.carries}", and a byte passes one'
            problems.append(_at(index, "carries", rule, "let one carry it", part.carries))
    return problems or _port_problems(parts, chain)


def _made_problems(
    index: int, part: PartLevel, chain: Sequence[str], tree: Tree | None
) -> list[Problem]:
    device, size = chain[0], part.size or 1
    if part.of != device:
        rule = f'sets are made of devices, and the devices here are "{device}"'
        return [_at(index, "of", rule, f'use of = "{device}"', part.of)]
    scope = len(chain) if part.within is None else chain.index(part.within)
    if part.across is not None and part.across not in chain[1:scope]:
        where = "" if part.within is None else f' and is in "{part.within}"'
        rule = f"members are dealt over a level that contains devices{where}"
        listed = name_remedy(part.across, list(chain[1:scope]), "levels that do")
        return [_at(index, "across", rule, listed, part.across)]
    if tree is None:
        return []
    _, hands, used = _hands(part, tree)
    if used < 1:
        rule = f"they are dealt over parts of {used + (part.spares or 0)} devices each"
        return [_at(index, "spares", rule, "let fewer stand by", part.spares)]
    devices = hands * used
    if devices % size:
        rule = f"sets have equally many, and {devices} {device} do not divide by {size}"
        return [_at(index, "size", rule, f"use a divisor of {devices}", size)]
    if part.within is None and part.service is not None:
        rule = "a set that takes time is in what has the network ports, or below it"
        return [_at(index, "service", rule, "add in = ...", _shown(part.service))]
    return []


def _carrier_problems(
    index: int, part: PartLevel, parts: Sequence[PartLevel], chain: Sequence[str]
) -> list[Problem]:
    known = [*chain, *(one.level for one in parts if is_side(one) and one.level != part.level)]
    if part.carries not in known:
        remedy = name_remedy(str(part.carries), known, "levels")
        rule = (
            "what is carried are devices, what contains them or is made of them, or carries these"
        )
        return [_at(index, "carries", rule, remedy, part.carries)]
    if loop := _loop(part, parts):
        rule = f"a level carries what does not carry it, and here {loop}"
        return [_at(index, "carries", rule, f'let one of them carry "{chain[0]}"', part.carries)]
    if part.within is None:
        rule = "a part that carries others is in what contains these"
        remedy = f'such as in = "{chain[-1]}"' if len(chain) > 1 else "declare a level of it"
        return [_at(index, "in", rule, remedy, None)]
    side = next((one for one in parts if one.level == part.carries and is_side(one)), None)
    inner = part.carries if side is None else side.within
    if inner not in chain or chain.index(inner) + (side is None) > chain.index(part.within):
        rule = f'"{part.carries}" is not in "{part.within}", which contains what carries it'
        return [_at(index, "carries", rule, f'let it be in "{part.within}"', part.carries)]
    if part.partner and (part.count or 1) % 2:
        rule = "parts take over for each other in pairs, so their number in a container is even"
        return [_at(index, "count", rule, "use an even number", part.count)]
    return []


def _loop(part: PartLevel, parts: Sequence[PartLevel]) -> str:
    """How a level carries itself, by way of others; empty where it does not."""
    carried = {one.level: one.carries for one in parts if one.carries is not None}
    way = [part.level]
    while (below := carried.get(way[-1])) is not None:
        way.append(below)
        if below == part.level:
            return " carries ".join(f'"{level}"' for level in way)
        if below in way[:-1]:
            return ""
    return ""


def _port_problems(parts: Sequence[PartLevel], chain: Sequence[str]) -> list[Problem]:
    """Ports and services that lie where no request passes both."""
    owner = next((part.level for part in parts if part.ports is not None), None)
    if owner is not None and owner not in chain:
        index = next(index for index, part in enumerate(parts) if part.ports is not None)
        rule = f'"{owner}" carries others and has none in it; ports are of a level that contains'
        return [_at(index, "ports", rule, "give them to what it is in", parts[index].ports)]
    at = chain.index(owner or port_level_of(parts, chain))
    problems = []
    for index, part in enumerate(parts):
        is_passed = part.carries is not None or (part.of is not None and part.service is not None)
        if is_passed and part.within in chain and chain.index(part.within) > at:
            rule = f'the network ports are those of "{chain[at]}", below it, and nothing passes it'
            remedy = f'give the ports to "{part.within}"'
            problems.append(_at(index, "in", rule, remedy, part.within))
        elif part.service is not None and part.level in chain and chain.index(part.level) > at:
            rule = f'the network ports are those of "{chain[at]}", below it, and nothing passes it'
            problems.append(_at(index, "service", rule, "remove it", _shown(part.service)))
    return problems


def _shown(service: PartService) -> str:
    return "a table" if service.rate is None else exact_rate(service.rate)
