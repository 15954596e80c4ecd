"""Whatever becomes of a file, each reader reads it or refuses it as input, and says which file.

What is refused for which reason, with the line or the place, are the rows of
`tests/cases/files.toml`.
"""

import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resilver import read_state
from resilver.browser import CoreRequest
from resilver.calibration.bench_plan import SINGLE_HOST, read_plan, reduced, write_plan
from resilver.calibration.disk import calibrate_report
from resilver.errors import ConfigError
from resilver.importers.bandwidth import read_point_to_point
from resilver.importers.benchmarks import read_benchmarks
from resilver.importers.failures import read_failures
from resilver.importers.fio import read_fio
from resilver.importers.graph import read_graph
from resilver.importers.jobs import read_jobs
from resilver.importers.logs import read_log
from resilver.importers.netgauge import read_netgauge
from resilver.importers.series import read_series
from resilver.importers.sizes import import_sizes, read_sizes
from resilver.importers.trace import read_trace
from resilver.text import parse_json, read_text, read_toml
from tests.build import CASES, assert_said, refused
from tests.mutants import mutant
from tests.scale import numbers, times
from tests.unit.benchmark_texts import TEXTS as BENCHMARKS
from tests.unit.log_texts import TEXTS as LOGS
from tests.unit.test_importers_fio import WHOLE
from tests.unit.test_importers_graph import GRAPHS
from tests.unit.test_importers_series import COLUMNS, SACCT
from tests.unit.test_load_state import DEVICES, TABLE, dump, series
from tests.unit.test_sizes_listings import LISTINGS


def benchmarks(path: Path) -> None:
    """No rate is zero, negative, or beyond what there is."""
    for one in read_benchmarks(path).rows:
        rate = one.bytes_per_second or one.operations_per_second
        assert rate is not None and 0 < rate <= 1e18


def logs(path: Path) -> None:
    for log in read_log(path):
        assert log.parts >= 0 and (log.write_bytes or 0.0) >= 0.0


def counters(path: Path) -> None:
    """A dump needs a later one to say how fast."""
    later = path.with_name("later")
    later.write_text(dump(9, {"a-OST0000": 9}))
    read_state([path, later])


def state(path: Path) -> None:
    read_state([path])


def histogram(path: Path) -> None:
    bins = read_sizes(path)
    edges = [edge for item in bins for edge in (item.min_bytes, item.max_bytes)]
    assert edges == sorted(edges) and all(item.file_count > 0 for item in bins)


def listing(path: Path) -> None:
    sizes = import_sizes(path)
    assert sizes.files > 0 and sizes.bins()


def trace(path: Path) -> None:
    found = read_trace(path)
    assert len(found.seconds) == len(found.bytes) == len(found.targets) > 0


def disk(path: Path) -> None:
    report = read_fio([path])
    calibrate_report(report)
    calibrate_report(report, "line")


def plan(path: Path) -> None:
    (path.parent / "plan.json").write_bytes(path.read_bytes())
    found = read_plan(path.parent)
    assert found.total_seconds > 0 and found.tests


Reader = Callable[[Path], Any]
PLAIN: dict[str, Reader] = {
    "series": read_series,
    "jobs": read_jobs,
    "sizes": histogram,
    "trace": trace,
    "netgauge": lambda path: read_netgauge(path).rows[0],
    "graph": lambda path: read_graph(path).hosts[0],
    "log": read_log,
    "failures": read_failures,
    "point to point": lambda path: min(read_point_to_point(path).bytes_per_second),
    "fio": disk,
    "JSON": lambda path: parse_json(read_text(path), path),
    "TOML": read_toml,
    "request": lambda path: CoreRequest.from_json(read_text(path)),
}
READERS: dict[str, tuple[str, str, Reader]] = {
    **{f"benchmark {name}": (text, "a.txt", benchmarks) for name, text in BENCHMARKS.items()},
    **{f"log {name}": (text, "a.txt", logs) for name, text in LOGS.items()},
    **{f"listing, {name}": (text, "a.txt", listing) for name, text in LISTINGS.items()},
    **{f"graph {name}": (text, name, PLAIN["graph"]) for name, text in GRAPHS.items()},
    "counters": (dump(1, {"a-OST0000": 5}, free=3), "a.txt", counters),
    "lfs df": (TABLE + "a-OST0000_UUID 1000 900 100 90% /a\n", "a.txt", state),
    "lctl dl": (DEVICES, "a.txt", state),
    "series": (
        "time(s),write rate(MB/s)\n" + "".join(f"{2 * row},{row}\n" for row in range(30)),
        "a.csv",
        read_series,
    ),
    "sacct": (SACCT, "a.txt", read_jobs),
    "sacct in columns": (COLUMNS, "a.txt", read_jobs),
    "histogram": ("# total_count: 5\n0 4096 2\n\n4096 8192 3\n", "a.txt", PLAIN["sizes"]),
    "trace": ("time,kind,size,target\n0 s,read,4 KiB,a.1\n1 ms,write,9,\n", "a.csv", trace),
    "failures": (
        "component,start,end,failed\na,0,10.5 d,1\na,252 h,31 d,0\n",
        "a.csv",
        read_failures,
    ),
    "netgauge": (
        "# size L g G\n8 6.7 1.0 0.002\n16 6.7 -nan -nan\n32 6.8 -0.01 0.002\n",
        "a.txt",
        PLAIN["netgauge"],
    ),
    "point to point": ("# size time(us)\n1024 2\n4096 4\n", "a.txt", PLAIN["point to point"]),
    "fio": (WHOLE, "a.json", disk),
    "plan": (write_plan(reduced(SINGLE_HOST, 900, 30, 15)), "a.json", plan),
    "TOML": ('a = [1, "b"]\n[c]\nd = 1e3\n', "a.toml", read_toml),
    "JSON": ('{"a": [1, "b", null], "c": {"d": -1e3}}', "a.json", PLAIN["JSON"]),
}
"""Of each reader a text that it reads, a name for its file, and the reader with what then holds."""


def read_or_refused(path: Path, read: Reader) -> None:
    try:
        read(path)
    except ConfigError as error:
        assert any(name in str(error) for name in (path.name, "plan.json", "later"))


@pytest.mark.parametrize("name", READERS)
def test_a_mutant_is_read_or_refused(name: str, tmp_path: Path) -> None:
    text, file, read = READERS[name]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    read(path)
    for number in numbers(20):
        path.write_bytes(mutant(text.encode(), file, random.Random(f"{name} {number}")))
        read_or_refused(path, read)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=times(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.text(max_size=200), cut=st.floats(0, 1))
def test_any_text_alone_or_after_a_beginning_is_read_or_refused(
    name: str, tmp_path: Path, line: str, cut: float
) -> None:
    text, file, read = READERS[name]
    path = tmp_path / file
    for head in ("", text[: int(cut * len(text))], text.partition("\n")[0] + "\n"):
        path.write_text(head + line, encoding="utf-8")
        read_or_refused(path, read)


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_series_in_hdf5_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    data = series(tmp_path / "whole.h5").read_bytes()
    path = tmp_path / "a.h5"
    path.write_bytes(mutant(data, path.name, random.Random(seed)))
    read_or_refused(path, state)


ROWS = tomllib.loads((CASES / "files.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("reader", "row"), [(reader, row) for reader, rows in ROWS.items() for row in rows]
)
def test_a_file_is_refused(reader: str, row: tuple[str, str], tmp_path: Path) -> None:
    text, says = row
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    said = refused(PLAIN[reader], path)
    assert_said(says, said)
    assert "a.csv" in said or reader == "request"
