"""CRUSH maps as text for Ceph's own compiler: from a dump, or made up."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.ceph_rows import crush_bucket
from tests.reference.losses import TUNABLE_NAMES

JEWEL = (
    "tunable choose_local_tries 0\ntunable choose_local_fallback_tries 0\n"
    "tunable choose_total_tries 50\ntunable chooseleaf_descend_once 1\n"
    "tunable chooseleaf_vary_r 1\ntunable chooseleaf_stable 1\ntunable straw_calc_version 1\n"
    "tunable allowed_bucket_algs 54\n"
)

RULES = (
    ("replicated", "chooseleaf firstn 0 type host"),
    ("replicated", "choose firstn 0 type osd"),
    ("erasure", "chooseleaf indep 0 type host"),
    ("erasure", "choose indep 0 type osd"),
)


def weight(fixed: int) -> str:
    """A 16.16 weight in as many digits as tell it from its neighbours."""
    return f"{fixed / 0x10000:.6f}"


def of_hosts(
    hosts: Sequence[Mapping[int, int]], weight_sets: Mapping[int, Sequence[Sequence[int]]]
) -> str:
    """Hosts of OSDs under one root, with a rule for each of `RULES`.

    Args:
        hosts: The 16.16 weight of each OSD of a host.
        weight_sets: By pool: for each host, the weights that stand in for those of its OSDs.
    """
    osds = sorted(osd for host in hosts for osd in host)
    lines = [JEWEL, *(f"device {osd} osd.{osd}" for osd in osds)]
    lines += ["type 0 osd", "type 1 host", "type 2 root"]
    for number, host in enumerate(hosts):
        items = [f"item osd.{osd} weight {weight(own)}" for osd, own in host.items()]
        lines += crush_bucket("host", f"host{number}", -2 - number, items)
    sums = [weight(sum(host.values())) for host in hosts]
    items = [f"item host{number} weight {own}" for number, own in enumerate(sums)]
    lines += crush_bucket("root", "default", -1, items)
    for number, (kind, step) in enumerate(RULES):
        lines += [f"rule rule{number} {{", f"id {number}", f"type {kind}", "min_size 1"]
        lines += ["max_size 20", "step take default", f"step {step}", "step emit", "}"]
    for pool, sets in weight_sets.items():
        lines.append(f"choose_args {pool} {{")
        for number, values in enumerate(sets):
            shown = " ".join(map(weight, values))
            lines.append(f"{{\nbucket_id {-2 - number}\nweight_set [\n[ {shown} ]\n]\n}}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def of_dump(crush: dict[str, Any]) -> str:
    """The text of a dump without classes and choose_args."""
    lines = [f"tunable {name} {crush['tunables'].get(name, 0)}" for name in TUNABLE_NAMES]
    names = {device["id"]: device["name"] for device in crush["devices"]}
    lines += [f"device {number} {name}" for number, name in sorted(names.items())]
    lines += [f"type {one['type_id']} {one['name']}" for one in crush["types"]]
    names |= {bucket["id"]: bucket["name"] for bucket in crush["buckets"]}
    # The compiler wants a bucket before those that hold it.
    for bucket in sorted(crush["buckets"], key=lambda one: one["type_id"]):
        items = [
            f"item {names[item['id']]} weight {weight(item['weight'])} pos {item['pos']}"
            for item in bucket["items"]
        ]
        kind, name = bucket["type_name"], bucket["name"]
        lines += crush_bucket(kind, name, bucket["id"], items, bucket["alg"])
    for rule in crush["rules"]:
        kind = {1: "replicated", 3: "erasure"}[rule["type"]]
        lines += [f"rule {rule['rule_name']} {{", f"ruleset {rule['ruleset']}", f"type {kind}"]
        lines += [f"min_size {rule['min_size']}", f"max_size {rule['max_size']}"]
        for step in rule["steps"]:
            if step["op"] == "take":
                lines.append(f"step take {step['item_name']}")
            elif step["op"] == "emit":
                lines.append("step emit")
            else:
                operation, mode = step["op"].split("_")
                lines.append(f"step {operation} {mode} {step['num']} type {step['type']}")
        lines.append("}")
    return "\n".join(lines) + "\n"
