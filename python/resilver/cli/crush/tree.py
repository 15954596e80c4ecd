"""A CRUSH map as the tree that `crushtool --tree` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_INDENT = "    "

# The key of the stand-in weights that serve every pool without its own (Ceph, CrushWrapper.h).
_EVERY_POOL = "-1"


def tree_lines(document: dict[str, Any]) -> list[str]:
    """The lines of a map's tree.

    Args:
        document: The map's `CrushMap.document`.

    Returns:
        A header and a line an item, as crushtool aligns them, with a column for the first stand-in
        weights of each set of choose_args. Below a bucket, other buckets come by name and devices
        by class and number.
    """
    tree = _Tree(document)
    rows = [["ID", "CLASS", "WEIGHT", *tree.titles, "TYPE NAME"], *tree.rows()]
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
    tree = _Tree(document)
    rows = []
    for number, device_class, weight, *_, label in tree.rows():
        name = label.lstrip(" ")
        kind = "osd" if int(number) >= 0 else tree.buckets[int(number)]["type_name"]
        rows.append(
            {
                "id": int(number),
                "type": kind,
                "name": name if int(number) >= 0 else tree.buckets[int(number)]["name"],
                "class": device_class or None,
                "weight": float(weight),
                "depth": (len(label) - len(name)) // len(_INDENT),
            }
        )
    return rows


def _line(row: list[str], widths: list[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([*cells[:-1], row[-1].ljust(widths[-1])])


def _weight(weight: float) -> str:
    """A weight as crushtool prints it: none at all is a bare 0."""
    return f"{weight:.5f}" if weight >= 1e-6 else "0"


class _Tree:
    """A map by numbers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.buckets = {bucket["id"]: bucket for bucket in document["buckets"]}
        self.devices = {device["id"]: device for device in document.get("devices", ())}
        sets = document.get("choose_args", {})
        keys = sorted(sets, key=int)
        self.titles = ["(compat)" if key == _EVERY_POOL else key for key in keys]
        self.stand_ins = [
            {one["bucket_id"]: one["weight_set"][0] for one in sets[key] if one.get("weight_set")}
            for key in keys
        ]

    def rows(self) -> Iterator[list[str]]:
        """The items of every root in order, each with its cells."""
        inside = {item["id"] for bucket in self.buckets.values() for item in bucket["items"]}
        for root in sorted(number for number in self.buckets if number not in inside):
            weight = sum(item["weight"] for item in self.buckets[root]["items"]) / 0x10000
            yield from self._below(root, weight)

    def _below(self, root: int, of_root: float) -> Iterator[list[str]]:
        # A list takes the place of recursion, which deep maps end.
        waiting = [(root, of_root, [""] * len(self.titles), 0)]
        while waiting:
            number, weight, others, depth = waiting.pop()
            indent = depth * _INDENT
            if number >= 0:
                # crushtool writes so whatever the device's name.
                label = f"{indent}osd.{number}"
            else:
                bucket = self.buckets[number]
                label = f"{indent}{bucket['type_name']} {bucket['name']}"
            yield [str(number), self._class(number), _weight(weight), *others, label]
            if number >= 0:
                continue
            items = [
                (item["id"], item["weight"] / 0x10000, self._stand_ins(number, place), depth + 1)
                for place, item in enumerate(bucket["items"])
            ]
            waiting += sorted(items, key=lambda item: self._order(item[0]), reverse=True)

    def _stand_ins(self, bucket: int, place: int) -> list[str]:
        cells = []
        for of_bucket in self.stand_ins:
            weights = of_bucket.get(bucket, ())
            cells.append(_weight(weights[place]) if place < len(weights) else "")
        return cells

    def _class(self, number: int) -> str:
        """A device's class, or that of the shadow that a bucket such as `default~ssd` is."""
        if number >= 0:
            return str(self.devices.get(number, {}).get("class", ""))
        return str(self.buckets[number]["name"]).partition("~")[2]

    def _order(self, number: int) -> str:
        if number < 0:
            return f"_{self.buckets[number]['name']}" if number in self.buckets else "_"
        return f"{self.devices.get(number, {}).get('class', '')}_osd.{number:08d}"
