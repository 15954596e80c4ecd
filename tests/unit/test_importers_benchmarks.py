"""Outputs of benchmark programs become rates in bytes and operations per second, and nothing else.

Expected rates are the texts' own numbers times their unit: 2^20 where the program's source divides
by 1,024 twice, whatever it calls that.
"""

import contextlib
from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers.benchmarks import READERS, Benchmark, read_benchmarks
from resilver.importers.benchmarks.table import Benchmarks
from tests.build import refused
from tests.scale import times
from tests.unit import benchmark_texts as texts

MIB = 2**20


def read(tmp_path: Path, text: str, name: str = "out.txt") -> Benchmarks:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_benchmarks(path)


def rows(tmp_path: Path, text: str) -> tuple[Benchmark, ...]:
    return read(tmp_path, text).rows


@pytest.mark.parametrize("name", texts.TEXTS)
def test_one_reader_alone_knows_each_text(name: str) -> None:
    """A text is read by the program that wrote it, whatever the order of readers."""
    assert sum(knows(texts.TEXTS[name]) for knows, _ in READERS) == 1


def test_fair_lio_has_all_devices_and_each_with_mebibytes_as_mb(tmp_path: Path) -> None:
    all_of_them, first, second = rows(tmp_path, texts.FAIR_LIO)
    assert (all_of_them.mode, all_of_them.request_bytes, all_of_them.queue) == ("write", MIB, 4)
    assert (all_of_them.devices, all_of_them.device, all_of_them.line) == (2, "", 8)
    assert all_of_them.bytes_per_second == 190 * MIB
    assert all_of_them.skew_bytes_per_second == 10 * MIB
    assert (first.device, first.bytes_per_second, first.is_of_all) == ("/dev/sda", 100 * MIB, False)
    assert (second.device, second.bytes_per_second) == ("/dev/sdb", 90 * MIB)


def test_fair_lio_of_several_hosts_keeps_them_apart(tmp_path: Path) -> None:
    """Lines of hosts alternate, as pdsh prints them; a single device is all there is."""
    found = rows(tmp_path, texts.FAIR_LIO_HOSTS)
    assert [one.device for one in found] == ["oss1:/dev/sda", "oss2:/dev/sda"]
    assert {(one.mode, one.queue, one.bytes_per_second, one.is_of_all) for one in found} == {
        ("randread", 16, 2 * MIB, True)
    }


def test_fair_lio_under_dshbak_has_its_hosts(tmp_path: Path) -> None:
    rule = "-" * 16
    found = rows(tmp_path, f"{rule}\noss[1-2]\n{rule}\n{texts.FAIR_LIO}")
    assert [one.device for one in found] == ["", "oss[1-2]:/dev/sda", "oss[1-2]:/dev/sdb"]


def test_a_run_to_the_end_of_a_device_is_timed_as_long_as_it_took(tmp_path: Path) -> None:
    # 205 MiB in 2.5 s, which fair-lio prints as 2.05 s and 100 MB/s.
    found = read(tmp_path, texts.FAIR_LIO_END)
    assert found.rows[0].bytes_per_second == pytest.approx(82 * MIB, rel=1e-12)
    assert "2.5 s are taken" in found.notes[0]


def test_fair_lio_with_megabytes_is_told_by_its_bytes(tmp_path: Path) -> None:
    """A rate of 10^6 would be 4.9 % too large if it were taken for MiB: bytes over time count."""
    decimal = (
        texts.FAIR_LIO.replace("100.00 MB/s", "104.86 MB/s")
        .replace(" 90.00 MB/s", " 94.37 MB/s")
        .replace("190.00 MB/s skew 10.00", "199.23 MB/s skew 10.49")
    )
    total = rows(tmp_path, decimal)[0]
    assert total.bytes_per_second == 190 * MIB
    assert total.skew_bytes_per_second == 10.49e6


@pytest.mark.parametrize(
    ("wrong", "right", "rule"),
    [
        ("190.00 MB/s skew", "250.00 MB/s skew", "it prints 250.00 MB/s"),
        ("/dev/sdb:", "/dev/sda:", 'device "/dev/sda" stands twice'),
        ("total: 5976883200", "total: 5976883201", "not the sum of its devices"),
        ("queue depth: 4\n", "", "lines of this run are missing"),
    ],
)
def test_a_run_of_fair_lio_that_contradicts_itself_is_refused(
    tmp_path: Path, wrong: str, right: str, rule: str
) -> None:
    with pytest.raises(ConfigError, match=rule) as error:
        read(tmp_path, texts.FAIR_LIO.replace(wrong, right))
    assert "out.txt, line" in str(error.value)


