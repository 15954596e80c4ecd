"""A CRUSH map as the tree that `crushtool --tree` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_INDENT = "    "


def tree_lines(text: str) -> list[str]:
    """The lines of a map's tree.

    Args:
        text: What `ceph osd crush dump` prints.

    Returns:
        A header and a line an item, as crushtool aligns them. Below a bucket, other buckets come by
        name and devices by class and number. Weights of choose_args are not shown.
    """
    document = json.loads(text)
    buckets = {bucket["id"]: bucket for bucket in document["buckets"]}
    devices = {device["id"]: device for device in document.get("devices", ())}
    inside = {item["id"] for bucket in buckets.values() for item in bucket["items"]}
    rows = [["ID", "CLASS", "WEIGHT", "TYPE NAME"]]
    for root in sorted(number for number in buckets if number not in inside):
        weight = sum(item["weight"] for item in buckets[root]["items"]) / 0x10000
        rows.extend(_rows(root, weight, buckets, devices))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    header = "  ".join(cell.ljust(width) for cell, width in zip(rows[0], widths, strict=True))
    return [header, *(_line(row, widths) for row in rows[1:])]


def _line(row: list[str], widths: list[int]) -> str:
    numbers = [cell.rjust(width) for cell, width in zip(row[:3], widths[:3], strict=True)]
    return "  ".join([*numbers, row[3].ljust(widths[3])])


def _rows(
    root: int, weight: float, buckets: dict[int, Any], devices: dict[int, Any]
) -> Iterator[list[str]]:
    """The items below a root in order; a list takes the place of recursion, which deep maps end."""
    waiting = [(root, weight, 0)]
    while waiting:
        number, of_number, depth = waiting.pop()
        if number >= 0:
            device = devices.get(number, {})
            name = device.get("name", f"osd.{number}")
            label = depth * _INDENT + name
            yield [str(number), device.get("class", ""), f"{of_number:.5f}", label]
            continue
        bucket = buckets[number]
        kind, name = bucket["type_name"], bucket["name"]
        yield [str(number), "", f"{of_number:.5f}", f"{depth * _INDENT}{kind} {name}"]
        children = sorted(
            bucket["items"], key=lambda item: _order(item["id"], buckets, devices), reverse=True
        )
        waiting += [(item["id"], item["weight"] / 0x10000, depth + 1) for item in children]


def _order(number: int, buckets: dict[int, Any], devices: dict[int, Any]) -> str:
    if number < 0:
        return f"_{buckets[number]['name']}" if number in buckets else "_"
    return f"{devices.get(number, {}).get('class', '')}_osd.{number:08d}"
