"""Other names for all that a cluster's people named, the same at each place and in the same order.

A new name says the kind and a number: ``host-07``, ``pool-2``. The names of a kind are numbered in
the order that sorting gave the old ones, so whatever goes by that order stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from resilver.importers.buckets import DEVICE_ID_MAX
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
        found = {*self.cluster.buckets.classes.values()}
        found |= {name.rpartition("~")[2] for name in self._texts("buckets", "name") if "~" in name}
        return numbered(found, "class", PLAIN_CLASSES)

    @cached_property
    def buckets(self) -> dict[str, str]:
        """Of buckets, those of each type by themselves; without the shadows of classes."""
        by_type: dict[str, list[str]] = {}
        for bucket in self.cluster.buckets.buckets.values():
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
        nodes = self.crushmap.items_of(listed)
        return [name.text() for node in nodes if (name := node.get(key)) is not None]


def renamed_crushmap(names: Renaming) -> dict[str, Any]:
    """The CRUSH map of a cluster under its new names, with what places data and nothing else.

    Raises:
        ConfigError: It is not what Ceph writes.
    """
    source = names.crushmap
    tunables, sets = source.get("tunables"), source.get("choose_args")
    return {
        "devices": [_device(node, names) for node in source.items_of("devices")],
        "types": [
            {**_numbers(node, "type_id"), "name": names.types[node.at("name").text()]}
            for node in source.items_of("types")
        ],
        "buckets": [_bucket(node, names) for node in source.items_of("buckets")],
        "rules": [_rule(node, names) for node in source.items_of("rules")],
        "tunables": _numbers(tunables, *_members(tunables)) if tunables is not None else {},
        "choose_args": {
            key: _weights(sets.at(key)) for key in _members(sets) if _NUMBER.fullmatch(key)
        }
        if sets is not None
        else {},
    }


_NUMBER = re.compile(r"-?[0-9]+")

_KEY = re.compile(r"[a-z][a-z0-9_]*")


def _members(node: Node | None) -> list[str]:
    """The names of an object's members; those of any other value, none."""
    return list(node.value) if node is not None and isinstance(node.value, dict) else []


def _numbers(node: Node, *keys: str) -> dict[str, Any]:
    """The members of some keys that are numbers."""
    found = {key: node.value[key] for key in keys if node.has(key) and _KEY.fullmatch(key)}
    return {key: one for key, one in found.items() if isinstance(one, int | float)}


def _device(node: Node, names: Renaming) -> dict[str, Any]:
    number, of_class = node.at("id").integer(0, DEVICE_ID_MAX), node.get("class")
    named = {"class": names.classes[text]} if of_class and (text := of_class.text()) else {}
    return {"id": number, "name": f"osd.{number}", **named}


def _bucket(node: Node, names: Renaming) -> dict[str, Any]:
    kind = node.at("type_name").text()
    words = {key: found.text() for key in ("alg", "hash") if (found := node.get(key)) is not None}
    return {
        **_numbers(node, "id", "type_id", "weight"),
        "name": names.bucket(node.at("name").text()),
        "type_name": names.types.get(kind, kind if kind in PLAIN_TYPES else "type-0"),
        **{key: word for key, word in words.items() if _KEY.fullmatch(word)},
        "items": [_numbers(item, "id", "weight", "pos") for item in node.at("items").items()],
    }


def _rule(node: Node, names: Renaming) -> dict[str, Any]:
    named = node.get("rule_name")
    return {
        **_numbers(node, "rule_id", "ruleset", "type", "min_size", "max_size"),
        **({"rule_name": names.rules[named.text()]} if named is not None else {}),
        "steps": [_step(step, names) for step in node.items_of("steps")],
    }


def _step(node: Node, names: Renaming) -> dict[str, Any]:
    op, taken, kind = node.at("op").text(), node.get("item_name"), node.get("type")
    new = {"op": op if _KEY.fullmatch(op) else "noop", **_numbers(node, "num", "item", "type")}
    if taken is not None:
        number = node.at("item").integer(-(2**31), DEVICE_ID_MAX)
        new["item_name"] = names.item(number, taken.text())
    if kind is not None and "type" not in new:
        new["type"] = names.types.get(kind.text(), "type-0")
    return new


def _weights(node: Node) -> list[dict[str, Any]]:
    """A set of other weights: for each bucket its number, rows of weights and numbers in place."""
    return [
        {
            **_numbers(entry, "bucket_id"),
            **{
                key: [_plain(one) for one in entry.at(key).items()]
                for key in ("weight_set", "ids")
                if entry.has(key)
            },
        }
        for entry in node.items()
    ]


def _plain(node: Node) -> Any:
    if isinstance(node.value, list):
        return [_plain(one) for one in node.items()]
    return node.number(-(2**53), 2**53) if isinstance(node.value, float) else node.integer(-(2**31))
