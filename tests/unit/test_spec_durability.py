"""The section on durability: what it says of failures and repairs, and what no run depends on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.lifetimes import (
    YEAR_SECONDS,
    ErrorsPerByte,
    ErrorsPerByteSecond,
    FailedShare,
    FailureRate,
    LongSeconds,
    WrittenQuantity,
)
from resilver.report.source import format_swept
from resilver.spec import DurabilityQuestion, Failure, Study

YEAR = 365.25 * 86_400

PARTS = """
[[cluster.parts]]
level = "rack"
count = 2
[[cluster.parts]]
level = "host"
in = "rack"
count = 3
[[cluster.parts]]
level = "osd"
in = "host"
count = 2
class = "hdd"
[population]
histogram = "genomes1000"
bytes_per_server = "1 GiB"
[placement]
failure_domain = "host"
"""
PLAIN = PARTS + '[[durability.failures]]\nafr = "1.36 %"\n'


def study(tmp_path: Path, text: str) -> Study:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return Study.load(file)


def failure(**keys: Any) -> Failure:
    return Failure(**keys)


def test_runs_are_those_of_the_study_without_the_section(tmp_path: Path) -> None:
    with_it, without = study(tmp_path, PLAIN), study(tmp_path, PARTS)
    assert [run.key for run in with_it.runs()] == [run.key for run in without.runs()]
    assert with_it.resolved() == without.resolved()


def test_systems_that_differ_in_durability_alone_are_points_with_one_run(tmp_path: Path) -> None:
    sweep = '[study.sweep]\n"durability.mission" = ["1 y", "10 y"]\n"cluster.queue" = '
    found = study(tmp_path, PLAIN + sweep + '["fifo", "reads_first"]\n')
    missions = [point.swept["durability.mission"] for point in found.points]
    assert missions == [YEAR, YEAR, 10 * YEAR, 10 * YEAR]
    assert [dict(run.swept) for run in found.runs()] == [
        {"cluster.queue": "fifo"},
        {"cluster.queue": "reads_first"},
    ]
    assert found.resolved()["study"]["sweep"] == {"cluster.queue": ["fifo", "reads_first"]}


def test_a_sweep_reaches_into_the_list_of_failures_and_is_written_with_units(
    tmp_path: Path,
) -> None:
    sweep = '[study.sweep]\n"durability.failures.0.afr" = ["1 %", "2 %"]\n'
    found = study(tmp_path, PLAIN + sweep)
    asked = [point.system.durability for point in found.points]
    assert [one.failures[0].afr for one in asked if one is not None] == [0.01, 0.02]
    texts = [format_swept(*item) for point in found.points for item in point.swept.items()]
    assert texts == ["1 %", "2 %"]
    assert len(found.runs()) == 1


def test_equal_questions_of_equal_systems_are_refused(tmp_path: Path) -> None:
    sweep = '[study.sweep]\n"durability.mission" = ["1 y", "365.25 d"]\n'
    with pytest.raises(ConfigError, match="two combinations are the same system"):
        study(tmp_path, PLAIN + sweep)


def test_the_section_written_out_reads_back_equal(tmp_path: Path) -> None:
    """Every form of every key, once; floats print their shortest text, so equality is exact."""
    (tmp_path / "lives.csv").write_text(
        "component,start,end,failed\nosd.1,2024-01-01,2024-01-11,yes\nosd.2,2024-01-01,2024-02-01,no\n"
    )
    text = (
        PARTS
        + """
