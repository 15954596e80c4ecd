"""Bad studies are refused before anything runs: every problem at once, each with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.simulate import validate_runs
from resilver.spec import Study
from tests.scale import times

GENOMES = '[population]\nhistogram = "genomes1000"\nbytes_per_server = "20 TiB"\n'
CLUSTER = "[cluster]\nservers = 8\n"


def problems(tmp_path: Path, text: str, *overrides: str) -> str:
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        validate_runs(Study.load(file, overrides).runs())
    return str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[cluster]\nserverz = 8\n" + GENOMES, 'cluster.serverz = 8: .*did you mean "servers"'),
        (CLUSTER + GENOMES + "[recovry]\n", 'recovry: .*did you mean "recovery"'),
        ("title = 3\n" + CLUSTER + GENOMES, "title: this key stands in no section"),
        ("[cluster]\nservers = 0\n" + GENOMES, "cluster.servers = 0: this must be at least 1"),
        ("[cluster]\nservers = true\n" + GENOMES, "cluster.servers = true: a whole number"),
        ("[cluster]\nservers = 8.0\n" + GENOMES, "cluster.servers = 8.0: a whole number"),
        ("[cluster]\nservers = nan\n" + GENOMES, "cluster.servers = nan: a whole number"),
        ("[cluster]\n" + GENOMES, "cluster: a cluster needs servers, or ceph"),
        (GENOMES, r"cluster: a study needs a cluster; add \[cluster\]"),
        (CLUSTER, r"population: a synthetic cluster needs a population"),
        ("cluster = 3\n" + GENOMES, "cluster = 3: a table is needed"),
        ("[cluster]\nservers = 8\nracks = 3\n" + GENOMES, "8 servers do not divide by 3"),
        ("[cluster]\nservers = 8\nrows = 2\n" + GENOMES, "cluster.rows = 2: rows hold racks"),
        ("[cluster]\nservers = 8\nracks = 4\nrows = 3\n" + GENOMES, "4 racks do not divide by 3"),
        ('[cluster]\nservers = 8\ndevice = "jbod"\n' + GENOMES, "the catalog has no device"),
        ("[cluster]\nservers = 8\ndevice = 3\n" + GENOMES, "a device is a name of the catalog"),
        ('[cluster]\nservers = 8\nfabric = "x"\n' + GENOMES, "cluster.fabric = .*a table is"),
        (
            '[cluster]\nservers = 8\nfabric = { table = "qdr" }\n' + GENOMES,
            "cluster.fabric.table = .*the catalog has no network",
        ),
        (
            CLUSTER + GENOMES + "[redundancy]\nreplicas = 9\n",
            "redundancy.replicas = 9: this needs 9 failure domains of type 'server', "
            "and the cluster has 8",
        ),
        (
            "[cluster]\nservers = 8\nracks = 2\n" + GENOMES,
            "redundancy.replicas = 3: this needs 3 failure domains of type 'rack'",
        ),
        (
            CLUSTER + GENOMES + '[placement]\nfailure_domain = "row"\n',
            'placement.failure_domain = "row": the cluster has no rows; add cluster.rows',
        ),
        (
            CLUSTER + GENOMES + '[placement]\nalgorithm = "ring"\nbucket = "straw"\n',
            'placement.bucket = "straw": this key has no meaning with algorithm = "ring"',
        ),
        (CLUSTER + GENOMES + "[placement]\nring_points = 5\n", "no meaning with algorithm"),
        (
            CLUSTER + GENOMES + '[placement]\nplacement_groups = "aut"\n',
            'placement.placement_groups = "aut": .*did you mean "auto"',
        ),
        (CLUSTER + GENOMES + "[placement]\nplacement_groups = 0\n", "a whole number from 1 to"),
        (
            CLUSTER + GENOMES + '[placement]\nbucket = "straw3"\n',
            'placement.bucket = "straw3": this is not one of the choices; did you mean',
        ),
        (
            CLUSTER + GENOMES + '[recovery]\npipeline_buffer = "2 GiB"\n',
            'recovery.receive_memory = "1 GiB": a 2 GiB pipeline buffer does not fit',
        ),
        (CLUSTER + GENOMES + "[recovery]\nsend_memory = 0\n", "the size must be above zero"),
        (CLUSTER + GENOMES + "[recovery]\npipelining = 1\n", "pipelining = 1: true or false"),
        (
            CLUSTER + GENOMES + '[[faults]]\nat = "214 d"\nfail = { servers = 1 }\n',
            "faults.0.at = .*213 days",
        ),
        (
            CLUSTER + GENOMES + '[[faults]]\nfail = { servers = ["server.3"] }\n'
            '[[faults]]\nat = "1 min"\nfail = { servers = ["server.3"] }\n',
            'faults.1.fail.servers = "server.3": it has failed by then',
        ),
        (
            CLUSTER + GENOMES + "[[faults]]\nfail = { servers = 3 }\n"
            '[[faults]]\nat = "1 min"\nfail = { servers = 5 }\n',
            "8 of 8 servers fail",
        ),
        (
            "[cluster]\nservers = 8\nracks = 4\n" + GENOMES + "[[faults]]\n"
            'fail = { servers = 2 }\n[[faults]]\nat = "1 min"\nfail = { racks = 3 }\n'
            "[redundancy]\nreplicas = 2\n",
            "8 of 8 servers fail",
        ),
        (
            "[cluster]\nservers = 16\nracks = 4\n" + GENOMES + "[[faults]]\n"
            'fail = { servers = 2 }\n[[faults]]\nat = "1 min"\nfail = { racks = 4 }\n'
            "[redundancy]\nreplicas = 2\n",
            "faults.1.fail.racks = 4: with seed 1, [23] of them are left when this fault happens",
        ),
        (CLUSTER + GENOMES + '[[faults]]\nat = "-1 s"\nfail = { servers = 1 }\n', "faults.0.at"),
        (CLUSTER + GENOMES + "[[faults]]\nat = 600\nfail = { servers = 1 }\n", "faults.0.at"),
        (CLUSTER + GENOMES + '[recovery]\nbandwidth = "0 B/s"\n', "recovery.bandwidth"),
        (CLUSTER + GENOMES + '[recovery]\nbandwidth = "1 GiB"\n', "recovery.bandwidth"),
        (CLUSTER + GENOMES + '[recovery]\norder = "size"\n', "recovery.order"),
        (CLUSTER + GENOMES + "[[faults]]\nfail = {}\n", "exactly one of servers, osds"),
        (
            CLUSTER + GENOMES + "[[faults]]\n",
            "faults.0.part: exactly one of fail, corrupt and part is needed, and none is given",
        ),
        (CLUSTER + GENOMES + "[faults]\n", r"write \[\[faults\]\] with double brackets"),
        (
            CLUSTER + GENOMES + '[[faults]]\nfail = { servers = ["server.8"] }\n',
            'faults.0.fail.servers = "server.8": there is no such server; the names are '
            "server.0 to server.7",
        ),
        (CLUSTER + GENOMES + '[[faults]]\nfail = { servers = ["server.07"] }\n', "no such server"),
        (CLUSTER + GENOMES + '[[faults]]\nfail = { servers = "server.1" }\n', r"write \[\"ser"),
        (CLUSTER + GENOMES + "[[faults]]\nfail = { osds = 1 }\n", "use servers, racks or rows"),
        (CLUSTER + GENOMES + "[[faults]]\nfail = { racks = 1 }\n", "the cluster has no racks"),
        (CLUSTER + GENOMES + "[[faults]]\nfail = { servers = 8 }\n", "8 of 8 servers fail"),
        (CLUSTER + GENOMES + "[[faults]]\nfail = { servers = 9 }\n", "the cluster has 8"),
        (CLUSTER + GENOMES + "[study]\nseeds = 0\n", "study.seeds = 0: at least 1"),
        (CLUSTER + GENOMES + "[study]\nseeds = []\n", "seeds are a number from 1"),
        (CLUSTER + GENOMES + "[study]\nseeds = [1, -1]\n", "a seed is a whole number from 0"),
        (CLUSTER + GENOMES + "[study]\nseeds = [1, 1]\n", "seed 1 stands twice"),
        (CLUSTER + GENOMES + "[study]\ntitle = 3\n", "study.title = 3: text is needed"),
    ],
)
def test_a_bad_key_is_named_with_its_rule_and_remedy(tmp_path: Path, text: str, says: str) -> None:
    import re

    assert re.search(says, problems(tmp_path, text))


@pytest.mark.parametrize(
    ("population", "says"),
    [
        ('histogram = "genome1000"\nbytes = "1 TiB"', 'did you mean "genomes1000"'),
        (
            "histogram = 3\nbytes = 0",
            "a histogram is a name of the catalog, a file, a folder to measure, or bins",
        ),
        ("histogram = {}\nbytes = 0", "exactly one of file, scan, bins is needed"),
        ('histogram = { fil = "x" }\nbytes = 0', 'population.histogram.fil: .*mean "file"'),
        ("histogram = { bins = [] }\nbytes = 0", "needs at least one bin"),
        ('histogram = { bins = [["0 B", 5, 1]] }\nbytes = 0', "histogram.bins.0 = 5: a size needs"),
        ('histogram = { bins = [["0 B", "-5 B", 1]] }\nbytes = 0', "cannot be negative"),
        ('histogram = { bins = [["0 B", nan, 1]] }\nbytes = 0', "finite number"),
        ('histogram = { bins = [["0 B", "5 B", 0]] }\nbytes = 0', "count must be at least 1"),
        ('histogram = { bins = [["0 B", "5 B", 1.5]] }\nbytes = 0', "a count is a whole number"),
        ('histogram = { bins = [["5 B", "5 B", 1]] }\nbytes = 0', "is below its max"),
        ('histogram = { file = "absent.txt" }\nbytes = 0', "absent.txt: there is no such file"),
        ('histogram = { file = "empty.txt" }\nbytes = 0', "empty.txt: the histogram is empty"),
        ("histogram = { file = 3 }\nbytes = 0", "a file is named by its path, as text"),
        ('histogram = "mira"', "exactly one of bytes_per_server, bytes and files is needed"),
        ('histogram = "mira"\nbytes = 0\nfiles = 1', "bytes and files are given; keep one"),
        ('histogram = "mira"\nfile_size = "1 B"\nfiles = 1', "and both are given"),
        ("files = 1", "exactly one of histogram and file_size"),
        ("file_size = 0\nfiles = 1", "population.file_size = 0: the size must be above zero"),
        ('histogram = "mira"\nfiles = -1', "population.files = -1: this must be at least 0"),
        ('histogram = "mira"\nbytes = "-1 TiB"', "cannot be negative"),
        ('histogram = "mira"\nbytes = nan', "finite number"),
        ('histogram = "mira"\nbytes = 5', 'needs a unit; write "5 B" or "5 TiB"'),
        ('histogram = "mira"\nbytes_per_server = "7 EiB"', "8 servers would hold more than"),
        ('histogram = "mira"\nfiles = 1\nobjects = "hole"', "kept whole, chunked or striped"),
        ('histogram = "mira"\nfiles = 1\nobjects = { chnk = "1 B" }', 'did you mean "chunk"'),
        ('histogram = "mira"\nfiles = 1\nobjects = { chunk = 0 }', "objects.chunk = 0: the size"),
        ('histogram = "mira"\nfiles = 1\nobjects = { stripe_unit = "1 B" }', "a unit and a width"),
        (
            'histogram = "mira"\nfiles = 1\nobjects = { stripe_unit = "1 B", stripe_width = 0 }',
            "objects.stripe_width = 0: a stripe width is a whole number",
        ),
    ],
)
def test_a_bad_population_is_refused(tmp_path: Path, population: str, says: str) -> None:
    import re

    (tmp_path / "empty.txt").write_text("# total_count: 0\n")
    assert re.search(says, problems(tmp_path, f"{CLUSTER}[population]\n{population}\n"))


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ('{ file = "absent.toml" }', "cluster.device: absent.toml: there is no such file"),
        ('{ file = "disk.toml", x = 1 }', "a device from a file has no other keys"),
        ('{ file = "disk.toml" }', 'disk.toml: read_rat = "1 B/s": .*did you mean "read_rate"'),
        ('{ file = "broken.toml" }', "broken.toml, line 1, column 3: not valid TOML"),
        ('{ request_sizes = ["4 KiB", "1 KiB"] }', "cluster.device.read_rate: .*required"),
    ],
)
def test_a_bad_device_is_refused(tmp_path: Path, device: str, says: str) -> None:
    import re

    (tmp_path / "disk.toml").write_text('request_sizes = ["4 KiB"]\nread_rat = "1 B/s"\n')
    (tmp_path / "broken.toml").write_text("a b\n")
    text = f"[cluster]\nservers = 8\ndevice = {device}\n{GENOMES}"
    assert re.search(says, problems(tmp_path, text))


def test_a_device_table_must_hang_together(tmp_path: Path) -> None:
    device = (
        '{ request_sizes = ["4 KiB", "1 KiB"], read_rate = 0, read_overhead = 0, '
        'read_seek = ["1 ms"], write_rate = "1 B/s", write_overhead = 0, write_seek = [0, 0] }'
    )
    text = problems(tmp_path, f"[cluster]\nservers = 8\ndevice = {device}\n{GENOMES}")
    assert "cluster.device.request_sizes: the sizes must be above zero and rise" in text
    assert "cluster.device.read_seek: 1 seeks for 2 request sizes" in text
    assert "cluster.device.read_rate: the rate must be above zero" in text


def test_all_problems_of_all_sections_are_told_at_once(tmp_path: Path) -> None:
    text = problems(
        tmp_path,
        '[cluster]\nservers = "x"\n[population]\nhistogram = "mirra"\nbytes = 5\n'
        '[redundancy]\nreplicas = 0\n[[faults]]\nat = "3 s"\nfail = { servers = 0 }\n'
        '[recovery]\nsource = "primry"\n[study]\nseeds = 0\n',
    )
    keys = [line.split(" = ")[0].split(":")[0] for line in text.splitlines()]
    assert sorted(keys) == [
        "cluster.servers",
        "faults.0.fail.servers",
        "population.bytes",
        "population.histogram",
        "recovery.source",
        "redundancy.replicas",
        "study.seeds",
    ]


def test_a_real_clusters_report_leaves_no_room_for_other_sections(
    tmp_path: Path, shared_data: Path
) -> None:
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    cluster = f'[cluster]\nceph = "{report}"\n'
    text = problems(tmp_path, cluster + GENOMES + "[placement]\n[redundancy]\n")
    for name in ("population", "placement", "redundancy"):
        assert f"{name}: a real cluster's dumps say this already; remove [{name}]" in text
    text = problems(tmp_path, cluster + '[[faults]]\nfail = { osds = ["osd.120"] }\n')
    assert text == (
        'faults.0.fail.osds = "osd.120": the report has no such OSD; there are 88, osd.0 to osd.88'
    )
    text = problems(tmp_path, cluster + "[[faults]]\nfail = { osds = 89 }\n")
    assert "the cluster has 88" in text
    text = problems(tmp_path, cluster + "[[faults]]\nfail = { racks = 1 }\n")
    assert "the report's map has no racks; use osds or hosts" in text
    text = problems(tmp_path, cluster + "[[faults]]\nfail = { servers = 1 }\n")
    assert "a real cluster's servers are its OSDs" in text


def test_a_cut_off_report_is_refused_with_its_position(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"osdmap": {"pools": [\n {"pool": 3, "pg_n')
    text = problems(tmp_path, '[cluster]\nceph = "report.json"\n')
    assert text.startswith("cluster.ceph: report.json, line 2, column 14: not valid JSON")
    assert "cut off" in text


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (None, 'pool "rbd" is erasure coded, and the osdmap does not hold its profile'),
        ({"plugin": "shec", "k": "2", "m": "1"}, 'by the plugin "shec", which is not modelled'),
        ({"plugin": "isa", "k": "two", "m": "1"}, "expected an integer from 1"),
        (
            {"plugin": "isa", "k": "7", "m": "1"},
            'expected 8, the pieces of its erasure code profile "p"',
        ),
    ],
)
def test_an_erasure_coded_pool_without_a_code_is_refused(
    tmp_path: Path, profile: dict[str, str] | None, says: str
) -> None:
    import json

    from tests.unit.test_importers_ceph import changed

    report = changed("osdmap.pools.0.type", 3)
    if profile is not None:
        report["osdmap"]["pools"][0]["erasure_code_profile"] = "p"
        report["osdmap"]["erasure_code_profiles"] = {"p": profile}
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert says in problems(tmp_path, '[cluster]\nceph = "report.json"\n')


def test_a_study_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "absent.toml", "no such file"), (tmp_path, "a folder")):
        with pytest.raises(ConfigError, match=says):
            Study.load(path)
    assert "study.toml, line 1, column 9" in problems(tmp_path, "[cluster\n")


VALUES = st.recursive(
    st.one_of(
        st.none().map(lambda _: "x"),
        st.booleans(),
        st.integers(-5, 2**70),
        st.floats(),
        st.sampled_from(["", "1 B", "auto", "genomes1000", "crush", "server.1", "ring", "0 s"]),
        st.sampled_from(["multi_ring", "copysets", "declustered", "jump"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["file", "bins", "servers", "chunk", "a.b"]), inner, max_size=2
        ),
    ),
    max_leaves=5,
)
KEYS = [
    f"{name}.{field}"
    for name, fields in {
        "cluster": ["servers", "racks", "rows", "ceph", "device", "fabric"],
        "population": ["histogram", "file_size", "objects", "bytes", "files", "bytes_per_server"],
        "placement": [
            *("algorithm", "bucket", "failure_domain", "placement_groups", "ring_points"),
            *("rings", "parity_groups", "scatter_width"),
        ],
        "redundancy": ["replicas"],
        "recovery": ["pipeline_buffer", "pipelining", "source"],
        "study": ["seeds", "title", "sweep"],
    }.items()
    for field in fields
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=times(60))
@given(key=st.sampled_from([*KEYS, "faults", "faults.0", "cluster", "study"]), value=VALUES)
def test_any_value_anywhere_is_taken_or_refused_as_input(
    tmp_path: Path, key: str, value: Any
) -> None:
    table: dict[str, Any] = {
        "cluster": {"servers": 8},
        "population": {"histogram": "genomes1000", "bytes_per_server": "1 TiB"},
        "faults": [{"fail": {"servers": 1}}],
        "study": {},
    }
    name, _, field = key.partition(".")
    if name == "faults":
        table["faults"] = [value] if field else value
    elif field:
        table.setdefault(name, {})[field] = value
    else:
        table[name] = value
    # The seeds alone may make many runs, and none of them is the matter here.
    try:
        study = Study.from_dict(table, tmp_path)
    except ConfigError as error:
        assert str(error)
        return
    assert study.resolved() and study.to_toml()
