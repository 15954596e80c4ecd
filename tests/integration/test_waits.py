"""What the last device waits for, of systems with one bottleneck each, and how disks seek."""

import re
from html import unescape
from math import exp
from pathlib import Path
from typing import Any

import pytest

from tests.integration.study_runs import study_row, study_text, table_rows
from tests.terminal import command, output

STUDY = study_text("waiting")
FAST = 'cluster.device={ service = "0.01 ms" }'


def run_of(folder: Path, *changes: str, study: str = STUDY) -> tuple[dict[str, Any], Any]:
    """The one run of the study with these keys changed, and the rows of its table of limits."""
    out = f"out-{len(list(folder.iterdir()))}"
    return study_row(folder, study, *changes, out=out), table_rows(folder, "limits", out)


def limit_of(limits: list[dict[str, Any]]) -> dict[str, Any]:
    """The one row that is the limit, which comes first."""
    assert [row["is_limit"] for row in limits] == [True] + [False] * (len(limits) - 1)
    return limits[0]


def test_its_own_disk_and_a_slow_one(tmp_path: Path) -> None:
    row, limits = run_of(tmp_path)
    limit = limit_of(limits)
    assert (limit["kind"], limit["name"]) == ("writing", limit["destination"])
    assert limit["busy_fraction"] > 0.95 and limit["waited_fraction"] > 0.5
    assert limit["window_seconds"] == pytest.approx(row["rebuild_seconds"], abs=1e-11)
    assert row["waited_for"] == f"{limit['name']}'s own disk"
    # Nothing is waited for longer than there was time.
    assert all(0 <= one["waited_fraction"] <= 1 for one in limits)
    of_parts = [one["waited_fraction"] for one in limits if one["kind"] != "receive_memory"]
    assert sum(of_parts) <= 1 + 1e-9
    # A slow disk.
    slow = 'faults=[{ fail = { servers = ["server.4"] } }, '
    slow += '{ part = { servers = ["server.7"] }, health = 0.05 }]'
    row, limits = run_of(tmp_path, slow)
    limit = limit_of(limits)
    # Whoever ends last, its own work or its sources' lies at the one disk of a twentieth the speed.
    assert limit["kind"] in ("reading", "writing") and limit["name"] == "server.7"
    assert limit["busy_fraction"] > 0.99 and "server.7's" in row["waited_sentence"]


def test_the_port_of_a_host(tmp_path: Path) -> None:
    row, limits = run_of(tmp_path, study=study_text("ports"))
    limit = limit_of(limits)
    assert limit["kind"] in ("sending", "receiving") and limit["name"] in ("host.0", "host.2")
    assert limit["busy_fraction"] > 0.9 and limit["destinations"] >= 4
    assert re.search(r"for host\.[02]'s port, \d+ % busy", row["waited_sentence"])


@pytest.mark.parametrize("topology", ["leaf spine 4x1 hosts 6", "leaf spine 4x2 hosts 6"])
def test_the_network_between_racks(tmp_path: Path, topology: str) -> None:
    # Six servers of a rack share one or two uplinks of the rate of each one's own link, and all
    # copies of an object lie in different racks, so that every byte of the rebuild takes one.
    spines = int(topology.split("x")[1][0])
    row, limits = run_of(
        tmp_path,
        "cluster.servers=24",
        "cluster.racks=4",
        'cluster.device={ service = "0.2 ms" }',
        f'cluster.fabric={{ model = "switched", topology = "{topology}", link_rate = "10 Gb/s" }}',
        'placement.failure_domain="rack"',
    )
    limit = limit_of(limits)
    assert limit["kind"] == "link" and limit["busy_fraction"] > 0.85
    if limit["name"] is not None:
        # Leaves are switches 0 to 3, and spines those behind them: no link of a server.
        ends = limit["name"].split(" to ")
        assert len(ends) == 2 and any(end in ends for end in (f"switch.{4 + n}" for n in range(2)))
        assert "for the link switch." in row["waited_sentence"]
    else:
        assert limit["parts"] > 1 and spines > 1


