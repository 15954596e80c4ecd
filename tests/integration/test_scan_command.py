"""`resilver scan` counts as `du` and `find` do, and writes a whole table or none."""

import functools
import json
import os
import random
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.center.stat_cost import StatCost
from resilver.center.usage import usage
from resilver.cli import run
from resilver.errors import ConfigError
from resilver.importers import import_sizes
from resilver.importers import walk as walk_module
from resilver.importers.ages import read_ages
from resilver.importers.scanned import read_scanned, scanned_batches
from tests.build import refused
from tests.front_door import process
from tests.mutants import mutant
from tests.scale import numbers
from tests.terminal import command, json_output, refusal, with_page


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files of 0 to 300,000 bytes in 40 folders, links of both kinds, and names of all kinds."""
    root = tmp_path / "tree"
    for number in range(400):
        folder = root / f"p{number % 40}" / "run one"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"out.{number}").write_bytes(b"x" * (number * 7919 % 300_001))
    os.link(root / "p0/run one/out.0", root / "second name")
    os.link(root / "p3/run one/out.3", root / "p4/third\nname")
    (root / "loop").symlink_to(root)
    (root / "p1/broken").symlink_to("nowhere")
    os.mkdir(os.fsencode(root) + b"/\xff\xfe")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe/\xe9")).write_bytes(b"123")
    with (root / "sparse").open("wb") as sparse:
        sparse.truncate(10_000_000)
    return root


def printed(*words: str) -> list[str]:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


scanned = functools.partial(json_output, "scan", "-q")


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_totals_are_those_of_du_and_find(tree: Path, workers: int) -> None:
    found = scanned(tree, "--workers", workers)
    # du counts the blocks of every inode once, in KiB here; find has a line a name.
    occupied, _ = printed("du", "-s", "-x", "--block-size=1", str(tree))[0].split("\t")
    assert found["allocated_bytes"] == int(occupied)
    totals = found["totals"]
    for kind, letter in (("folder", "d"), ("link", "l")):
        assert totals[kind]["entries"] == len(
            printed("find", str(tree), "-type", letter, "-printf", ".\\n")
        )
    files = dict(
        line.split() for line in printed("find", str(tree), "-type", "f", "-printf", "%i %s\\n")
    )
    names = printed("find", str(tree), "-type", "f", "-printf", ".\\n")
    assert totals["file"]["entries"] == len(files)
    assert totals["file"]["size_bytes"] == sum(map(int, files.values()))
    assert found["left_out"]["further_names"] == len(names) - len(files) == 2


def test_the_table_has_a_row_an_inode_and_says_what_it_is_of(tree: Path, tmp_path: Path) -> None:
    made = tmp_path / "usage.parquet"
    found = scanned(tree, "-o", made)
    table = pq.read_table(made)
    assert table.num_rows == sum(total["entries"] for total in found["totals"].values())
    rows = {
        (row["folder"], row["name"]): row
        for row in table.to_pylist()
        if row["kind"] != "folder" and row["links"] == 1
    }
    for folder, name in (("p7/run one", "out.7"), ("", "sparse"), ("p1", "broken")):
        status = (tree / folder / name).lstat()
        row = rows[folder, name]
        told = (row["size_bytes"], row["allocated_bytes"], row["owner"], row["links"])
        assert told == (status.st_size, status.st_blocks * 512, status.st_uid, status.st_nlink)
        # Times are to the microsecond.
        assert row["modified"].timestamp() == pytest.approx(status.st_mtime, abs=2e-6)
        assert row["stripes"] is None
    # What is no UTF-8 stands as text that can be read, and beside it as it is.
    assert rows["\\xff\\xfe", "\\xe9"]["raw_path"] == b"\xff\xfe/\xe9"
    assert [row for row in rows.values() if row["raw_path"]] == [rows["\\xff\\xfe", "\\xe9"]]
    told = read_scanned(made)
    assert (told.root, told.allocated_bytes) == (str(tree), found["allocated_bytes"])
    # Counting alone says the same.
    alone = scanned(tree)
    assert all(alone[key] == found[key] for key in ("totals", "left_out", "allocated_bytes"))


def test_stripes_are_those_of_lustre_s_layouts(tmp_path: Path) -> None:
    """As a metadata target has them; the layout is built by the header of Lustre (lustre_user.h):
    magic, pattern, identity, stripe size, stripe count, first target.
    """
    root = tmp_path / "tree"
    root.mkdir()
    for stripes in (1, 4, 1008):
        (root / str(stripes)).touch()
        layout = struct.pack("<II16xIHH", 0x0BD10BD0, 1, 2**20, stripes, 0)
        try:
            os.setxattr(root / str(stripes), "trusted.lov", layout + bytes(24 * stripes))
        except OSError:
            pytest.skip("trusted attributes need root and a file system that has them")
    (root / "none").touch()
    scanned(root, "-o", tmp_path / "usage.parquet", "--workers", 1)
    rows = pq.read_table(tmp_path / "usage.parquet").to_pylist()
    told = {row["name"]: row["stripes"] for row in rows if row["kind"] == "file"}
    assert told == {"1": 1, "4": 4, "1008": 1008, "none": None}


def test_what_cannot_be_read_is_named_and_fails_a_strict_scan(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("becoming a user without rights needs root")
    for name, mode in (("open", 0o755), ("closed\n", 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"1234567")
        (tmp_path / name).chmod(mode)
    tmp_path.chmod(0o755)
    # The modules are read before the rights are given up, since the checkout may be root's alone.
    script = (
        "import os, sys, json, resilver.study.files, encodings.unicode_escape, zoneinfo\n"
        "from resilver.cli import run\n"
        "run(['scan', 'open', '--strict', '-q'])\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "print(run(['scan', '.', '--json']), run(['scan', '.', '--strict', '-q']))\n"
    )
    done = process(sys.executable, "-c", script, cwd=tmp_path)
    assert "left out: folders and files that cannot be read: 1" in done.stderr, done.stderr
    # The kernel's own refusal, which root never meets, of a name that would break the line.
    assert "closed\\n: Permission denied" in done.stderr
    assert done.stdout.splitlines()[-1] == "0 1"


def test_an_interrupt_leaves_what_was_there(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "usage.parquet"
    made.write_bytes(b"as it was")
    batches = walk_module.TreeWalk.batches

    def interrupted(walk: Any, progress: Any = None) -> Iterator[pa.RecordBatch]:
        yield next(batches(walk, progress))
        raise KeyboardInterrupt

    monkeypatch.setattr(walk_module.TreeWalk, "batches", interrupted)
    assert run(["scan", str(tree), "-o", str(made)]) == 130
    assert made.read_bytes() == b"as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree", "usage.parquet"]


def test_a_table_that_is_cut_off_or_another_is_refused(tree: Path, tmp_path: Path) -> None:
    made = tmp_path / "usage.parquet"
    scanned(tree, "-o", made)
    whole = made.read_bytes()
    other = tmp_path / "other.parquet"
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        other.write_bytes(whole[:length])
        assert "no whole Parquet file" in refused(list, scanned_batches(other, ["size_bytes"]))
    pq.write_table(pa.table({"size_bytes": [1]}), other)
    assert "the column folder of a scan" in refused(read_scanned, other)
    table = pq.read_table(made)
    pq.write_table(table.replace_schema_metadata({}), other)
    assert "when and what was scanned" in refused(read_scanned, other)


def test_a_scan_is_a_population_and_a_listing(tree: Path, tmp_path: Path) -> None:
    """Its sizes are those of the tree, and what a purge frees what ages of the files say."""
    made = tmp_path / "usage.parquet"
    # Two files were last used 40 and 20 days ago, of 7,919 x 11 and 7,919 x 13 bytes; their inodes
    # changed now, which a table of theirs does not say.
    scanned(tree, "-o", made)
    assert import_sizes(made).bins() == import_sizes(tree).bins()
    shown = command("import", "sizes", made, "--json", "-q")
    assert json.loads(shown.stdout)["files"] == import_sizes(tree).files
    table = pq.read_table(made)
    rows = table.to_pylist()
    for row in rows:
        aged = row["changed"] - timedelta({"out.11": 40, "out.13": 20}.get(row["name"], 0))
        row |= dict.fromkeys(("accessed", "modified", "changed"), aged)
    schema = table.schema.with_metadata(pq.read_metadata(made).metadata)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), made)
    ages = read_ages(made)
    assert ages.older(14)[:2] == (2, 7919 * 11 + 7919 * 13)
    assert ages.older(30)[:2] == (1, 7919 * 11)
    assert ages.older(14)[2] == 1 and ages.is_scan_told
    sizing = tmp_path / "listed.toml"
    sizing.write_text(
        '[capacity]\nusable = "1 GB"\nlisting = "usage.parquet"\npurge = { last_access = "14 d" }\n'
    )
    told = command("size", sizing)
    assert "A purge of 14 d now frees 190.1 kB in 2 files of 1 owner." in told.stdout, told.stderr


# `resilver usage` says of a scan's table what a walk of the tree itself says.


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The table of a scan of 120 files, of which the one of number n is 1 + n bytes and was last
    used n days ago; those of number 3 k are of owner 7.
    """
    root = tmp_path / "tree"
    for number in range(120):
        folder = root / f"p{number % 4}" / f"run{number % 8}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}").write_bytes(b"x" * (1 + number))
    path = tmp_path / "usage.parquet"
    assert command("scan", root, "-o", path, "-q").returncode == 0
    _age(path)
    return path


