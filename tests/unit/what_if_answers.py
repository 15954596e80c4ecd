"""Answers of a small cluster whose bytes are conserved, for tests of how answers are shown.

A host of it fails: its bytes come back on the others, each in proportion to a share drawn once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from resilver.whatif.answer import Assumption, ClusterFacts, PlannedStep, WhatIf
from resilver.whatif.columns import TABLES, conform
from resilver.whatif.several import Harm, PlansCompared, Ranking, Search, Trial, harm_order

TB = 10**12
RATIOS = {"nearfull": 0.85, "backfillfull": 0.90, "full": 0.95, "failsafe": 0.97}
ROOM = ("nearfull", "backfillfull", "full", "max_avail")
OUT_SECONDS = 620.0
"""A grace of 20 s, and `mon_osd_down_out_interval`."""
STOPPED = "the target osd.3 would be 91.2 % full, above backfillfull (90 %)"


ASSUMED = (
    Assumption("osd_max_backfills", "1", "release default", sentence="Ceph 18.2.4 says so."),
    Assumption("device of class hdd", "nl-sas-4tb", "assumed", "12 OSDs", "No dump names it."),
    Assumption("osd_mclock_profile", "high_recovery_ops", "config"),
    Assumption("AFR of class hdd", "1.36 %", "assumed"),
)


class Course:
    """The run: what fails comes back at a steady rate after it is out."""

    def __init__(self, regime: str, osds: int, hosts: int, hours: float, points: int) -> None:
        draw = np.random.default_rng(18)
        self.regime, self.count, self.hosts = regime, osds, hosts
        self.capacity = np.full(osds, 4 * TB)
        self.start = (draw.uniform(0.45, 0.70, osds) * 4 * TB).astype(np.int64)
        self.host_of = np.arange(osds) // (osds // hosts)
        self.gone = (self.host_of == 0) & (regime != "nothing")
        share = np.where(self.gone, 0.0, draw.uniform(0.8, 1.2, osds))
        self.lost = int(self.start[self.gone].sum())
        kept = 0.9 if regime == "stuck" else 0.5 if regime == "horizon" else 1.0
        self.received = (kept * self.lost * share / share.sum()).astype(np.int64)
        self.end = OUT_SECONDS + 3600.0 * hours
        self.times = np.concatenate(([0.0], np.linspace(OUT_SECONDS, self.end, points - 1)))
        if regime == "nothing":
            self.times = np.array([0.0, 1.0])
        self.done = np.clip((self.times - OUT_SECONDS) / (self.end - OUT_SECONDS), 0.0, 1.0)
        self.left = self.lost * (1.0 - kept * self.done) * (1 if self.gone.any() else 0)

    @property
    def used(self) -> Any:
        """Bytes by moment and OSD."""
        return self.start[None, :] + np.outer(self.done, self.received).astype(np.int64)


def table_of(name: str, columns: dict[str, Any]) -> pa.Table:
    """A table of these columns, with zeros in all others."""
    rows = len(next(iter(columns.values())))
    return pa.table(dict.fromkeys(TABLES[name].names, np.zeros(rows, np.int64)) | columns)


def timeline(run: Course) -> pa.Table:
    objects = run.left / 4e6
    groups = np.ceil(objects / 50_000)
    is_out = (run.times >= OUT_SECONDS) & (groups > 0)
    moving = np.where(is_out, np.minimum(groups, run.count // 2), 0)
    stuck = np.where(is_out & (run.regime == "stuck"), np.minimum(groups, 4), 0)
    # A rate is the mean since the row before: nothing came until the OSDs were out.
    since_out = np.arange(groups.size) >= 2
    rate = np.where(since_out, run.received.sum() / (run.end - OUT_SECONDS), 0.0)
    if run.regime == "stuck":
        moving[-1] = 0
    waits = np.maximum(groups * is_out - moving - stuck, 0)
    at_risk = np.where(run.done < 0.3, np.minimum(groups, 3), 0)
    return table_of("timeline", {
        "time_seconds": run.times,
        "degraded_objects": objects.astype(np.int64),
        "degraded_groups": groups.astype(np.int64),
        "undersized_groups": groups.astype(np.int64),
        "at_risk_groups": at_risk.astype(np.int64),
        "inactive_groups": np.where(run.times < OUT_SECONDS, at_risk, 0).astype(np.int64),
        "backfilling_groups": moving.astype(np.int64),
        "backfill_wait_groups": waits.astype(np.int64),
        "toofull_groups": stuck.astype(np.int64),
        "recovered_bytes_per_second": rate,
        "recovered_objects_per_second": rate / 4e6,
    })  # fmt: skip


def rows_of(name: str, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """A table of rows in the order of its columns."""
    names = TABLES[name].names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], TABLES[name])


def room_table(pool: str) -> pa.Table:
    return rows_of("room", [(1, pool, state, 8 * TB, 4, 6 * TB, 5) for state in ROOM])


def osds_table(run: Course, prefix: str) -> pa.Table:
    used = run.used
    share = used / run.capacity
    crossed = {
        f"{level}_seconds": [
            float(run.times[np.argmax(of > ratio)]) if (of > ratio).any() else None
            for of in share.T
        ]
        for level, ratio in RATIOS.items()
    }
    sent = np.where(run.gone, 0, run.received.sum() // max(int((~run.gone).sum()), 1))
    # What division leaves over is the last one's.
    sent[-1] += run.received.sum() - sent.sum()
    return table_of("osds", {
        "osd": np.arange(run.count),
        "name": [f"osd.{at}" for at in range(run.count)],
        "host": [f"{prefix}{at}" for at in run.host_of],
        "used_start_bytes": run.start,
        "used_end_bytes": used[-1],
        "peak_used_bytes": used.max(axis=0),
        "peak_seconds": run.times[used.argmax(axis=0)],
        "capacity_bytes": run.capacity,
        **crossed,
        "received_bytes": run.received,
        "sent_bytes": sent,
        "groups_start": np.full(run.count, 64),
        "groups_end": np.where(run.gone, 0, 64 * run.count // max(int((~run.gone).sum()), 1)),
        "busy_seconds": np.where(run.gone, 0.0, 0.4 * (run.end - OUT_SECONDS)),
    })  # fmt: skip


def pools_table(run: Course, pool: str) -> pa.Table:
    nothing, is_open = run.regime == "nothing", run.regime in ("stuck", "horizon")
    whole = 0.0 if nothing else None if is_open else run.end
    risk = 0.0 if nothing else float(run.times[np.argmax(run.done >= 0.3)])
    shares = (0.75, 0.25)
    written = [int(run.received.sum() * of) for of in shares]
    written[0] += int(run.received.sum()) - sum(written)
    return table_of("pools", {
        "pool": [1, 2],
        "name": [pool, "archive"],
        "groups": [256, 64],
        # Of an open run all that is left is of the first pool.
        "degraded_seconds": pa.array([whole, run.end if is_open else whole], pa.float64()),
        "at_risk_seconds": pa.array([risk, 0.0], pa.float64()),
        "inactive_seconds": pa.array([0.0 if nothing else OUT_SECONDS, 0.0], pa.float64()),
        "whole_seconds": pa.array([whole, run.end if is_open else whole], pa.float64()),
        "recovered_bytes": written,
        "least_bytes": [int(run.lost * of) if not nothing else 0 for of in shares],
    })  # fmt: skip


def stuck_table(run: Course) -> pa.Table:
    state, reason, count = "", "", 0
    if run.regime == "stuck":
        state, reason, count = "backfill_toofull", STOPPED, 4
    if run.regime == "horizon":
        state, reason, count = "backfill_wait", "the primary osd.4 has no free slot", 40
    state = f"active+undersized+degraded+remapped+{state}"
    rows = [(f"1.{at:x}", 1, state, reason, OUT_SECONDS, "4,7,3") for at in range(count)]
    return rows_of("stuck", [(*row, 40, 0) for row in rows])


def risks_table(run: Course, pool: str) -> pa.Table:
    """Of the first pool a third of the groups lack a copy, three of them two of three."""
    until = None if run.regime in ("stuck", "horizon") else run.end
    if run.regime == "nothing":
        return rows_of("risks", [(None, "", 0, None, 0, 0.0, 0.0)])
    pools = ((None, ""), (1, pool))
    return rows_of("risks", [(*one, 85, 1, 7, until, 3.24e-6) for one in pools])


def clients_table(run: Course) -> pa.Table:
    busy = np.where((run.times >= OUT_SECONDS) & (run.done < 1.0), 1.0, 0.0)
    return table_of("clients", {
        "time_seconds": run.times,
        "pool": pa.array([1] * run.times.size, pa.int64()),
        "served_share": 1.0 - 0.08 * busy,
        "mean_seconds": 0.008 + 0.006 * busy,
        "p99_seconds": 0.038 + 0.033 * busy,
    })  # fmt: skip


def fill_table(run: Course) -> pa.Table:
    used = run.used
    return table_of("fill", {
        "osd": np.tile(np.arange(run.count), run.times.size),
        "time_seconds": np.repeat(run.times, run.count),
        "used_bytes": used.ravel(),
        "capacity_bytes": np.tile(run.capacity, run.times.size),
    })  # fmt: skip


def history_table(run: Course) -> pa.Table:
    gone = np.flatnonzero(run.gone)
    rows = [(0.0, f"osd.{at} died", 100) for at in gone]
    rows += [(20.0, f"the monitors mark osd.{at} down", 101) for at in gone]
    rows += [(OUT_SECONDS, f"the monitors mark osd.{at} out", 102) for at in gone]
    return rows_of("history", rows)


def limits_table(run: Course) -> pa.Table:
    rows = [
        ("reservation of a target", "osd.4", 0.29),
        ("reservation of a target", "osd.6", 0.12),
        ("mclock limit", "osd.7", 0.22),
        ("device", "osd.5", 0.05),
    ]
    return rows_of("limits", rows if run.gone.any() else [])


def counterfactuals_table(run: Course) -> pa.Table:
    """Half of the backfill's time with twice the devices, a tenth less with twice the slots."""
    slots = "osd_max_backfills, osd_recovery_max_active"
    found = [
        ("devices", "--device", "200 MB/s", "twice as fast", 0.5),
        ("backfill and recovery slots", slots, "1", "2", 0.1),
        ("network of a host", "--network", "10 Gb/s", "20 Gb/s", 0.0),
    ]
    stuck = len(stuck_table(run))
    rows = [(*words, run.end * (1 - share), share, stuck, 0) for *words, share in found]
    return rows_of("counterfactuals", rows if run.regime in ("whole", "stuck") else [])


