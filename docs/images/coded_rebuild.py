"""Draws the pictures of `docs/copies-or-codes.md`, and prints the numbers that stand there.

Reads the runs of `resilver reproduce coded-rebuild-questions`, which must have been run before,
from the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/coded_rebuild.py [FOLDER]
"""

from __future__ import annotations

import functools
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from figures import banded, save

import resilver
from resilver.analytic.at_risk import Windows, chance_of_loss
from resilver.charts.style import BLUE, GREEN, INK, MARKS, VERMILLION
from resilver.charts.vega import Spec, axis, colours, level, rows
from resilver.data_loss.chains import failure_rate_of
from resilver.words import chance

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce")
CODES = {
    "copies 3": ("three copies", BLUE),
    "rs 8+3": ("Reed-Solomon 8+3", VERMILLION),
    "lrc 8+5 local 4": ("LRC 8+5, local 4", GREEN),
}
WORDS = [words for words, _ in CODES.values()]
COLOURS = colours(WORDS, [colour for _, colour in CODES.values()]) | {"field": "kind"}
SHAPES = {"field": "kind", "type": "nominal", "scale": {"domain": WORDS, "range": [*MARKS[:3]]}}
SERVERS = [16, 64, 256, 1024]
SHARES = [0.95, 0.9, 0.75, 0.5, 0.25]
SIZES = ["8 MiB", "64 MiB", "512 MiB"]
FULL, PART = "clients take all they can get", "clients ask for 6.4 GB/s"
LANES, NO_LANES, ALONE = (
    "coded-rebuild-under-load",
    "coded-rebuild-without-lanes",
    "coded-clients-alone",
)


@functools.cache
def rows_of(study: str) -> list[dict[str, Any]]:
    """The runs of a study, each with what its clients ask for."""
    found = resilver.Results.open(FOLDER / study).to_records()
    for row in found:
        row["load"] = PART if "rate" in str(row.get("traffic.streams")) else FULL
    return found


def values(study: str, metric: str, **at: Any) -> list[float]:
    """A metric of every seed of one case; keys name columns, with `__` for a dot."""
    place = {key.replace("__", "."): value for key, value in at.items()}
    found = [
        float(row[metric])
        for row in rows_of(study)
        if all(row.get(key) == value for key, value in place.items())
    ]
    if not found:
        raise SystemExit(f"{FOLDER / study} has no run at {place}")
    return found


def median(study: str, metric: str, **at: Any) -> float:
    """The median of the seeds of one case."""
    return statistics.median(values(study, metric, **at))


def of_size(metric: str, code: str, size: str) -> float:
    """The median of one code with objects of one size."""
    return statistics.median(
        float(row[metric])
        for row in rows_of("coded-rebuild-objects")
        if row["redundancy.code"] == code and size in str(row["population.objects"])
    )


def seconds_axis(title: str, ticks: list[float], ends: tuple[float, float]) -> Spec:
    """A logarithmic axis of seconds with words for its marks."""
    return axis("y", title, ends=ends, log=10, ticks={tick: duration(tick) for tick in ticks})


def duration(seconds: float) -> str:
    """Seconds or minutes, whichever reads better.

    >>> duration(20), duration(600)
    ('20 s', '10 min')
    """
    return f"{seconds:g} s" if seconds < 60 else f"{seconds / 60:g} min"


def times() -> Spec:
    """Rebuild time over the number of servers."""
    lines = {
        words: (
            colour,
            {
                float(n): values(
                    "coded-rebuild", "rebuild_seconds", redundancy__code=code, cluster__servers=n
                )
                for n in SERVERS
            },
        )
        for code, (words, colour) in CODES.items()
    }
    ticks = {float(n): f"{n:,}" for n in SERVERS}
    marks = [5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1200.0]
    return {
        "title": {"text": "until all that a server held is rebuilt", "fontSize": 13},
        "height": 250,
        "encoding": {
            "x": axis("x", "servers", ends=(14.0, 1200.0), log=2, ticks=ticks),
            "y": seconds_axis("rebuild time", marks, (4.0, 1500.0)),
        },
        "layer": banded(lines),
    }


