"""The hierarchy of a CRUSH map: which OSD is where, by name, also while a plan changes it.

Names and containment are read here. Placement itself is the core's, from the same JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from resilver.errors import ConfigError, name_remedy, show

DEVICE_ID_MAX = 2**20 - 1
"""The largest number of a device. The core keeps a row a number, used or not, so it bounds them."""


@dataclass
class Bucket:
    """A bucket.

    Attributes:
        id: Its number, negative.
        name: Its name.
        kind: Its type's name, such as ``host``.
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
        id: Its number.
        name: Its name.
        steps: What it does, as `ceph osd crush dump` lists it.
        kind: What it is for: 1 and 4 replicated pools, 3 and 5 coded ones; None where the map does
            not say.
        min_size: The fewest copies or shards of its pools; None where the map does not say.
        max_size: The most, likewise.
    """

    id: int
    name: str
    steps: list[dict[str, Any]]
    kind: int | None = None
    min_size: int | None = None
    max_size: int | None = None


def read_rules(crushmap: Mapping[str, Any]) -> dict[int, Rule]:
    """The rules of a CRUSH map by number, rising; the map is as the core writes it."""
    masks = ("type", "min_size", "max_size")
    return {
        one["rule_id"]: Rule(
            one["rule_id"],
            one["rule_name"],
            # Ceph names no step that sets local tries, vary_r or stable: it gives its number.
            [{"op": f"opcode {step.get('opcode')}", **step} for step in one["steps"]],
            *(one.get(key) for key in masks),
        )
        for one in sorted(crushmap["rules"], key=lambda one: int(one["rule_id"]))
    }


class BucketTree:
    """The hierarchy of a CRUSH map, without the shadow trees of device classes (names with ``~``).

    Args:
        crushmap: The map as the core writes it (`CrushMap.document`).

    Attributes:
        types: The names of the map's types, from the devices up.
        buckets: The buckets by name, in the map's order.
        devices: The OSDs in a bucket by number.
        names: The name of each OSD that the map names, in a bucket or not, by number.
        classes: The class of each that has one, such as ``ssd``, likewise.
        rules: The rules by number.
    """

    def __init__(self, crushmap: Mapping[str, Any]) -> None:
        by_number = sorted(crushmap["types"], key=lambda one: one["type_id"])
        self.types = [str(one["name"]) for one in by_number]
        self.rules = read_rules(crushmap)
        named = crushmap.get("devices", ())
        self.names: dict[int, str] = {one["id"]: one["name"] for one in named}
        self.classes: dict[int, str] = {
            one["id"]: one["class"] for one in named if one.get("class")
        }
        plain = [one for one in crushmap["buckets"] if "~" not in one["name"]]
        made = (Bucket(one["id"], one["name"], one["type_name"]) for one in plain)
        self.buckets = {bucket.name: bucket for bucket in made}
        self.devices: dict[int, Device] = {}
        by_id = {one["id"]: one["name"] for one in plain}
        for one in plain:
            for item in one["items"]:
                self._hang(item, one["name"], by_id)

    def _hang(self, item: Mapping[str, Any], parent: str, by_id: Mapping[int, str]) -> None:
        number = item["id"]
        if number >= 0:
            weight, own = item.get("weight", 0) / 0x10000, self.classes.get(number, "")
            device = Device(number, self.device_name(number), own, weight, parent)
            self.devices.setdefault(number, device)
            self.buckets[parent].items.append(number)
        elif number in by_id:
            self.buckets[by_id[number]].parent = parent
            self.buckets[parent].items.append(by_id[number])

    def device_name(self, number: int) -> str:
        """The name of an OSD, ``osd.N`` where the map has none."""
        return self.names.get(number, f"osd.{number}")

    def of_kind(self, kind: str) -> list[Bucket]:
        """The buckets of a type, in the map's order."""
        return [one for one in self.buckets.values() if one.kind == kind]

    def holders(self, kind: str) -> dict[int, str]:
        """The first bucket of a type that each OSD is below, by the OSD's number."""
        found: dict[int, str] = {}
        for bucket in self.of_kind(kind):
            for osd in self.below(bucket.name):
                found.setdefault(osd, bucket.name)
        return found

    def below(self, name: str) -> list[int]:
        """The OSDs below a bucket, rising."""
        found, waiting, seen = set(), [name], set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            for item in self.buckets[one].items:
                if isinstance(item, int):
                    found.add(item)
                else:
                    waiting.append(item)
        return sorted(found)

    def below_root(self, root: str) -> frozenset[int]:
        """The OSDs that a rule takes: below a bucket, of one class in ``default~ssd``."""
        name, _, wanted = root.partition("~")
        below = self.below(name) if name in self.buckets else []
        return frozenset(osd for osd in below if wanted in ("", self.devices[osd].device_class))

    def above(self, parent: str) -> Iterator[Bucket]:
        """A bucket and those above it, lowest first."""
        seen: set[str] = set()
        while parent and parent not in seen:
            seen.add(parent)
            place = self.buckets[parent]
            yield place
            parent = place.parent

    def places_of(self, osd: int) -> dict[str, str]:
        """The bucket of each type above an OSD, lowest first."""
        device = self.devices.get(osd)
        if device is None:
            return {}
        return {place.kind: place.name for place in self.above(device.parent)}

    def bucket(self, kind: str, name: str) -> Bucket:
        """The bucket of a type and a name.

        Raises:
            ConfigError: There is no such type or bucket.
        """
        if kind not in self.types[1:]:
            rule = f"the map has no type '{kind}'"
            remedy = name_remedy(kind, self.types[1:], "types")
            raise ConfigError(rule, remedy, value=show(f"{kind}={name}"))
        place = self.buckets.get(name)
        if place is None or place.kind != kind:
            of_kind = [one.name for one in self.of_kind(kind)]
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
        item: str | int = name if name in self.buckets else numbers[name]
        moved = self.buckets[item] if isinstance(item, str) else self.devices[item]
        if moved.parent:
            self.buckets[moved.parent].items.remove(item)
        moved.parent = ""
        for kind, bucket in self.by_type(location):
            is_new = bucket not in self.buckets
            place = self.add_bucket(bucket, kind, "") if is_new else self.buckets[bucket]
            place.items.append(item)
            moved.parent = bucket
            if not is_new:
                break
            item, moved = bucket, place

    def rename(self, old: str, new: str) -> None:
        """Give a bucket another name."""
        place = self.buckets[new] = self.buckets.pop(old)
        place.name = new
        for item in place.items:
            (self.buckets[item] if isinstance(item, str) else self.devices[item]).parent = new
        if place.parent:
            items = self.buckets[place.parent].items
            items[items.index(old)] = new
        for step in (step for rule in self.rules.values() for step in rule.steps):
            root, shadow, device_class = str(step.get("item_name", "")).partition("~")
            if root == old:
                step["item_name"] = f"{new}{shadow}{device_class}"

    def add_bucket(self, name: str, kind: str, parent: str) -> Bucket:
        """A new, empty bucket below another."""
        number = min([0, *(one.id for one in self.buckets.values())]) - 1
        place = Bucket(number, name, kind, parent)
        self.buckets[name] = place
        if parent:
            self.buckets[parent].items.append(name)
        return place

    def add_device(self, device: Device) -> None:
        """A new OSD below `device.parent`."""
        self.devices[device.id] = device
        self.buckets[device.parent].items.append(device.id)
