"""Outputs of benchmark programs become rates in bytes and operations per second, and nothing else.

What the small text of each program says is in `tests/cases/benchmarks.toml`.
"""

import contextlib
import tomllib
from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers.benchmarks import READERS, Benchmark, read_benchmarks
from resilver.importers.benchmarks.table import Benchmarks
from resilver.units import BytesPerSecond
from tests.build import CASES, refused
from tests.scale import times
from tests.unit import benchmark_texts as texts

MIB = 2**20
CASES_OF_TEXTS = tomllib.loads((CASES / "benchmarks.toml").read_text(encoding="utf-8"))


def read(tmp_path: Path, text: str, name: str = "out.txt") -> Benchmarks:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_benchmarks(path)


def rows(tmp_path: Path, text: str) -> tuple[Benchmark, ...]:
    return read(tmp_path, text).rows


@pytest.mark.parametrize("name", texts.TEXTS)
def test_one_reader_alone_knows_each_text(name: str) -> None:
    """A text is read by the program that wrote it, whatever the order of readers."""
    assert sum(bool(knows(texts.TEXTS[name])) for knows, _ in READERS) == 1


@pytest.mark.parametrize("name", texts.TEXTS)
def test_a_text_says_its_rows_whatever_ends_its_lines(tmp_path: Path, name: str) -> None:
    said = CASES_OF_TEXTS[name]
    found = read(tmp_path, texts.TEXTS[name])
    for row, expected in zip(found.rows, said["rows"], strict=True):
        for key, value in expected.items():
            if value == "(none)":
                value = None
            elif key.endswith("bytes_per_second"):
                value = pytest.approx(BytesPerSecond.parse(value), rel=1e-12)
            assert getattr(row, key) == value, key
    for note, words in zip(found.notes, said.get("notes", []), strict=True):
        assert words in note
    (tmp_path / "out.txt").write_bytes(texts.TEXTS[name].replace("\n", "\r\n").encode())
    assert read_benchmarks(tmp_path / "out.txt").rows == found.rows


@pytest.mark.parametrize(
    ("name", "wrong", "right", "rule"),
    [
        ("fair-lio", "190.00 MB/s skew", "250.00 MB/s skew", "it prints 250.00 MB/s"),
        ("fair-lio", "/dev/sdb:", "/dev/sda:", 'device "/dev/sda" stands twice'),
        ("fair-lio", "total: 5976883200", "total: 5976883201", "not the sum of its devices"),
        ("fair-lio", "queue depth: 4\n", "", "lines of this run are missing"),
        ("suite", "11.2,9.8,10.5", "9.8,11.2,10.5", "median 10.5 is not between 11.2 and 9.8"),
        ("obdfilter", "case=disk", "case=network", "case=network measures the network"),
        ("io500", "GiB/s : time 300", "GB/s : time 300", 'its unit "GB/s" may mean two things'),
        ("ior-failed", "\nwrite ", "\nnothing ", "IOR printed no result: "),
    ],
)
def test_a_text_that_contradicts_itself_is_refused(
    tmp_path: Path, name: str, wrong: str, right: str, rule: str
) -> None:
    said = refused(read, tmp_path, texts.TEXTS[name].replace(wrong, right))
    assert rule in said and "out.txt" in said


def test_a_quiet_ior_has_its_best_result_and_fio_the_layer_that_is_said(tmp_path: Path) -> None:
    rows(tmp_path, texts.FIO)
    on_files = read_benchmarks(tmp_path / "out.txt", fio_layer="file system")
    assert {one.layer for one in on_files.rows} == {"file system"}
    assert 'fio_layer = "disk"' in refused(read_benchmarks, tmp_path / "out.txt", fio_layer="disk")
    lines = [line for line in texts.IOR_3.splitlines() if not line.startswith("write ")]
    (best,) = rows(tmp_path, "\n".join(lines) + "\n")
    assert (best.mode, best.bytes_per_second) == ("write", 400 * MIB)
    for text, rule in (("", "the file is empty"), ("hello\n", "no benchmark's output")):
        with pytest.raises(ConfigError, match=rule) as error:
            read(tmp_path, text, "notes.txt")
        assert "notes.txt" in str(error.value)
    assert "no benchmark is given" in refused(read_benchmarks, [])


