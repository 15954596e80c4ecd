"""The two fabrics agree where both are models of the same network.

Servers around one switch, whose links alone take time: a message of packets leaves its sender after
all of them, and the last one takes a second link behind it. LogGP of the same rate has that link's
time as its latency L, no gap, and a packet's time over its data as its G.
"""

import pytest

from resilver import RunResult, Study
from resilver.study import simulate

PACKET, OVERHEAD, SWITCH = 65_536, 38, 6e-6
# 1 Gb/s.
SENDING = (PACKET + OVERHEAD) * 8 / 1e9
SWITCHED = {
    "model": "switched",
    "topology": "leaf spine 1x1 hosts 3",
    "link_rate": "1 Gb/s",
    "switch_latency": "6 us",
}
LOGGP = {
    "model": "loggp",
    "table": {
        "rows": [
            # Control messages of 64 B take as long on a link as their overhead lets them.
            ["4 KiB", f"{((64 + OVERHEAD) * 8 / 1e9 + SWITCH) * 1e6!r} us", "0.816 us", "0 us"],
            ["1 TiB", f"{(SENDING + SWITCH) * 1e6!r} us", "0 s", f"{SENDING / PACKET * 1e6!r} us"],
        ]
    },
}


def rebuild(fabric: dict[str, object], is_pipelined: bool) -> RunResult:
    """One server of three heals: the other two hold and take its copies."""
    study = Study.from_dict(
        {
            "cluster": {"servers": 3, "device": "jbod10-sata", "fabric": fabric},
            "population": {"file_size": "64 MiB", "files": 64},
            "placement": {"algorithm": "crush", "placement_groups": 1},
            "redundancy": {"replicas": 2},
            "faults": [{"fail": {"servers": ["server.0"]}}],
            "recovery": {"pipeline_buffer": "4 MiB", "pipelining": is_pipelined},
        }
    )
    # The one group must have been at server.0; the first seed for which it was.
    for seed in range(1, 50):
        found = simulate(study.runs()[0].system, seed)
        if found.metrics["rebuilt_bytes"]:
            return found
    raise AssertionError("no seed puts the group on server.0")


@pytest.mark.parametrize("is_pipelined", [True, False])
def test_a_pair_heals_as_fast_over_packets_as_over_messages(is_pipelined: bool) -> None:
    by_fabric = [rebuild(fabric, is_pipelined) for fabric in (SWITCHED, LOGGP)]
    # The same 4 GiB from the same server, over what is 125 MB/s either way.
    assert {found.metrics["rebuilt_bytes"] for found in by_fabric} == {64 * 64 * 2**20}
    packets, messages = (float(found.metrics["rebuild_seconds"] or 0) for found in by_fabric)
    assert packets == pytest.approx(messages, rel=0.03)
    # 64 objects of 16 buffers of 64 packets leave one link after another; without pipelining each
    # buffer has the times of its disks beside that.
    least = 64 * 16 * 64 * SENDING
    if is_pipelined:
        assert packets == pytest.approx(least, rel=0.03)
    else:
        assert packets > 1.1 * least


def serve(fabric: dict[str, object]) -> RunResult:
    """Clients that keep one request outstanding, which meets no other."""
    study = Study.from_dict(
        {
            "cluster": {"servers": 4, "device": {"service": "1 ms"}, "fabric": fabric},
            "traffic": {"outstanding": 1, "duration": "20 s"},
        }
    )
    (run,) = study.runs()
    return simulate(run.system, run.seed)


def test_a_request_alone_takes_as_long_over_packets_as_over_messages() -> None:
    star = {**SWITCHED, "topology": "leaf spine 1x1 hosts 5 routers 1"}
    packets, messages = serve(star), serve({**LOGGP, "routers": 1})
    # 512 KiB are eight packets behind one another and a link more, 64 B two links; the disk's
    # 1 ms is a read's alone, unless it still does the writes before.
    data, control = 9 * SENDING + SWITCH, 2 * (64 + OVERHEAD) * 8 / 1e9 + SWITCH
    for found in (packets, messages):
        assert found.metrics["mean_write_delay_seconds"] == pytest.approx(data + control, rel=0.03)
    reads = [float(found.metrics["mean_read_delay_seconds"] or 0) for found in (packets, messages)]
    assert reads[0] == pytest.approx(reads[1], rel=0.03)
    assert reads[0] == pytest.approx(data + control + 0.001, rel=0.03)
