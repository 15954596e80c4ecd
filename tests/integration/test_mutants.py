"""Any mutant of any file that the command reads is read, or refused as input: no defect, no hang.

Each family is what one reader takes: a file that is right, and the words that have it read. A
mutant has letters, lines, numbers or values changed, or is cut off. The command runs in this
process, so that many are tried in little time.
"""

import random
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from resilver import cli
from tests.mutants import mutant
from tests.scale import SCALE, numbers

SECONDS_MAX = 30
FEW = 3 if SCALE == 1 else 100
"""At verification's default of scale, 20, they are 2,000 of each family."""
MEMORY_MAX = 2 * 2**30

Words = Callable[[Path, Path], list[str]]
FAILING_OF = 8
"""Of so many mutants of a dump, one has an OSD fail; the others tell how the cluster is, sooner."""


def _of_cluster(*words: str) -> Words:
    """Words about the folder of dumps, of which a file is the mutant."""
    return lambda file, dumps: [words[0], str(dumps), *words[1:]]


def _of_file(*words: str, after: tuple[str, ...] = ()) -> Words:
    return lambda file, dumps: [*words, str(file), *after]


FAIL = ("--fail", "osd.3")
_FAILING = _of_cluster("what-if", *FAIL, "--horizon", "1 h", "-q")
_PLACED = _of_file(
    "crush", after=("--num-rep", "3", "--max-x", "31", "--min-x", "0", "--show-mappings")
)

FAMILIES: dict[str, tuple[str, Words]] = {
    **{
        f"dump {kind}": (f"ceph_{kind}.json", _FAILING)
        for kind in ("osd_dump", "crush", "pg_dump", "osd_df", "df", "config_dump", "report")
    },
    "crush text": ("map.txt", _PLACED),
    "crush binary": ("map.bin", _PLACED),
    "crush json": ("map.json", _PLACED),
    "plan": (
        "plan.toml",
        lambda file, dumps: ["what-if", str(dumps), "--plan", str(file), "--horizon", "3 h", "-q"],
    ),
    "study": ("study.toml", _of_file("check")),
    "sizing": ("sizing.toml", _of_file("size", after=("-q",))),
    "machine": ("machine.toml", _of_file("route")),
    "lot": ("lot.toml", _of_file("profile")),
    "signature": ("signature.toml", lambda file, dumps: ["signature", "compare", *[str(file)] * 2]),
    "series": ("series.csv", _of_file("signature", after=("-q",))),
    "listing": ("listing.csv", _of_file("population", "show", after=("-q",))),
    "runs": ("runs.csv", _of_file("quality", after=("-q",))),
    "fio": ("fio.json", _of_file("import", "benchmark", after=("--json",))),
    "ior": ("ior.txt", _of_file("import", "benchmark", after=("--json",))),
    "elbencho": ("elbencho.csv", _of_file("import", "benchmark", after=("--json",))),
    "mdtest": ("mdtest.txt", _of_file("import", "benchmark", after=("--json",))),
    "lfs df": ("lfs_df.txt", _of_file("advise", after=("--files", "2"))),
    "counters": ("counters.txt", _of_file("import", "logs", after=("--json",))),
    "jobs": ("jobs.txt", _of_file("import", "logs", after=("--json",))),
    "hdf5": ("log.h5", _of_file("import", "logs", after=("--json",))),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_any_mutant_of_a_file_is_read_or_refused_as_input(
    family: str,
    kinds: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, words = FAMILIES[family]
    monkeypatch.chdir(tmp_path)
    shutil.copytree(kinds / "dumps", tmp_path / "dumps")
    place = "dumps" if (kinds / "dumps" / name).exists() else "."
    data = (kinds / place / name).read_bytes()
    # A report has the map once more.
    is_report = name == "ceph_report.json"
    for other in ("osd_dump", "crush", "pg_dump") if is_report else ("report",):
        (tmp_path / "dumps" / f"ceph_{other}.json").unlink()
    file = tmp_path / place / name
    file.write_bytes(data)
    assert cli.run(words(file, tmp_path / "dumps")) in (0, 1), capsys.readouterr().err
    capsys.readouterr()

    def ring(*_: object) -> None:
        raise RuntimeError(f"it takes longer than {SECONDS_MAX} s")

    before = signal.signal(signal.SIGALRM, ring)
    wrong = []
    try:
        for number in numbers(FEW):
            changed = mutant(data, name, random.Random(f"{family} {number}"))
            file.write_bytes(changed)
            signal.alarm(SECONDS_MAX)
            asked = words(file, tmp_path / "dumps")
            if words is _FAILING and number % FAILING_OF:
                asked = [word for word in asked if word not in FAIL]
            code = cli.run(asked)
            signal.alarm(0)
            told = capsys.readouterr().err
            if code not in (0, 1, 2) or "defect" in told or "Traceback" in told:
                wrong.append(f"{number}: {code} {told[-400:]}")
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MEMORY_MAX, number
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not wrong, "\n".join(wrong)
