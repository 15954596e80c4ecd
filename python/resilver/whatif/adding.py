"""Hosts and OSDs that a plan adds, each like one that is there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.buckets import Bucket, Device
from resilver.units import Bytes
from resilver.whatif.cluster import Cluster, new_min_alloc
from resilver.whatif.configuration import Ledger
from resilver.whatif.osd_settings import OsdKind, all_settings

_WRITTEN = re.compile(
    r"(?P<count>\d+)\s+(?P<kind>\S+?)s?(?:\s+like\s+(?P<like>\S+))?"
    r"(?:\s+with\s+(?:(?P<osds>\d+)\s*x\s*)?"
    r"(?P<size>[\d.]+\s*(?!(?:x|in|class)\b)[A-Za-z]+)"
    r"(?:\s+(?P<of>(?!in\b|class\b)\S+))?)?"
    r"(?:\s+in\s+(?P<type>\S+?)=(?P<places>\S+))?(?:\s+class\s+(?P<class>\S+))?"
)
_EXAMPLE = (
    'such as "4 hosts like node1 in rack=r2", "1 host with 10 x 18 TB hdd in rack=r2" or '
    '"2 osds like osd.3 with 18 TB in host=node1"'
)
_ADDED_MAX = 10_000
_BYTES_LEAST, _BYTES_MOST = 2**30, 2**50
_WEIGHT_ONE = 0x10000
_WEIGHT_SLACK = 0.05


def add(value: str, cluster: Cluster) -> tuple[list[dict[str, Any]], str]:
    """What adding comes to.

    Args:
        value: ``4 hosts like node1 [with 10 x 18 TB] [in rack=r2] [class ssd]``; several places
            take turns. Without ``like``, OSDs of a size have the device model and host type of the
            OSD of their class that is closest in size.
        cluster: The cluster, which gets them.

    Returns:
        The core's changes and a clause; no command brings hardware.

    Raises:
        ConfigError: It is not written so, names nothing, or leaves the place open.
    """
    match = _WRITTEN.fullmatch(value.strip())
    if match is None or not (match["like"] or match["size"]):
        rule = "it needs a number, a kind, and what they are like or their size"
        raise ConfigError(rule, _EXAMPLE, value=show(value))
    count = int(match["count"])
    if not 1 <= count <= _ADDED_MAX:
        rule = f"from 1 to {_ADDED_MAX:,} are added at a time"
        raise ConfigError(rule, "add fewer, or in several steps", value=show(value))
    kind = match["kind"]
    if match["size"]:
        added, text = _sized(cluster, match, count, value)
        return [*_settings(cluster, added), {"kind": "add", "osds": added}], text
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


def _sized(
    cluster: Cluster, match: re.Match[str], count: int, value: str
) -> tuple[list[dict[str, Any]], str]:
    """OSDs of a stated size, by themselves or in new buckets, and a clause."""
    tree, kind, each = cluster.tree, match["kind"], int(match["osds"] or 1)
    size = int(Bytes.parse(match["size"]))
    is_osd = kind == tree.types[0]
    if is_osd == bool(match["osds"]):
        rule = "an OSD has a single size" if is_osd else f"the number of OSDs a {kind} is missing"
        remedy = 'write "with 18 TB"' if is_osd else 'write "with 10 x 18 TB"'
        raise ConfigError(rule, remedy, value=show(value))
    check_device(size, value)
    if not 1 <= each * count <= _ADDED_MAX:
        rule = f"1 to {_ADDED_MAX:,} OSDs can be added at a time"
        raise ConfigError(rule, "add fewer, or in several steps", value=show(value))
    template = _template(cluster, match, size, value)
    device_class = match["of"] or match["class"] or template.device_class
    like = tree.buckets[template.parent]
    if not is_osd and like.kind != kind:
        rule, remedy = f"OSDs are in a {like.kind}, not directly in a {kind}", f"add {like.kind}s"
        raise ConfigError(rule, remedy, value=show(value))
    parents = _named_places(cluster, match)
    if not parents and not is_osd:
        parents = [_place_beside(cluster, like, value)]
    elif not parents and match["like"]:
        parents = [like]
    if not parents:
        rule = "the host is missing"
        raise ConfigError(rule, 'add it, such as "in host=node1"', value=show(value))
    added = []
    for index in range(count):
        parent = parents[index % len(parents)]
        if not is_osd:
            parent = tree.add_bucket(_free_name(cluster, like.name), kind, parent.name)
        added += [_new_osd(cluster, template, device_class, parent, size) for _ in range(each)]
    note_weights(cluster, template, size)
    osds = f"{count * each} OSD{'s' * (count * each > 1)} of {match['size']}"
    what = osds if is_osd else f"{count} {kind}{'s' * (count > 1)} with {osds}"
    verb = "is" if count == 1 else "are"
    return added, f"{what} {verb} added, with the device model of {template.name}"


def check_device(size: int, value: str) -> None:
    """Refuse a device of a size in bytes that none has.

    Raises:
        ConfigError: It is too small or too large.
    """
    if not _BYTES_LEAST <= size <= _BYTES_MOST:
        rule = "a device holds from 1 GiB to 1 PiB"
        raise ConfigError(rule, 'such as "18 TB"', value=show(value))


def _template(cluster: Cluster, match: re.Match[str], size: int, value: str) -> Device:
    """The OSD that new ones are like, but for their size: of their class the closest in size."""
    tree, wanted = cluster.tree, match["of"] or match["class"] or ""
    if match["class"] and wanted != match["class"]:
        rule = f"two device classes are given, {wanted} and {match['class']}"
        raise ConfigError(rule, "give one", value=show(value))
    if match["like"] and match["kind"] == tree.types[0]:
        return _like_osd(cluster, match["like"], value)
    below = None
    if match["like"]:
        below = tree.below(tree.bucket(match["kind"], match["like"].rpartition("=")[2]).name)
    candidates = [
        tree.devices[osd]
        for osd in cluster.osds
        if osd in tree.devices
        and (below is None or osd in below)
        and wanted in ("", tree.devices[osd].device_class)
    ]
    classes = sorted({device.device_class for device in candidates})
    if not candidates:
        rule = f"no OSD of class {wanted} has a device model to copy"
        raise ConfigError(rule, 'add "like osd.3", or "like node1"', value=show(value))
    if len(classes) > 1:
        rule = f"the device class is missing: {' or '.join(classes)}"
        remedy = f'add it after the size, such as "{match["size"]} {classes[-1]}"'
        raise ConfigError(rule, remedy, value=show(value))
    return min(candidates, key=lambda osd: (abs(cluster.capacity_of(osd.id) - size), osd.id))


def note_weights(cluster: Cluster, template: Device, size: int) -> None:
    """Warn where the map's weights are not sizes in TiB, as those of new OSDs are."""
    present = cluster.capacity_of(template.id) / 2**40
    if template.weight and abs(template.weight / present - 1) > _WEIGHT_SLACK:
        cluster.note(
            f"New OSDs get a CRUSH weight of their size in TiB ({size / 2**40:.2f}), Ceph's "
            f"default. {template.name} has weight {template.weight:.2f} for {present:.2f} TiB, so "
            f"a new OSD gets {present / template.weight:.2g} times as much data per TiB. Use "
            "--crush-reweight to change that."
        )


