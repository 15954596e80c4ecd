"""What every daemon of a cluster has for each setting, and who says so."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport, ConfigEntry
from resilver.importers.ceph.facts import parse_release
from resilver.whatif.answer import Assumption, Origin
from resilver.whatif.declared import SETTINGS
from resilver.whatif.declared.forms import CONFIG_SET, has
from resilver.whatif.releases import ALWAYS, ASSUMED_RELEASE, LUMINOUS, RELEASE_NAMES, Release
from resilver.whatif.settings import Setting, Value, known

_NAMED = 4
"""Up to so many OSDs are named; more are counted."""


@dataclass(frozen=True)
class Daemon:
    """A daemon that asks for a setting.

    Attributes:
        kind: ``osd``, ``mon`` or ``mgr``.
        number: The OSD's number; None of another.
        device_class: The OSD's class, or empty.
        places: The bucket of each CRUSH type above it, lowest first.
    """

    kind: str
    number: int | None = None
    device_class: str = ""
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A setting's value for a daemon, and who says so."""

    value: Value
    origin: Origin
    where: str = ""


@dataclass(frozen=True)
class Configuration:
    """The settings of a cluster: what users state, else what it has, else its release's defaults.

    Attributes:
        release: The release whose defaults hold.
        entries: What `ceph config dump` lists.
        stated: What is set on top, the last first heeded.
    """

    release: Release
    entries: tuple[ConfigEntry, ...] = ()
    stated: tuple[ConfigEntry, ...] = ()

    def with_stated(self, entries: Iterable[ConfigEntry]) -> Configuration:
        """The same with more settings on top."""
        return replace(self, stated=(*self.stated, *entries))

    def _heeds(self, name: str) -> bool:
        """Whether the release has a setting of this name that healing goes by."""
        return name in SETTINGS and SETTINGS[name].span.holds(self.release)

    @cached_property
    def _by_name(self) -> dict[str, dict[str, list[tuple[ConfigEntry, Found]]]]:
        """The entries of each setting by section, in the order in which they stand."""
        found: dict[str, dict[str, list[tuple[ConfigEntry, Found]]]] = {}
        for origin, entries in (("config", self.entries), ("stated", self.stated)):
            for entry in entries:
                if origin == "config" and not self._heeds(entry.name):
                    continue
                setting = known(entry.name)
                where = f"config dump, {_who(entry)}" if origin == "config" else _who(entry)
                value = setting.parse(entry.value, where)
                sections = found.setdefault(setting.name, {})
                one = (entry, Found(value, "config" if origin == "config" else "stated", where))
                sections.setdefault(entry.section, []).append(one)
        return found

    @cached_property
    def _tellers(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The sections that entries have, and the types of bucket that masks name."""
        entries = (*self.entries, *self.stated)
        kinds = {part.partition(":")[0] for one in entries for part in _parts(one.mask)}
        return frozenset(one.section for one in entries), tuple(sorted(kinds - {"class"}))

    def telling(self, daemon: Daemon) -> Hashable:
        """What settings of a daemon may depend on; equal for those that no entry tells apart."""
        sections, kinds = self._tellers
        own = f"{daemon.kind}.{daemon.number}"
        places = tuple(daemon.places.get(kind) for kind in kinds)
        return daemon.device_class, places, own if own in sections else ""

    def find(self, name: str, daemon: Daemon) -> Found:
        """What a daemon has for a setting.

        Args:
            name: The setting, one of `SETTINGS`.
            daemon: Who asks.
        """
        sections = self._by_name.get(name, {})
        best: tuple[tuple[bool, int, int], Found] | None = None
        for rank, section in enumerate(_sections(daemon, name) if sections else ()):
            for entry, found in sections.get(section, ()):
                of_mask = _mask_rank(entry, daemon)
                if of_mask is None:
                    continue
                order = (found.origin == "stated", rank, of_mask)
                if best is None or order >= best[0]:
                    best = (order, found)
        if best is not None:
            return best[1]
        return Found(SETTINGS[name].default(self.release), "release default")


def _sections(daemon: Daemon, name: str) -> tuple[str, ...]:
    """The sections that a daemon heeds, the most particular last."""
    if daemon.number is not None:
        return "global", daemon.kind, f"{daemon.kind}.{daemon.number}"
    # Monitors judge OSDs by a setting of OSDs, and the same value is meant for both.
    return ("global", "osd", daemon.kind) if name.startswith("osd_") else ("global", daemon.kind)


def _mask_rank(entry: ConfigEntry, daemon: Daemon) -> int | None:
    """How particular an entry's mask is for a daemon; None where it is not for it."""
    rank = 0
    for part in _parts(entry.mask):
        kind, _, wanted = part.partition(":")
        if kind == "class":
            if wanted != daemon.device_class:
                return None
            rank += 1
        elif daemon.places.get(kind) != wanted:
            return None
        else:
            # The nearer bucket is the more particular one.
            rank += 2 * (len(daemon.places) - list(daemon.places).index(kind))
    return rank


def _who(entry: ConfigEntry) -> str:
    return f"{entry.section}/{entry.mask}" if entry.mask else entry.section


def read_setting(text: str, release: Release) -> ConfigEntry:
    """A setting as a user states it: ``[WHO ]NAME=VALUE``, WHO as `ceph config set` has it.

    Args:
        text: Such as ``osd_max_backfills=4`` or ``osd/class:hdd osd_recovery_sleep_hdd=0``.
        release: What the cluster runs.

    Raises:
        ConfigError: It is no setting that healing goes by, no value of it, or the release lacks it.
    """
    head, sign, value = text.partition("=")
    who, _, name = head.strip().rpartition(" ")
    if not sign or not name:
        rule, remedy = "a setting is stated with its value", 'such as "osd_max_backfills=4"'
        raise ConfigError(rule, remedy, "--set-option", show(text))
    setting = known(name, "--set-option", release)
    setting.parse(value)
    if problem := setting.problem_in(release, value.strip(), "--set-option"):
        raise ConfigError(problem)
    section, _, mask = (who.strip() or setting.daemon).partition("/")
    if section.partition(".")[0] not in ("global", "osd", "mon", "mgr"):
        rule = "a setting is for global, osd, osd.N, mon or mgr"
        raise ConfigError(rule, 'such as "osd.12 osd_max_backfills=4"', value=show(text))
    return ConfigEntry(section, mask, setting.name, value.strip())


def setting_commands(
    entry: ConfigEntry, present: Iterable[ConfigEntry], daemons: Iterable[Daemon], release: Release
) -> list[str]:
    """The lines that set it, after those that take away what would win over it.

    Args:
        entry: What is to be set.
        present: What `ceph config dump` lists.
        daemons: The OSDs.
        release: What the cluster runs; before the monitors kept settings, daemons are told them.
    """
    own = SETTINGS[entry.name].daemon
    asking = list(daemons) if own == "osd" else [Daemon(own)]
    if not has(CONFIG_SET, release):
        return _injected(entry, asking)
    by_number = {one.number: one for one in asking}
    lines = []
    for one in present:
        if one.name != entry.name:
            continue
        number = one.section.partition(".")[2]
        heeding = (
            [by_number[int(number)]] if number.isdigit() and int(number) in by_number else asking
        )
        if any(_wins(one, entry, daemon) for daemon in heeding):
            lines.append(shlex.join(["ceph", "config", "rm", _who(one), one.name]))
    return [*lines, shlex.join(["ceph", "config", "set", _who(entry), entry.name, entry.value])]


def _injected(entry: ConfigEntry, daemons: Iterable[Daemon]) -> list[str]:
    """The lines that tell running daemons a setting; of a mask, each OSD that it is for."""
    if entry.name.startswith("mgr/"):
        return [shlex.join(["ceph", "config-key", "set", entry.name, entry.value])]
    whom = [entry.section if "." in entry.section else f"{entry.section}.*"]
    if entry.mask:
        heeding = (one for one in daemons if _mask_rank(entry, one) is not None)
        whom = [f"{one.kind}.{one.number}" for one in heeding]
    elif entry.section == "global":
        whom = ["mon.*", "osd.*"]
    option = shlex.quote(f"--{entry.name} {entry.value}")
    return [f"ceph tell {who} injectargs {option}" for who in whom]


def _wins(one: ConfigEntry, over: ConfigEntry, daemon: Daemon) -> bool:
    """Whether a daemon heeds an entry more than another that is for it too."""
    sections = _sections(daemon, one.name)
    masks = _mask_rank(one, daemon), _mask_rank(over, daemon)
    if one.section not in sections or over.section not in sections or None in masks:
        return False
    ranks = [sections.index(each.section) for each in (one, over)]
    return (ranks[0], masks[0] or 0) > (ranks[1], masks[1] or 0)


def _parts(mask: str) -> list[str]:
    return [part for part in mask.split("/") if part]


class Ledger:
    """Which settings were used, with which values, by whom."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, Origin, str], list[str]] = {}
        self._warnings: dict[str, None] = {}

    def warn(self, sentence: str) -> None:
        """Remember that something which was set is not heeded."""
        self._warnings[f"{sentence}."] = None

    @property
    def warnings(self) -> list[str]:
        """What was set and is not heeded, each a sentence."""
        return list(self._warnings)

    def note(self, name: str, value: str, origin: Origin, sentence: str, who: str) -> None:
        """Remember that `who` (an OSD's name; empty for the cluster) has this value."""
        self._rows.setdefault((name, value, origin, sentence), []).append(who)

    def repeat(self, other: Ledger, who: str) -> None:
        """Remember that `who` has what another ledger keeps."""
        for row in other._rows:
            self._rows.setdefault(row, []).append(who)
        self._warnings |= other._warnings

    def found(self, setting: Setting, found: Found, who: str, sentence: str = "") -> None:
        """Remember what `Configuration.find` answered."""
        said = sentence or found.where or setting.source
        self.note(setting.name, setting.words_of(found.value), found.origin, said, who)

    def assumptions(self, osds: int) -> list[Assumption]:
        """A row a value: what users state first, then what dumps say, then the defaults.

        Args:
            osds: How many OSDs there are, of which a value that all have names none.
        """
        order = {"stated": 0, "config": 1, "dump": 2, "assumed": 3, "release default": 4}
        rows = [
            Assumption(name, value, origin, _applies(who, osds), sentence)
            for (name, value, origin, sentence), who in self._rows.items()
        ]
        return sorted(rows, key=lambda one: order[one.origin])


def _applies(who: list[str], osds: int) -> str:
    names = [name for name in who if name]
    if not names or len(names) == osds:
        return ""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names):,} OSDs"


