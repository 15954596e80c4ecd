"""Which rules, inputs and reweights are asked for: crushtool's defaults, the house's errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.cli.console import say
from resilver.cli.crush.options import Inputs
from resilver.errors import ConfigError, name_remedy
from resilver.request import SEPARATOR

if TYPE_CHECKING:
    from resilver.cli.crush.source import MapSource
    from resilver.importers.buckets import Rule

HOLE = 2**31 - 1
"""What Ceph prints where a strip of an erasure-coded group has no device (CRUSH_ITEM_NONE)."""

NONE = -1
"""What follows the end of a short mapping."""

_INPUT_MAX = 2**32 - 1
_LAST_INPUT = 1023
_COPIES = 3
_WEIGHT_ONE = 0x10000


def rules_of(source: MapSource, inputs: Inputs) -> list[tuple[int, Rule | None]]:
    """The rules to go through, with None for a number below the highest that no rule has.

    Args:
        inputs: The rule, or a range of numbers; all of them otherwise.

    Returns:
        Rules by number, rising.

    Raises:
        ConfigError: A rule was named and the map has none such (with --test: where the name is no
            number; a number that no rule has is then passed over, as crushtool does).
    """
    rules = source.structure.rules
    highest = max(rules, default=-1)
    if inputs.rule is not None:
        found = _rule_number(source, inputs.rule, strict=not inputs.test)
        if found < 0:
            # As crushtool reads it: no rule chosen, so all of them.
            return [(each, rules.get(each)) for each in range(highest + 1)]
        return [(found, rules.get(found))] if found <= highest else []
    first, last = 0, highest
    if inputs.min_rule is not None and inputs.max_rule is not None:
        first, last = inputs.min_rule, min(inputs.max_rule, highest)
    elif inputs.min_rule is not None or inputs.max_rule is not None:
        say("note: as in crushtool, --min-rule and --max-rule choose rules only together")
    return [(each, rules.get(each)) for each in range(first, last + 1)]


def _rule_number(source: MapSource, wanted: str, *, strict: bool) -> int:
    rules = source.structure.rules
    for rule in rules.values():
        if wanted in (rule.name, str(rule.id)):
            return rule.id
    if not strict and wanted.removeprefix("-").isdecimal() and wanted.isascii():
        return int(wanted)
    known = ", ".join(f"{rule.id} ({rule.name})" for rule in rules.values())
    raise ConfigError(
        f'--rule = "{wanted}": {source.label!r} has no such rule; it has {known or "no rules"}'
    )


def range_of(inputs: Inputs) -> tuple[int, int]:
    """The first and the last input.

    Args:
        inputs: What was given. With a --show option, crushtool's reading: of --min-x and --max-x
            one alone counts for nothing.

    Returns:
        Both included.

    Raises:
        ConfigError: They are no inputs, or the first is after the last.
    """
    if inputs.x is not None:
        first = last = inputs.x
    elif inputs.as_crushtool and (inputs.first is None or inputs.last is None):
        if inputs.first is not None or inputs.last is not None:
            say(
                f"note: inputs 0 to {_LAST_INPUT}, as crushtool takes them where only one of "
                "--min-x and --max-x is given; give both"
            )
        first, last = 0, _LAST_INPUT
    else:
        first = inputs.first or 0
        last = _LAST_INPUT if inputs.last is None else inputs.last
    empty = first > last and not inputs.test
    if empty or not 0 <= first <= _INPUT_MAX or not 0 <= last <= _INPUT_MAX:
        raise ConfigError(
            f"--min-x = {first}, --max-x = {last}: inputs go from 0 to {_INPUT_MAX}, the first not "
            "after the last"
        )
    return first, last


def copies_of(rule: Rule, inputs: Inputs) -> tuple[int, int]:
    """From how many copies to how many a rule is tried.

    Args:
        inputs: --num-rep, or --min-rep and --max-rep; else the rule's own sizes with a --show
            option, and 3 without.

    Returns:
        The fewest and the most.

    Raises:
        ConfigError: Nothing says it.
    """
    if inputs.copies is not None:
        return inputs.copies, inputs.copies
    if inputs.min_copies is not None and inputs.max_copies is not None:
        return inputs.min_copies, inputs.max_copies
    if inputs.min_copies is not None or inputs.max_copies is not None:
        raise ConfigError("--min-rep and --max-rep choose together; give both, or --num-rep N")
    if not inputs.as_crushtool:
        return _COPIES, _COPIES
    if rule.min_size is None or rule.max_size is None:
        raise ConfigError(
            f"rule {rule.id} ({rule.name}) does not say for how many copies it is; give --num-rep N"
        )
    return rule.min_size, rule.max_size


def reweights_of(
    source: MapSource, inputs: Inputs, known: Sequence[int] = ()
) -> npt.NDArray[np.uint32]:
    """The reweight of each device: one where it is in a bucket, unless --weight says otherwise.

    Args:
        inputs: The --weight options.
        known: A cluster's own reweights, 16.16 fixed point, which --weight overrides.

    Returns:
        16.16 fixed point, by device number.

    Raises:
        ConfigError: A device is unknown, or a weight is no number.
    """
    weights = np.where(source.structure.present, _WEIGHT_ONE, 0).astype(np.uint32)
    weights[: len(known)] = known[: len(weights)]
    names = {name: index for index, name in enumerate(source.structure.device_names())}
    for given in inputs.weights:
        device, separator, text = given.partition(SEPARATOR)
        if not separator:
            rule = "it takes two words"
            raise ConfigError(f"--weight = {device}: {rule}; write --weight OSD W")
        index = int(device) if device.isdecimal() and device.isascii() else names.get(device, -1)
        value = np.float32(number(text, f"--weight {device}"))
        if not 0 <= index < len(weights):
            if inputs.test and device.isdecimal():
                continue
            raise ConfigError(
                f'--weight = "{device}": {source.label!r} has no such device; '
                f"{name_remedy(device, list(names), 'devices')}"
            )
        # As crushtool cuts it: single precision, towards zero, and within 0 and 1.
        fixed = int(np.float64(value * np.float32(_WEIGHT_ONE)))
        weights[index] = min(max(fixed, 0), _WEIGHT_ONE)
    return weights


def number(text: str, option: str) -> float:
    """A finite number.

    Raises:
        ConfigError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f'{option} = "{text}": a weight is a finite number; write one, as 0.5')
    return value


