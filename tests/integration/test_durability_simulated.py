"""Durability by simulation: against chains, what layouts conclude, and answers that resume."""

import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from resilver import Durability, Interrupted, Study
from resilver.data_loss.scenario import Estimating
from tests.integration.test_durability import one


def study(**sections: Any) -> Study:
    """Twenty-four servers under RS 4+2, a twentieth of which fails a year, or what is said."""
    return Study.from_dict(
        {
            "cluster": {"servers": 24},
            "population": {"file_size": "64 MiB", "files": 4_000},
            "redundancy": {"code": "rs 4+2"},
            "durability": {"failures": [{"afr": "20 %"}], "repair": "1 d", "returns": "devices"},
            **sections,
        }
    )


def is_within(found: Durability, expected: float, sigmas: float = 4.0) -> bool:
    """Whether an answer is as near as its error says; by chance it is not once in 16,000."""
    loss = found.loss_probability
    assert loss.value is not None and loss.relative_error is not None
    return abs(loss.value - expected) <= sigmas * loss.relative_error * loss.value


@pytest.mark.parametrize("method", ["plain", "importance", "splitting"])
def test_every_method_finds_what_the_chain_says(method: str) -> None:
    """RS 4+1 of which half fails a year: rare enough to weigh, and frequent enough to count."""
    asked = {"afr": "50 %", "repair": "10 d", "trajectories": 400_000}
    exact = one("rs 4+1", **asked).loss_probability
    found = one("rs 4+1", method=method, relative_error=0.03, **asked)
    assert exact.value is not None and found.loss_probability.method == "simulated"
    assert is_within(found, exact.value)
    assert found.loss_probability.relative_error is not None
    assert found.loss_probability.relative_error <= 0.03


def test_a_study_of_separate_groups_is_simulated_as_its_chain() -> None:
    """Repairs of one fixed time, in parallel: at small rates as likely to overlap as any other."""
    groups = {"algorithm": "groups", "group_size": 6}
    asked = study(placement=groups)
    exact = one(asked, method="exact").loss_probability
    found = one(asked)
    assert exact.value is not None and exact.method == "approximate"
    # The law matters in the next order: 6 servers x 1 d x 0.22 / y = 4e-3 of the value, doubled.
    assert is_within(found, exact.value, sigmas=4.0 + 0.008 / 0.003)
    assert found.loss_probability.method == "simulated"
    assert found.groups == 4


@pytest.mark.parametrize("groups", [32, 256])
def test_a_layout_loses_as_its_chain_of_counted_sets_says(groups: int) -> None:
    """Groups that share devices: the share of triples that is fatal, counted, against missions."""
    asked = study(placement={"algorithm": "crush", "placement_groups": groups})
    chain = one(asked, method="exact", sensitivity=True)
    found = one(asked, relative_error=0.01)
    expected = chain.loss_probability.value
    assert expected is not None and chain.loss_probability.method == "approximate"
    # The law of repairs and sets that are not quite alike matter by some days over years: 1 %.
    assert is_within(found, expected, sigmas=4.0 + 0.01 / 0.0025)
    assert chain.expected_lost_bytes is not None and found.expected_lost_bytes is not None
    assert found.expected_lost_bytes.value == pytest.approx(
        chain.expected_lost_bytes.value, rel=0.03
    )
    assert chain.mttdl_seconds is not None and found.mttdl_seconds is not None
    assert found.mttdl_seconds.value == pytest.approx(chain.mttdl_seconds.value, rel=0.05)
    assert chain.sensitivity is not None
    powers = {row["factor"]: row["elasticity"] for row in chain.sensitivity.to_pylist()}
    assert powers["rate of server failures"] == pytest.approx(3.0, abs=0.1)
    assert powers["repair time"] == pytest.approx(2.0, abs=0.1)


def test_an_enclosure_lost_leaves_its_sets_a_day_without_parity() -> None:
    """RS 8+2 dealt over five enclosures: one lost takes two pieces of every set of ten.

    Enclosures are lost at 5 / 100 y, and of the 32 drives left any that fails in the day after
    loses data; or the enclosure fails while a drive of another is missing, which four of five are.
    """
    drives, enclosures, day = -math.log1p(-0.05), 0.01, 1 / 365.25
    after = 5 * enclosures * 32 * drives * day
    before = 40 * drives * day * 4 * enclosures
    two = 5 * enclosures * 4 * enclosures * day
    # Three drives of a set: C(10, 3) 3! / 2 l^3 w^2, of four sets: below 1 % of the sum.
    three = 4 * 360 * drives**3 * day**2
    parts = [
        {"level": "enclosure", "count": 5},
        {"level": "drive", "in": "enclosure", "count": 8},
        {"level": "raid", "of": "drive", "size": 10, "across": "enclosure"},
    ]
    found = one(
        study(
            cluster={"parts": parts},
            placement={"algorithm": "sets", "level": "raid"},
            redundancy={"code": "rs 8+2"},
            durability={
                "failures": [{"afr": "5 %"}, {"level": "enclosure", "mttf": "100 y"}],
                "repair": "1 d",
            },
        ),
        relative_error=0.02,
    )
    assert found.loss_probability.value == pytest.approx(after + before + two + three, rel=0.08)
    assert set(found.causes) == {"drive failures", "enclosure failures"}