def _like_osd(cluster: Cluster, like: str, value: str) -> Device:
    names = cluster.osd_names
    if like not in names:
        rule = "there is no OSD of this name"
        raise ConfigError(rule, name_remedy(like, list(names)), value=show(like))
    template = cluster.tree.devices.get(names[like])
    if template is None:
        rule = f"{like} has no place in the CRUSH map"
        raise ConfigError(rule, "name one that has", value=show(value))
    return template


def _osds(cluster: Cluster, match: re.Match[str], count: int, value: str) -> list[dict[str, Any]]:
    """OSDs like one, in its host or in others."""
    template = _like_osd(cluster, match["like"], value)
    hosts = _named_places(cluster, match) or [cluster.tree.buckets[template.parent]]
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


def _named_places(cluster: Cluster, match: re.Match[str]) -> list[Bucket]:
    """The buckets after ``in``."""
    if match["type"] is None:
        return []
    return [cluster.tree.bucket(match["type"], name) for name in match["places"].split(",")]


def _place_beside(cluster: Cluster, template: Bucket, value: str) -> Bucket:
    """The bucket that holds the template, where there is no other of its kind."""
    tree = cluster.tree
    if not template.parent:
        rule = f"'{template.name}' stands in no bucket, so that nothing says where new ones go"
        raise ConfigError(rule, f"add their place, {_EXAMPLE}", value=show(value))
    parent = tree.buckets[template.parent]
    alike = [one.name for one in tree.buckets.values() if one.kind == parent.kind]
    if len(alike) > 1 and parent.parent:
        rule = (
            f"nothing says where they go: {template.name} is in {parent.kind} {parent.name}, one "
            f"of {len(alike)}"
        )
        remedy = f'add their place, such as "in {parent.kind}={parent.name}"'
        raise ConfigError(rule, remedy, value=show(value))
    return parent


def _copy(
    cluster: Cluster, template: Bucket, parent: Bucket, device_class: str
) -> list[dict[str, Any]]:
    """A bucket like another, with all that is in it."""
    tree = cluster.tree
    made = tree.add_bucket(_free_name(cluster, template.name), template.kind, parent.name)
    added = []
    for item in list(template.items):
        if isinstance(item, str):
            added += _copy(cluster, tree.buckets[item], made, device_class)
        elif item in cluster.osds:
            device = tree.devices[item]
            added.append(_new_osd(cluster, device, device_class or device.device_class, made))
    return added


def _free_name(cluster: Cluster, like: str) -> str:
    number = 1
    while f"{like}-new{number}" in cluster.tree.buckets:
        number += 1
    return f"{like}-new{number}"


def _new_osd(
    cluster: Cluster, template: Device, device_class: str, parent: Bucket, size: int = 0
) -> dict[str, Any]:
    """An OSD like another, empty, under the lowest number that is free, as Ceph gives them.

    Of another size, where one is given, which is then its weight.
    """
    tree = cluster.tree
    number = next(one for one in range(len(cluster.osds) + 1) if one not in cluster.osds)
    name = f"osd.{number}"
    capacity = size or cluster.osds[template.id]["capacity_bytes"]
    # Its size in TiB where the template has no CRUSH weight.
    weight = capacity / 2**40 if size or not template.weight else template.weight
    tree.add_device(Device(number, name, device_class, weight, parent.name))
    location = [(place.kind, place.name) for place in tree.above(parent.name)]
    places = tree.places_of(number)
    kind = replace(
        cluster.kinds[template.id], id=number, name=name, device_class=device_class, places=places
    )
    cluster.kinds[number] = kind
    host = tree.buckets.get(places.get("host", ""))
    cluster.osds[number] = {
        **cluster.osds[template.id],
        "id": number,
        "up": True,
        "reweight": _WEIGHT_ONE,
        "affinity": _WEIGHT_ONE,
        "capacity_bytes": capacity,
        "used_bytes": 0,
        "min_alloc_bytes": new_min_alloc(cluster, kind),
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
