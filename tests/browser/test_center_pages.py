"""The pages of a center in a real browser: every chart drawn, offline, readable."""

from pathlib import Path

import pytest

from resilver import cli
from resilver.center.routes import POLICIES
from tests.browser.every_page import (  # noqa: F401
    test_every_chart_is_drawn_without_a_complaint_or_a_request,
    test_nothing_overlaps_or_leaves_the_screen,
    test_text_stands_out_from_its_ground,
)
from tests.small_machine import STORED

SCAN = 1_500_000_000
CAPACITY = """
[capacity]
usable = "1 MB"
listing = "scan.txt"
lfs_df = "df.txt"
inflow = "3 kB/d"
purge = { last_access = "14 d", high = 0.7, low = 0.6 }
[namespaces]
count = 2
projects = [{ name = "a", capacity = "3 PB" }, { name = "b", capacity = "2 PB" }]
"""


def listing() -> str:
    lines = [
        f"{1000 * age} {SCAN - age * 86_400} {SCAN - age * 86_400} 1 {age % 3} f{age}\n"
        for age in range(1, 30)
    ]
    return "".join(lines) + f"#complete#{SCAN}\n"


def series() -> str:
    return "".join(
        f"{SCAN + 3600 * hour}\nUUID 1K-blocks Used Available Use% Mounted on\n"
        + "".join(
            f"fs-OST{target:04x}_UUID 1000 {300 + target * hour} 500 40% /s[OST:{target}]\n"
            for target in range(12)
        )
        for hour in range(5)
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind, with the charts that it must have."""
    folder = tmp_path_factory.mktemp("center")
    (folder / "scan.txt").write_text(listing())
    (folder / "df.txt").write_text(series())
    (folder / "capacity.toml").write_text(CAPACITY)
    (folder / "machine.toml").write_text(STORED)
    routed = ["route", str(folder / "machine.toml")]
    disks = [
        f"u{group % 2},g{group},d{disk},{50 if (group, disk) == (3, 4) else 62} MB/s\n"
        for group in range(8)
        for disk in range(10)
    ]
    (folder / "disks.csv").write_text("unit,group,disk,rate\n" + "".join(disks))
    # Runs a day, with a step at the 40th and an outlier.
    rates = [500 + at % 3 - 40 * (at >= 40) - 90 * (at == 30) for at in range(80)]
    runs = [f"{SCAN + 86400 * at},{rate} GB/s\n" for at, rate in enumerate(rates)]
    (folder / "runs.csv").write_text("time,rate\n" + "".join(runs))
    made = {}
    for name, words, code in (
        ("size", ["size", "spider-2"], 0),
        ("capacity", ["size", str(folder / "capacity.toml")], 0),
        ("lot", ["profile", "spider-2", "--seeds", "3"], 0),
        ("disks", ["profile", str(folder / "disks.csv")], 1),
        ("routes", [*routed, "--policy", "nearest", "--node", "x1y1z1n1"], 0),
        (
            "advice",
            [
                *("advise", str(folder / "df.txt"), "--files", "20", "--rate", "200 MB/s"),
                *("--machine", str(folder / "machine.toml"), "--policy", "nearest"),
                *("--volume", "1 TB"),
            ],
            0,
        ),
        ("job", [*routed, "--clients", "random:40"], 0),
        ("layers", ["profile", "center-spider-2-unit", "--target", "1 TB/s"], 1),
        ("culled", ["profile", "center-spider-2-unit", "--within", "2%", "--of", "fastest"], 0),
        ("quality", ["quality", str(folder / "runs.csv")], 1),
    ):
        made[name] = folder / f"{name}.html"
        assert cli.run([*words, "-q", "-o", str(made[name])]) == code
    return made


CHARTS_EXPECTED = {
    "size": ["units"],
    "capacity": ["fill", "ages", "targets"],
    "lot": ["rounds", "groups"],
    "disks": ["envelope", "rounds", "groups"],
    "routes": ["modules", "hops", "served", "heat-nearest"],
    "advice": ["expected", "load-targets", "load-servers", "load-routers"],
    "job": [
        *("held", "clients", "layers", "modules", "hops", "served"),
        *(f"heat-{policy}" for policy in POLICIES),
    ],
    "layers": ["layers"],
    "culled": ["layers", "rounds", "groups"],
    "quality": ["quality-0"],
}
