"""The time until the system is told of a failure: the loss is counted from when it happens."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.study_runs import study_row, study_text, table_rows

SWITCHED = {
    "model": "switched",
    "topology": "leaf spine 4x2 hosts 4",
    "link_rate": "10 Gb/s",
}
TIMES = (
    "rebuild_seconds",
    "rebuild_p50_seconds",
    "first_redundant_seconds",
    "last_redundant_seconds",
)


def runs(folder: Path, *faults: str, **keys: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of a study's one run with these faults, and its timeline, by the command."""
    text = study_text("told", "".join(f"[[faults]]\n{one}\n" for one in faults), **keys)
    out = f"run-{len(list(folder.iterdir()))}"
    row = study_row(folder, text, out=out)
    levels = table_rows(folder, "timeline", out)
    return row, [{name: one[name] for name in one if name != "run"} for one in levels]


def gone(server: int, *more: str, at: float = 0.0) -> str:
    return "\n".join([f'at = "{at} s"', f'part = {{ server = ["server.{server}"] }}', *more])


def integral(timeline: list[dict[str, Any]]) -> float:
    """Degraded objects times seconds, over the whole run."""
    return float(sum(row["degraded_objects"] * row["duration_seconds"] for row in timeline))


def at(timeline: list[dict[str, Any]], since: float, until: float, column: str) -> set[float]:
    """The levels over the intervals that lie within a time."""
    within = [
        row[column]
        for row in timeline
        if row["start_seconds"] >= since and row["start_seconds"] + row["duration_seconds"] <= until
    ]
    assert within, "the timeline has no interval there"
    return {round(level, 6) for level in within}


def test_a_failure_that_is_detected_late_counts_from_its_loss(tmp_path: Path) -> None:
    seconds = 300
    told, levels = runs(tmp_path, gone(3))
    late, late_levels = runs(tmp_path, gone(3, f'detection = "{seconds} s"'))
    affected = told["affected_objects"]
    assert affected > 150 and late["affected_objects"] == affected
    # Nothing else happens meanwhile, so the rebuild is the same, so much later.
    for name in TIMES:
        assert late[name] == pytest.approx(told[name] + seconds, abs=1e-6), name
    # Each affected object lacks a copy from time 0 on, and none is rebuilt until detection.
    assert at(late_levels, 0.0, seconds, "degraded_objects") == {affected}
    assert integral(late_levels) == pytest.approx(integral(levels) + affected * seconds, rel=1e-6)
    assert late["rebuilt_bytes"] == told["rebuilt_bytes"]


def test_detection_is_short_for_two_faults_of_the_same_parts(tmp_path: Path) -> None:
    drawn, _ = runs(tmp_path, "part = { server = 1 }")
    short, levels = runs(tmp_path, 'part = { server = 1 }\ndetection = "30 s"')
    # The same server is drawn, whenever it is detected.
    assert short["failed_servers"] == drawn["failed_servers"]
    server = int(short["failed_servers"].removeprefix("server."))
    pair, pair_levels = runs(
        tmp_path, gone(server, "told = false"), gone(server, "told = true", at=30.0)
    )
    assert short["digest"] == pair["digest"]
    assert {name: short[name] for name in TIMES} == {name: pair[name] for name in TIMES}
    assert levels == pair_levels


@pytest.mark.parametrize(("first", "second"), [(60, 40), (60, 5), (5, 60)])
def test_objects_lack_what_two_servers_held_from_each_loss_on(
    first: int, second: int, tmp_path: Path
) -> None:
    one, other = (runs(tmp_path, gone(server))[0]["affected_objects"] for server in (3, 7))
    both = runs(tmp_path, gone(3), gone(7))[0]["affected_objects"]
    row, levels = runs(
        tmp_path, gone(3, f'detection = "{first} s"'), gone(7, f'detection = "{second} s"', at=10.0)
    )
    known = min(first, 10 + second)
    assert 0 < one + other - both < both
    assert at(levels, 0.0, min(10, known), "degraded_objects") == {one}
    if known > 10:
        # Of three copies, objects of both servers have one left: the next loss may be too much.
        assert at(levels, 10.5, known, "degraded_objects") == {both}
        assert at(levels, 10.5, known, "at_risk_objects") == {one + other - both}
    # What the undetected server held is missing all the time that the other's is rebuilt.
    least, unknown = (one, first) if second < first else (other, 10 + second)
    assert min(at(levels, 10.5, unknown, "degraded_objects")) >= least
    assert row["last_redundant_seconds"] > unknown
    assert levels[-1]["at_risk_objects"] == 0.0 and row["unrecoverable_objects"] == 0


def test_a_part_that_is_back_before_it_is_detected_is_an_outage(tmp_path: Path) -> None:
    short, _ = runs(tmp_path, gone(3, 'detection = "30 s"', 'until = "20 s"'), gone(7, at=40.0))
    outage, _ = runs(tmp_path, gone(3, "told = false", 'until = "20 s"'), gone(7, at=40.0))
    alone, _ = runs(tmp_path, gone(7))
    assert short["digest"] == outage["digest"] and short["failed_servers"] == "server.7"
    # The times count from the loss of what is rebuilt, not from the outage before it.
    assert short["rebuild_seconds"] == pytest.approx(alone["rebuild_seconds"], abs=1e-6)
    # The server that was away takes its part of the rebuild.
    assert short["unreachable_pieces"] == 0
    assert short["rebuilt_pieces"] == alone["rebuilt_pieces"]
    # A server that is back after its detection brings what is missing.
    back, levels = runs(tmp_path, gone(3, 'detection = "20 s"', 'until = "20.5 s"'))
    assert back["returned_pieces"] > 0
    assert back["rebuild_seconds"] == back["last_redundant_seconds"] == pytest.approx(20.5)
    assert at(levels, 0.0, 20.0, "degraded_objects") == {back["affected_objects"]}


def test_a_server_is_lost_with_its_host_in_the_network(tmp_path: Path) -> None:
    switch, _ = runs(
        tmp_path, 'part = { switch = ["host.3"] }', gone(3, at=30.0), cluster__fabric=SWITCHED
    )
    server, _ = runs(tmp_path, gone(3, "told = false"), gone(3, at=30.0), cluster__fabric=SWITCHED)
    assert {name: switch[name] for name in TIMES} == {name: server[name] for name in TIMES}
    assert switch["first_redundant_seconds"] > 30.0
