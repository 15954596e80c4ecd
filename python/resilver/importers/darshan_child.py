"""What a Darshan log holds, as JSON on stdout: run by `resilver.importers.darshan` alone.

The library below the package ``darshan`` ends the whole process over some damaged logs, so it is
asked in one of its own. This file imports nothing of resilver.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

MODULES = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}


def told(path: str) -> dict[str, Any]:
    """What a log says.

    Returns:
        ``missing``, the package that is not there; or ``error``, what is wrong; or the job, its
        begin and end, the modules that lack records, sums by module, by target, and heat maps.
    """
    try:
        # Its readers are of use without its plots, which it imports all the same.
        import darshan
    except ImportError as error:
        return {"missing": error.name or "darshan"}
    try:
        report = darshan.DarshanReport(path, read_all=False)
        job = report.metadata["job"]
        return {
            "job": str(job["jobid"]),
            "begin": job["start_time_sec"] + 1e-9 * job.get("start_time_nsec", 0),
            "end": job["end_time_sec"] + 1e-9 * job.get("end_time_nsec", 0),
            "partial": [name for name, one in report.modules.items() if one["partial_flag"]],
            "modules": _totals(report),
            "targets": _by_target(report),
            "heat_maps": _heat_maps(report),
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _records(report: Any, module: str) -> list[dict[str, Any]]:
    """The counters of each record of a module, by name, with its file and rank."""
    report.mod_read_all_records(module)
    return list(report.records[module].to_df()["counters"].to_dict("records"))


def _totals(report: Any) -> dict[str, list[int]]:
    """What each module read and wrote, and in how many requests."""
    found = {}
    for module in report.modules:
        if module not in MODULES:
            continue
        prefix = MODULES[module]
        total = [0, 0, 0, 0]
        for row in _records(report, module):
            total[0] += int(row[f"{prefix}_BYTES_READ"])
            total[1] += int(row[f"{prefix}_BYTES_WRITTEN"])
            total[2] += _requests(row, prefix, "READ")
            total[3] += _requests(row, prefix, "WRITE")
        found[module] = total
    return found


def _requests(row: dict[str, Any], prefix: str, way: str) -> int:
    """Requests of one way; MPI-IO counts independent, collective, split and nonblocking ones."""
    kinds = [f"{prefix}_{way}S"]
    if prefix == "MPIIO":
        kinds = [f"{prefix}_{kind}_{way}S" for kind in ("INDEP", "COLL", "SPLIT", "NB")]
    return sum(int(row[kind]) for kind in kinds if kind in row)


def _by_target(report: Any) -> dict[int, list[float]]:
    """What went to each object target, if every file's bytes are equally on its own."""
    if "LUSTRE" not in report.modules or "POSIX" not in report.modules:
        return {}
    report.mod_read_all_lustre_records()
    targets: dict[int, list[int]] = {}
    for row in report.records["LUSTRE"].to_df()["components"].to_dict("records"):
        targets.setdefault(row["id"], [int(one) for one in row["LUSTRE_OST_IDS"] if one >= 0])
    found: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in _records(report, "POSIX"):
        own = targets.get(row["id"], [])
        for target in own:
            found[target][0] += int(row["POSIX_BYTES_READ"]) / len(own)
            found[target][1] += int(row["POSIX_BYTES_WRITTEN"]) / len(own)
    return dict(found)


def _heat_maps(report: Any) -> dict[str, dict[str, list[float]]]:
    """By module: when steps begin, and what all ranks read and wrote in each."""
    if "HEATMAP" not in report.modules:
        return {}
    report.read_all_heatmap_records()
    found = {}
    for module, heat in report.heatmaps.items():
        tables = {way: heat.to_df([way]) for way in ("read", "write")}
        steps = {way: table.sum(axis=0).tolist() for way, table in tables.items()}
        begins = [float(step.left) for step in tables["write"].columns]
        found[str(module)] = {"begins": begins, **steps}
    return found


if __name__ == "__main__":
    print(json.dumps(told(sys.argv[1])))
