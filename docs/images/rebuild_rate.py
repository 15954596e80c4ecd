"""Draws the README's picture: the rebuild rate over system size, with and without groups.

Reads the runs of `resilver reproduce rebuild-scaling`, which must have been run before, from
the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/rebuild_rate.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from figures import banded, median, save

import resilver
from resilver.charts.style import BLUE, DASHES, GREY, VERMILLION
from resilver.charts.vega import axis, rows

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce")
GIB = 2**30


def rates(name: str) -> dict[float, list[float]]:
    """The rebuild rates of every seed in GiB/s, by system size."""
    points: dict[float, list[float]] = {}
    for row in resilver.Results.open(FOLDER / name).to_records():
        rate = row["aggregate_bytes_per_second"] / GIB
        points.setdefault(float(row["cluster.servers"]), []).append(rate)
    return {servers: sorted(points[servers]) for servers in sorted(points)}


def main() -> None:
    """Draw and save."""
    ring, groups = rates("rebuild-ring"), rates("rebuild-flat-groups")
    servers = [*ring]
    base = median(ring[servers[0]]) / servers[0]
    ideal = rows(x=servers, y=[base * count for count in servers])
    lines = {
        "every object placed on its own": (BLUE, ring),
        "CRUSH with placement groups": (VERMILLION, groups),
    }
    ends = [
        (colour, [*points][-1], median([*points.values()][-1])) for colour, points in lines.values()
    ]
    told = rows(
        x=[x for _, x, _ in ends],
        y=[y for _, _, y in ends],
        text=[f"{y:.0f} GiB/s" for _, _, y in ends],
    )
    low = min(ring[servers[0]])
    words = {"type": "text", "align": "right", "dx": -4, "dy": -14, "fontWeight": "bold"}
    middle = servers[-3]
    linear = rows(x=[middle], y=[base * middle], text=["linear from 4 servers"])
    aside = {"type": "text", "align": "left", "dx": 14, "dy": 16, "color": GREY}
    read = {"y": {"field": "y"}, "text": {"field": "text"}}
    dashed = {"type": "line", "color": GREY, "strokeDash": DASHES[1]}
    ticks = {count: f"{count:,.0f}" for count in servers}
    spec = {
        "height": 300,
        "encoding": {
            "x": axis("x", "servers, of which one fails", ends=(3.5, 1200.0), log=2, ticks=ticks),
            "y": axis("y", "rebuild rate (GiB/s)", ends=(low / 1.3, base * 1100.0), log=10),
        },
        "layer": [
            {"data": ideal, "mark": dashed, "encoding": {"y": {"field": "y"}}},
            {"data": linear, "mark": aside, "encoding": read},
            *banded(lines),
            {
                "data": told,
                "mark": words,
                "encoding": {"y": {"field": "y"}, "text": {"field": "text"}},
            },
        ],
    }
    save(spec, "rebuild-rate", 720)


if __name__ == "__main__":
    main()
