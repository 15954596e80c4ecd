"""Clients, their networks and what fails under them in a study file."""

import re
from pathlib import Path

import pytest

from resilver.analytic.of_groups import analytic_rates
from resilver.core_input import faults_json
from resilver.errors import ConfigError
from resilver.estimate import estimate
from resilver.spec import Cluster, Fabric, Fault, Lanes, Redundancy
from resilver.spec.chance import chances
from resilver.spec.code import code_of
from resilver.spec.faults import fault_words
from tests.build import read_again, refusal, refused, study_of, system_of

TRACED = 'traffic = { arrivals.trace = "a.csv", duration = "1 min" }\n'


def test_a_rebuild_ends_traffic_and_faults_alike_are_written_out() -> None:
    changes = "cluster.fabric.routers = 2\ntraffic.outstanding = 8\nfaults = [{ fail.servers = 1 }]"
    system = system_of("small", changes)
    assert system.traffic is not None and system.traffic.duration is None
    assert system.placement is not None and not system.is_traffic_only
    together = '{ at = "0 s", fail.links = ["a + b"] }'
    apart = '{ fail.links = ["a"] }, { fail.links = ["b"] }'
    runs = study_of("clients", f"study.sweep.faults = [[{together}], [{apart}]]").runs()
    written = [run.swept["faults"] for run in runs]
    assert len(set(written)) == 2 and all(str(value).startswith("[{") for value in written)


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ([{"fail": {"disks": ["server.1", "server.2"]}}], "disks of server.1, server.2"),
        ([{"corrupt": {"groups": 4, "code": "rs 8+3"}},
          {"corrupt": {"groups": [0, 3]}, "at": "1 s"}, {"corrupt": {"groups": 1}}],
         "soft errors in 4 groups (rs 8+3) + soft errors in groups 0, 3 at 1 s + "
         "soft errors in 1 group"),
        ([{"at": "1 h", "part": {"enclosure": 2}, "health": 0.5, "until": "3 h"}],
         "2 enclosures slowed to 0.5 at 3600 s for 7200 s"),
    ],
)  # fmt: skip
def test_faults_in_words(faults: list[dict[str, object]], words: str) -> None:
    assert fault_words(tuple(Fault(**fault) for fault in faults)) == words


def test_a_trace_says_what_a_study_would_and_counts_by_its_content(tmp_path: Path) -> None:
    for name, kind in (("a.csv", "read"), ("b.csv", "write")):
        (tmp_path / name).write_text(f"seconds,kind,size\n0,{kind},4096\n")
    lists = {
        "traffic.arrivals.trace": '["a.csv", "b.csv"]',
        "traffic.arrivals": '[{ trace = "a.csv" }, { trace = "b.csv" }]',
    }
    for key, listed in lists.items():
        change = f'{TRACED}study.sweep."{key}" = {listed}'
        study = study_of("network", change, folder=tmp_path)
        assert len({run.key for run in study.runs()}) == 2
        read_again(study)
        if key == "traffic.arrivals":
            assert [run.swept[key] for run in study.runs()] == ["a.csv", "b.csv"]
    (tmp_path / "a.csv").write_text("seconds,kind,size\n0,read,4096\n2,write,8192\n")
    traffic = study_of("network", TRACED, folder=tmp_path).runs()[0].system.traffic
    # One of two reads, (4,096 + 8,192) / 2 bytes, and two requests within 2 s.
    assert (traffic.read_share, traffic.request_bytes) == (0.5, 6144)
    assert traffic.arrivals.requests_per_second == 1


