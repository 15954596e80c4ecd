"""Clients over a network, by the whole command: counts that add up, names, bad input, progress."""

from pathlib import Path

import pytest

from resilver.columns import METRICS
from resilver.study import Results
from tests.integration.study_runs import study_rows, study_text
from tests.terminal import json_output, output

CLIENTS = study_text("clients")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("served")
    (folder / "clients.toml").write_text(CLIENTS, encoding="utf-8")
    rows = json_output("run", "clients.toml", "-o", "a", cwd=folder)
    assert len(rows) == 6
    assert all(set(METRICS.names) <= set(row) for row in rows)
    return Results.open(folder / "a")


def test_what_each_server_did_adds_up_to_the_run(served: Results) -> None:
    runs = served.to_pandas("runs").set_index("run")
    servers = served.to_pandas("servers").groupby("run", sort=False)
    for column in ("requests_completed", "write_backlog_requests"):
        assert (servers[column].sum() == runs[column]).all(), column
    # What disks have read and what clients got of it differ by what was on its way when the window
    # began and ended, of which there are never more than are outstanding.
    assert (abs(servers["requests_read"].sum() - runs["read_requests"]) <= 60).all()
    # What disks wrote was acknowledged before, within the window or as backlog of the warm-up.
    written = servers["requests_written"].sum() + runs["write_backlog_requests"]
    assert (written >= runs["write_requests"]).all()
    assert (runs["read_requests"] + runs["write_requests"] == runs["requests_completed"]).all()
    # A closed loop of 60 has at most 60 under way, and its window is the second that was asked for.
    assert (runs["requests_outstanding"] <= 60).all()
    assert runs["statistics_seconds"].to_list() == pytest.approx([1.0] * 6)


def test_what_failed_is_named_and_marked_and_alone_loses(served: Results) -> None:
    runs = served.to_pandas("runs")
    assert list(runs["faults"].drop_duplicates()) == ["none", "2 disks", "8 links + 1 switch"]
    by_case = runs.groupby("faults", sort=False)
    for column in ("requests_lost", "packets_dropped"):
        assert (by_case.get_group("none")[column] == 0).all(), column
    assert (by_case.get_group("2 disks")["requests_lost"] > 0).all()
    assert set(by_case.get_group("none")["failed_links"].dropna()) <= {""}
    assert {len(text.split(",")) for text in by_case.get_group("2 disks")["failed_disks"]} == {2}
    links = served.to_pandas("links").set_index("run")
    for _, run in by_case.get_group("8 links + 1 switch").iterrows():
        assert len(run["failed_links"].split(",")) == 8
        failed = links.loc[run["run"]].query("failed")
        names = set(failed["from_name"] + "-" + failed["to_name"])
        assert set(run["failed_links"].split(",")) <= names


def test_the_cost_of_clients_is_told_before(tmp_path: Path) -> None:
    (tmp_path / "clients.toml").write_text(CLIENTS, encoding="utf-8")
    done = output("check", "clients.toml", cwd=tmp_path)
    assert "torus 4x4x4 routers 4" in done
    for heading in ("requests", "packet", "hops", "2 disks"):
        assert heading in done
    assert "to move" not in done


def test_interfaces_are_busy_within_the_window_alone(tmp_path: Path) -> None:
    # Full disks set the pace, so interfaces carry as much in any second, and are busy as long for
    # it: a warm-up before the window changes nothing. Counted with it, ten seconds would add up to
    # ten times as much.
    long, short = (
        row["link_busy_fraction"] / row["throughput_bytes_per_second"]
        for row in study_rows(tmp_path, study_text("interfaces"))
    )
    assert long == pytest.approx(short, rel=0.05)
