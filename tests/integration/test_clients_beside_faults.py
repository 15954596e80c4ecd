"""What clients get before, during and after a fault, by the whole command."""

import re
from pathlib import Path

import pytest

from tests.integration.study_runs import study_rows, study_text
from tests.terminal import output, texts, with_page

STUDY = study_text("busy")
MIB = 2**20


def test_clients_get_what_a_rebuild_leaves(tmp_path: Path) -> None:
    sweep = 'study.sweep={ "recovery.bandwidth" = ["100 MiB/s", "30 MiB/s", "10 MiB/s"] }'
    rates = []
    for row in study_rows(tmp_path, STUDY, sweep):
        # 12,000 a second before the fault. During it eleven devices are left, and each MiB that is
        # rebuilt is a read and a write of one of them. Chance gives servers unequal shares, whence
        # up to 5 % are idle.
        before = row["before_read_bytes_per_second"] / MIB
        assert before == pytest.approx(12_000, rel=0.05)
        rebuilt = row["rebuilt_bytes"] / MIB / row["during_seconds"]
        during = row["during_read_bytes_per_second"] / MIB
        assert during == pytest.approx(11_000 - 2 * rebuilt, rel=0.05)
        assert row["during_before_throughput_ratio"] == pytest.approx(during / before)
        # The window is of the three periods, of which the first is of the study and the second of
        # the rebuild.
        assert row["before_seconds"] == pytest.approx(2.0)
        assert row["during_seconds"] == pytest.approx(row["rebuild_seconds"], rel=0.01)
        counts = [row[f"{one}_requests_completed"] or 0 for one in ("before", "during", "after")]
        assert sum(counts) == row["requests_completed"]
        # Who waited for the server that failed asked again elsewhere, and nothing is lost.
        assert row["requests_lost"] == row["requests_hanging"] == 0 < row["requests_retried"] <= 600
        rates.append(during)
    assert rates == sorted(rates), "a slower rebuild leaves clients no less"


def test_a_silent_failure_costs_time_outs_or_hangs(tmp_path: Path) -> None:
    silent = 'faults=[{ at = "2.5 s", fail = { disks = ["server.4"] } }]'
    (row,) = study_rows(tmp_path, STUDY, silent, 'traffic.timeout="1 s"')
    assert row["during_requests_lost"] > 500 and row["before_requests_lost"] == 0
    assert row["requests_hanging"] == 0 and row["after_seconds"] is None
    # Without a time-out each of the 600 comes to the dead disk at last, and nothing answers it.
    for text in told(tmp_path, silent):
        assert "600 requests hang at the end" in text
        assert "No request is lost" not in text


def told(folder: Path, *changes: str) -> tuple[str, str]:
    """What the terminal says of the study with these keys changed, and what its page does."""
    (folder / "clients.toml").write_text(STUDY, encoding="utf-8")
    flags = [word for change in changes for word in ("--set", change)]
    done = output("run", "clients.toml", "-o", "told", *flags, cwd=folder)
    _, page = with_page(folder, "report", folder / "told")
    return " ".join(done.split()), " ".join(page.split())


def test_the_terminal_and_the_page_lead_with_the_time_of_the_rebuild(tmp_path: Path) -> None:
    for text in told(tmp_path, 'recovery.bandwidth="30 MiB/s"'):
        assert re.search(
            r"Clients get \S+ GiB/s during the rebuild, \d+ % of the \S+ GiB/s before", text
        )
        assert "No request is lost. " in text and "retried after" in text
        assert "Goodput during faults" in text and "Goodput, whole run" in text
    slow = (
        'faults=[{ at = "1 s", part = { servers = ["server.4"] }, health = 0.1, until = "5.5 s" }]'
    )
    (tmp_path / "slow").mkdir()
    lead, _ = told(tmp_path / "slow", slow)
    assert "during the faults" in lead and "during the rebuild" not in lead


def test_a_rebuild_that_clients_starve_ends_with_what_would_help(tmp_path: Path) -> None:
    """Reads that fill each device pass every write of the rebuild, which once ran on for ever."""
    study = """
    [cluster]
    servers = 4
    queue = "reads_first"
    device = { service = "1 ms" }
    [population]
    file_size = "4 MiB"
    files = 60
    [redundancy]
    replicas = 2
    [traffic]
    outstanding = 600
    request_size = "64 KiB"
    reads = 1.0
    [[faults]]
    at = "1 s"
    fail = { servers = ["server.2"] }
    """
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    _, said = texts("run", "study.toml", "-o", "starved", cwd=tmp_path, code=2)
    for words in ("cluster.queue: a device served 1048576 requests", 'use queue = "fifo"'):
        assert words in said
    # A share of the devices, as the answer says, lets it end.
    words = ("--set", "lanes={ clients = 0.9 }")
    assert "fully redundant" in output("run", "study.toml", "-o", "shared", *words, cwd=tmp_path)
