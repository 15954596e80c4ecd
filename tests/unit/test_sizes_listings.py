"""Listings of every format say the same sizes, and what is none is refused with its line."""

import gzip
import io
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.importers.sizes import MeasuredSizes, import_sizes, scan_tree
from resilver.importers.sizes.listings import FORMATS, Format
from resilver.importers.walk import LeftOut, TreeWalk, WalkProgress

SIZES = (0, 12, 4096, 5000, 70_000_000_000)

INVENTORY = (
    '"photos","a, ""b"".jpg","0","2024-01-01T00:00:00.000Z"\n'
    '"photos","2024","12","2024-01-01T00:00:00.000Z"\n'
    '"photos","line\nbreak","4096","2024-01-01T00:00:00.000Z"\n'
    '"photos","d","5000","2024-01-01T00:00:00.000Z"\n'
    '"photos","e","70000000000","2024-01-01T00:00:00.000Z"\n'
)
GPFS = "".join(
    f"{inode} {7 * inode} 0   {size} -- /gpfs/fs0/a dir/file -- {inode}\n"
    for inode, size in enumerate(SIZES, 11264)
)
LISTINGS = {
    "find %s": "".join(f"{size}\n" for size in SIZES),
    "find %s without an end": "\n".join(map(str, SIZES)),
    "find %s %p": "".join(f"{size} ./a_b + c/{size}\n" for size in SIZES),
    "find %s%0": "".join(f"{size}\0" for size in SIZES),
    "lines of Windows, blanks and comments": "# sizes\r\n\r\n"
    + "".join(f"  {size}\r\n" for size in SIZES),
    "mmapplypolicy": GPFS,
    "mmapplypolicy with labels": GPFS.replace("0   ", "0 pool=system KB 5 FILE_SIZE=", 5).replace(
        "FILE_SIZE= ", "FILE_SIZE="
    ),
    "S3 inventory": INVENTORY,
    "S3 inventory with a header": '"Bucket","Key","Size","LastModifiedDate"\n' + INVENTORY,
    "S3 inventory with a byte order mark": "\ufeffBucket,Key,Size,LastModifiedDate\r\n"
    + INVENTORY.replace('Z"\n', 'Z"\r\n'),
    "CSV of one number": "".join(f"f{size},{size}\n" for size in SIZES),
    "aws s3 ls": "                           PRE old/\n"
    + "".join(f"2024-01-01 10:00:00 {size:>12} a key {size}\n" for size in SIZES)
    + "\nTotal Objects: 5\n   Total Size: 70000009108\n",
}


