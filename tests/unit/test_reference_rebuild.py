"""The core's runs equal those of the plain-Python twin, to the picosecond and the byte."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from tests.reference.compare import assert_equal_runs
from tests.reference.layouts import LAYOUTS
from tests.reference.rebuild_twin import rebuild
from tests.scale import times

# Objects of a few bytes, of a part of a buffer, of a few buffers and of many.
MIXED = {"bins": [["0 B", "4 KiB", 40], ["4 KiB", "2 MiB", 30], ["2 MiB", "20 MiB", 8]]}
# Two buffers fill either memory.
TIGHT = {"pipeline_buffer": "1 MiB", "receive_memory": "2 MiB", "send_memory": "2 MiB"}
# As in the paper: no memory binds.
AMPLE = {"pipeline_buffer": "16 MiB", "receive_memory": "1 GiB", "send_memory": "1 GiB"}
# A network slow enough to be what binds, with a row for small messages.
SLOW_ROWS = """\
# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)
1024 10 0 0 0 40.5 0 0 3.25 0.004 0
4096 10 0 0 0 40.5 0 0 9 0.011 0
65536 10 0 0 0 41.75 0 0 -2 0.013 0
"""


def described(servers: int, **sections: Any) -> dict[str, Any]:
    """A study's description: the sections given over those of a small cluster."""
    description: dict[str, Any] = {
        "cluster": {"servers": servers},
        "population": {"histogram": MIXED, "objects": {"chunk": "3 MiB"}, "files": 250},
        "redundancy": {"replicas": 3},
        "faults": [{"fail": {"servers": 1}}],
        "recovery": TIGHT,
    }
    for name, section in sections.items():
        merge = isinstance(section, dict) and isinstance(description.get(name), dict)
        description[name] = {**description[name], **section} if merge else section
    return description


RING = {"algorithm": "ring", "ring_points": 64}
NO_GROUPS = {"algorithm": "crush", "placement_groups": "none"}
PLAIN = {"several buffers", "partial last buffer", "object below 4 KiB", "disk busy"}
BOTH_FULL = {*PLAIN, "receive memory full", "send memory full"}

