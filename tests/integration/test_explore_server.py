"""The server of a page: runs as natively, that end with who asked them or by Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from resilver.browser import CoreRequest, cluster_request, system_request
from resilver.errors import ConfigError
from resilver.explore.native import Runs
from resilver.explore.serve import PageServer
from resilver.importers.ceph import read_cluster
from resilver.simulate.from_page import perform
from resilver.whatif.options import Request
from resilver.whatif.plan import plan_of_options
from resilver.whatif.request import prepare
from tests.browser.core_cases import demo
from tests.explore_client import SECONDS, Client, headers, long_request, page_of, wait_for
from tests.front_door import environment
from tests.terminal import answered


@pytest.fixture(scope="module")
def long() -> CoreRequest:
    return long_request()


def test_the_page_is_given_to_who_has_the_token(server: PageServer, client: Client) -> None:
    """By the address that is told; no other page may frame it, and no cache keeps it."""
    path = server.address.removeprefix(f"http://127.0.0.1:{server.port}")
    for host in ("127.0.0.1", "localhost"):
        head = client.head("GET", path, Resilver_Token=None, Host=f"{host}:{server.port}")
        found = client.sent(head)
        assert (found.status, found.body.decode()) == (200, page_of(server.token, "/run"))
        assert "frame-ancestors 'none'" in found.headers["Content-Security-Policy"]
        assert found.headers["Cache-Control"] == "no-store"
        assert found.headers["Referrer-Policy"] == "no-referrer"
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert found.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_run_answers_as_natively(client: Client, small: Path) -> None:
    """A cluster's has the digest that `resilver what-if --json` prints, and tells how far it is."""
    ready = prepare(read_cluster(small), plan_of_options({"fail": ["osd.3"]}), Request())
    *states, last = client.run(cluster_request(ready))
    assert last["state"] == "done"
    assert last["digest"] == answered(small, "--fail", "osd.3")["digest"]
    assert {one["state"] for one in states} <= {"waiting", "healing"}
    run = demo()
    request = system_request(run.system, run.seed)
    last = client.run(request)[-1]
    found = perform(request.kind, request.input, request.maps)
    assert (last["state"], last["digest"]) == ("done", found.digest)
    assert [one["name"] for one in last["tables"]] == list(found.tables)


def test_it_is_told_how_far_a_run_is(client: Client, server: PageServer, long: CoreRequest) -> None:
    """With the keys that the worker of a page has, at least twice a second."""
    with client.begin(long) as connection:
        moments: list[float] = []
        for state in headers(connection):
            moments.append(time.monotonic())
            if state["state"] == "working" and state["events"] > 0 and len(moments) > 10:
                break
    # Frames come each 0.2 s; half a second more is the other work of the machine.
    assert max(b - a for a, b in pairwise(moments)) < 1.0
    keys = "state phase fraction events simulated_seconds rebuilt_pieces pieces_to_rebuild"
    assert list(state) == [*keys.split(), "memory_bytes"]
    assert 2**24 < state["memory_bytes"] < 2**32
    wait_for(lambda: server.runs.live == 0)


def test_a_closed_connection_ends_its_run(
    client: Client, server: PageServer, long: CoreRequest, quick: CoreRequest
) -> None:
    """Also where it is closed at once; the next run is answered."""
    for wait in (0.0, 0.05, 0.5):
        connections = [client.begin(long) for _ in range(2)]
        wait_for(lambda: server.runs.live == 2)
        time.sleep(wait)
        for connection in connections:
            connection.close()
        wait_for(lambda: server.runs.live == 0)
        assert client.run(quick)[-1]["state"] == "done"
    # One closed side is seen by reading, before an answer cannot be written.
    with client.begin(long) as connection:
        wait_for(lambda: server.runs.live == 1)
        connection.shutdown(socket.SHUT_WR)
        wait_for(lambda: server.runs.live == 0)


