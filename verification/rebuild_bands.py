"""The rebuild of one failed server against the figures of Carns et al. (2016).

Runs three studies that ship (`one-pair`, `rebuild-flat-groups` and `rebuild-ring`), 15 seeds a
point, and compares their medians with the paper's. The bands are wide where the paper leaves the
model open (the order of pulls, the source's choice, the histogram itself); nothing is fitted to
reach them.

    .venv/bin/python verification/rebuild_bands.py
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import resilver

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "runs" / "verification"
GIB = 2**30

# Table II of the paper: servers -> (placement groups, objects).
TABLE_II = {
    4: (128, 1_373_187),
    8: (512, 2_745_833),
    16: (4096, 5_494_324),
    32: (4096, 10_990_294),
    64: (4096, 21_984_426),
    128: (8192, 43_971_596),
    256: (16384, 87_949_846),
    512: (32768, 175_897_623),
    1024: (65536, 351_765_871),
}


@dataclass(frozen=True)
class Check:
    """One figure, ours beside the paper's, and the band ours must lie in."""

    what: str
    paper: str
    ours: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the figure lies in its band."""
        return self.low <= self.ours <= self.high


def rows_of(name: str) -> list[dict[str, Any]]:
    """The runs of a study that ships, performed where they are not there yet."""
    study = resilver.Study.load(ROOT / "studies" / name / "study.toml")
    print(f"{name}: {len(study.runs())} runs", file=sys.stderr)
    return resilver.execute(study, FOLDER / name).to_records()


def rate(rows: list[dict[str, Any]]) -> float:
    """The median rebuild rate in GiB/s."""
    return statistics.median(row["aggregate_bytes_per_second"] for row in rows) / GIB


def at(rows: list[dict[str, Any]], servers: int) -> list[dict[str, Any]]:
    """The runs of one system size."""
    return [row for row in rows if row["cluster.servers"] == servers]


def pair_checks() -> list[Check]:
    """One object of 1 TiB between two servers."""
    rows = [
        row
        for row in rows_of("one-pair")
        if row["recovery.pipeline_buffer"] == 16 * 2**20 and row["recovery.pipelining"]
    ]
    return [Check("one pair, 16 MiB buffers, GiB/s", "1.5", rate(rows), 1.44, 1.53)]


def rate_checks(groups: list[dict[str, Any]], ring: list[dict[str, Any]]) -> list[Check]:
    """Aggregate rates at 1,024 servers."""
    return [
        Check("1,024 servers, groups, GiB/s", "49.4", rate(at(groups, 1024)), 40.0, 68.0),
        Check("1,024 servers, no groups, GiB/s", "410", rate(at(ring, 1024)), 370.0, 470.0),
    ]


def count_checks(groups: list[dict[str, Any]]) -> list[Check]:
    """Table II, and the groups that a failed server was in."""
    checks = []
    for servers, (group_count, objects) in TABLE_II.items():
        rows = at(groups, servers)
        ours = statistics.median(row["population_objects"] for row in rows)
        margin = 0.001 if servers == 1024 else 0.01
        low, high = objects * (1 - margin), objects * (1 + margin)
        checks.append(Check(f"{servers} servers, objects", f"{objects:,}", ours, low, high))
        placed = rows[0]["placement_groups"]
        checks.append(
            Check(
                f"{servers} servers, groups", f"{group_count:,}", placed, group_count, group_count
            )
        )
    affected = [row["placement_groups_affected"] for row in at(groups, 64)]
    # 4,096 groups of three on 64 servers: a server is in 192 on average, with a deviation of 13.5.
    margin = 3 * 13.5 / len(affected) ** 0.5
    mean = statistics.mean(affected)
    return [
        *checks,
        Check("64 servers, groups affected", "190", mean, 192 - margin, 192 + margin),
    ]


def figure(value: float) -> str:
    """A count in full, anything smaller to four digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def main() -> int:
    """Print every check; return 1 if one does not hold."""
    groups, ring = rows_of("rebuild-flat-groups"), rows_of("rebuild-ring")
    checks = [*pair_checks(), *rate_checks(groups, ring), *count_checks(groups)]
    print(f"{'figure':34} {'paper':>12} {'ours':>14}  band")
    for check in checks:
        verdict = "" if check.holds else "   OUT OF BAND"
        print(
            f"{check.what:34} {check.paper:>12} {figure(check.ours):>14}  "
            f"{figure(check.low)} to {figure(check.high)}{verdict}"
        )
    return 0 if all(check.holds for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
