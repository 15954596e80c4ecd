"""What may be chosen of a real cluster: its network, its devices, its settings, its clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from resilver import catalog
from resilver.explore.controls import Control, Group, Make, Option, Stop, device_names, group_of
from resilver.importers.ceph import ClusterReport
from resilver.whatif.cluster import read_state
from resilver.whatif.configuration import Configuration, Ledger, read_setting, release_of
from resilver.whatif.declared import SETTINGS
from resilver.whatif.options import Request
from resilver.whatif.osd_settings import OVERRIDE, all_settings
from resilver.whatif.plan import plan_of_options
from resilver.whatif.releases import Release
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.settings import Setting

_VALUES = {
    "osd_mclock_profile": ("high_client_ops", "balanced", "high_recovery_ops"),
    "osd_mclock_override_recovery_settings": ("false", "true"),
    "osd_max_backfills": ("1", "2", "4", "8", "16"),
    "osd_recovery_max_active": ("1", "3", "10"),
    "mon_osd_down_out_interval": ("60", "300", "600", "3600", "86400", "0"),
    "osd_recovery_sleep": ("0", "0.05", "0.1", "0.5"),
}
"""The settings by which healing is made gentler or quicker, and values of them."""

_OVERRIDDEN = frozenset({"osd_max_backfills", "osd_recovery_max_active"})
_THROTTLE = {
    "osd_recovery_sleep": " Ceph has no throttle in percent: this is what makes healing gentler"
    " without mClock.",
    "osd_mclock_profile": " Ceph has no throttle in percent: this is what makes healing gentler.",
}

_READS = (2, 5, 10, 15, 20, 30, 40, 80)
"""Reads a second an OSD that clients may ask for, half as many writes with each."""
_READ, _WRITE = "16 KiB", "4 KiB"


def cluster_groups(report: ClusterReport, base: Prepared, request: Request) -> list[Group]:
    """What may be chosen of a cluster: groups of controls that heed each other.

    Args:
        report: The cluster, as its dumps say.
        base: Its input as things are.
        request: What was asked of it.
    """
    make = made_under(report, request, base)
    groups = [[_network(base)], *([one] for one in _devices(base)), [_load(report, request)]]
    made = [group_of(offers, base.input, make) for offers in groups if offers]
    under = _settings_under(report, request, base)
    release = release_of(report, request.release, Ledger())
    made.append(group_of(_settings(base, under, release), base.input, under))
    return [group for group in made if group.controls]


def made_under(report: ClusterReport, request: Request, base: Prepared) -> Make:
    """What makes a cluster's input under options of `resilver what-if`; `base` is as things are."""

    def make(options: Sequence[Option]) -> dict[str, Any]:
        stated, settings = request, []
        for flag, value in options:
            if flag == "--network":
                stated = replace(stated, network=value)
            elif flag == "--device":
                stated = replace(stated, devices=(*stated.devices, value))
            elif flag == "--load":
                stated = replace(stated, load=(*stated.load, value))
            else:
                settings.append(value)
        plan = plan_of_options({"set_option": settings})
        return prepare(report, plan, stated, base).input

    return make


class _Unheard(Ledger):
    """Keeps nothing of what OSDs have, which takes its time where there are many."""

    def repeat(self, other: Ledger, who: str) -> None:
        """Forget it."""


def _settings_under(report: ClusterReport, request: Request, base: Prepared) -> Make:
    """The same for settings alone, of which there are many: what does not heed them stays."""
    release = release_of(report, request.release, Ledger())
    entries = report.config or ()
    cluster = read_state(report, request, Configuration(release, entries, ()))

    def make(options: Sequence[Option]) -> dict[str, Any]:
        stated = tuple(read_setting(value, release) for _, value in options)
        configuration = Configuration(release, entries, stated)
        made = all_settings(configuration, cluster.kinds.values(), _Unheard())
        osds = base.input["osds"]
        if any(made.of_osd[osd["id"]] != osd["settings"] for osd in osds):
            osds = [{**osd, "settings": made.of_osd[osd["id"]]} for osd in osds]
        return {**base.input, "settings": made.cluster, "osd_settings": made.osd, "osds": osds}

    return make


def _now(base: Prepared, *names: str) -> tuple[str, str, str]:
    """How things are, who says so, and why: of the first of these assumptions that there is."""
    for name in names:
        found = [one for one in base.assumptions if one.name == name]
        if found:
            value = ", ".join(dict.fromkeys(one.value for one in found))
            return value, found[0].origin, found[0].sentence
    return "the default", "release default", ""