def read(text: str | bytes, **options: object) -> MeasuredSizes:
    data = text.encode() if isinstance(text, str) else text
    return import_sizes(io.BytesIO(data), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", LISTINGS)
def test_every_format_is_known_by_its_beginning_and_read_as_it_is(
    name: str, tmp_path: Path
) -> None:
    sizes = read(LISTINGS[name])
    assert (sizes.files, sizes.bytes) == (5, sum(SIZES))
    # Two packed files behind each other are one, as `cat a.gz b.gz` makes them.
    data = LISTINGS[name].encode()
    (tmp_path / "listing.gz").write_bytes(gzip.compress(data[:9]) + gzip.compress(data[9:]))
    assert import_sizes(tmp_path / "listing.gz").bytes == sum(SIZES)


def test_several_listings_of_one_format_are_one(tmp_path: Path) -> None:
    for number, size in enumerate(SIZES):
        (tmp_path / f"{number}.txt").write_text(f"{size}\n")
    sizes = import_sizes(sorted(tmp_path.iterdir()))
    assert (sizes.files, sizes.bytes) == (5, sum(SIZES))
    assert sizes.source == f"{tmp_path / '0.txt'} and 4 more"
    # As a list of sizes, the file list's inode numbers would be the sizes.
    (tmp_path / "list").write_text("11264 1894313 0   4096 -- /gpfs/a\n")
    with pytest.raises(ConfigError, match=r"its format is gpfs, and that of .*0.txt is sizes"):
        import_sizes([tmp_path / "0.txt", tmp_path / "list"])
    # One of several lists may be empty.
    (tmp_path / "empty").write_text("")
    assert import_sizes([tmp_path / "list", tmp_path / "empty"]).bytes == 4096


def test_sizes_are_told_from_names_bins_and_fields() -> None:
    # Three numbers a line are bins where the first is below the second; 500 17 3 is a file of 500
    # bytes by the name of "17 3".
    assert read("0 10 3\n10 20 4\n").given == ((0, 10, 3), (10, 20, 4))
    assert read("min,max,count\n0,10,3\n").given == ((0, 10, 3),)
    assert read("# total_count: 3\n0 10 3\n").given == ((0, 10, 3),)
    assert read("500 17 3\n20 18 4\n").bytes == 520
    rows = '"b","k","v1","true","false","10"\n"b","k2","v2","true","true",""\n'
    sizes = read(rows, columns="Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size")
    assert (sizes.files, sizes.bytes, sizes.left_out.without_size) == (1, 10, 1)
    # `ls -l` has the size in its fifth word.
    listed = "-rw-r--r-- 1 me us 120 Jan  1 10:00 a b\n-rw-r--r-- 1 me us 30 Jan  1 10:00 c\n"
    assert read(listed, field=5, format="sizes").bytes == 150
    assert read("1 2 0 7 900 -- /a\n3 4 0 8 100 -- /b\n", field=2).bytes == 1000
    # 300,000 lines of 8 bytes are more than two pieces of a megabyte.
    sizes = read("".join(f"{size:07d}\n" for size in range(300_000)))
    assert (sizes.files, sizes.bytes) == (300_000, 300_000 * 299_999 // 2)
    with pytest.raises(ConfigError, match=r'line 300001: "x" is not a size'):
        read("".join(f"{size:07d}\n" for size in range(300_000)) + "x\n")


BAD: tuple[tuple[str | bytes, dict[str, object], str], ...] = (
    ("", {}, "line 1: there is nothing in it"),
    ("\n\n", {}, "line 1: it holds no line with a file"),
    ("# nothing\n", {}, "it holds no line with a file"),
    ("12\n-5\n", {}, 'line 2: "-5" is not a size: a whole number of bytes'),
    ("12\n\n4 KiB\nname\n", {}, 'line 4: "name" is not a size'),
    ("12\n1_000\n", {}, 'line 2: "1_000" is not a size'),
    ("12\n+5\n", {}, "line 2"),
    ("12\n1.5\n", {}, 'line 2: "1.5" is not a size'),
    ("12\n9223372036854775808\n", {}, r"line 2: the size 9223372036854775808 is above 2\^63 - 1"),
    ("12\n" + "9" * 5000 + "\n", {}, "line 2: the size 9+ is above"),
    ("12\n\u0663\n", {}, "line 2"),
    ("hello world\n", {}, '"hello world" is no line of a listing that is known; write sizes with'),
    ('{"Contents": [{"Size": 5}]}', {}, "aws s3api .* --output text"),
    (b"\x89PNG\r\n\x1a\n", {}, "is no line of a listing"),
    ("1 2 0 -- /a\n", {}, r"line 1: the line shows no size; .*SHOW\(VARCHAR\(FILE_SIZE\)\)"),
    ("1 2 0 7 8 -- /a\n", {}, "shows 2 numbers, any of which could be the size; .*--field"),
    ("1 2 0 7 -- /a\nnonsense\n", {}, 'line 2: "nonsense" is no line of a file list'),
    ("1 2 0 7 -- /a\n", {"field": 3}, "the line shows 1 words, and the size is word 3"),
    ("5 a\n6\n", {"field": 2, "format": "sizes"}, 'line 1: "a" is not a size'),
    ("5 7\n6\n", {"field": 2, "format": "sizes"}, "line 2: the line has 1 words"),
    ("a,b\nc,d\n", {}, "line 1: no column is whole numbers, and no header names the size"),
    ("b,k,5,6\n", {}, "line 1: columns 3 and 4 are whole numbers, and any could be the size"),
    ("b,k,5,6\n", {"columns": "Bucket, Key"}, "of the columns .*, one must be the size"),
    ("Key,Size\na,5\nb\n", {}, "line 3: the row has 1 columns, and the size is in column 2"),
    ("Key,Size\na,5\nb,x\n", {}, 'line 3: "x" is not a size'),
    ('"b","k",5\n"b","k', {}, "line 2: this is not valid CSV"),
    ("Size,Bytes\n5,5\n", {}, "the header names more than one column"),
    ("2024-01-01 10:00:00 5 a\nwhat\n", {}, 'line 2: "what" is no line of aws s3 ls'),
    ("5\n", {"format": "tar"}, 'format = "tar": this is not a format'),
    ("5\n", {"format": "gpsf"}, 'did you mean "gpfs"'),
    ("5\n", {"columns": "Size"}, "columns = .*: this is for the format csv, and the listing is s"),
    ("5\n", {"field": 0}, "field = 0: a word is numbered from 1"),
    ("0 10 3\n5 20 1\n", {}, "line 2: the bin from 5 overlaps"),
    (gzip.compress(b"12\n" * 100)[:-20], {}, "the gzipped data is damaged or cut off"),
    (b"\x1f\x8b\x08nonsense", {}, "the stream: "),
    ("7" * 2_000_000, {}, "line 1: the line is longer than 1048576 bytes"),
)


@pytest.mark.parametrize(("text", "options", "says"), BAD, ids=range(len(BAD)))
def test_a_bad_listing_is_refused_with_its_line(
    text: str | bytes, options: dict[str, object], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        read(text, **options)


def test_sources_and_folders_that_are_none_are_refused(tmp_path: Path, tree: Path) -> None:
    for source, says in (
        (tmp_path / "absent", "there is no such file"),
        ([], "there is no listing to read"),
        (5, "a path, several, or a stream"),
        ([tmp_path, tmp_path], "a folder is measured alone"),
        ("nul\0", "cannot be read"),
    ):
        with pytest.raises(ConfigError, match=says):
            import_sizes(source)  # type: ignore[arg-type]
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, options, says in (
        (tmp_path / "absent", {}, "there is no such folder"),
        (empty, {}, "there is no file below it"),
        ("nul\0", {}, "cannot be read"),
        (tree, {"threads": 0}, "threads = 0: threads are a whole number from 1 to 256"),
        (tree, {"hard_links": "twice"}, 'hard_links = "twice"'),
    ):
        with pytest.raises(ConfigError, match=says):
            scan_tree(folder, **options)  # type: ignore[arg-type]


@given(st.binary(max_size=200), st.sampled_from([None, *FORMATS]), st.booleans())
def test_any_bytes_are_sizes_or_refused_as_input(
    data: bytes, name: Format | None, packed: bool
) -> None:
    try:
        sizes = read(gzip.compress(data) if packed else data, format=name)
    except ConfigError as error:
        assert str(error)
        return
    assert sizes.files > 0 and sizes.bins()


# A live tree is measured whole, and what cannot be read is counted and reported.


def fill(folder: Path, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as stream:
            stream.truncate(size)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """Three files of 0, 5 and 4096 bytes, and one of each thing that is none."""
    root = tmp_path / "tree"
    fill(root, {"empty": 0, "a/five": 5, "a/b/c/four thousand": 4096})
    os.link(root / "a/five", root / "second name")
    os.link(root / "a/five", root / "a/third name")
    (root / "link to a file").symlink_to("empty")
    (root / "a" / "loop").symlink_to(root)
    (root / "broken").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.getcwd()
        os.chdir(root)  # A socket's path is short.
        listener.bind("socket")
        os.chdir(folder)
    yield root


@pytest.mark.parametrize("threads", [1, 8])
def test_files_are_counted_once_and_nothing_else_is(tree: Path, threads: int) -> None:
    sizes = import_sizes(tree, threads=threads)
    assert (sizes.files, sizes.bytes) == (3, 4101)
    assert sizes.left_out == LeftOut(symbolic_links=3, special_files=2, further_names=2)
    assert sizes.bins() == ((0, 1, 1), (5, 6, 1), (4096, 4097, 1))


def test_every_name_counts_if_asked_for_and_a_folder_may_be_a_link(tree: Path) -> None:
    sizes = scan_tree(tree, hard_links="each")
    assert (sizes.files, sizes.bytes) == (5, 4111)
    link = tree.parent / "link"
    link.symlink_to(tree)
    assert scan_tree(link).files == 3


def test_a_walk_says_how_far_it_is(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number % 50}/{number}": 1 for number in range(500)})
    seen: list[WalkProgress] = []
    scan_tree(tmp_path, progress=seen.append)
    # The last report comes after the last thread has ended: 50 folders and the one above them.
    assert (seen[-1].files, seen[-1].folders, seen[-1].pending) == (500, 51, 0)
    assert [item.files for item in seen] == sorted(item.files for item in seen)


def test_other_file_systems_are_left_out_if_asked_for(tmp_path: Path) -> None:
    # Mounting takes rights that tests do not have; below /dev others stand already.
    above = os.stat("/dev").st_dev
    others = [
        entry.name
        for entry in os.scandir("/dev")
        if entry.is_dir(follow_symlinks=False) and entry.stat().st_dev != above
    ]
    if not others:
        pytest.skip("no other file system is mounted below /dev")
    fill(tmp_path, {"here": 7})
    with TreeWalk("/dev", one_file_system=True) as walk:
        rows = pa.Table.from_batches(walk.batches())
        assert walk.left_out().other_file_systems >= len(others)
    top = rows.filter(pc.field("folder") == "")["name"].to_pylist()
    assert not set(top) & set(others)
