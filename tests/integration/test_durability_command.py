"""`resilver durability` as it is typed: what it prints, writes and refuses."""

import csv
import json
import math
from pathlib import Path

import pytest

from tests.integration.study_runs import study_text
from tests.terminal import command, json_output, output, texts, written

AFR, HOURS = 0.0136, 8766.0
FAILING = ("--afr", "1.36%", "--repair", "10 h")


def yearly(data: int, parity: int, groups: int = 1) -> float:
    """The loss probability of a year, by the leading term of the chain.

    Of n pieces, each failing at rate a and repaired at rate b, the first of m + 1 failures comes at
    rate n a, and each later one strikes one of n - k pieces before one of k repairs ends. The first
    losses need some repair times to come: of 10 h, 0.2 % of a year.
    """
    rate, repair = -math.log(1.0 - AFR) / HOURS, 1.0 / 10.0
    loss = float(data + parity) * rate
    for lost in range(1, parity + 1):
        loss *= (data + parity - lost) * rate / (lost * repair)
    return groups * loss * HOURS


def test_the_first_line_is_what_an_architect_asks_and_json_has_every_digit() -> None:
    words = " ".join(output("durability", "rs 8+3", *FAILING, "--groups", 8).split())
    # Eight times 6.89e-14.
    assert f"{yearly(8, 3, groups=8):.1e}" == "5.5e-13"
    said = "loses data within a year with a probability of 5.5e-13 (12.3 nines)."
    assert words.startswith(f"rs 8+3 on 88 devices {said}") and "AFR 1.36 % stated" in words
    # A code without quotes is put together.
    found = json_output("durability", "rs", "8+3", *FAILING)
    assert found["annual"]["value"] == pytest.approx(yearly(8, 3), rel=5e-3)
    assert found["annual"]["method"] == "exact"
    assert found["nines"] == pytest.approx(-math.log10(found["annual"]["value"]))
    assert found["code"] == "rs 8+3" and found["devices"] == 11


def test_ranges_name_codes_and_the_cheapest_safe_ones_are_marked(tmp_path: Path) -> None:
    page, tables, pictures = tmp_path / "codes.html", tmp_path / "tables", tmp_path / "pictures"
    words = ("--output", page, "--tables", tables, "--figures", pictures, "--format", "svg")
    out, err = texts("durability", "rs 4..6+2", "copies 3", *FAILING, *words)
    # Three copies lose by (1 + 2): nothing else of these survives its two losses so cheaply.
    assert out.startswith("copies 3 (")
    wrote = [line.split("wrote ")[1] for line in err.splitlines()]
    assert wrote == [str(page), str(tables), str(pictures)]
    rows = list(csv.DictReader((tables / "systems.csv").open()))
    by_code = {row["code"]: row for row in rows}
    assert list(by_code) == ["copies 3", "rs 4+2", "rs 5+2", "rs 6+2"]
    for data in (4, 5, 6):
        row = by_code[f"rs {data}+2"]
        assert float(row["annual_loss_probability"]) == pytest.approx(yearly(data, 2), rel=5e-3)
        assert float(row["overhead"]) == pytest.approx((data + 2) / data)
    assert [row["is_on_pareto_line"] for row in rows] == ["1"] * 4
    assert (pictures / "pareto.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "resilver durability" in page.read_text(encoding="utf-8")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Eight servers that share 64 groups, and fail often."""
    return written(tmp_path / "small.toml", study_text("failing"))


def test_a_study_is_simulated_with_its_interval_and_goes_on_where_it_was_kept(
    small: Path, tmp_path: Path
) -> None:
    """Of 64 groups of 6 of 8 servers each triple of servers holds 20 / 56 x 64 = 23 on average, so
    three lost at once lose data all but always.
    """
    keep, page = tmp_path / "keep", tmp_path / "page.html"
    words = ("durability", small, "--relative-error", "10%", "--bursts", 3, "--keep", keep)
    done = output(*words, "--output", page, "--json")
    found = json.loads(done)
    loss = found["loss_probability"]
    assert loss["method"] == "simulated" and loss["relative_error"] <= 0.10
    assert loss["low"] < loss["value"] < loss["high"]
    bursts = {row["failures"]: row["loss_probability"] for row in found["bursts"]}
    assert bursts[1] == bursts[2] == 0.0 and bursts[3] > 0.9
    assert sum(found["causes"].values()) == pytest.approx(1.0)
    again = command(*words, "--json")
    assert again.stdout == done
    told = " ".join(command(*words).stdout.split())
    assert told.startswith("small (rs 4+2) on 8 devices loses data within a year with a prob")
    assert "simulated missions: relative standard error" in told
    assert "Simultaneous failures" in told


def test_what_was_not_seen_is_a_bound_and_the_answer_no(small: Path) -> None:
    rare = ("--afr", "0.1%", "--method", "plain", "--trajectories", 100)
    done = output("durability", small, *rare, code=1)
    words = " ".join(done.split())
    # 3 / 100, which a Poisson mean of -ln 0.05 = 2.996 rounds up to.
    assert "100 simulated missions lost nothing, so it is at most 3.0 % (95 %)" in words
    # Settings change the study and several stand beside each other.
    setting = ("--set", 'durability.mission="2 y"', "--relative-error", "20%")
    found = json_output("durability", small, "copies 3", *setting)["systems"]
    assert [one["code"] for one in found] == ["rs 4+2", "copies 3"]
    # An option would hold for both; the setting is the study's alone.
    assert [one["mission_seconds"] / 31_557_600 for one in found] == [2.0, 1.0]