def _age(path: Path, stripes: int | None = None) -> None:
    """Give files the ages, owners and occupied bytes that the tests know."""
    table, metadata = pq.read_table(path), pq.read_metadata(path).metadata
    seconds = json.loads(metadata[b"resilver.scan"])["begun_seconds"]
    begun, rows = datetime.fromtimestamp(seconds, UTC), table.to_pylist()
    for row in rows:
        if row["kind"] != "file":
            row["allocated_bytes"] = 0
            continue
        number = int(row["name"])
        # Half a day past, so that no rounding is asked about.
        old = begun - timedelta(days=number + 0.5)
        row |= {"accessed": old, "modified": old - timedelta(5), "changed": old - timedelta(9)}
        row |= {"owner": 7 if number % 3 == 0 else 8, "allocated_bytes": 4096, "stripes": stripes}
    schema = table.schema.with_metadata(metadata)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


answered = functools.partial(json_output, "usage")


def test_every_question_adds_up_to_the_same_and_to_what_the_files_are(made: Path) -> None:
    found = answered(made, "--purge", "30 d", "--depth", "2")
    for rows in found["by"].values():
        assert sum(row["files"] for row in rows) == 120
        # 1 + 2 + ... + 120 bytes, in a page each.
        assert sum(row["size_bytes"] for row in rows) == 120 * 121 // 2
        assert sum(row["allocated_bytes"] for row in rows) == 120 * 4096
        # Files of number 30 and more are 30 d old: 90 of them.
        assert sum(row["purged_bytes"] for row in rows) == 90 * 4096
    owners = {row["name"]: row["files"] for row in found["by"]["owner"] if row["files"]}
    assert owners == {"7": 40, "8": 80}
    ages = {row["name"]: row["files"] for row in found["by"]["age"]}
    assert ages == {
        "under 1": 1,
        "1 to 4": 4,
        "5 to 6": 2,
        "7 to 13": 7,
        "14 to 29": 16,
        "30 to 59": 30,
        "60 to 89": 30,
        "90 and more": 30,
    }
    paths = {row["name"]: row["size_bytes"] for row in found["by"]["path"] if row["files"]}
    expected: dict[str, int] = defaultdict(int)
    for number in range(120):
        expected[f"p{number % 4}/run{number % 8}"] += 1 + number
    assert paths == expected
    sizes = {row["name"]: row["files"] for row in found["by"]["size"]}
    # Of 1 to 120 bytes: a class from 2^k on has 2^k sizes, the last 57.
    assert sizes == {"1": 1, "2": 2, "4": 4, "8": 8, "16": 16, "32": 32, "64": 57}


