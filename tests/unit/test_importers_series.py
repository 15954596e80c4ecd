"""Tables of bytes and jobs, histograms, traces: every form they are read from, and refusals."""

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
from resilver.importers.sizes import Bin, read_sizes
from resilver.importers.trace import read_trace
from resilver.text import parse_json, parse_toml, read_text, read_toml
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


def test_reads_and_writes_are_told_apart_and_what_is_missing_is_a_gap(tmp_path: Path) -> None:
    text = "time(s),read bytes,write bytes\n" + "".join(f"{row},1,10\n" for row in range(3))
    assert read(tmp_path, text).values.tolist() == [10.0] * 3
    assert read(tmp_path, text, "reads").values.tolist() == [1.0] * 3
    assert read(tmp_path, text, "both").values.tolist() == [11.0] * 3
    with pytest.raises(ConfigError, match=r"choose what .* with --of"):
        read(tmp_path, text.replace("read bytes,", "x,"), "reads")
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
    assert "no whole Parquet file" in refused(read_series, path)
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
    for zone in ("Mars", "+99:00", "../etc/passwd", ""):
        assert "no such time zone" in refused(zone_of, zone)


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


@pytest.mark.parametrize(
    "text",
    [
        "# total_count: 5\n# sizes in bytes\n0 4096 2\n\n4096 8192 3\n",
        "0 4096 2\n4096 8192 3",
        "min,max,count\n0,4096,2\n4096,8192,3\n",
        "0, 4096, 2\r\n4096, 8192, 3\r\n",
        '"count","min","max"\n2,0,4096\n3,4096,8192\n',
        "Min Max Count\n0 4096 2\n4096 8192 3\n",
        "0 4096.0 2\n4096 8192 3e0\n",
    ],
)
def test_plain_text_and_csv_say_the_same(text: str, tmp_path: Path) -> None:
    (tmp_path / "sizes").write_bytes(text.encode())
    assert read_sizes(tmp_path / "sizes") == (Bin(0, 4096, 2), Bin(4096, 8192, 3))


def test_times_sizes_kinds_and_targets_are_read_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(
        "# made by hand\n\nTime, Kind, Size, Target\n"
        "0 s, read, 512 KiB, server.3\n22 ms, WRITE, 4096,\n22 ms,read,1 MB,server.0\n"
    )
    trace = read_trace(file)
    assert trace.seconds == (0, 0.022, 0.022)
    assert trace.is_read == (True, False, True)
    assert trace.bytes == (512 * 1024, 4096, 10**6)
    assert trace.targets == ("server.3", "", "server.0")
    assert trace.lines == (4, 5, 6)
    assert (trace.label, len(trace.sha256)) == ("requests.csv", 64)


def test_a_file_that_cannot_be_read_or_is_deeper_than_any_says_why(tmp_path: Path) -> None:
    assert "no such file" in refused(read_text, tmp_path / "absent.toml")
    assert "this is a folder" in refused(read_text, tmp_path)
    assert "cannot be read" in refused(read_text, Path("a" * 300))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "caf\xe9"\n')
    assert "not UTF-8 text: byte 12 is 0xe9" in refused(read_toml, latin)
    latin.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_toml(latin) == {"a": 1}, "a byte order mark is no part of the text"
    assert "nested too deeply" in refused(parse_json, "[" * 100_000, Path("x"))
    assert "not usable JSON" in refused(parse_json, "9" * 5000, Path("x"))
    with pytest.raises(ConfigError, match=r"not usable TOML|not valid TOML"):
        parse_toml("a = " + "[" * 100_000, Path("x"))
