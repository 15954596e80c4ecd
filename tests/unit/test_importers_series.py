"""Series of bytes over time and the times of jobs: every form they are read from, and refusals."""

from datetime import UTC, datetime
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from resilver.errors import ConfigError
from resilver.importers.jobs import Job, read_jobs, zone_of
from resilver.importers.series import Series, read_series
from tests.build import refused


def read(tmp_path: Path, text: str, moved: str = "writes") -> Series:
    path = tmp_path / "log.csv"
    path.write_text(text)
    return read_series(path, moved)


@pytest.mark.parametrize(
    ("head", "value", "expected"),
    [
        ("time(s),bytes", "6", 6.0),
        ("time,size(MiB)", "2", 2.0 * 2**20),
        ("time,size(MB)", "2", 2e6),
        # A rate counts for the 2 s of its sample.
        ("timestamp,rate(MB/s)", "3", 6e6),
        ("time (s), Rate (MiB/s)", "3", 6.0 * 2**20),
        ("time(s),write bytes", "6", 6.0),
        ("time(s),write_rate(kB/s)", "6", 12e3),
    ],
)
def test_columns_say_their_units(tmp_path: Path, head: str, value: str, expected: float) -> None:
    found = read(tmp_path, head + "\n" + "".join(f"{2 * row},{value}\n" for row in range(4)))
    assert found.times.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert found.values.tolist() == [expected] * 4


def test_reads_writes_and_both_are_told_apart(tmp_path: Path) -> None:
    text = "time(s),read bytes,write bytes\n" + "".join(f"{row},1,10\n" for row in range(3))
    assert read(tmp_path, text).values.tolist() == [10.0] * 3
    assert read(tmp_path, text, "reads").values.tolist() == [1.0] * 3
    assert read(tmp_path, text, "both").values.tolist() == [11.0] * 3
    with pytest.raises(ConfigError, match=r"choose what .* with --of"):
        read(tmp_path, text.replace("read bytes,", "x,"), "reads")


def test_what_is_missing_negative_or_set_back_is_a_gap(tmp_path: Path) -> None:
    found = read(tmp_path, "time(s),write counter\n0,100\n2,150\n4,20\n6,30\n")
    assert found.values[[0, 2]].tolist() == [50.0, 10.0]
    assert np.isnan(found.values[[1, 3]]).all()
    rows = [f"{row},{'' if row == 3 else 'nan' if row == 4 else 5}" for row in range(200)]
    rows[7] = "7,-1"
    found = read(tmp_path, "\n".join(["time(s),bytes", *rows]))
    assert np.flatnonzero(np.isnan(found.values)).tolist() == [3, 4, 7]


def test_other_forms_of_tables_are_read_by_the_same_names(tmp_path: Path) -> None:
    when = [datetime(2026, 1, 1, 0, 0, 2 * at, tzinfo=UTC) for at in range(3)]
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"time": when, "write_bytes": [1, None, 3]}), path)
    found = read_series(path)
    assert found.times.tolist() == [when[0].timestamp() + 2 * at for at in range(3)]
    assert found.values[[0, 2]].tolist() == [1.0, 3.0] and np.isnan(found.values[1])
    path.write_bytes(path.read_bytes()[:40])
    assert "no Parquet" in refused(read_series, path)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["datatargets/timestamps"] = np.arange(3)
        file["datatargets/readrates"] = np.ones((3, 1))
        file["datatargets/readrates"].attrs["columns"] = [b"a"]
    assert read_series(path, "reads").values.tolist() == [1.0] * 3
    assert "no writerates and no writebytes" in refused(read_series, path)


def test_hdf5_of_tokio_is_summed_over_its_targets(shared_data: Path) -> None:
    """As h5py itself sums it: rates times the 5 s between samples; -0.0 was never seen."""
    path = shared_data / "lustre" / "tokio-snx11025_2018-01-28.hdf5"
    with h5py.File(path) as file:
        expected = {
            what: 5.0 * file[f"datatargets/{what}bytes"][:].sum(axis=1)
            for what in ("read", "write")
        }
    assert read_series(path).values == pytest.approx(expected["write"])
    assert read_series(path, "reads").values == pytest.approx(expected["read"])
    both = read_series(path, "both")
    assert both.values == pytest.approx(expected["read"] + expected["write"])
    assert len(both.times) == 60 and np.diff(both.times) == pytest.approx(5.0)


SACCT = """JobID|JobName|Start|End|State
7|run|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED
7.batch|batch|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED
8|run|2026-01-01T02:00:00|Unknown|RUNNING
9|run|2026-01-01T03:00:00|2026-01-01T04:00:00|COMPLETED
"""
COLUMNS = """       JobID               Start                 End
------------ ------------------- -------------------
7            2026-01-01T00:00:00 2026-01-01T01:00:00
9            2026-01-01T03:00:00 2026-01-01T04:00:00
"""


@pytest.mark.parametrize("text", [SACCT, COLUMNS], ids=["parsable", "columns"])
def test_sacct_is_read_in_both_forms(tmp_path: Path, text: str) -> None:
    """Whole jobs that have ended; dates are of the zone: 8 h later than in UTC."""
    path = tmp_path / "jobs"
    path.write_text(text)
    begin = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    found = read_jobs(path)
    assert [job.start for job in found] == [begin, begin + 3 * 3600]
    assert [job.end - job.start for job in found] == [3600.0, 3600.0]
    assert read_jobs(path, zone_of("-08:00"))[0].start == begin + 8 * 3600
    assert read_jobs(path, zone_of("America/Los_Angeles"))[0].start == begin + 8 * 3600


def test_jobs_have_seconds_or_dates_and_steps_of_one_are_its_runs(
    shared_data: Path, tmp_path: Path
) -> None:
    # TOKIO's sample has 8 steps of one job, the first from 01:59:05 to 02:00:10.
    found = read_jobs(shared_data / "lustre" / "tokio-sample.slurm")
    assert [job.name for job in found] == [f"4478544.{step}" for step in range(8)]
    assert found[0].end - found[0].start == 65.0
    path = tmp_path / "jobs.csv"
    path.write_text("start,end,name\n100,200,b\n0,50,a\n1970-01-01T00:05:00Z,400,c\n")
    assert read_jobs(path) == [Job("a", 0, 50), Job("b", 100, 200), Job("c", 300, 400)]


@pytest.mark.parametrize("zone", ["Mars", "+99:00", "../etc/passwd", ""])
def test_unknown_zones_are_refused(zone: str) -> None:
    assert "no such time zone" in refused(zone_of, zone)