def test_the_bandwidth_of_recovery(tmp_path: Path) -> None:
    row, limits = run_of(tmp_path, 'recovery.bandwidth="20 MB/s"')
    limit = limit_of(limits)
    assert (limit["kind"], limit["name"]) == ("bandwidth", None)
    assert limit["waited_fraction"] > 0.95 and "recovery.bandwidth" in row["waited_sentence"]


def test_the_memory_of_a_destination(tmp_path: Path) -> None:
    # One buffer at a time takes a read, a message and a write: 4 ms, 0.3 ms and 4 ms, and waits for
    # others' in between. No disk can be busy all the time of it.
    row, limits = run_of(tmp_path, 'recovery.receive_memory="1 MiB"')
    limit = limit_of(limits)
    assert limit["kind"] == "receive_memory" and limit["buffers"] == pytest.approx(1.0, rel=0.02)
    assert 0.008 < limit["buffer_seconds"] < 0.016 and limit["waited_fraction"] > 0.9
    assert row["waited_sentence"].startswith("nothing is busy all the time: each buffer of server.")
    assert "recovery.receive_memory allows 1.0 under way" in row["waited_sentence"]
    # Truly so: more memory is faster, until a disk is busy all the time.
    more, _ = run_of(tmp_path, 'recovery.receive_memory="4 MiB"')
    assert more["rebuild_seconds"] < 0.85 * row["rebuild_seconds"]
    _, unpipelined = run_of(tmp_path, "recovery.pipelining=false")
    assert limit_of(unpipelined)["kind"] == "pipelining"


def test_the_memory_of_a_source(tmp_path: Path) -> None:
    # A source reads and sends one buffer at a time, 1 ms and 0.9 ms: neither is busy all the time.
    network = "leaf spine 3x4 hosts 4"
    row, limits = run_of(
        tmp_path,
        'recovery.send_memory="1 MiB"',
        'cluster.device={ service = "1 ms" }',
        f'cluster.fabric={{ model = "switched", topology = "{network}", link_rate = "10 Gb/s" }}',
    )
    limit = limit_of(limits)
    assert limit["kind"] == "send_memory" and limit["busy_fraction"] is None
    assert limit["waited_fraction"] > 0.5 and "send memor" in row["waited_sentence"]


def test_computation(tmp_path: Path) -> None:
    row, limits = run_of(tmp_path, 'redundancy={ code = "rs 4+2", coding = "60 MB/s" }')
    limit = limit_of(limits)
    assert (limit["kind"], limit["name"]) == ("coding", limit["destination"])
    assert limit["busy_fraction"] > 0.95 and limit["waited_fraction"] > 0.8
    assert f"for {limit['name']}'s computation" in row["waited_sentence"]


def test_lost_messages(tmp_path: Path) -> None:
    # A leaf is gone from 200 ms to 1 s; what it lost is asked for again 3 s later.
    faults = 'faults=[{ fail = { servers = ["server.4"] } }, '
    faults += '{ at = "200 ms", fail = { switches = ["switch.0"] }, until = "1 s" }]'
    network = "leaf spine 3x2 hosts 4"
    row, limits = run_of(
        tmp_path,
        faults,
        'recovery.retry_after="3 s"',
        "recovery.attempts=5",
        'cluster.device={ service = "1 ms" }',
        f'cluster.fabric={{ model = "switched", topology = "{network}", link_rate = "10 Gb/s" }}',
    )
    assert row["rebuild_seconds"] > 3 and limit_of(limits)["kind"] == "loss"


CLIENTS = 'traffic={ outstanding = 200, request_size = "1 MiB", reads = 1.0, duration = "%s" }'


