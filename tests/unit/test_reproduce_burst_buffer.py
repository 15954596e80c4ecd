"""The burst buffer without runs: tables, lost switches, and rates over the analytic model."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from resilver.analytic import Attachment
from resilver.reproduce import entry
from resilver.reproduce.burst_buffer import code_rows, survivable_share, switch_rows
from resilver.reproduce.compare import FAILS, compare
from resilver.reproduce.measured import measured
from resilver.reproduce.streaming import group_columns, over_analytic

RS, LRC = "rs 8+3", "lrc 8+5 local 4"


@pytest.mark.parametrize("name", ["burst-buffer-tables", "burst-buffer-switches"])
def test_what_needs_no_run_lies_in_its_bands(name: str) -> None:
    one = entry(name)
    rows = measured(one.kind, one.options)
    made = [compare(one.name, number, rows) for number in one.published]
    assert [one.key for one in made if one.verdict == FAILS] == []
    assert all(one.ours is not None for one in made)


def test_conclusions_rest_on_numbers_that_are_there() -> None:
    whole = entry("burst-buffer")
    known = {f"{name}/{number.key}" for name in whole.members for number in entry(name).published}
    assert len(whole.conclusions) == 11
    for said in whole.conclusions:
        assert said.rests_on and set(said.rests_on) <= known, said.claim


def test_a_code_has_the_columns_of_both_tables() -> None:
    """RS 8+3 moves 8 strips to read, 11 to write, 8 to rebuild one, and keeps 11."""
    rs, lrc, *strips = code_rows([RS, LRC])
    assert (rs["fault_tolerance"], rs["survivable_3_share"], rs["survivable_4_share"]) == (3, 1, 0)
    assert lrc["locality"] == 4 and 0.0 < lrc["survivable_4_share"] < 1.0
    of_rs = [row["strips"] for row in strips if row["of_code"] == RS]
    assert of_rs == [8, 11, 8, 11]


def test_the_share_of_survivable_losses_is_exact() -> None:
    assert survivable_share(RS, 3) == 1 and survivable_share(RS, 4) == 0


def _lost_by_brute_force(kind: Any, failed: int, tolerance: int) -> float:
    """Every set of so many of the 8 switches, of groups of 8 servers of two ports, one by one."""
    attachment = Attachment(kind, leaves=8, slots=8, ports=2, group_size=8)
    fatal = 0
    sets = list(combinations(range(8), failed))
    for gone in sets:
        for group in range(attachment.groups):
            lost = sum(
                set(attachment.switches(one)) <= set(gone) for one in attachment.group(group)
            )
            if lost > tolerance:
                fatal += 1
                break
    return fatal / len(sets)


@pytest.mark.parametrize("kind", ["local", "distributed"])
def test_the_chance_of_losing_data_is_what_trying_every_set_gives(kind: str) -> None:
    rows = switch_rows(leaves=8, slots=8, ports=2, group_size=8, codes=["rs 4+3"], switches_max=5)
    ours = {
        row["switches"]: row["data_loss_probability"]
        for row in rows
        if row["attachment"] == kind and "switches" in row
    }
    expected = {failed: _lost_by_brute_force(kind, failed, 3) for failed in range(1, 6)}
    assert ours == pytest.approx(expected)


def test_rates_stand_over_the_analytic_ones_where_there_are_any() -> None:
    """9 of 10 are read; nobody expects writes, and nothing was rebuilt of 2 expected."""
    row = {
        "read_bytes_per_second": 9.0, "analytic_read_bytes_per_second": 10.0,
        "write_bytes_per_second": 0.0, "analytic_write_bytes_per_second": 0.0,
        "rebuild_bytes_per_second": 0.0, "analytic_rebuild_bytes_per_second": 2.0,
    }  # fmt: skip
    assert over_analytic(row) == {"read_of_analytic": 0.9, "rebuild_of_analytic": 0.0}
    assert over_analytic({"read_bytes_per_second": None}) == {}


def test_groups_that_rebuild_stand_over_their_share_of_a_group_at_rest() -> None:
    """Three groups at rest and one that keeps 75 %: the model's sum of 37.5 is 3.75 times 10.

    So a group at rest reads 10. The rebuilding one reads 6, which is 60 % of that and 80 % of its
    guaranteed 7.5. One of its servers has lost both its ports: 46 of 48 work.
    """
    groups = pa.Table.from_pylist(
        [
            {
                "run": "a", "group": group, "is_rebuilding": group == 2, "servers": 24,
                "ports_working": 46 if group == 2 else 48, "read_bytes_per_second": rate,
                "write_bytes_per_second": 0.0, "burst_bytes_per_second": 0.0,
                "rebuild_bytes_per_second": 0.0, "mean_delay_seconds": 1.0,
            }
            for group, rate in enumerate([10.0, 9.0, 6.0, 10.0])
        ]
    )  # fmt: skip
    rows = [{"run": "a", "analytic_read_bytes_per_second": 37.5}, {"run": "b"}]
    found = group_columns(rows, groups, {"a": 0.75}, {"a": 2})
    assert list(found) == ["a"]
    assert found["a"]["read_share_rebuilding"] == pytest.approx(0.6)
    assert found["a"]["read_of_analytic_rebuilding"] == pytest.approx(0.8)
    assert found["a"]["read_least_group_bytes_per_second"] == 6.0
    assert found["a"]["group_ports_working_least_share"] == pytest.approx(46 / 48)
    assert "write_share_rebuilding" not in found["a"]
    # The worst group's 6 of a model's 12 a group; beside a rebuild its part of the sum is another.
    assert "read_least_group_of_analytic" not in found["a"]
    at_rest = groups.set_column(2, "is_rebuilding", pa.array([False] * 4))
    rows = [{"run": "a", "analytic_read_bytes_per_second": 48.0}]
    assert group_columns(rows, at_rest, {}, {})["a"]["read_least_group_of_analytic"] == 0.5
