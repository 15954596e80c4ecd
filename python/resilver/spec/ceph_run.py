"""How a real Ceph cluster runs in a study: what `resilver what-if` takes as options, as keys."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.faults import NETWORK_LEVELS, Fault
from resilver.spec.section import Flag, Section

_HEALING = 'Ceph heals by its own settings; such as ceph.settings = { "osd_max_backfills" = 4 }'
_ELSEWHERE = {
    "traffic": "give ceph.load instead",
    "lanes": _HEALING,
    "recovery": _HEALING,
    "detection": "its heartbeats are settings, such as ceph.settings.osd_heartbeat_grace",
}


class CephRun(Section):
    """A real cluster's settings, load and changes, as `resilver what-if` takes them as options."""

    release: str = Field(default="", examples=["18.2.4"])
    """The release whose defaults hold. Default: as the dumps say."""
    settings: dict[str, bool | int | float | str] = Field(
        default={}, examples=[{"osd_max_backfills": 4}]
    )
    """Ceph's settings by name, which hold from the start: ``osd_max_backfills = 4``, or
    ``"osd/class:hdd osd_recovery_sleep_hdd" = 0`` for some daemons.
    """
    changes: dict[str, str | tuple[str, ...]] = Field(
        default={}, examples=[{"flag": ["noout @ 2 h"]}]
    )
    """What is changed beside the faults, by kind, as the options of `resilver what-if` have it."""
    devices: tuple[str, ...] = Field(default=(), examples=[["hdd=hdd-7k2-8tb"]])
    """The device of OSDs, or of those of a class, of the catalog. Default: by class and size."""
    network: str = Field(default="", examples=["25gbe"])
    """The network of a host: of the catalog, or a rate. Default: 10gbe."""
    pace: str = Field(default="", examples=["40%"])
    """The rate of all devices, as a share of their models'. Default: 100%."""
    fill: str = Field(default="", examples=["80%"])
    """How full all OSDs are together. Default: as the dumps say."""
    grow: tuple[str, ...] = Field(default=(), examples=[["rbd=+30%"]])
    """What pools hold beyond what the dumps say."""
    load: tuple[str, ...] = Field(default=(), examples=[["rbd: 500 reads/s of 16 KiB"]])
    """What clients ask of pools. Default: nothing."""
    afr: tuple[str, ...] = Field(default=(), examples=[["ssd=0.9%"]])
    """How many OSDs, or those of a class, fail a year, for the chance of loss while data heals."""
    horizon: str = Field(default="30 d", examples=["30 d"])
    """How long the cluster is followed at the most."""
    events: Flag = Field(default=False, examples=[False])
    """Whether data moves object by object; else by steady rates between two changes."""
    anyway: Flag = Field(default=False, examples=[False])
    """Whether changes that do not fit are followed, and a note says so."""
    counterfactuals: Flag | None = Field(default=None, examples=[True])
    """Whether each run lists what would speed it up: it is made again with one limit relaxed.
    Default: where it is a study's only run, and of a small cluster.
    """

    def content(self) -> dict[str, Any]:
        """All that affects results; without what is left to be, so that runs keep their keys."""
        later = {"counterfactuals": None, "pace": ""}
        unsaid = {key for key, value in later.items() if getattr(self, key) == value}
        return self.model_dump(mode="json", exclude=unsaid)


def ceph_problems(given: Set[str], sections: Mapping[str, Any]) -> list[Problem]:
    """What of a study a real cluster does not have.

    Args:
        given: The sections that are given.
        sections: All sections by name.
    """
    says = "a real cluster's dumps say this already"
    problems = [
        Problem(says, f"remove [{name}]", key=name)
        for name in ("population", "placement", "redundancy", "pools")
        if name in given and sections.get(name)
    ]
    rule = "a real Ceph cluster has no such section"
    problems += [
        Problem(rule, f"remove it; {remedy}", key=name)
        for name, remedy in _ELSEWHERE.items()
        if name in given and sections.get(name) is not None
    ]
    for index, fault in enumerate(sections.get("faults") or ()):
        problems += _fault_problems(f"faults.{index}", fault)
    return problems


def _fault_problems(key: str, fault: Fault) -> Problems:
    """What of a fault a real cluster does not have."""
    broken = fault.broken
    remedy = "use osds, hosts, racks or rows"
    if broken is None:
        yield Problem("a real Ceph cluster has no soft errors", remedy, key=f"{key}.corrupt")
    elif broken.level in NETWORK_LEVELS:
        rule = f"the network of a real Ceph cluster has no {broken.level} that could fail"
        yield Problem(rule, remedy, key=f"{key}.{broken.key}", value=show(broken.targets))
    elif fault.detection is not None:
        rule, remedy = (
            "Ceph detects failures by its own settings",
            ("remove it; ceph.settings has osd_heartbeat_grace and mon_osd_down_out_interval"),
        )
        yield Problem(rule, remedy, key=f"{key}.detection")
    elif fault.recovery is not None:
        yield Problem("an OSD has no standby to fail over to", "remove it", key=f"{key}.recovery")
    elif fault.replaced_after is not None:
        rule = "Ceph rebuilds on other OSDs; a replacement of the same id is another plan"
        remedy = "remove it; resilver what-if --replace osd.12=18TB has it"
        yield Problem(rule, remedy, key=f"{key}.replaced_after")
    elif not broken.health and not broken.is_told:
        rule = "OSDs that fail are found out by their heartbeats"
        remedy = "leave out told, or use osds in place of disks; a failed disk is a failed OSD"
        shown = "told" if fault.told is not None else broken.key
        yield Problem(rule, remedy, key=f"{key}.{shown}")
