"""A rule's inputs, in the words of `crushtool --test`, so that `diff` of the two is silent.

What crushtool prints where was found by running it (Ceph 16): everything that a --show option asks
for goes to stdout, the devices' weights in hexadecimal to stderr. Its numbers are single precision
and print with six digits; here they are computed and printed the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.cli.console import print_json, say
from resilver.cli.place.inputs import (
    HOLE,
    NONE,
    bracketed,
    copies_of,
    mixed,
    range_of,
    reweights_of,
    rules_of,
)
from resilver.cli.place.request import PlaceRequest

if TYPE_CHECKING:
    from resilver.cli.place.source import MapSource
    from resilver.cli.place.structure import Rule

# Inputs mapped at a time: enough to keep the core busy, few enough that output begins at once.
_INPUTS_PER_BATCH = 1 << 16

# What crushtool multiplies with and prints in: C's float, and its stream's six digits.
_FLOAT = np.float32


@dataclass(frozen=True)
class Tally:
    """What one rule made of its inputs with one number of copies.

    Attributes:
        rule: The rule.
        copies: How many devices each input asked for.
        inputs: How many inputs there were.
        stored: Copies on each device, by number.
        sizes: By the length of a mapping, how many inputs got it; holes count.
        short: How many inputs got fewer devices than asked for.
        expected: What crushtool expects on each device.
    """

    rule: Rule
    copies: int
    inputs: int
    stored: npt.NDArray[np.int64]
    sizes: dict[int, int]
    short: int
    expected: npt.NDArray[np.float32]


def show(source: MapSource, request: PlaceRequest, *, as_json: bool) -> None:
    """Map inputs and print what was asked for.

    Args:
        source: The map.
        request: The rules, inputs and --show options.
        as_json: Print JSON instead of crushtool's lines.

    Raises:
        ConfigError: The map has no such rule or device, or a range is empty.
    """
    rules = rules_of(source, request)
    first, last = range_of(request)
    weights = reweights_of(source, request)
    if request.test and not request.shows:
        say("WARNING: no output selected; use --output-csv or --show-X")
        return
    if as_json:
        print_json(_json(source, request, rules, first, last, weights))
        return
    if request.utilization_all:
        sys.stdout.flush()
        say("devices weights (hex): [" + ",".join(f"{weight:x}" for weight in weights) + "]")
    for number, rule in rules:
        if rule is None:
            if _statistics(request):
                sys.stdout.write(f"rule {number} dne\n")
            continue
        low, high = copies_of(rule, request)
        if _statistics(request):
            sys.stdout.write(
                f"rule {number} ({rule.name}), x = {first}..{last}, numrep = {low}..{high}\n"
            )
        # Without any weight crushtool maps nothing; its total is a C int, which may wrap to zero.
        if not _total(weights):
            continue
        for copies in range(low, high + 1):
            tally = _tally(source, request, rule, copies, first, last, weights, _write_batch)
            _write_tally(request, tally, f"rule {number} ({rule.name}) num_rep {copies}")


def _statistics(request: PlaceRequest) -> bool:
    """Whether the header and the counts of sizes are wanted: utilisation brings them along."""
    return request.statistics or request.utilization or request.utilization_all


def _total(weights: npt.NDArray[np.uint32]) -> int:
    return int(weights.sum(dtype=np.uint32).view(np.int32))


def _tally(
    source: MapSource,
    request: PlaceRequest,
    rule: Rule,
    copies: int,
    first: int,
    last: int,
    weights: npt.NDArray[np.uint32],
    see: Any,
) -> Tally:
    """Map the inputs, let `see` look at each batch, and count."""
    stored = np.zeros(source.structure.device_count + 1, dtype=np.int64)
    sizes: dict[int, int] = {}
    short = 0
    for inputs, sets in batches(source, request, rule.id, copies, first, last, weights):
        see(request, rule.id, copies, inputs, sets)
        there = (sets >= 0) & (sets != HOLE)
        stored += np.bincount(sets[there], minlength=len(stored))
        lengths, counts = np.unique(np.count_nonzero(sets != NONE, axis=1), return_counts=True)
        for length, count in zip(lengths.tolist(), counts.tolist(), strict=True):
            sizes[length] = sizes.get(length, 0) + count
        short += int(np.count_nonzero(np.count_nonzero(there, axis=1) < copies))
    inputs_count = last - first + 1
    most = min(copies, source.structure.most_affected(rule)) * max(inputs_count, 0)
    share = weights.astype(_FLOAT) / _FLOAT(_total(weights))
    expected = share * _FLOAT(most)
    return Tally(rule, copies, inputs_count, stored[:-1], sizes, short, expected)


def batches(
    source: MapSource,
    request: PlaceRequest,
    rule: int,
    copies: int,
    first: int,
    last: int,
    weights: npt.NDArray[np.uint32],
) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]]:
    """Where a rule puts a range of inputs.

    Args:
        source: The map.
        request: The pool whose number is mixed in, if any, and whether weights are given.
        rule: The rule's number.
        copies: Devices an input.
        first: The first input.
        last: The last, included.
        weights: The devices' reweights, 16.16 fixed point.

    Yields:
        Inputs, and a row of devices each: -1 ends a short row, 2147483647 is a hole.
    """
    # Devices that are in no bucket weigh nothing and are never met, so all weights given as one
    # are no weights.
    given = weights if request.weights else None
    for begin in range(first, last + 1, _INPUTS_PER_BATCH):
        end = min(begin + _INPUTS_PER_BATCH, last + 1)
        inputs = np.arange(begin, end, dtype=np.uint32)
        placed = inputs if request.pool_id is None else mixed(inputs, request.pool_id)
        yield inputs, source.crush.map_rule(rule, placed, copies, given)


def _write_batch(
    request: PlaceRequest,
    rule: int,
    copies: int,
    inputs: npt.NDArray[np.uint32],
    sets: npt.NDArray[np.int32],
) -> None:
    """Print the lines of a batch, in crushtool's order: a bad mapping right after its mapping."""
    if not (request.mappings or request.bad_mappings):
        return
    bad = np.any((sets == NONE) | (sets == HOLE), axis=1)
    if request.mappings and not bad.any():
        # One format for the whole batch: several times faster than a line at a time.
        line = f"CRUSH rule {rule} x %d [{','.join(['%d'] * sets.shape[1])}]\n"
        rows = np.column_stack([inputs.astype(np.int64), sets])
        sys.stdout.write(line * len(rows) % tuple(rows.ravel().tolist()))
        return
    chosen = slice(None) if request.mappings else bad
    lines = []
    for x, devices, is_bad in zip(
        inputs[chosen].tolist(), sets[chosen].tolist(), bad[chosen].tolist(), strict=True
    ):
        found = bracketed([device for device in devices if device != NONE])
        if request.mappings:
            lines.append(f"CRUSH rule {rule} x {x} {found}\n")
        if is_bad and request.bad_mappings:
            lines.append(f"bad mapping rule {rule} x {x} num_rep {copies} result {found}\n")
    sys.stdout.write("".join(lines))