def _has(base: Prepared, name: str) -> bool:
    return any(one.name == name for one in base.assumptions)


def _by_kind(base: Prepared, name: str) -> tuple[str, str, str]:
    """How a setting is that has a default for each kind of device."""
    kinds = [kind for kind in ("hdd", "ssd") if _has(base, f"{name}_{kind}")]
    found = {kind: _now(base, f"{name}_{kind}") for kind in kinds}
    values = {value for value, _, _ in found.values()}
    if len(values) < 2:
        return _now(base, *(f"{name}_{kind}" for kind in kinds))
    text = ", ".join(f"{value} on {kind.upper()}" for kind, (value, _, _) in found.items())
    return (text, *found["hdd"][1:])


def _network(base: Prepared) -> Control:
    names = [one for one in catalog.list("networks") if one.endswith("gbe")]
    names.sort(key=lambda one: int(one.removesuffix("gbe")))
    stops = tuple(Stop(_gbe(one), (("--network", one),)) for one in names)
    value, origin, source = _now(base, "network of a host")
    named = [one for one in names if source.startswith(f"{one} ") or value == one]
    sentence = "What each host sends and receives at the most, each way."
    now = _gbe(named[0]) if named else value
    return Control("network", "Network of a host", stops, now, origin, source, sentence)


def _gbe(name: str) -> str:
    return f"{name.removesuffix('gbe')} GbE"


def _devices(base: Prepared) -> list[Control]:
    """A control a device class; one for all where OSDs have none."""
    offers = []
    for device_class in sorted(set(base.facts.classes.values())) or [""]:
        prefix = f"{device_class}=" if device_class else ""
        what = f"device of class {device_class}" if device_class else "device"
        stops = tuple(Stop(name, (("--device", f"{prefix}{name}"),)) for name in device_names())
        sentence = "How fast OSDs read and write, as the catalog has it: from slow to fast writing."
        label = what.capitalize()
        offers.append(Control(what, label, stops, *_now(base, what), sentence))
    return offers


def _settings(base: Prepared, make: Make, release: Release) -> list[Control]:
    """A control a setting of the release; what mClock resets is set with what stops that."""
    override = ("--set-option", f"{OVERRIDE}=true")
    offers, beside = [], False
    can_override = SETTINGS[OVERRIDE].span.holds(release)
    for name, texts in _VALUES.items():
        setting = SETTINGS[name]
        if not setting.span.holds(release):
            continue
        stated: list[tuple[tuple[Option, ...], str]] = [
            ((("--set-option", f"{name}={text}"),), text) for text in texts
        ]
        sentence = setting.sentence
        has_effect = any(make(options) != base.input for options, _ in stated)
        if name in _OVERRIDDEN and can_override and not has_effect:
            stated = [((override, *options), text) for options, text in stated]
            sentence += f" Under mClock it holds only with {OVERRIDE}, which is set with it."
            beside = True
        stops = (Stop(_words(setting, text), options) for options, text in stated)
        now = _now(base, name) if _has(base, name) else _by_kind(base, name)
        sentence += _THROTTLE.get(name, "")
        offers.append(Control(name, name, tuple(stops), *now, sentence))
    return [one for one in offers if not (beside and one.key == OVERRIDE)]


def _words(setting: Setting, text: str) -> str:
    """A value for people: of a time of which 0 is none, that it never comes."""
    value = setting.parse(text)
    never = setting.kind == "seconds" and value == 0 and "never" in setting.sentence
    return "never" if never else setting.words_of(value)


def _load(report: ClusterReport, request: Request) -> Control:
    """What clients ask of the pool that holds the most."""
    stored = {load.pool: load.bytes for load in report.loads}
    pool = max(report.pools, key=lambda one: stored.get(one.id, 0)).name
    stops = []
    for reads in _READS:
        count = reads * sum(osd.up for osd in report.osds)
        label = f"{count:,} reads/s, {count // 2:,} writes/s"
        text = f"{pool}: {count} reads/s of {_READ}, {count // 2} writes/s of {_WRITE}"
        stops.append(Stop(label, (("--load", text),)))
    sentence = (
        f"What clients ask of pool {pool!r}: reads of {_READ} and writes of {_WRITE}. Without any,"
        " the answer says nothing of clients, and nothing stands in healing's way. With --load the"
        " command makes a page of your own."
    )
    stated = ("; ".join(request.load), "stated") if request.load else ("none", "assumed")
    source = "" if request.load else "no dump says what clients ask"
    return Control("load", "Clients", tuple(stops), *stated, source, sentence)