def test_runs_beyond_the_processors_wait(
    client: Client, server: PageServer, long: CoreRequest, quick: CoreRequest
) -> None:
    """A third of two is told that it waits, and done when one of them ends; closed, it is gone."""
    first, second = client.begin(long), client.begin(long)
    wait_for(lambda: server.runs.live == 2)
    with client.begin(quick) as third, client.begin(quick) as fourth:
        frames = headers(third)
        assert [next(frames)["state"] for _ in range(3)] == ["waiting"] * 3
        assert server.runs.live == 2
        fourth.close()
        first.close()
        assert [one["state"] for one in frames][-1] == "done"
    second.close()
    wait_for(lambda: server.runs.live == 0)


def test_what_the_core_refuses_is_told(client: Client, quick: CoreRequest) -> None:
    """With its class and message, as the core in a page tells it; a bad map by its number."""
    cases = [
        (CoreRequest("cluster", "null"), "config", "invalid type"),
        (CoreRequest("system", "[" * 100_000), "config", "invalid type: sequence"),
        (CoreRequest("system", "{}", (b"no map",)), "placement", "maps[0]: "),
    ]
    for request, of_class, words in cases:
        last = client.run(request)[-1]
        assert (last["state"], last["class"]) == ("failed", of_class)
        assert words in last["message"]


def test_a_run_whose_process_is_killed_is_told(quick: CoreRequest, long: CoreRequest) -> None:
    """As the system kills what takes all memory; the next run has another process."""
    runs = Runs(1)
    try:
        frames = runs.frames(long)
        assert any(b'"working"' in frame for frame in frames)
        runs._pools[0].kill()
        *_, last = frames
        assert b'"failed"' in last and b"killed by SIGKILL" in last
        *_, last = runs.frames(quick)
        assert b'"done"' in last
    finally:
        runs.close()


def test_the_end_of_the_server_leaves_nothing(long: CoreRequest) -> None:
    """Runs, those that wait and connections that say nothing end with it, and its threads."""
    before = set(threading.enumerate())
    with PageServer(page_of, 0, print, Runs(1)) as server:
        client = Client.of(server)
        opened = [client.begin(long), client.begin(long), client.connect()]
        slot = server.runs._pools[0]._slots[0]
        # A run counts from when it is asked for, which may be before its process is there.
        wait_for(lambda: server.runs.live == 1 and slot._process is not None)
        process, began = slot._process, time.monotonic()
    assert time.monotonic() - began < SECONDS
    assert process is not None and not Path(f"/proc/{process.number}").exists()
    assert set(threading.enumerate()) <= before
    for connection in opened:
        connection.close()


def test_a_port_that_cannot_be_had_is_told(server: PageServer) -> None:
    for port, words in ((server.port, "cannot be had"), (80, "1024 to 65535"), (65536, "65535")):
        with pytest.raises(ConfigError, match=f"^--port = {port}: .*{words}"):
            PageServer(page_of, port, print)


COMMAND = """
import sys
from resilver.cli.console import report_error, say
from resilver.explore.serve import serve
try:
    serve(lambda token, path: token + path, 0, say)
except BaseException as error:
    sys.exit(report_error(error))
"""


def test_an_interrupt_ends_the_server_and_its_runs(long: CoreRequest) -> None:
    """Ctrl-C reaches all processes of a terminal's group; none of them is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND], env=environment(), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address, _, token = line.split()[0].partition("/?token=")
        client = Client(int(address.rpartition(":")[2]), token)
        with client.begin(long) as connection:
            frames = headers(connection)
            assert any(state["state"] == "working" for state in frames)
            began = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(SECONDS) == 130
            assert time.monotonic() - began < SECONDS
        assert process.stderr.read() == "the server and its runs were ended\n"
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
        with pytest.raises(ConnectionRefusedError):
            client.connect()
    finally:
        process.kill()
        process.wait()