# Name: the description, and what must occur in it for the case to be worth its name.
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "tight-memory": (described(6), BOTH_FULL),
    "no-pipelining": (described(6, recovery={**TIGHT, "pipelining": False}), PLAIN),
    "random-source": (described(8, recovery={**TIGHT, "source": "random"}), BOTH_FULL),
    "least-loaded-source": (
        described(8, recovery={**TIGHT, "source": "least_loaded"}),
        {*BOTH_FULL, "choice of holders"},
    ),
    "ample-memory-and-large-buffers": (
        described(5, recovery=AMPLE, population={"objects": "whole"}),
        {"object below 4 KiB", "disk busy", "send interface busy", "several buffers"},
    ),
    "odd-buffers-of-no-power-of-two": (
        described(
            7,
            recovery={
                "pipeline_buffer": "100001 B",
                "receive_memory": "350 kB",
                "send_memory": "250 kB",
                "control_message": "1 B",
            },
            population={"files": 100},
        ),
        {*BOTH_FULL, "sequential request"},
    ),
    "striped-files-to-a-volume": (
        described(
            9,
            population={
                "objects": {"stripe_unit": "300 KiB", "stripe_width": "servers // copies"},
                "files": None,
                "bytes_per_server": "60 MiB",
            },
        ),
        BOTH_FULL,
    ),
    "files-that-fill-the-volume-exactly": (
        # 40 files of 5,000,000 B are 200 MB to the byte: the last one still fits.
        described(
            6,
            population={
                "histogram": None,
                "file_size": "5000000 B",
                "files": None,
                "bytes": "200 MB",
            },
        ),
        {"several buffers", "partial last buffer", "receive memory full"},
    ),
    "ring-rehash": (described(10, placement=RING), BOTH_FULL),
    "ring-successors": (described(10, placement={**RING, "ring_walk": "successors"}), BOTH_FULL),
    "ring-with-groups": (described(6, placement={**RING, "placement_groups": 77}), BOTH_FULL),
    "ring-in-racks": (described(12, cluster={"racks": 4}, placement=RING), BOTH_FULL),
    "several-rings-in-racks": (
        described(
            12,
            cluster={"racks": 4},
            placement={"algorithm": "multi_ring", "ring_points": 16},
            faults=[{"fail": {"servers": 2}}],
        ),
        BOTH_FULL,
    ),
    "rendezvous-a-rack-fails": (
        described(
            12,
            cluster={"racks": 4},
            placement={"algorithm": "rendezvous"},
            faults=[{"fail": {"racks": 1}}],
        ),
        BOTH_FULL,
    ),
    "exclusive-or": (described(9, placement={"algorithm": "xor", "ring_points": 16}), BOTH_FULL),
    # A server's neighbours alone pull what it held, from one another: no source has many to serve.
    "modulo": (described(9, placement={"algorithm": "modulo"}), {*PLAIN, "receive memory full"}),
    "jump-two-failed": (
        described(9, placement={"algorithm": "jump"}, faults=[{"fail": {"servers": 2}}]),
        BOTH_FULL,
    ),
    "declustered-with-groups": (
        described(9, placement={"algorithm": "declustered", "placement_groups": 60}),
        BOTH_FULL,
    ),
    "copysets": (described(9, placement={"algorithm": "copysets"}), BOTH_FULL),
    "straw-hammer-without-groups": (
        described(8, placement={**NO_GROUPS, "bucket": "straw", "tunables": "hammer"}),
        BOTH_FULL,
    ),
    "straw-argonaut-auto-groups": (
        described(
            12,
            placement={"bucket": "straw", "tunables": "argonaut"},
            faults=[{"fail": {"servers": 3}}],
        ),
        BOTH_FULL,
    ),
    "straw-bobtail-in-racks-two-failed": (
        described(
            12,
            cluster={"racks": 4},
            placement={"bucket": "straw", "tunables": "bobtail", "placement_groups": 100},
            faults=[{"fail": {"servers": 2}}],
        ),
        BOTH_FULL,
    ),
    "racks-too-few-for-a-set": (
        # A survivor leaves some sets and no third rack takes its place: [5, 7, 1] becomes [5, 0].
        described(
            8,
            cluster={"racks": 4},
            placement={"tunables": "bobtail"},
            faults=[{"fail": {"servers": ["server.2", "server.7"]}}],
        ),
        BOTH_FULL,
    ),
    "straw2-rows-a-rack-fails": (
        described(
            12,
            cluster={"racks": 6, "rows": 3},
            placement={"failure_domain": "row", "placement_groups": 64},
            redundancy={"replicas": 2},
            faults=[{"fail": {"racks": ["rack.1"]}}, {"fail": {"servers": 1}}],
        ),
        BOTH_FULL,
    ),
    "too-few-survivors": (described(5, placement=RING, faults=[{"fail": {"servers": 3}}]), PLAIN),
    "two-copies-both-lost": (
        described(
            5,
            placement={**NO_GROUPS, "bucket": "straw2"},
            redundancy={"replicas": 2},
            faults=[{"fail": {"servers": 1}}, {"fail": {"servers": ["server.0", "server.3"]}}],
        ),
        PLAIN,
    ),
    "slow-network": (
        described(6, cluster={"fabric": {"model": "loggp", "table": {"netgauge": "slow.dat"}}}),
        {*BOTH_FULL, "send interface busy", "receive interface busy"},
    ),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of the files that studies name."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "slow.dat").write_text(SLOW_ROWS, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_run_equals_its_twin_to_the_picosecond(name: str, inputs: Any) -> None:
    description, must_occur = CASES[name]
    run = Study.from_dict({**description, "study": {"seeds": [7]}}, base=inputs).runs()[0]
    twin = assert_equal_runs(run.system, run.seed)
    assert twin.copies[True] > 20
    missing = {what for what in must_occur if not twin.seen[what]}
    assert not missing, f"the case does not show {missing}: {dict(twin.seen)}"


