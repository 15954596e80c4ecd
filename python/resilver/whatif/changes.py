"""What each kind of change means for a cluster: the core's step, a sentence, lines to paste."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

from resilver.crush import CrushMap
from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph import ConfigEntry
from resilver.text import CRUSH_MAGIC, read_bytes
from resilver.whatif import pool_changes
from resilver.whatif.adding import add
from resilver.whatif.cluster import Cluster
from resilver.whatif.configuration import Ledger, read_setting
from resilver.whatif.declared.forms import FLAGS
from resilver.whatif.naming import (
    Made,
    Targets,
    daemon_lines,
    listed,
    number,
    pair,
    share,
    targets,
    verb,
)
from resilver.whatif.osd_settings import all_settings
from resilver.whatif.replacing import replace

_ONE = 0x10000
_SPEED_MIN = 0.001


def _fail(value: str, cluster: Cluster) -> Made:
    found = targets(value, cluster)
    text = f"{found.text} {verb(found, 'fails', 'fail')}"
    return Made([{"kind": "fail", "osds": found.osds}], text, is_by_choice=False)


def _stop(value: str, cluster: Cluster) -> Made:
    found = targets(value, cluster)
    lines = daemon_lines("stop", found, cluster)
    text = f"{found.text} {verb(found, 'is', 'are')} stopped"
    return Made([{"kind": "stop", "osds": found.osds}], text, lines, is_by_choice=False)


def _start(value: str, cluster: Cluster) -> Made:
    found = targets(value, cluster)
    lines = daemon_lines("start", found, cluster)
    text = f"{found.text} {verb(found, 'starts', 'start')} again"
    return Made([{"kind": "start", "osds": found.osds}], text, lines)


def _slow(value: str, cluster: Cluster) -> Made:
    what, text = pair(value, 'such as "osd.12=30%"')
    found = targets(what, cluster)
    speed = share(text, _SPEED_MIN, "the share of its rates that a device works at")
    at = "full speed" if speed == 1 else f"{100 * speed:g} % speed"
    said = f"{found.text} {verb(found, 'works', 'work')} at {at}"
    change = {"kind": "slow", "osds": found.osds, "share": speed}
    return Made([change], said, is_by_choice=False)


def _marked(value: str, cluster: Cluster, *, word: str, weight: int) -> Made:
    found = targets(value, cluster)
    cluster.reweights.update(dict.fromkeys(found.osds, weight))
    names = " ".join(f"osd.{osd}" for osd in found.osds)
    text = f"{found.text} {verb(found, 'is', 'are')} marked {word}"
    return Made([{"kind": word, "osds": found.osds}], text, [f"ceph osd {word} {names}"])


def _reweight(value: str, cluster: Cluster) -> Made:
    what, text = pair(value, 'such as "osd.3=0.8"')
    found = targets(what, cluster)
    one = number(text, 0, 1, "a reweight", whole=False)
    weight = round(one * _ONE)
    cluster.reweights.update(dict.fromkeys(found.osds, weight))
    lines = [f"ceph osd reweight osd.{osd} {one:g}" for osd in found.osds]
    change = {"kind": "reweight", "osds": found.osds, "weight": weight}
    text = f"{found.text} {verb(found, 'gets', 'get')} a reweight of {one:g}"
    return Made([change], text, lines)


def _crush_weights(found: Targets, weight: float, cluster: Cluster) -> Made:
    changes, lines = [], []
    for item in found.items:
        changes.append({"kind": "crush_reweight", "item": item, "weight": weight})
        is_bucket = item in cluster.tree.buckets
        word = "reweight-subtree" if is_bucket else "reweight"
        lines.append(f"ceph osd crush {word} {shlex.quote(item)} {weight:g}")
    for osd in found.osds:
        if osd in cluster.tree.devices:
            cluster.tree.devices[osd].weight = weight
    return Made(changes, "", lines)


def _crush_reweight(value: str, cluster: Cluster) -> Made:
    what, text = pair(value, 'such as "osd.3=1.8"')
    found = targets(what, cluster)
    weight = number(text, 0, 65_535, "a CRUSH weight", whole=False)
    made = _crush_weights(found, weight, cluster)
    said = f"{found.text} {verb(found, 'gets', 'get')} a CRUSH weight of {weight:g}"
    return Made(made.changes, said, made.commands)


def _drain(value: str, cluster: Cluster) -> Made:
    found = targets(value, cluster)
    made = _crush_weights(found, 0.0, cluster)
    text = f"{found.text} {verb(found, 'is', 'are')} drained by a CRUSH weight of 0"
    return Made(made.changes, text, made.commands)


def _flags(value: str, cluster: Cluster, *, is_set: bool) -> Made:
    words = [word.strip() for word in value.split(",")]
    for word in words:
        if word not in FLAGS:
            rule = "it is no flag that healing heeds"
            raise ConfigError(rule, name_remedy(word, list(FLAGS), "flags"), value=show(word))
        if not FLAGS[word].holds(cluster.release):
            raise ConfigError(FLAGS[word].problem("the flag", cluster.release, value=word))
    verb = "set" if is_set else "unset"
    change = {"kind": "flags", "set": words if is_set else [], "unset": [] if is_set else words}
    what = f"{listed(words)} {'is' if len(words) == 1 else 'are'} {verb}"
    return Made([change], what, [f"ceph osd {verb} {word}" for word in words])


def _map(value: str, cluster: Cluster) -> Made:
    document = CrushMap.read(Path(value)).document()
    tree = BucketTree(document)
    for pool in cluster.pools.values():
        if pool.rule not in tree.rules:
            rule = f"pool '{pool.info.name}' goes by rule {pool.rule}, which this map lacks"
            remedy = f"its rules are {', '.join(map(str, sorted(tree.rules))) or 'none'}"
            raise ConfigError(rule, remedy, place=value)
    cluster.tree = tree
    name = Path(value).name
    text = f"the CRUSH map becomes {name}"
    lines = [shlex.join(["ceph", "osd", "setcrushmap", "-i", name])]
    text_of = read_bytes(Path(value))
    if not text_of.startswith(CRUSH_MAGIC):
        # Ceph takes compiled maps alone, and crushtool compiles no JSON.
        is_json = text_of.lstrip().startswith(b"{")
        lines = [
            shlex.join(
                [
                    *(["resilver", "crush"] if is_json else ["crushtool", "-c"]),
                    name,
                    "-o",
                    f"{name}.bin",
                ]
            ),
            shlex.join(["ceph", "osd", "setcrushmap", "-i", f"{name}.bin"]),
        ]
    return Made([{"kind": "crush", "crushmap": json.dumps(document)}], text, lines)


def _set_option(value: str, cluster: Cluster) -> Made:
    entry = read_setting(value, cluster.release)
    cluster.configuration = cluster.configuration.with_stated([entry])
    used = Ledger()
    cluster.settings = all_settings(cluster.configuration, cluster.kinds.values(), used)
    for sentence in used.warnings:
        cluster.note(sentence)
    change = {
        "kind": "settings",
        "settings": cluster.settings.cluster,
        "osd_settings": cluster.settings.osd,
        "of_osd": sorted(cluster.settings.of_osd.items()),
    }
    lines = cluster.setting_lines(entry)
    return Made([change], setting_text(entry), lines)


def setting_text(entry: ConfigEntry) -> str:
    """What a stated setting does, as a clause."""
    whom = "" if entry.section in ("osd", "mon", "mgr") and not entry.mask else " of " + (
        f"{entry.section}/{entry.mask}" if entry.mask else entry.section
    )  # fmt: skip
    return f"{entry.name}{whom} becomes {entry.value}"


def _add(value: str, cluster: Cluster) -> Made:
    return Made(*add(value, cluster))


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
    document = crush.document()
    _take(cluster, BucketTree(document))
    options = [word for option in _WORDS for row in rows[option] for word in (f"--{option}", *row)]
    tool = ["crushtool", "-i", "crush.bin", "--reclassify", *options, "-o", "reclassified.bin"]
    lines = ["ceph osd getcrushmap -o crush.bin", shlex.join(tool)]
    lines.append("ceph osd setcrushmap -i reclassified.bin")
    text = "legacy trees of the CRUSH map become device classes"
    return Made([{"kind": "crush", "crushmap": json.dumps(document)}], text, lines)


def crush_move(value: str, cluster: Cluster) -> Made:
    """Another place of an OSD or a bucket: ``NAME TYPE=NAME...``, as for `ceph osd crush move`."""
    what, *places = value.split()
    tree, osds = cluster.tree, cluster.osd_names
    kind, sign, bare = what.partition("=")
    name = tree.bucket(kind, bare).name if sign else what
    if name not in tree.buckets and name not in osds:
        rule = "the map has no OSD or bucket of this name"
        raise ConfigError(rule, name_remedy(name, [*osds, *tree.buckets]), value=show(name))
    location = [(kind, to) for kind, _, to in (place.partition("=") for place in places)]
    if not location or not all(to for _, to in location):
        rule = "it is written NAME TYPE=NAME..."
        raise ConfigError(rule, 'such as "node3 rack=r2"', value=show(value))
    for kind, to in location:
        if to in osds:
            rule = f"'{to}' is an OSD, and only buckets hold items"
            raise ConfigError(rule, "name a bucket", value=show(f"{kind}={to}"))
        if to in tree.buckets or kind not in tree.types[1:]:
            tree.bucket(kind, to)
        if to in tree.buckets and name in {place.name for place in tree.above(to)}:
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
    if old not in tree.buckets:
        rule = "the map has no bucket of this name"
        raise ConfigError(rule, name_remedy(old, list(tree.buckets)), value=show(old))
    new = new.strip()
    if not new.isascii() or not new.translate(str.maketrans("-_.", "aaa")).isalnum():
        rule = "the new name is missing, or has other signs than letters, digits, '-', '_' and '.'"
        raise ConfigError(rule, 'such as "node3 node9"', value=show(value))
    if new in tree.buckets or new in cluster.osd_names:
        rule = "an item of the map has this name already"
        raise ConfigError(rule, "choose another name", value=show(new))
    tree.rename(old, new)
    _take(cluster, tree)
    line = shlex.join(["ceph", "osd", "crush", "rename-bucket", old, new])
    change = {"kind": "crush_rename", "item": old, "name": new}
    return Made([change], f"bucket {old} gets the name {new}", [line])


def _take(cluster: Cluster, tree: BucketTree) -> None:
    """Let a cluster have a tree, with what it says of each OSD."""
    cluster.tree = tree
    for osd, kind in cluster.kinds.items():
        if osd in tree.devices:
            own = tree.devices[osd].device_class
            places = tree.places_of(osd)
            cluster.kinds[osd] = dataclasses.replace(kind, places=places, device_class=own)


CHANGES: dict[str, Callable[[str, Cluster], Made]] = {
    "set_option": _set_option,
    "flag": partial(_flags, is_set=True),
    "unflag": partial(_flags, is_set=False),
    "map": _map,
    "reclassify": reclassify,
    "crush_rename": crush_rename,
    "crush_move": crush_move,
    "add": _add,
    "replace": replace,
    "set_rule": pool_changes.set_rule,
    "pool_size": pool_changes.pool_size,
    "pg_num": pool_changes.pg_num,
    "crush_reweight": _crush_reweight,
    "reweight": _reweight,
    "drain": _drain,
    "in": partial(_marked, word="in", weight=_ONE),
    "out": partial(_marked, word="out", weight=0),
    "upmap": pool_changes.upmap,
    "balance": pool_changes.balance,
    "force": pool_changes.force,
    "slow": _slow,
    "start": _start,
    "stop": _stop,
    "fail": _fail,
}
"""What makes a change of each kind of `resilver.whatif.kinds`."""
