"""`resilver import sizes`, `resilver population show`, and studies of what they measured."""

import json
import os
from pathlib import Path

import pytest

from resilver import Population, Study, import_sizes
from resilver.importers.sizes import read_sizes
from resilver.importers.walk import TreeWalk
from tests.front_door import process, shell_environment
from tests.integration.study_runs import study_text
from tests.terminal import json_output, output, texts, written


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of 100 files of 1000 to 1099 bytes."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(100):
        (folder / str(number)).write_bytes(b"x" * (1000 + number))
    return folder


def test_a_scan_writes_the_histogram_that_studies_read(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    out, err = texts("import", "sizes", "--scan", data, "-o", file)
    assert out == ""
    # Sizes 1000 to 1023 lie in one power of two, 1024 to 1099 in the next.
    assert read_sizes(file) == ((1000, 1024, 24), (1024, 1100, 76))
    assert "100 files, 102.5 KiB, in 2 bins" in err
    assert "100.00 % of that volume" in err
    # Without a file, its text goes to stdout and nothing else does.
    assert output("import", "sizes", "--scan", data) == file.read_text()
    assert texts("import", "sizes", "--scan", data, "-q") == (file.read_text(), "")
    # A link to a histogram is followed, and in Python what was measured is one.
    (tmp_path / "link").symlink_to("others.txt")
    output("import", "sizes", "--scan", data, "-o", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "others.txt").read_text() == file.read_text()
    population = Population(histogram=import_sizes(data), bytes="1 MiB")
    assert population.bins == read_sizes(file)
    assert population.mean_file_bytes == pytest.approx(1049.5)


def test_json_says_what_was_measured_and_plain_edges_how_far_they_are_off(data: Path) -> None:
    (data / "link").symlink_to("0")
    found = json_output("import", "sizes", "--scan", data)
    assert (found["files"], found["bytes"]) == (100, 100 * 1000 + 99 * 100 // 2)
    assert found["left_out"] == {"symbolic_links": 1}
    assert found["bins"] == [[1000, 1024, 24], [1024, 1100, 76]]
    assert found["volume_error"] == 0.0
    # Plain: 24 x (512 + 1023) / 2 + 76 x (1024 + 2047) / 2 = 135,118 bytes of 104,950.
    assert found["plain_volume_error"] == pytest.approx(135_118 / 104_950 - 1)
    # Plain edges that are far off are said to be.
    out, err = texts("import", "sizes", "--scan", data, "--plain-edges")
    assert out.splitlines()[-2:] == ["512 1024 24", "1024 2048 76"]
    assert "128.7 % of that volume" in err and "more than 1 % off" in err
    finer = texts("import", "sizes", "--scan", data, "--plain-edges", "--bins", 64)[1]
    assert "more than 1 % off" not in finer


def test_files_that_are_all_empty_are_said_to_be_drawn_as_one_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text("0\n" * 30, encoding="utf-8")
    out, err = texts("import", "sizes", "empty")
    assert "all files are empty, and each is drawn as one byte" in out
    assert out.endswith("\n0 1 30\n")
    assert "all files are empty, and each is drawn as one byte" in err and "off" not in out + err
    shown = json_output("population", "show", "empty", "--bytes", "90 B")
    # 90 bytes in files of one byte.
    assert (shown[0]["files"], shown[0]["expected_mean_file_bytes"]) == (90, 1.0)


def test_a_listing_comes_from_stdin(data: Path) -> None:
    line = f"find '{data}' -type f -printf '%s\\n' | resilver import sizes - --json"
    listed = process("bash", "-c", line, env=shell_environment())
    assert json.loads(listed.stdout)["files"] == 100


def test_a_study_that_scans_is_its_bins(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "study.toml", study_text("scanned"))
    scans: list[object] = []
    batches = TreeWalk.batches
    monkeypatch.setattr(
        TreeWalk, "batches", lambda walk, *rest: (scans.append(walk), batches(walk, *rest))[1]
    )
    swept = {"cluster.servers": [8, 16], "population.bytes_per_server": ["1 MiB"]}
    study = Study.load(file)
    assert len(scans) == 1
    file.write_text(study_text("scanned", study__sweep=swept))
    assert len(Study.load(file).runs()) == 2 and len(scans) == 2
    # The tree is measured again neither by the resolved study nor where its folder is gone.
    text = study.to_toml()
    (data / "0").write_bytes(b"other")
    again = written(tmp_path / "again.toml", text)
    resolved = Study.load(again)
    assert len(scans) == 2
    assert [run.key for run in resolved.runs()] == [run.key for run in study.runs()]
    # And it is the study of these bins, wherever they are from.
    inline = {"bins": [["1000 B", "1024 B", 24], ["1024 B", "1100 B", 76]]}
    file.write_text(study_text("scanned", population__histogram=inline))
    assert [run.key for run in Study.load(file).runs()] == [run.key for run in study.runs()]


def test_populations_are_shown_side_by_side(data: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study_text("scanned"))
    file = tmp_path / "sizes.txt"
    output("import", "sizes", "--scan", data, "-o", file)
    shown = ("genomes1000", file, tmp_path / "study.toml")
    picture = tmp_path / "picture.pdf"
    out, err = texts("population", "show", *shown, "--bytes", "40 GiB", "-o", picture, "--json")
    assert err == f"wrote {picture}\n"
    assert picture.read_bytes().startswith(b"%PDF")
    genomes, listed, study = json.loads(out)
    assert [genomes["name"], listed["name"], study["name"]] == ["genomes1000", "sizes.txt", "study"]
    # The same bins, volume and seed are the same files.
    assert study["classes"] == listed["classes"]
    assert listed["expected_mean_file_bytes"] == pytest.approx(1049.5)
    for sizes in (genomes, listed, study):
        assert sizes["bytes"] <= 40 * 2**30
        for total, part in (("files", "files"), ("objects", "objects"), ("bytes", "file_bytes")):
            assert sizes[total] == sum(row[part] for row in sizes["classes"])
    # A study alone is drawn whole: 8 servers of 1 MiB.
    whole = json_output("population", "show", shown[2])
    assert 8 * 2**20 - 1100 < whole[0]["bytes"] <= 8 * 2**20


def test_a_folder_or_a_listing_is_shown_as_it_is_imported(data: Path, tmp_path: Path) -> None:
    listing, page = tmp_path / os.fsdecode(b"listing\xff"), tmp_path / "page.html"
    picture = tmp_path / "picture.svg"
    listing.write_text("".join(f"{1000 + number} {number}\n" for number in range(100)))
    asked = ["population", "show", data, listing, "--bytes", "1 MiB", "--json"]
    output(*asked, "-o", picture)
    folder, listed = json.loads(output(*asked, "-o", page))
    # A name that is no UTF-8 stands on the page, in a picture and in JSON with its byte.
    assert listed["name"] == listing.name
    assert all("listing\\udcff" in file.read_text() for file in (page, picture))
    assert folder["classes"] == listed["classes"]
    assert folder["expected_mean_file_bytes"] == pytest.approx(1049.5)


def test_the_table_has_shares_of_count_and_volume() -> None:
    # One file of 1 MiB in a class of its own is 100 % of everything, also where it is expected.
    out = output("population", "show", "genomes1000", "--set", "population.files=40",
        "--set", 'population.histogram={ bins = [["1 MiB", "1048577 B", 1]] }',
    )  # fmt: skip
    row = next(line.split() for line in out.splitlines() if line.split()[:2] == ["1.0", "MiB"])
    assert row == ["1.0", "MiB", *["100.0", "%"] * 6]
