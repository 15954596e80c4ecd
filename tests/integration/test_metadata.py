"""Operations on files by the command: the theory of queues, directories, stripes and namespaces.

Tests of drawn requests have a fixed seed; each band is four standard deviations or more, which a
right model leaves once in 16,000 times.
"""

from math import log, sqrt
from pathlib import Path
from typing import Any

import pytest

from tests.integration.study_runs import study_row, study_rows, study_text, table_rows
from tests.terminal import output, written

QUEUE = study_text("queue")
SERVERS = study_text("servers")
MU = 1000.0


# A network of nanoseconds adds nothing that shows. Of n requests of a queue the mean sojourn
# deviates by about sqrt(2 n) / (1 - rho) of a request's: 200,000 at rho = 0.5 by 0.9 % in four
# deviations, and 400,000 at rho = 0.8 by 3.6 %.
@pytest.mark.parametrize(("rate", "seconds", "band"), [(500, 400, 0.009), (800, 500, 0.036)])
def test_poisson_arrivals_at_exponential_times_are_the_queue_m_m_1(
    rate: int, seconds: int, band: float, tmp_path: Path
) -> None:
    arrivals = f'traffic.arrivals={{ poisson = "{rate} /s" }}'
    found = study_row(tmp_path, QUEUE, arrivals, f'traffic.duration="{seconds} s"')
    # W is exponential with the mean 1 / (mu - lambda), so that one in a hundred is ln 100 times it.
    sojourn = 1 / (MU - rate)
    assert found["mean_delay_seconds"] == pytest.approx(sojourn, rel=band)
    assert found["p99_delay_seconds"] == pytest.approx(sojourn * log(100), rel=3 * band)
    count = rate * seconds
    assert abs(found["requests_completed"] - count) < 4 * sqrt(count) + 50


def test_poisson_arrivals_at_fixed_times_are_the_queue_m_d_1(tmp_path: Path) -> None:
    fixed = study_text("queue", 'cluster.device = { distribution = "fixed" }')
    found = study_row(tmp_path, fixed)
    # Pollaczek and Khinchine: half of the wait of M/M/1, 1 / mu (1 + rho / (2 (1 - rho))).
    rho = 500 / MU
    sojourn = (1 + rho / (2 * (1 - rho))) / MU
    assert found["mean_delay_seconds"] == pytest.approx(sojourn, rel=0.006)


def per_second(folder: Path, *settings: str) -> tuple[dict[str, Any], list[float]]:
    """The row of a run of four servers, and what each class completes a second."""
    found = study_row(folder, SERVERS, *settings)
    rows = table_rows(folder, "request_classes")
    return found, [row["requests_completed"] / row["seconds"] for row in rows]


def test_each_operation_has_its_rate_and_its_latency(tmp_path: Path) -> None:
    # Half of the operations take 1 ms, a fourth 2 ms and a fourth 4 ms: 2 ms on average, and four
    # servers do 2,000 a second. Of 64 outstanding each has 16 on average, some at times none.
    _, (stat, create, unlink) = per_second(tmp_path)
    total = stat + create + unlink
    # The closed network of four servers with 64 requests, were its times exponential: 64 / 67.
    assert 2000 * 64 / 67 < total < 2000
    assert stat / total == pytest.approx(0.5, abs=0.02)
    assert create / total == pytest.approx(0.25, abs=0.017)
    rows = table_rows(tmp_path, "request_classes")
    delays = [row["mean_read_delay_seconds"] for row in rows]
    # All wait in the same queues, and an unlink is 3 ms longer at its server than a stat.
    assert delays[2] - delays[0] == pytest.approx(0.003, abs=0.0015)
    # Little: what is outstanding is what completes a second times how long each takes.
    mean = sum(rate * delay for rate, delay in zip((stat, create, unlink), delays, strict=True))
    assert mean == pytest.approx(64, rel=0.01)
    assert all(row["throughput_bytes_per_second"] == 0 for row in rows)


@pytest.mark.parametrize(("directories", "servers"), [(1, 1), (2, 2), (8, 4)])
def test_a_directory_is_on_one_server_whatever_their_number(
    directories: int, servers: int, tmp_path: Path
) -> None:
    _, rates = per_second(tmp_path, f"traffic.directories={directories}")
    # Each server that has a directory does 500 a second, if it never waits for a request.
    assert 0.95 * 500 * servers < sum(rates) < 1.01 * 500 * servers
    busy = [row for row in table_rows(tmp_path, "servers") if row["requests_read"]]
    assert len(busy) == servers


