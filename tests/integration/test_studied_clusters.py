"""A study of a real Ceph cluster has the answer of a what-if: one door, one figure."""

import json
import re
from pathlib import Path
from typing import Any

from resilver import Study
from resilver.importers import read_report
from tests.terminal import command, json_output, refusal, with_page, written

HOST = "cloud3-1359"


def study(folder: Path, report: Path, text: str) -> Path:
    return written(folder / "study.toml", f'[cluster]\nceph = "{report}"\n{text}')


def runs(path: Path, *words: str) -> list[dict[str, Any]]:
    """The runs of a study, performed by the command."""
    return list(json_output("run", path, "-o", path.with_suffix(""), "-q", *words))


def asked(report: Path, *words: str) -> dict[str, Any]:
    """What `what-if` answers, with the seed that a study begins with."""
    return dict(json_output("what-if", report, *words, "--seed", "1"))


def assert_alike(run: dict[str, Any], answer: dict[str, Any]) -> None:
    """Rule: time, bytes and digest are those of the what-if, to the last digit."""
    found = answer["answer"]
    assert run["digest"] == answer["digest"]
    assert run["rebuild_seconds"] == found["whole_seconds"] > 0
    assert run["last_redundant_seconds"] == found["degraded_seconds"]
    assert run["rebuilt_bytes"] == found["recovered_bytes"] > 0
    assert run["remapped_bytes"] == found["moved_bytes"]


def test_an_osd_of_a_real_cluster_fails_alike_by_both_doors(report: Path, tmp_path: Path) -> None:
    path = study(tmp_path, report, '[[faults]]\nfail = { osds = ["osd.12"] }\n')
    (run,) = runs(path)
    answer = asked(report, "--fail", "osd.12")
    assert_alike(run, answer)
    # The report's own up sets: one copy of every PG of osd.12 is lost, and no other.
    stats = json.loads(report.read_text())["pgmap"]["pg_stats"]
    held = {one["pgid"] for one in stats if 12 in one["up"]}
    assert run["placement_groups_affected"] == len(held)
    # The published report states the bytes of some PGs and the sum of all; the others hold even
    # shares of the rest. Objects of a PG are of one size: a byte too few or too many of each.
    loads = {f"{one.pool}.{one.number:x}": one.bytes for one in read_report(report).loads}
    expected = sum(loads[pgid] for pgid in held)
    assert abs(run["rebuilt_bytes"] - expected) <= run["population_objects"]
    # A down OSD is reported after 20 s and out 300 s later: nothing is copied before.
    assert run["rebuild_seconds"] > 320
    # The terminal and the page say what the what-if's do, and what the run took.
    said = " ".join(command("run", path, "-o", path.with_suffix("")).stdout.split())
    said = re.sub(r"Simulated in .*? %\. ", "", said)
    told = " ".join(command("what-if", report, "--fail", "osd.12", "--seed", "1").stdout.split())
    assert told in said and "healthy after 16 min 19 s" in told
    _, page = with_page(tmp_path, "report", path.with_suffix(""))
    assert "healthy after 16 min 19 s" in page and answer["digest"] in page


def test_a_host_with_clients_and_flags_fails_alike_by_both_doors(
    report: Path, tmp_path: Path
) -> None:
    """What a what-if has as options a study has as keys."""
    path = study(
        tmp_path,
        report,
        """[ceph]
fill = "60%"
network = "25gbe"
devices = ["ssd-sata"]
pace = "70%"
load = ["cephstor3: 500 reads/s of 16 KiB"]
settings = { osd_max_backfills = 2, mon_osd_down_out_interval = 600 }
changes = { flag = ["noout"], unflag = ["noout @ 1 h"] }
[[faults]]
at = "10 min"
fail = { hosts = ["cloud3-1359"] }
""",
    )
    (run,) = runs(path)
    answer = asked(
        report,
        *("--fill", "60%", "--network", "25gbe", "--device", "ssd-sata", "--pace", "70%"),
        *("--load", "cephstor3: 500 reads/s of 16 KiB"),
        *("--set-option", "osd_max_backfills=2", "--set-option", "mon_osd_down_out_interval=600"),
        *("--flag", "noout", "--unflag", "noout @ 1 h", "--fail", f"host={HOST} @ 10 min"),
    )
    assert run["digest"] == answer["digest"]
    # A run's times count from its first fault.
    assert run["rebuild_seconds"] == answer["answer"]["whole_seconds"] - 600
    assert run["rebuilt_bytes"] == answer["answer"]["recovered_bytes"] > 0


def test_each_seed_draws_an_osd_that_then_fails_as_if_it_were_named(
    report: Path, tmp_path: Path
) -> None:
    path = study(tmp_path, report, "[[faults]]\npart = { osd = 1 }\n[study]\nseeds = 2\n")
    found = runs(path)
    # Another seed draws the same of 88 by a chance of 1 in 88; the seeds are fixed.
    assert len(found) == 2 == len({run["failed_servers"] for run in found})
    for run in found:
        words = ("--fail", run["failed_servers"], "--seed", str(run["seed"]), "--json")
        answer = json.loads(command("what-if", report, *words).stdout)
        assert_alike(run, answer)


