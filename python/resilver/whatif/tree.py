"""The CRUSH hierarchy while a plan changes it: which OSD is where, by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from resilver.errors import ConfigError, name_remedy, show


@dataclass
class Place:
    """A bucket.

    Attributes:
        id: Its number, negative.
        name: Its name.
        kind: Its type's name.
        parent: The name of the bucket that holds it; empty for a root.
        items: The names of its buckets and the numbers of its OSDs.
    """

    id: int
    name: str
    kind: str
    parent: str = ""
    items: list[str | int] = field(default_factory=list)


@dataclass
class Device:
    """An OSD's place.

    Attributes:
        id: Its number.
        name: Its name in the map.
        device_class: Its class, or empty.
        weight: Its CRUSH weight.
        parent: The name of the bucket that holds it, or empty.
    """

    id: int
    name: str
    device_class: str
    weight: float
    parent: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        name: Its name.
        steps: What it does, as `ceph osd crush dump` lists it.
        kind: What it is for: 1 and 4 replicated pools, 3 and 5 coded ones; None where the map does
            not say.
        min_size: The fewest copies or shards of its pools; None where the map does not say.
        max_size: The most, likewise.
    """

    name: str
    steps: list[dict[str, Any]]
    kind: int | None = None
    min_size: int | None = None
    max_size: int | None = None


class Tree:
    """The hierarchy of a CRUSH map.

    Attributes:
        types: The names of the map's types, from the devices up.
        places: The buckets by name.
        devices: The OSDs by number.
        rules: The rules by number.
    """

    def __init__(self, crushmap: str) -> None:
        """Read the JSON of `ceph osd crush dump`, which is known to be one."""
        found = json.loads(crushmap)
        by_number = sorted(found["types"], key=lambda one: one["type_id"])
        self.types = [str(one["name"]) for one in by_number]
        masks = ("type", "min_size", "max_size")
        self.rules = {
            one["rule_id"]: Rule(one["rule_name"], one["steps"], *(one.get(key) for key in masks))
            for one in found["rules"]
        }
        classes = {one["id"]: one.get("class", "") for one in found.get("devices", ())}
        names = {one["id"]: one["name"] for one in found.get("devices", ())}
        # The shadow trees of device classes, which have a ~ in their names, are Ceph's own affair.
        buckets = [one for one in found["buckets"] if "~" not in one["name"]]
        self.places = {
            one["name"]: Place(one["id"], one["name"], one["type_name"]) for one in buckets
        }
        self.devices: dict[int, Device] = {}
        by_id = {one["id"]: one["name"] for one in buckets}
        for one in buckets:
            for item in one["items"]:
                self._hang(item, one["name"], by_id, names, classes)

    def _hang(
        self,
        item: Mapping[str, Any],
        parent: str,
        by_id: Mapping[int, str],
        names: Mapping[int, str],
        classes: Mapping[int, str],
    ) -> None:
        number = item["id"]
        if number >= 0:
            weight = item.get("weight", 0) / 0x10000
            name = names.get(number, f"osd.{number}")
            self.devices.setdefault(
                number, Device(number, name, classes.get(number, ""), weight, parent)
            )
            self.places[parent].items.append(number)
        elif number in by_id:
            self.places[by_id[number]].parent = parent
            self.places[parent].items.append(by_id[number])

    def below(self, name: str) -> list[int]:
        """The OSDs below a bucket, rising."""
        found, waiting, seen = set(), [name], set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            for item in self.places[one].items:
                if isinstance(item, int):
                    found.add(item)
                else:
                    waiting.append(item)
        return sorted(found)

    def below_root(self, root: str) -> frozenset[int]:
        """The OSDs that a rule takes: below a bucket, of one class in ``default~ssd``."""
        name, _, wanted = root.partition("~")
        below = self.below(name) if name in self.places else []
        return frozenset(osd for osd in below if wanted in ("", self.devices[osd].device_class))

    def above(self, parent: str) -> Iterator[Place]:
        """A bucket and those above it, lowest first."""
        seen: set[str] = set()
        while parent and parent not in seen:
            seen.add(parent)
            place = self.places[parent]
            yield place
            parent = place.parent

    def places_of(self, osd: int) -> dict[str, str]:
        """The bucket of each type above an OSD, lowest first."""
        device = self.devices.get(osd)
        if device is None:
            return {}
        return {place.kind: place.name for place in self.above(device.parent)}

    def bucket(self, kind: str, name: str) -> Place:
        """The bucket of a type and a name.

        Raises:
            ConfigError: There is no such type or bucket.
        """
        if kind not in self.types[1:]:
            rule = f"the map has no type '{kind}'"
            remedy = name_remedy(kind, self.types[1:], "types")
            raise ConfigError(rule, remedy, value=show(f"{kind}={name}"))
        place = self.places.get(name)
        if place is None or place.kind != kind:
            of_kind = [one.name for one in self.places.values() if one.kind == kind]
            rule = f"there is no {kind} of this name"
            if place is not None:
                rule = f"'{name}' is of type {place.kind}"
            remedy = name_remedy(name, of_kind, f"{kind}s")
            raise ConfigError(rule, remedy, value=show(f"{kind}={name}"))
        return place

    def by_type(self, location: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """A location, the lowest type first."""
        return sorted(location, key=lambda place: self.types.index(place[0]))

    def move(self, name: str, location: Iterable[tuple[str, str]]) -> None:
        """Hang an OSD or a bucket elsewhere; buckets that are not there yet are made.

        Args:
            name: Its name.
            location: Types and buckets, of which the lowest gets the item.
        """
        numbers = {device.name: number for number, device in self.devices.items()}
        item: str | int = name if name in self.places else numbers[name]
        moved = self.places[item] if isinstance(item, str) else self.devices[item]
        if moved.parent:
            self.places[moved.parent].items.remove(item)
        moved.parent = ""
        for kind, bucket in self.by_type(location):
            is_new = bucket not in self.places
            place = self.add_place(bucket, kind, "") if is_new else self.places[bucket]
            place.items.append(item)
            moved.parent = bucket
            if not is_new:
                break
            item, moved = bucket, place

    def rename(self, old: str, new: str) -> None:
        """Give a bucket another name."""
        place = self.places[new] = self.places.pop(old)
        place.name = new
        for item in place.items:
            (self.places[item] if isinstance(item, str) else self.devices[item]).parent = new
        if place.parent:
            items = self.places[place.parent].items
            items[items.index(old)] = new
        for step in (step for rule in self.rules.values() for step in rule.steps):
            root, shadow, device_class = str(step.get("item_name", "")).partition("~")
            if root == old:
                step["item_name"] = f"{new}{shadow}{device_class}"

    def add_place(self, name: str, kind: str, parent: str) -> Place:
        """A new, empty bucket below another."""
        number = min([0, *(one.id for one in self.places.values())]) - 1
        place = Place(number, name, kind, parent)
        self.places[name] = place
        if parent:
            self.places[parent].items.append(name)
        return place

    def add_device(self, device: Device) -> None:
        """A new OSD below `device.parent`."""
        self.devices[device.id] = device
        self.places[device.parent].items.append(device.id)