def test_a_stat_asks_the_server_of_each_stripe_too(tmp_path: Path) -> None:
    mix = '[{{ of_requests = 1.0, operation = "stat", stripes = {} }}]'
    for stripes, most in ((0, 4000.0), (1, 4000.0), (8, 1000.0)):
        # Four metadata servers do 4,000 a second, and eight others of 1 ms each 8,000 / stripes.
        folder = tmp_path / str(stripes)
        found = study_row(folder, SERVERS, f"traffic.mix={mix.format(stripes)}")
        rate = found["requests_completed"] / found["statistics_seconds"]
        assert 0.9 * most < rate <= 1.001 * most
        asked = {row["server"]: row["requests_read"] for row in table_rows(folder, "servers")}
        own = sum(count for number, count in asked.items() if number < 4)
        # Of those under way at either end of the window, 64 at the most, a part is counted.
        assert abs(sum(asked.values()) - own - stripes * own) <= 2 * 64 * stripes
        assert abs(own - found["requests_completed"]) <= 64


def test_namespaces_have_servers_of_their_own(tmp_path: Path) -> None:
    study_row(tmp_path, study_text("namespaces"))
    rates = {"home": 0.0, "scratch": 0.0}
    for row in table_rows(tmp_path, "request_classes"):
        rates[row["pool"]] += row["requests_completed"] / row["seconds"]
    # Each has a server of its own: home's does 1,000 a second, and scratch's 4,000, half of which
    # ask two of eight devices of 1,000 a second besides: of 8 outstanding some are there.
    assert rates["home"] == pytest.approx(1000, rel=0.03)
    assert 2500 < rates["scratch"] < 4000


def test_the_bottleneck_is_what_relaxed_lets_clients_complete_more(tmp_path: Path) -> None:
    study = written(tmp_path / "servers.toml", SERVERS)
    short = ("--set", "traffic.duration='5 s'", "--sensitivity")
    text = output("run", study, "-o", "out", *short, cwd=tmp_path)
    assert "operations a second" in text
    assert "The bottleneck: metadata servers (cluster.device). At 2,000 stat /s instead of" in text
    # With few outstanding nobody waits, and twice as many servers' speed is not a bottleneck's.
    text = output(
        "run",
        study,
        "--set",
        "traffic.interval='1 s'",
        "--set",
        "traffic.outstanding=4",
        "-o",
        "idle",
        *short,
        cwd=tmp_path,
    )
    assert "The bottleneck" not in text


FAILOVER = study_text("failover")


def stalls(folder: Path, *settings: str) -> list[dict[str, Any]]:
    """The rows of runs whose server fails over in 2 s."""
    found = study_rows(folder, FAILOVER, *settings)
    # Clients send again what the server had not answered.
    assert all(row["requests_hanging"] == 0 for row in found)
    assert all(row["requests_retried"] == 4 for row in found)
    assert all(row["after_requests_completed"] > 0 for row in found)
    return found


def test_a_server_serves_once_the_last_client_has_reconnected(tmp_path: Path) -> None:
    # Of four clients whose moments are uniform within 5 s the last comes after 5 x 4 / 5 = 4 s on
    # average, with a deviation of 5 sqrt(4 / (25 x 6)) = 0.82 s; of 30 seeds, 0.149 s.
    times = [row["during_seconds"] - 2 for row in stalls(tmp_path)]
    text = output("report", tmp_path / "out", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "page.html" in text and "when clients reconnect" in page
    assert "What is repaired serves once its clients have reconnected, 10.0 s at most." in page
    assert len(times) == 30 and len(set(times)) == 30
    assert min(times) > 0 and max(times) < 5
    assert sum(times) / 30 == pytest.approx(4, abs=4 * 0.149)


@pytest.mark.parametrize(
    ("setting", "stall"),
    [
        # Under imperative recovery all know at once; with one missing the window has to end; and
        # it ends before most of them know.
        ('faults.0.recovery.reconnect="0 s"', 2.0),
        ("faults.0.recovery.missing=1", 12.0),
        ('faults.0.recovery={ window = "1 ms", reconnect = "1000 h", clients = 1 }', 2.001),
    ],
)
def test_a_stall_is_failover_and_at_most_the_window(
    setting: str, stall: float, tmp_path: Path
) -> None:
    for row in stalls(tmp_path, setting, "study.seeds=[1, 2]"):
        assert row["during_seconds"] == pytest.approx(stall, abs=1e-9)


def test_a_storage_server_recovers_too_and_without_it_requests_hang(tmp_path: Path) -> None:
    data = 'traffic.mix=[{ of_requests = 1.0, size = "1 MiB" }]', "traffic.reads=1.0"
    one = 'faults.0.part={ target = ["target.1"] }', "study.seeds=[1]"
    (row,) = stalls(tmp_path, *data, *one, "faults.0.recovery.missing=1")
    assert row["during_seconds"] == pytest.approx(12, abs=1e-9)
    fault = '[{ at = "5 s", part = { target = ["target.1"] }, told = false, repair_after = "2 s" }]'
    (row,) = study_rows(tmp_path / "none", FAILOVER, *data, f"faults={fault}", "study.seeds=[1]")
    assert row["requests_hanging"] == 4
