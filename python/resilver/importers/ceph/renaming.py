"""Other names for all that a cluster's people named, the same at each place and in the same order.

A new name says the kind and a number: ``host-07``, ``pool-2``. The names of a kind are numbered in
the order that sorting gave the old ones, so whatever goes by that order stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from resilver.importers.ceph.model import ClusterReport
from resilver.importers.jsonpath import Node

_TYPES = "osd host chassis rack row pdu pod room datacenter zone region root"

PLAIN_TYPES = frozenset(_TYPES.split())
"""The types of a new CRUSH map; they say nothing of anybody."""

PLAIN_CLASSES = frozenset(("hdd", "ssd", "nvme"))
"""The classes that Ceph gives OSDs by itself."""


def numbered(names: Iterable[str], kind: str, kept: frozenset[str] = frozenset()) -> dict[str, str]:
    """A new name for each: its kind and its number in sorted order, with as many digits as needed.

    Args:
        names: The old names.
        kind: What they are names of.
        kept: Names that stay.

    >>> numbered(["zoe", "adam", "hdd"], "class", frozenset({"hdd"}))
    {'hdd': 'hdd', 'adam': 'class-1', 'zoe': 'class-2'}
    """
    unique = set(names)
    own = sorted(unique - kept)
    digits = len(str(len(own)))
    stays = {name: name for name in sorted(unique & kept)}
    return stays | {name: f"{kind}-{n:0{digits}d}" for n, name in enumerate(own, 1)}


@dataclass(frozen=True)
class Renaming:
    """The new names of a cluster.

    Attributes:
        cluster: The cluster.
        crushmap: Its CRUSH map.
    """

    cluster: ClusterReport
    crushmap: Node

    @cached_property
    def types(self) -> dict[str, str]:
        """Of bucket types."""
        return numbered(self._texts("types", "name"), "type", PLAIN_TYPES)

    @cached_property
    def classes(self) -> dict[str, str]:
        """Of device classes."""
        found = {name for _, name in self.cluster.buckets.device_classes}
        found |= {name.rpartition("~")[2] for name in self._texts("buckets", "name") if "~" in name}
        return numbered(found, "class", PLAIN_CLASSES)

    @cached_property
    def buckets(self) -> dict[str, str]:
        """Of buckets, those of each type by themselves; without the shadows of classes."""
        by_type: dict[str, list[str]] = {}
        for bucket in self.cluster.buckets.buckets:
            by_type.setdefault(bucket.kind, []).append(bucket.name)
        return {
            old: new
            for kind, names in by_type.items()
            for old, new in numbered(names, self.types.get(kind, "bucket")).items()
        }

    @cached_property
    def rules(self) -> dict[str, str]:
        """Of rules."""
        return numbered(self._texts("rules", "rule_name"), "rule")

    @cached_property
    def pools(self) -> dict[str, str]:
        """Of pools."""
        return numbered((pool.name for pool in self.cluster.pools), "pool")

    @cached_property
    def profiles(self) -> dict[str, str]:
        """Of erasure code profiles."""
        names = (pool.profile.name for pool in self.cluster.pools if pool.profile)
        return numbered(names, "profile")

    @cached_property
    def machines(self) -> dict[str, str]:
        """Of machines that OSDs run on: that of the bucket of the name, with or without domain."""
        names = {one.hostname for one in self.cluster.metadata if one.hostname}
        own = {name: self.buckets.get(name.split(".")[0]) for name in names}
        found = {name: self.buckets.get(name) or own[name] for name in names}
        others = numbered((name for name in names if not found[name]), "machine")
        return {name: found[name] or others[name] for name in names}

    def bucket(self, name: str) -> str:
        """A bucket's new name, or that of its shadow for a class."""
        plain, shadow, of_class = name.partition("~")
        new = self.buckets.get(plain, "bucket")
        return f"{new}~{self.classes.get(of_class, of_class)}" if shadow else new

    def item(self, number: int, name: str) -> str:
        """The new name of a device or a bucket."""
        return f"osd.{number}" if number >= 0 else self.bucket(name)

    def location(self, kind: str, name: str) -> str:
        """The new name of a place in a mask: a bucket's, a machine's, or a class's."""
        if kind == "class":
            return self.classes.get(name, "class-0")
        return self.buckets.get(name) or self.machines.get(name) or f"{kind}-0"

    def _texts(self, listed: str, key: str) -> list[str]:
        found = self.crushmap.get(listed)
        nodes = found.items() if found is not None else ()
        return [name.text() for node in nodes if (name := node.get(key)) is not None]


def renamed_crushmap(names: Renaming) -> dict[str, Any]:
    """The CRUSH map of a cluster under its new names, with what places data and nothing else."""
    source: dict[str, Any] = names.crushmap.value
    buckets = [
        {
            **_numbers(bucket, ("id", "type_id", "weight")),
            "name": names.bucket(bucket["name"]),
            "type_name": names.types.get(bucket["type_name"], bucket["type_name"]),
            **{key: bucket[key] for key in ("alg", "hash") if key in bucket},
            "items": [_numbers(item, ("id", "weight", "pos")) for item in bucket["items"]],
        }
        for bucket in source["buckets"]
    ]
    devices = [
        {
            "id": device["id"],
            "name": f"osd.{device['id']}",
            **({"class": names.classes[of_class]} if (of_class := device.get("class")) else {}),
        }
        for device in source.get("devices", [])
    ]
    types = [
        {"type_id": one["type_id"], "name": names.types[one["name"]]}
        for one in source.get("types", [])
    ]
    return {
        "devices": devices,
        "types": types,
        "buckets": buckets,
        "rules": [_rule(rule, names) for rule in source["rules"]],
        "tunables": _numbers(source.get("tunables", {})),
        "choose_args": _plain(source.get("choose_args", {})),
    }


def _rule(rule: Mapping[str, Any], names: Renaming) -> dict[str, Any]:
    steps = []
    for step in rule.get("steps", []):
        new = {"op": step["op"], **_numbers(step)}
        if "item_name" in step:
            new["item_name"] = names.item(step["item"], step["item_name"])
        if isinstance(step.get("type"), str):
            new["type"] = names.types.get(step["type"], step["type"])
        steps.append(new)
    name = {"rule_name": names.rules[rule["rule_name"]]} if "rule_name" in rule else {}
    return {**_numbers(rule), **name, "steps": steps}


def _numbers(value: Mapping[str, Any], keys: Iterable[str] | None = None) -> dict[str, Any]:
    """The members that are numbers, of some keys or all."""
    chosen = value if keys is None else [key for key in keys if key in value]
    return {key: value[key] for key in chosen if isinstance(value[key], int | float)}


def _plain(value: Any) -> Any:
    """Weights of another set: numbers in lists and objects, under the keys that Ceph gives them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float) else 0
