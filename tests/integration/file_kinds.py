"""A right file of each kind that commands read, in one folder."""

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from resilver import catalog
from resilver.catalog.entries import study_path
from resilver.crush import CrushMap
from resilver.reproduce.planted import planted
from resilver.spec import Cluster
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape
from tests.small_machine import STORED
from tests.terminal import output
from tests.unit import fio_reports
from tests.unit.benchmark_texts import IOR_JSON
from tests.unit.benchmark_texts import TEXTS as BENCHMARKS
from tests.unit.log_texts import TEXTS as LOGS

LAYERS = ["host", "straw2", "4", "rack", "straw", "2", "root", "straw2", "0"]
"""A map of hosts in racks; `built` has sixteen devices by it."""
PLAN = """\
name = "two"
steps = [{ fail = "osd.3", at = "1 h" }, { stop = "osd.5", at = "2 h" }]
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


def write_kinds(folder: Path) -> Path:
    """Write them all; the dumps are of 12 OSDs on 6 hosts, of a replicated pool and a coded one."""
    shape = Shape(osds=12, osds_per_host=2, racks=2, groups=130)
    dumps = write_cluster(folder / "dumps", shape, stderr=False)
    crush = CrushMap.read(dumps / "ceph_crush.json")
    (folder / "map.bin").write_bytes(crush.to_bytes())
    jbod = Cluster.model_validate({"servers": 1, "device": "jbod10-sata"}).device
    fio_reports.write(fio_reports.report_of(jbod, jbod.request_sizes), folder / "disk.json")
    fills = ((at, 50 if at < 70 else 30 + at % 3) for at in range(30, 95))
    days = [f"2024-01-{day:02},{500 + day * day % 7} GB/s" for day in range(1, 32)]
    bursts = ((10 * step, 10**9 if step % 10 == 0 else 0) for step in range(120))
    texts = {
        "map.txt": crush.to_text(),
        "map.json": crush.to_json(),
        "study.toml": study_path("demo").read_text(encoding="utf-8"),
        "machine.toml": STORED,
        "plan.toml": PLAN,
        "signature.toml": SIGNATURE,
        "page.html": "<!doctype html>\n<title>made</title>\n",
        "names.csv": "name,colour\na,red\n",
        "series.csv": "time,write_bytes\n" + _lines(f"{at},{moved}" for at, moved in bursts),
        "listing.csv": "size,path\n" + _lines(f"{2**step},a/{step}" for step in range(20)),
        "runs.csv": "time,rate\n" + _lines(days),
        "fills.csv": "fill,rate\n" + _lines(f"{at} %,{rate} GB/s" for at, rate in fills),
        "lfs_df.txt": LOGS["fill"],
        "counters.txt": LOGS["counters"],
        "jobs.txt": LOGS["jobs"],
        "ior.json": IOR_JSON,
    }
    for kind in ("sizing", "lot"):
        (name,) = catalog.list(f"{kind}s")
        shipped = Path(catalog.__file__).parent / f"{kind}s" / f"{name}.toml"
        texts[f"{kind}.toml"] = shipped.read_text(encoding="utf-8")
    for name in ("fio.json", "ior.txt", "elbencho.csv", "mdtest.txt"):
        key = next(key for key in BENCHMARKS if name.partition(".")[0] in str(key).lower())
        texts[name] = str(BENCHMARKS[key])
    for name, run in zip("abc", planted((4,), noise=1.0).runs, strict=False):
        rows = zip(run.times, run.values, strict=True)
        texts[f"{name}.csv"] = "time(s),bytes\n" + _lines(f"{at},{moved}" for at, moved in rows)
    for name, text in texts.items():
        (folder / name).write_text(str(text), encoding="utf-8")
    for name, held in (("run", "provenance.json"), ("tree", "file")):
        (folder / name).mkdir()
        (folder / name / held).write_text("{}")
    output("scan", "tree", "-o", "usage.parquet", "-q", cwd=folder)
    output("crush", "--build", "--num-osds", 16, *LAYERS, "-o", "built", cwd=folder)
    parquet.write_table(pa.table({"a": [1]}), folder / "rows.parquet")
    _write_hdf5(folder / "log.h5")
    return folder


def _lines(rows: object) -> str:
    return "".join(f"{row}\n" for row in rows)  # type: ignore[attr-defined]


def _write_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("datatargets")
        group["timestamps"] = np.arange(6) * 5 + 1_700_000_000
        for way in ("read", "write"):
            table = group.create_dataset(f"{way}rates", data=np.ones((6, 3)) * 1e6)
            table.attrs["columns"] = [b"OST0000", b"OST0001", b"OST0002"]
            table.attrs["units"] = b"bytes/sec"
