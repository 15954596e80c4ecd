"""What a CRUSH map consists of, read from the JSON that describes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.importers.buckets import Rule, read_rules

# A compiled map's table of buckets begins with 8 slots and doubles (Ceph, crush/builder.c); its
# size bounds what crushtool expects of a rule over devices.
_BUCKET_SLOTS = 8
_HASHES_ITS_ID = ("uniform", "list", "tree", "vring")
"""Kinds of bucket whose choice takes their own id; straw and straw2 take the items' alone."""
# The key of the stand-in weights that serve every pool without its own (Ceph, CrushWrapper.h).
_EVERY_POOL = "-1"


@dataclass(frozen=True)
class MapLevel:
    """A type of bucket, and which bucket of it each device is in.

    Attributes:
        name: The type's name.
        part_names: The buckets' names.
        part_of: By device number, an index of `part_names`, -1 for none.
    """

    name: str
    part_names: tuple[str, ...]
    part_of: npt.NDArray[np.int64]


class MapStructure:
    """The devices, buckets and rules of a CRUSH map.

    Args:
        document: The map's `CrushMap.document`.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._buckets = {bucket["id"]: bucket for bucket in document["buckets"]}
        self._devices = {device["id"]: device for device in document.get("devices", ())}

    @cached_property
    def _plain(self) -> list[dict[str, Any]]:
        """The buckets without the copies for one device class, whose names have a tilde."""
        return [bucket for bucket in self._buckets.values() if "~" not in bucket["name"]]

    @cached_property
    def device_count(self) -> int:
        """One more than the highest device number, whether in a bucket or only named."""
        return 1 + max([*self._devices, *self._items], default=-1)

    @cached_property
    def present(self) -> npt.NDArray[np.bool_]:
        """Whether each device is in a bucket."""
        flags = np.zeros(self.device_count, dtype=np.bool_)
        flags[list(self._items)] = True
        return flags

    @cached_property
    def _items(self) -> set[int]:
        return {
            item["id"]
            for bucket in self._buckets.values()
            for item in bucket["items"]
            if item["id"] >= 0
        }

    @cached_property
    def rules(self) -> dict[int, Rule]:
        """The rules by number."""
        return read_rules(self._document)

    def most_affected(self, rule: Rule) -> int:
        """How many copies crushtool expects a rule to find at the most.

        It is the least, over the types that the rule chooses, of how many buckets of the type the
        map has or a step asks for (CrushTester::get_maximum_affected_by_rule). A type that two
        steps choose counts its buckets twice there, and so it does here.
        """
        choosing = [step for step in rule.steps if step["op"].startswith("choose")]
        asked = {step["type"]: step["num"] for step in choosing}
        slots = _BUCKET_SLOTS
        while slots < max((-number for number in self._buckets), default=0):
            slots *= 2
        most = max(slots, self.device_count)
        for kind, number in asked.items():
            found = sum(bucket["type_name"] == kind for bucket in self._buckets.values())
            found *= sum(step["type"] == kind for step in choosing)
            if 0 < number < found:
                found = number
            if 0 < found < most:
                most = found
        return most

    def why_empty(self, rule: Rule) -> str:
        """Why a rule maps nothing whatever its input: it chooses a type that is not there.

        Returns:
            A sentence with the remedy; empty where every step finds its type below what is taken.
        """
        taken = {step["item"] for step in rule.steps if step["op"] == "take"}
        below = {item["id"] for number in taken for item in self._items_below(number)}
        kinds = {self._buckets[number]["type_name"] for number in below if number in self._buckets}
        device = next(one["name"] for one in self._document["types"] if one["type_id"] == 0)
        for step in rule.steps:
            kind = step.get("type")
            if step["op"].startswith("choose") and kind not in (device, *kinds):
                return (
                    f"rule {rule.id} ({rule.name}) maps nothing: it chooses buckets of type {kind} "
                    "below what it takes, and there is none; put a layer of them between, as in "
                    f"host straw2 1 root straw2 0, or let the rule choose {device}"
                )
        return ""

    def _items_below(self, number: int) -> Iterator[dict[str, Any]]:
        for item in self._buckets[number]["items"] if number in self._buckets else ():
            yield item
            yield from self._items_below(item["id"])

    def hashed_otherwise(self, after: MapStructure) -> list[str]:
        """Buckets of another id in another map, by name, where a hash takes that id.

        Args:
            after: The other map.

        Returns:
            A bucket with its kind and both ids each; what it holds, or what its parent holds, is
            chosen by draws that have nothing in common.
        """
        ids = {bucket["name"]: bucket["id"] for bucket in after._buckets.values()}
        inner = {item["id"] for one in self._buckets.values() for item in one["items"]}
        return [
            f"{name} ({bucket['alg']}: {number}, then {ids[name]})"
            for number, bucket in self._buckets.items()
            if ids.get(name := bucket["name"], number) != number
            and (number in inner or bucket["alg"] in _HASHES_ITS_ID)
        ]

    def device_weights(self, rule: Rule | None = None) -> npt.NDArray[np.float64]:
        """The CRUSH weight of each device below what a rule takes, or in the whole map.

        Args:
            rule: The rule, or None for every device.

        Returns:
            Weights as a map's text has them, 1.0 for 0x10000, by device number.
        """
        weights = np.zeros(self.device_count)
        if rule is None:
            waiting = [bucket["id"] for bucket in self._plain]
        else:
            waiting = [step["item"] for step in rule.steps if step["op"] == "take"]
        for taken in waiting:
            if taken >= 0:
                weights[taken] = max(weights[taken], 1.0)
        seen: set[int] = set()
        while waiting:
            bucket = self._buckets.get(waiting.pop())
            if bucket is None or bucket["id"] in seen:
                continue
            seen.add(bucket["id"])
            for item in bucket["items"]:
                if item["id"] >= 0:
                    weights[item["id"]] = max(weights[item["id"]], item["weight"] / 0x10000)
                else:
                    waiting.append(item["id"])
        return weights

    @cached_property
    def levels(self) -> tuple[MapLevel, ...]:
        """The types that buckets have, the lowest first, without shadow trees of classes."""
        parent = {item["id"]: one["id"] for one in self._plain for item in one["items"]}
        kinds = sorted({(bucket["type_id"], bucket["type_name"]) for bucket in self._plain})
        return tuple(self._level(kind, name, parent) for kind, name in kinds)

    def _level(self, kind: int, name: str, parent: dict[int, int]) -> MapLevel:
        parts = [bucket for bucket in self._plain if bucket["type_id"] == kind]
        index = {bucket["id"]: position for position, bucket in enumerate(parts)}
        above = dict(index)
        part_of = np.full(self.device_count, -1, dtype=np.int64)
        for device in np.flatnonzero(self.present):
            path = [int(device)]
            while path[-1] not in above and path[-1] in parent:
                path.append(parent[path[-1]])
            found = above.get(path[-1], -1)
            # Every node on the way has the same answer, which the next device then finds at once.
            above.update(dict.fromkeys(path, found))
            part_of[device] = found
        return MapLevel(name, tuple(bucket["name"] for bucket in parts), part_of)

    def device_names(self) -> list[str]:
        """The name of each device, ``osd.N`` where the map has none."""
        unnamed = ((number, {"name": f"osd.{number}"}) for number in range(self.device_count))
        return [self._devices.get(number, own)["name"] for number, own in unnamed]

    @cached_property
    def _stand_ins(self) -> dict[str, dict[int, list[float]]]:
        """The first stand-in weights of each bucket, by the title of each set of choose_args."""
        sets = self._document.get("choose_args", {})
        return {
            "(compat)" if key == _EVERY_POOL else key: {
                one["bucket_id"]: one["weight_set"][0] for one in sets[key] if one.get("weight_set")
            }
            for key in sorted(sets, key=int)
        }

    @property
    def titles(self) -> list[str]:
        """The title of each set of choose_args."""
        return list(self._stand_ins)

    def tree_items(self) -> Iterator[tuple[int, float, list[str], int]]:
        """The items of every root in order: number, weight, stand-in weights, depth."""
        inside = {item["id"] for bucket in self._buckets.values() for item in bucket["items"]}
        for root in sorted(number for number in self._buckets if number not in inside):
            weight = sum(item["weight"] for item in self._buckets[root]["items"]) / 0x10000
            yield from self._below(root, weight)

    def _below(self, root: int, of_root: float) -> Iterator[tuple[int, float, list[str], int]]:
        # A list takes the place of recursion, which deep maps end.
        waiting = [(root, of_root, [""] * len(self._stand_ins), 0)]
        while waiting:
            number, weight, others, depth = waiting.pop()
            yield number, weight, others, depth
            if number >= 0:
                continue
            items = [
                (item["id"], item["weight"] / 0x10000, self._weights_of(number, place), depth + 1)
                for place, item in enumerate(self._buckets[number]["items"])
            ]
            waiting += sorted(items, key=lambda item: self._order(item[0]), reverse=True)

    def _weights_of(self, bucket: int, place: int) -> list[str]:
        cells = []
        for of_bucket in self._stand_ins.values():
            weights = of_bucket.get(bucket, ())
            cells.append(_weight(weights[place]) if place < len(weights) else "")
        return cells

    def kind_and_name(self, number: int) -> tuple[str, str]:
        """An item's type and name; of a device what crushtool calls it, whatever its name."""
        if number >= 0:
            return "osd", f"osd.{number}"
        return self._buckets[number]["type_name"], self._buckets[number]["name"]

    def class_of(self, number: int) -> str:
        """A device's class, or that of the shadow that a bucket such as `default~ssd` is."""
        if number >= 0:
            return str(self._devices.get(number, {}).get("class", ""))
        return str(self._buckets[number]["name"]).partition("~")[2]

    def _order(self, number: int) -> str:
        if number < 0:
            return f"_{self._buckets[number]['name']}" if number in self._buckets else "_"
        return f"{self._devices.get(number, {}).get('class', '')}_osd.{number:08d}"


