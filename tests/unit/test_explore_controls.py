"""What a page changes in the core's input is what the command line makes of the same choices."""

import json
import random
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.explore.cluster import cluster_document
from resilver.explore.controls import (
    COMBINATIONS_MAX,
    Control,
    Group,
    Option,
    Stop,
    group_of,
)
from resilver.explore.document import FRAMES, Document
from resilver.explore.interactions import Heeding
from resilver.explore.offers import cluster_groups, made_under
from resilver.explore.patches import Patch, changes_between, patched
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.whatif.fitting import PlanDoesNotFit
from resilver.whatif.kinds import KINDS
from resilver.whatif.options import Request
from resilver.whatif.plan import Plan, plan_of_options
from resilver.whatif.request import Prepared, prepare
from tests.browser.page_scenarios import AS_THINGS_ARE, as_page_reads, drawn, made_by_page
from tests.unit.what_if_clusters import of_release, small_report

_LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.text(max_size=1)
_JSON = st.recursive(
    _LEAVES,
    lambda each: st.lists(each, max_size=5) | st.dictionaries(st.text(max_size=1), each),
    max_leaves=20,
)


class Offered(NamedTuple):
    """What a page offers of a cluster."""

    report: ClusterReport
    asked: Request
    base: Prepared
    groups: list[Group]


def offered(report: ClusterReport, asked: Request) -> Offered:
    base = prepare(report, plan_of_options({}), asked)
    return Offered(report, asked, base, list(cluster_groups(report, base, asked)))


@cache
def offered_by(*release: int) -> Offered:
    """What a page offers of the small cluster, as if it ran a release."""
    return offered(of_release(*release) if release else small_report(), Request())


@cache
def document() -> Document:
    """The document of the small cluster."""
    return cluster_document(small_report(), "small", Request())


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


@pytest.mark.parametrize("release", [(16, 2, 0), (18, 2, 4)])
def test_choices_together_are_what_the_options_say(release: tuple[int, int, int]) -> None:
    """Stops of all groups at once, drawn at random."""
    report, asked, base, groups = offered_by(*release)
    make = made_under(report, asked, base)
    assert len(groups) == 5
    draw = random.Random(7)
    for _ in range(20):
        patches, options = [], []
        for group in groups:
            chosen = tuple(draw.randrange(len(control.stops)) for control in group.controls)
            patches += group.patches[chosen]
            stops = [one.stops[at] for one, at in zip(group.controls, chosen, strict=True)]
            options += [option for stop in stops for option in stop.options]
        assert patched(base.input, patches) == make(list(dict.fromkeys(options)))


@pytest.mark.parametrize("release", [(14, 2, 0), (18, 2, 4)])
def test_the_command_of_the_page_makes_its_input(release: tuple[int, int, int]) -> None:
    """Of how things are, and of scenarios drawn at random, by the page's own code."""
    report = of_release(*release)
    offers = json.loads(json.dumps(cluster_document(report, "small", Request()).to_json()))
    draw = random.Random(11)
    scenarios = [AS_THINGS_ARE, *(drawn(offers, draw, 86_400.0) for _ in range(40))]
    for scenario, made in zip(scenarios, made_by_page(offers, scenarios), strict=True):
        program, command, source, *words = shlex.split(made.command)
        assert (program, command, source) == ("resilver", "what-if", "small")
        plan, asked = _asked_by(words)
        assert as_page_reads(prepare(report, plan, asked).input) == made.input, scenario


def _asked_by(words: list[str]) -> tuple[Plan, Request]:
    """The plan and the question of a command's options."""
    kinds = {one.option: one.key for one in KINDS}
    changes: dict[str, list[str]] = {}
    asked = Request(frames=FRAMES)
    left = iter(words)
    for word in left:
        if word == "--anyway":
            asked = replace(asked, anyway=True)
        elif word in kinds:
            changes.setdefault(kinds[word], []).append(next(left))
        elif word == "--load":
            asked = replace(asked, load=(*asked.load, next(left)))
        elif word == "--network":
            asked = replace(asked, network=next(left))
        else:
            assert word == "--device"
            asked = replace(asked, devices=(*asked.devices, next(left)))
    return plan_of_options(changes), asked


def test_how_things_are_is_a_stop_that_changes_nothing() -> None:
    for group in offered_by().groups:
        at_rest = tuple(control.chosen for control in group.controls)
        assert group.patches[at_rest] == []
        assert all(patches for chosen, patches in group.patches.items() if chosen != at_rest)
        for one in group.controls:
            assert len(one.stops) > 1 and not one.stops[one.chosen].options and one.sentence
    groups = offered(small_report(), Request(load=("vms: 500 reads/s of 16 KiB",))).groups
    (load,) = [one for group in groups for one in group.controls if one.key == "load"]
    assert load.stops[load.chosen].label == "vms: 500 reads/s of 16 KiB"
    assert load.origin == "stated"


@pytest.mark.parametrize(
    "given", [{"network": "25gbe"}, {"devices": ("hdd=hdd-7k2-4tb",)}, {"fill": "70%"}, {}]
)
def test_groups_may_be_taken_from_an_input_that_was_made_before(given: dict[str, Any]) -> None:
    """Of the same cluster, as full: then nothing differs."""
    report, plan = small_report(), plan_of_options({})
    before = prepare(report, plan, Request(fill=given.get("fill", "")))
    asked = Request(**given, load=("vms: 900 reads/s of 16 KiB",))
    alone, like = prepare(report, plan, asked), prepare(report, plan, asked, before)
    assert like.input == alone.input and like.assumptions == alone.assumptions
    assert like.input["groups"] is before.input["groups"]