def test_a_purge_frees_what_is_as_old_and_says_of_whom(made: Path) -> None:
    found = answered(made, "--purge", "117 d")
    # Files 117, 118 and 119; 117 is of owner 7, the others of 8.
    purge = next(one for one in found["purges"] if one["days"] == 117)
    assert purge == {"days": 117, "files": 3, "allocated_bytes": 3 * 4096, "owners": 2}
    days = [one["days"] for one in found["purges"]]
    assert days == sorted(days) and {1, 14, 90} < set(days)
    # Below a folder only it is told.
    found = answered(made, "--below", "p1")
    assert {row["name"] for row in found["by"]["path"]} == {".", "run1", "run5"}
    assert sum(row["files"] for row in found["by"]["owner"]) == 30
    assert "the scan has no such folder" in refusal("usage", made, "--below", "p9")


def test_a_stat_asks_one_and_the_stripes_of_every_file(made: Path) -> None:
    """120 files, 12 folders below and the one above: 133 entries, each a request; and k a file."""
    unknown = answered(made)["stat"]
    assert (unknown["mds_requests"], unknown["ost_requests"]) == (133, None)
    assert answered(made, "--stripes", 4)["stat"]["requests"] == 133 + 4 * 120
    _age(made, stripes=3)
    stat = answered(made, "--mds-time", "1 ms", "--ost-time", "2 ms", "--stripes", 9)["stat"]
    # What the scan knows is not assumed. A client waits 133 x 1 ms and, for files, 2 ms each.
    assert (stat["requests"], stat["is_assumed"]) == (133 + 3 * 120, False)
    assert stat["seconds"] == pytest.approx(0.133 + 0.240)
    words = ("--mds-time", "1 ms", "--ost-time", "2 ms", "--clients", 100)
    assert answered(made, *words)["stat"]["seconds"] == pytest.approx(0.373 / 100)
    # Servers of 10,000 requests a second answer 133 in 13.3 ms at the best.
    seconds = answered(made, *words, "--mds-rate", 10_000)["stat"]["seconds"]
    assert seconds == pytest.approx(0.0133)


