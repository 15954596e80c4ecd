"""Any mutant of any file that the command reads is read, or refused as input: no defect, no hang.

Each family is what one reader takes: a file that is right, and the words that have it read. A
mutant has letters, lines, numbers or values changed, or is cut off. The command runs in this
process, so that many are tried in little time.
"""

import os
import random
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from resilver import catalog, cli
from resilver.catalog.entries import study_path
from resilver.crush import CrushMap
from tests.mutants import mutant
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape
from tests.scale import SCALE, numbers
from tests.small_machine import STORED
from tests.unit.benchmark_texts import TEXTS as BENCHMARKS
from tests.unit.log_texts import TEXTS as LOGS

SHAPE = Shape(osds=12, osds_per_host=2, racks=2, groups=130)
SECONDS_MAX = 30
FEW = 3 if SCALE == 1 else 100
"""At verification's default of scale, 20, they are 2,000 of each family."""
MEMORY_MAX = 2 * 2**30

PLAN = """\
name = "two"

[[steps]]
fail = "osd.3"
at = "1 h"

[[steps]]
stop = "osd.5"
at = "2 h"
"""

SIGNATURE = """\
period = "100 s"
length = "10 s"
first = "5 s"
volume = "1 TB"
reads = 0.25
confidence = 0.9
runs = 8
"""

SERIES = "time,write_bytes\n" + "".join(
    f"{10 * step},{10**9 if step % 10 == 0 else 0}\n" for step in range(120)
)

LISTING = "size,path\n" + "".join(f"{2**step},a/{step}\n" for step in range(20))
RUNS = "time,rate\n" + "".join(f"{day},{500 + day * day % 7} GB/s\n" for day in range(40))

Words = Callable[[Path, Path], list[str]]
FAILING_OF = 8
"""Of so many mutants of a dump, one has an OSD fail; the others tell how the cluster is, sooner."""


def _catalog(kind: str) -> str:
    (name,) = catalog.list(kind)
    folder = Path(catalog.__file__).parent / kind
    return (folder / f"{name}.toml").read_text(encoding="utf-8")


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


def _write_hdf5(path: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(path, "w") as file:
        group = file.create_group("datatargets")
        group["timestamps"] = np.arange(6) * 5 + 1_700_000_000
        for way in ("read", "write"):
            table = group.create_dataset(f"{way}rates", data=np.ones((6, 3)) * 1e6)
            table.attrs["columns"] = [b"OST0000", b"OST0001", b"OST0002"]
            table.attrs["units"] = b"bytes/sec"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the right file of each family, and the dumps of a cluster."""
    folder = tmp_path_factory.mktemp("originals")
    dumps = write_cluster(folder / "dumps", SHAPE, stderr=False)
    report = dumps / "ceph_report.json"
    report.rename(folder / "ceph_report.json")
    crush = CrushMap.read(dumps / "ceph_crush.json")
    (folder / "map.txt").write_text(crush.to_text())
    (folder / "map.bin").write_bytes(crush.to_bytes())
    (folder / "map.json").write_text(crush.to_json())
    texts = {
        "plan.toml": PLAN,
        "study.toml": study_path("demo").read_text(encoding="utf-8"),
        "sizing.toml": _catalog("sizings"),
        "machine.toml": STORED,
        "lot.toml": _catalog("lots"),
        "signature.toml": SIGNATURE,
        "series.csv": SERIES,
        "listing.csv": LISTING,
        "runs.csv": RUNS,
        "lfs_df.txt": LOGS["fill"],
        "counters.txt": LOGS["counters"],
        "jobs.txt": LOGS["jobs"],
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, part in (
        ("fio.json", "fio"),
        ("ior.txt", "ior"),
        ("elbencho.csv", "elbencho"),
        ("mdtest.txt", "mdtest"),
    ):
        key = next(key for key in BENCHMARKS if part in str(key).lower())
        (folder / name).write_text(str(BENCHMARKS[key]))
    _write_hdf5(folder / "log.h5")
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_any_mutant_of_a_file_is_read_or_refused_as_input(
    family: str,
    originals: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, words = FAMILIES[family]
    monkeypatch.chdir(tmp_path)
    shutil.copytree(originals / "dumps", tmp_path / "dumps")
    kept = originals / "dumps" / name
    is_dump = kept.exists() or name == "ceph_report.json"
    data = (kept if kept.exists() else originals / name).read_bytes()
    if name == "ceph_report.json":
        for other in ("osd_dump", "crush", "pg_dump"):
            (tmp_path / "dumps" / f"ceph_{other}.json").unlink()
    file = tmp_path / ("dumps" if is_dump else ".") / name
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
                if "MUTANTS" in os.environ:
                    Path(os.environ["MUTANTS"], f"{family} {number} {name}").write_bytes(changed)
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MEMORY_MAX, number
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not wrong, "\n".join(wrong)
