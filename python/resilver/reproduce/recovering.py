"""Measured recoveries against ours: small Ceph clusters under mClock and WPQ, and dRAID."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resilver.analytic import Declustered
from resilver.crush import CrushMap
from resilver.errors import SimulationError
from resilver.importers.ceph import ClusterReport, read_report
from resilver.reproduce.tables import Row
from resilver.simulate.ceph import heal
from resilver.whatif.options import Request
from resilver.whatif.perform import changes_of
from resilver.whatif.request import prepare

_HOUR = 3600.0


@dataclass(frozen=True)
class Lab:
    """A small cluster of one pool, of OSDs alike.

    Attributes:
        hosts: How many there are.
        osds_per_host: OSDs of each.
        device_class: ``hdd`` or ``ssd``.
        osd_bytes: What fits on one.
        groups: Placement groups of the pool.
        objects: Objects of the pool.
        object_bytes: Bytes of each.
        has_journal: Whether the journals of disks are on flash.
        copies: Copies, or 0 of a coded pool.
        code: Data and parity pieces of a coded pool.
        away: OSDs that are down and out at the start.
        version: The release.
    """

    hosts: int
    osds_per_host: int
    device_class: str
    osd_bytes: int
    groups: int
    objects: int
    object_bytes: int
    has_journal: bool = False
    copies: int = 3
    code: tuple[int, int] = (0, 0)
    away: tuple[int, ...] = ()
    version: str = "18.2.4"

    @property
    def osds(self) -> int:
        """How many OSDs there are."""
        return self.hosts * self.osds_per_host


def lab_report(lab: Lab) -> ClusterReport:
    """The cluster as its own `ceph report` would print it."""
    domain = "host" if lab.hosts > 1 else "osd"
    size = lab.copies or sum(lab.code)
    crush = json.loads(CrushMap.from_text(_crush_text(lab, domain)).to_json())
    pool: dict[str, Any] = {
        "pool": 1, "pool_name": "data", "flags_names": "hashpspool", "flags": 1,
        "type": 1 if lab.copies else 3, "size": size,
        "min_size": size - size // 2 if lab.copies else lab.code[0] + 1,
        "crush_rule": 0, "object_hash": 2, "pg_num": lab.groups, "pg_placement_num": lab.groups,
        "pg_num_target": lab.groups, "pg_placement_num_target": lab.groups,
    }  # fmt: skip
    profiles = {}
    if not lab.copies:
        k, m = lab.code
        pool |= {"erasure_code_profile": "code", "stripe_width": 4096 * k}
        profiles["code"] = {"plugin": "jerasure", "k": str(k), "m": str(m)}
    osds = [
        {
            "osd": osd,
            "up": int(osd not in lab.away),
            "in": int(osd not in lab.away),
            "weight": float(osd not in lab.away),
            "primary_affinity": 1.0,
        }
        for osd in range(lab.osds)
    ]
    share, rest = divmod(lab.objects, lab.groups)
    counts = [share + (group < rest) for group in range(lab.groups)]
    report = {
        "version": lab.version,
        "osdmap": {
            "epoch": 1,
            "max_osd": lab.osds,
            "pools": [pool],
            "osds": osds,
            "erasure_code_profiles": profiles,
            "full_ratio": 0.95,
            "backfillfull_ratio": 0.9,
            "nearfull_ratio": 0.85,
        },
        "crushmap": crush,
        "osd_metadata": [_metadata(lab, osd) for osd in range(lab.osds)],
        "pgmap": {
            "pg_stats": [
                {
                    "pgid": f"1.{group:x}",
                    "stat_sum": {"num_bytes": count * lab.object_bytes, "num_objects": count},
                }
                for group, count in enumerate(counts)
            ]
        },
    }
    with tempfile.TemporaryDirectory(prefix="resilver-") as folder:
        path = Path(folder, "report.json")
        path.write_text(json.dumps(report), encoding="utf-8")
        return read_report(path)


def _metadata(lab: Lab, osd: int) -> dict[str, Any]:
    turns = lab.device_class == "hdd"
    return {
        "id": osd,
        "hostname": f"node{osd // lab.osds_per_host}",
        "rotational": str(int(turns)),
        "journal_rotational": str(int(turns and not lab.has_journal)),
        "bluestore_bdev_rotational": str(int(turns)),
        "bluestore_bdev_size": str(lab.osd_bytes),
    }


_TUNABLES = {
    "choose_local_tries": 0,
    "choose_local_fallback_tries": 0,
    "choose_total_tries": 50,
    "chooseleaf_descend_once": 1,
    "chooseleaf_vary_r": 1,
    "chooseleaf_stable": 1,
    "straw_calc_version": 1,
    "allowed_bucket_algs": 54,
}
"""Those of Jewel and since, which new clusters have."""


def _crush_text(lab: Lab, domain: str) -> str:
    weight = lab.osd_bytes / 2**40
    lines = [f"tunable {name} {value}" for name, value in _TUNABLES.items()]
    lines += [f"device {osd} osd.{osd} class {lab.device_class}" for osd in range(lab.osds)]
    lines += ["type 0 osd", "type 1 host", "type 11 root"]
    for host in range(lab.hosts):
        lines += [f"host node{host} {{", f"id {-2 - host}", "alg straw2", "hash 0"]
        first = host * lab.osds_per_host
        members = range(first, first + lab.osds_per_host)
        lines += [f"item osd.{osd} weight {weight:.5f}" for osd in members] + ["}"]
    lines += ["root default {", "id -1", "alg straw2", "hash 0"]
    lines += [
        f"item node{host} weight {weight * lab.osds_per_host:.5f}" for host in range(lab.hosts)
    ]
    kind, choose = ("replicated", "firstn") if lab.copies else ("erasure", "indep")
    leaf = "choose" if domain == "osd" else "chooseleaf"
    lines += ["}", "rule data {", "id 0", f"type {kind}"]
    if not lab.copies:
        lines += ["step set_chooseleaf_tries 5", "step set_choose_tries 100"]
    lines += ["step take default"]
    lines += [f"step {leaf} {choose} 0 type {domain}", "step emit", "}"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Run:
    """How a lab is run.

    Attributes:
        options: Settings, such as ``osd_op_queue=wpq``.
        changes: What happens, by kind, as `resilver.what_if` takes it.
        device: The law of every OSD's device, as the core reads it.
        load: What clients ask, as `resilver.what_if` takes it.
        by_events: Whether data moves by events.
    """

    options: tuple[str, ...]
    changes: Mapping[str, str | Sequence[str]]
    device: Mapping[str, float]
    load: tuple[str, ...] = ()
    by_events: bool = True


def whole_seconds(lab: Lab, run: Run) -> float:
    """How long a lab takes until it is whole."""
    plan = changes_of({"set_option": run.options, **run.changes})
    # One machine, or a network that was never the limit.
    request = Request(network="100 GB/s", load=run.load, events=run.by_events)
    made = prepare(lab_report(lab), plan, request).input
    for osd in made["osds"]:
        osd["device"] = dict(run.device)
    whole = heal(json.dumps(made)).tables["pools"]["whole_seconds"][0].as_py()
    if whole is None:
        raise SimulationError("a lab of measured recoveries does not get whole")
    return float(whole)


_BACK = {"in": "osd.3", "start": "osd.3"}


def recovery_rows(
    flash: Mapping[str, Any],
    disks: Mapping[str, Any],
    releases: Mapping[str, Any],
    draid: Mapping[str, Any],
) -> list[Row]:
    """Recoveries that others measured, each by our model.

    Args:
        flash: The lab of flash, under the first mClock and WPQ: ``groups``, ``objects``,
            ``osd_bytes``, ``requests_per_second`` and ``bytes_per_second`` of a device, and
            ``writes_per_second`` of 4 KiB that clients were served under WPQ.
        disks: The lab of disks, likewise.
        releases: Two releases under a coded pool: ``versions``, ``groups`` of the pool, ``objects``
            by size, ``stored_bytes``.
        draid: The declustered RAID: ``disks``, ``capacity``, ``segment``, ``spare_hours`` of a
            rebuild to a dedicated spare, ``fitted`` (data disks, hours), ``data``, ``merged``.

    Returns:
        Rows with the columns ``cluster``, ``setting`` and ``seconds``.
    """
    return [
        *_lab_rows("flash", "ssd", **flash),
        *_lab_rows("disks", "hdd", **disks),
        *_release_rows(**releases),
        *_draid_rows(**draid),
    ]


def _lab_rows(
    name: str,
    device_class: str,
    *,
    groups: int,
    objects: int,
    osd_bytes: int,
    requests_per_second: float,
    bytes_per_second: float,
    writes_per_second: float,
) -> Iterator[Row]:
    """One OSD of four comes back to a pool that was filled without it."""
    lab = Lab(
        1, 4, device_class, osd_bytes, groups, objects, 4 << 20,
        has_journal=True, away=(3,), version="17.0.0",
    )  # fmt: skip
    request = 1.0 / requests_per_second - 4096 / bytes_per_second
    law = {
        "read_seconds": request,
        "read_bytes_per_second": bytes_per_second,
        "write_seconds": request,
        "write_bytes_per_second": bytes_per_second,
        "channels": 1,
    }

    # The study told mClock what it had measured.
    capacity = f"osd_mclock_max_capacity_iops_{device_class}={requests_per_second:g}"
    for profile in ("high_client_ops", "balanced", "high_recovery_ops"):
        options = ("osd_op_queue=mclock_scheduler", f"osd_mclock_profile={profile}", capacity)
        seconds = whole_seconds(lab, Run(options, _BACK, law))
        yield {"cluster": name, "setting": profile, "seconds": seconds}
    load = (f"data: {writes_per_second:g} writes/s of 4 KiB",)
    for setting, clients in (("wpq", load), ("wpq alone", ())):
        wpq = whole_seconds(lab, Run(("osd_op_queue=wpq",), _BACK, law, clients, by_events=False))
        yield {"cluster": name, "setting": setting, "seconds": wpq}


def _release_rows(
    versions: Sequence[str],
    groups: int,
    objects: Mapping[str, int],
    stored_bytes: float,
    device: Mapping[str, float],
) -> Iterator[Row]:
    """A node of eight is lost for good, under two releases."""
    for size, object_bytes in objects.items():
        for version in versions:
            lab = Lab(
                8, 24, "hdd", 2 * 10**12, groups, round(stored_bytes / object_bytes), object_bytes,
                copies=0, code=(4, 2), version=version,
            )  # fmt: skip
            run = Run(
                ("osd_op_queue=mclock_scheduler",), {"fail": "host=node0"}, device, by_events=False
            )
            seconds = whole_seconds(lab, run)
            name = f"{size} {version}"
            yield {"cluster": "releases", "setting": name, "seconds": seconds}


def _draid_rows(
    disks: int,
    capacity: float,
    segment: float,
    spare_hours: float,
    fitted: Sequence[float],
    data: Sequence[int],
    merged: float,
) -> Iterator[Row]:
    """A disk of a dRAID, by the data disks of a group; also with neighbours merged."""
    width, hours = fitted
    lot = Declustered(disks, capacity, segment, capacity / (spare_hours * _HOUR))
    lot = lot.fitted(int(width), hours * _HOUR)
    for name, one in (("draid", lot), ("draid merged", replace(lot, merged_bytes=merged))):
        for count in data:
            yield {
                "cluster": name,
                "setting": str(count),
                "seconds": one.rebuild_seconds(count),
            }
