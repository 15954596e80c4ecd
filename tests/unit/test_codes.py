"""Codes and trees of them, and the command: published figures, and what is refused."""

from math import comb

import pytest

import resilver
from resilver import ConfigError
from resilver.data_loss.bursts import code_bursts
from resilver.placement_quality import enclosure_loss_probability, group_loss_probability
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


def cells(out: str) -> set[str]:
    return {" ".join(line.split()) for line in out.splitlines()}


def test_the_table_sets_codes_side_by_side(terminal: Terminal) -> None:
    found = cells(terminal.output("redundancy", "rs 8+3", "lrc 8+5 local 4"))
    # 713 of 715 is 99.72 %.
    assert {
        "parity / all 27.27 % 38.46 %",
        "strips read per rebuild 8 4",
        "survived of 4 lost 0.00 % 99.72 %",
    } <= found
    # A group may be dead from nine losses on, of which 52 choose 9 sets are too many to look at.
    # Data are lost with both groups, so with 18 losses at the fewest.
    found = cells(terminal.output("redundancy", "copies 2 over lrc 40+12 local 10"))
    assert {"survived of 17 lost 100.00 %", "survived of 18 lost not counted"} <= found


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


def test_python_refuses_what_is_no_piece_and_takes_the_preferred_repair() -> None:
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
    assert code.repair(0, prefer=[5, 4]) == [5, 4, 1, 2]
    assert code.read([0], prefer=[5, 4]) == [1, 2, 3, 5]
    assert code.repair(0, [0, 1, 2]) is None and code.read([0, 1, 2]) is None
    assert code.decoding([1, 2, 3], [0]) is None


STUDIED = "rs 17+3 over rs 8+2"


# Published: bursts of random disks over three groups, in percent with some group dead.
PUBLISHED = [
    ("rs 6+1", {2: 30, 3: 74.2105, 4: 100}),
    ("rs 6+2", {3: 8.3004, 4: 27.2727, 5: 55.7312, 6: 83.6905}),
]


@pytest.mark.parametrize(("text", "published"), PUBLISHED)
def test_bursts_kill_groups_as_published(
    text: str, published: dict[int, float], terminal: Terminal
) -> None:
    most = max(published)
    row = terminal.json_output("redundancy", text, "--groups", "3", "--bursts", str(most))
    found = {one["failures"]: one["data"] for one in row["bursts"]["losses"]}
    assert {f: round(100 * found[f], 4) for f in published} == published
    assert all(found[failures] == 0 for failures in range(1, min(published)))
    # The same by the formula for groups of which only the number of losses counts.
    code = resilver.redundancy(text)
    for failures, chance in found.items():
        formula = group_loss_probability(3, code.pieces, failures, code.parity)
        assert chance == formula.probability
    # So says what durability answers of bursts.
    table = code_bursts(resilver.code_tree(text), 3, most)
    assert dict(zip(table["failures"].to_pylist(), table["loss_probability"].to_pylist(),
                    strict=True)) == found  # fmt: skip


def test_an_upper_code_loses_data_where_two_groups_are_dead(terminal: Terminal) -> None:
    row = terminal.json_output("redundancy", "rs 2+1 over rs 6+1", "--bursts", "4")
    two, three, four = row["bursts"]["losses"][1:]
    # 3 C(7, 2) of C(21, 2) pairs are in one group. Four failures kill two of three groups where
    # each has two of them.
    assert two["dead_groups"] == [3 * comb(7, 2) / comb(21, 2)] == [0.3]
    assert [three["data"], round(100 * three["dead_groups"][0], 4)] == [0, 74.2105]
    assert four["data"] == 3 * comb(7, 2) ** 2 / comb(21, 4)
    assert four["dead_groups"] == [1] and four["devices"] == 21
    out = terminal.output("redundancy", "rs 2+1 over rs 6+1", "--bursts", "4", code=None)
    assert {"2 0 % 30.0000 %", "3 0 % 74.2105 %", "4 22.1053 % 100 %"} <= cells(out)


