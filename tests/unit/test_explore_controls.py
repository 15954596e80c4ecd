"""What a page changes in the core's input is what the command line makes of the same choices."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.explore.controls import Control, cluster_offers, group_of, made_under
from resilver.explore.patches import changes_between, patched
from resilver.importers.ceph import ClusterReport
from resilver.whatif.asking import Asked, prepare
from resilver.whatif.plan import plan_of_options
from tests.unit.what_if_clusters import of_release, small_report

_LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.text(max_size=1)
_JSON = st.recursive(
    _LEAVES,
    lambda each: st.lists(each, max_size=5) | st.dictionaries(st.text(max_size=1), each),
    max_leaves=20,
)


@given(_JSON, _JSON)
def test_patches_make_one_input_of_another(base: Any, other: Any) -> None:
    """To the letter: 1, 1.0 and true are told apart."""
    patches = changes_between(base, other)
    made = patched(base, patches)
    assert json.dumps(made, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert changes_between(made, other) == []


def test_a_patch_is_small() -> None:
    base = {"osds": [{"id": osd, "device": {"rate": 1.0}} for osd in range(9)], "seed": 0}
    other = json.loads(json.dumps(base))
    other["osds"][3]["device"]["rate"] = 2.0
    del other["seed"]
    found = [patch.to_json() for patch in changes_between(base, other)]
    assert found == [[["seed"]], [["osds", 3, "device", "rate"], 2.0]]


@pytest.mark.parametrize("report", [of_release(16, 2, 0), of_release(18, 2, 4)])
def test_choices_together_are_what_the_options_say(report: ClusterReport) -> None:
    """Stops of all groups at once, drawn at random, beside a plan that sets a setting itself."""
    plan = plan_of_options({"fail": ["osd.3 @ 1 h"], "set_option": ["osd_heartbeat_grace=30"]})
    asked = Asked()
    base, make = prepare(report, plan, asked), made_under(report, plan, asked)
    groups = [group_of(offers, base, make) for offers in cluster_offers(report, base)]
    assert any(group.controls for group in groups)
    draw = random.Random(7)
    for _ in range(20):
        patches, options = [], []
        for group in groups:
            chosen = tuple(draw.randrange(len(control.stops)) for control in group.controls)
            patches += group.patches[chosen]
            for control, number in zip(group.controls, chosen, strict=True):
                option = control.stops[number].option
                options += [(option[0], option[1])] if option else []
        assert patched(base.input, patches) == make(options).input


def test_how_things_are_is_a_stop_that_changes_nothing() -> None:
    report = small_report()
    plan, asked = plan_of_options({}), Asked()
    base = prepare(report, plan, asked)
    for offers in cluster_offers(report, base):
        group = group_of(offers, base, made_under(report, plan, asked))
        at_rest = tuple(control.chosen for control in group.controls)
        assert group.patches[at_rest] == []
        assert all(patches for chosen, patches in group.patches.items() if chosen != at_rest)
        assert all(_is_stated(control) for control in group.controls)


def _is_stated(control: Control) -> bool:
    return (
        len(control.stops) > 1
        and not control.stops[control.chosen].option
        and bool(control.sentence)
    )
