"""The run folder: one study, one writer, whole tables, and clear words when it cannot be used."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.columns import METRICS, SHARD_SCHEMAS
from resilver.errors import ConfigError, SimulationError
from resilver.study import Incomplete, Results
from resilver.study.folder import RunFolder, open_run_folder
from resilver.study.shards import Cost, Shards
from resilver.study.tables import run_row, shard_table, swept_columns, write_parquet
from tests.build import refused
from tests.unit.study_fakes import FakeStudy, output, perform, started


def test_folders_that_are_not_for_this_study_are_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    for folder, says in (
        (tmp_path / "file", "is a file; choose a folder with -o DIR"),
        (tmp_path / "file" / "b", "cannot be written: Not a directory"),
        (tmp_path, "holds 'file' and no results"),
        # A user that may write anything would write here too; procfs refuses everybody.
        (Path("/proc/resilver"), "cannot be written"),
    ):
        assert says in refused(perform, FakeStudy(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "hello"


@pytest.mark.parametrize(
    ("there", "here", "difference"),
    [
        ({"racks": 2}, {"racks": 4}, "cluster.racks is 2 there and 4 here"),
        # The tables of the folder would lose a run that somebody may count on.
        ({"seeds": [1, 2, 3]}, {"seeds": [1, 2]}, "study.seeds is [1, 2, 3] there and [1, 2] here"),
    ],
)
def test_another_study_is_refused_with_the_difference(
    tmp_path: Path, there: dict[str, Any], here: dict[str, Any], difference: str
) -> None:
    perform(FakeStudy(**there), tmp_path)
    said = refused(perform, FakeStudy(**here), tmp_path)
    assert difference in said and "choose another folder with -o DIR" in said


def provenance(folder: Path, **changes: Any) -> dict[str, Any]:
    """What the provenance says, with some of it changed."""
    path = folder / "provenance.json"
    record: dict[str, Any] = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(record))
    return record


def test_a_folder_has_one_version_and_one_writer(tmp_path: Path) -> None:
    perform(FakeStudy(), tmp_path)
    provenance(tmp_path, schema_version=11, run_keys=["0" * 32])
    assert "its results are of version 11, and those" in refused(perform, FakeStudy(), tmp_path)
    provenance(tmp_path, resilver_version="0.0.1")
    assert "made by resilver 0.0.1, and this is" in refused(perform, FakeStudy(), tmp_path)
    with RunFolder(tmp_path / "a"), pytest.raises(ConfigError, match=f"process {os.getpid()} on"):
        perform(FakeStudy(), tmp_path / "a")
    perform(FakeStudy(), tmp_path / "a")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "\xff"])
def test_a_provenance_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "provenance.json").write_text(content, encoding="latin-1")
    assert "provenance.json" in refused(perform, FakeStudy(), tmp_path)
    assert "provenance.json" in refused(Results.open, tmp_path)


def test_a_full_device_is_found_before_anything_runs(tmp_path: Path) -> None:
    # A limit on the size of files stands for a full device: the probe is larger than it.
    code = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
try:
    perform(FakeStudy(log=sys.argv[2]), sys.argv[1])
except ConfigError as error:
    print(error)
"""
    process = started(code, tmp_path / "a", tmp_path / "log", stdout=subprocess.PIPE, text=True)
    assert "cannot be written: File too large" in process.communicate()[0]
    assert not (tmp_path / "log").exists()


def test_a_device_that_fills_up_stops_the_sweep_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = []
    write = Shards.write

    def fill_up(self: Shards, key: str, *arguments: object) -> None:
        writes.append(key)
        if len(writes) == 2:
            raise OSError(28, "No space left on device")
        write(self, key, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Shards, "write", fill_up)
    with pytest.raises(Incomplete, match="No space left on device") as caught:
        perform(FakeStudy(seeds=range(1, 10)), tmp_path / "a")
    # The third run would have failed like the second, so it was not begun.
    assert len(writes) == 2
    assert caught.value.resumable
    assert caught.value.finished == 1