def test_enclosures_take_rebuilding_groups_with_them(terminal: Terminal) -> None:
    # Five enclosures have two disks of each group: one that is lost kills a group that rebuilds
    # another's disk, 4 of 5, and so some of k with 1 - (1/5)^k. Ten have one disk each.
    for across, rebuilding, expected in ((5, 1, 0.8), (5, 2, 0.96), (5, 3, 0.992), (10, 3, 0)):
        words = ["rs 8+2", "--across", str(across), "--rebuilding", str(rebuilding)]
        row = terminal.json_output("redundancy", *words, "--groups", "7")
        asked = {"groups": 7, "across": across, "rebuilding": rebuilding, "data": expected}
        assert row["enclosure"] == asked
    out = terminal.output("redundancy", "rs 8+2", "--across", "5", "--rebuilding", "2", code=None)
    assert "one lost enclosure loses data with a probability of 96.0000 %" in " ".join(out.split())
    # Two groups of 8+2 across three enclosures lose four disks or three: both die at once.
    assert terminal.json_output("redundancy", "rs 8+2", "--across", "3")["enclosure"]["data"] == 1


def test_two_levels_of_a_data_center_come_out(terminal: Terminal) -> None:
    row = terminal.json_output("redundancy", STUDIED)
    # 20 groups of ten; 17 x 8 of 200 pieces are data, and four groups of three losses are fatal.
    keys = ("data", "parity", "pieces", "fault_tolerance", "locality", "read_share")
    assert [row[key] for key in keys] == [136, 64, 200, 11, 8, None]
    levels = [(one["groups"], one["pieces"], one["locality"]) for one in row["levels"]]
    assert levels == [(1, 20, 17), (20, 10, 8)]
    assert [one["losses"] for one in row["survivable"]] == list(range(1, 201))
    # Of twelve losses those are fatal that kill four groups, three each: C(20, 4) C(10, 3)^4.
    twelve = row["survivable"][11]
    assert twelve["all"] - twelve["survivable"] == comb(20, 4) * comb(10, 3) ** 4
    assert twelve["all"] == comb(200, 12)
    out = terminal.output("redundancy", STUDIED, "rs 8+3", code=None)
    assert {"data + parity 136 + 64 8 + 3", "1 rs 8+2 20 10 2 8"} <= cells(out)


def test_repairs_stay_within_a_group_until_it_is_dead(terminal: Terminal) -> None:
    tree = resilver.code_tree(STUDIED)
    # One or two losses of a group take eight others of it each, and nothing of other groups. Of
    # three the upper code makes one, of 17 other groups; the group then makes the others.
    assert tree.repair_traffic([5, 9]) == [0, 16] and tree.dead_groups([0, 1, 2]) == [[0]]
    # Four dead groups of three are too many.
    fatal = [10 * group + place for group in range(4) for place in range(3)]
    assert tree.repairs(fatal) is None and tree.repair_traffic(fatal) is None
    row = terminal.json_output("redundancy", STUDIED, "--lost", "0,1,2")["lost"]
    assert row["gathered_by_level"] == [17, 16] and row["dead_groups"] == [[0]]
    gathered = [10 * group for group in range(1, 18)]
    assert row["repairs"][0] == {"level": 0, "piece": 0, "gathered": gathered}
    out = terminal.output("redundancy", *STUDIED.split(), "--lost", "0,1,2", code=None)
    assert "lost groups of level 1: 0" in out
    assert "level 0 gathers 17 pieces across groups of level 1" in out
    fatal_text = ",".join(map(str, fatal))
    out = terminal.output("redundancy", STUDIED, "--lost", fatal_text, code=None)
    assert "data are lost" in " ".join(out.split())
    assert "lost groups of level 1: 0, 1, 2, 3" in out


def test_python_refuses_what_no_tree_has() -> None:
    tree = resilver.code_tree("rs 2+1 over rs 2+1")
    survives = tree.is_survivable
    for call, says in (
        (lambda: tree.repairs([9]), "piece 9: the pieces of 'rs 2\\+1 over rs 2\\+1' are numbered"),
        (lambda: tree.is_survivable([-1]), "lost = -1: pieces are numbered"),
        (lambda: tree.survivable(10), "losses = 10: there are 9 pieces to lose"),
        (lambda: tree.survivable_up_to(-1), "losses = -1: pieces are numbered and counted"),
        (
            lambda: enclosure_loss_probability(9, survives, across=3, rebuilding=1, lost=10),
            "lost = 10: this is a whole number from 0 to 9",
        ),
        (
            lambda: enclosure_loss_probability(64, bool, across=64, rebuilding=1, lost=4),
            "across = 64: there are 40,664,064 ways to lose these, more than 1,000,000; take fewer",
        ),
    ):
        with pytest.raises(ConfigError, match=says):
            call()
