"""Streams and soft errors in a study file: what is taken, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from resilver.core_input import faults_json
from resilver.errors import ConfigError
from resilver.estimate import estimate
from resilver.estimate.streams import analytic_rates
from resilver.spec import Fault, Study
from resilver.spec.faults import fault_words
from tests.unit.striped_studies import CODED, FABRIC, STREAMED, changed, system_of

CORRUPT = [{"corrupt": {"groups": 1}}]
ROUTED = {"routers": 2}
STORED = {"file_size": "64 MiB", "files": 10}


def test_the_study_of_these_tests_is_valid() -> None:
    system = system_of(STREAMED)
    assert system.is_traffic_only and system.streams is not None
    assert system.stripe_groups == (range(6), range(6, 12))
    assert system.streams.entries == "paired"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"traffic__streams__window": 0}, "traffic.streams.window = 0: this must be at least 1"),
        ({"traffic__streams__window": 65536}, "window = 65536: this must be at most 65535"),
        ({"traffic__streams__windows": 4}, 'windows: .*did you mean "window"|windows = 4'),
        ({"traffic__streams__rate": "-1 B/s"}, "streams.rate = .*cannot be negative"),
        # 12 servers at 8 x 10^18 B/s, for 1.2 ms and by 64 KiB a stripe: 1.5 x 10^12.
        ({"traffic__streams__rate": "7 EiB/s"}, "streams.rate = .*operations would come due"),
        ({"traffic__control_message": "1 TiB"}, "traffic.control_message = .*packets under way"),
        ({"placement__spare": "dedicated"}, 'spare = "dedicated": .*go over every member'),
        (
            {"traffic__streams__bursts": {"volume": "1 B", "every": "1 ps"}},
            "bursts.every = .*bursts in a run, and 1,000,000 are the most",
        ),
        (
            {"traffic__streams__bursts": {"volume": "7 EiB", "every": "1 us"}},
            "bursts.volume = .*would move more than 8 EiB",
        ),
        ({"traffic__streams__rate": "2 GB"}, "streams.rate = "),
        ({"traffic__streams__entries": "pair"}, 'entries = "pair": .*did you mean "paired"'),
        ({"traffic__streams__bursts": {"volume": "1 GiB"}}, "bursts.every: this key is required"),
        (
            {"traffic__streams__bursts": {"volume": "0 B", "every": "0 s"}},
            "(?s)bursts.volume = .*above zero.*bursts.every = .*above zero",
        ),
        ({"traffic__streams": 16}, "traffic.streams = 16: a table is needed"),
        ({"traffic__outstanding": 8}, "outstanding and streams are given"),
        ({"traffic__interval": "1 s"}, "traffic.interval = .*filled again at once"),
        ({"traffic__request_size": "4 KiB"}, "request_size = .*set redundancy.strip"),
        ({"traffic__targets": {"zipf": 0.99}}, "targets = .*every server alike"),
        ({"traffic__timeout": "1 s"}, "timeout = .*wait for what they asked"),
        ({"redundancy": None}, "redundancy.code: streams over groups read and write the stripes"),
        ({"redundancy": {"replicas": 3}}, "redundancy.strip: streams move strips"),
        ({"redundancy__strip": None}, 'redundancy.strip: .*add strip = "64 KiB"'),
        ({"placement": None}, "placement.algorithm: where nothing is stored, streams go over"),
        ({"placement": {"algorithm": "ring"}}, 'algorithm = "ring": where nothing is stored'),
        ({"placement__group_size": 5}, "placement.group_size = 5: groups hold equally many"),
        ({"placement__group_size": 4}, r'redundancy.code = "rs 4\+2": this needs 6 servers in a'),
        # 24 ports, each with 65,535 stripes of 6 strips of 16 packets under way.
        (
            {"traffic__streams__window": 65535, "redundancy__strip": "64 KiB"},
            "redundancy.strip = .*150,992,640 packets under way",
        ),
        ({"traffic__duration": None}, "faults.0.corrupt.strips: nothing ends this rebuild"),
        ({"faults": [{"corrupt": {"groups": 3}}]}, "corrupt.groups = 3: there are 2 groups"),
        ({"faults": [{"corrupt": {"groups": [2]}}]}, "= 2: there is no such group.* 0 to 1"),
        ({"faults": [{"corrupt": {"groups": [0, 0]}}]}, "a group stands twice"),
        ({"faults": [{"corrupt": {"groups": 0}}]}, "groups = 0: this is how many groups"),
        ({"faults": [{"corrupt": {"groups": [-1]}}]}, "this is how many groups"),
        ({"faults": [{"corrupt": {}}]}, "corrupt.groups: this key is required"),
        ({"faults": [{"corrupt": {"groups": 1, "strips": 0}}]}, "strips = 0: .*at least 1"),
        ({"faults": [{"corrupt": {"groups": 1, "window": 0}}]}, "window = 0: .*at least 1"),
        ({"faults": [{"corrupt": {"groups": 1, "code": "rs 8"}}]}, "corrupt.code = .*not a code"),
        (
            {"faults": [{"corrupt": {"groups": 1, "code": "rs 8+3"}}]},
            r'faults.0.corrupt.code = "rs 8\+3": this needs 11 servers in a group',
        ),
        (
            {"faults": [{"corrupt": {"groups": 1, "code": "copies 1"}}]},
            "a single copy cannot be made anew",
        ),
        (
            {"redundancy__code": "copies 1"},
            'faults.0.corrupt: with "copies 1" there is nothing to make a strip anew from',
        ),
        (
            {"faults": [{"corrupt": {"groups": 2}}, {"corrupt": {"groups": [1]}}]},
            "faults.0.corrupt.groups = 2: there are 2 groups, and the other faults leave 1",
        ),
        (
            {"faults": [{"corrupt": {"groups": [1]}}, {"corrupt": {"groups": [1]}}]},
            "faults.1.corrupt.groups = 1: another fault has this group rebuild",
        ),
        (
            {"faults": [{"corrupt": {"groups": 1}, "repair_after": "1 s"}]},
            "repair_after = .*rebuilt in place",
        ),
        (
            {"faults": [{"corrupt": {"groups": 1}, "fail": {"disks": 1}}]},
            "faults.0.corrupt: exactly one of fail, corrupt and part is needed, and fail and",
        ),
        (
            {"faults": [{"corrupt": {"groups": 1}, "at": "5 ms"}]},
            "faults.0.at = .*the run ends after 1.20 ms, before this",
        ),
        ({"faults": [{"fail": {"servers": 1}}]}, "servers = 1: servers that fail start a rebuild"),
        ({"population": STORED}, "faults.0.corrupt: soft errors are rebuilt over groups"),
    ],
)
def test_bad_streams_are_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Study.from_dict(changed(STREAMED, **keys))
    assert re.search(says, str(caught.value)), str(caught.value)


def test_soft_errors_need_streams() -> None:
    with pytest.raises(ConfigError, match=r"faults\.0\.corrupt: soft errors are rebuilt beside st"):
        Study.from_dict(changed(CODED, faults=CORRUPT))
    closed = {"outstanding": 8, "duration": "1 s"}
    table = changed(CODED, faults=CORRUPT, traffic=closed, cluster__fabric=ROUTED)
    with pytest.raises(ConfigError, match="soft errors are rebuilt beside streams"):
        Study.from_dict(table)


def test_streams_go_over_what_is_placed_where_something_is_stored() -> None:
    streamed = {"cluster__fabric": ROUTED, "traffic": {"streams": {"window": 2}}}
    system = system_of(CODED, **streamed)
    assert system.stripe_groups == () and not system.is_traffic_only
    # There a stripe is an object, be it kept in pieces or in copies, and needs no strip.
    assert system_of(CODED, redundancy=None, **streamed).copies == 3
    # The rebuild ends them, since they have no duration.
    assert system.traffic is not None and system.traffic.duration is None


def test_a_number_of_strips_ends_streams_without_a_duration() -> None:
    table = changed(
        STREAMED, traffic__duration=None, faults=[{"corrupt": {"groups": 2, "strips": 100}}]
    )
    assert Study.from_dict(table).runs()[0].system.faults[0].corrupt is not None


def test_streams_are_written_and_read_again(tmp_path: Path) -> None:
    table = changed(
        STREAMED,
        traffic__streams={
            "window": 3,
            "rate": "2 GB/s",
            "entries": "random",
            "bursts": {"volume": "1 GiB", "every": "10 s", "first": "1 s"},
        },
        lanes={"clients": 0.5, "rebuild": 0.25},
        faults=[{"at": "1 us", "corrupt": {"groups": [1], "code": "copies 2", "window": 7}}],
    )
    study = Study.from_dict(table)
    file = tmp_path / "again.toml"
    file.write_text(study.to_toml())
    again = Study.load(file)
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
    traffic = study.resolved()["traffic"]
    assert traffic["streams"] == {
        "window": 3,
        "rate": 2e9,
        "entries": "random",
        "bursts": {"volume": 2**30, "every": 10.0, "first": 1.0},
    }
    assert study.resolved()["lanes"]["shares"] == [0.5, 0.25, 0.25]


def test_groups_and_codes_of_soft_errors_are_swept() -> None:
    table = changed(
        STREAMED,
        study={
            "sweep": {
                "faults.0.corrupt.groups": [1, 2],
                "faults.0.corrupt.code": ["rs 4+2", "lrc 4+2 local 4"],
                "redundancy.code": ["rs 4+2"],
            }
        },
    )
    runs = Study.from_dict(table).runs()
    assert [run.swept["faults.0.corrupt.groups"] for run in runs] == [1, 1, 2, 2]
    assert runs[1].swept["faults.0.corrupt.code"] == "lrc 4+2 local 4"
    assert len({run.key for run in runs}) == 4


def test_soft_errors_are_told_in_words() -> None:
    faults = (
        Fault(corrupt={"groups": 4, "code": "rs 8+3"}),
        Fault(corrupt={"groups": [0, 3]}, at="1 s"),
        Fault(corrupt={"groups": 1}),
    )
    assert fault_words(faults) == (
        "soft errors in 4 groups (rs 8+3) + soft errors in groups 0, 3 at 1 s + "
        "soft errors in 1 group"
    )


PACKETS = {
    "model": "switched",
    "topology": "leaf spine 4x4 hosts 2 entries 2",
    "link_rate": "10 Gb/s",
    "packet_size": "4 KiB",
}


def test_buffers_of_too_many_packets_are_refused() -> None:
    # A quarter of 8 TiB, 2 TiB, is 2^29 packets of 4 KiB.
    keys: dict[str, Any] = {
        "cluster__fabric": PACKETS,
        "population": {"file_size": "8 TiB", "files": 2, "objects": "whole"},
    }
    for buffer, fits in (("4 TiB", False), ("64 GiB", True)):
        recovery = {"pipeline_buffer": buffer, "receive_memory": "64 TiB", "send_memory": "64 TiB"}
        if fits:
            system_of(CODED, recovery=recovery, **keys)
            continue
        with pytest.raises(ConfigError, match=r"pipeline_buffer = .*: this is 536,870,912 packets"):
            system_of(CODED, recovery=recovery, **keys)


def test_objects_of_too_many_packets_are_refused() -> None:
    keys: dict[str, Any] = {
        "cluster__fabric": PACKETS,
        "traffic": {"streams": {"window": 4}},
    }
    # A quarter of 1 TiB is 2^26 packets of 4 KiB, and there are six pieces.
    large = {"file_size": "1 TiB", "files": 200, "objects": "whole"}
    with pytest.raises(ConfigError, match=r"traffic\.streams: .*402,653,184 packets.*; cut files"):
        system_of(CODED, population=large, **keys)
    system_of(CODED, population={**large, "objects": {"chunk": "64 MiB"}}, **keys)


def test_a_rate_of_zero_leaves_bursts_and_rebuilds_alone() -> None:
    system = system_of(STREAMED, traffic__streams__rate="0 B/s")
    assert system.streams is not None and system.streams.rate == 0
    rates = analytic_rates(system)
    # All of six servers' 20 Gb/s, less the headers of 38 B a packet of 4 KiB, by 4 strips: the lane
    # guarantees a quarter, and clients leave the rest.
    assert rates is not None and rates.read == 0
    assert rates.rebuild == pytest.approx(6 * 2.5e9 * 4096 / 4134 / 4, rel=1e-3)


def test_a_wide_window_gives_a_rebuild_no_more_than_the_core_counts() -> None:
    system = system_of(
        STREAMED,
        traffic__streams__window=65535,
        redundancy__strip="1 KiB",
        faults=[{"corrupt": {"groups": [0]}}],
    )
    # Two sides of 65,535 operations each would be 131,070.
    assert [one["corrupt"]["window"] for one in faults_json(system)["faults"]] == [65535]


def test_the_estimate_counts_strips_that_are_waited_for() -> None:
    """A million strips a server last longer than the 1.2 ms of the traffic, in proportion."""
    few, many = (
        estimate(system_of(STREAMED, faults=[{"corrupt": {"groups": 1, "strips": count}}]))
        for count in (1_000_000, 2_000_000)
    )
    assert many["events"] == pytest.approx(2 * few["events"], rel=0.01)


def test_a_placement_that_is_not_valid_is_not_held_against_the_attachment() -> None:
    table = changed(STREAMED, placement__group_size=0, cluster__attachment="distributed")
    with pytest.raises(ConfigError) as caught:
        Study.from_dict(table)
    assert [problem.key for problem in caught.value.problems] == ["placement.group_size"]


def test_clients_of_a_leaf_spine_are_told_of_entries() -> None:
    fabric = {**FABRIC, "topology": "leaf spine 4x4 hosts 6"}
    with pytest.raises(ConfigError, match='such as "leaf spine 24x24 hosts 24 entries 24"'):
        Study.from_dict(changed(STREAMED, cluster__fabric=fabric))