def cluster_of(run: Course, pool: str, prefix: str) -> ClusterFacts:
    places = {
        at: {"host": f"{prefix}{host}", "rack": f"rack-{host % 2}"}
        for at, host in enumerate(run.host_of)
    }
    return ClusterFacts(
        label="bundle.tar.zst",
        release="18.2.4",
        pools={1: pool, 2: "archive"},
        groups=320,
        objects=int(run.start.sum() / 12e6),
        stored_bytes=int(run.start.sum() / 3),
        used_bytes=int(run.start.sum()),
        capacity_bytes=int(run.capacity.sum()),
        ratios=RATIOS,
        places=places,
        classes=dict.fromkeys(places, "hdd"),
    )


def answer(
    regime: str = "whole",
    osds: int = 12,
    hosts: int = 4,
    hours: float = 9.0,
    points: int = 40,
    pool: str = "rbd",
    prefix: str = "node-",
    load: bool = True,
    **more: Any,
) -> WhatIf:
    """An answer of one of four kinds.

    Args:
        regime: "nothing" (no change), "whole", "stuck" (four groups wait for ever) or "horizon"
            (the run ends first).
        osds: How many OSDs, of 4 TB.
        hosts: How many hosts.
        hours: How long data moves.
        points: Moments of the timeline.
        pool: The name of the first pool.
        prefix: What hosts' names begin with.
        load: Whether clients ask for anything.
        more: Fields of the answer.
    """
    run = Course(regime, osds, hosts, hours, points)
    made = {
        "timeline": timeline(run),
        "pools": pools_table(run, pool),
        "room": room_table(pool),
        "osds": osds_table(run, prefix),
        "fill": fill_table(run),
        "stuck": stuck_table(run),
        "risks": risks_table(run, pool),
        "limits": limits_table(run),
        "counterfactuals": counterfactuals_table(run),
        "clients": clients_table(run) if load else None,
        "history": history_table(run),
        "upmaps": pa.table({"pool": [1], "group": [26], "pairs": ["4>7"]}),
    }
    fails = PlannedStep(0.0, f"host {prefix}0 fails")
    flag = PlannedStep(3600.0, "noout is set", ("ceph osd set noout",))
    given: dict[str, Any] = {
        "plan": "as asked",
        "steps": () if regime == "nothing" else (fails, flag),
        "cluster": cluster_of(run, pool, prefix),
        "assumptions": ASSUMED,
        "horizon_seconds": 2_592_000.0 if regime != "horizon" else run.end,
        "end_seconds": float(run.times[-1]),
        "digest": "5eed",
    }
    return WhatIf(tables={name: conform(name, made.get(name)) for name in TABLES}, **given | more)