def volumes() -> Spec:
    """For each code what a lost server held of a byte of data, and what is sent to make it anew."""
    user, largest = 512 * 2**30, SERVERS[-1]
    sides = (("lost", "rebuilt_bytes", 0.45), ("sent over the network", "network_bytes", 1.0))
    bars = [
        (
            words,
            what,
            shade,
            median("coded-rebuild", metric, redundancy__code=code, cluster__servers=largest) / user,
        )
        for code, (words, _) in CODES.items()
        for what, metric, shade in sides
    ]
    names, whats, shades, amounts = zip(*bars, strict=True)
    texts = [f"{amount:.1f} {what}" for what, amount in zip(whats, amounts, strict=True)]
    offset = {"field": "what", "type": "nominal", "sort": [what for what, _, _ in sides]}
    shade = {"field": "shade", "type": "quantitative", "scale": None, "legend": None}
    told = {"type": "text", "align": "left", "dx": 4, "color": INK}
    return {
        "title": {"text": "bytes for each byte of user data a server", "fontSize": 13},
        "height": 250,
        "room": (130, 10),
        "data": rows(name=names, kind=names, what=whats, shade=shades, x=amounts, text=texts),
        "encoding": {
            "y": level(""),
            "yOffset": offset,
            "x": axis("x", "bytes, 1,024 servers", ends=(0.0, 20.0)),
        },
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {"color": COLOURS | {"legend": None}, "opacity": shade},
            },
            {"mark": told, "encoding": {"text": {"field": "text"}}},
        ],
    }


def trade() -> Spec:
    """What clients at full speed lose against how long the rebuild takes, a point a share."""
    points: list[tuple[str, float, float, str, bool]] = []
    for code, (words, _) in CODES.items():
        before = median(ALONE, "throughput_bytes_per_second", redundancy__code=code, load=FULL)
        for share in SHARES:
            at = {"redundancy__code": code, "load": FULL, "lanes__clients": share}
            lost = 100 * (1 - median(LANES, "throughput_bytes_per_second", **at) / before)
            told = f"{share:.0%}" if code == "rs 8+3" else ""
            points.append((words, lost, median(LANES, "rebuild_seconds", **at), told, True))
        without = {"redundancy__code": code, "load": FULL}
        lost = 100 * (1 - median(NO_LANES, "throughput_bytes_per_second", **without) / before)
        points.append((words, lost, median(NO_LANES, "rebuild_seconds", **without), "", False))
    across = axis("x", "clients' rate lost while it runs (%); each point a share", ends=(0.0, 80.0))
    marks = [20.0, 60.0, 120.0, 300.0, 600.0]
    return _lines(FULL, points, across, seconds_axis("rebuild time", marks, (10.0, 1000.0)))


def delays() -> Spec:
    """The slowest clients' operations where the clients leave room: by share, and without lanes."""
    cases = ["alone", *(f"{share:.0%}" for share in SHARES), "no lanes"]
    points: list[tuple[str, float, float, str, bool]] = []
    for code, (words, _) in CODES.items():
        at = {"redundancy__code": code, "load": PART}
        tail = "p99_delay_seconds"
        found = [median(ALONE, tail, **at)]
        found += [median(LANES, tail, lanes__clients=share, **at) for share in SHARES]
        found.append(median(NO_LANES, tail, **at))
        last = len(found) - 1
        points += [(words, float(x), y, "", 0 < x < last) for x, y in enumerate(found)]
    ticks = {float(x): words for x, words in enumerate(cases)}
    across = axis("x", "guaranteed to clients", ends=(-0.4, 6.4), ticks=ticks)
    title = "99 of 100 operations take less than"
    marks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    return _lines(PART, points, across, seconds_axis(title, marks, (0.08, 30.0)))


