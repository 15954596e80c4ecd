"""A rule's inputs, in the words of `crushtool --test`, so that `diff` of the two is silent.

What crushtool prints where was found by running it (Ceph 16): everything that a --show option asks
for goes to stdout, the devices' weights in hexadecimal to stderr. Its numbers are single precision
and print with six digits; here they are computed and printed the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.answer import Answer, Section, Shown
from resilver.cli.console import EXIT_FAILED, print_json, say
from resilver.cli.crush.inputs import (
    HOLE,
    NONE,
    bracketed,
    copies_of,
    mixed,
    range_of,
    reweights_of,
    rules_of,
)
from resilver.cli.crush.options import Inputs
from resilver.tables import table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.cli.crush.source import MapSource
    from resilver.importers.buckets import Rule

# Inputs mapped at a time: enough to keep the core busy, few enough that output begins at once.
_INPUTS_PER_BATCH = 1 << 16

# What crushtool multiplies with and prints in: C's float, and its stream's six digits.
_FLOAT = np.float32

See = Callable[[int, int, Any, Any], None]
"""Looks at a batch: the rule's number, the copies asked for, the inputs and their devices."""


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


class _Test:
    """A map with the rules, inputs and reweights that are asked for."""

    def __init__(self, source: MapSource, inputs: Inputs) -> None:
        self.source, self.inputs = source, inputs
        self.rules = rules_of(source, inputs)
        self.first, self.last = range_of(inputs)
        self.weights = reweights_of(source, inputs)

    def tallies(self, see: See) -> Iterator[Tally]:
        """Map the inputs of every rule with every number of copies, and count."""
        for _, rule in self.rules:
            if rule is not None:
                yield from self.of_rule(rule, see)

    def of_rule(self, rule: Rule, see: See) -> Iterator[Tally]:
        """Map the inputs of one rule with every number of copies, let `see` look, and count."""
        low, high = copies_of(rule, self.inputs)
        for copies in range(low, high + 1):
            yield self._tally(rule, copies, see)

    def _tally(self, rule: Rule, copies: int, see: See) -> Tally:
        structure = self.source.structure
        stored = np.zeros(structure.device_count + 1, dtype=np.int64)
        sizes: dict[int, int] = {}
        short = 0
        # Devices that are in no bucket weigh nothing and are never met, so all weights given as one
        # are no weights.
        given = self.weights if self.inputs.weights else None
        for inputs in _batches(self.first, self.last):
            pool_id = self.inputs.pool_id
            placed = inputs if pool_id is None else mixed(inputs, pool_id)
            sets = self.source.crush.map_rule(rule.id, placed, copies, given)
            see(rule.id, copies, inputs, sets)
            there = (sets >= 0) & (sets != HOLE)
            stored += np.bincount(sets[there], minlength=len(stored))
            lengths, counts = np.unique(np.count_nonzero(sets != NONE, axis=1), return_counts=True)
            for length, count in zip(lengths.tolist(), counts.tolist(), strict=True):
                sizes[length] = sizes.get(length, 0) + count
            short += int(np.count_nonzero(np.count_nonzero(there, axis=1) < copies))
        inputs_count = self.last - self.first + 1
        most = min(copies, structure.most_affected(rule)) * max(inputs_count, 0)
        share = self.weights.astype(_FLOAT) / _FLOAT(_total(self.weights))
        expected = share * _FLOAT(most)
        return Tally(rule, copies, inputs_count, stored[:-1], sizes, short, expected)


def _batches(first: int, last: int) -> Iterator[npt.NDArray[np.uint32]]:
    for begin in range(first, last + 1, _INPUTS_PER_BATCH):
        yield np.arange(begin, min(begin + _INPUTS_PER_BATCH, last + 1), dtype=np.uint32)


def _total(weights: npt.NDArray[np.uint32]) -> int:
    return int(weights.sum(dtype=np.uint32).view(np.int32))


def _see_nothing(*_: Any) -> None:
    """Look at no mapping."""


def _is_bad(sets: Any) -> Any:
    return np.any((sets == NONE) | (sets == HOLE), axis=1)


def show(source: MapSource, inputs: Inputs, *, as_json: bool) -> None:
    """Map inputs and print what was asked for.

    Args:
        inputs: The rules, inputs and --show options.
        as_json: Print JSON instead of crushtool's lines: a row an input; with statistics or
            utilisation, a row a rule and number of copies.

    Raises:
        ConfigError: The map has no such rule or device, or a range is empty.
    """
    test = _Test(source, inputs)
    if inputs.test and not inputs.shows:
        say("WARNING: no output selected; use --output-csv or --show-X")
        return
    if as_json:
        print_json(_json(test))
        return
    if inputs.utilization_all:
        sys.stdout.flush()
        say("devices weights (hex): [" + ",".join(f"{one:x}" for one in test.weights) + "]")
    for number, rule in test.rules:
        if rule is None:
            if inputs.counts:
                sys.stdout.write(f"rule {number} dne\n")
            continue
        if inputs.counts:
            low, high = copies_of(rule, inputs)
            x = f"{test.first}..{test.last}"
            sys.stdout.write(f"rule {number} ({rule.name}), x = {x}, numrep = {low}..{high}\n")
        # Without any weight crushtool maps nothing; its total is a C int, which may wrap to zero.
        if _total(test.weights):
            for tally in test.of_rule(rule, lambda *batch: _write_batch(inputs, *batch)):
                _write_tally(inputs, tally)


