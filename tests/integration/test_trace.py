"""A trace of a run: its rows add up to every counter of the run, and change nothing in it."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from resilver.errors import SimulationError
from resilver.simulate.traced import traced
from resilver.study import Results, simulate, trace
from tests.build import changed, refused, study_of
from tests.integration.study_runs import RUNS, study_text
from tests.terminal import refusal, texts

STUDY = changed(RUNS["lost"], population__file_size="40 MiB", population__bytes_per_server="2 GiB")
SWITCHED = 'cluster.fabric = { model = "switched", topology = "leaf spine 4x2 hosts 3 entries 1", '
SWITCHED += 'table = "(absent)", link_rate = "10 Gb/s" }\n'
CLIENTS = 'traffic = { outstanding = 24, reads = 0.5, request_size = "1 MiB", warm_up = "0 s", '
LANES = "lanes = { clients = 0.8, devices = true }\n"
LITTLE = 'recovery = { send_memory = "16 MiB", receive_memory = "32 MiB" }\n'
LOCAL = 'redundancy = { replicas = "(absent)", code = "lrc 4+2+1" }\n'
FIRST = "[[faults]]\nfail.servers = 1\n"
SECOND = FIRST + '[[faults]]\nat = "500 ms"\nfail.servers = ["server.5"]\n'

WHOLE = (0, 10**17)
CASES = {
    "loggp": "",
    "switched": SWITCHED,
    "little memory": LITTLE,
    "bandwidth": 'recovery.bandwidth = "100 MB/s"',
    "coded": 'redundancy = { replicas = "(absent)", code = "rs 4+2", coding = "1 GB/s" }',
    "a second failure": SECOND,
    "a second failure with little memory": LITTLE + SECOND,
    "which comes back": SECOND + 'until = "700 ms"\n',
    "undetected": SECOND + "told = false\n",
    "undetected, of a local code": LOCAL + SECOND + "told = false\n",
    "lost messages": SWITCHED
    + SECOND.replace('servers = ["server.5"]', "links = 3")
    + "told = false",
    "clients": CLIENTS + 'duration = "1 s" }\ncluster.fabric.routers = 4',
    "clients with lanes": SWITCHED + CLIENTS + 'duration = "1 s" }\n' + LANES,
    "pushed": LITTLE.replace(" }", ', driver = "source" }'),
    "pushed, a second failure": 'recovery.driver = "source"\n' + SECOND,
    "pushed by a code": LOCAL + 'recovery.driver = "source"',
    "managed, lost messages": SWITCHED
    + 'recovery = { driver = "manager", managers = 3 }\n'
    + SECOND.replace('servers = ["server.5"]', "links = 3")
    + "told = false",
    "behind controllers": 'cluster = "(absent)"',
}


def run_of(name: str) -> Any:
    """The one run of a case."""
    if name == "behind controllers":
        return study_of(RUNS["behind"]).runs()[0]
    return study_of(STUDY, CASES[name]).runs()[0]


def total(table: pa.Table, column: str, **wanted: str) -> int:
    """The sum of a column, over the rows that have these words."""
    for name, word in wanted.items():
        table = table.filter(pc.equal(table[name].cast(pa.string()), word))
    return pc.sum(table[column]).as_py() or 0


@pytest.fixture(scope="module", params=list(CASES))
def case(request: pytest.FixtureRequest) -> Any:
    """A run, its result, and the trace of all of it."""
    run = run_of(request.param)
    return request.param, run, *traced(run.system, run.seed, WHOLE, 10**6)


def test_the_rows_of_a_whole_run_add_up_to_its_counters(case: Any) -> None:
    name, run, result, tables = case
    metrics, messages, buffers = result.metrics, tables["messages"], tables["buffers"]
    # It is the run without a trace.
    plain = simulate(run.system, run.seed)
    assert plain.metrics == metrics and plain.tables == result.tables
    assert total(messages, "bytes") == metrics["network_bytes"]
    states = Counter(messages["state"].to_pylist())
    loses = name.endswith(("second failure", "which comes back", "lost messages"))
    assert (states["lost"] > 0) == loses
    executed = [column for column in tables["engine"].column_names[2:-1]]
    assert sum(total(tables["engine"], column) for column in executed) == metrics["events"]
    assert tables["engine"]["pending_events"].to_pylist()[-1] == 0
    # Each buffer and each wait comes to an end.
    assert "under way" not in buffers["state"].to_pylist() + tables["waits"]["state"].to_pylist()
    for state, of in (("rebuilt", "rebuilt"), ("moved", "remapped")):
        assert total(buffers, "bytes", state=state) == metrics[f"{of}_bytes"]
        first = buffers.filter(pc.equal(buffers["buffer"], 0))
        assert Counter(first["state"].to_pylist())[state] == metrics[f"{of}_pieces"]
    if metrics["gathered_bytes"] is not None:
        written = buffers.filter(pc.is_valid(buffers["decoded_seconds"]))
        assert total(written, "gathered_bytes") == metrics["gathered_bytes"]
    # Data that arrived and was wanted, by its ends.
    kinds = pc.is_in(messages["kind"].cast(pa.string()), pa.array(["data", "pushed data"]))
    arrived = messages.filter(pc.and_(pc.equal(messages["state"], "delivered"), kinds))
    sent = total(result.transfers, "bytes")
    assert total(arrived, "bytes") >= sent
    exact = ("loggp", "switched", "coded", "pushed", "pushed by a code")
    assert name not in exact or total(arrived, "bytes") == sent


def test_the_requests_of_a_whole_run_add_up_to_what_devices_did(case: Any) -> None:
    name, _, result, tables = case
    disks = tables["disks"]
    # With clients, and of devices that fail undetected, what was queued counts.
    wanted = {} if name.startswith(("clients", "undetected")) else {"state": "served"}
    for row in result.servers.to_pylist():
        for direction, column in (("read", "device_bytes_read"), ("write", "device_bytes_written")):
            found = total(disks, "bytes", device=row["name"], direction=direction, **wanted)
            assert found == row[column], (row["name"], direction)
        served = disks.filter(
            pc.and_(pc.equal(disks["device"], row["name"]), pc.equal(disks["state"], "served"))
        )
        begun, ended = (np.asarray(served[f"{one}_seconds"]) for one in ("begun", "ended"))
        # One after another, and busy while they are served.
        order = np.argsort(begun)
        assert (begun[order][1:] >= ended[order][:-1] - 1e-12).all()
        if name.startswith("clients"):
            of_clients = served.filter(pc.equal(served["class"], "clients"))
            for word, column in (("read", "requests_read"), ("write", "requests_written")):
                assert Counter(of_clients["direction"].to_pylist())[word] == row[column]
        elif name in ("loggp", "switched", "coded", "behind controllers", "little memory"):
            assert float((ended - begun).sum()) == pytest.approx(row["device_busy_seconds"])


def test_a_window_has_the_rows_that_overlap_it(case: Any) -> None:
    _, run, result, tables = case
    end = result.metrics["simulated_seconds"]
    first, last = (round(end * share * 1e12) for share in (0.3, 0.31))
    # Times are compared as the tables have them.
    result, window = traced(run.system, run.seed, (first, last), 10**6)
    for name in ("messages", "disks", "buffers", "waits"):
        table = tables[name]
        begins, ends = (
            np.asarray(table[column]) for column in (table.column_names[0], "ended_seconds")
        )
        overlaps = (begins < last / 1e12) & ~(ends < first / 1e12)
        assert window[name].to_pylist() == table.filter(pa.array(overlaps)).to_pylist(), name
    assert 0 < window["messages"].num_rows < tables["messages"].num_rows
    engine = window["engine"]
    assert engine["start_seconds"].to_pylist()[0] == first / 1e12
    assert 0 < total(engine, "network_events") < total(tables["engine"], "network_events")


def test_waits_are_where_memory_or_bandwidth_is_short() -> None:
    for name, word in (("little memory", "send memory"), ("bandwidth", "bandwidth")):
        run = run_of(name)
        waits = traced(run.system, run.seed, WHOLE, 10**6)[1]["waits"]
        words = Counter(waits["waits_for"].to_pylist())
        assert words[word] > 100, words
        assert (np.asarray(waits["ended_seconds"]) > np.asarray(waits["begun_seconds"])).all()
    # A destination that asks for 40 MiB with 100 MB/s waits for 41.9 % of a second, to begin with.
    held = waits.filter(pc.equal(waits["waits_for"], "bandwidth"))
    times = np.asarray(held["ended_seconds"]) - np.asarray(held["begun_seconds"])
    assert times.max() == pytest.approx(16 * 2**20 / 100e6, rel=1e-6)


def test_a_table_has_no_more_rows_than_it_may() -> None:
    run = run_of("loggp")
    rows = {name: t.num_rows for name, t in traced(run.system, run.seed, WHOLE, 10**6)[1].items()}
    most = max(rows["messages"], rows["disks"])
    traced(run.system, run.seed, WHOLE, most)
    said = refused(traced, run.system, run.seed, WHOLE, most - 1)
    assert re.search(
        r"trace = 0 s\.\.100000 s: the table (messages|disks) has more than \d+ rows", said
    )


def test_the_command_writes_a_trace_and_refuses_windows(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study_text("lost", study__seeds=2))
    _, told = texts("run", "study.toml", "-o", "out", "--trace", "100 ms..200 ms", cwd=tmp_path)
    assert re.search(r"traced seed=1 in out/trace; rows: messages [\d,]+, ", told)
    kept = {path.name for path in (tmp_path / "out" / "trace").iterdir()}
    tables = {f"{name}.parquet" for name in ("messages", "disks", "buffers", "waits", "engine")}
    assert kept == tables | {"trace.pftrace", "karyotype.txt", "links.txt"}
    results = Results.open(tmp_path / "out")
    # The circle of Circos: each device as long as what it sent and received, and ribbons within it.
    transfers = [
        row for row in results.transfers.to_pylist() if row["run"] == results.runs["run"][0].as_py()
    ]
    lines = (tmp_path / "out" / "trace" / "karyotype.txt").read_text().splitlines()
    lengths = {parts[2]: int(parts[5]) for parts in map(str.split, lines)}
    assert sum(lengths.values()) == 2 * sum(row["bytes"] for row in transfers)
    taken: dict[str, list[tuple[int, int]]] = {}
    for line in (tmp_path / "out" / "trace" / "links.txt").read_text().splitlines():
        source, a, b, destination, c, d = line.split()
        assert int(b) - int(a) == int(d) - int(c)
        taken.setdefault(source, []).append((int(a), int(b)))
        taken.setdefault(destination, []).append((int(c), int(d)))
    for device, stretches in taken.items():
        assert [begin for begin, _ in sorted(stretches)] == [
            0,
            *(end for _, end in sorted(stretches)),
        ][:-1]
        assert max(end for _, end in stretches) == lengths[device]
    for window, says in (
        ("1 s", "two times with two dots between"),
        ("2 s..1 s", "ends after it begins"),
        ("1 s..1 s", "ends after it begins"),
        ("1..2 s", "needs a unit"),
        ("-1 s..2 s", "cannot be negative"),
    ):
        said = refusal("run", "study.toml", "-o", "out", f"--trace={window}", cwd=tmp_path)
        assert f"trace = {window}: " in said and says in said, said
    # What ends before is known when it has run.
    words = ("run", "study.toml", "-o", "out", "--trace", "1 h..2 h")
    assert "trace = 1 h..2 h: the run ends at 4.8" in texts(*words, cwd=tmp_path, code=2)[1]
    # What sends no messages is refused before it runs.
    flows = study_text("slow", traffic__engine="flows")
    (tmp_path / "flows.toml").write_text(flows)
    said = refusal("run", "flows.toml", "--trace", "1 s..2 s", cwd=tmp_path)
    assert "traffic.engine" in said and not (tmp_path / "runs").exists()


def test_a_trace_is_of_the_run_that_the_study_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = lambda system, _, *others: traced(system, 7, *others)  # noqa: E731
    monkeypatch.setattr("resilver.study.tracing.traced", another)
    with pytest.raises(SimulationError, match="its digest differs"):
        trace(study_of(STUDY), tmp_path / "out", "0 s..1 s", workers=0)
    assert not (tmp_path / "out" / "trace").exists()