def test_clients_and_lanes_of_disks_and_of_a_port(tmp_path: Path) -> None:
    # Clients keep all disks busy; without lanes each is served in its turn.
    row, limits = run_of(tmp_path, CLIENTS % "4 s")
    limit = limit_of(limits)
    assert limit["kind"] in ("reading", "writing") and limit["busy_fraction"] > 0.99
    assert limit["rebuild_fraction"] < 0.6 and limit["lane_share"] is None
    assert "of which the rebuild has" in row["waited_sentence"]
    laned, limits = run_of(tmp_path, CLIENTS % "4 s", "lanes={ clients = 0.9, devices = true }")
    limit = limit_of(limits)
    # Of a disk that is always busy, recovery has its tenth while clients fill the rest.
    assert limit["lane_share"] == pytest.approx(0.1)
    assert 0.08 < limit["rebuild_fraction"] < 0.2
    assert laned["rebuild_seconds"] > 2 * row["rebuild_seconds"]
    assert "for the rebuild's lane at server." in laned["waited_sentence"]
    # The lane of a port.
    row, limits = run_of(tmp_path, CLIENTS % "500 ms", "lanes={ clients = 0.95 }", FAST)
    limit = limit_of(limits)
    assert limit["kind"] in ("sending", "receiving")
    assert limit["lane_share"] == pytest.approx(0.05)
    assert "the rebuild's lane at server." in row["waited_sentence"]


def test_a_controller_in_the_way(tmp_path: Path) -> None:
    row, limits = run_of(tmp_path, study=study_text("behind"))
    limit = limit_of(limits)
    assert limit["level"] == "controller" and limit["name"].startswith("controller.")
    assert limit["busy_fraction"] > 0.9 and "for controller." in row["waited_sentence"]


def test_the_lead_names_the_last_of_the_median_run_as_the_detail_does(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    drawn = "faults=[{ fail = { servers = 1 } }]"
    words = ("run", "study.toml", "-o", "run", "--set", drawn, "--set", "study.seeds=5")
    done = output(*words, cwd=tmp_path)
    # Which server is the last depends on which one failed; of five the third is the median.
    from resilver.study import Results

    results = Results.open(tmp_path / "run")
    median = sorted(results.to_records(), key=lambda row: row["rebuild_seconds"])[2]
    rows = [row for row in results.limits.to_pylist() if row["run"] == median["run"]]
    last = limit_of(rows)["destination"]
    assert len({row["destination"] for row in results.limits.to_pylist()}) > 1
    said = " ".join(done.split())
    assert f"{last}, the last to finish after" in said
    assert f"(seed {median['seed']}, the median run)" in said
    command("report", "run", cwd=tmp_path)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"{last} finishes last" in unescape(page)


# A buffer of 16 MiB by the table of jbod10-sata: overhead and transfer, and the seek besides.
READ, WRITE = 23.67e-6 + 16 / 1542.1, 29.67e-6 + 16 / 1511.7
SEEKS = 11.7003e-3 + 6.1088e-3
BUFFERS_AN_OBJECT = 4


def seeking(survivors: int) -> float:
    """The share of buffers that seek: the fixed point of who comes between two of one object."""
    share = 1.0
    for _ in range(50):
        turn = READ + WRITE + share * SEEKS
        others = (2 - 1 / (survivors - 1)) / turn
        near, far = exp(-others * (READ + WRITE) / 2), exp(-others * turn)
        in_row = far / (1 - near + far)
        share = 1 - (1 - 1 / BUFFERS_AN_OBJECT) * in_row
    return share


@pytest.mark.parametrize(("servers", "files"), [(4, 1600), (16, 4800)])
def test_a_rebuild_seeks_for_seven_buffers_of_ten(servers: int, files: int, tmp_path: Path) -> None:
    text = study_text("seeking", cluster__servers=servers, population__files=files)
    row = study_row(tmp_path, text)
    busy = sum(one["device_busy_seconds"] for one in table_rows(tmp_path, "servers"))
    buffers = row["rebuilt_bytes"] / 2**24
    # What the disks worked beyond reading and writing each buffer once is seeks.
    share = (busy / buffers - READ - WRITE) / SEEKS
    assert 1 / BUFFERS_AN_OBJECT < share < 1.0
    assert share == pytest.approx(seeking(servers - 1), abs=0.08)
    if servers == 4:
        # Three destinations have about equally much, so that the disks are busy to the end.
        rate = 3 / 64 / (READ + WRITE + seeking(3) * SEEKS) * 2**30
        assert row["aggregate_bytes_per_second"] == pytest.approx(rate, rel=0.06)
    # 0.51 to 0.56 GiB/s a survivor, which the paper's line says of 4 servers, takes fewer seeks.
    paper = [(1 / 64 / rate - READ - WRITE) / SEEKS for rate in (0.51, 0.56)]
    assert max(paper) < 0.55 < share
