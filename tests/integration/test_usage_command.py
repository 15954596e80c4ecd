"""`resilver usage` says of a scan's table what a walk of the tree itself says."""

import functools
import json
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resilver.center.stat_cost import StatCost
from resilver.center.usage import usage
from resilver.errors import ConfigError
from resilver.importers import import_sizes
from resilver.importers.ages import read_ages
from tests.terminal import command, json_output, output, refusal


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
    page = tmp_path / "usage.html"
    words = ("--by", "path", "--top", 2, "--purge", "30 d", "--stripes", 1, "-o", page)
    done = output("usage", made, *words)
    assert "A purge of 30 d frees 368.6 kB in 90 files of 2 owners." in done
    assert "... and 3 more; --json has all" in done
    text = page.read_text(encoding="utf-8")
    for part in ("A purge of 30 d frees 368.6 kB", "By owner", "By size", "metadata servers"):
        assert part in text


def test_a_table_may_have_any_name_and_a_damaged_one_is_refused(made: Path, tmp_path: Path) -> None:
    # DuckDB would take these signs for a pattern of names.
    other = made.rename(made.with_name("us[a]ge*?.parquet"))
    assert sum(row.files for row in usage(other).by["owner"]) == 120
    whole = other.read_bytes()
    for at in range(4, len(whole) - 8, max(1, len(whole) // 60)):
        damaged = bytearray(whole)
        damaged[at : at + 4] = random.Random(at).randbytes(4)
        path = tmp_path / "damaged.parquet"
        path.write_bytes(bytes(damaged))
        try:
            usage(path)
            read_ages(path)
            import_sizes(path)
        except ConfigError as error:
            assert str(path) in str(error)