@pytest.mark.parametrize("release", [(12, 2, 13), (16, 2, 0), (17, 2, 0), (18, 2, 4)])
def test_no_two_stops_of_a_control_read_alike(release: tuple[int, ...]) -> None:
    """A default that differs by the kind of device is not that of one kind."""
    for group in offered_by(*release).groups:
        for control in group.controls:
            labels = [stop.label for stop in control.stops]
            assert len(set(labels)) == len(labels), control.key


def test_under_mclock_a_setting_is_stated_with_what_lets_it_hold() -> None:
    """Where a release knows no such setting, the control is not there, since it has no effect."""
    override = ("--set-option", "osd_mclock_override_recovery_settings=true")
    found = {}
    for release in ((17, 2, 0), (18, 2, 4)):
        *_, settings = offered_by(*release).groups
        found[release] = {one.key: one for one in settings.controls}
    assert "osd_max_backfills" not in found[17, 2, 0]
    control = found[18, 2, 4]["osd_max_backfills"]
    assert all(override in stop.options for stop in control.stops if stop.options)
    assert "osd_mclock_override_recovery_settings" not in found[18, 2, 4]


def test_too_many_combinations_lose_stops_between_the_ends() -> None:
    def make(options: Sequence[Option]) -> dict[str, Any]:
        return dict(options)

    stops = {key: tuple(Stop(str(at), ((key, str(at)),)) for at in range(20)) for key in "abc"}
    offers = [Control(key, key, of_key, "?", "stated") for key, of_key in stops.items()]
    group = group_of(offers, {}, make)
    assert len(group.patches) <= COMBINATIONS_MAX
    for control in group.controls:
        assert not control.stops[control.chosen].options
        assert control.stops[-1].label == "19"


def test_a_cluster_that_no_drain_fits_is_explored(shared_data: Path) -> None:
    """What may happen is known without trying whether the pools would still fit."""
    report = read_cluster(shared_data / "ceph" / "modern")
    drain = cluster_document(report, "modern", Request()).changes[0]
    assert (drain.key, drain.template["change"]["item"]) == ("drain", "$name")
    with pytest.raises(PlanDoesNotFit):
        prepare(report, plan_of_options({"drain": ["osd.0"]}), Request())


@pytest.mark.parametrize(
    ("key", "part"),
    [
        *((key, "osd.3") for key in ("drain", "in", "out", "slow", "start", "stop", "fail")),
        *((key, "node-001") for key in ("in", "slow", "start", "stop", "fail")),
    ],
)
def test_what_happens_to_a_part_is_what_its_option_makes(key: str, part: str) -> None:
    (change,) = [one for one in document().changes if one.key == key]
    parts = document().parts
    numbers = sorted(
        one.number
        for one in parts
        if one.number is not None and part in (one.name, parts[one.parent].name)
    )
    held = {"$at": 3600.0, "$numbers": numbers, "$name": part, "$share": 0.25}
    made = {key: held.get(one, one) if isinstance(one, str) else one
            for key, one in change.template["change"].items()}  # fmt: skip
    what = part if part.startswith("osd.") else f"host={part}"
    option = f"{what}{'=25%' if change.shares else ''} @ 1 h"
    asked = prepare(small_report(), plan_of_options({key: [option]}), Request()).input["plan"]
    assert [{"at_seconds": 3600.0, "change": made}] == asked


def test_controls_that_heed_each_other_are_found() -> None:
    """Of four, the product of two is in the input, and two are refused together."""

    def make(chosen: Any) -> Any:
        first, second, third, fourth = (chosen.get(one, 0) for one in range(4))
        if (third, fourth) == (2, 1):
            return None
        return {"a": first, "b": second, "both": first * second, "c": third, "d": fourth}

    base = make({})
    stops = [3, 3, 3, 2]
    patches: list[list[list[Patch]]] = [
        [changes_between(base, make({one: stop})) for stop in range(count)]
        for one, count in enumerate(stops)
    ]
    found = Heeding(patches, [0] * 4, make, lambda chosen: make(chosen) is None, 100, 50)
    assert found.groups == [(0, 1), (2,), (3,)]
    assert found.kept == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0]]
    both = found.patches_of({0: 2, 1: 2})
    assert both is not None and patched(base, both)["both"] == 4


def test_a_group_keeps_the_ends_and_how_things_are() -> None:
    """Of 10 x 10 combinations, 20 are too many by 4 stops of one and 6 of the other or so."""

    def make(chosen: Any) -> Any:
        return {"both": [chosen.get(0, 4), chosen.get(1, 4)]}

    patches = [[changes_between(make({}), make({one: at})) for at in range(10)] for one in (0, 1)]
    found = Heeding(patches, [4, 4], make, lambda _: False, 20, 10)
    assert found.groups == [(0, 1)]
    assert len(found.combinations((0, 1))) <= 20
    assert all({0, 4, 9} <= set(kept) for kept in found.kept)
