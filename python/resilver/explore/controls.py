"""What a page lets its reader choose, and what each choice makes of the core's input.

A control has *stops*: the values that its reader may choose, one of which is how things are. What a
stop changes is found by having the input made for it (`resilver.explore.patches`). Controls of
different groups change different places, so their patches may be made together; those that heed
each other are of one group, whose patches are made for every combination of their stops.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resilver import catalog
from resilver.errors import ConfigError
from resilver.explore.patches import Patch, changes_between
from resilver.spec.device import DeviceTable, catalog_device


def device_names() -> list[str]:
    """The devices of the catalog by name, the one that writes slowest first."""
    rates = {}
    for name in catalog.list("devices"):
        device = catalog_device(name)
        if isinstance(device, DeviceTable):
            rates[name] = (float(device.write_rate), float(device.read_rate))
    return sorted(rates, key=lambda name: rates[name])


COMBINATIONS_MAX = 1_000
"""Combinations of stops of one group that a page holds at the most."""

Option = tuple[str, Any]
"""What states a value: an option and its value, or a key and its value."""


@dataclass(frozen=True)
class Stop:
    """A value of a control.

    Attributes:
        label: The value with its unit.
        options: What states it; none where it is how things are. Of a study the value by dotted
            key, as its file writes it; None takes a key away.
        size: What it is ordered by; None where the values have no order.
    """

    label: str
    options: tuple[Option, ...] = ()
    size: float | None = None

    @property
    def values(self) -> dict[str, Any]:
        """What states it, by key."""
        return dict(self.options)


@dataclass(frozen=True)
class Control:
    """Something that the reader of a page may choose.

    Attributes:
        key: Its name among controls; of a study the key, or several with commas between.
        label: What it is.
        stops: Its values, in their order.
        now: How things are in words, where no stop is that.
        origin: Who says so, as `resilver.whatif.answer.Origin` has it.
        source: Why it has this value.
        sentence: What it does, and for what it counts.
        size: Where among the stops `now` belongs.
        is_swept: Whether the study sweeps it.
        chosen: Which of the stops is how things are, once they have been tried.
        patches: What each stop makes of the input alone, where that is kept.
    """

    key: str
    label: str
    stops: tuple[Stop, ...]
    now: str
    origin: str = ""
    source: str = ""
    sentence: str = ""
    size: float | None = None
    is_swept: bool = False
    chosen: int = 0
    patches: tuple[list[Patch], ...] = ()

    @property
    def keys(self) -> set[str]:
        """The options, or dotted keys, that it changes."""
        return {key for stop in self.stops for key, _ in stop.options}

    def to_json(self) -> dict[str, Any]:
        """The control as the page reads it."""
        names = ("key", "label", "sentence", "stops", "chosen", "origin", "source")
        stops = [{"label": stop.label, "options": stop.options} for stop in self.stops]
        return {name: getattr(self, name) for name in names} | {"stops": stops}


@dataclass(frozen=True)
class Group:
    """Controls that heed each other.

    Attributes:
        controls: The controls.
        patches: What each combination of stops makes of the input, by the numbers of the stops.
    """

    controls: tuple[Control, ...]
    patches: dict[tuple[int, ...], list[Patch]]


Make = Callable[[Sequence[Option]], dict[str, Any]]
"""Makes the core's input under options, beyond how things are."""


def group_of(offers: Sequence[Control], base: dict[str, Any], make: Make) -> Group:
    """The controls of offers that heed each other; without those that change nothing.

    Args:
        offers: What may be chosen. Where there are too many combinations, the last lose stops.
        base: The input as it is.
        make: What makes it under options.

    Raises:
        ConfigError: The stops have too many combinations even so.
    """
    made: dict[tuple[Option, ...], dict[str, Any]] = {}

    def once(options: Sequence[Option]) -> dict[str, Any]:
        key = tuple(options)
        if key not in made:
            made[key] = make(options)
        return made[key]

    controls = [control for offer in offers if (control := _control(offer, base, once))]
    for place in range(len(controls) - 1, -1, -1):
        while _combinations(controls) > COMBINATIONS_MAX and len(controls[place].stops) > 2:
            controls[place] = _with_fewer(controls[place])
    if _combinations(controls) > COMBINATIONS_MAX:
        count = f"{_combinations(controls):,}"
        raise ConfigError(f"{count} combinations of stops are more than a page holds")
    patches = {}
    for numbers in itertools.product(*(range(len(one.stops)) for one in controls)):
        pairs = zip(controls, numbers, strict=True)
        patches[numbers] = changes_between(base, once(options_of(pairs)))
    return Group(tuple(controls), patches)


def options_of(chosen: Iterable[tuple[Control, int]]) -> list[Option]:
    """What states stops of controls, given by their numbers; what two of them say is said once."""
    stated = [option for control, number in chosen for option in control.stops[number].options]
    return list(dict.fromkeys(stated))


def _combinations(controls: Sequence[Control]) -> int:
    return math.prod(len(control.stops) for control in controls)


def _with_fewer(control: Control) -> Control:
    """A control without the stop that its reader misses the least: neither the ends nor now's."""
    last = len(control.stops) - 1
    inner = [number for number in range(1, last) if number != control.chosen]
    gone = inner[len(inner) // 2] if inner else (last if control.chosen != last else 0)
    stops = control.stops[:gone] + control.stops[gone + 1 :]
    return replace(control, stops=stops, chosen=control.chosen - (gone < control.chosen))


def _control(offer: Control, base: dict[str, Any], make: Make) -> Control | None:
    """The control of an offer; None where none of its values has an effect."""
    stops: list[Stop] = []
    chosen: int | None = None
    for stop in offer.stops:
        if make(stop.options) != base:
            stops.append(stop)
        elif chosen is None and stop.label == offer.now:
            chosen = len(stops)
            stops.append(Stop(stop.label))
    if not any(stop.options for stop in stops):
        return None
    if chosen is None:
        chosen = 0
        stops.insert(0, Stop(offer.now))
    return replace(offer, stops=tuple(stops), chosen=chosen)