_INDENT = "    "


def tree_lines(document: dict[str, Any]) -> list[str]:
    """The lines of a map's tree.

    Args:
        document: The map's `CrushMap.document`.

    Returns:
        A header and a line an item, as crushtool aligns them, with a column for the first stand-in
        weights of each set of choose_args. Below a bucket, other buckets come by name and devices
        by class and number.
    """
    tree = MapStructure(document)
    cells = (
        [
            str(number),
            tree.class_of(number),
            _weight(weight),
            *others,
            depth * _INDENT + (name if number >= 0 else f"{kind} {name}"),
        ]
        for number, weight, others, depth in tree.tree_items()
        for kind, name in [tree.kind_and_name(number)]
    )
    rows = [["ID", "CLASS", "WEIGHT", *tree.titles, "TYPE NAME"], *cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    header = "  ".join(cell.ljust(width) for cell, width in zip(rows[0], widths, strict=True))
    return [header, *(_line(row, widths) for row in rows[1:])]


def tree_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """A map's tree as rows.

    Args:
        document: The map's `CrushMap.document`.

    Returns:
        An object an item, in the order of `tree_lines`: its number, its type and name, its class
        or None, its CRUSH weight, and how many buckets it is below.
    """
    tree = MapStructure(document)
    rows = []
    for number, weight, _, depth in tree.tree_items():
        kind, name = tree.kind_and_name(number)
        own = {"id": number, "type": kind, "name": name, "class": tree.class_of(number) or None}
        rows.append({**own, "weight": float(_weight(weight)), "depth": depth})
    return rows


def _line(row: list[str], widths: list[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([*cells[:-1], row[-1].ljust(widths[-1])])


def _weight(weight: float) -> str:
    """A weight as crushtool prints it: none at all is a bare 0."""
    return f"{weight:.5f}" if weight >= 1e-6 else "0"
