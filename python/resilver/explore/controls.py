"""What a page lets its reader choose of a cluster, and what each choice makes of the core's input.

A control has *stops*: the values that its reader may choose, one of which is how things are. What a
stop changes is found by having the input made for it (`resilver.explore.patches`). Controls of
different groups change different places, so their patches may be made together; settings heed each
other, so that those of one group are made for every combination of their stops.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from resilver import catalog
from resilver.errors import ConfigError
from resilver.explore.patches import Patch, changes_between
from resilver.importers.ceph import ClusterReport
from resilver.whatif.answer import Assumption
from resilver.whatif.asking import Asked, Prepared, prepare
from resilver.whatif.plan import Plan, plan_of_options

COMBINATIONS_MAX = 1_000
"""Combinations of stops of one group that a page holds at the most."""


@dataclass(frozen=True)
class Stop:
    """A value of a control.

    Attributes:
        label: The value with its unit.
        option: What states it on the command line; empty where it is how things are.
    """

    label: str
    option: tuple[str, ...] = ()


@dataclass(frozen=True)
class Control:
    """Something that the reader of a page may choose.

    Attributes:
        key: Its name among controls.
        label: What it is.
        sentence: What it does, and for what it counts.
        stops: Its values, in their order.
        chosen: Which of them is how things are.
        origin: Who says so, as `resilver.whatif.answer.Origin` has it.
        source: Why it has this value.
    """

    key: str
    label: str
    sentence: str
    stops: tuple[Stop, ...]
    chosen: int
    origin: str
    source: str = ""


@dataclass(frozen=True)
class Group:
    """Controls that heed each other.

    Attributes:
        controls: The controls.
        patches: What each combination of stops makes of the input, by the numbers of the stops.
    """

    controls: tuple[Control, ...]
    patches: dict[tuple[int, ...], list[Patch]]


@dataclass(frozen=True)
class Offer:
    """Values that a control may have, beside how things are.

    Attributes:
        key: The control's name.
        label: What it is.
        sentence: What it does.
        flag: The option that states a value.
        texts: The values as the option takes them.
        name: The assumption that tells how things are; the key where nothing else is said.
    """

    key: str
    label: str
    sentence: str
    flag: str
    texts: tuple[str, ...]
    name: str = ""


Make = Callable[[Sequence[tuple[str, str]]], Prepared]
"""Makes the core's input under options: pairs of an option and its value."""


def made_under(report: ClusterReport, plan: Plan, asked: Asked) -> Make:
    """What makes a cluster's input under options of `resilver what-if`."""

    def make(options: Sequence[tuple[str, str]]) -> Prepared:
        given, settings = asked.given, []
        for flag, value in options:
            if flag == "--network":
                given = replace(given, network=value)
            elif flag == "--device":
                given = replace(given, devices=(*given.devices, value))
            else:
                settings.append(value)
        beside = plan_of_options({"set_option": settings})
        stated = Plan(plan.name, (*beside.changes, *plan.changes))
        return prepare(report, stated, replace(asked, given=given))

    return make


def group_of(offers: Iterable[Offer], base: Prepared, make: Make) -> Group:
    """The controls of offers that heed each other.

    Args:
        offers: What may be chosen.
        base: The input as it is.
        make: What makes it under options.

    Raises:
        ConfigError: The stops have too many combinations.
    """
    controls = tuple(filter(None, (_control(offer, base, make) for offer in offers)))
    numbers = [range(len(control.stops)) for control in controls]
    count = 1
    for each in numbers:
        count *= len(each)
    if count > COMBINATIONS_MAX:
        raise ConfigError(f"{count:,} combinations of stops are more than a page holds")
    patches = {}
    for combination in itertools.product(*numbers):
        pairs = zip(controls, combination, strict=True)
        chosen = [control.stops[number].option for control, number in pairs]
        made = make([(one[0], one[1]) for one in chosen if one])
        patches[combination] = changes_between(base.input, made.input)
    return Group(controls, patches)


def _control(offer: Offer, base: Prepared, make: Make) -> Control | None:
    """The control of an offer; None where none of its values has an effect."""
    named = [one for one in base.assumptions if one.name == (offer.name or offer.key)]
    stops, chosen = [], None
    for text in offer.texts:
        option = (offer.flag, f"{offer.key}={text}" if offer.flag == "--set-option" else text)
        if make([option]).input != base.input:
            stops.append(Stop(text, option))
        elif chosen is None and any(one.value == text for one in named):
            chosen = len(stops)
            stops.append(Stop(text))
    if all(not stop.option for stop in stops):
        return None
    if chosen is None:
        chosen = 0
        stops.insert(0, Stop(_as_it_is(named)))
    origin, source = (named[0].origin, named[0].sentence) if named else ("release default", "")
    return Control(offer.key, offer.label, offer.sentence, tuple(stops), chosen, origin, source)


def _as_it_is(named: Sequence[Assumption]) -> str:
    return ", ".join(dict.fromkeys(one.value for one in named)) or "the default"


def cluster_offers(report: ClusterReport, base: Prepared) -> list[list[Offer]]:
    """What may be chosen of a cluster: groups of offers that heed each other."""
    classes = sorted(set(base.facts.classes.values()))
    networks = tuple(one for one in catalog.list("networks") if one.endswith("gbe"))
    devices = tuple(catalog.list("devices"))
    hardware = [
        [
            Offer(
                "network",
                "Network of a host",
                "What each host sends and receives at the most, each way.",
                "--network",
                tuple(sorted(networks, key=lambda one: int(one.removesuffix("gbe")))),
                "network of a host",
            )
        ]
    ]
    for device_class in classes or [""]:
        prefix, beside = (f"{device_class}=", f" of class {device_class}") if classes else ("", "")
        texts = tuple(f"{prefix}{name}" for name in devices)
        sentence = "How fast OSDs read and write."
        what = f"device{beside}"
        hardware.append([Offer(what, what.capitalize(), sentence, "--device", texts, what)])
    return [*hardware, _settings(base)]


def _settings(base: Prepared) -> list[Offer]:
    """The settings by which healing is made gentler or quicker."""
    from resilver.whatif.declared import SETTINGS

    values = {
        "osd_mclock_profile": ("high_client_ops", "balanced", "high_recovery_ops"),
        "osd_max_backfills": ("1", "2", "3", "4", "8", "16"),
        "osd_recovery_max_active": ("1", "3", "5", "10"),
        "mon_osd_down_out_interval": ("60", "600", "3600", "86400"),
        "osd_recovery_sleep": ("0.01", "0.05", "0.1", "0.5"),
    }
    return [
        Offer(name, name, SETTINGS[name].sentence, "--set-option", texts)
        for name, texts in values.items()
    ]
