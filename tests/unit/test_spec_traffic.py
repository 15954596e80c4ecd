"""Clients and silent faults in a study file: what is taken, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from resilver.errors import ConfigError
from resilver.simulate import validate_runs
from resilver.spec import Fault, Traffic
from resilver.spec.faults import fault_words
from tests.unit.serving_studies import CLOSED, TORUS, problems, study_of

LOGGP = "[cluster]\nservers = 8\nfabric = { routers = 2 }\n"
GENOMES = '[population]\nhistogram = "genomes1000"\nbytes_per_server = "20 TiB"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[traffic]\n",
            r"traffic: exactly one of outstanding, arrivals, streams and jobs .* none is given",
        ),
        (
            '[traffic]\noutstanding = 1\narrivals = { poisson = "1 /s" }\n',
            "exactly one of outstanding, arrivals, streams and jobs .*outstanding and arrivals are "
            "given",
        ),
        ("[traffic]\noutstanding = 0\n", "traffic.outstanding = 0: this must be at least 1"),
        ("[traffic]\noutstanding = 8\n", "traffic.duration: no rebuild ends this traffic"),
        (
            '[traffic]\narrivals = { poisson = "1 /s" }\ninterval = "1 s"\nduration = "1 s"\n',
            "traffic.interval = .*a closed loop's",
        ),
        ("[traffic]\narrivals = { poisson = 1000 }\n", r'poisson = 1000: .*write "1000 /s"'),
        ('[traffic]\narrivals = { poisson = "0 /s" }\n', "poisson = .*above zero"),
        ('[traffic]\narrivals = { poisson = "5 GB/s" }\n', '"GB/s" is not a unit of frequency'),
        ('[traffic]\narrivals = "poisson"\n', "traffic.arrivals = .*a table that says"),
        ('[traffic]\narrivals = { poison = "1 /s" }\n', 'did you mean "poisson"'),
        ('[traffic]\narrivals = { pareto = "1 /s" }\n', "traffic.arrivals.shape: .*above 1"),
        ('[traffic]\narrivals = { pareto = "1 /s", shape = 1 }\n', "shape = 1: .*above 1"),
        ('[traffic]\narrivals = { poisson = "1 /s", shape = 2 }\n', "a Pareto distribution's"),
        ('[traffic]\narrivals = { trace = "absent.csv" }\n', "absent.csv: there is no such file"),
        (CLOSED + "reads = 1.5\n", "traffic.reads = 1.5: this must be at most 1"),
        (CLOSED + 'reads = "half"\n', "traffic.reads = "),
        (CLOSED + "reads = nan\n", "traffic.reads = nan"),
        (CLOSED + 'request_size = "0 B"\n', "request_size = .*size must be above zero"),
        (CLOSED + "mix = []\n", "traffic.mix = .*at least 1"),
        (CLOSED + "mix = 3\n", "traffic.mix = 3"),
        (CLOSED + 'mix = [{ size = "1 MiB" }]\n', "traffic.mix: each class .*a share"),
        (CLOSED + "mix = [{ of_bytes = 1.0 }]\n", "traffic.mix.0.size"),
        (
            CLOSED + 'mix = [{ of_bytes = 1.0, size = "0 B" }]\n',
            "traffic.mix.0.size = .*size must be above zero",
        ),
        (
            CLOSED + 'mix = [{ of_bytes = 0.5, size = "1 MiB" }, { of_bytes = 0.4, size = "4 KiB" '
            "}]\n",
            r"traffic.mix.of_bytes = 0.5 \+ 0.4: .* these are 0.9; let them sum to 1",
        ),
        (
            CLOSED + 'mix = [{ of_bytes = 0.5, size = "1 MiB" }, { of_requests = 0.5, size = "4 '
            'KiB" }]\n',
            "traffic.mix: each class .*all of them of the requests, or all of the bytes",
        ),
        (CLOSED + 'mix = [{ of_bytes = 1.5, size = "1 MiB" }]\n', "of_bytes = 1.5: .*at most 1"),
        (CLOSED + 'mix = [{ of_bytes = nan, size = "1 MiB" }]\n', "mix.*of_bytes = nan"),
        (
            CLOSED + 'mix = [{ of_bytes = 0.5, size = "1 MiB" }, { of_bytes = 0.5, size = "1 MiB" '
            "}]\n",
            "traffic.mix.1.size = .*same size and kind",
        ),
        (
            CLOSED + 'request_size = "1 MiB"\nmix = [{ of_bytes = 1.0, size = "1 MiB" }]\n',
            "traffic.request_size = .*the mix says",
        ),
        (
            CLOSED + 'reads = 0.5\nmix = [{ of_bytes = 1.0, size = "1 MiB", reads = 0.4 }]\n',
            "traffic.reads: each class of the mix says itself",
        ),
        (
            '[traffic]\nstreams = { window = 4 }\nmix = [{ of_bytes = 1.0, size = "1 MiB" }]\n'
            'duration = "1 s"\n',
            "traffic.mix = .*whole stripes",
        ),
        (
            CLOSED + 'mix = [{ of_bytes = 1.0, size = "1 PiB" }]\n',
            "traffic.mix = .*packets",
        ),
        (CLOSED + 'timeout = "0 s"\n', "timeout = .*time must be above zero"),
        (CLOSED + 'targets = "unifrom"\n', 'did you mean "uniform"'),
        (CLOSED + "targets = { zipf = 0 }\n", "targets.zipf = 0: .*above 0"),
        (CLOSED + "targets = { zipf = true }\n", "targets.zipf = true"),
        (CLOSED + "targets = { per_client = 0 }\n", "targets.per_client = 0: .*at least 1"),
        (CLOSED + "targets = { per_client = 1.5 }\n", "targets.per_client = 1.5"),
        (CLOSED + 'targets = { dealt = "random" }\n', "targets.per_client: .*needs how many"),
        (CLOSED + 'targets = { per_client = 1, dealt = "turns" }\n', "targets.dealt"),
        (
            CLOSED + "targets = { per_client = 1, zipf = 0.9 }\n",
            "targets.zipf = 0.9: .*leave out per_client",
        ),
        (CLOSED + 'client_rate = "0 B/s"\n', "client_rate = .*above zero"),
        (CLOSED + 'client_rate = "5 MB"\n', "client_rate = .*no time"),
        (
            '[traffic]\narrivals = { poisson = "1 /s" }\nclient_rate = "1 MB/s"\n'
            'duration = "1 s"\n',
            "client_rate = .*closed loop's client",
        ),
        (
            '[traffic]\nstreams = { window = 4 }\nclient_rate = "1 MB/s"\nduration = "1 s"\n',
            "client_rate = .*streams.rate",
        ),
        (CLOSED + "targets = { hot_servers = 0.1 }\n", "targets.hot_requests: a share"),
        (
            CLOSED + "targets = { hot_servers = 0, hot_requests = 2 }\n",
            "targets.hot_servers = 0: a share is a number above 0 to 1",
        ),
        (CLOSED + "targets = { hot = 0.1 }\n", "targets.hot: there is no such key"),
        (CLOSED + "targets = 3\n", "targets = 3: targets say where"),
        (CLOSED + "[placement]\n", r"placement: there is only traffic .*add \[population\]"),
        (CLOSED + "[redundancy]\nreplicas = 2\n", "redundancy: there is only traffic"),
        (
            CLOSED + "[[faults]]\nfail = { servers = 1 }\n",
            "faults.0.fail.servers = 1: servers that fail start a rebuild.*told = false",
        ),
        (CLOSED + "[[faults]]\nfail = { disks = 13 }\n", "faults.0.fail.disks = 13: .*has 12"),
        (
            CLOSED + "[[faults]]\nfail = { disks = 7 }\n[[faults]]\nfail = { disks = 6 }\n",
            "faults.1.fail.disks = 6: 5 of them that no other fault takes away are left",
        ),
        (
            CLOSED + '[[faults]]\nfail = { disks = ["server.12"] }\n',
            "no such server; the names are server.0 to server.11",
        ),
        (
            CLOSED + '[[faults]]\nfail = { disks = ["server.3"] }\n[[faults]]\nat = "1 s"\n'
            'fail = { disks = ["server.3"] }\n',
            'faults.1.fail.disks = "server.3": .*has failed by then, and is not repaired',
        ),
        (
            CLOSED + '[[faults]]\nfail = { links = 1 }\nrepair_after = "0 s"\n',
            "faults.0.repair_after = .*ends later than it begins",
        ),
        (
            CLOSED + '[[faults]]\nfail = { links = 1 }\nat = "1 d"\nrepair_after = "213 d"\n',
            "ends beyond the 213 days",
        ),
        (CLOSED + "[[faults]]\nfail = { lniks = 1 }\n", 'did you mean "links"'),
        (CLOSED + 'warm_up = "18446744 s"\n', "would last longer than 213 days"),
    ],
)
def test_bad_traffic_and_silent_faults_are_refused(tmp_path: Path, text: str, says: str) -> None:
    found = problems(tmp_path, TORUS + text)
    assert re.search(says, found), found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            TORUS.replace(" routers 4", "") + CLOSED,
            'cluster.fabric.topology = "torus 4x4": clients enter by routers',
        ),
        (
            LOGGP + CLOSED + "[[faults]]\nfail = { links = 2 }\n",
            'faults.0.fail.links = 2: LogGP has no links .*model = "switched"',
        ),
        (
            LOGGP + GENOMES + "[traffic]\noutstanding = 8\n",
            "traffic.duration: no rebuild ends this traffic",
        ),
        ("[cluster]\nservers = 8\n" + GENOMES + "[recovery]\nattempts = 0\n", "at least 1"),
    ],
)
def test_traffic_needs_a_way_in_and_an_end(tmp_path: Path, text: str, says: str) -> None:
    found = problems(tmp_path, text)
    assert re.search(says, found), found


def test_a_rebuild_ends_traffic_that_has_no_duration(tmp_path: Path) -> None:
    text = LOGGP + GENOMES + "[traffic]\noutstanding = 8\n[[faults]]\nfail = { servers = 1 }\n"
    system = study_of(tmp_path, text).runs()[0].system
    assert system.traffic is not None and system.traffic.duration is None
    assert system.placement is not None and not system.is_traffic_only


def test_warm_up_is_twice_the_interval_unless_it_is_given() -> None:
    closed = Traffic(outstanding=8, interval="22 ms")
    assert closed.warm_up_seconds == 0.044
    assert Traffic(outstanding=8, interval="22 ms", warm_up="1 s").warm_up_seconds == 1
    assert (closed.read_share, closed.request_bytes) == (0.5, 512 * 1024)
    assert Traffic(arrivals={"poisson": "90 /min"}).warm_up_seconds == 0


def test_a_repaired_component_may_fail_again(tmp_path: Path) -> None:
    text = TORUS + CLOSED
    for at in ("0 s", "2 s"):
        text += f'[[faults]]\nat = "{at}"\nfail = {{ links = ["a-b"] }}\nrepair_after = "1 s"\n'
    assert len(study_of(tmp_path, text).runs()[0].system.faults) == 2


def test_faults_that_are_swept_read_as_words(tmp_path: Path) -> None:
    cases = (
        "[], [{ fail = { disks = 4 } }], [{ fail = { links = 8 } }], "
        "[{ fail = { switches = 1 } }], [{ fail = { links = 8 } }, { fail = { switches = 1 } }]"
    )
    study = study_of(tmp_path, f"{TORUS}{CLOSED}[study]\nsweep = {{ faults = [{cases}] }}\n")
    words = ["none", "4 disks", "8 links", "1 switch", "8 links + 1 switch"]
    assert [run.swept["faults"] for run in study.runs()] == words
    assert study.resolved()["study"]["sweep"] == {"faults": words}


def test_faults_that_words_would_make_alike_are_written_out(tmp_path: Path) -> None:
    cases = '[{ fail = { disks = ["server.1", "server.2"] } }], '
    cases += '[{ fail = { disks = ["server.1"] } }, { fail = { disks = ["server.2"] } }]'
    faults = [Fault(fail={"disks": ["server.1", "server.2"]})]
    assert fault_words(tuple(faults)) == "disks of server.1, server.2"
    study = study_of(tmp_path, f"{TORUS}{CLOSED}[study]\nsweep = {{ faults = [{cases}] }}\n")
    values = [run.swept["faults"] for run in study.runs()]
    assert values == ["disks of server.1, server.2", "disk of server.1 + disk of server.2"]
    same = '[{ at = "0 s", fail = { links = ["a + b"] } }], '
    same += '[{ fail = { links = ["a"] } }, { fail = { links = ["b"] } }]'
    study = study_of(tmp_path, f"{TORUS}{CLOSED}[study]\nsweep = {{ faults = [{same}] }}\n")
    written = [run.swept["faults"] for run in study.runs()]
    assert len(set(written)) == 2 and all(str(value).startswith("[{") for value in written)


@pytest.mark.parametrize(
    "extra",
    [
        CLOSED + 'timeout = "1 s"\ntargets = { zipf = 0.99 }\nreads = 0.25\n',
        CLOSED + 'client_rate = "5 MB/s"\ntargets = { per_client = 2, dealt = "random" }\n',
        '[traffic]\narrivals = { poisson = "1000 /s" }\nduration = "1 min"\n',
        '[traffic]\narrivals = { pareto = "90 /min", shape = 1.5 }\nduration = "1 min"\n'
        "targets = { hot_servers = 0.1, hot_requests = 0.9 }\n",
        '[traffic]\narrivals = { trace = "requests.csv" }\nduration = "1 min"\n',
        CLOSED + '[[faults]]\nat = "5 s"\nfail = { links = ["a-b"] }\nrepair_after = "1 s"\n'
        "[[faults]]\nfail = { switches = 1 }\n[[faults]]\nfail = { disks = 2 }\n",
    ],
)
def test_a_study_written_out_again_has_the_same_runs(tmp_path: Path, extra: str) -> None:
    (tmp_path / "requests.csv").write_text("seconds,kind,size\n0,read,4096\n0.5,write,512 KiB\n")
    study = study_of(tmp_path, TORUS + extra)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    again = study_of(elsewhere, study.to_toml())
    assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
    assert again.resolved() == study.resolved()


def test_a_trace_counts_by_its_content(tmp_path: Path) -> None:
    text = TORUS + '[traffic]\narrivals = { trace = "requests.csv" }\nduration = "1 min"\n'
    file = tmp_path / "requests.csv"
    file.write_text("seconds,kind,size\n0,read,4096\n")
    before = study_of(tmp_path, text).runs()[0].key
    file.write_text("seconds,kind,size\n0,write,4096\n")
    assert study_of(tmp_path, text).runs()[0].key != before


def test_swept_traces_are_found_beside_the_study_and_read_by_their_names(tmp_path: Path) -> None:
    text = TORUS + '[traffic]\narrivals = { trace = "a.csv" }\nduration = "1 min"\n'
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"seconds,kind,size\n0,read,{ord(name[0])}\n")
    values = ('["a.csv", "b.csv"]', '[{ trace = "a.csv" }, { trace = "b.csv" }]')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for key, listed in zip(("traffic.arrivals.trace", "traffic.arrivals"), values, strict=True):
        study = study_of(tmp_path, f'{text}[study]\nsweep = {{ "{key}" = {listed} }}\n')
        assert len({run.key for run in study.runs()}) == 2
        again = study_of(elsewhere, study.to_toml())
        assert [run.key for run in again.runs()] == [run.key for run in study.runs()]
        if key == "traffic.arrivals":
            assert [run.swept[key] for run in study.runs()] == ["a.csv", "b.csv"]


def test_a_trace_names_servers_that_exist_and_says_what_a_study_would(tmp_path: Path) -> None:
    text = TORUS + '[traffic]\narrivals = { trace = "requests.csv" }\nduration = "1 min"\n'
    file = tmp_path / "requests.csv"
    file.write_text("seconds,kind,size,target\n0,read,4096,server.11\n1,read,4096,server.12\n")
    found = problems(tmp_path, text)
    assert re.search(
        'traffic.arrivals.trace = "server.12": requests.csv, line 3: there is no such server', found
    )
    file.write_text("seconds,kind,size\n0,read,4096\n2,write,8192\n")
    assert "traffic.reads: the trace says this" in problems(tmp_path, text + "reads = 0.5\n")
    traffic = study_of(tmp_path, text).runs()[0].system.traffic
    assert traffic is not None and traffic.arrivals is not None
    # One of two reads, (4,096 + 8,192) / 2 bytes, and two requests within 2 s.
    assert (traffic.read_share, traffic.request_bytes) == (0.5, 6144)
    assert traffic.arrivals.requests_per_second == 1


def test_a_rebuild_over_switches_has_no_traffic(tmp_path: Path) -> None:
    system = (
        study_of(tmp_path, TORUS + GENOMES + "[[faults]]\nfail = { servers = 1 }\n")
        .runs()[0]
        .system
    )
    assert system.traffic is None and system.placement is not None
    assert system.resolved()["traffic"] is None


def test_a_broken_section_of_traffic_is_told_alone(tmp_path: Path) -> None:
    # Where traffic was meant to be all there is, no population is missing.
    text = problems(tmp_path, TORUS + CLOSED.replace("32", "0"))
    assert "traffic.outstanding = 0" in text and "population" not in text


@pytest.mark.parametrize(
    ("key", "value", "packets"),
    [
        # 1 TiB is 2^24 packets of 64 KiB; 32 of them at a time are 2^29, above 2^26.
        ("request_size", "1 TiB", "16,777,216"),
        ("control_message", "1 TiB", "16,777,216"),
        # 128 GiB + 64 KiB is one packet above 2^21, the most of which 32 fit.
        ("request_size", "134217792 KiB", "2,097,153"),
    ],
)
def test_requests_of_more_packets_than_memory_holds_are_refused(
    tmp_path: Path, key: str, value: str, packets: str
) -> None:
    text = problems(tmp_path, TORUS + CLOSED + f'{key} = "{value}"\n')
    assert f"traffic.{key}" in text and packets in text and "67,108,864" in text
    if key == "request_size":
        study_of(tmp_path, TORUS + CLOSED + 'request_size = "128 GiB"\n')


def test_a_fault_after_the_end_of_the_run_is_refused(tmp_path: Path) -> None:
    # 10 s and a warm-up of twice 22 ms: the run ends after 10.044 s.
    fault = '[[faults]]\nat = "{}"\nfail = {{ links = 1 }}\n'
    text = problems(tmp_path, TORUS + CLOSED + fault.format("10.044 s"))
    assert 'faults.0.at = "10.044 s"' in text and "traffic.duration" in text
    study_of(tmp_path, TORUS + CLOSED + fault.format("10.04 s"))


def test_an_open_loop_that_memory_would_not_hold_is_refused(tmp_path: Path) -> None:
    # 12 disks of at most 1 / 3.6 ms do 3,300 requests a second; of 10^6 a second most would wait:
    # 10^8 after 100 s.
    text = TORUS + '[traffic]\narrivals = { poisson = "1000000 /s" }\nduration = "100 s"\n'
    with pytest.raises(ConfigError, match=r"traffic.arrivals: .*would\s+wait at the end"):
        validate_runs(study_of(tmp_path, text).runs())
    validate_runs(study_of(tmp_path, text.replace("100 s", "1 s")).runs())
    # Given up after a millisecond, a million that wait are tried again and again within a second.
    hasty = text.replace("100 s", "1 s") + 'timeout = "1 ms"\n'
    with pytest.raises(ConfigError, match=r"traffic\.arrivals"):
        validate_runs(study_of(tmp_path, hasty).runs())


def test_a_study_of_traffic_alone_is_written_out_without_a_recovery(tmp_path: Path) -> None:
    study = study_of(tmp_path, TORUS + CLOSED)
    written = study.to_toml()
    assert "[traffic]" in written and "[recovery]" not in written
    assert [run.key for run in study_of(tmp_path, written).runs()] == [
        run.key for run in study.runs()
    ]
    kept = study_of(tmp_path, TORUS + CLOSED + "[recovery]\nattempts = 3\n").to_toml()
    assert "attempts = 3" in kept
