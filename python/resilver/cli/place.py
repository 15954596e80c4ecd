"""`resilver place`: where CRUSH puts groups, objects and inputs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.cli.console import print_json
from resilver.errors import ConfigError, name_remedy

if TYPE_CHECKING:
    from resilver.importers import ClusterReport, PoolInfo
    from resilver.simulate import CrushMap

# Inputs mapped at a time: enough to keep the core busy, few enough that output begins at once.
_INPUTS_PER_BATCH = 1 << 16

# CRUSH inputs are 32-bit numbers.
_INPUT_MAX = 2**32 - 1

# What Ceph prints where a strip of an erasure-coded group has no device (CRUSH_ITEM_NONE).
_HOLE = 2**31 - 1

# What a compiled map begins with: CRUSH_MAGIC 0x00010000, little-endian (Ceph, crush/crush.h).
_BINARY_MAGIC = b"\x00\x00\x01\x00"


@dataclass(frozen=True)
class PlaceRequest:
    """What to place.

    Attributes:
        source: the report or map.
        groups: every placement group of a report.
        object_name: one object of `pool`.
        pool: a pool's name or number.
        rule: a rule's number or name.
        copies: devices an input.
        first: first input.
        last: last input, included.
        mappings: print where each input goes.
    """

    source: Path
    groups: bool
    object_name: str | None
    pool: str | None
    rule: str | None
    copies: int
    first: int
    last: int
    mappings: bool


def place(request: PlaceRequest, *, as_json: bool) -> None:
    """Print what was asked for.

    Args:
        request: what to place.
        as_json: print JSON instead of text.

    Raises:
        ConfigError: the file is none of the known kinds, or lacks what was asked for.
    """
    kind, text = sniff(request.source)
    modes = [request.groups, request.object_name is not None, request.rule is not None]
    if sum(modes) != 1:
        raise ConfigError(
            "place needs exactly one of --groups, --object NAME and --rule RULE; for example "
            f"`resilver place {request.source} "
            f"{'--groups' if kind == 'report' else '--rule 0 --num-rep 3 --show-mappings'}`"
        )
    if request.rule is not None:
        _place_inputs(request, _map_of(kind, text), as_json=as_json)
        return
    if kind != "report":
        option = "--groups" if request.groups else "--object"
        raise ConfigError(
            f"{option}: {str(request.source)!r} is a CRUSH map and has no pools; "
            "give the JSON that `ceph report` prints, or ask for --rule RULE"
        )
    from resilver.importers import read_report

    report = read_report(request.source)
    if request.groups:
        _place_groups(report, request.pool, as_json=as_json)
    else:
        _place_object(report, request.object_name or "", request.pool, as_json=as_json)


def sniff(path: Path) -> tuple[str, str]:
    """What a file is, by its content.

    Args:
        path: the file.

    Returns:
        "report", "dump" (a CRUSH map as JSON) or "text" (a CRUSH map as text), and the content.

    Raises:
        ConfigError: it cannot be read or is none of these.
    """
    from resilver.importers.text import decode, parse_json, read_bytes

    data = read_bytes(path)
    if data.startswith(_BINARY_MAGIC):
        raise ConfigError(
            f"{str(path)!r} is a compiled CRUSH map; make text of it with "
            f"`crushtool -d {path} -o map.txt`"
        )
    text = decode(data, path)
    if not text.lstrip().startswith(("{", "[")):
        return "text", text
    document = parse_json(text, path)
    if isinstance(document, dict) and "osdmap" in document and "crushmap" in document:
        return "report", text
    if isinstance(document, dict) and "buckets" in document and "rules" in document:
        return "dump", text
    raise ConfigError(
        f"{str(path)!r} is JSON, but neither a `ceph report` (osdmap, crushmap) nor a "
        "`ceph osd crush dump` (buckets, rules); give one of these or a CRUSH map as text"
    )


def _map_of(kind: str, text: str) -> CrushMap:
    from resilver.simulate import CrushMap

    if kind == "text":
        return CrushMap.from_text(text)
    if kind == "report":
        text = json.dumps(json.loads(text)["crushmap"])
    return CrushMap.from_json(text)


def _place_groups(report: ClusterReport, pool: str | None, *, as_json: bool) -> None:
    pools = list(report.pools) if pool is None else [_pool(report, pool)]
    rows = [row for chosen in sorted(pools, key=lambda p: p.id) for row in _groups(report, chosen)]
    if as_json:
        print_json(rows)
        return
    width = max((len(row["pgid"]) for row in rows), default=0)
    for row in rows:
        sys.stdout.write(f"{row['pgid']:<{width}}  {_bracketed(row['up'])}\n")


def _groups(report: ClusterReport, pool: PoolInfo) -> Iterator[dict[str, Any]]:
    from resilver.simulate import group_up_sets

    for number, devices in enumerate(group_up_sets(report, pool.id)):
        yield {"pgid": f"{pool.id}.{number:x}", "up": _present(devices)}


def _place_object(report: ClusterReport, name: str, pool: str | None, *, as_json: bool) -> None:
    from resilver.simulate import group_up_sets, object_group

    if pool is None:
        names = ", ".join(known.name for known in report.pools)
        raise ConfigError(f"--object needs --pool POOL; this report has the pools {names}")
    chosen = _pool(report, pool)
    number = object_group(chosen, name)
    up = _present(group_up_sets(report, chosen.id)[number])
    pgid = f"{chosen.id}.{number:x}"
    if as_json:
        print_json({"object": name, "pool": chosen.name, "pgid": pgid, "up": up})
        return
    where = f"group {pgid} -> up {_bracketed(up)}"
    sys.stdout.write(f"pool '{chosen.name}' ({chosen.id}) object '{name}' -> {where}\n")


def _pool(report: ClusterReport, wanted: str) -> PoolInfo:
    for pool in report.pools:
        if wanted in (pool.name, str(pool.id)):
            return pool
    names = [pool.name for pool in report.pools]
    raise ConfigError(
        f'--pool = "{wanted}": the report has no such pool; {name_remedy(wanted, names, "pools")}'
    )


def _place_inputs(request: PlaceRequest, crush: CrushMap, *, as_json: bool) -> None:
    rule = _rule(crush.rules(), request.rule or "")
    if not 0 <= request.first <= request.last <= _INPUT_MAX:
        raise ConfigError(
            f"--min-x = {request.first}, --max-x = {request.last}: inputs go from 0 to "
            f"{_INPUT_MAX}, the first not after the last"
        )
    if as_json:
        rows = [{"rule": rule, "x": x, "devices": up} for x, up in _mappings(crush, rule, request)]
        print_json(rows)
        return
    if not request.mappings:
        _print_counts(crush, rule, request)
        return
    for x, devices in _mappings(crush, rule, request):
        sys.stdout.write(f"CRUSH rule {rule} x {x} {_bracketed(devices)}\n")


def _mappings(crush: CrushMap, rule: int, request: PlaceRequest) -> Iterator[tuple[int, list[int]]]:
    for begin in range(request.first, request.last + 1, _INPUTS_PER_BATCH):
        end = min(begin + _INPUTS_PER_BATCH, request.last + 1)
        inputs = np.arange(begin, end, dtype=np.uint32)
        for x, devices in zip(
            range(begin, end), crush.map_rule(rule, inputs, request.copies, None), strict=True
        ):
            yield x, _present(devices)


def _print_counts(crush: CrushMap, rule: int, request: PlaceRequest) -> None:
    """Without --show-mappings: how many inputs each device got, and how many came up short."""
    counts: dict[int, int] = {}
    short = 0
    for _, devices in _mappings(crush, rule, request):
        found = [device for device in devices if device != _HOLE]
        short += len(found) < request.copies
        for device in found:
            counts[device] = counts.get(device, 0) + 1
    inputs = request.last - request.first + 1
    sys.stdout.write(f"rule {rule}, {inputs:,} inputs, {request.copies} copies, {short:,} short\n")
    width = max((len(crush.device_name(device)) for device in counts), default=0)
    for device in sorted(counts):
        sys.stdout.write(f"{crush.device_name(device):<{width}}  {counts[device]:>10,}\n")


def _rule(rules: Sequence[tuple[int, str]], wanted: str) -> int:
    for number, name in rules:
        if wanted in (name, str(number)):
            return number
    known = ", ".join(f"{number} ({name})" for number, name in rules)
    raise ConfigError(f'--rule = "{wanted}": the map has no such rule; it has {known or "none"}')


def _present(devices: Any) -> list[int]:
    """A mapping without the -1 that pads a short one; holes stay, for a position has a meaning."""
    return [int(device) for device in devices if device != -1]


def _bracketed(devices: Sequence[int]) -> str:
    """A list as Ceph's tools print it, without spaces."""
    return "[" + ",".join(map(str, devices)) + "]"
