"""Studies of codes, lanes and streams from the file to the tables, held to what follows by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from resilver.analytic.of_groups import analytic_rates
from resilver.errors import ConfigError
from resilver.estimate import estimate
from resilver.reproduce.evidence import shipped_study
from resilver.simulate import RunResult, lost_objects
from resilver.spec import Study
from resilver.spec.lanes import CLASSES
from resilver.study import Results, execute, simulate, validate_runs
from tests.build import CODED, STREAMED, changed, system_of
from tests.reference.compare import real

PIECE = 2**24  # Files of 64 MiB in four pieces of data.
FULL = {"cluster__fabric__topology": "leaf spine 4x6 hosts 6 entries 6"}
LONG = {"traffic__warm_up": "1 ms", "traffic__duration": "4 ms", "traffic__streams__window": 8}


def result_of(base: dict[str, Any], seed: int = 1, **keys: Any) -> RunResult:
    return simulate(system_of(base, **keys), seed)


def count(found: RunResult, name: str) -> int:
    value = found.metrics[name]
    assert isinstance(value, int), name
    return value


@pytest.mark.parametrize(
    "placement",
    [
        {"algorithm": "ring"},
        {"algorithm": "rendezvous"},
        {"algorithm": "declustered"},
        {"algorithm": "crush", "placement_groups": 128},
        {"algorithm": "crush", "placement_groups": "none"},
    ],
    ids=["ring", "rendezvous", "declustered", "crush-groups", "crush-objects"],
)
def test_a_lost_piece_is_made_of_four_others(placement: dict[str, Any]) -> None:
    found = result_of(CODED, placement=placement)
    rebuilt, undersized = count(found, "rebuilt_pieces"), count(found, "undersized_replicas")
    # Eight servers hold 200 files of six pieces, 150 a server on average; each lost one is of
    # another file, and is made of four pieces as large.
    assert 100 < count(found, "affected_objects") == rebuilt + undersized < 200
    assert count(found, "rebuilt_bytes") == rebuilt * PIECE
    # CRUSH moves some pieces besides, each copied from where it is.
    moved = count(found, "remapped_bytes")
    assert count(found, "gathered_bytes") == 4 * rebuilt * PIECE + moved
    assert moved == 0 or placement["algorithm"] == "crush"
    assert count(found, "unrecoverable_objects") == 0
    # Beside what is gathered there are requests for it, of 64 B and one a buffer.
    assert count(found, "network_bytes") > count(found, "gathered_bytes")
    half, nearly = real(found, "rebuild_p50_seconds"), real(found, "rebuild_p99_seconds")
    assert 0 < half < nearly <= real(found, "rebuild_seconds")
    assert sum(found.servers["rebuilt_bytes"].to_pylist()) == rebuilt * PIECE


def test_codes_gather_what_they_promise() -> None:
    wide = {"cluster__servers": 16, "population__files": 100}
    gathered = {
        code: count(result, "gathered_bytes") / count(result, "rebuilt_bytes")
        for code in ("copies 3", "rs 8+3", "lrc 8+5 local 4", "product rs 3+1 x rs 2+1")
        if (result := result_of(CODED, redundancy={"code": code}, **wide))
    }
    # Of the product each piece is made within its row of three, the shorter of its lines.
    assert gathered == {
        "copies 3": 1.0,
        "rs 8+3": 8.0,
        "lrc 8+5 local 4": 4.0,
        "product rs 3+1 x rs 2+1": 2.0,
    }


def test_decoding_takes_its_time() -> None:
    free, slow = (
        real(result_of(CODED, redundancy={"code": "rs 4+2", "coding": coding}), "rebuild_seconds")
        for coding in ("none", "10 MB/s")
    )
    # A server decodes some 150 / 7 pieces of four times 16 MiB at 10 MB/s: over a minute.
    assert slow > free + 60


def test_reads_of_groups_come_near_the_analytic_rate() -> None:
    system = system_of(STREAMED, faults=None, **FULL, **LONG)
    found, rates = simulate(system, 1), analytic_rates(system)
    assert rates is not None
    # Waits at ports leave a little of the rate unused; no window can go above it by more than what
    # was under way when it began, which is 8 stripes at each of 24 ports.
    excess = 8 * 24 * 4 * 16384 / 4e-3
    assert 0.85 * rates.read < real(found, "read_bytes_per_second") < rates.read + excess
    assert found.metrics["analytic_read_bytes_per_second"] == rates.read
    assert found.metrics["rebuild_seconds"] is None
    assert found.stripe_groups["is_rebuilding"].to_pylist() == [False, False]
    by_group = sum(found.stripe_groups["read_bytes_per_second"].to_pylist())
    assert by_group == pytest.approx(real(found, "read_bytes_per_second"))


def test_lanes_keep_their_shares_where_both_classes_wait() -> None:
    lanes = {"lanes": {"clients": 0.75}, "faults": [{"corrupt": {"groups": 2}}]}
    found = result_of(STREAMED, **lanes, **FULL, **LONG)
    rebuild = real(found, "rebuild_bytes_per_second")
    expected = real(found, "analytic_rebuild_bytes_per_second")
    # What one class leaves for a moment the other takes, so that shares hold but roughly here; the
    # core's own tests hold ports whose lanes never run empty to a hundredth.
    assert 0.75 < rebuild / expected < 1.35
    rows = {(row["part"], row["class"]): row for row in found.lanes.to_pylist()}
    assert rows["links", "rebuild"]["share"] == 0.25
    assert rows["links", "bursts"]["bytes"] == rows["devices", "bursts"]["bytes"] == 0
    assert all(row["borrowed_bytes"] <= row["bytes"] for row in rows.values())
    lent, borrowed = (
        {part: sum(rows[part, one][name] for one in CLASSES) for part in ("links", "devices")}
        for name in ("lent_bytes", "borrowed_bytes")
    )
    assert lent == borrowed
    assert found.metrics["lent_bytes"] == lent["links"] > 0


def test_strict_priority_leaves_clients_what_they_have_alone() -> None:
    alone = result_of(STREAMED, lanes=None, faults=None, **FULL, **LONG)
    both = {"faults": [{"corrupt": {"groups": 2}}]}
    first = result_of(STREAMED, lanes={"order": "priority"}, **both, **FULL, **LONG)
    last = result_of(
        STREAMED,
        lanes={"order": "priority", "classes": ["rebuild", "clients", "bursts"]},
        **both,
        **FULL,
        **LONG,
    )
    rate = "read_bytes_per_second"
    assert real(first, rate) > 0.9 * real(alone, rate) > real(last, rate)
    made = "rebuild_bytes_per_second"
    assert real(last, made) > 2 * real(first, made)


def test_a_number_of_strips_ends_the_traffic_with_the_rebuild() -> None:
    faults = [{"corrupt": {"groups": 1, "strips": 20}}]
    found = result_of(STREAMED, faults=faults, traffic__duration=None, **FULL)
    # Six servers of the group make 20 strips each.
    assert count(found, "strips_rebuilt") <= 6 * 20
    assert 0 < real(found, "rebuild_seconds") <= real(found, "simulated_seconds")


def test_writes_and_bursts_are_counted_apart() -> None:
    bursts = {"volume": "4 MiB", "every": "1 ms"}
    found = result_of(
        STREAMED,
        faults=None,
        lanes={"clients": 0.5, "bursts": 0.25},
        traffic__streams={"window": 2, "rate": "50 MB/s", "bursts": bursts},
        traffic__reads=0.0,
        traffic__duration="3 ms",
        **FULL,
    )
    assert (found.metrics["read_requests"], found.metrics["read_bytes_per_second"]) == (0, 0.0)
    # Twelve servers are asked for 50 MB/s each.
    assert real(found, "write_bytes_per_second") == pytest.approx(600e6, rel=0.25)
    assert real(found, "burst_bytes_per_second") > 0
    assert 0 < real(found, "mean_burst_delay_seconds") < 3e-3


def test_streams_over_objects_read_degraded_stripes_beside_the_rebuild() -> None:
    keys = {"cluster__fabric": {"routers": 2}, "traffic": {"streams": {"window": 4}, "reads": 1.0}}
    found = result_of(CODED, **keys)
    expected = estimate(system_of(CODED, **keys))
    # A stripe is an object here. What clients get while they share every disk with the rebuild is
    # expected as if they were alone, and so up to a few times too high.
    assert 0.5 < expected["requests"] / count(found, "requests_issued") < 5
    assert count(found, "degraded_reads") > 0
    assert count(found, "read_requests") >= count(found, "degraded_reads")
    assert real(found, "rebuild_seconds") > 0
    assert found.stripe_groups.num_rows == 0


def test_a_sweep_of_lanes_fills_its_tables(tmp_path: Path) -> None:
    study = Study.from_dict(
        changed(STREAMED, study={"sweep": {"lanes.clients": [0.9, 0.5]}}, **FULL)
    )
    execute(study, tmp_path / "run")
    results = Results.open(tmp_path / "run")
    assert results.runs["lanes.clients"].to_pylist() == [0.9, 0.5]
    shares = [row["share"] for row in results.lanes.to_pylist() if row["class"] == "rebuild"]
    assert sorted(set(shares)) == pytest.approx([0.1, 0.5])
    assert results.stripe_groups.num_rows == 4
    assert json.loads((tmp_path / "run" / "provenance.json").read_text())["schema_version"] == 11


def test_a_run_costs_about_what_was_expected() -> None:
    system = system_of(STREAMED, **FULL, **LONG)
    expected, found = estimate(system), simulate(system, 1)
    # Good to a factor of two, as every estimate; requests are stripes and strips together, of the
    # warm-up and the window, where the core counts those of the window alone.
    done = count(found, "requests_completed") + count(found, "strips_rebuilt")
    assert 0.5 < expected["requests"] / (done * 5 / 4) < 2
    assert 0.5 < expected["events"] / count(found, "events") < 2


def test_the_core_judges_a_code_before_anything_runs() -> None:
    # No rule of its numbers refuses this code, but there are 1.5e17 ways to lose 23 of its pieces.
    code = {"code": "lrc 40+24 local 20"}
    study = Study.from_dict(changed(CODED, cluster__servers=64, redundancy=code))
    with pytest.raises(ConfigError, match=r"redundancy\.code: .*take fewer pieces"):
        validate_runs(study.runs())


LAYOUTS: dict[str, dict[str, Any]] = {
    "groups": {"algorithm": "groups", "group_size": 16},
    "spares": {"algorithm": "groups", "group_size": 16, "spare": "dedicated", "spares": 2},
    "placement groups": {"algorithm": "crush", "placement_groups": 128},
    "objects by crush": {"algorithm": "crush", "placement_groups": "none"},
    "ring": {"algorithm": "ring", "ring_points": 64},
}


@pytest.mark.parametrize(
    "code", ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3", "product rs 2+1 x rs 2+1"]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_failures_at_once_lose_exactly_what_placement_says(code: str, layout: str) -> None:
    # Rule: nothing is rebuilt before the last of the servers fails, so the objects that the
    # simulation gives up are those whose pieces on working servers the code does not survive,
    # counted from placement alone; and every lost piece of the others is made anew.
    failed = [0, 1, 2, 3, 4, 5]
    description = {
        "cluster": {"servers": 32},
        "population": {"file_size": "256 KiB", "files": 600},
        "placement": LAYOUTS[layout],
        "redundancy": {"code": code},
        "faults": [{"fail": {"servers": [f"server.{number}" for number in failed]}}],
    }
    run = Study.from_dict(description).runs()[0]
    counted = lost_objects(run.system, failed, seed=run.seed)
    if layout == "groups":
        # Six of sixteen members are enough to lose some of 300 objects of any of these codes.
        assert counted.unrecoverable_objects > 0
    found = simulate(run.system, run.seed).metrics
    assert found["affected_objects"] == counted.affected_objects > 0
    assert found["unrecoverable_objects"] == counted.unrecoverable_objects
    assert found["unrecoverable_bytes"] == counted.unrecoverable_bytes


def rows_of(name: str, overrides: Sequence[str]) -> list[dict[str, Any]]:
    """The metrics of every run, with what is swept."""
    study = shipped_study(name, ["study.seeds=1", *overrides])
    return [{**run.swept, **simulate(run.system, run.seed).metrics} for run in study.runs()]


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
