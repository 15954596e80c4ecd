"""`resilver place` ends as a tool should where its output is closed, full or no longer read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.front_door import environment

pytest.importorskip("resilver._core", reason="the native core is not built")

BUILD = ["--build", "4096", "host", "straw2", "16", "root", "straw2", "0"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command line, with `place` standing for the command."""
    words = " ".join([sys.executable, "-c", "'from resilver.cli import main; main()'", "place"])
    return subprocess.run(
        ["bash", "-c", line.replace("PLACE", words)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("view", ["--tree", "--dump", "--decompile"])
def test_a_reader_that_leaves_early_is_no_error(view: str, tmp_path: Path) -> None:
    """Rule: `| head` ends the command with 0 and without a word, however much is left to print."""
    done = shell(f"PLACE {' '.join(BUILD)} {view} | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("options", ["--show-mappings", "--quality"])
def test_mappings_that_nobody_reads_are_no_error(options: str, tmp_path: Path) -> None:
    """Rule: as above, for rules; 200,000 mappings are far more than a pipe holds."""
    line = f"PLACE {' '.join(BUILD)} --rule 0 --num-rep 3 --min-x 0 --max-x 200000 {options}"
    done = shell(f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("view", ["--tree", "--dump", "--quality"])
def test_a_full_device_is_said_in_one_line(view: str, tmp_path: Path) -> None:
    """Rule: what cannot be printed ends with 1 and one message, whichever way it is printed."""
    done = shell(f"PLACE {' '.join(BUILD)} {view} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: stdout cannot be written: No space left on device; make room, or write elsewhere"
    ]


def test_closed_streams_take_everything(tmp_path: Path) -> None:
    """Rule: without stdout a map is still written; without stderr no message strays to stdout."""
    done = shell(f"PLACE {' '.join(BUILD)} --tree -o map.bin >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "binary map written to map.bin\n")
    assert (tmp_path / "map.bin").stat().st_size > 4096
    done = shell("PLACE absent --tree 2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
