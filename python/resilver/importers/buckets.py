"""The hierarchy of a Ceph CRUSH map: which devices are in which bucket, by name.

Only names and containment are read here, for choosing what fails. Placement itself is the core's,
from the same JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

DEVICE_ID_MAX = 2**20 - 1
"""The largest number of a device. The core keeps a row a number, used or not, so it bounds them."""


@dataclass(frozen=True)
class Bucket:
    """A bucket of the CRUSH map.

    Attributes:
        id: Its number, negative.
        name: Its name.
        kind: Its type's name, such as ``host``.
        items: The numbers of its items; devices are not negative.
    """

    id: int
    name: str
    kind: str
    items: tuple[int, ...]


@dataclass(frozen=True)
class BucketTree:
    """The buckets of a CRUSH map and the names of its devices.

    Attributes:
        buckets: In the map's order, without the shadow trees of device classes (names with ``~``).
        device_names: (number, name) of each device that the map names.
        device_classes: (number, class) of each device that has a class, such as ``ssd``.
        device_weights: (number, weight) of each device in a bucket, 16.16 fixed point.
    """

    buckets: tuple[Bucket, ...]
    device_names: tuple[tuple[int, str], ...]
    device_classes: tuple[tuple[int, str], ...] = ()
    device_weights: tuple[tuple[int, int], ...] = ()

    @cached_property
    def _by_id(self) -> dict[int, Bucket]:
        return {bucket.id: bucket for bucket in self.buckets}

    @cached_property
    def _names(self) -> dict[int, str]:
        return dict(self.device_names)

    @cached_property
    def _hosts(self) -> dict[int, str]:
        hosts: dict[int, str] = {}
        for bucket in self.of_kind("host"):
            for device in self.devices_under(bucket):
                hosts.setdefault(device, bucket.name)
        return hosts

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """The numbers of the devices that stand in a bucket, rising."""
        return tuple(
            sorted({item for bucket in self.buckets for item in bucket.items if item >= 0})
        )

    def device_name(self, device: int) -> str:
        """The name of a device, ``osd.N`` where the map has none."""
        return self._names.get(device, f"osd.{device}")

    def host_of(self, device: int) -> str | None:
        """The first bucket of type host that holds a device, or None."""
        return self._hosts.get(device)

    def of_kind(self, kind: str) -> list[Bucket]:
        """The buckets of a type, in the map's order."""
        return [bucket for bucket in self.buckets if bucket.kind == kind]

    def devices_under(self, bucket: Bucket) -> tuple[int, ...]:
        """The numbers of the devices below a bucket, rising."""
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [bucket]
        while waiting:
            one = waiting.pop()
            if one.id in seen:
                continue
            seen.add(one.id)
            found.update(item for item in one.items if item >= 0)
            waiting.extend(self._by_id[item] for item in one.items if item in self._by_id)
        return tuple(sorted(found))


def read_buckets(crushmap: Mapping[str, Any]) -> BucketTree:
    """Read the hierarchy of a CRUSH map.

    Args:
        crushmap: The map as the core writes it (`CrushMap.document`).
    """
    weights: dict[int, int] = {}
    plain = []
    for bucket in crushmap["buckets"]:
        for item in bucket["items"]:
            if item["id"] >= 0:
                weights.setdefault(item["id"], item["weight"])
        if "~" not in bucket["name"]:
            items = tuple(item["id"] for item in bucket["items"])
            plain.append(Bucket(bucket["id"], bucket["name"], bucket["type_name"], items))
    names = tuple((device["id"], device["name"]) for device in crushmap["devices"])
    classes = tuple(
        (device["id"], device["class"]) for device in crushmap["devices"] if device.get("class")
    )
    return BucketTree(tuple(plain), names, classes, tuple(weights.items()))
