"""Traces of requests: what is read, and that a bad line is named with what to do about it."""

import re
from pathlib import Path

import pytest

from resilver.importers.trace import parse_trace, read_trace
from tests.build import refused

HEADER = "time,kind,size,target\n"


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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "t.csv: the file is empty; begin it with a header"),
        ("# nothing\n", "the file is empty"),
        (HEADER, "the trace has no requests"),
        ("time,kind\n", "line 1: the column size is missing"),
        ("time,size\n", "line 1: the column kind is missing"),
        ("kind,size\n", "line 1: a trace has one column of times"),
        ("time,seconds,kind,size\n", "line 1: a trace has one column of times"),
        ("time,kind,kind,size\n", 'line 1: the column "kind" stands twice'),
        ("time,kind,sise\n", 'line 1: "sise" is not a column of a trace; did you mean "size"'),
        ("0 s,read,4096\n", "line 1: .*is not a column"),
        (HEADER + "0 s,read,4096\n", "line 2: this line has 3 values, and the header 4 columns"),
        (HEADER + "0.5,read,4096,\n", 'line 2: "0.5": a duration needs a unit; write "0.5 s"'),
        (HEADER + "-1 s,read,4096,\n", "line 2: .*cannot be negative"),
        (HEADER + "0 s,scan,4096,\n", 'line 2: "scan" is not a kind .*write read or write'),
        (HEADER + "0 s,read,4 kb,\n", 'line 2: "4 kb": .*b is bits'),
        (HEADER + "0 s,read,0,\n", 'line 2: "0" is not the size of a request'),
        (HEADER + "0 s,read,99999999999999999999,\n", "line 2: .*a size needs a unit|largest"),
        (HEADER + "1 s,read,1,\n0 s,read,1,\n", "line 3: .*before the one.*sort the lines"),
        ("seconds,kind,size\nnan,read,1\n", 'line 2: "nan" is not a number of seconds'),
        ("seconds,kind,size\n1e300,read,1\n", "line 2: .*0 to 213 days"),
        ("seconds,kind,size\n0 s,read,1\n", 'name the column "time"'),
        (HEADER + '0 s,"read,4096,\n', "line 2: not valid CSV"),
    ],
)
def test_a_bad_trace_names_its_line(text: str, says: str) -> None:
    found = refused(parse_trace, text, Path("t.csv"), "")
    assert re.search(says, found), found


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refused(read_trace, tmp_path / "absent.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in refused(read_trace, tmp_path / "binary.csv")
