"""What software limits of a rebuild, through the command."""

from pathlib import Path
from typing import Any

import pytest

from resilver import catalog
from resilver.spec.recovery import policy_of
from resilver.spec.run import run_key
from tests.build import system_of
from tests.integration.test_replaced_devices import ALONE, STUDY, of
from tests.terminal import json_output, output, texts, written

MINUTE = "recovery.software.time_per_piece=1 min"


# Rule: n pieces one at a time take n times what one takes. Network and memory add some per mille.
def test_pieces_one_at_a_time_take_as_long_as_all_together(tmp_path: Path) -> None:
    run = of(tmp_path, "recovery.software.in_all=1", MINUTE)
    assert run["rebuild_seconds"] == pytest.approx(run["rebuilt_pieces"] * (60 + ALONE), rel=2e-3)
    # Each of eight drivers alone: the one with most pieces is the last.
    own = of(tmp_path, "recovery.software.per_driver=1", MINUTE)
    most = own["rebuild_seconds"] / (60 + ALONE)
    assert run["rebuilt_pieces"] / 8 <= most < run["rebuilt_pieces"] / 3
    assert most == pytest.approx(round(most), abs=0.01)


def test_the_bottleneck_is_the_limit_that_makes_it_faster(tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", STUDY)
    limits = ("--set", "recovery.software.per_source=1", "--set", "recovery.software.burst=1 MB")
    words = ("run", study, "-o", tmp_path / "runs", *limits, "--set", MINUTE)
    text = " ".join(output(*words, "--sensitivity").split())
    bottleneck = "The bottleneck: pieces at once per source (recovery.software.per_source). At 2"
    assert bottleneck in text
    assert "waited" in text and "for the limits of its software (recovery.software)" in text
    checked = " ".join(output("check", study, *limits, "--set", MINUTE).split())
    paper = "On paper recovery.software.per_source binds: 100 pieces of 16.0 MiB, 1 piece at a time"
    assert paper in checked
    # 100 pieces of 8 sources, a minute and 0.05 s each.
    assert "take at least 12 min 31 s" in checked


def test_a_rebuild_without_limits_says_that_it_takes_at_least_so_long(tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", STUDY)
    said = " ".join(output("run", study, "-o", tmp_path / "runs").split())
    assert "software limits none: at least this long (default)" in said
    said = " ".join(output("check", study, "--set", "recovery.software.per_source=40").split())
    assert "On paper the devices, not the software, bind" in said


def test_limits_that_limit_nothing_keep_the_key_of_a_run() -> None:
    limits: list[dict[str, Any]] = [{}, {"software": {}}, {"software": {"in_all": 1}}]
    keys = [run_key(system_of("coded", recovery=each), 1, "1") for each in limits]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ("recovery.software.per_source=0", "recovery.software.per_source = 0: this must be at"),
        ("recovery.software.in_all=1.5", "recovery.software.in_all = 1.5"),
        ("recovery.software.pause=31 d", "recovery.software.pause"),
        ("recovery.software.rate_in_all=0 B/s", "the rate must be above zero"),
        ("recovery.software.streams=2", "recovery.software.streams = 2: there is no such key"),
    ],
)
def test_what_cannot_be_is_refused(settings: str, rule: str, tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", STUDY)
    _, said = texts("check", study, "--set", settings, code=2)
    assert rule in " ".join(said.split())


def test_a_policy_puts_its_limits_unless_others_are_stated(tmp_path: Path) -> None:
    study = written(tmp_path / "study.toml", STUDY)
    like = ("--set", "recovery.like=hdfs 3.3")
    found = json_output("check", study, *like, "--set", "recovery.software.per_source=7")
    recovery = found["study"]["recovery"]
    # dfs.namenode.replication.max-streams is 2 and a heartbeat 3 s, of which a block waits half.
    assert (recovery["software"]["per_source"], recovery["driver"]) == (7, "source")
    assert recovery["software"]["time_per_piece"] == 1.5
    text = " ".join(output("check", study, *like).split())
    assert "hdfs 3.3: per source 2, time per piece 1.5 s stated" in text
    assert "dfs.namenode.replication.max-streams = 2" in text and "Source: apache/hadoop" in text
    # The same limits without the policy's name are the same run.
    spelled = ("driver='source'", "software={per_source=2,time_per_piece='1.5 s'}")
    words = [word for text in spelled for word in ("--set", f"recovery.{text}")]
    keys = [json_output("check", study, *each)["study"]["recovery"] for each in (like, words)]
    assert keys[0] == keys[1]
    _, said = texts("check", study, "--set", "recovery.like=hdfs 4", code=2)
    assert 'recovery.like = "hdfs 4": the catalog has no recovery policy' in said


def test_every_policy_is_of_a_source_and_runs(tmp_path: Path) -> None:
    for name in catalog.list("policies"):
        policy = policy_of(name)
        values = {**policy.recovery, **policy.recovery.get("software", {})}
        assert policy.source and set(values) - {"software"} == set(policy.settings), name
        assert of(tmp_path, f"recovery.like={name}")["rebuilt_pieces"] == 86
