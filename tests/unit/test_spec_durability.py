"""The section on durability: what it says of failures and repairs, and what no run depends on."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.failure_rates import (
    YEAR_SECONDS,
    ErrorsPerByte,
    ErrorsPerByteSecond,
    FailedShare,
    FailureRate,
    LongSeconds,
    WrittenQuantity,
)
from resilver.spec import DurabilityQuestion, Failure
from resilver.study.system_runs import format_swept
from tests.build import read_again, refusal, study_of

YEAR = 365.25 * 86_400

PLAIN = 'durability.failures = [{ afr = "1.36 %" }]\n'


def test_runs_are_those_of_the_study_without_the_section() -> None:
    with_it, without = study_of("failing", PLAIN), study_of("failing")
    assert [run.key for run in with_it.runs()] == [run.key for run in without.runs()]
    assert with_it.resolved() == without.resolved()


def test_systems_that_differ_in_durability_alone_are_points_with_one_run() -> None:
    sweep = '[study.sweep]\n"durability.mission" = ["1 y", "10 y"]\n"cluster.queue" = '
    found = study_of("failing", PLAIN + sweep + '["fifo", "reads_first"]\n')
    missions = [point.swept["durability.mission"] for point in found.points]
    assert missions == [YEAR, YEAR, 10 * YEAR, 10 * YEAR]
    assert [dict(run.swept) for run in found.runs()] == [
        {"cluster.queue": "fifo"},
        {"cluster.queue": "reads_first"},
    ]
    assert found.resolved()["study"]["sweep"] == {"cluster.queue": ["fifo", "reads_first"]}


def test_a_sweep_reaches_into_the_list_of_failures_and_is_written_with_units() -> None:
    found = study_of(
        "failing", PLAIN + 'study.sweep."durability.failures.0.afr" = ["1 %", "2 %"]\n'
    )
    asked = [point.system.durability for point in found.points]
    assert [one.failures[0].afr for one in asked if one is not None] == [0.01, 0.02]
    texts = [format_swept(*item) for point in found.points for item in point.swept.items()]
    assert texts == ["1 %", "2 %"]
    assert len(found.runs()) == 1


def test_the_section_written_out_reads_back_equal(tmp_path: Path) -> None:
    """Every form of every key, once; floats print their shortest text, so equality is exact."""
    (tmp_path / "lives.csv").write_text(
        "component,start,end,failed\nosd.1,2024-01-01,2024-01-11,yes\nosd.2,2024-01-01,2024-02-01,no\n"
    )
    text = """
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
    first = study_of("failing", text, folder=tmp_path)
    again = read_again(first)
    asked = first.durability
    assert again.durability.content() == asked.content()
    assert asked.failures[2].law_content({"osd.1": 1}) == {
        "kind": "trace",
        "seconds": [10 * 86_400.0],
        "parts": [1],
    }


def test_laws_mean_what_they_say() -> None:
    rate = Failure(afr="1.36 %").rate_per_second
    assert -math.expm1(-rate * YEAR) == pytest.approx(0.0136, rel=1e-14)
    assert FailedShare.parse("50 %").per_second * YEAR_SECONDS == pytest.approx(math.log(2))
    # Weibull of shape 2: the mean is scale x Gamma(1.5) = scale x sqrt(pi) / 2.
    asked = DurabilityQuestion(
        failures=[{"afr": "1 %"}], repair={"weibull": {"shape": 2, "scale": "10 h", "least": "1 h"}}
    )
    expected = 3600 * (1 + 10 * math.sqrt(math.pi) / 2)
    assert asked.repair.times[0].mean_seconds == pytest.approx(expected, rel=1e-14)
    texts = ("10 y", "87600 h", "14 d", "1.5 y")
    written = [LongSeconds.parse(text).as_text() for text in texts]
    assert written == ["10 y", "3650 d", "14 d", "1.5 y"]


def test_the_catalog_says_what_a_failure_leaves_out_and_a_law_replaces_its_law() -> None:
    shipped = Failure(like="simedc/disk")
    assert shipped.law == "weibull" and shipped.is_by_catalog and "Erasure-Coded" in shipped.source
    assert shipped.weibull is not None and shipped.weibull.scale == 87_600 * 3600
    own = Failure(like="simedc/disk", mttf="1e6 h")
    assert own.law == "mttf" and not own.is_by_catalog and own.source == ""


def test_a_real_cluster_has_the_levels_of_its_map(shared_data: Path) -> None:
    """Its hosts fail and hold bursts of OSDs; racks that its map does not have do not."""
    report = str(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    cluster = {"cluster": {"ceph": report}, "faults": [{"part": {"osd": 1}}]}
    burst = 'durability.failures = [{ rate = "1 /y", burst = { within = "host", sizes = 2 } }]'
    found = study_of(cluster, burst).durability
    assert found is not None and found.failures[0].burst is not None
    text = refusal(cluster, burst.replace("host", "row"))
    assert 'burst.within = "row"' in text and "no such level above osd" in text


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
