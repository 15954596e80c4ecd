"""What commands do where nobody reads their text: files are there, and they end as tools should."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from resilver.cli.app import app
from resilver.reproduce.planted import planted
from tests.front_door import command, environment, shell_environment
from tests.integration.test_calibrate import JBOD, QDR
from tests.integration.test_crush_edit import LAYERS
from tests.integration.test_mutants import SIGNATURE
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape
from tests.small_machine import SMALL_MACHINE
from tests.unit import fio_reports
from tests.unit.benchmark_texts import TEXTS as BENCHMARKS
from tests.unit.log_texts import TEXTS as LOGS

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
    "import sizes listing.txt --format histogram -o sizes.csv",
    "crush map --tree -o tree.bin",
    f"crush map {EDITED} --num-rep 2 --show-mappings -o tested.bin",
    "place map --quality --max-x 99 --num-rep 2 -o judged.html",
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
    "signature shift s.toml s.toml --rate '1 TB/s' -o shift.html",
    "size spider-2 -o page.html",
    "topology 'torus 4x4' -o torus.svg",
    "usage known.parquet -o page.html",
    "watch dumps --level rack -o page.html",
    "what-if dumps --fail osd.3 --horizon '1 h' -o page.html",
]
# What they name with -o is the folder of runs, or the page, that they make first of all; coding
# needs a library that is not everywhere, and it measures and writes as its neighbours do.
ELSEWHERE = {"calibrate coding", "demo", "redundancy", "report", "reproduce", "run"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    write_cluster(folder / "dumps", Shape(osds=12, osds_per_host=2, racks=2, groups=200))
    assert (
        command("crush", "--build", "--num-osds", 16, *LAYERS, "-o", "map", cwd=folder).returncode
        == 0
    )
    (folder / "tree").mkdir()
    (folder / "tree" / "file").write_text("x")
    assert command("scan", "tree", "-o", "known.parquet", cwd=folder).returncode == 0
    fio_reports.write(fio_reports.report_of(JBOD, JBOD.request_sizes), folder / "disk.json")
    texts = {
        "ior.txt": next(str(text) for name, text in BENCHMARKS.items() if "ior" in str(name)),
        "lfs_df.txt": LOGS["fill"],
        "counters.txt": LOGS["counters"],
        "machine.toml": SMALL_MACHINE,
        "s.toml": SIGNATURE,
        "listing.txt": "1024 2047 3\n1048576 2097151 5\n",
        "fills.csv": "fill,rate\n"
        + "".join(f"{at} %,{50 if at < 70 else 30 + at % 3} GB/s\n" for at in range(30, 95)),
        "runs.csv": "time,rate_bytes_per_second\n"
        + "".join(f"2024-01-{day:02},{5e11 + day * day % 7 * 1e9}\n" for day in range(1, 32)),
    }
    for name, run in zip("abc", planted((4,), noise=1.0).runs, strict=False):
        rows = zip(run.times, run.values, strict=True)
        texts[f"{name}.csv"] = "time(s),bytes\n" + "".join(f"{at},{got}\n" for at, got in rows)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


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
def test_what_o_names_is_there_when_nobody_reads(words: str, inputs: Path, tmp_path: Path) -> None:
    """The same bytes as with a reader."""
    asked = shlex.split(words)
    named = [asked[at + 1] for at, word in enumerate(asked) if word == "-o"]
    wanted = words
    for name in named:
        wanted = wanted.replace(f"-o {name}", f"-o {shlex.quote(str(tmp_path / name))}")
    done = leaving(wanted, inputs)
    if "core.wasm for browsers is not built" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode in (0, 1), done.stderr
    assert [name for name in named if not (tmp_path / name).exists()] == [], done.stderr


def below(command: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """Every command by its words, with its options."""
    for name, one in getattr(command, "commands", {}).items():
        yield from below(one, *words, name)
        made = one.made() if hasattr(one, "made") else one
        yield " ".join([*words, name]), made


def test_every_command_that_writes_is_here() -> None:
    writing = {
        name
        for name, made in below(typer.main.get_command(app))
        if any("-o" in option.opts for option in getattr(made, "params", []))
    }
    here = {name for name in writing for words in CASES if words.startswith(f"{name} ")}
    assert len(writing) > 25 and writing - here == ELSEWHERE


BUILD = ["--build", "--num-osds", "4096", "host", "straw2", "16", "root", "straw2", "0"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command line, with `CRUSH` standing for the command, and `PLACE` for the other."""
    words = " ".join([sys.executable, "-c", "'from resilver.cli import main; main()'"])
    line = line.replace("CRUSH", f"{words} crush").replace("PLACE", f"{words} place")
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("view", ["--tree", "--dump", "--decompile"])
def test_a_reader_that_leaves_early_is_no_error(view: str, tmp_path: Path) -> None:
    """Rule: `| head` ends the command with 0 and without a word, however much is left to print."""
    done = shell(f"CRUSH {' '.join(BUILD)} {view} | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words", ["CRUSH map.bin --show-mappings", "PLACE --compare map.bin map.bin"]
)
def test_mappings_that_nobody_reads_are_no_error(words: str, tmp_path: Path) -> None:
    """Rule: as above, for rules; 200,000 mappings are far more than a pipe holds."""
    shell(f"CRUSH {' '.join(BUILD)} -o map.bin", tmp_path)
    line = f"{words} --rule 0 --num-rep 3 --min-x 0 --max-x 200000"
    done = shell(f"{line} | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words", ["CRUSH map.bin --tree", "CRUSH map.bin --dump", "PLACE --compare map.bin map.bin"]
)
def test_a_full_device_is_said_in_one_line(words: str, tmp_path: Path) -> None:
    """Rule: what cannot be printed ends with 1 and one message, whichever way it is printed."""
    shell(f"CRUSH {' '.join(BUILD)} -o map.bin", tmp_path)
    done = shell(f"{words} > /dev/full", tmp_path)
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
