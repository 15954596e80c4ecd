"""`resilver what-if`: what clients get of PGs that serve nobody, of dead OSDs, after outages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resilver import cli
from resilver.importers import read_cluster
from resilver.reproduce import recovering
from resilver.simulate import group_up_sets

LAB = recovering.Lab(
    3, 8, "ssd", 375_000_000_000, 256, 10_000_000, 8286, has_journal=True, version="17.0.0"
)
LOAD = ("--load", "data: 100 reads/s of 4 KiB, 100 writes/s of 4 KiB")


def ask(capsys: pytest.CaptureFixture[str], report: Path, *words: str) -> dict[str, Any]:
    """The answer of a what-if as JSON; it may say that the cluster is not healthy again."""
    assert cli.run(["what-if", str(report), *words, "--json", "-q"]) in (0, 1)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["answer"]
    return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hosts of eight OSDs, a pool of three copies, one on each host."""
    path = tmp_path_factory.mktemp("lab") / "lab.json"
    with pytest.MonkeyPatch.context() as patch:
        # The report as text, in place of what is read of it.
        patch.setattr(recovering, "read_report", lambda made: made.read_text(encoding="utf-8"))
        path.write_text(str(recovering.lab_report(LAB)), encoding="utf-8")
    return path


def test_pgs_that_serve_nobody_count_in_what_clients_get(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Five of ten hosts are stopped: of 4,096 PGs of alike bytes those whose set lies wholly on them
    # serve nobody. 1 - 165 / 4,096 of the requests are served.
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    read = json.loads(report.read_text(encoding="utf-8"))
    hosts = [one for one in read["crushmap"]["buckets"] if one["type_name"] == "host"]
    stopped = sorted(hosts, key=lambda one: one["name"])[:5]
    osds = {item["id"] for host in stopped for item in host["items"]}
    sets = group_up_sets(read_cluster(report), 3)
    lost = sum({int(osd) for osd in up if osd >= 0} <= osds for up in sets)
    words = [word for host in stopped for word in ("--stop", f"host={host['name']}")]
    load = ("--load", "cephstor3: 100 reads/s of 4 KiB")
    found = ask(capsys, report, *words, "--flag", "noout", "--horizon", "1 h", *load)
    assert found["inactive_groups"] == lost == 165
    assert found["served_share"] == pytest.approx(1 - lost / 4096, abs=1e-4)
    assert found["p99_seconds"] is None


def test_dead_osds_that_stay_up_serve_nobody(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # All daemons are stopped, and mon_osd_min_up_ratio keeps 30 % up in the map.
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    read = json.loads(report.read_text(encoding="utf-8"))
    hosts = [one["name"] for one in read["crushmap"]["buckets"] if one["type_name"] == "host"]
    words = [word for host in hosts for word in ("--stop", f"host={host}")]
    load = ("--load", "cephstor3: 100 reads/s of 4 KiB")
    found = ask(capsys, report, *words, "--flag", "noout", "--horizon", "1 h", *load)
    assert found["inactive_groups"] == 4096
    assert found["served_share"] == 0.0 and found["p99_seconds"] is None
    cli.run(["what-if", str(report), *words, "--flag", "noout", "--horizon", "1 h", *load])
    out = " ".join(capsys.readouterr().out.split())
    assert "mon_osd_min_up_ratio" in out and "0 % of requests are served" in out


def test_a_dead_osd_under_nodown_hangs_its_pgs(
    lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Under nodown nobody marks it down: every PG of it hangs until it starts again.
    words = ("--flag", "nodown", "--stop", "host=node0", "--horizon", "2 h", *LOAD)
    found = ask(capsys, lab, *words)
    assert found["inactive_groups"] == LAB.groups and found["served_share"] == 0.0
    found = ask(capsys, lab, *words, "--start", "host=node0 @ 1 h")
    assert found["inactive_seconds"] == pytest.approx(3600.0, abs=1.0)
    assert found["recovered_bytes"] == 0


@pytest.mark.parametrize("flags", [(), ("--flag", "noout")])
def test_osds_that_return_lack_only_what_could_be_written(
    flags: tuple[str, ...], lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Two of three hosts stop at once: every PG is below min_size (2), so that nothing is written
    # for two hours, and nothing is to recover when both return.
    stops = ("--stop", "host=node0", "--stop", "host=node1", *flags)
    starts = ("--start", "host=node0 @ 2 h", "--start", "host=node1 @ 2 h")
    found = ask(capsys, lab, *stops, *starts, "--load", "data: 500 writes/s of 4 KiB")
    assert found["inactive_groups"] == LAB.groups
    assert found["recovered_bytes"] == 0


def test_one_host_that_returns_lacks_what_was_written_meanwhile(
    lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # With two of three copies all PGs are served: 2 h of 50 writes/s dirty about as many objects.
    words = ("--stop", "host=node0", "--start", "host=node0 @ 2 h", "--flag", "noout")
    found = ask(capsys, lab, *words, "--load", "data: 50 writes/s of 4 KiB")
    written = 50 * (7200 - 20)
    assert found["inactive_groups"] == 0
    assert 0.8 * written <= found["recovered_bytes"] / 8286 <= 1.05 * written


def test_a_ranking_beside_changes_says_when_its_failures_are(
    lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["what-if", str(lab), "--each", "host", "--json", "-q"]
    for changes, said in (([], 0), (["--reweight", "osd.0=0.9"], 1)):
        assert cli.run([*words, *changes]) in (0, 1)
        notes = json.loads(capsys.readouterr().out)["notes"]
        assert sum("at the start of the changes" in note for note in notes) == said
