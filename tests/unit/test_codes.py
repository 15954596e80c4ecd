"""`resilver.redundancy` and the command: the published figures, and what is refused."""

import pytest

import resilver
from resilver import ConfigError
from tests.terminal import Terminal


def test_survival_and_repairs_are_listed(terminal: Terminal) -> None:
    row = terminal.json_output("redundancy", "lrc 8+5 local 4")
    found = {one["losses"]: (one["survivable"], one["all"]) for one in row["survivable"]}
    assert list(found) == list(range(1, 14))
    assert found[3] == (286, 286) and found[4] == (713, 715) and found[6] == (0, 1716)
    assert [one["share"] for one in row["survivable"]][2:4] == [1, 713 / 715]
    row = terminal.json_output("redundancy", "lrc 8+5 local 4", "--lost", "12,0, 4")
    assert row["lost"]["pieces"] == [0, 4, 12] and row["lost"]["is_survivable"]
    # 0 to 3 have their parity in 8, 4 to 7 in 9, and the parities 8 to 12 sum to zero.
    assert row["lost"]["repairs"] == [
        {"piece": 0, "gathers": [1, 2, 3, 8]},
        {"piece": 4, "gathers": [5, 6, 7, 9]},
        {"piece": 12, "gathers": [8, 9, 10, 11]},
    ]
    out = terminal.output("redundancy", "lrc", "8+5", "local", "4", "--lost", "0,1,2,3", code=None)
    assert "without 0, 1, 2, 3: data are lost" in out and "3: cannot be reconstructed" in out


def test_the_table_sets_codes_side_by_side(terminal: Terminal) -> None:
    out = terminal.output("redundancy", "rs 8+3", "lrc 8+5 local 4")
    cells = {" ".join(line.split()) for line in out.splitlines()}
    assert "parity / all 27.27 % 38.46 %" in cells
    assert "strips read per rebuild 8 4" in cells
    # 713 of 715 is 99.72 %.
    assert "survived of 4 lost 0.00 % 99.72 %" in cells
    assert "not counted" in terminal.output("redundancy", "lrc 40+12 local 10")


def test_a_product_is_judged_by_rank_and_by_its_lines(terminal: Terminal) -> None:
    name = "product rs 2+2 x rs 2+2"
    row = terminal.json_output("redundancy", name, "--lost", "0,3,4,5,6,7,8,9,11,12,13,14")
    # A loss of data takes three of four rows and columns: 9 of 16 pieces, C(4, 3)^2 = 16 ways.
    assert (row["pieces"], row["fault_tolerance"], row["locality"]) == (16, 8, 2)
    assert row["survivable"][8]["survivable"] == row["survivable"][8]["all"] - 16
    # One survivor in each row and column: every line lacks one more than it may.
    assert row["lost"]["is_survivable"] and not row["lost"]["is_survivable_by_lines"]
    counts = [row[key][11]["survivable"] for key in ("survivable", "survivable_by_lines")]
    assert counts[0] - counts[1] == 20
    out = terminal.output("redundancy", name, "--lost", "0,3,4,5,6,7,8,9,11,12,13,14", code=None)
    assert "by rows and columns, one after the other: data are lost" in out
    assert f"of 12, by rows and columns {100 * counts[1] // 1820}" in " ".join(out.split())


def test_python_refuses_what_is_no_piece_and_no_code() -> None:
    code = resilver.redundancy("rs 4+2")
    for call in (
        lambda: resilver.redundancy("rs 17+3 over rs 8+2"),
        lambda: code.is_survivable_by_lines([6]),
        lambda: code.survivable_by_lines(7),
        lambda: code.repair(6),
        lambda: code.repair(-1),
        lambda: code.is_survivable([2**70]),
        lambda: code.decoding([0, 1, 2, 6], [3]),
        lambda: code.survivable(7),
    ):
        with pytest.raises(ConfigError):
            call()


def test_of_equal_repairs_the_preferred_one_is_taken() -> None:
    code = resilver.redundancy("rs 4+2")
    assert code.repair(0, prefer=[5, 4]) == [5, 4, 1, 2]
    assert code.read([0], prefer=[5, 4]) == [1, 2, 3, 5]
    assert code.repair(0, [0, 1, 2]) is None and code.read([0, 1, 2]) is None
    assert code.decoding([1, 2, 3], [0]) is None