def test_a_run_cut_off_is_left_out_and_the_whole_ones_are_kept(tmp_path: Path) -> None:
    whole = texts.FAIR_LIO
    found = read(tmp_path, whole + whole[: len(whole) // 2])
    assert len(found.rows) == 3
    assert found.notes == ("out.txt: the run that begins at line 9 is cut off",)
    assert "no run of fair-lio in it is whole" in refused(read, tmp_path, whole[: len(whole) // 2])


def test_the_suite_has_medians_of_its_runs(tmp_path: Path) -> None:
    first, second, third = rows(tmp_path, texts.SUITE)
    assert (first.mode, first.request_bytes, first.queue) == ("write", 4096, 4)
    assert (first.bytes_per_second, first.devices) == (10.5 * MIB, 1)
    assert (second.mode, second.bytes_per_second) == ("randread", 78.25 * MIB)
    assert (third.mode, third.devices, third.bytes_per_second) == ("read", 7, 700 * MIB)
    later = rows(tmp_path, texts.SUITE_RUNS)
    assert [one.device for one in later] == ["oss1:/dev/sdc", "oss1:/dev/sdd"]
    assert [one.bytes_per_second for one in later] == [500 * MIB, 450 * MIB]


def test_the_suites_columns_are_held_to_their_order(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"median 10\.5 is not between 11\.2 and 9\.8"):
        read(tmp_path, texts.SUITE.replace("11.2,9.8,10.5", "9.8,11.2,10.5"))


def test_obdfilter_survey_has_servers_and_leaves_out_what_failed(tmp_path: Path) -> None:
    found = read(tmp_path, texts.OBDFILTER)
    assert [(one.test, one.bytes_per_second) for one in found.rows] == [
        ("write of 7 objects", 3500 * MIB),
        ("rewrite of 7 objects", 3400 * MIB),
        ("read of 7 objects", 3000 * MIB),
        ("write of 28 objects", 3600.5 * MIB),
        ("read of 28 objects", 3100 * MIB),
    ]
    first = found.rows[0]
    assert (first.layer, first.devices, first.threads, first.request_bytes) == ("server", 7, 7, MIB)
    assert first.skew_bytes_per_second == 40 * MIB
    assert found.rows[1].skew_bytes_per_second is None
    assert found.rows[3].threads == 56
    assert found.notes == (
        "out.txt, line 3: rewrite ended with an error: left out",
        "out.txt, line 4: the survey refused the test: too much buffer space",
    )
    with pytest.raises(ConfigError, match="case=network measures the network"):
        read(tmp_path, texts.OBDFILTER.replace("case=disk", "case=network"))


def test_sgpdd_survey_has_disks_and_leaves_out_what_failed(tmp_path: Path) -> None:
    found = read(tmp_path, texts.SGPDD)
    assert [(one.test, one.bytes_per_second) for one in found.rows] == [
        ("write of 2 regions", 320.5 * MIB),
        ("read of 2 regions", 300.25 * MIB),
        ("read of 4 regions", 280 * MIB),
    ]
    # Eight threads on the two disks of its first line.
    assert {(one.devices, one.queue, one.threads) for one in found.rows} == {(2, 4, 8)}
    assert found.notes[0] == "out.txt, line 3: 2 of write failed: left out"


def test_ior_of_several_versions_has_its_results_once(tmp_path: Path) -> None:
    found = rows(tmp_path, texts.IOR_4)
    # The summary after the results says the same again.
    assert [(one.mode, one.bytes_per_second) for one in found] == [
        ("randwrite", 512 * MIB),
        ("randread", 1024 * MIB),
        ("randwrite", 500 * MIB),
        ("randread", 1000 * MIB),
    ]
    assert {(one.clients, one.request_bytes, one.layer) for one in found} == {
        (16, MIB, "file system")
    }
    (old,) = rows(tmp_path, texts.IOR_3)
    assert (old.mode, old.clients, old.request_bytes) == ("write", 4, 262144)
    assert old.bytes_per_second == 400 * MIB


def test_a_quiet_ior_has_its_best_result(tmp_path: Path) -> None:
    lines = [line for line in texts.IOR_3.splitlines() if not line.startswith("write ")]
    (best,) = rows(tmp_path, "\n".join(lines) + "\n")
    assert (best.mode, best.bytes_per_second) == ("write", 400 * MIB)


def test_an_ior_whose_tasks_failed_keeps_what_ended_and_says_so(tmp_path: Path) -> None:
    found = read(tmp_path, texts.IOR_FAILED)
    assert [one.mode for one in found.rows] == ["write"]
    assert "IOR failed (open64" in found.notes[0]
    nothing = "\n".join(
        line for line in texts.IOR_FAILED.splitlines() if not line.startswith("write ")
    )
    with pytest.raises(ConfigError, match=r"IOR printed no result: .*Input/output error"):
        read(tmp_path, nothing)


def test_reads_that_came_back_wrong_are_no_results(tmp_path: Path) -> None:
    found = read(tmp_path, texts.IOR_WRONG)
    assert [one.mode for one in found.rows] == ["randwrite", "randwrite"]
    assert found.notes == ("out.txt: 12 errors in what it reads: left out",)


def test_iors_json_says_what_its_text_says(tmp_path: Path) -> None:
    write, back = rows(tmp_path, texts.IOR_JSON)
    assert (write.mode, write.clients, write.request_bytes) == ("write", 16, MIB)
    assert (write.bytes_per_second, back.bytes_per_second) == (512 * MIB, 1024 * MIB)


def test_mdtest_has_means_over_iterations_of_what_ran(tmp_path: Path) -> None:
    """Not those over ranks beside them, not the times below, and no zeros."""
    found = rows(tmp_path, texts.MDTEST)
    assert [(one.test, one.operations_per_second) for one in found] == [
        ("file creation", 1050.0),
        ("tree creation", 10.0),
    ]
    assert {(one.layer, one.clients, one.bytes_per_second) for one in found} == {
        ("metadata", 16, None)
    }


def test_io500_has_valid_phases_with_the_sizes_of_its_rules(tmp_path: Path) -> None:
    found = read(tmp_path, texts.IO500)
    assert [
        (one.test, one.mode, one.request_bytes, one.bytes_per_second or one.operations_per_second)
        for one in found.rows
    ] == [
        ("ior-easy-write", "write", None, 2 * 2**30),
        ("mdtest-easy-write", None, None, 10_500.0),
        ("ior-hard-read", "read", 47_008, 2**28),
        ("ior-rnd4K-easy-read", "randread", 4096, 2**27),
    ]
    assert found.notes == ("out.txt, line 5: ior-hard-write is invalid: left out",)
    with pytest.raises(ConfigError, match='its unit "GB/s" may mean two things'):
        read(tmp_path, texts.IO500.replace("GiB/s : time 300", "GB/s : time 300"))


def test_fio_is_of_block_devices_unless_said_otherwise(tmp_path: Path) -> None:
    write, back = rows(tmp_path, texts.FIO)
    assert (write.layer, write.mode, write.queue, write.request_bytes) == ("block", "write", 8, MIB)
    assert (write.bytes_per_second, write.latency_seconds) == (2e8, 0.04)
    assert (back.mode, back.bytes_per_second) == ("randread", 1e6)
    on_files = read_benchmarks(tmp_path / "out.txt", fio_layer="file system")
    assert {one.layer for one in on_files.rows} == {"file system"}
    assert 'fio_layer = "disk"' in refused(read_benchmarks, tmp_path / "out.txt", fio_layer="disk")


def test_elbencho_is_exact_where_its_csv_rounds(tmp_path: Path) -> None:
    names, write, back = rows(tmp_path, texts.ELBENCHO_CSV)
    assert (names.layer, names.test, names.operations_per_second) == ("metadata", "mkdirs", 80.0)
    # 900 requests of 4 KiB are 3.52 MiB/s, which it prints as 3.
    assert (write.mode, write.bytes_per_second) == ("randwrite", 900 * 4096)
    assert (write.clients, write.threads, write.queue) == (2, 8, 16)
    assert (back.layer, back.mode, back.bytes_per_second) == ("block", "read", 650 * MIB)
    data, stats = rows(tmp_path, texts.ELBENCHO_JSON)
    assert (data.layer, data.bytes_per_second, data.threads) == ("file system", 393_216_000, 8)
    assert (stats.test, stats.operations_per_second) == ("stat", 5000.0)


@pytest.mark.parametrize("name", texts.TEXTS)
def test_a_text_with_other_line_ends_says_the_same(tmp_path: Path, name: str) -> None:
    plain = rows(tmp_path, texts.TEXTS[name])
    (tmp_path / "out.txt").write_bytes(texts.TEXTS[name].replace("\n", "\r\n").encode())
    assert read_benchmarks(tmp_path / "out.txt").rows == plain


def test_what_no_program_wrote_is_refused_by_its_name(tmp_path: Path) -> None:
    for text, rule in (("", "the file is empty"), ("hello\n", "no benchmark's output")):
        with pytest.raises(ConfigError, match=rule) as error:
            read(tmp_path, text, "notes.txt")
        assert "notes.txt" in str(error.value)
    assert "no benchmark is given" in refused(read_benchmarks, [])


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
