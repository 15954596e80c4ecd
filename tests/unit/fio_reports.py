"""fio's JSON as a volume of a given service-time table would make it, for tests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from resilver.calibration.disk import service_seconds
from resilver.importers.fio import MODES
from resilver.spec.device import DeviceTable


def job(mode: str, size: int, service_seconds: float, depth: int = 4) -> dict[str, Any]:
    """A job whose requests were served one by one in `service_seconds` with `depth` outstanding.

    A queue served first in, first out gives one request a service time, and lets each wait for
    those before it: depth x service time from submission to completion.
    """
    requests = 1000
    idle = {"io_bytes": 0, "total_ios": 0, "bw_bytes": 0, "clat_ns": {"N": 0}}
    busy = {
        "io_bytes": requests * size,
        "total_ios": requests,
        "bw_bytes": size / service_seconds,
        "clat_ns": {"N": requests, "percentile": {"50.000000": depth * service_seconds * 1e9}},
    }
    side = "read" if mode.endswith("read") else "write"
    return {
        "jobname": f"{mode}-{size}",
        "error": 0,
        "job options": {"rw": mode, "bs": str(size)},
        "read": idle,
        "write": idle,
        side: busy,
    }


def report(jobs: Iterable[dict[str, Any]], depth: int = 4) -> dict[str, Any]:
    """A report of jobs that ran one after another."""
    options = {"ioengine": "libaio", "iodepth": str(depth), "direct": "1"}
    listed = [{**each, "groupid": index} for index, each in enumerate(jobs)]
    return {"fio version": "fio-3.33", "global options": options, "jobs": listed}


def report_of(table: DeviceTable, sizes: Iterable[int], depth: int = 4) -> dict[str, Any]:
    """What fio would report of a volume of this table."""
    jobs = [
        job(mode, size, service_seconds(table, mode, size), depth)
        for mode in MODES
        for size in sizes
    ]
    return report(jobs, depth)


def write(document: Any, path: Path) -> Path:
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path
