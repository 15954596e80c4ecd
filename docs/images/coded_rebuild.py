"""Draws the pictures of `docs/copies-or-codes.md`, and prints the numbers that stand there.

Reads the runs of `resilver reproduce coded-rebuild-questions`, which must have been run before,
from the folder given or from `runs/reproduce`.

    .venv/bin/python docs/images/coded_rebuild.py [FOLDER]
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

import resilver

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce")
HERE = Path(__file__).parent
# Okabe and Ito's colours, which people of every colour vision tell apart, and a shape for each.
CODES = {
    "copies 3": ("three copies", "#0072B2", "o"),
    "rs 8+3": ("Reed-Solomon 8+3", "#D55E00", "s"),
    "lrc 8+5 local 4": ("LRC 8+5, local 4", "#009E73", "^"),
}
SERVERS = [16, 64, 256, 1024]
SHARES = [0.95, 0.9, 0.75, 0.5, 0.25]
SIZES = ["8 MiB", "64 MiB", "512 MiB"]
FULL, PART = "clients take all they can get", "clients ask for 6.4 GB/s"
LANES, NO_LANES, ALONE = (
    "coded-rebuild-under-load",
    "coded-rebuild-without-lanes",
    "coded-clients-alone",
)
TEXT, GRID = "#333333", "#dddddd"


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


def plain(axes: Axes, title: str, across: str, upward: str) -> None:
    """Titles and a quiet grid."""
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(across)
    axes.set_ylabel(upward)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def seconds_axis(axes: Axes, ticks: list[float]) -> None:
    """A logarithmic axis of seconds with words for its marks."""
    axes.set_yscale("log")
    axes.set_yticks(ticks)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", which="minor", left=False)


def duration(seconds: float) -> str:
    """Seconds or minutes, whichever reads better.

    >>> duration(20), duration(600)
    ('20 s', '10 min')
    """
    return f"{seconds:g} s" if seconds < 60 else f"{seconds / 60:g} min"


def draw_times(axes: Axes) -> None:
    """Rebuild time over the number of servers."""
    for code, (words, colour, marker) in CODES.items():
        all_runs = [
            values("coded-rebuild", "rebuild_seconds", redundancy__code=code, cluster__servers=n)
            for n in SERVERS
        ]
        middle = [statistics.median(one) for one in all_runs]
        axes.fill_between(SERVERS, [min(a) for a in all_runs], [max(a) for a in all_runs],
                          color=colour, alpha=0.2, linewidth=0)  # fmt: skip
        axes.plot(SERVERS, middle, color=colour, marker=marker, label=words)
    axes.set_xscale("log", base=2)
    axes.set_xticks(SERVERS, [f"{n:,}" for n in SERVERS])
    axes.xaxis.set_minor_formatter(NullFormatter())
    seconds_axis(axes, [5, 10, 20, 60, 120, 300, 600, 1200])
    plain(axes, "until all that a server held is whole again", "servers", "")
    axes.legend(frameon=False, fontsize=9)


def draw_bytes(axes: Axes) -> None:
    """For each code what a lost server held of a byte of data, and what is sent to make it anew."""
    largest = SERVERS[-1]
    for place, (code, (_, colour, _)) in enumerate(CODES.items()):
        made = median(
            "coded-rebuild", "rebuilt_bytes", redundancy__code=code, cluster__servers=largest
        )
        sent = median(
            "coded-rebuild", "network_bytes", redundancy__code=code, cluster__servers=largest
        )
        user = 512 * 2**30
        for offset, amount, shade, what in (
            (-0.19, made / user, 0.45, "lost"),
            (0.19, sent / user, 1.0, "sent over the network"),
        ):
            axes.barh(place + offset, amount, height=0.34, color=colour, alpha=shade)
            axes.annotate(f"{amount:.1f} {what}", (amount, place + offset), va="center", color=TEXT,
                          fontsize=9, textcoords="offset points", xytext=(4, 0))  # fmt: skip
    axes.set_yticks(range(len(CODES)), [words for words, _, _ in CODES.values()])
    axes.invert_yaxis()
    axes.set_xlim(0, 20)
    axes.set_xticks(range(0, 13, 2))
    plain(axes, "bytes for each byte of user data a server", "bytes, 1,024 servers", "")
    axes.grid(False, axis="y")


def draw_trade(axes: Axes) -> None:
    """What clients at full speed lose against how long the rebuild takes, a point a share."""
    for code, (words, colour, marker) in CODES.items():
        before = median(ALONE, "throughput_bytes_per_second", redundancy__code=code, load=FULL)
        points = []
        for share in SHARES:
            at = {"redundancy__code": code, "load": FULL, "lanes__clients": share}
            kept = median(LANES, "throughput_bytes_per_second", **at) / before
            points.append((100 * (1 - kept), median(LANES, "rebuild_seconds", **at)))
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, label=words)
        kept = median(NO_LANES, "throughput_bytes_per_second", redundancy__code=code, load=FULL)
        time = median(NO_LANES, "rebuild_seconds", redundancy__code=code, load=FULL)
        axes.plot(100 * (1 - kept / before), time, color=colour, marker=marker,
                  markerfacecolor="white", markersize=7, linestyle="none")  # fmt: skip
        if code == "rs 8+3":
            for share, point in zip(SHARES, points, strict=True):
                axes.annotate(f"{share:.0%}", point, color=TEXT, fontsize=9,
                              textcoords="offset points", xytext=(5, 5))  # fmt: skip
    axes.plot(
        [], [], color=TEXT, marker="o", markerfacecolor="white", linestyle="none", label="no lanes"
    )
    seconds_axis(axes, [20, 60, 120, 300, 600])
    axes.set_xlim(0, 80)
    plain(axes, FULL, "clients' rate lost while it runs (%); each point a share", "rebuild time")
    axes.legend(frameon=False, fontsize=9)


def draw_delays(axes: Axes) -> None:
    """The slowest clients' operations where the clients leave room: by share, and without lanes."""
    cases = ["alone", *(f"{share:.0%}" for share in SHARES), "no lanes"]
    for code, (words, colour, marker) in CODES.items():
        at = {"redundancy__code": code, "load": PART}
        delays = [
            median(ALONE, "p99_delay_seconds", **at),
            *(median(LANES, "p99_delay_seconds", lanes__clients=share, **at) for share in SHARES),
            median(NO_LANES, "p99_delay_seconds", **at),
        ]
        axes.plot(range(1, 6), delays[1:6], color=colour, marker=marker, label=words)
        axes.plot([0, 6], [delays[0], delays[6]], color=colour, marker=marker, linestyle="none",
                  markerfacecolor="white", markersize=7)  # fmt: skip
    axes.set_xticks(range(7), cases)
    seconds_axis(axes, [0.1, 0.2, 0.5, 1, 2, 5, 10, 20])
    plain(axes, PART, "guaranteed to clients", "99 of 100 operations take less than")