def test_the_cases_cover_every_kind_of_loss(inputs: Any) -> None:
    """Copies that move unlost, copies without a home and objects without a copy all occur."""
    found = {"remapped": 0, "undersized": 0, "unrecoverable": 0}
    for name in ("straw-bobtail-in-racks-two-failed", "too-few-survivors", "two-copies-both-lost"):
        description, _ = CASES[name]
        run = Study.from_dict({**description, "study": {"seeds": [7]}}, base=inputs).runs()[0]
        twin = rebuild(run.system, run.seed)
        found["remapped"] += twin.copies[False]
        found["undersized"] += twin.undersized_copies
        found["unrecoverable"] += twin.unrecoverable[0]
    assert all(found.values()), found


@st.composite
def descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """Any small system: memories from one to four buffers, and every choice there is."""
    servers = draw(st.integers(4, 12))
    buffer = draw(st.integers(50_000, 3_000_000))
    memory = st.integers(buffer, 4 * buffer)
    algorithm = draw(st.sampled_from(["crush", *LAYOUTS]))
    cluster: dict[str, Any] = {}
    placement: dict[str, Any] = {"algorithm": algorithm}
    placement["placement_groups"] = draw(st.sampled_from(["none", "auto", 1, 50, 64]))
    if algorithm == "ring":
        placement["ring_points"] = draw(st.integers(1, 40))
        placement["ring_walk"] = draw(st.sampled_from(["rehash", "successors"]))
    elif algorithm in ("multi_ring", "xor"):
        placement["ring_points"] = draw(st.integers(1, 12))
    elif algorithm == "groups":
        servers = servers // 4 * 4
        placement["group_size"] = draw(st.sampled_from([4, servers]))
    elif algorithm == "crush":
        racks = draw(st.sampled_from([None, 4]))
        servers = servers // 4 * 4 if racks else servers
        cluster = {"racks": racks} if racks else {}
        placement["bucket"] = draw(st.sampled_from(["straw", "straw2"]))
        releases = ["argonaut", "bobtail", "firefly", "hammer", "jewel"]
        placement["tunables"] = draw(st.sampled_from(releases))
    chunk = {"chunk": f"{draw(st.integers(300_000, 5_000_000))} B"}
    stripes = {"stripe_unit": f"{draw(st.integers(100_000, 900_000))} B", "stripe_width": 3}
    return described(
        servers,
        cluster=cluster,
        placement=placement,
        population={"files": 80, "objects": draw(st.sampled_from(["whole", chunk, stripes]))},
        redundancy={"replicas": draw(st.integers(2, 3))},
        faults=[{"fail": {"servers": draw(st.integers(1, 2))}}],
        recovery={
            "pipeline_buffer": f"{buffer} B",
            "receive_memory": f"{draw(memory)} B",
            "send_memory": f"{draw(memory)} B",
            "pipelining": draw(st.booleans()),
            "source": draw(st.sampled_from(["primary", "random", "least_loaded"])),
            "control_message": f"{draw(st.integers(1, 10_000))} B",
            "order": draw(st.sampled_from(["population", "smallest", "largest", "risk"])),
            **draw(st.sampled_from([{}, {"bandwidth": "80 MB/s"}, {"bandwidth": "2 GB/s"}])),
        },
        study={"seeds": [draw(st.integers(0, 2**63 - 1))]},
    )


@settings(max_examples=times(15))
@given(descriptions())
def test_any_small_system_equals_its_twin(description: dict[str, Any]) -> None:
    run = Study.from_dict(description).runs()[0]
    assert_equal_runs(run.system, run.seed)
