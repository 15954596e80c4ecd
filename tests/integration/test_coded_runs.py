"""Studies of codes, lanes and streams from the file to the tables, held to what follows by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.estimate import estimate
from resilver.reproduce.evidence import shipped_study
from resilver.simulate import RunResult, lost_objects
from resilver.spec import Study
from resilver.spec.toml import write_toml
from resilver.study import Results, execute, simulate
from tests.build import CODED, STREAMED, changed, system_of
from tests.reference.compare import real
from tests.terminal import output, written

FULL = {"cluster__fabric__topology": "leaf spine 4x6 hosts 6 entries 6"}


def result_of(base: dict[str, Any], seed: int = 1, **keys: Any) -> RunResult:
    return simulate(system_of(base, **keys), seed)


def count(found: RunResult, name: str) -> int:
    value = found.metrics[name]
    assert isinstance(value, int), name
    return value


def test_decoding_takes_its_time() -> None:
    free, slow = (
        real(result_of(CODED, redundancy={"code": "rs 4+2", "coding": coding}), "rebuild_seconds")
        for coding in ("none", "10 MB/s")
    )
    # A server decodes some 150 / 7 pieces of four times 16 MiB at 10 MB/s: over a minute.
    assert slow > free + 60


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


GONE = {"part": {"server": ["server.3"]}}
BUSY = {"corrupt": {"groups": [0], "window": 48}}
OF_LRC = {"corrupt": {"groups": [0], "window": 48, "code": "lrc 8+5 local 4"}}
OF_TWENTY_FOUR = {
    "cluster": {
        "servers": 24, "ports": 2, "device": {"service": "1 ns"},
        "fabric": {
            "model": "switched", "topology": "leaf_spine 2x24 hosts 24 entries 24",
            "routing": "deterministic", "link_rate": "100 Gb/s", "packet_size": "32 KiB",
        },
    },
    "placement": {"algorithm": "groups", "group_size": 24},
    "redundancy": {"code": "rs 8+3", "strip": "64 KiB"},
    "lanes": {"clients": 0.75},
    "traffic": {"streams": {"window": 6}, "warm_up": "5 ms", "duration": "8 ms"},
}  # fmt: skip
"""A group of a burst buffer, as Gonsiorowski et al. (2017) have it."""


@pytest.mark.parametrize(("kind", "degraded"), [("read", 7 / 23), ("write", 0.0)])
def test_a_group_without_a_server_has_the_rates_of_the_others(kind: str, degraded: float) -> None:
    """Each server that is left reads, writes and rebuilds as before; who is gone has no clients.

    Of a stripe's eight data strips its coordinator has one, and the other seven are at any of 23
    servers, one of which is gone: of 23 reads 7 are degraded.
    """
    rates = []
    for faults in ([BUSY], [GONE, BUSY]):
        found = result_of(OF_TWENTY_FOUR, faults=faults, traffic__reads=float(kind == "read"))
        assert found.metrics["requests_lost"] == 0
        rate, of_model = (real(found, f"{one}{kind}_bytes_per_second") for one in ("", "analytic_"))
        assert rate == pytest.approx(of_model, rel=0.01)
        assert real(found, "rebuild_bytes_per_second") == pytest.approx(
            real(found, "analytic_rebuild_bytes_per_second"), rel=0.05
        )
        rates.append(rate)
    assert rates[1] / rates[0] == pytest.approx(23 / 24, rel=0.01)
    share = count(found, "degraded_reads") / count(found, "requests_completed")
    assert share == pytest.approx(degraded, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "faults", "share", "gathered"),
    [("read", [], 1.0, 8), ("read", [OF_LRC], 0.75, 4), ("write", [BUSY], 0.75, 8)],
)
def test_flash_holds_a_group_to_what_its_devices_read_and_write(
    kind: str, faults: list[dict[str, Any]], share: float, gathered: int
) -> None:
    """Two ports of 100 Gb/s pass 25 GB/s, and a drive reads a strip in 9.8 us: 6.7 GB/s."""
    keys = {"cluster__device": "nvme-mixed-use", "traffic__reads": float(kind == "read")}
    times = {"traffic__warm_up": "40 ms", "traffic__duration": "20 ms"}
    found = result_of({**OF_TWENTY_FOUR, "faults": faults}, **keys, **times)
    reading, writing = 0.415e-6 + 65536 / 7e9, 2.894e-6 + 65536 / 4.3e9
    of_model = 24 * 65536 * share / (reading if kind == "read" else writing * 11 / 8)
    assert real(found, f"analytic_{kind}_bytes_per_second") == pytest.approx(of_model)
    assert real(found, f"{kind}_bytes_per_second") == pytest.approx(of_model, rel=0.03)
    if faults:
        made = 24 * 65536 * 0.25 / (gathered * reading + writing)
        assert real(found, "analytic_rebuild_bytes_per_second") == pytest.approx(made)
        assert real(found, "rebuild_bytes_per_second") == pytest.approx(made, rel=0.05)


@pytest.mark.parametrize(("rate", "is_fast"), [(4e9, True), (2.5e9, False)])
def test_what_bursts_write_is_drained_at_a_rate(rate: float, is_fast: bool) -> None:
    """Four bursts of 1.5 GiB, 20 ms apart, are 80.5 GB/s; 24 servers drain at theirs."""
    volume, every, first, end = 1.5 * 2**30, 0.02, 0.001, 0.08
    bursts = {"volume": "1.5 GiB", "every": "20 ms", "first": "1 ms", "drain": f"{rate:.0f} B/s"}
    keys = {"traffic__streams": {"window": 6, "rate": "0 B/s", "bursts": bursts}}
    times = {"traffic__warm_up": "0 s", "traffic__duration": "80 ms", "traffic__reads": 0.0}
    lanes = {"clients": 0.5, "bursts": 0.5}
    found = result_of({**OF_TWENTY_FOUR, "faults": [], "lanes": lanes}, **keys, **times)
    drained, left = real(found, "drain_bytes_per_second") * end, count(found, "undrained_bytes")
    written = real(found, "burst_bytes_per_second") * end
    assert left == pytest.approx(written - drained, abs=1.0)
    # 48 windows of 6 stripes of 512 KiB are under way at most, and whole bursts are a little more.
    assert written == pytest.approx(4 * volume, rel=0.02)
    # Nothing can be drained before the first 6 of the 64 stripes of each window are written.
    beside = 24 * rate * real(found, "mean_burst_delay_seconds") * 58 / 64
    if is_fast:
        assert left == 0
        most = volume - beside
    else:
        assert left == pytest.approx(4 * volume - 24 * rate * (end - first), rel=0.05)
        most = 4 * volume - 24 * rate * 3 * every - beside
    assert count(found, "undrained_bytes_max") == pytest.approx(most, rel=0.05)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "A burst is drained before the next; at most 921.5 MiB waits."),
        # The run ends before its only burst is drained, which says nothing of the next.
        ({"duration": "12 ms"}, "The run ends before the second burst, with "),
        ({"duration": "5 ms"}, "No burst is written before the run ends."),
        ({"duration": "20 ms"}, "A burst is drained before the next; at most "),
        # A strip read in 20.5 us is 3.2 GB/s, and a burst in 20 ms is 3.36 GB/s of each server. The
        # rest, 24 x 0.16 GB/s x 20 ms, waits at the second burst: far less than a burst.
        (
            {"device": {"read_service": "20.5 us", "write_service": "1 ns"}, "duration": "25 ms"},
            "A burst is not drained before the next, though the drain's rate allows it: up to ",
        ),
        (
            {"drain": "2.5 GB/s"},
            "is drained before the next: the backlog grows by 391.6 MiB a burst.",
        ),
        (
            {"device": {"read_service": "22 us", "write_service": "1 ns"}, "duration": "25 ms"},
            "A burst takes 21.3 ms, longer than the 20.0 ms between bursts.",
        ),
    ],
)
def test_the_answer_says_whether_bursts_are_written_and_drained_in_time(
    changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    rate, duration = changes.get("drain", "4 GB/s"), changes.get("duration", "80 ms")
    bursts = {"volume": "1.5 GiB", "every": "20 ms", "first": "1 ms", "drain": rate}
    streams = {"window": 6, "rate": "0 B/s", "bursts": bursts}
    traffic = {"streams": streams, "reads": 0.0, "duration": duration}
    cluster = {**OF_TWENTY_FOUR["cluster"]}
    cluster["device"] = changes.get("device", cluster["device"])
    study = {**OF_TWENTY_FOUR, "cluster": cluster, "traffic": traffic, "lanes": None}
    text = write_toml({key: value for key, value in study.items() if value is not None})
    words = ("run", written(tmp_path / "study.toml", text), "-o", tmp_path / "runs")
    assert says in " ".join(output(*words).split())


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
    assert json.loads((tmp_path / "run" / "provenance.json").read_text())["schema_version"] == 15


def test_the_core_judges_a_code_before_anything_runs() -> None:
    # No rule of its numbers refuses this code, but there are 1.5e17 ways to lose 23 of its pieces.
    code = {"code": "lrc 40+24 local 20"}
    with pytest.raises(ConfigError, match=r"redundancy\.code = .*take fewer pieces"):
        Study.from_dict(changed(CODED, cluster__servers=64, redundancy=code))


LAYOUTS: dict[str, dict[str, Any]] = {
    "groups": {"algorithm": "groups", "group_size": 16},
    "spares": {"algorithm": "groups", "group_size": 16, "spare": "dedicated", "spares": 2},
    "placement groups": {"algorithm": "crush", "placement_groups": 128},
    "objects by crush": {"algorithm": "crush", "placement_groups": "none"},
    "ring": {"algorithm": "ring", "ring_points": 64},
}


CODES = ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3", "product rs 2+1 x rs 2+1"]


@pytest.mark.parametrize(
    ("layout", "code"),
    [*(("groups", code) for code in CODES), *zip([*LAYOUTS][1:], CODES[1:], strict=True)],
)
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
