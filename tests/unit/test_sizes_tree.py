"""A live tree is measured whole, and what cannot be read is counted and reported."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from resilver.errors import ConfigError
from resilver.importers.left_out import LeftOut
from resilver.importers.sizes import import_sizes, scan_tree
from resilver.importers.walk import TreeWalk, WalkProgress


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


def test_many_files_in_one_folder_and_many_folders(tmp_path: Path) -> None:
    # More files than are handed over at a time, and more folders than threads: of the numbers 0 to
    # 4999 and 0 to 299 the sum is 5000 x 4999 / 2 + 300 x 299 / 2.
    fill(tmp_path, {f"flat/{number}": number for number in range(5000)})
    fill(tmp_path, {f"deep/{'/'.join(str(number))}/file": number for number in range(300)})
    assert import_sizes(tmp_path).files == 5300
    assert import_sizes(tmp_path).bytes == 5000 * 4999 // 2 + 300 * 299 // 2


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


def test_a_walk_says_how_far_it_is(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number % 50}/{number}": 1 for number in range(500)})
    seen: list[WalkProgress] = []
    scan_tree(tmp_path, progress=seen.append)
    # The last report comes after the last thread has ended: 50 folders and the one above them.
    assert (seen[-1].files, seen[-1].folders, seen[-1].pending) == (500, 51, 0)
    assert [item.files for item in seen] == sorted(item.files for item in seen)


def test_an_interrupt_ends_the_walk(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number}/{number}": 1 for number in range(3000)})

    def interrupt(progress: WalkProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan_tree(tmp_path, progress=interrupt)
    names = [Path(f"/proc/self/task/{task}/comm") for task in os.listdir("/proc/self/task")]
    deadline = time.monotonic() + 60
    while any(name.exists() and name.read_text().startswith("walk-") for name in names):
        assert time.monotonic() < deadline, "threads go on after their walk"
        time.sleep(0.01)


def test_a_bad_folder_or_option_is_refused(tmp_path: Path, tree: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, options, says in (
        (tmp_path / "absent", {}, "there is no such folder"),
        (tree / "empty", {}, "this is not a folder"),
        (empty, {}, "there is no file below it"),
        ("nul\0", {}, "cannot be read"),
        (tree, {"threads": 0}, "threads = 0: threads are a whole number from 1 to 256"),
        (tree, {"hard_links": "twice"}, 'hard_links = "twice"'),
    ):
        with pytest.raises(ConfigError, match=says):
            scan_tree(folder, **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a folder has files, not lines"):
        import_sizes(tree, field=2)
