"""What a change does to a Ceph cluster: its answer in tables, what it rests on, lines to paste.

This is what the command and the page read. Nothing here simulates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa

from resilver.counterfactuals import Counterfactual
from resilver.quantities import duration
from resilver.record import record
from resilver.whatif.columns import LONG, TABLES, conform
from resilver.whatif.figures import FIGURES

Origin = Literal["stated", "config", "dump", "release default", "assumed"]
"""Who says so: the user; `ceph config dump`; another dump; Ceph's default for the release; or we,
by what is known."""

PACE = "pace of devices"
"""The name of the assumption that devices work faster or slower than their models."""


@dataclass(frozen=True)
class Assumption:
    """One figure that the answer rests on.

    Attributes:
        name: A setting as Ceph names it, or what it is: ``release``, ``device of class hdd``,
            ``network of a host``, ``bytes of groups``.
        value: Its value with its unit, for people.
        origin: Who says so.
        applies_to: Which parts it is the value of, such as ``84 OSDs``; empty for all.
        sentence: Why it has this value, or its source; empty where the origin says all.
    """

    name: str
    value: str
    origin: Origin
    applies_to: str = ""
    sentence: str = ""


@dataclass(frozen=True)
class PlannedStep:
    """One change of a plan.

    Attributes:
        at_seconds: When, from the start.
        text: What, as a clause: ``osd.12 fails``.
        commands: The lines that do it on the real cluster; none for a failure.
    """

    at_seconds: float
    text: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterFacts:
    """The cluster as it stands before the first change.

    Attributes:
        label: The bundle's name.
        release: Its version, such as ``18.2.4``; empty where no dump says it.
        pools: Its pools: number and name.
        groups: How many groups they have.
        objects: Objects of all pools, each counted once.
        stored_bytes: Their bytes before redundancy.
        used_bytes: Bytes used on all OSDs.
        capacity_bytes: Bytes of all OSDs that exist.
        ratios: ``nearfull``, ``backfillfull``, ``full`` and ``failsafe``, as shares of an OSD.
        places: Of each OSD that exists or that the plan adds, the bucket of each CRUSH type above
            it, lowest first.
        classes: Of each such OSD that has one, its device class.
    """

    label: str
    release: str
    pools: Mapping[int, str]
    groups: int
    objects: int
    stored_bytes: int
    used_bytes: int
    capacity_bytes: int
    ratios: Mapping[str, float]
    places: Mapping[int, Mapping[str, str]]
    classes: Mapping[int, str]

    def to_dict(self) -> dict[str, Any]:
        """The facts as a JSON-able dictionary, without those of each OSD."""
        found = asdict(self)
        del found["places"], found["classes"]
        return found


def host_level(places: Mapping[int, Mapping[str, str]]) -> str:
    """The type of the buckets that hold OSDs, most often ``host``; ``osd`` where none does.

    Args:
        places: The bucket of each type above each OSD, lowest first.
    """
    levels = Counter(next(iter(above), "osd") for above in places.values())
    return max(levels, key=levels.__getitem__, default="osd")


@dataclass(frozen=True)
class Outcome:
    """The answer in figures, of all pools together.

    Attributes:
        whole_seconds: When every group is clean; None if some is not at the end.
        degraded_seconds: Until when some object lacks a copy; 0 if never, None if at the end.
        at_risk_seconds: Until when the next loss may lose data or stop a group, likewise.
        at_risk_groups: The most groups at a time of which that is so.
        at_risk_end_groups: The groups of which it is so at the end.
        inactive_seconds: Until when some group serves nobody, likewise.
        inactive_groups: The most groups at a time that serve nobody.
        peak_share: The highest share of an OSD's bytes that is used at any time.
        peak_osd: The name of that OSD; empty without OSDs.
        nearfull_seconds: When the first OSD gets to ``nearfull``; None if none does.
        backfillfull_seconds: The same of ``backfillfull``.
        full_seconds: The same of ``full``, where clients' writes stop.
        toofull_groups: The most groups at a time that wait for space.
        stuck_groups: Groups that are not clean at the end.
        lost_groups: Groups of which some data is gone.
        recovered_bytes: Bytes written to make missing copies anew.
        moved_bytes: Bytes written to move copies that were whole.
        least_bytes: Bytes that must be written at the least.
        served_share: The least share of what clients ask that they get; None without a load.
        p99_seconds: The longest delay that 99 % of a pool's requests stay below; None without a
            load, and where more than 1 % of them are not served.
        loss_chance: The probability that further OSDs fail and take data while groups lack copies
            or pieces; None where it was not asked for.
    """

    whole_seconds: float | None
    degraded_seconds: float | None
    at_risk_seconds: float | None
    at_risk_groups: int
    at_risk_end_groups: int
    inactive_seconds: float | None
    inactive_groups: int
    peak_share: float
    peak_osd: str
    nearfull_seconds: float | None
    backfillfull_seconds: float | None
    full_seconds: float | None
    toofull_groups: int
    stuck_groups: int
    lost_groups: int
    recovered_bytes: int
    moved_bytes: int
    least_bytes: int
    served_share: float | None
    p99_seconds: float | None
    loss_chance: float | None

    @property
    def holds(self) -> bool:
        """Whether every PG is clean at the end, and nothing is lost."""
        return not self.stuck_groups and not self.lost_groups


@dataclass(frozen=True)
class WhatIf:
    """What a plan does to a cluster.

    Attributes:
        plan: The plan's name: of its file, or what was asked in words.
        steps: Its changes, by rising time; none for the cluster as it is.
        cluster: The cluster before the first of them.
        tables: The answer, by the names of `resilver.whatif.columns.TABLES`.
        assumptions: What it rests on.
        notes: What a reader must know of the dumps, in sentences: that groups share a pool's sum.
        horizon_seconds: When the run ends, whole or not.
        end_seconds: When it ended: nothing happens any more, or the horizon.
        is_by_events: Whether the data moved by events; else by steady flows.
        seed: The seed of what is drawn.
        digest: What tells two runs apart; equal for equal runs.
        effort: What the run took to compute, in steps of like cost; 0 by events.
    """

    plan: str
    steps: tuple[PlannedStep, ...]
    cluster: ClusterFacts
    tables: Mapping[str, pa.Table]
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()
    horizon_seconds: float = 0.0
    end_seconds: float = 0.0
    is_by_events: bool = False
    seed: int = 0
    digest: str = ""
    effort: int = 0

    @property
    def commands(self) -> tuple[str, ...]:
        """The lines that do the plan on the real cluster, in its order.

        A comment of the shell stands before those that are for later.
        """
        lines: list[str] = []
        told = 0.0
        for step in self.steps:
            if step.commands and step.at_seconds != told:
                told = step.at_seconds
                lines.append(f"# {duration(told)} after the start:")
            lines += step.commands
        return tuple(lines)

    @property
    def holds(self) -> bool:
        """Whether every PG is clean at the end, and nothing is lost."""
        return self.outcome.holds

    @property
    def moves(self) -> bool:
        """Whether any data is re-replicated or moves."""
        return bool(self.outcome.recovered_bytes + self.outcome.moved_bytes)

    @property
    def counterfactuals(self) -> list[Counterfactual]:
        """What would make it end sooner, the best first; none where the runs were not made."""
        return [Counterfactual(**row) for row in self.tables["counterfactuals"].to_pylist()]

    @cached_property
    def outcome(self) -> Outcome:
        """The answer in figures."""
        found = {figure.key: figure.of(self.tables) for figure in FIGURES}
        return Outcome(**found, peak_osd=_fullest(self.tables["osds"]))

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON-able dictionary, without the tables that are long."""
        tables = {name: one.to_pylist() for name, one in self.tables.items() if name not in LONG}
        return {
            **record(self, "plan", "steps", "holds", "cluster", "assumptions", "notes", "commands"),
            **record(self, "horizon_seconds", "end_seconds", "seed", "digest"),
            "answer": asdict(self.outcome),
            "engine": "events" if self.is_by_events else "flows",
            "tables": tables,
        }

    def to_rows(self) -> pa.Table:
        """The answer as a run of a study keeps it: a row a table, and one of all else."""
        rest = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "tables"}
        rest["cluster"] = asdict(self.cluster)
        for name in ("steps", "assumptions"):
            rest[name] = [asdict(one) for one in rest[name]]
        contents = {"answer": json.dumps(rest).encode()}
        for name, table in self.tables.items():
            sink = pa.BufferOutputStream()
            packed = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_stream(sink, table.schema, options=packed) as stream:
                stream.write_table(table)
            contents[name] = sink.getvalue().to_pybytes()
        return pa.table({"part": list(contents), "content": list(contents.values())})

    @classmethod
    def from_rows(cls, rows: pa.Table) -> WhatIf:
        """The answer that a run of a study has kept.

        Args:
            rows: What `to_rows` gave.
        """
        contents = dict(zip(*(rows[name].to_pylist() for name in ("part", "content")), strict=True))
        rest = json.loads(contents.pop("answer"))
        facts = rest["cluster"]
        for name in ("pools", "places", "classes"):
            facts[name] = {int(number): one for number, one in facts[name].items()}
        rest["cluster"] = ClusterFacts(**facts)
        steps = [(one["at_seconds"], one["text"], tuple(one["commands"])) for one in rest["steps"]]
        rest["steps"] = tuple(PlannedStep(*one) for one in steps)
        rest["assumptions"] = tuple(Assumption(**one) for one in rest["assumptions"])
        rest["notes"] = tuple(rest["notes"])
        kept = {name: pa.ipc.open_stream(one).read_all() for name, one in contents.items()}
        tables = {name: conform(name, kept.get(name)) for name in TABLES}
        return cls(tables=tables, **rest)


def _fullest(osds: pa.Table) -> str:
    """The OSD with the highest share of its bytes used at any time; empty without OSDs."""
    columns = ("peak_used_bytes", "capacity_bytes", "name")
    rows = zip(*(osds[name].to_pylist() for name in columns), strict=True)
    shares = [(used / capacity, name) for used, capacity, name in rows if capacity]
    return max(shares, key=lambda one: one[0], default=(0.0, ""))[1]