def _write_batch(
    asked: Inputs,
    rule: int,
    copies: int,
    inputs: npt.NDArray[np.uint32],
    sets: npt.NDArray[np.int32],
) -> None:
    """Print the lines of a batch, in crushtool's order: a bad mapping right after its mapping."""
    if not (asked.mappings or asked.bad_mappings):
        return
    bad = _is_bad(sets)
    if asked.mappings and not bad.any():
        # One format for the whole batch: several times faster than a line at a time.
        line = f"CRUSH rule {rule} x %d [{','.join(['%d'] * sets.shape[1])}]\n"
        rows = np.column_stack([inputs.astype(np.int64), sets])
        sys.stdout.write(line * len(rows) % tuple(rows.ravel().tolist()))
        return
    chosen = slice(None) if asked.mappings else bad
    lines = []
    for x, devices, is_bad in zip(
        inputs[chosen].tolist(), sets[chosen].tolist(), bad[chosen].tolist(), strict=True
    ):
        found = bracketed([device for device in devices if device != NONE])
        if asked.mappings:
            lines.append(f"CRUSH rule {rule} x {x} {found}\n")
        if is_bad and asked.bad_mappings:
            lines.append(f"bad mapping rule {rule} x {x} num_rep {copies} result {found}\n")
    sys.stdout.write("".join(lines))


def _write_tally(asked: Inputs, tally: Tally) -> None:
    if not asked.counts:
        return
    head = f"rule {tally.rule.id} ({tally.rule.name}) num_rep {tally.copies}"
    for size in sorted(tally.sizes):
        sys.stdout.write(f"{head} result size == {size}:\t{tally.sizes[size]}/{tally.inputs}\n")
    if not (asked.utilization or asked.utilization_all):
        return
    # With both options crushtool leaves out what is empty, as with --show-utilization alone.
    for device, stored in enumerate(tally.stored.tolist()):
        expected = float(tally.expected[device])
        if asked.utilization and not (expected > 0 and stored > 0):
            continue
        sys.stdout.write(f"  device {device}:\t\t stored : {stored}\t expected : {expected:g}\n")


def _json(test: _Test) -> list[dict[str, Any]]:
    if test.inputs.counts:
        return [_tally_json(tally) for tally in test.tallies(_see_nothing)]
    only_bad = test.inputs.bad_mappings and not test.inputs.mappings
    rows: list[dict[str, Any]] = []

    def see(rule: int, _: int, inputs: Any, sets: Any) -> None:
        rows.extend(
            {"rule": rule, "x": x, "devices": [device for device in devices if device != NONE]}
            for x, devices, is_bad in zip(
                inputs.tolist(), sets.tolist(), _is_bad(sets).tolist(), strict=True
            )
            if is_bad or not only_bad
        )

    for _ in test.tallies(see):
        pass
    return rows


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


def count(source: MapSource, inputs: Inputs) -> Answer:
    """Without --show options: how many inputs each device got, and how many came up short.

    Raises:
        ConfigError: The map has no such rule or device, or a range is empty.
    """
    verdict, sections = [], []
    notes: list[str] = []
    for tally in _Test(source, inputs).tallies(_see_nothing):
        rule = tally.rule
        verdict.append(
            f"Rule {rule.id} ({rule.name}), {plural(tally.copies, 'device')} an input: "
            f"{tally.short:,} of {tally.inputs:,} inputs came up short."
        )
        held = np.flatnonzero(tally.stored)
        counts = table(
            ("device", "device", "text", map(source.crush.device_name, held.tolist())),
            ("inputs", "inputs", "count", tally.stored[held]),
        )
        shown = Shown(f"rule-{rule.id}", f"Rule {rule.id}: inputs by device", counts)
        sections.append(Section(f"Rule {rule.id}", (shown,)))
        notes += filter(None, [source.structure.why_empty(rule)])
    record = _json(_Test(source, replace(inputs, mappings=True)))
    return Answer(f"Rules of {source.label}", verdict, sections, record, notes=notes)


def compare(before: MapSource, after: MapSource, inputs: Inputs) -> int:
    """Count the inputs that two maps place differently, by rule, as `crushtool --compare` does.

    Args:
        before: The first map, whose rules and devices count.
        after: The second.
        inputs: The rules, inputs and reweights.

    Returns:
        0 where the maps place alike, else 1, as crushtool.

    Raises:
        ConfigError: A range is empty or a device unknown.
    """
    if inputs.shows:
        show(before, inputs, as_json=False)
    test = _Test(before, inputs)
    # crushtool gives both maps the first one's reweights, and what these leave out is out.
    weights = np.zeros(max(len(test.weights), after.structure.device_count, 1), dtype=np.uint32)
    weights[: len(test.weights)] = test.weights
    equal = True
    for number, rule in test.rules:
        if rule is None:
            continue
        low, high = copies_of(rule, inputs)
        differing = 0
        for copies in range(low, high + 1):
            for batch in _batches(test.first, test.last):
                one = before.crush.map_rule(number, batch, copies, weights)
                # A rule that the second map lacks places nothing.
                other: Any = -1
                if number in after.structure.rules:
                    other = after.crush.map_rule(number, batch, copies, weights)
                differing += int(np.count_nonzero(np.any(one != other, axis=1)))
        equal = equal and not differing
        total = (high - low + 1) * (test.last - test.first + 1)
        ratio = differing / total if total else float("nan")
        sys.stdout.write(f"rule {number} had {differing}/{total} mismatched mappings ({ratio:g})\n")
    if equal:
        sys.stdout.write("maps appear equivalent\n")
        return 0
    sys.stdout.flush()
    say("warning: maps are NOT equivalent")
    return EXIT_FAILED
