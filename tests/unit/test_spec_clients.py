"""Clients, their networks and what fails under them in a study file."""

from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.spec import Cluster, Fabric, Fault
from resilver.spec.chance import chances
from resilver.spec.faults import fault_words
from tests.build import read_again, refusal, study_of, system_of

TRACED = 'traffic = { arrivals.trace = "a.csv", duration = "1 min" }\n'


def test_a_rebuild_ends_traffic_that_has_no_duration() -> None:
    changes = "cluster.fabric.routers = 2\ntraffic.outstanding = 8\nfaults = [{ fail.servers = 1 }]"
    system = system_of("small", changes)
    assert system.traffic is not None and system.traffic.duration is None
    assert system.placement is not None and not system.is_traffic_only


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ([{"fail": {"disks": ["server.1", "server.2"]}}], "disks of server.1, server.2"),
        (
            [
                {"corrupt": {"groups": 4, "code": "rs 8+3"}},
                {"corrupt": {"groups": [0, 3]}, "at": "1 s"},
                {"corrupt": {"groups": 1}},
            ],
            "soft errors in 4 groups (rs 8+3) + soft errors in groups 0, 3 at 1 s + "
            "soft errors in 1 group",
        ),
        (
            [{"at": "1 h", "part": {"enclosure": 2}, "health": 0.5, "until": "3 h"}],
            "2 enclosures slowed to 0.5 at 3600 s for 7200 s",
        ),
    ],
)
def test_faults_in_words(faults: list[dict[str, object]], words: str) -> None:
    assert fault_words(tuple(Fault(**fault) for fault in faults)) == words


def test_faults_that_words_would_make_alike_are_written_out() -> None:
    together = '{ at = "0 s", fail.links = ["a + b"] }'
    apart = '{ fail.links = ["a"] }, { fail.links = ["b"] }'
    runs = study_of("clients", f"study.sweep.faults = [[{together}], [{apart}]]").runs()
    written = [run.swept["faults"] for run in runs]
    assert len(set(written)) == 2 and all(str(value).startswith("[{") for value in written)


def test_traces_are_found_beside_the_study_and_count_by_their_content(tmp_path: Path) -> None:
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


def test_a_trace_says_what_a_study_would(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("seconds,kind,size\n0,read,4096\n2,write,8192\n")
    traffic = study_of("network", TRACED, folder=tmp_path).runs()[0].system.traffic
    # One of two reads, (4,096 + 8,192) / 2 bytes, and two requests within 2 s.
    assert (traffic.read_share, traffic.request_bytes) == (0.5, 6144)
    assert traffic.arrivals.requests_per_second == 1


def test_traffic_alone_is_written_and_told_alone() -> None:
    # Where traffic was meant to be all there is, no population is missing.
    text = refusal("clients", "traffic.outstanding = 0")
    assert "traffic.outstanding = 0" in text and "population" not in text
    written = study_of("clients").to_toml()
    assert "[traffic]" in written and "[recovery]" not in written
    assert 'device = "cheetah-15k"' in written
    assert "attempts = 3" in study_of("clients", "recovery.attempts = 3").to_toml()


def test_a_fabric_is_loggp_by_default_and_has_the_hosts_of_its_topology() -> None:
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
