"""The core's runs equal those of the plain-Python twin, to the picosecond and the byte.

Servers fail together and one after another.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from tests.reference.compare import assert_equal_runs
from tests.reference.layouts import LAYOUTS
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
# What is smaller than 300 KiB takes 40 us to cross the network, and what is not, 100 ms.
OVERTAKING = [["300 KiB", "40 us", "3 us", "0.0001 us"], ["1 MiB", "100 ms", "3 us", "0.0001 us"]]


def at(milliseconds: int, **fail: Any) -> dict[str, Any]:
    """A fault at a time of the run."""
    return {"at": f"{milliseconds} ms", "fail": fail}


def gone(since: int, until: int, **fail: Any) -> dict[str, Any]:
    """A fault that is over at another time of the run."""
    return {**at(since, **fail), "until": f"{until} ms"}


NO_GROUPS = {"algorithm": "crush", "placement_groups": "none"}
PLAIN = {"several buffers", "partial last buffer", "object below 4 KiB", "disk busy"}
BOTH_FULL = {*PLAIN, "receive memory full", "send memory full"}
GOES_ON = {"copy that lost its source"}
IN_THE_MIDDLE = {*GOES_ON, "source changed in the middle"}
NOT_WANTED = {"copy no longer wanted", "buffer read in vain"}
LARGE = {"objects": "whole"}

# What systems drawn at random seldom show. Name: the description, and what must occur in it for the
# case to be worth its name. Where layouts put copies, `test_layouts` holds object by object.
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
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
    "rendezvous-a-rack-fails": (
        described(
            12,
            cluster={"racks": 4},
            placement={"algorithm": "rendezvous"},
            faults=[{"fail": {"racks": 1}}],
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
    "too-few-survivors": (
        described(5, placement=RING, faults=[{"fail": {"servers": 3}}]),
        {*PLAIN, "copy without a home"},
    ),
    "two-copies-both-lost": (
        described(
            5,
            placement={**NO_GROUPS, "bucket": "straw2"},
            redundancy={"replicas": 2},
            faults=[{"fail": {"servers": 1}}, {"fail": {"servers": ["server.0", "server.3"]}}],
        ),
        {*PLAIN, "object without a copy"},
    ),
    "slow-network": (
        described(6, cluster={"fabric": {"model": "loggp", "table": {"netgauge": "slow.dat"}}}),
        {*BOTH_FULL, "send interface busy", "receive interface busy"},
    ),
    "three-servers-one-by-one": (
        described(
            9,
            study={"seeds": [2]},
            population=LARGE,
            faults=[at(0, servers=1), at(60, servers=1), at(150, servers=1)],
            recovery={**TIGHT, "source": "least_loaded"},
        ),
        {*IN_THE_MIDDLE, "choice of holders"},
    ),
    "sets-that-move-back-and-forth": (
        # Bobtail's retries send copies elsewhere than failures alone would.
        described(
            12,
            cluster={"racks": 4},
            population=LARGE,
            placement={"bucket": "straw", "tunables": "bobtail", "placement_groups": 100},
            faults=[at(0, servers=2), at(300, servers=2), at(600, servers=1)],
        ),
        {*IN_THE_MIDDLE, *NOT_WANTED, "copy that moves unlost"},
    ),
    "the-largest-first-and-a-cap": (
        described(
            7,
            faults=[at(0, servers=1), at(200, servers=1)],
            recovery={**TIGHT, "order": "largest", "bandwidth": "50 MB/s"},
        ),
        {*GOES_ON, "bandwidth used up"},
    ),
    "small-messages-overtake-large-ones": (
        described(
            7,
            cluster={"fabric": {"model": "loggp", "table": {"rows": OVERTAKING}}},
            population=LARGE,
            faults=[at(0, servers=1), at(160, servers=1), at(320, servers=1)],
            recovery={
                "pipeline_buffer": "1 MiB",
                "receive_memory": "16 MiB",
                "send_memory": "16 MiB",
            },
        ),
        {*IN_THE_MIDDLE, "arrived ahead of one asked again"},
    ),
    "back-while-another-is-rebuilt": (
        described(
            9,
            population=LARGE,
            faults=[gone(0, 150, servers=1), at(60, servers=1), gone(90, 400, servers=1)],
            recovery={**TIGHT, "source": "least_loaded"},
        ),
        {*GOES_ON, *NOT_WANTED},
    ),
    "gone-and-back-again-and-again": (
        described(
            8,
            population=LARGE,
            faults=[
                *(gone(n, n + 70, servers=["server.3"]) for n in (0, 80, 160, 230, 320)),
                at(200, servers=1),
                gone(260, 261, servers=1),
            ],
        ),
        {*GOES_ON, *NOT_WANTED},
    ),
    "back-with-what-was-lost-for-good": (
        described(
            6,
            redundancy={"replicas": 2},
            faults=[gone(0, 700, servers=1), gone(5, 300, servers=1), at(9, servers=1)],
        ),
        {"object lost for good"},
    ),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files that studies name."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "slow.dat").write_text(SLOW_ROWS, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_run_equals_its_twin_to_the_picosecond(name: str, inputs: Path) -> None:
    description, must_occur = CASES[name]
    run = Study.from_dict({"study": {"seeds": [7]}, **description}, base=inputs).runs()[0]
    twin = assert_equal_runs(run.system, run.seed)
    shown = twin.seen + Counter(
        {
            "copy that moves unlost": twin.copies[False],
            "copy without a home": twin.undersized_copies,
            "object without a copy": twin.unrecoverable[0],
        }
    )
    assert twin.copies[True] > 20 and must_occur <= set(shown), shown


@st.composite
def descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """Any small system: memories from one to four buffers, and every choice there is.

    Servers fail up to four times, close together or apart; some come back, and one may go and come
    back several times.
    """
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
    most = st.integers(0, draw(st.sampled_from([30, 300, 10_000])))
    counts = draw(st.lists(st.integers(1, 2), min_size=1, max_size=4))
    while sum(counts) + 1 >= servers:
        counts.pop()
    faults = []
    for count in counts:
        since, lasts = draw(most), draw(st.sampled_from([0, 0, 1, 50, 300]))
        fails = {"servers": count}
        faults.append(gone(since, since + lasts, **fails) if lasts else at(since, **fails))
    until = 0
    for _ in range(draw(st.sampled_from([0, 0, 1, 4])) if servers > 1 else 0):
        since = until + draw(st.integers(0, 60))
        until = since + draw(st.integers(1, 120))
        faults.append(gone(since, until, servers=["server.0"]))
    faults = faults or [at(draw(most), servers=["server.0"])]
    chunk = {"chunk": f"{draw(st.integers(300_000, 5_000_000))} B"}
    stripes = {"stripe_unit": f"{draw(st.integers(100_000, 900_000))} B", "stripe_width": 3}
    return described(
        servers,
        cluster=cluster,
        placement=placement,
        population={"files": 80, "objects": draw(st.sampled_from(["whole", chunk, stripes]))},
        redundancy={"replicas": draw(st.integers(2, 3))},
        faults=faults,
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


@settings(max_examples=times(25))
@given(descriptions())
def test_any_sequence_of_faults_equals_the_twin(description: dict[str, Any]) -> None:
    run = Study.from_dict(description).runs()[0]
    assert_equal_runs(run.system, run.seed)
