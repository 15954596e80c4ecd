"""What commands do where nobody reads their text: files are there, and they end as tools should."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.front_door import STARTED, process, shell_environment
from tests.integration.test_calibrate import QDR
from tests.terminal import every_command, output

EDITED = "--add-item 16 1 osd.16 --loc root root --loc host host0"

# The words of each command; -o of more than one file is repeated.
CASES = [
    "advise lfs_df.txt --files 2 -o page.html",
    "bench plan --budget 30min -o bench",
    "calibrate disk disk.json --fit line -o disk.toml",
    f"calibrate network {QDR} -o network.toml",
    "calibrate fill fills.csv --fill fill --rate rate -o fill.toml",
    "durability 'rs 4+2' --afr 1.36% --repair '10 h' -o page.html",
    "explore dumps -o page.html",
    "import benchmark ior.txt -o rates.csv",
    "import ceph dumps -o bundle.tar",
    "import logs counters.txt -o rows.csv",
    "import sizes listing.csv -o sizes.csv",
    "crush built --tree -o tree.bin",
    f"crush built {EDITED} --num-rep 2 --show-mappings -o tested.bin",
    "place built --quality --max-x 99 --num-rep 2 -o judged.html",
    "place dumps --affected --fail osd.3 -o affected.csv",
    "place dumps --balance bytes -o balance.sh",
    "plan dumps --crush-reweight osd.3=1 -o steps.sh",
    "population show genomes1000 -o sizes.png",
    "profile spider-2 -o page.html",
    "quality runs.csv -o page.html",
    "route machine.toml -o page.html",
    "scan tree -o usage.parquet",
    "schema -o schema.json",
    "signature a.csv b.csv c.csv -o a.toml -o a.html",
    "signature shift signature.toml signature.toml --rate '1 TB/s' -o shift.html",
    "size spider-2 -o page.html",
    "topology 'torus 4x4' -o torus.svg",
    "usage usage.parquet -o page.html",
    "watch dumps --level rack -o page.html",
    "what-if dumps --fail osd.3 --horizon '1 h' -o page.html",
]
# What they name with -o is the folder of runs, or the page, that they make first of all; coding
# needs a library that is not everywhere, and it measures and writes as its neighbours do.
ELSEWHERE = {"calibrate coding", "demo", "redundancy", "report", "reproduce", "run"}


def leaving(words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command into a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            ["resilver", *shlex.split(words)],
            cwd=cwd,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            env=shell_environment(),
            timeout=100,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize("words", CASES, ids=lambda words: words.replace("/", "."))
def test_what_o_names_is_there_when_nobody_reads(words: str, kinds: Path, tmp_path: Path) -> None:
    """The same bytes as with a reader."""
    asked = shlex.split(words)
    named = [asked[at + 1] for at, word in enumerate(asked) if word == "-o"]
    wanted = words
    for name in named:
        wanted = wanted.replace(f"-o {name}", f"-o {shlex.quote(str(tmp_path / name))}")
    done = leaving(wanted, kinds)
    if "core.wasm for browsers is not built" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode in (0, 1), done.stderr
    assert [name for name in named if not (tmp_path / name).exists()] == [], done.stderr


def test_every_command_that_writes_is_here() -> None:
    writing = {
        name
        for name, one in every_command().items()
        if any("-o" in option.opts for option in one.made().params)
    }
    here = {name for name in writing for words in CASES if words.startswith(f"{name} ")}
    assert len(writing) > 25 and writing - here == ELSEWHERE


BUILD = ["--build", "--num-osds", "4096", "host", "straw2", "16", "root", "straw2", "0"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command line, with `CRUSH` standing for the command, and `PLACE` for the other."""
    words = shlex.join(STARTED)
    line = line.replace("CRUSH", f"{words} crush").replace("PLACE", f"{words} place")
    return process("bash", "-c", line, cwd=folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a map of 4,096 devices."""
    folder = tmp_path_factory.mktemp("built")
    output("crush", *BUILD, "-o", "map.bin", cwd=folder)
    return folder


# 100,000 mappings are far more than a pipe holds.
MAPPED = "--rule 0 --num-rep 3 --min-x 0 --max-x 100000"


@pytest.mark.parametrize(
    "words",
    [
        "CRUSH map.bin --tree",
        "CRUSH map.bin --dump",
        "CRUSH map.bin --decompile",
        f"CRUSH map.bin --show-mappings {MAPPED}",
        f"PLACE --compare map.bin map.bin {MAPPED}",
    ],
)
def test_a_reader_that_leaves_early_is_no_error(words: str, built: Path) -> None:
    """Rule: `| head` ends the command with 0 and without a word, however much is left to print."""
    done = shell(f"{words} | head -n 1; exit ${{PIPESTATUS[0]}}", built)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words", ["CRUSH map.bin --tree", "CRUSH map.bin --dump", "PLACE --compare map.bin map.bin"]
)
def test_a_full_device_is_said_in_one_line(words: str, built: Path) -> None:
    """Rule: what cannot be printed ends with 1 and one message, whichever way it is printed."""
    done = shell(f"{words} > /dev/full", built)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: stdout cannot be written: No space left on device; make room, or write elsewhere"
    ]


def test_closed_streams_take_everything(tmp_path: Path) -> None:
    """Rule: without stdout a map is still written; without stderr no message strays to stdout."""
    done = shell(f"CRUSH {' '.join(BUILD)} --tree -o map.bin >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "binary map written to map.bin\n")
    assert (tmp_path / "map.bin").stat().st_size > 4096
    done = shell("CRUSH absent --tree 2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