[durability]
mission = "7.3 y"
detection = { exponential = "20 min" }
replacement = { weibull = { shape = 2.5, scale = "30 h", least = "2 h" } }
repair = ["10 h", { drawn = ["7 h", "8 h"] }]
latent_errors = "0.3 /TB/y"
unreadable = "1e-15 /bit"
scrub_every = "14 d"
[[durability.failures]]
class = "hdd"
weibull = { shape = 1.12, scale = "10 y", age = "2 y" }
[[durability.failures]]
like = "simedc/disk"
parts = ["osd.3"]
[[durability.failures]]
trace = "lives.csv"
name = "what failed last year"
[[durability.failures]]
level = "host"
rate = "3 /y"
lasts = "15 min"
lost_share = 0.01
burst = { within = "rack", sizes = { 2 = 0.7, 3 = 0.3 }, spread = "2 min" }
[[durability.failures]]
level = "host"
planned = { every = "30 d", first = "1 d" }
lasts = "10 min"
"""
    )
    first = study(tmp_path, text)
    again = study(tmp_path, first.to_toml())
    asked = first.durability
    assert asked is not None and again.durability is not None
    assert again.durability.content() == asked.content()
    assert asked.failures[2].law_content({"osd.1": 1}) == {
        "kind": "trace",
        "seconds": [10 * 86_400.0],
        "parts": [1],
    }


def test_an_afr_is_the_share_that_a_constant_rate_has_killed_after_a_year() -> None:
    rate = failure(afr="1.36 %").rate_per_second
    assert rate is not None
    assert -math.expm1(-rate * YEAR) == pytest.approx(0.0136, rel=1e-14)
    assert FailedShare.parse("50 %").per_second * YEAR_SECONDS == pytest.approx(math.log(2))


def test_the_catalog_says_what_a_failure_leaves_out_and_a_law_replaces_its_law() -> None:
    shipped = failure(like="simedc/disk")
    assert shipped.law == "weibull" and shipped.is_by_catalog and "Erasure-Coded" in shipped.source
    assert shipped.weibull is not None and shipped.weibull.scale == 87_600 * 3600
    own = failure(like="simedc/disk", mttf="1e6 h")
    assert own.law == "mttf" and not own.is_by_catalog and own.source == ""


def test_a_mean_time_is_that_of_its_law() -> None:
    """Weibull of shape 2: the mean is scale x Gamma(1.5) = scale x sqrt(pi) / 2."""
    asked = DurabilityQuestion(
        failures=[{"afr": "1 %"}],
        repair={"weibull": {"shape": 2, "scale": "10 h", "least": "1 h"}},
    )
    expected = 3600 * (1 + 10 * math.sqrt(math.pi) / 2)
    assert asked.repair.times[0].mean_seconds == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("[durability]\n", "durability.failures: nothing fails, so nothing is lost; add"),
        ('[durability]\nmission = "0 s"\n', "durability.mission = .*time must be above zero"),
        ('[durability]\nmission = "1e15 y"\n', "longest time is 10.12 years"),
        ('[[durability.failures]]\nafr = "0 %"\n', "failures.0.afr = .*above 0 % and below 100 %"),
        ('[[durability.failures]]\nafr = "100 %"\n', "above 0 % and below 100 %"),
        ("[[durability.failures]]\nafr = 0.0136\n", 'needs a unit; write "0.0136 %", or "1.36 %"'),
        ('[[durability.failures]]\nmttf = "0 h"\n', "mttf = .*the time must be above zero"),
        ('[[durability.failures]]\nrate = "0 /y"\n', "rate = .*the rate must be above zero"),
        ('[[durability.failures]]\nrate = "1e999 /y"\n', "exponent"),
        ("[[durability.failures]]\n", "exactly one of afr, mttf, .*none is given"),
        ('[[durability.failures]]\nafr = "1 %"\nmttf = "9 y"\n', "afr and mttf are given"),
        ('[[durability.failures]]\nlike = "simedc/disc"\n', 'like = .*did you mean "simedc/disk"'),
        (
            '[[durability.failures]]\nweibull = { shape = 0, scale = "1 y" }\n',
            "weibull.shape = 0: this must be at least 0.05",
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nlevel = "hosst"\n',
            'failures.0.level = "hosst": the cluster has no such level; did you mean "host"',
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nclass = "ssd"\n',
            'failures.0.class = "ssd": no device has this class; valid classes: "hdd"',
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nparts = ["osd.12"]\n',
            'failures.0.parts = "osd.12": there is no such osd; the names are osd.0 to osd.11',
        ),
        (
            "[[durability.failures]]\n"
            'weibull = { shape = 1, scale = "1 y", age = ["1 y", "2 y"] }\n',
            "weibull.age: 2 ages are given, and 12 osds fail so",
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nburst = { sizes = 2 }\n',
            "afr: this is of each part, and bursts come to the whole system",
        ),
        (
            '[[durability.failures]]\nrate = "1 /y"\nburst = { sizes = { 0 = 1 } }\n',
            "a number of parts is whole and from 1",
        ),
        (
            '[[durability.failures]]\nrate = "1 /y"\nburst = { sizes = 2, within = "osd" }\n',
            'burst.within = "osd": the cluster has no such level above osd',
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nlost_share = 0.5\n',
            "lost_share = 0.5: it is the share of what is away",
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\nlasts = "10 min"\n',
            "all that fails comes back",
        ),
        (
            '[durability]\nrepair = "2 y"\n[[durability.failures]]\nmttf = "1 y"\n',
            "failures.0.mttf: a device fails after 1 y on average, and its repair takes 2 y",
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\n[[durability.failures]]\nlevel = "host"\n'
            'mttf = "1 h"\nlasts = "2 h"\n',
            "failures.1.mttf: a part is away for 2 h",
        ),
        (
            '[durability]\nrepair = { host = "1 GB/s" }\n[[durability.failures]]\nafr = "1 %"\n',
            "repair.device: shared bandwidth says what a device gives",
        ),
        (
            '[durability]\nrepair = { device = "0 B/s" }\n[[durability.failures]]\nafr = "1 %"\n',
            "repair.device = .*rate must be above zero",
        ),
        (
            '[durability]\nrepair = { device = "1 MB/s", hots = "1 GB/s" }\n'
            '[[durability.failures]]\nafr = "1 %"\n',
            'durability.repair = "hots": .*did you mean "host"',
        ),
        (
            '[[durability.failures]]\nafr = "1 %"\n[[durability.failures]]\nmttf = "9 y"\n',
            'failures.1.name: failures 0 and 1 are both called "osd failures"; give one a name',
        ),
        (
            '[durability]\nrepair = "osd"\n[[durability.failures]]\nafr = "1 %"\n',
            'durability.repair = "osd": a duration is a finite number and a unit',
        ),
        (
            '[durability]\nrepair = "0 s"\n[[durability.failures]]\nafr = "1 %"\n',
            'durability.repair = "0 s": a repair takes time',
        ),
        (
            '[durability]\nrelative_error = 0.0\n[[durability.failures]]\nafr = "1 %"\n',
            "durability.relative_error = 0.0: this must be above 0",
        ),
        (
            "[durability]\nmission = inf\n",
            "durability.mission = inf",
        ),
        (
            '[durability]\nscrub_every = "14 d"\n[[durability.failures]]\nafr = "1 %"\n',
            "scrub_every = .*and none do",
        ),
        (
            '[durability]\nrepairs = "serial"\n[[durability.failures]]\nafr = "1 %"\n',
            "repairs = .*of repairs whose times are given",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_key_and_remedy(
    tmp_path: Path, section: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        study(tmp_path, PARTS + section)


def test_a_list_that_names_no_part_or_has_no_failure_is_refused(tmp_path: Path) -> None:
    section = PARTS + '[[durability.failures]]\ntrace = "lives.csv"\n'
    header = "component,start,end,failed\n"
    (tmp_path / "lives.csv").write_text(header + "sda,2024-01-01,2024-01-02,yes\n")
    with pytest.raises(ConfigError, match=r"failures.0.trace = \"sda\": there is no such osd"):
        study(tmp_path, section)
    (tmp_path / "lives.csv").write_text(header + "osd.1,2024-01-01,2024-01-02,no\n")
    with pytest.raises(ConfigError, match="nothing failed in this list"):
        study(tmp_path, section)


def test_times_longer_than_a_run_are_written_in_the_unit_that_is_shortest() -> None:
    texts = ("10 y", "87600 h", "14 d", "1.5 y")
    assert [LongSeconds.parse(text).as_text() for text in texts] == [
        "10 y",
        "3650 d",
        "14 d",
        "1.5 y",
    ]


def test_a_real_cluster_has_the_levels_of_its_map(tmp_path: Path, shared_data: Path) -> None:
    """Its hosts fail and hold bursts of OSDs; racks that its map does not have do not."""
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    head = f'[cluster]\nceph = "{report}"\n[[faults]]\npart = {{ osd = 1 }}\n'
    failures = '[[durability.failures]]\nrate = "1 /y"\nburst = { within = "host", sizes = 2 }\n'
    found = study(tmp_path, head + failures)
    assert found.durability is not None and found.durability.failures[0].burst is not None
    with pytest.raises(ConfigError, match=r"burst.within = \"row\": .*no such level above osd"):
        study(tmp_path, head + failures.replace("host", "row"))


@given(
    st.sampled_from(
        [
            (LongSeconds, 1e-3, 1e18),
            (FailureRate, 1e-15, 1.0),
            (FailedShare, 1e-12, 1 - 1e-12),
            (ErrorsPerByte, 1e-20, 1e-3),
            (ErrorsPerByteSecond, 1e-30, 1e-6),
        ]
    ).flatmap(lambda kind: st.tuples(st.just(kind[0]), st.floats(kind[1], kind[2])))
)
def test_a_quantity_written_out_reads_back_equal(
    drawn: tuple[type[WrittenQuantity], float],
) -> None:
    kind, value = drawn
    assert kind.parse(kind(value).as_text()) == value
