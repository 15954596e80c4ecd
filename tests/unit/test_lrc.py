"""`lrc 12+2+2`, Azure's code, and `lrc 12+4 local 6`, which survives a loss less."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import resilver
from tests.reference.codes import is_survivable
from tests.reference.markov import loss_probability
from tests.terminal import Terminal

AZURE, IMPLIED = "lrc 12+2+2", "lrc 12+4 local 6"
GROUP = 7  # Six data pieces and a local parity; besides two such groups there are two globals.


def of_parts(lost: Sequence[int]) -> tuple[int, int, int]:
    """How many of the first group, of the second, and of the global parities are lost."""
    parts = [2 if one >= 14 else one % 2 if one >= 12 else one // 6 for one in lost]
    return (parts.count(0), parts.count(1), parts.count(2))


def can_survive(first: int, second: int, globals_: int) -> bool:
    """Each group makes one of its own, and the two globals two more of whatever is lost."""
    return max(0, first - 1) + max(0, second - 1) + globals_ <= 2


def test_azure_s_code_survives_every_three_losses_and_86_percent_of_four(
    terminal: Terminal,
) -> None:
    row = terminal.json_output("redundancy", AZURE)
    assert row["fault_tolerance"] == 3
    # Published (Huang et al., 2012): any three, and 86 % of four.
    shares = [one["share"] for one in row["survivable"]]
    assert shares[:3] == [1, 1, 1] and f"{shares[3]:.0%}" == "86%" and set(shares[4:]) == {0}
    generator = resilver.redundancy(AZURE).generator.tolist()
    for losses in (3, 4):
        sets = list(combinations(range(16), losses))
        # By rank in plain Python, and by what any code with these groups could survive at most.
        survived = {lost for lost in sets if is_survivable(generator, lost)}
        assert survived == {lost for lost in sets if can_survive(*of_parts(lost))}
        assert row["survivable"][losses - 1]["survivable"] == len(survived)


def test_a_piece_of_a_group_is_rebuilt_from_six_others_and_a_global_parity_from_twelve(
    terminal: Terminal,
) -> None:
    for piece in range(16):
        lost = terminal.json_output("redundancy", AZURE, "--lost", str(piece))["lost"]
        (repair,) = lost["repairs"]
        assert len(repair["gathers"]) == (6 if piece < 14 else 12)
    row = terminal.json_output("redundancy", AZURE)
    # (14 x 6 + 2 x 12) / 16; with an implied parity each of four parities takes the three others.
    assert (row["strip_rebuild"], row["rebuild_share"]) == (6.75, pytest.approx(1 / 6.75))
    assert terminal.json_output("redundancy", IMPLIED)["strip_rebuild"] == (12 * 6 + 4 * 3) / 16
    said = " ".join(terminal.output("redundancy", AZURE).split())
    assert "strips read per rebuild 6 or 12" in said


def loss_of_a_year(fails: float, mends: float) -> float:
    """An own chain: how many of each part are lost, by their rates a year; loss absorbs."""
    sizes = (GROUP, GROUP, 2)
    states = [
        (first, second, rest)
        for first in range(GROUP + 1)
        for second in range(GROUP + 1)
        for rest in range(3)
        if can_survive(first, second, rest)
    ]
    lost = len(states)
    rates = np.zeros((lost, lost + 1))
    for index, state in enumerate(states):
        for part, size in enumerate(sizes):
            for step, rate in ((1, (size - state[part]) * fails), (-1, state[part] * mends)):
                to = tuple(count + step * (at == part) for at, count in enumerate(state))
                if rate:
                    rates[index, states.index(to) if to in states else lost] += rate
    whole = states.index((0, 0, 0))
    return float(loss_probability(rates.tolist(), 1.0, whole, digits=40))


def test_durability_of_azure_s_code_is_that_of_an_own_chain(terminal: Terminal) -> None:
    # An AFR of 5 % and repairs of 24 h in the mean; a year has 365.25 d.
    expected = loss_of_a_year(-math.log(1 - 0.05), 365.25)
    assert expected == pytest.approx(1.425e-10, rel=1e-3)
    words = ("durability", AZURE, IMPLIED, "--afr", "5%", "--repair", "24 h")
    azure, implied = terminal.json_output(*words)["systems"]
    assert azure["annual"]["value"] == pytest.approx(expected, rel=1e-3)
    # Some 850 times as large, which the answer explains.
    assert implied["annual"]["value"] > 800 * azure["annual"]["value"]
    said = " ".join(terminal.output(*words).split())
    for note in (
        "lrc 12+2+2 is maximally recoverable, as Azure's LRC(12, 2, 2) is: it survives any 3",
        "lrc 12+4 local 6 has an implied parity",
        "it survives any 2 losses. Azure's LRC of these numbers is lrc 12+2+2",
    ):
        assert note in said
        assert note in " ".join(terminal.output("redundancy", AZURE, IMPLIED).split())


def test_a_study_of_azure_s_code_says_which_it_is_and_is_run(
    tmp_path: Path, terminal: Terminal
) -> None:
    text = """
cluster.servers = 17
population = { bytes_per_server = "16 GiB", file_size = "64 MiB" }
placement.placement_groups = 64
redundancy.code = "lrc 12+2+2"
faults = [{ fail.servers = 1 }]
"""
    path = tmp_path / "study.toml"
    path.write_text(text)
    terminal.output("check", path)
    said = terminal.output("run", path, "-o", tmp_path / "run")
    assert "lrc 12+2+2 (maximally recoverable, as Azure's)" in " ".join(said.split())
