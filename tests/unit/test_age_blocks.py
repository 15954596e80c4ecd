"""Listings by the block say what they say line by line, to the last byte and the last error."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from resilver.errors import ConfigError
from resilver.importers import ages
from resilver.importers.age_blocks import Columns, find_columns, gpfs_columns, ne2scan_columns
from resilver.importers.ages import AgedFiles, read_ages

SCAN = 1_700_000_000
DAY = 86_400
BY_BLOCK = {"ne2scan": ne2scan_columns, "find": find_columns, "gpfs": gpfs_columns}
PLAIN = {
    "ne2scan": b"5|9|7|1000|100|100644|4096|12|1:a,2:b|d/f|x\n5|9|2|0|100|100644|0|13|1:a|e\n",
    "find": b"4096 5.5 9.25 7.0 1000 d/f x\n0 5.0 9.0 2.0 0 e\n",
    "gpfs": b" 12 34 0   4096 9 11 -- /d/f -- x\n13 34 -1 0 9 11 -- /e\n",
}
# What a listing may have in it, and what damages it.
ODD = [one.encode() for one in (*" \t|#\r\0-+._\n9", "e5", "nan", "x")]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_lines_are_columns(name: str) -> None:
    for block in (PLAIN[name], PLAIN[name].rstrip(b"\n")):
        found = BY_BLOCK[name](block)
        assert found.sizes.tolist() == [4096, 0]
        assert found.times.tolist() == ([9.25, 9.0] if name == "find" else [9.0, 9.0])
        owners = [found.names[number] for number in found.owners]
        assert owners == ([b"", b""] if name == "gpfs" else [b"1000", b"0"])


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("ne2scan", b""),
        ("ne2scan", b"#complete#5\n"),
        ("ne2scan", b"5|9|7|1|1|1|4|1|a|p\n#complete#5\n"),
        ("ne2scan", b"5|9|7|1|1|1|4\n"),
        ("ne2scan", b"5|9|7|1|1|1|-4|1|a|p\n"),
        ("ne2scan", b"5|9||1|1|1|4|1|a|p\n"),
        ("ne2scan", b"5|9|99999999999999999999|1|1|1|4|1|a|p\n"),
        ("find", b"4 5 9 7 1\tx d\n"),
        ("find", b"4  5 9 7 1 d\n"),
        ("find", b"4 5 9 7  1 d\n"),
        ("find", b"4 5 nan 7 1 d\n"),
        ("find", b"4 5 9 7 1\r d\n"),
        ("gpfs", b"1 2 3 -- /d\n"),
        ("gpfs", b"1 2 3 4 5 6 /d\n"),
        ("gpfs", b"-1 2 3 4 5 6 -- /d\n"),
    ],
)
def test_what_is_not_plain_is_left_to_be_read_by_line(name: str, block: bytes) -> None:
    assert BY_BLOCK[name](block) is None


def listing(name: str, stream: random.Random) -> bytes:
    """Some lines with names of spaces and bars, which vary in how many they have."""
    lines = []
    for number in range(stream.randrange(1, 30)):
        times = [SCAN - stream.randrange(90 * DAY) for _ in range(3)]
        size, owner = int(stream.lognormvariate(8, 4)), stream.choice((0, 7, 1000, 65534))
        path = "d" + stream.choice(("/", " ", "|", " -- ", "é")) * stream.randrange(3) + f"{number}"
        if name == "ne2scan":
            words = (*times, owner, 100, "100644", size, number, "1:a,2:b", path)
            lines.append("|".join(map(str, words)))
        elif name == "find":
            lines.append(f"{size} {times[0]}.5 {times[1]}.0 {times[2]} {owner} {path}")
        else:
            days = f"{stream.randrange(90)}  {stream.randrange(90)}"
            lines.append(f"{number} 5 {stream.choice((0, -1))}  {size} {days} -- {path}")
    return ("\n".join(lines) + "\n").encode()


def same(one: AgedFiles | str, other: AgedFiles | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return (
        np.array_equal(one.files, other.files)
        and np.array_equal(one.bytes, other.bytes)
        and one.owners.keys() == other.owners.keys()
        and all(np.array_equal(one.owners[name], other.owners[name]) for name in one.owners)
        and one.scanned_seconds == other.scanned_seconds
        and (one.future_files, one.future_bytes) == (other.future_files, other.future_bytes)
    )


@pytest.mark.parametrize("name", PLAIN)
def test_blocks_say_what_lines_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """150 listings, of which two of three have bytes replaced, put in or taken out."""
    stream, path = random.Random(name), tmp_path / "scan.txt"
    texts = []
    for number in range(150):
        text = bytearray(listing(name, stream))
        for _ in range(number % 3):
            at = stream.randrange(len(text))
            text[at : at + stream.randrange(2)] = stream.choice(ODD)
        texts.append(bytes(text) + b"#complete#%d\n" % (SCAN + 9))

    def by_blocks_of(size: int) -> list[AgedFiles | str]:
        # Several blocks a listing, so that plain ones stand beside others.
        monkeypatch.setattr("resilver.importers.sizes.stream.HEAD_BYTES", size)
        monkeypatch.setattr("resilver.importers.sizes.stream._CHUNK_BYTES", size)
        found = []
        for text in texts:
            path.write_bytes(text)
            try:
                found.append(read_ages(path))
            except ConfigError as error:
                found.append(str(error))
        return found

    read: list[Columns | None] = []

    def told(columns_of: Callable[[bytes], Columns | None]) -> Callable[[bytes], Columns | None]:
        def tell(block: bytes) -> Columns | None:
            read.append(columns_of(block))
            return read[-1]

        return tell

    for of in BY_BLOCK.values():
        monkeypatch.setattr(ages, of.__name__, told(of))
    blocks = by_blocks_of(400)
    for of in BY_BLOCK.values():
        monkeypatch.setattr(ages, of.__name__, lambda _: None)
    lines = by_blocks_of(400)
    differing = [
        text for text, one, other in zip(texts, blocks, lines, strict=True) if not same(one, other)
    ]
    assert differing == []
    assert sum(isinstance(one, str) for one in lines) > 20
    plain = sum(one is not None for one in read)
    assert 40 < plain < len(read)