def _lines(
    title: str, points: list[tuple[str, float, float, str, bool]], across: Spec, up: Spec
) -> Spec:
    """Lines with marks, full where they are of a share of the lanes, hollow where there is none."""
    kinds, xs, ys, texts, joined = zip(*points, strict=True)
    kept = {"transform": [{"filter": "datum.joined"}]}
    hollow = {"transform": [{"filter": "!datum.joined"}]}
    point = {"type": "point", "size": 60}
    words = {"type": "text", "dx": 14, "dy": -8, "color": INK}
    return {
        "title": {"text": title, "fontSize": 13},
        "height": 280,
        "data": rows(kind=kinds, x=xs, y=ys, text=texts, joined=joined),
        "encoding": {"x": across, "y": up, "color": COLOURS},
        "layer": [
            kept | {"mark": {"type": "line", "strokeWidth": 2}},
            kept | {"mark": point | {"filled": True}, "encoding": {"shape": SHAPES}},
            hollow | {"mark": point | {"filled": False}, "encoding": {"shape": SHAPES}},
            {"mark": words, "encoding": {"text": {"field": "text"}, "color": {"value": INK}}},
        ],
    }


def windows() -> None:
    """Print the table of what a window is worth, as the page has it.

    The studies under load keep 64 GiB a server, a 320th of 20 TiB. Of millions of objects some have
    pieces on any few of the 32 servers, so that these lose data as one group of 32 pieces does that
    survives as many losses as the code.
    """
    print("| guaranteed to clients at full speed | three copies | RS 8+3 | LRC 8+5 |")
    print("|---|---|---|---|")
    for share in (0.95, 0.75, 0.5):
        cells = []
        for code, tolerance in (("copies 3", 2), ("rs 8+3", 3), ("lrc 8+5 local 4", 3)):
            at = {"redundancy__code": code, "load": FULL, "lanes__clients": share}
            seconds = 320 * median(LANES, "rebuild_seconds", **at)
            cells.append(window_cell(seconds, tolerance))
        print(f"| {share:.0%} |", " | ".join(cells), "|")


def window_cell(seconds: float, tolerance: int, servers: int = 32) -> str:
    """A window's length, the chance of loss in it, and that of a year whose windows are so long."""
    rate = failure_rate_of(afr=0.04)
    others = Windows(
        np.arange(servers - 1)[None, :], np.array([tolerance - 1]), np.zeros(1), np.array([seconds])
    )
    now = chance_of_loss(others, np.full(servers - 1, rate))
    as_one = f"rs {servers - tolerance}+{tolerance}"
    year = resilver.durability(as_one, mission="1 y", afr="4 %", repair=f"{seconds} s")
    assert isinstance(year, resilver.Durability) and year.loss_probability.value is not None
    return f"{seconds / 3600:.2g} h: {chance(now)}; {chance(year.loss_probability.value)} a year"


def tell() -> None:
    """Print the numbers."""
    measured = ("rebuild_seconds", "rebuild_p50_seconds", "rebuild_p99_seconds", "rebuilt_bytes",
                "gathered_bytes", "network_bytes")  # fmt: skip
    felt = ("throughput_bytes_per_second", "mean_delay_seconds", "p99_delay_seconds")
    for code in CODES:
        for servers in SERVERS:
            at = {"redundancy__code": code, "cluster__servers": servers}
            tell_case("coded-rebuild", measured, at)
        for size in SIZES:
            print(code, size, f"{of_size('rebuild_seconds', code, size):.4g} s")
        for load in (FULL, PART):
            at = {"redundancy__code": code, "load": load}
            tell_case(ALONE, felt, at)
            for share in SHARES:
                tell_case(LANES, ("rebuild_seconds", *felt), {**at, "lanes__clients": share})
            tell_case(NO_LANES, ("rebuild_seconds", *felt), at)


def tell_case(study: str, metrics: tuple[str, ...], at: dict[str, Any]) -> None:
    """Print medians of one case."""
    told = {metric: median(study, metric, **at) for metric in metrics}
    words = [f"{metric}={value:.5g}" for metric, value in told.items()]
    print(study, *at.values(), *words)


def main() -> None:
    """Draw, save and tell."""
    save({"hconcat": [times(), volumes()]}, "coded-rebuild", 1000)
    save({"hconcat": [trade(), delays()]}, "coded-rebuild-under-load", 1000)
    tell()
    windows()


if __name__ == "__main__":
    main()
