"""Draws the README's picture of networks: one rebuild on several, and what clients wait meanwhile.

Reads the runs of `resilver reproduce rebuild-on-networks`, which must have been run before, from
the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/rebuild_networks.py [FOLDER]
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
TARGET = Path(__file__).with_name("rebuild-networks.png")
# Okabe and Ito's colours, which people of every colour vision tell apart.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
OUTSTANDING = 64
ALONE = "1 server at 5 s"
LEAVES = "leaf spine 4x{} hosts 12 routers 16"
# Each bar's words, study, topology where the study sweeps it, what fails, and colour.
BARS = [
    ("servers' own interfaces alone (LogGP)", "rebuild-on-loggp", None, None, GREY),
    ("torus 4 x 4 x 3", "rebuild-on-torus", None, ALONE, BLUE),
    ("leaves and spines 1 : 1", "rebuild-on-leaf-spine", LEAVES.format(12), ALONE, BLUE),
    ("2 : 1", "rebuild-on-leaf-spine", LEAVES.format(6), ALONE, BLUE),
    ("4 : 1", "rebuild-on-leaf-spine", LEAVES.format(3), ALONE, BLUE),
    (
        "4 : 1, and a link fails",
        "rebuild-on-leaf-spine",
        LEAVES.format(3),
        f"{ALONE} + 1 link at 5 s",
        ORANGE,
    ),
    (
        "4 : 1, and a spine fails",
        "rebuild-on-leaf-spine",
        LEAVES.format(3),
        f"{ALONE} + switch.4 at 5 s",
        ORANGE,
    ),
]


def values(study: str, topology: str | None, faults: str | None, metric: str) -> list[float]:
    """A metric of every seed of one case."""
    found = [
        float(row[metric])
        for row in resilver.Results.open(FOLDER / study).to_records()
        if row["traffic.outstanding"] == OUTSTANDING
        and row.get("cluster.fabric.topology") == topology
        and row.get("faults") == faults
    ]
    if not found:
        raise SystemExit(f"{FOLDER / study} has no run of {topology}, {faults}")
    return found


def draw(axes: Axes, metric: str, factor: float, unit: str, title: str) -> None:
    """A bar through the median of each case, with the range from the least to the greatest seed."""
    for place, (_, study, topology, faults, colour) in enumerate(BARS):
        found = np.array(values(study, topology, faults, metric)) * factor
        middle = float(np.median(found))
        reach: Any = [[middle - found.min()], [found.max() - middle]]
        axes.barh(place, middle, color=colour, height=0.65, xerr=reach, ecolor="#333333")
        axes.annotate(
            f"{middle:.0f} {unit}",
            (0, place),
            textcoords="offset points",
            xytext=(6, 0),
            va="center",
            color="white",
            fontweight="bold",
        )
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(unit)
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def main() -> None:
    """Draw and save."""
    figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(9, 3.6), dpi=150)
    draw(left, "rebuild_seconds", 1, "s", "until every replica is whole again")
    draw(right, "mean_delay_seconds", 1000, "ms", "mean delay of a client's request")
    left.set_yticks(range(len(BARS)), [words for words, *_ in BARS])
    left.invert_yaxis()
    figure.tight_layout()
    figure.savefig(TARGET, metadata={"Software": ""})
    print(TARGET.name)


if __name__ == "__main__":
    main()