def test_fair_lio_is_read_under_dshbak_in_megabytes_and_cut_off(tmp_path: Path) -> None:
    rule = "-" * 16
    found = rows(tmp_path, f"{rule}\noss[1-2]\n{rule}\n{texts.FAIR_LIO}")
    assert [one.device for one in found] == ["", "oss[1-2]:/dev/sda", "oss[1-2]:/dev/sdb"]
    # A rate of 10^6 would be 4.9 % too large if it were taken for MiB: bytes over time count.
    decimal = (
        texts.FAIR_LIO.replace("100.00 MB/s", "104.86 MB/s")
        .replace(" 90.00 MB/s", " 94.37 MB/s")
        .replace("190.00 MB/s skew 10.00", "199.23 MB/s skew 10.49")
    )
    total = rows(tmp_path, decimal)[0]
    assert total.bytes_per_second == 190 * MIB
    assert total.skew_bytes_per_second == 10.49e6
    whole = texts.FAIR_LIO
    found = read(tmp_path, whole + whole[: len(whole) // 2])
    assert len(found.rows) == 3
    assert found.notes == ("out.txt: the run that begins at line 9 is cut off",)
    assert "no run of fair-lio in it is whole" in refused(read, tmp_path, whole[: len(whole) // 2])


# A warning that a file ends with concerns what stands above it.
@pytest.mark.parametrize("name", [name for name in texts.TEXTS if name != "ior-wrong"])
def test_a_text_cut_off_anywhere_is_read_in_part_or_refused(tmp_path: Path, name: str) -> None:
    """What is left of a file is never another rate than the whole file has."""
    text = texts.TEXTS[name]
    whole = {_figures(one) for one in rows(tmp_path, text)}
    for end in range(0, len(text), max(len(text) // times(60), 1)):
        try:
            part = rows(tmp_path, text[:end])
        except ConfigError:
            continue
        assert {_figures(one) for one in part} <= whole, f"cut at {end}"


def _figures(one: Benchmark) -> tuple[object, ...]:
    return (one.mode, one.request_bytes, one.bytes_per_second, one.operations_per_second)


@pytest.mark.parametrize("name", texts.TEXTS)
def test_a_line_without_an_end_takes_no_longer_than_its_length(tmp_path: Path, name: str) -> None:
    """What a line begins with, 20,000 times over, makes no reader look at it again and again."""
    text = texts.TEXTS[name]
    for line in {one[:12] for one in text.splitlines() if one.strip()}:
        (tmp_path / "long.txt").write_text(text + line * 20_000, encoding="utf-8")
        with contextlib.suppress(ConfigError):
            read_benchmarks(tmp_path / "long.txt")


def test_real_files_of_the_io500_are_read(shared_data: Path) -> None:
    """Their own figures, by hand: 475,798 and 6,140 MiB/s, 415,688.686 stats a second."""
    folder = shared_data / "lustre" / "io500"
    found = read_benchmarks(sorted(folder.glob("*.txt")))
    by_file: dict[str, list[Benchmark]] = {}
    for one in found.rows:
        by_file.setdefault(one.file, []).append(one)
    assert len(by_file) == len(list(folder.glob("*.txt")))
    (back,) = by_file["ior-easy-read.txt"]
    assert (back.bytes_per_second, back.clients, back.request_bytes) == (475798 * MIB, 640, 2 * MIB)
    (hard,) = by_file["ior-hard-write.txt"]
    assert (hard.bytes_per_second, hard.request_bytes) == (6140 * MIB, 47_008)
    (stat,) = by_file["mdtest-easy-stat.txt"]
    assert (stat.operations_per_second, stat.clients) == (415_688.686, 640)
    # Five data phases where random reads were tried too, and eight of names.
    assert [len(by_file[f"summary-{number}.txt"]) for number in (1, 2)] == [13, 12]
