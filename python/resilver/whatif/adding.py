"""Hosts and OSDs that a plan adds, each like one that is there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from resilver.errors import ConfigError, name_remedy, show
from resilver.whatif.cluster import Cluster
from resilver.whatif.configuration import Ledger
from resilver.whatif.osd_settings import OsdKind, all_settings
from resilver.whatif.tree import Device, Place

_WRITTEN = re.compile(
    r"(?P<count>\d+)\s+(?P<kind>\S+?)s?\s+like\s+(?P<like>\S+)"
    r"(?:\s+in\s+(?P<type>\S+?)=(?P<places>\S+))?(?:\s+class\s+(?P<class>\S+))?"
)
_EXAMPLE = 'such as "4 hosts like node1 in rack=r2" or "2 osds like osd.3 in host=node1"'
_ADDED_MAX = 10_000
_WEIGHT_ONE = 0x10000


def add(value: str, cluster: Cluster) -> tuple[list[dict[str, Any]], str]:
    """What adding comes to.

    Args:
        value: ``4 hosts like node1 [in rack=r2] [class ssd]``; in several places they go to each in
            turn.
        cluster: The cluster, which gets them.

    Returns:
        The core's changes and a clause; no command brings hardware.

    Raises:
        ConfigError: It is not written so, names nothing, or leaves the place open.
    """
    match = _WRITTEN.fullmatch(value.strip())
    if match is None:
        rule = "what is added is so many, of a kind, like one that is there, and their place"
        raise ConfigError(rule, _EXAMPLE, value=show(value))
    count = int(match["count"])
    if not 1 <= count <= _ADDED_MAX:
        rule = f"from 1 to {_ADDED_MAX:,} are added at a time"
        raise ConfigError(rule, "add fewer, or in several steps", value=show(value))
    kind = match["kind"]
    if kind == cluster.tree.types[0]:
        added, what = _osds(cluster, match, count, value), "OSD"
    else:
        added, what = _buckets(cluster, match, count, value), kind
    like = match["like"].rpartition("=")[2]
    text = f"{what} like {like} is" if count == 1 else f"{what}s like {like} are"
    text = f"{count} {text} added"
    if what != "OSD":
        text += " with 1 OSD" if len(added) == 1 else f" with {len(added)} OSDs in all"
    return [*_settings(cluster, added), {"kind": "add", "osds": added}], text


def _osds(cluster: Cluster, match: re.Match[str], count: int, value: str) -> list[dict[str, Any]]:
    """OSDs like one, in its host or in others."""
    names = cluster.osd_names
    like = match["like"]
    if like not in names:
        rule = "there is no OSD of this name"
        raise ConfigError(rule, name_remedy(like, list(names)), value=show(like))
    template = cluster.tree.devices.get(names[like])
    if template is None:
        rule = f"{like} has no place in the CRUSH map"
        raise ConfigError(rule, "name one that has", value=show(value))
    hosts = _named_places(cluster, match) or [cluster.tree.places[template.parent]]
    added = []
    for index in range(count):
        host = hosts[index % len(hosts)]
        device_class = match["class"] or template.device_class
        added.append(_new_osd(cluster, template, device_class, host))
    return added


def _buckets(
    cluster: Cluster, match: re.Match[str], count: int, value: str
) -> list[dict[str, Any]]:
    """Hosts or other buckets like one, each with as many OSDs."""
    like, tree = match["like"].rpartition("=")[2], cluster.tree
    template = tree.bucket(match["kind"], like)
    parents = _named_places(cluster, match) or [_place_beside(cluster, template, value)]
    added = []
    for index in range(count):
        parent = parents[index % len(parents)]
        added += _copy(cluster, template, parent, match["class"] or "")
    return added


def _named_places(cluster: Cluster, match: re.Match[str]) -> list[Place]:
    """The buckets after ``in``."""
    if match["type"] is None:
        return []
    return [cluster.tree.bucket(match["type"], name) for name in match["places"].split(",")]


def _place_beside(cluster: Cluster, template: Place, value: str) -> Place:
    """The bucket that holds the template, where there is no other of its kind."""
    tree = cluster.tree
    if not template.parent:
        rule = f"'{template.name}' stands in no bucket, so that nothing says where new ones go"
        raise ConfigError(rule, f"add their place, {_EXAMPLE}", value=show(value))
    parent = tree.places[template.parent]
    alike = [one.name for one in tree.places.values() if one.kind == parent.kind]
    if len(alike) > 1 and parent.parent:
        rule = (
            f"nothing says where they go: {template.name} is in {parent.kind} {parent.name}, one "
            f"of {len(alike)}"
        )
        remedy = f'add their place, such as "in {parent.kind}={parent.name}"'
        raise ConfigError(rule, remedy, value=show(value))
    return parent


def _copy(
    cluster: Cluster, template: Place, parent: Place, device_class: str
) -> list[dict[str, Any]]:
    """A bucket like another, with all that is in it."""
    tree = cluster.tree
    made = tree.add_place(_free_name(cluster, template.name), template.kind, parent.name)
    added = []
    for item in list(template.items):
        if isinstance(item, str):
            added += _copy(cluster, tree.places[item], made, device_class)
        elif item in cluster.osds:
            device = tree.devices[item]
            added.append(_new_osd(cluster, device, device_class or device.device_class, made))
    return added


def _free_name(cluster: Cluster, like: str) -> str:
    number = 1
    while f"{like}-new{number}" in cluster.tree.places:
        number += 1
    return f"{like}-new{number}"


def _new_osd(
    cluster: Cluster, template: Device, device_class: str, parent: Place
) -> dict[str, Any]:
    """An OSD like another, empty, under the lowest number that is free, as Ceph gives them."""
    tree = cluster.tree
    number = next(one for one in range(len(cluster.osds) + 1) if one not in cluster.osds)
    name = f"osd.{number}"
    # Its size in TiB where the template has no CRUSH weight.
    weight = template.weight or cluster.osds[template.id]["capacity_bytes"] / 2**40
    tree.add_device(Device(number, name, device_class, weight, parent.name))
    location = [(place.kind, place.name) for place in tree.above(parent.name)]
    places = tree.places_of(number)
    kind = replace(
        cluster.kinds[template.id], id=number, name=name, device_class=device_class, places=places
    )
    cluster.kinds[number] = kind
    host = tree.places.get(places.get("host", ""))
    cluster.osds[number] = {
        **cluster.osds[template.id],
        "id": number,
        "up": True,
        "reweight": _WEIGHT_ONE,
        "affinity": _WEIGHT_ONE,
        "used_bytes": 0,
        "host": host.id if host is not None else -1,
    }
    cluster.reweights[number] = _WEIGHT_ONE
    return {
        "osd": cluster.osds[number],
        "name": name,
        "weight": tree.devices[number].weight,
        "class": device_class,
        "location": location,
    }


def _settings(cluster: Cluster, added: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give new OSDs their settings; the change that makes them known, where they are others."""
    before = cluster.settings
    kinds: list[OsdKind] = list(cluster.kinds.values())
    cluster.settings = all_settings(cluster.configuration, kinds, Ledger())
    for one in added:
        one["osd"]["settings"] = cluster.settings.of_osd[one["osd"]["id"]]
    if cluster.settings.osd == before.osd:
        return []
    change = {
        "kind": "settings",
        "settings": cluster.settings.cluster,
        "osd_settings": cluster.settings.osd,
        "of_osd": sorted(before.of_osd.items()),
    }
    return [change]
