"""Draws the README's picture: the rebuild rate over system size, with and without groups.

Reads the runs of `resilver reproduce rebuild-scaling`, which must have been run before, from
the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/rebuild_rate.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import resilver

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce")
TARGET = Path(__file__).with_name("rebuild-rate.png")
GIB = 2**30
# Okabe and Ito's colours, which people of every colour vision tell apart.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def rates(name: str) -> dict[int, np.ndarray[Any, np.dtype[np.float64]]]:
    """The rebuild rates of every seed in GiB/s, by system size."""
    points: dict[int, list[float]] = {}
    for row in resilver.Results.open(FOLDER / name).to_records():
        points.setdefault(row["cluster.servers"], []).append(
            row["aggregate_bytes_per_second"] / GIB
        )
    return {servers: np.array(values) for servers, values in sorted(points.items())}


def draw(axes: Axes, name: str, label: str, colour: str) -> None:
    """A line through the medians, with the range from the least to the greatest seed."""
    points = rates(name)
    servers = np.array(list(points))
    middle = np.array([np.median(values) for values in points.values()])
    low = np.array([values.min() for values in points.values()])
    high = np.array([values.max() for values in points.values()])
    axes.fill_between(servers, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(servers, middle, color=colour, marker="o", markersize=4, label=label)
    axes.annotate(
        f"{middle[-1]:.0f} GiB/s",
        (servers[-1], middle[-1]),
        textcoords="offset points",
        xytext=(8, -3),
        color=colour,
        fontweight="bold",
    )


def main() -> None:
    """Draw and save."""
    figure, axes = plt.subplots(figsize=(8, 4.5), dpi=150)
    ring = rates("rebuild-ring")
    servers = np.array(list(ring))
    ideal = np.median(ring[4]) * servers / 4
    axes.plot(
        servers,
        ideal,
        color=GREY,
        linestyle="--",
        linewidth=1,
        label="linear from 4 servers",
    )
    draw(axes, "rebuild-ring", "every object placed on its own", BLUE)
    draw(axes, "rebuild-flat-groups", "CRUSH with placement groups", ORANGE)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(servers, [f"{count:,}" for count in servers])
    axes.set_xlim(3.5, 2200)
    axes.set_xlabel("servers, of which one fails")
    axes.set_ylabel("rebuild rate (GiB/s)")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(TARGET, metadata={"Software": ""})
    print(TARGET.name)


if __name__ == "__main__":
    main()