def test_traffic_alone_is_written_and_a_fabric_is_loggp_by_default() -> None:
    # Where traffic was meant to be all there is, no population is missing.
    text = refusal("clients", "traffic.outstanding = 0")
    assert "traffic.outstanding = 0" in text and "population" not in text
    written = study_of("clients").to_toml()
    assert "[traffic]" in written and "[recovery]" not in written
    assert 'device = "cheetah-15k"' in written
    assert "attempts = 3" in study_of("clients", "recovery.attempts = 3").to_toml()
    loggp = Fabric()
    assert (loggp.model, loggp.router_count, loggp.topology) == ("loggp", 0, None)
    assert Fabric(routers=3).router_count == 3
    fabric = {"model": "switched", "topology": "torus 4x4 routers 4", "link_rate": "1 Gb/s"}
    assert (Cluster(fabric=fabric).servers, Cluster(servers=5, fabric=fabric).servers) == (12, 5)
    with pytest.raises(ConfigError) as caught:
        Fabric(model="switch", topology="torus 4x4", link_rate="1 Gb/s")
    assert str(caught.value).startswith('model = "switch": ')
    assert len(caught.value.problems) == 1


def test_a_graph_file_is_found_beside_the_study_and_written_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(
        '{"nodes": [{"id": "r", "kind": "router"}, {"id": "s", "kind": "switch"},'
        ' {"id": "a", "kind": "host"}, {"id": "b", "kind": "host"}], "links": ['
        '{"source": "r", "target": "s"}, {"source": "s", "target": "a"},'
        ' {"source": "s", "target": "b"}]}'
    )
    topologies = '["graph net.json", "torus 4x4 routers 4"]'
    for change, counts in (
        ('cluster.fabric.topology = { graph = "net.json" }', [2]),
        (f'study.sweep."cluster.fabric.topology" = {topologies}', [2, 12]),
    ):
        study = study_of("clients", change, folder=tmp_path)
        assert [run.system.server_count for run in study.runs()] == counts
        read_again(study)


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        # Every server is asked as often, whatever the seed.
        ('population = "(absent)"', ()),
        ('population = "(absent)"\ntraffic.targets.zipf = 1.0', ("servers",)),
        ("", ("objects",)),
    ],
)
def test_what_a_seed_draws_of_flows_is_said(change: str, drawn: tuple[str]) -> None:
    words = chances(system_of("flows", change))
    assert len(words) == len(drawn)
    assert all(one in word for one, word in zip(drawn, words, strict=True))


# Codes, lanes, streams and soft errors in a study file.


@pytest.mark.parametrize(
    ("text", "label", "pieces", "repair"),
    [
        ("rs 8+3", "rs 8+3", 11, 8),
        ("  RS  8 + 3 ", "rs 8+3", 11, 8),
        ("lrc 8+5 local 4", "lrc 8+5 local 4", 13, 4),
        ("LRC 12 + 2+2", "lrc 12+2+2", 16, 6),
        ("copies 3", "copies 3", 3, 1),
        ("copies 1", "copies 1", 1, 1),
        # 64 pieces are the most.
        ("rs 60+4", "rs 60+4", 64, 60),
        # Six rows of four; a piece is made of the three others in its row.
        ("Product rs 4+2  x RS 3 + 1", "product rs 4+2 x rs 3+1", 24, 3),
    ],
)
def test_a_code_is_read_by_its_numbers(text: str, label: str, pieces: int, repair: int) -> None:
    code = code_of(text)
    assert (code.label, code.pieces, code.repair_pieces) == (label, pieces, repair)
    assert code_of(code.label) == code


RATES = '[[codes]]\ncode = "rs 4+2"\nencode = "8 GB/s"\ndecode = "6 GB/s"\n'


