"""`durability` and `place --quality` by both repair orders, against a Monte Carlo in plain Python.

The twin keeps every group of every lost device and steps through each repair; it shares no code
with the core. Bands are three standard errors of both sides together, four comparisons a system.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from resilver import Study
from resilver.data_loss.study_input import pools_of
from tests.integration.study_runs import study_text
from tests.reference.durability_twin import Twin
from tests.scale import SEED, times
from tests.terminal import json_output

YEAR, DAY = 365.25 * 86_400.0, 86_400.0
MISSIONS = 80
ORDERS = {"priority": ("groups", True), "device": ("devices", True)}
# Servers, groups, redundancy, mean days to a failure, days of a repair.
SYSTEMS: dict[str, tuple[int, int, dict[str, Any], float, float]] = {
    "two copies": (10, 16, {"replicas": 2}, 500.0, 8.0),
    "three copies": (12, 32, {"replicas": 3}, 100.0, 8.0),
    "rs 3+2": (10, 24, {"code": "rs 3+2"}, 150.0, 8.0),
}


def twin_share(path: Path, mttf: float, days: float, order: str) -> tuple[float, float]:
    """The share of the twin's missions that lose data, and its standard error."""
    (pool,) = pools_of(Study.load(path).points[0].system, 1)
    returns, most_lost_first = ORDERS[order]
    fixed = {"kind": "fixed", "seconds": 0.0}
    law = {"kind": "exponential", "rate_per_second": 1.0 / (mttf * DAY)}
    system: dict[str, Any] = {
        "mission_seconds": YEAR,
        "levels": [{"name": "server", "parents": [0] * (int(pool.sets.max()) + 1)}],
        "pools": [{"code": pool.code, "sets": pool.sets.ravel().tolist(), "piece_bytes": [1]}],
        "failures": [{"name": "device", "level": 0, "law": law, "effect": {"kind": "lost"}}],
        "repair": {
            "detection": fixed,
            "replacement": fixed,
            "speed": {"kind": "parallel", "takes": {"kind": "fixed", "seconds": days * DAY}},
            "returns": returns,
            "most_lost_first": most_lost_first,
        },
    }
    missions = times(MISSIONS)
    lost = sum(Twin(system, SEED + seed).run() is not None for seed in range(missions))
    # One loss more and one survivor more than seen, so that no error is zero.
    share = (lost + 1) / (missions + 2)
    return lost / missions, math.sqrt(share * (1 - share) / missions)


def both(path: Path, mttf: float, days: float, order: str) -> list[tuple[float, float]]:
    """What the two commands say, each with its standard error by its interval."""
    afr = 100 * -math.expm1(-365.25 / mttf)
    words = ("--repair", f"{days} d", "--repair-order", order, "--json")
    durable = json_output("durability", path, "--mttf", f"{mttf} d", *words)["loss_probability"]
    (placed,) = json_output("place", path, "--quality", "--afr", f"{afr:.12g} %", *words)
    year = placed["a_year"]
    assert year["repair_order"] == order
    return [
        (durable["value"], (durable["high"] - durable["low"]) / 3.92),
        (year["loss_chance"], (year["high"] - year["low"]) / 3.92),
    ]


@pytest.mark.parametrize("order", list(ORDERS))
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_two_commands_and_plain_python_say_the_same_of_an_order(
    tmp_path: Path, name: str, order: str
) -> None:
    servers, groups, redundancy, mttf, days = SYSTEMS[name]
    path = tmp_path / "study.toml"
    path.write_text(
        study_text(
            "ordered",
            cluster={"servers": servers},
            placement__placement_groups=groups,
            redundancy=redundancy,
        )
    )
    share, error = twin_share(path, mttf, days, order)
    (durable, first), (placed, second) = both(path, mttf, days, order)
    assert abs(durable - share) < 3 * math.hypot(first, error), (durable, share, error)
    assert abs(placed - share) < 3 * math.hypot(second, error), (placed, share, error)
    assert abs(durable - placed) < 3 * math.hypot(first, second), (durable, placed)


def test_a_cluster_of_88_osds_differs_by_its_order_alone(report: Path) -> None:
    """Of MTTF 1217.5 d and repairs of 3 d; own Monte Carlo, device by device: 0.021 +- 0.004.

    In closed form N 3 u^3 / T a year, of 3,978 different sets, with u = T / (MTTF + T).
    """
    gone = 3.0 / (1217.5 + 3.0)
    by_device = -math.expm1(-3_978 * 3 * gone**3 / 3.0 * 365.25)
    assert by_device == pytest.approx(0.0214, abs=2e-4)
    words = ("durability", report, "--mttf", "1217.5 d", "--repair", "3 d", "--hosts", "never")
    found = {}
    for order in ("", "device"):
        found[order] = json_output(*words, *(("--repair-order", order) if order else ()))
    loss = {order: one["loss_probability"]["value"] for order, one in found.items()}
    # Sets that share devices are lost together a little more often than by themselves.
    assert 0.93 * by_device < loss["device"] < by_device
    assert loss[""] == pytest.approx(2.5e-4, rel=0.1)
    rows = {order: one["premises"][0] for order, one in found.items()}
    assert rows[""]["name"] == rows["device"]["name"] == "repair order"
    assert rows[""]["value"].startswith("PG by PG") and "device by device" in rows[""]["source"]
    assert rows["device"]["value"].startswith("device by device")
    assert "PG by PG by priority" in rows["device"]["source"]
    # Each tells about what the other finds.
    told = float(rows[""]["source"].split(": ")[1].split(",")[0])
    assert told == pytest.approx(loss["device"], rel=0.6)
