"""Answers about durability whose figures hang together, for tests of how answers are shown.

Losses come at a constant rate, so that each figure follows from it: a loss within t has probability
1 - exp(-rate t), and the mean time to one is 1 / rate.
"""

import math
from dataclasses import replace
from typing import Any

import pyarrow as pa

from resilver.data_loss.answer import Durabilities, Durability, Premise
from resilver.figure import Figure

YEAR = 365.25 * 86_400.0
PIB = 2.0**50
PREMISES = (
    Premise("AFR of disks", "1.36 %", "catalog", "Backblaze, drive statistics of 2025"),
    Premise("repair of one disk", "9 h 20 min (7 h to 14 h)", "simulated", "40 rebuilds of study"),
    Premise("detection", "15 min", "default"),
    Premise("scrub", "every 14 d", "study"),
)
CAUSES = {"disks that fail": 0.31, "bursts in racks": 0.62, "unreadable sectors": 0.07}


def about(value: float, error: float, trajectories: int = 400_000) -> Figure:
    """A simulated figure with a relative standard error."""
    low, high = max(0.0, value * (1.0 - 1.96 * error)), value * (1.0 + 1.96 * error)
    return Figure(value, low, high, "simulated", error, trajectories, 1.0 / error**2)


def unseen(trajectories: int = 100_000) -> Figure:
    """Nothing was lost in so many plain trajectories."""
    return Figure(None, 0.0, 3.0 / trajectories, "simulated", None, trajectories, 0.0)


def _risk(yearly: float, seconds: float) -> float:
    return -math.expm1(-yearly * seconds / YEAR)


def _made(value: float, error: float) -> Figure:
    return about(value, error) if error else Figure.exact(value)


def survival(yearly: float, mission: float, error: float, points: int = 50) -> pa.Table:
    """The course of the probability that nothing was lost."""
    times = [mission * at / points for at in range(points + 1)]
    risks = [_risk(yearly, at) for at in times]
    return pa.table(
        {
            "time_seconds": times,
            "survival": [1.0 - risk for risk in risks],
            "low": [1.0 - risk * (1.0 + 1.96 * error) for risk in risks],
            "high": [1.0 - risk * (1.0 - 1.96 * error) for risk in risks],
        }
    )


def bursts(failures: int = 6, racks: int = 6, pieces: int = 4) -> pa.Table:
    """Of disks anywhere, and of disks in so many racks: fewer than `pieces` never lose data, and
    in fewer racks than that none does, since each rack has one piece of a group.
    """
    rows: list[dict[str, Any]] = []
    for count in range(1, failures + 1):
        chance = 0.0 if count < pieces else min(1.0, 4e-6 * math.comb(count, pieces))
        row = {"failures": count, "level": "disk", "within": None, "across": None}
        rows.append({**row, "loss_probability": chance, "standard_error": 0.0})
    for count in range(1, failures + 1):
        for within in range(1, min(count, racks) + 1):
            can = count >= pieces and within >= pieces
            chance = 3e-5 * math.comb(count, pieces) * within / racks if can else 0.0
            row = {"failures": count, "level": "disk", "within": within, "across": "rack"}
            rows.append({**row, "loss_probability": chance, "standard_error": 0.02 * chance})
    return pa.Table.from_pylist(rows)


def sensitivity(error: float = 0.0) -> pa.Table:
    """The fourth power of the failure rate, the third of the repair time."""
    found = {"the failure rate of disks": 3.9, "the repair speed": -2.8, "the scrub interval": 0.2}
    return pa.Table.from_pylist(
        [
            {"factor": name, "elasticity": value, "low": value - error, "high": value + error}
            for name, value in found.items()
        ]
    )


def answer(
    name: str = "rs 8+3",
    code: str = "rs 8+3",
    overhead: float = 1.375,
    yearly: float = 3.1e-9,
    years: float = 1.0,
    error: float = 0.0,
    stored: float | None = None,
    full: bool = False,
) -> Durability:
    """A system that loses data at a constant rate.

    An `error` of 0 is exact; a `full` answer has causes, a course, bursts and what matters.
    """
    mission = years * YEAR
    made = Durability(
        name,
        code,
        overhead,
        88,
        4096,
        stored,
        mission,
        _made(_risk(yearly, mission), error),
        _made(_risk(yearly, YEAR), error),
        mttdl_seconds=_made(YEAR / yearly, error),
        premises=PREMISES,
        digest="3f0c6eaa12b4d7e9" if error else "",
    )
    if stored is not None:
        # A loss takes one group of 4,096.
        lost = _risk(yearly, mission) * stored / 4096
        made = replace(
            made,
            expected_lost_bytes=_made(lost, error),
            object_loss_probability=_made(lost / stored, error),
        )
    if not full:
        return made
    return replace(
        made,
        causes=CAUSES,
        survival=survival(yearly, mission, error),
        bursts=bursts(),
        sensitivity=sensitivity(0.1 if error else 0.0),
        notes=("Failures of racks and of disks are taken as independent.",),
    )


def simulated() -> Durability:
    """A study of ten years, by simulation, with all that an answer may have."""
    return answer("cold store", yearly=2.3e-7, years=10.0, error=0.048, stored=1.2 * PIB, full=True)


def unknown() -> Durability:
    """A study in which nothing was lost."""
    of = simulated()
    return replace(
        of, loss_probability=unseen(), annual=unseen(1_000_000), mttdl_seconds=None,
        expected_lost_bytes=None, object_loss_probability=None, causes={}, survival=None,
        sensitivity=None,
    )  # fmt: skip


def never() -> Durability:
    """A system that cannot lose data."""
    zero = Figure.exact(0.0)
    return replace(answer(), loss_probability=zero, annual=zero,
                   mttdl_seconds=Figure.exact(math.inf))  # fmt: skip


def codes(count: int = 24) -> Durabilities:
    """Reed-Solomon codes of several widths, of which those of few parities are less safe."""

    def of(data: int, parity: int) -> Durability:
        name, ways = f"rs {data}+{parity}", math.comb(data + parity, data)
        yearly = 1e-1 * ways * 2e-4**parity * (1.0 + 0.3 * (data % 3))
        return answer(name, name, (data + parity) / data, yearly)

    widths = range(4, 4 + (count + 3) // 4)
    made = [of(data, parity) for parity in (1, 2, 3, 4) for data in widths]
    return Durabilities(tuple(made[:count]), "codes")


def layouts() -> Durabilities:
    """Layouts at one overhead, of which two cannot be told apart."""
    rates = {"copysets": 2e-7, "declustered": 2.1e-6, "random": 2.3e-6, "racks": 4.4e-6}
    made = [
        replace(
            answer(name, "copies 3", 3.0, rate, 1.0, 0.06, 1.2 * PIB, full=True),
            causes={"disks that fail": 0.2 + 0.1 * rank, "bursts in racks": 0.8 - 0.1 * rank},
            premises=(*PREMISES, Premise("sets", f"{1000 * rank + 88:,}", "study")),
        )
        for rank, (name, rate) in enumerate(rates.items())
    ]
    return Durabilities(tuple(made), "layouts at overhead 3")


def hostile(text: str) -> Durability:
    """A system whose names are HTML."""
    of = simulated()
    causes = {text: 0.7, "disks that fail": 0.3}
    premises = (Premise(text, text, "study", text),)
    return replace(of, name=text, causes=causes, premises=premises, notes=(text,))