def test_a_table_of_rates_gives_the_slower_of_coding_and_decoding(tmp_path: Path) -> None:
    file = tmp_path / "coding.toml"

    def coded(table: str, code: str = "rs 4+2") -> Redundancy:
        file.write_text(table)
        return Redundancy(code=code, coding={"file": str(file)})

    assert coded(RATES).coding_rate == 6e9
    with pytest.raises(ConfigError, match=r'coding = .*no rate for "rs 8\+3", but for rs 4\+2'):
        coded(RATES, "rs 8+3")
    # Copies are made without coding, whatever the table says.
    assert coded(RATES, "copies 3").coding_rate is None
    for wrong, says in (
        (RATES.replace('encode = "8 GB/s"\n', ""), "codes.0.encode"),
        (RATES.replace("rs 4+2", "sr 4+2"), 'codes.0.* this is not a code; write "rs 8'),
        (RATES.replace("6 GB/s", "0 B/s"), "codes.0: .*above zero"),
        ("codes = 3\n", "a list of codes"),
    ):
        said = refused(coded, wrong)
        assert re.search(says, said), said


def test_codes_and_lanes_are_numbered_and_told_alone() -> None:
    plain = Redundancy()
    assert (plain.pieces, plain.replicas, plain.key) == (3, 3, "redundancy.replicas")
    free, slow, named = (
        study_of("coded", redundancy__coding=coding).runs()[0].key
        for coding in ("none", "1 GB/s", "1000 MB/s")
    )
    assert free != slow == named
    assert "this is not a code" in refused(Redundancy, code="copies " + "9" * 5000)
    assert Lanes(order="priority").priority == (0, 1, 2)
    lanes = Lanes(order="priority", classes=["rebuild", "clients", "bursts"])
    assert lanes.priority == (1, 0, 2)
    assert lanes.problems(bursts=True) == []
    text = refusal("streamed", placement__group_size=0, cluster__attachment="distributed")
    assert text.startswith("placement.group_size = 0: ") and len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("keys", "bursts", "shares"),
    [
        # Of 1, what is left beside 0.9 is 0.1.
        ({"clients": 0.9}, False, (0.9, 0.1, 0.0)),
        ({"rebuild": 0.05}, False, (0.95, 0.05, 0.0)),
        ({"clients": 0.5, "rebuild": 0.3}, True, (0.5, 0.3, 0.2)),
        ({"clients": 0.5, "rebuild": 0.3, "bursts": 0.2}, False, (0.5, 0.3, 0.2)),
        ({"clients": 0.7, "bursts": 0.1}, False, (0.7, 0.2, 0.1)),
        ({"clients": 1.0}, False, (1.0, 0.0, 0.0)),
    ],
)
def test_a_class_that_is_left_out_gets_the_rest(
    keys: dict[str, float], bursts: bool, shares: tuple[float, ...]
) -> None:
    lanes = Lanes(**keys)
    assert lanes.problems(bursts=bursts) == []
    assert lanes.shares_with(bursts=bursts) == pytest.approx(shares, abs=1e-12)
    assert sum(lanes.shares_with(bursts=bursts)) == pytest.approx(1)


def test_groups_are_of_servers_in_order_and_streams_share_what_lanes_leave() -> None:
    assert system_of("streamed").stripe_groups == (range(6), range(6, 12))
    system = system_of("streamed", traffic__streams__rate="0 B/s")
    assert system.streams is not None and system.streams.rate == 0
    rates = analytic_rates(system)
    # All of six servers' 20 Gb/s, less the headers of 38 B a packet of 4 KiB, by 4 strips: the lane
    # guarantees a quarter, and clients leave the rest.
    assert rates is not None and rates.read == 0
    assert rates.rebuild == pytest.approx(6 * 2.5e9 * 4096 / 4134 / 4, rel=1e-3)
    keys = {"traffic__streams__window": 65535, "redundancy__strip": "1 KiB"}
    system = system_of("streamed", faults__0__corrupt__groups=[0], **keys)
    # Two sides of 65,535 operations each would be 131,070.
    assert [one["corrupt"]["window"] for one in faults_json(system)["faults"]] == [65535]
    # A million strips a server last longer than the 1.2 ms of the traffic, in proportion.
    few, many = (
        estimate(system_of("streamed", faults__0__corrupt__strips=count))
        for count in (1_000_000, 2_000_000)
    )
    assert many["events"] == pytest.approx(2 * few["events"], rel=0.01)
