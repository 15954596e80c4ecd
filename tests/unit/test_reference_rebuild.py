"""The core's runs equal those of the plain-Python twin, to the picosecond and the byte.

Servers fail together and one after another.
"""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study
from tests.build import CASES
from tests.reference.compare import assert_equal_runs
from tests.reference.layouts import LAYOUTS
from tests.scale import times

# Objects of a few bytes, of a part of a buffer, of a few buffers and of many.
MIXED = {"bins": [["0 B", "4 KiB", 40], ["4 KiB", "2 MiB", 30], ["2 MiB", "20 MiB", 8]]}
# Two buffers fill either memory.
TIGHT = {"pipeline_buffer": "1 MiB", "receive_memory": "2 MiB", "send_memory": "2 MiB"}


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
        made = {**description[name], **section} if merge else section
        if isinstance(section, dict):
            made = {key: value for key, value in made.items() if value != "(absent)"}
        description[name] = made
    return description


def at(milliseconds: int, **fail: Any) -> dict[str, Any]:
    """A fault at a time of the run."""
    return {"at": f"{milliseconds} ms", "fail": fail}


def gone(since: int, until: int, **fail: Any) -> dict[str, Any]:
    """A fault that is over at another time of the run."""
    return {**at(since, **fail), "until": f"{until} ms"}


PLAIN = {"several buffers", "partial last buffer", "object below 4 KiB", "disk busy"}
OCCUR = {
    "plain": PLAIN,
    "both full": {*PLAIN, "receive memory full", "send memory full"},
    "in the middle": {"copy that lost its source", "source changed in the middle"},
    "not wanted": {"copy no longer wanted", "buffer read in vain"},
}
ROWS = tomllib.loads((CASES / "rebuilds.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ROWS)
def test_a_run_equals_its_twin_to_the_picosecond(name: str) -> None:
    """The rows are those of `tests/cases/rebuilds.toml`."""
    row = dict(ROWS[name])
    must_occur = set().union(*(OCCUR.get(words, {words}) for words in row.pop("occurs")))
    run = Study.from_dict({"study": {"seeds": [7]}, **described(**row)}).runs()[0]
    twin = assert_equal_runs(run.system, run.seed)
    shown = twin.seen.copy()
    shown["copy that moves unlost"] = twin.copies[False]
    shown["copy without a home"] = twin.undersized_copies
    shown["object without a copy"] = twin.unrecoverable[0]
    shown = +shown
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


@settings(max_examples=times(15))
@given(descriptions())
def test_any_sequence_of_faults_equals_the_twin(description: dict[str, Any]) -> None:
    run = Study.from_dict(description).runs()[0]
    assert_equal_runs(run.system, run.seed)


@settings(max_examples=times(15))
@given(descriptions(), st.sampled_from([None, 1, 2, 5]))
def test_whoever_drives_a_rebuild_it_equals_the_twin(
    description: dict[str, Any], managers: int | None
) -> None:
    """One failure, after which sources push, or so many managers take from a queue."""
    fault = {"at": description["faults"][0]["at"], "fail": description["faults"][0]["fail"]}
    drives = {"driver": "manager", "managers": managers} if managers else {"driver": "source"}
    recovery = description["recovery"] | drives
    run = Study.from_dict(description | {"faults": [fault], "recovery": recovery}).runs()[0]
    twin = assert_equal_runs(run.system, run.seed)
    assert not twin.copies[True] or twin.transfers
