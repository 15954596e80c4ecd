"""The shipped studies of coded rebuilds, made small: bytes are arithmetic, and lanes protect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from resilver.reproduce.evidence import shipped_study
from resilver.simulate import simulate

CODES = ["copies 3", "rs 8+3", "lrc 8+5 local 4"]


def rows_of(name: str, overrides: Sequence[str]) -> list[dict[str, Any]]:
    """The metrics of every run, with what is swept."""
    study = shipped_study(name, ["study.seeds=1", *overrides])
    return [{**run.swept, **simulate(run.system, run.seed).metrics} for run in study.runs()]


def test_a_code_gathers_and_loses_what_its_numbers_say() -> None:
    """Of a byte of user data 3, 11/8 and 13/8 are kept, and 1, 8 and 4 gathered for each lost.

    16 GiB on each of 128 servers in objects of at most 64 MiB: the lost server had some 800 copies,
    2,800 pieces under RS and 3,300 under LRC, of sizes that spread as the objects do. The shares
    that three codes give one server differ by chance, by 4 % of one standard deviation for copies.
    Few pieces move that were not lost, with so many servers: less than 1 %.
    """
    sweep = f'study.sweep={{ "redundancy.code" = {CODES}, "cluster.servers" = [128] }}'
    copies, rs, lrc = rows_of("coded-rebuild", ['population.bytes_per_server="16 GiB"', sweep])
    user = 16 * 2**30
    for row, kept, gathered in ((copies, 3, 1), (rs, 11 / 8, 8), (lrc, 13 / 8, 4)):
        assert row["rebuilt_bytes"] / user == pytest.approx(kept, rel=0.16)
        assert gathered <= row["gathered_bytes"] / row["rebuilt_bytes"] < 1.01 * gathered
        assert 1 < row["network_bytes"] / row["gathered_bytes"] < 1.001
    assert copies["rebuild_seconds"] < lrc["rebuild_seconds"] < rs["rebuild_seconds"]


def test_a_lane_keeps_clients_fast_and_costs_a_rebuild_nothing_where_they_leave_room() -> None:
    """Clients use less than half of the devices: what is not theirs is lent to the rebuild."""
    load = '"traffic.streams" = [{ window = 64, rate = "400 MB/s" }]'
    code = '"redundancy.code" = ["rs 8+3"]'
    small = 'population.bytes_per_server="8 GiB"'
    [without] = rows_of("coded-rebuild-without-lanes", [small, f"study.sweep={{ {code}, {load} }}"])
    lanes = f'study.sweep={{ {code}, {load}, "lanes.clients" = [0.9, 0.75] }}'
    for row in rows_of("coded-rebuild-under-load", [small, lanes]):
        assert row["rebuild_seconds"] < 1.1 * without["rebuild_seconds"]
        assert row["p99_delay_seconds"] < 0.25 * without["p99_delay_seconds"]