def _write_tally(request: PlaceRequest, tally: Tally, head: str) -> None:
    if not _statistics(request):
        return
    for size in sorted(tally.sizes):
        sys.stdout.write(f"{head} result size == {size}:\t{tally.sizes[size]}/{tally.inputs}\n")
    if not (request.utilization or request.utilization_all):
        return
    # With both options crushtool leaves out what is empty, as with --show-utilization alone.
    for device, stored in enumerate(tally.stored.tolist()):
        expected = float(tally.expected[device])
        if request.utilization and not (expected > 0 and stored > 0):
            continue
        sys.stdout.write(f"  device {device}:\t\t stored : {stored}\t expected : {expected:g}\n")


def _json(
    source: MapSource,
    request: PlaceRequest,
    rules: list[tuple[int, Rule | None]],
    first: int,
    last: int,
    weights: npt.NDArray[np.uint32],
) -> list[dict[str, Any]]:
    """A row an input; with statistics or utilisation, a row a rule and number of copies."""
    rows: list[dict[str, Any]] = []

    def see(_: PlaceRequest, rule: int, __: int, inputs: Any, sets: Any) -> None:
        bad = np.any((sets == NONE) | (sets == HOLE), axis=1)
        rows.extend(
            {"rule": rule, "x": x, "devices": [device for device in devices if device != NONE]}
            for x, devices, is_bad in zip(inputs.tolist(), sets.tolist(), bad.tolist(), strict=True)
            if is_bad or not only_bad
        )

    only_bad = request.bad_mappings and not request.mappings
    tallies = []
    for _, rule in rules:
        if rule is None:
            continue
        low, high = copies_of(rule, request)
        for copies in range(low, high + 1):
            look = _unseen if _statistics(request) else see
            tallies.append(_tally(source, request, rule, copies, first, last, weights, look))
    if not _statistics(request):
        return rows
    return [_tally_json(tally) for tally in tallies]


def _unseen(*_: Any) -> None:
    """Look at no mapping."""


def _tally_json(tally: Tally) -> dict[str, Any]:
    return {
        "rule": tally.rule.id,
        "rule_name": tally.rule.name,
        "copies": tally.copies,
        "inputs": tally.inputs,
        "sizes": {str(size): tally.sizes[size] for size in sorted(tally.sizes)},
        "devices": [
            {"device": device, "stored": stored, "expected": float(tally.expected[device])}
            for device, stored in enumerate(tally.stored.tolist())
        ],
    }


def count(source: MapSource, request: PlaceRequest, *, as_json: bool) -> None:
    """Without --show options: how many inputs each device got, and how many came up short.

    Args:
        source: The map.
        request: The rule and its inputs.
        as_json: Print where each input goes, as JSON.

    Raises:
        ConfigError: The map has no such rule or device, or a range is empty.
    """
    if as_json:
        show(source, replace(request, mappings=True), as_json=True)
        return
    rules = [rule for _, rule in rules_of(source, request) if rule is not None]
    first, last = range_of(request)
    weights = reweights_of(source, request)
    for rule in rules:
        low, high = copies_of(rule, request)
        for copies in range(low, high + 1):
            tally = _tally(source, request, rule, copies, first, last, weights, _unseen)
            _write_counts(source, tally)


def _write_counts(source: MapSource, tally: Tally) -> None:
    sys.stdout.write(
        f"rule {tally.rule.id}, {tally.inputs:,} inputs, {tally.copies} copies, "
        f"{tally.short:,} short\n"
    )
    names = {
        int(device): source.crush.device_name(int(device))
        for device in np.flatnonzero(tally.stored)
    }
    width = max((len(name) for name in names.values()), default=0)
    for device, name in names.items():
        sys.stdout.write(f"{name:<{width}}  {int(tally.stored[device]):>10,}\n")
