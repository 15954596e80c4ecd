"""A live tree is measured whole, and what cannot be read is counted and reported."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.importers.sizes import LeftOut, import_sizes, scan_tree
from resilver.importers.sizes import tree as tree_module
from resilver.importers.sizes.tree import WalkProgress
from tests.front_door import environment


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


def test_every_name_counts_if_asked_for(tree: Path) -> None:
    sizes = scan_tree(tree, hard_links="each")
    assert (sizes.files, sizes.bytes) == (5, 4111)


def test_a_folder_may_be_a_link_itself(tree: Path) -> None:
    link = tree.parent / "link"
    link.symlink_to(tree)
    assert scan_tree(link).files == 3


def test_apparent_sizes_count_and_not_blocks(tmp_path: Path) -> None:
    # A sparse file of 3 GiB occupies nothing.
    fill(tmp_path, {"sparse": 3 * 2**30})
    assert scan_tree(tmp_path).bytes == 3 * 2**30


def test_many_files_in_one_folder_and_many_folders(tmp_path: Path) -> None:
    # More files than are handed over at a time, and more folders than threads: of the numbers 0 to
    # 4999 and 0 to 299 the sum is 5000 x 4999 / 2 + 300 x 299 / 2.
    fill(tmp_path, {f"flat/{number}": number for number in range(5000)})
    fill(tmp_path, {f"deep/{'/'.join(str(number))}/file": number for number in range(300)})
    assert import_sizes(tmp_path).files == 5300
    assert import_sizes(tmp_path).bytes == 5000 * 4999 // 2 + 300 * 299 // 2


def test_what_vanishes_meanwhile_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"kept/file": 7, "gone/file": 1})
    scandir = os.scandir

    def scan(path: str) -> object:
        if str(path).endswith("gone") and (tmp_path / "gone").exists():
            shutil.rmtree(tmp_path / "gone")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    sizes = scan_tree(tmp_path)
    assert (sizes.bytes, sizes.left_out) == (7, LeftOut(vanished=1))


def test_what_cannot_be_read_is_counted_with_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"open/file": 7, "closed\n/file": 1})
    scandir = os.scandir

    def scan(path: str) -> object:
        if str(path).endswith("closed\n"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    left_out = scan_tree(tmp_path).left_out
    assert left_out.unreadable == 1
    assert left_out.examples == (f"{tmp_path}/closed\\n: Permission denied",)


@pytest.mark.skipif(
    os.geteuid() != 0,
    reason="becoming a user without rights needs root",
)
def test_a_user_without_rights_measures_what_may_be_read(tmp_path: Path) -> None:
    # The kernel's own refusal, which root never meets. Folders above may be root's alone, so the
    # tree is the working folder.
    fill(tmp_path, {"open/file": 7, "closed/file": 100})
    for path, mode in ((tmp_path, 0o755), (tmp_path / "open", 0o755), (tmp_path / "closed", 0o700)):
        path.chmod(mode)
    # The modules are read before the rights are given up, since the checkout may be root's alone.
    script = (
        "import os, sys\n"
        "from resilver.importers.sizes import scan_tree\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "found = scan_tree('.')\n"
        "print(found.files, found.bytes, found.left_out.unreadable, found.left_out.examples[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "1 7 1 ./closed: Permission denied\n", done.stderr


def test_other_file_systems_are_left_out_if_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Mounting takes rights that tests do not have, so the folder's own device is said to be
    # another: then both folders below it are on another file system.
    fill(tmp_path, {"here": 7, "a/file": 1, "b/c/file": 1})
    monkeypatch.setattr(tree_module, "_check_root", lambda root: os.stat(root).st_dev + 1)
    assert scan_tree(tmp_path).bytes == 9
    sizes = scan_tree(tmp_path, one_file_system=True)
    assert (sizes.bytes, sizes.left_out) == (7, LeftOut(other_file_systems=2))


def test_a_walk_says_how_far_it_is(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number % 50}/{number}": 1 for number in range(500)})
    seen: list[WalkProgress] = []
    scan_tree(tmp_path, progress=seen.append)
    # The last report comes after the last thread has ended: 50 folders and the one above them.
    assert (seen[-1].files, seen[-1].folders, seen[-1].pending) == (500, 51, 0)
    assert [item.files for item in seen] == sorted(item.files for item in seen)


def test_an_interrupt_ends_the_walk_and_its_threads(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The walk waits for a folder that does not answer when the interrupt comes.
    answers = threading.Event()
    asked: list[str] = []
    scandir = os.scandir

    def scan(path: str) -> object:
        asked.append(str(path))
        if Path(path).name == "a":
            answers.wait(60)
        return scandir(path)

    def interrupt(progress: WalkProgress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "scandir", scan)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        scan_tree(tree, progress=interrupt)
    answers.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()
    # What lies below that folder is not read any more.
    assert not [path for path in asked if Path(path).name in ("b", "c")]


def test_names_that_are_not_text_are_measured(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(folder)
    with open(folder + b"/\xe9\n", "wb") as file:
        file.write(b"123")
    assert scan_tree(tmp_path).bytes == 3


def test_a_bad_folder_or_option_is_refused(tmp_path: Path, tree: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, options, says in (
        (tmp_path / "absent", {}, "there is no such folder"),
        (tree / "empty", {}, "this is not a folder"),
        (empty, {}, "there is no file below it"),
        ("nul\0", {}, "cannot be read"),
        (tree, {"threads": 0}, "threads = 0: threads is a whole number from 1 to 256"),
        (tree, {"hard_links": "twice"}, 'hard_links = "twice"'),
    ):
        with pytest.raises(ConfigError, match=says):
            scan_tree(folder, **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a folder has files, not lines"):
        import_sizes(tree, field=2)