def test_racks_survive_bursts_that_servers_alone_do_not() -> None:
    """Bursts of three servers in a rack kill RS 4+2 spread over servers, and none over racks."""
    cluster = {"servers": 24, "racks": 6}
    burst = {"mttf": "1 y", "level": "server", "burst": {"within": "rack", "sizes": 3}}
    durability = {"failures": [{"afr": "1 %"}, burst], "repair": "1 d"}

    def asked(domain: str) -> Study:
        placement = {"algorithm": "crush", "placement_groups": 64, "failure_domain": domain}
        return study(cluster=cluster, placement=placement, durability=durability)

    apart = one(asked("rack"), relative_error=0.3)
    near = one(asked("server"), relative_error=0.1)
    assert near.loss_probability.low > 0.3
    assert apart.loss_probability.high < near.loss_probability.low / 100
    assert max(near.causes, key=lambda name: near.causes[name]) == "server bursts"
    assert sum(near.causes.values()) == pytest.approx(1.0)


def test_repair_times_are_those_of_simulated_rebuilds(tmp_path: Path) -> None:
    """Without a time given, rebuilds of the same study are simulated, once in a folder."""
    sections: dict[str, Any] = {
        "placement": {"algorithm": "crush", "placement_groups": 64},
        "durability": {"failures": [{"afr": "50 %"}], "relative_error": 0.2},
    }
    asked = study(**sections)
    seen: list[Estimating] = []

    def told(state: Estimating) -> bool:
        seen.append(state)
        return True

    first = one(asked, folder=tmp_path, told=told)
    (repair,) = [row for row in first.premises if row.name == "repair"]
    assert repair.origin == "simulated" and "(2 lost)" in repair.value
    assert {state.phase for state in seen} == {"repairs", "estimating"}
    kept = [path.name for path in tmp_path.glob("rebuilds-*")]
    again = one(asked, folder=tmp_path)
    assert again.premises == first.premises
    assert again.loss_probability == first.loss_probability
    assert [path.name for path in tmp_path.glob("rebuilds-*")] == kept
    slower = one(study(recovery={"bandwidth": "1 MiB/s"}, **sections))
    assert slower.loss_probability.low > first.loss_probability.high


def test_which_rate_matters_is_told_with_its_error() -> None:
    """Of groups apart: the rate of failures to the third power, the repair's to the second."""
    found = one(study(placement={"algorithm": "groups", "group_size": 6}), sensitivity=True)
    assert found.sensitivity is not None
    rows = {row["factor"]: row for row in found.sensitivity.to_pylist()}
    for factor, power in (("rate of server failures", 3.0), ("repair time", 2.0)):
        row = rows[factor]
        # Its own error, and 2 % for the order beyond the power.
        assert row["low"] - 0.06 <= power <= row["high"] + 0.06
        assert row["high"] - row["low"] < 0.2


RESUMED = {"afr": "50 %", "repair": "10 d", "method": "importance", "relative_error": 0.01}


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.json"))
    }


def test_an_answer_that_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    """Stopped after each batch in turn, it ends with the files and figures of one go."""
    whole = one("rs 4+1", folder=tmp_path / "whole", **RESUMED)
    stops = 0
    while True:
        looks = 0

        def told(state: Estimating) -> bool:
            nonlocal looks
            looks += state.done > 0
            return looks < 2

        try:
            found = one("rs 4+1", folder=tmp_path / "parts", told=told, **RESUMED)
            break
        except Interrupted:
            stops += 1
            assert stops < 200
    assert stops > 1
    assert found.loss_probability == whole.loss_probability
    assert found.digest == whole.digest
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_a_killed_process_leaves_batches_that_are_used(tmp_path: Path) -> None:
    whole = one("rs 4+1", folder=tmp_path / "whole", **RESUMED)
    asked = f"folder={str(tmp_path / 'k')!r}, **{RESUMED}"
    call = f"import resilver; resilver.durability('rs 4+1', {asked})"
    process = subprocess.Popen([sys.executable, "-c", call])
    deadline = time.monotonic() + 60
    while not list((tmp_path / "k").rglob("batch-*.json")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # A batch that was being written is as good as none.
    (batches,) = (tmp_path / "k").glob("missions-*")
    (batches / "batch-000002.json").write_text('{"trajectories": 4')
    found = one("rs 4+1", folder=tmp_path / "k", **RESUMED)
    assert found.loss_probability == whole.loss_probability
    assert content(tmp_path / "k") == content(tmp_path / "whole")


def test_processes_give_the_same_bytes(tmp_path: Path) -> None:
    """As a cluster does: tests/integration/test_dask.py."""
    here = one("rs 4+1", folder=tmp_path / "here", **RESUMED)
    local = one("rs 4+1", folder=tmp_path / "local", workers=2, **RESUMED)
    assert (here.loss_probability, here.digest) == (local.loss_probability, local.digest)
    assert content(tmp_path / "here") == content(tmp_path / "local")


def test_a_trace_loses_data_when_its_failures_do(tmp_path: Path) -> None:
    """Three servers of one group of six that fail in two days lose RS 4+2, whoever draws."""
    rows = [f"server.{n},0 d,{10 + n} d,yes\n" for n in range(3)]
    (tmp_path / "lives.csv").write_text("component,start,end,failed\n" + "".join(rows))
    asked = study(
        placement={"algorithm": "groups", "group_size": 6},
        durability={
            "failures": [{"trace": str(tmp_path / "lives.csv")}],
            "repair": "5 d",
            "returns": "devices",
        },
    )
    found = one(asked, trajectories=1_000)
    assert found.loss_probability.value == 1.0
    assert found.mttdl_seconds is None
    fast = one(asked, repair="12 h", trajectories=1_000)
    assert fast.loss_probability.value is None
    assert "More trajectories" in fast.notes[-1]