def test_a_drawn_osd_is_one_that_runs(report: Path, tmp_path: Path) -> None:
    """Of a cluster of which all OSDs but two are down, a draw of two takes these."""
    content = json.loads(report.read_text())
    for osd in content["osdmap"]["osds"]:
        osd["up"] = int(osd["osd"] in (3, 40))
    (tmp_path / "report.json").write_text(json.dumps(content))
    from resilver.simulate.devices import named_faults

    made = Study.load(study(tmp_path, tmp_path / "report.json", "[[faults]]\npart = { osd = 2 }\n"))
    (names,) = named_faults(made.runs()[0].system, 1)
    assert sorted(names) == ["osd.3", "osd.40"]


def test_a_sweep_of_a_setting_is_as_many_what_ifs(report: Path, tmp_path: Path) -> None:
    path = study(
        tmp_path,
        report,
        '[[faults]]\nfail = { osds = ["osd.12"] }\n'
        '[study.sweep]\n"ceph.settings.osd_max_backfills" = [1, 4]\n',
    )
    found = runs(path)
    assert [run["ceph.settings.osd_max_backfills"] for run in found] == [1, 4]
    for run, slots in zip(found, (1, 4), strict=True):
        words = ("--fail", "osd.12", "--set-option", f"osd_max_backfills={slots}")
        assert_alike(run, asked(report, *words))
    # Beside others no run is made again with one thing relaxed, unless it is so stated.
    for words, wanted in ((), False), (("ceph.counterfactuals=true",), True):
        systems = [run.system for run in Study.load(path, words).runs()]
        assert [one.ceph and one.ceph.counterfactuals for one in systems] == [wanted] * 2
    # More slots are faster here, and the page has both side by side.
    assert found[0]["rebuild_seconds"] > found[1]["rebuild_seconds"]
    _, page = with_page(tmp_path, "report", path.with_suffix(""))
    assert all(f"osd_max_backfills = {slots}" in page for slots in (1, 4))


def test_pgs_that_stay_stuck_end_a_run_with_1_as_a_what_if(report: Path, tmp_path: Path) -> None:
    """Under noout nothing is copied; a command that prints nothing else says why it ends with 1."""
    text = '[ceph]\nchanges = { flag = ["noout"] }\n[[faults]]\nfail = { osds = ["osd.12"] }\n'
    path = study(tmp_path, report, text)
    run = command("run", path, "-o", path.with_suffix(""), "-q")
    asked = command("what-if", report, "--flag", "noout", "--fail", "osd.12", "-q")
    assert run.returncode == asked.returncode == 1
    assert run.stderr == asked.stderr and "of 4,096 PGs are not clean" in run.stderr
    # The folder is complete, and its runs are reused with the same verdict.
    again = command("run", path, "-o", path.with_suffix(""), "--json")
    assert again.returncode == 1 and json.loads(again.stdout)[0]["rebuild_seconds"] is None


def test_an_osd_that_comes_back_is_started_again_and_its_folder_runs_alike(
    report: Path, tmp_path: Path
) -> None:
    """`until` starts it with what it had; a slow one works at its own speed again."""
    back = 'part = { osd = ["osd.12"] }\nuntil = "2 min"\n'
    slow = f'[[faults]]\npart = {{ host = ["{HOST}"] }}\nhealth = 0.3\nuntil = "3 h"\n'
    path = study(tmp_path, report, f'[ceph]\nhorizon = "2 d"\n[[faults]]\n{back}{slow}')
    (run,) = runs(path)
    words = ("--fail", "osd.12", "--start", "osd.12 @ 2 min", "--horizon", "2 d")
    slowed = ("--slow", f"host={HOST}=30%", "--slow", f"host={HOST}=100% @ 3 h")
    assert run["digest"] == asked(report, *words, *slowed)["digest"]
    # It is back before it is marked out after 320 s, and nobody wrote in between.
    assert run["rebuilt_bytes"] == 0
    (again,) = runs(path.with_suffix("") / "study.toml")
    assert (again["run"], again["digest"]) == (run["run"], run["digest"])


def test_what_is_of_other_studies_says_where_the_answer_is(report: Path, tmp_path: Path) -> None:
    path = study(tmp_path, report, '[[faults]]\nfail = { osds = ["osd.12"] }\n')
    assert "use `resilver explore REPORT`" in refusal("explore", path, "-o", tmp_path / "page.html")
    assert "leave --sensitivity out" in refusal(
        "run", path, "--sensitivity", "-o", tmp_path / "out", "-q"
    )
    assert "stand on its page" in refusal(
        "report", tmp_path / "out", "--figures", tmp_path / "figures"
    )
