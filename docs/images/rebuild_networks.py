"""Draws the README's picture of networks: one rebuild on several, and what clients wait meanwhile.

Reads the runs of `resilver reproduce rebuild-on-networks`, which must have been run before, from
the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/rebuild_networks.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from figures import median, save

import resilver
from resilver.charts.style import BLUE, GREY, INK, PAPER, VERMILLION
from resilver.charts.vega import Spec, axis, level, rows

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce")
ORANGE = VERMILLION
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


def panel(metric: str, factor: float, unit: str, title: str) -> Spec:
    """A bar through the median of each case, with the range from the least to the greatest seed."""
    found = [
        sorted(value * factor for value in values(study, topology, faults, metric))
        for _, study, topology, faults, _ in BARS
    ]
    middles = [median(one) for one in found]
    data = rows(
        name=[words for words, *_ in BARS],
        x=middles,
        low=[one[0] for one in found],
        high=[one[-1] for one in found],
        colour=[bar[-1] for bar in BARS],
        text=[f"{middle:,.0f}" for middle in middles],
        at=[0.0] * len(BARS),
    )
    inside = {"type": "text", "align": "left", "dx": 6, "color": PAPER, "fontWeight": "bold"}
    reach = {"x": {"field": "low"}, "x2": {"field": "high"}}
    colour = {"field": "colour", "type": "nominal", "scale": None}
    return {
        "title": {"text": title, "fontSize": 13},
        "room": (230, 10),
        "height": {"step": 30},
        "data": data,
        "encoding": {"y": level("", labelLimit=230), "x": axis("x", unit)},
        "layer": [
            {"mark": {"type": "bar", "height": {"band": 0.7}}, "encoding": {"color": colour}},
            {"mark": {"type": "rule", "color": INK, "strokeWidth": 1.5}, "encoding": reach},
            {"mark": inside, "encoding": {"x": {"field": "at"}, "text": {"field": "text"}}},
        ],
    }


def main() -> None:
    """Draw and save."""
    rebuild = panel("rebuild_seconds", 1, "s", "until every replica is rebuilt")
    title = "mean delay of a client's request meanwhile"
    delay = panel("during_mean_delay_seconds", 1000, "ms", title)
    save({"hconcat": [rebuild, delay]}, "rebuild-networks", 1080)


if __name__ == "__main__":
    main()