def release_of(report: ClusterReport, stated: str, ledger: Ledger | None = None) -> Release:
    """The release whose defaults hold.

    Args:
        report: What the dumps say.
        stated: What the user says, or empty.
        ledger: Where it is kept, or None.

    Raises:
        ConfigError: What the user says is no release.
    """

    def noted(release: Release, origin: Any, sentence: str) -> Release:
        if ledger is not None:
            ledger.note("release", ".".join(map(str, release)), origin, sentence, "")
        return release

    if stated:
        found = RELEASE_NAMES.get(stated.lower()) or parse_release(stated)
        if found is None:
            rule, remedy = "a release is a name or a version", 'such as "18.2.4" or "reef"'
            raise ConfigError(rule, remedy, key="--release", value=show(stated))
        return noted(found, "stated", "")
    if report.release is not None:
        return noted(report.release, "dump", "the version in the dumps")
    if report.require_osd_release in RELEASE_NAMES:
        name = report.require_osd_release
        sentence = f"the map requires {name}, of which this is a late version"
        return noted(RELEASE_NAMES[name], "assumed", sentence)
    return noted(ASSUMED_RELEASE, "assumed", "no dump says the release; --release does")


def has_old_clients(report: ClusterReport, least: Release = LUMINOUS) -> bool:
    """Whether the map lets clients in that heed no entries: for upmaps those before Luminous."""
    return RELEASE_NAMES.get(report.require_min_compat_client, ALWAYS) < least