@pytest.mark.parametrize("stripes", [2, 4, 16, 1008])
def test_one_stripe_costs_two_parts_of_one_and_k(stripes: int) -> None:
    one, many = StatCost.of(500, 500, 500, 500), StatCost.of(500, 500, 500, 500 * stripes)
    assert one.requests is not None and many.requests is not None
    assert one.requests / many.requests == pytest.approx(2 / (1 + stripes))
    assert many.at(1) == one.requests and many.at(stripes) == many.requests


def test_the_terminal_and_the_page_say_it(made: Path, tmp_path: Path) -> None:
    words = ("--by", "path", "--top", 2, "--purge", "30 d", "--stripes", 1)
    done, text = with_page(tmp_path, "usage", made, *words)
    assert "A purge of 30 d frees 368.6 kB in 90 files of 2 owners." in done
    assert "... and 3 more; --json has all" in done
    for part in ("A purge of 30 d frees 368.6 kB", "By owner", "By size", "metadata servers"):
        assert part in text


def test_a_table_may_have_any_name_and_a_damaged_one_is_refused(made: Path, tmp_path: Path) -> None:
    # DuckDB would take these signs for a pattern of names.
    other = made.rename(made.with_name("us[a]ge*?.parquet"))
    assert sum(row.files for row in usage(other).by["owner"]) == 120
    whole = other.read_bytes()
    path = tmp_path / "damaged.parquet"
    for number in numbers(20):
        path.write_bytes(mutant(whole, path.name, random.Random(number)))
        try:
            usage(path)
            read_ages(path)
            import_sizes(path)
        except ConfigError as error:
            assert str(path) in str(error)