def loss_bound(code: str, window_seconds: float, servers: int = 32) -> float:
    """A bound on the chance that data are lost while the rebuild of one failure runs.

    Servers fail by themselves, 4 % of them a year; f further ones of n - 1 within the window have
    at most the chance (n - 1 failures expected in it) to the power of f over f!.
    """
    further = 2 if code == "copies 3" else 3
    expected = (servers - 1) * 0.04 * window_seconds / (365.25 * 86_400)
    return expected**further / math.factorial(further)


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
    """Print medians of one case, and what its window comes to at 20 TiB a server."""
    told = {metric: median(study, metric, **at) for metric in metrics}
    words = [f"{metric}={value:.5g}" for metric, value in told.items()]
    if study in (LANES, NO_LANES):
        # The studies under load keep 64 GiB a server, a 320th of 20 TiB.
        window = 320 * told["rebuild_seconds"]
        words.append(f"loss_bound={loss_bound(at['redundancy__code'], window):.2g}")
    print(study, *at.values(), *words)


def main() -> None:
    """Draw, save and tell."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), dpi=150)
    draw_times(left)
    draw_bytes(right)
    figure.tight_layout(w_pad=2)
    figure.savefig(HERE / "coded-rebuild.png", metadata={"Software": ""})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), dpi=150)
    draw_trade(left)
    draw_delays(right)
    figure.tight_layout(w_pad=2)
    figure.savefig(HERE / "coded-rebuild-under-load.png", metadata={"Software": ""})
    tell()


if __name__ == "__main__":
    main()
