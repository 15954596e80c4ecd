"""What advice leaves to the last or does not use at all, and what it refuses."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import resilver
from resilver.center.advice import NoTargetError


def test_on_the_real_map_the_full_and_those_of_failed_over_servers_come_last(
    shared_data: Path,
) -> None:
    """332 targets: six on three servers that carry two, and those above 80 % full."""
    lustre = shared_data / "lustre"
    files = [lustre / f"tokio-sample_ost-{name}.txt.gz" for name in ("fullness", "map")]
    state = resilver.read_state(files)
    carried = Counter(state.servers)
    last = {
        name
        for name, server, fill in zip(state.targets, state.servers, state.fill, strict=True)
        if carried[server] > 1 or fill > 0.8
    }
    assert sum(carried[server] > 1 for server in state.servers) == 6
    for filesystem in state.filesystems:
        its = [name for name in last if name.startswith(filesystem)]
        count = len(state.only(filesystem).targets)
        found = resilver.advise(state, files=count - len(its), filesystem=filesystem)
        order = [found.state.targets[at] for at in found.order]
        assert set(order[count - len(its) :]) == set(its)
        # So many files as there are others: none goes to one of them.
        assert not {target for (target,) in found.targets} & last


def test_streams_and_bytes_of_others_take_what_closed_forms_say() -> None:
    # Two files, and one of four targets has three other streams: of four beginnings two meet
    # it, and take four times as long: 2.5 times on average.
    found = resilver.advise(resilver.LoadState.of(4, streams=[0, 3, 0, 0]), files=2)
    assert found.expected.slowest / found.round_robin.slowest == pytest.approx(2.5)
    assert (found.round_robin.least, found.round_robin.most) == (0.5, 2.0)
    # Targets of 100 B/s of which 30 and 90 are moved: a stream gets 70, or half of 100; two on
    # the first get 35 each, or a third of 100.
    state = resilver.LoadState.of(2, write_bytes_per_second=[30.0, 90.0])
    one = resilver.advise(state, files=1, rate=100.0)
    assert one.targets == (("OST0000",),) and one.expected.slowest == pytest.approx(70.0)
    two = resilver.advise(state, files=2, rate=100.0)
    assert two.expected.slowest == pytest.approx(2 * 50.0)
    three = resilver.advise(state, files=3, rate=100.0)
    assert three.streams.tolist() == [2, 1] and three.expected.slowest == pytest.approx(3 * 35.0)
    assert three.expected.mean == pytest.approx(2 * 35.0 + 50.0)


def test_what_is_avoided_unknown_or_gone_is_not_used() -> None:
    state = resilver.LoadState.of(4, streams=[0, 0, math.nan, 5], fill=[0.9, 0.5, 0.1, 0.2])
    found = resilver.advise(state, files=8, avoid=0.85)
    assert {target for (target,) in found.targets} == {"OST0001", "OST0003"}
    assert found.layers.reasons == ("avoided: 90% full", "", "load unknown", "")
    # Eight streams on two targets, one with 5 others: the slowest stream is one of seven.
    assert found.streams.tolist() == [0, 6, 0, 2] or found.streams.tolist() == [0, 7, 0, 1]
    assert found.expected.slowest == pytest.approx(8 / 7)
    assert any("of 1 target nothing says" in note for note in found.layers.notes)
    state = resilver.LoadState.of(3, fill=[0.9, 0.95, 0.99])
    with pytest.raises(NoTargetError, match="all 3 targets are ruled out: 3 avoided"):
        resilver.advise(state, files=1, avoid=0.8)
    with pytest.raises(NoTargetError, match="2 stripes needs as many targets, and 1 are left"):
        resilver.advise(state, files=1, stripe=2, avoid=0.9)


def test_targets_of_unknown_servers_do_not_make_known_ones_seem_failed_over() -> None:
    # Two servers of three targets each, and seven targets of which nothing says.
    servers = [*("a", "a", "a", "b", "b", "b"), *("",) * 7]
    found = resilver.advise(resilver.LoadState.of(13, servers=servers), files=13)
    assert set(found.layers.reasons) == {""}
    assert found.streams.tolist() == [1] * 13
    # One with six has its partner's.
    servers = [*("a",) * 6, *("b", "b", "b"), *("c", "c", "c")]
    found = resilver.advise(resilver.LoadState.of(12, servers=servers), files=6)
    assert found.layers.reasons[0] == "its server has 6 targets, most have 3"
    assert found.streams.tolist() == [0] * 6 + [1] * 6
    # Of Spider II's server 0 two targets are told of, of servers 1 and 2 one each.
    names = [f"atlas1-OST{number:04x}" for number in (0, 144, 1, 2)]
    state = resilver.LoadState.of(names)
    assert set(resilver.advise(state, files=4, machine="titan").layers.reasons) == {""}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"files": 0}, "--files = 0: it is 1 at least"),
        ({"files": 1, "stripe": 0}, "--stripe = 0"),
        ({"files": 2_000_000}, "1,000,000 at most"),
        ({"files": 1, "avoid": 80}, "0 to 100 %"),
        ({"files": 1, "seed": -1}, "--seed = -1"),
        ({"files": 1, "rate": 0.0}, "--rate = 0.0: a rate is above 0"),
        ({"files": 1, "rate": 5.0}, "moves 7 B/s already"),
        ({"files": 1, "server_rate": 5.0}, "give --rate too"),
        ({"files": 1, "filesystem": "a"}, "no such file system"),
        ({"files": 1, "clients": ["a"]}, "give --machine"),
        ({"files": 1, "machine": "titan", "namespace": 2}, "2 file systems, from 0"),
        ({"files": 1, "machine": "titan", "clients": "placed:5"}, "nodes that a job has"),
        ({"files": 1, "machine": "titan", "clients": ["nowhere"]}, "no node"),
        ({"files": 1, "machine": "titan", "clients": ["c7-2c2s0n0"]}, "does not compute"),
        ({"files": 1, "machine": "titan", "clients": ["20", "20"]}, "names the same node"),
        (
            {"files": 1, "stripe": 3, "machine": "titan"},
            "network at most, and targets are behind 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    state = resilver.LoadState.of(3, write_bytes_per_second=[7.0, 0.0, 1.0])
    with pytest.raises(resilver.ConfigError, match=said):
        resilver.advise(state, **given)


def test_a_state_says_what_is_wrong_with_its_columns() -> None:
    for given, said in (
        ({"targets": 0}, "a state has targets"),
        ({"targets": ["a", "a"]}, "a state has targets"),
        ({"targets": 2, "streams": [1.0]}, "there are 2 targets"),
        ({"targets": 1, "streams": [-1.0]}, "0 or more"),
        ({"targets": 1, "fill": [1.5]}, "share of 0 to 1"),
        ({"targets": 2, "servers": ["a"]}, "there are 2 targets"),
    ):
        with pytest.raises(resilver.ConfigError, match=said):
            resilver.LoadState.of(**given)
