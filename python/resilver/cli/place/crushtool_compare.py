"""Two maps compared in the words of `crushtool --compare`, exit code included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from resilver.cli.console import EXIT_FAILED, say
from resilver.cli.place.inputs import copies_of, range_of, reweights_of, rules_of
from resilver.cli.place.request import PlaceRequest

if TYPE_CHECKING:
    from resilver.cli.place.source import MapSource

_INPUTS_PER_BATCH = 1 << 16


def compare_as_crushtool(before: MapSource, after: MapSource, request: PlaceRequest) -> int:
    """Count the inputs that two maps place differently, by rule.

    Args:
        before: The first map, whose rules and devices count.
        after: The second.
        request: The rules, inputs and reweights.

    Returns:
        0 where the maps place alike, else 1, as crushtool.

    Raises:
        ConfigError: A range is empty or a device unknown.
    """
    if request.shows:
        from resilver.cli.place.tester import show

        show(before, request, as_json=False)
    first, last = range_of(request)
    known = reweights_of(before, request)
    # crushtool gives both maps the first one's reweights, and what these leave out is out.
    weights = np.zeros(max(len(known), after.structure.device_count, 1), dtype=np.uint32)
    weights[: len(known)] = known
    equal = True
    for number, rule in rules_of(before, request):
        if rule is None:
            continue
        low, high = copies_of(rule, request)
        differing = 0
        for copies in range(low, high + 1):
            for begin in range(first, last + 1, _INPUTS_PER_BATCH):
                end = min(begin + _INPUTS_PER_BATCH, last + 1)
                inputs = np.arange(begin, end, dtype=np.uint32)
                one = before.crush.map_rule(number, inputs, copies, weights)
                # A rule that the second map lacks places nothing.
                if number not in after.structure.rules:
                    differing += int(np.count_nonzero(np.any(one != -1, axis=1)))
                    continue
                other = after.crush.map_rule(number, inputs, copies, weights)
                differing += int(np.count_nonzero(np.any(one != other, axis=1)))
        equal = equal and not differing
        total = (high - low + 1) * (last - first + 1)
        ratio = differing / total if total else float("nan")
        sys.stdout.write(f"rule {number} had {differing}/{total} mismatched mappings ({ratio:g})\n")
    if equal:
        sys.stdout.write("maps appear equivalent\n")
        return 0
    sys.stdout.flush()
    say("warning: maps are NOT equivalent")
    return EXIT_FAILED