def mixed(inputs: npt.NDArray[np.uint32], pool_id: int) -> npt.NDArray[np.uint32]:
    """Inputs as a pool with hashpspool gives them to its rule: rjenkins1 of the two numbers.

    Args:
        pool_id: The pool's number.

    Returns:
        What the rule is asked for. Source: Robert Jenkins' 96-bit mix, as Ceph's
        crush_hash32_rjenkins1_2 chains it.

    >>> mixed(np.array([3], dtype=np.uint32), 3).dtype
    dtype('uint32')
    """
    pool = np.full_like(inputs, np.uint32(pool_id & 0xFFFFFFFF))
    state = np.uint32(1315423911) ^ inputs ^ pool
    x, y = np.full_like(inputs, 231232), np.full_like(inputs, 1232)
    a, b, state = _jenkins(inputs.copy(), pool, state)
    x, a, state = _jenkins(x, a, state)
    _, _, state = _jenkins(b, y, state)
    return state


def _jenkins(
    a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], c: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """One round of the mix; unsigned arrays wrap as C's numbers do."""
    for first, second, third in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = (a - b - c) ^ (c >> np.uint32(first))
        b = (b - c - a) ^ (a << np.uint32(second))
        c = (c - a - b) ^ (b >> np.uint32(third))
    return a, b, c


def bracketed(devices: Sequence[int]) -> str:
    """A list as Ceph's tools print it, without spaces.

    >>> bracketed([3, 1])
    '[3,1]'
    """
    return "[" + ",".join(map(str, devices)) + "]"