def test_shards_stay_and_rows_do_not_depend_on_how_they_arrive(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.write("k", 1, output(1), Cost(1.0, None))
    shards.write("k", 1, output(1), Cost(2.0, 5))
    assert (shards.cost("k").wall_seconds, shards.cost("k").peak_rss_bytes) == (1.0, None)
    assert [path.name for path in tmp_path.iterdir()] == ["k"]
    table = pa.table({"run": pa.array(["k"] * 1000), "bytes": pa.array(range(1000))})
    write_parquet(tmp_path / "whole", [table], table.schema)
    parts = [table.slice(start, 100) for start in range(0, 1000, 100)]
    write_parquet(tmp_path / "parts", parts, table.schema)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


def test_folders_of_before_phases_or_without_runs_are_taken(tmp_path: Path) -> None:
    perform(FakeStudy(seeds=[1]), tmp_path / "a")
    runs = provenance(tmp_path / "a")["runs"]
    for record in runs.values():
        del record["phase_seconds"]
    provenance(tmp_path / "a", runs=runs)
    (row,) = Results.open(tmp_path / "a").to_records()
    assert row["wall_seconds"] > 0.0
    assert (row["placing_seconds"], row["rebuilding_seconds"]) == (None, None)
    # As one is that was made for a cluster which then could not be reached.
    study = FakeStudy(racks=2)
    with open_run_folder(tmp_path / "b", study, study.runs(), ["resilver"]):  # type: ignore[arg-type]
        pass
    other = perform(FakeStudy(racks=4), tmp_path / "b")
    assert other.study["cluster"]["racks"] == 4


def test_a_folder_from_before_lanes_reads_as_it_did(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    perform(FakeStudy(seeds=[1, 2]), folder)
    known = Results.open(folder)
    known_tables = provenance(folder)["tables"]
    new = (
        "request_classes", "lanes", "lending", "stripe_groups", "pools", "parts", "limits",
        "flows", "layers",
    )  # fmt: skip
    for name in new:
        assert getattr(known, name).num_rows > 0
        (folder / f"{name}.parquet").unlink()
        del known_tables[name]
    # Results of version 3 had neither these tables nor the last metrics.
    runs = pq.read_table(folder / "runs.parquet")
    pq.write_table(runs.drop_columns(["lent_bytes", "network_bytes"]), folder / "runs.parquet")
    assert "has no request_classes.parquet" in refused(Results.open, folder)
    provenance(folder, schema_version=3, tables=known_tables)
    old = Results.open(folder)
    assert [row["lent_bytes"] for row in old.to_records()] == [None, None]
    assert old.runs["rebuilt_bytes"].to_pylist() == known.runs["rebuilt_bytes"].to_pylist()
    for name in new:
        table = getattr(old, name)
        assert (table.num_rows, table.schema) == (0, SHARD_SCHEMAS[name])


def test_opening_says_what_is_missing_or_damaged(tmp_path: Path) -> None:
    assert "does not exist; make it with `resilver run" in refused(Results.open, tmp_path / "none")
    assert "is not a run folder" in refused(Results.open, tmp_path)
    perform(FakeStudy(), tmp_path / "a")
    (tmp_path / "a" / "timeline.parquet").unlink()
    assert "has no timeline.parquet" in refused(Results.open, tmp_path / "a")
    results = perform(FakeStudy(), tmp_path / "a")
    (tmp_path / "a" / "servers.parquet").write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r"servers\.parquet' cannot be read"):
        _ = results.servers


def test_tables_are_sorted_typed_and_read_by_duckdb_and_pandas(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    results = perform(FakeStudy(), tmp_path / "a")
    query = (
        f"select sum(s.rebuilt_bytes), sum(distinct r.rebuilt_bytes) from "
        f"'{tmp_path}/a/servers.parquet' s join '{tmp_path}/a/runs.parquet' r using (run)"
    )
    (total,) = duckdb.connect().execute(query).fetchall()
    # The fake simulation rebuilds on each server what its runs row sums up.
    assert total[0] == total[1]
    assert results.to_pandas("runs")["rebuilt_bytes"].sum() == total[0]
    assert "there is no table 'events'" in refused(results.to_pandas, "events")
    # The fake hands its transfers over in the order 3, 1, 2, 0.
    results = perform(FakeStudy(seeds=[1]), tmp_path / "b")
    assert results.transfers["source"].to_pylist() == [0, 1, 2, 3]
    schema = pq.read_schema(tmp_path / "b" / "transfers.parquet")
    assert schema.field("source").type == pa.int32()
    assert schema.field("bytes").type == pa.int64()


def test_a_run_row_has_every_metric_of_the_schema_and_no_other() -> None:
    row = run_row("k", 7, {"events": 3, "mean_hops": float("nan")}).to_pylist()[0]
    assert list(row) == ["run", "seed", *METRICS.names]
    assert (row["events"], row["mean_hops"], row["digest"]) == (3, None, None)
    with pytest.raises(SimulationError, match="'hops' is not a column"):
        run_row("k", 7, {"hops": 3})
    timeline = output(1).timeline
    table = timeline.rename_columns(["start", *timeline.column_names[1:]])
    with pytest.raises(SimulationError, match="is missing or unknown"):
        shard_table("timeline", "k", table)
    rows = [{"a": 1, "b": 1, "c": "auto", "d": True}, {"a": 2, "b": 0.5, "c": 512, "d": False}]
    types = {key: column.type for key, column in swept_columns(rows).items()}
    assert types == {"a": pa.int64(), "b": pa.float64(), "c": pa.string(), "d": pa.bool_()}