def plans() -> PlansCompared:
    """Three plans: whole after 9 h, after 5 h with slower clients, and not at all."""
    slow, quick = answer(plan="slow.toml"), answer(hours=5.0, plan="quick.toml")
    return PlansCompared((slow, quick, answer("stuck", plan="full.toml")))


def ranking(level: str = "host") -> Ranking:
    """Four parts: one leaves groups behind, the others take 9, 5 and 2 hours."""
    of = (("node-3", "stuck", 9.0), ("node-0", "whole", 9.0), ("node-2", "whole", 5.0))
    of += (("node-1", "whole", 2.0),)
    harms = [
        Harm(name, (3 * rank, 3 * rank + 1, 3 * rank + 2), answer(regime, hours=hours).outcome)
        for rank, (name, regime, hours) in enumerate(of)
    ]
    first = answer()
    ordered = tuple(sorted(harms, key=harm_order))
    return Ranking(level, first.cluster, ordered, ASSUMED, (), first.horizon_seconds)


def no_part_may_fail() -> Ranking:
    """Four parts whose failures leave 4, 8, 12 and 16 PGs stuck."""
    of, stuck = ranking(), answer("stuck").outcome
    harms = [
        replace(one, outcome=replace(stuck, stuck_groups=4 * rank))
        for rank, one in enumerate(of.harms, 1)
    ]
    return replace(of, harms=tuple(sorted(harms, key=harm_order)))


def search(meets: bool = True) -> Search:
    """Two settings, three trials, of which the first meets the aim or none does."""
    trials = [
        Trial(
            {"osd_max_backfills": str(slots), "osd_mclock_profile": "balanced"},
            answer(hours=hours).outcome,
            meets and slots == 4,
            OUT_SECONDS + 3600.0 * hours,
        )
        for slots, hours in ((4, 5.0), (2, 7.0), (1, 9.0))
    ]
    names = ("osd_max_backfills", "osd_mclock_profile")
    lines = ("ceph config set osd osd_max_backfills 4",)
    best = trials[0] if meets else None
    return Search("healthy in 6 h", names, tuple(trials), best, lines * meets, answer(hours=5.0))
