"""What changes of the CRUSH map's hierarchy mean."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

from resilver.crush import CrushMap
from resilver.errors import ConfigError, name_remedy, show
from resilver.whatif.cluster import Cluster
from resilver.whatif.naming import Made
from resilver.whatif.tree import Tree

_WORDS = {"set-subtree-class": 2, "reclassify-root": 2, "reclassify-bucket": 3}


def reclassify(value: str, cluster: Cluster) -> Made:
    """Legacy trees turned into device classes: the words of `crushtool --reclassify`."""
    if cluster.is_changed:
        rule = "a map is reclassified as it is, and this plan changes it before"
        raise ConfigError(rule, "plan that by itself", value=show(value))
    rows: dict[str, list[tuple[str, ...]]] = {option: [] for option in _WORDS}
    words = value.split()
    while words:
        option, *words = words
        option = option.removeprefix("--")
        count = _WORDS.get(option, 0)
        if option != "reclassify" and (count == 0 or len(words) < count):
            rule = "it is written in crushtool's words"
            remedy = 'such as "--set-subtree-class default hdd --reclassify-root default hdd"'
            raise ConfigError(rule, remedy, value=show(value))
        rows.setdefault(option, []).append(tuple(words[:count]))
        words = words[count:]
    crush = CrushMap.from_json(cluster.report.crushmap)
    crush = crush.reclassified(*(rows[option] for option in _WORDS))
    crushmap = json.dumps(crush.document())
    _take(cluster, Tree(crushmap))
    options = [word for option in _WORDS for row in rows[option] for word in (f"--{option}", *row)]
    tool = ["crushtool", "-i", "crush.bin", "--reclassify", *options, "-o", "reclassified.bin"]
    lines = ["ceph osd getcrushmap -o crush.bin", shlex.join(tool)]
    lines.append("ceph osd setcrushmap -i reclassified.bin")
    text = "legacy trees of the CRUSH map become device classes"
    return Made([{"kind": "crush", "crushmap": crushmap}], text, lines)


def crush_move(value: str, cluster: Cluster) -> Made:
    """Another place of an OSD or a bucket: ``NAME TYPE=NAME...``, as for `ceph osd crush move`."""
    what, *places = value.split()
    tree, osds = cluster.tree, cluster.osd_names
    kind, sign, bare = what.partition("=")
    name = tree.bucket(kind, bare).name if sign else what
    if name not in tree.places and name not in osds:
        rule = "the map has no OSD or bucket of this name"
        raise ConfigError(rule, name_remedy(name, [*osds, *tree.places]), value=show(name))
    location = [(kind, to) for kind, _, to in (place.partition("=") for place in places)]
    if not location or not all(to for _, to in location):
        rule = "it is written NAME TYPE=NAME..."
        raise ConfigError(rule, 'such as "node3 rack=r2"', value=show(value))
    for kind, to in location:
        if to in osds:
            rule = f"'{to}' is an OSD, and only buckets hold items"
            raise ConfigError(rule, "name a bucket", value=show(f"{kind}={to}"))
        if to in tree.places or kind not in tree.types[1:]:
            tree.bucket(kind, to)
        if to in tree.places and name in {place.name for place in tree.above(to)}:
            rule = f"{name} cannot stand below itself"
            raise ConfigError(rule, "choose another place", value=show(f"{kind}={to}"))
    tree.move(name, location)
    _take(cluster, tree)
    line = shlex.join(["ceph", "osd", "crush", "move", name, *places])
    change = {"kind": "crush_move", "item": name, "location": location}
    where = " of ".join(f"{kind} {to}" for kind, to in tree.by_type(location))
    return Made([change], f"{name} moves to {where}", [line])


def crush_rename(value: str, cluster: Cluster) -> Made:
    """Another name of a bucket: ``OLD NEW``, as for `ceph osd crush rename-bucket`."""
    tree = cluster.tree
    old, _, new = value.strip().partition(" ")
    if old not in tree.places:
        rule = "the map has no bucket of this name"
        raise ConfigError(rule, name_remedy(old, list(tree.places)), value=show(old))
    new = new.strip()
    if not new.isascii() or not new.translate(str.maketrans("-_.", "aaa")).isalnum():
        rule = "the new name is missing, or has other signs than letters, digits, '-', '_' and '.'"
        raise ConfigError(rule, 'such as "node3 node9"', value=show(value))
    if new in tree.places or new in cluster.osd_names:
        rule = "an item of the map has this name already"
        raise ConfigError(rule, "choose another name", value=show(new))
    tree.rename(old, new)
    _take(cluster, tree)
    line = shlex.join(["ceph", "osd", "crush", "rename-bucket", old, new])
    change = {"kind": "crush_rename", "item": old, "name": new}
    return Made([change], f"bucket {old} gets the name {new}", [line])


def _take(cluster: Cluster, tree: Tree) -> None:
    """Let a cluster have a tree, with what it says of each OSD."""
    cluster.tree = tree
    for number, kind in cluster.kinds.items():
        if number in tree.devices:
            own = tree.devices[number].device_class
            places = tree.places_of(number)
            cluster.kinds[number] = replace(kind, places=places, device_class=own)
