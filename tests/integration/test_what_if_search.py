"""`resilver what-if --search`: settings for an aim, and how full a cluster may be."""

import shlex
from pathlib import Path

from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape
from tests.terminal import answered, command


def _following(*words: object) -> tuple[str, list[str]]:
    printed = command("what-if", *words).stdout
    *_, title, line = printed.rstrip().splitlines()
    assert title.startswith("Next, to ") and line.startswith("  resilver what-if "), printed
    return " ".join(printed.split()), shlex.split(line)[2:]


def test_a_stated_setting_leads_to_the_question_that_compares_it(report: Path) -> None:
    slots, later = "osd_max_backfills=4", "osd_recovery_max_active=5 @ 2 d"
    asked = [report, "--fail", "osd.3", "--set-option", later]
    more = ("--set-option", slots, "--set-option", "osd_recovery_max_active=3")
    said, words = _following(*asked, *more)
    assert "compare with the default:" in said and later in words and slots not in words
    found = answered(*words)
    ends = {one["settings"]["osd_max_backfills"]: one["measure"] for one in found["trials"]}
    answers = [answered(*asked, *one) for one in ((), ("--set-option", slots))]
    assert [ends["1"], ends["4"]] == [one["answer"]["whole_seconds"] for one in answers]
    assert found["best"]["settings"] == {"osd_max_backfills": "4"}
    plain = command("what-if", report, "--fail", "osd.3", "--set-option", "osd_max_backfills=1")
    assert "Next" not in plain.stdout


def test_failures_that_leave_pgs_stuck_lead_to_what_would_let_them_heal(
    report: Path, shared_data: Path
) -> None:
    said, words = _following(report, "--each", "host", "--fill", "80%")
    assert "PGs stay stuck because no OSD accepts backfill above backfillfull (0.85)." in said
    assert words == [str(report), "--search", "fill", "--aim", "any host heals"]
    assert "Data loss: before recovery completes, or within 30 d where it does not." in said
    assert "settings (--json and the page list all)." in said
    said, words = _following(shared_data / "ceph" / "modern", "--each", "host")
    assert "stuck, with compute1: its rule finds 2 OSDs that are up, of 3." in said
    assert words[-2:] == ["--add", "1 host like compute1"]
    assert answered(*words)["holds"]


def test_settings_are_searched_for_an_aim(report: Path) -> None:
    asked = ["--drain", "osd.3", "--search", "osd_max_backfills=1/2/4"]
    ends = {
        slots: answered(report, *asked[:2], "--set-option", f"osd_max_backfills={slots}")
        for slots in ("1", "2", "4")
    }
    whole = {slots: one["answer"]["whole_seconds"] for slots, one in ends.items()}
    # One is in force: what it meets needs no change, and nothing else is tried.
    free = answered(report, *asked, "--aim", f"whole in {whole['1'] + 1:.0f} s")
    assert free["is_met_already"] and free["best"]["settings"] == {"osd_max_backfills": "1"}
    assert free["best"]["in_force"] and free["commands"] == [] and len(free["trials"]) == 1
    assert free["answer"]["commands"] == ["ceph osd crush reweight osd.3 0"]
    # Between, the gentlest that meets it is set.
    assert whole["1"] > whole["2"] + 2
    some = answered(report, *asked, "--aim", f"whole in {whole['2'] + 1:.0f} s")
    assert some["best"]["settings"] == {"osd_max_backfills": "2"}
    assert some["commands"] == ["ceph tell osd.* injectargs '--osd_max_backfills 2'"]
    assert not some["is_met_already"] and len(some["trials"]) == 3
    assert {one["settings"]["osd_max_backfills"]: one["measure"] for one in some["trials"]} == whole
    # What nothing meets has a nearest, and no command at all.
    none = answered(report, *asked, "--aim", "whole in 1 s", code=1)
    assert none["best"] is None and none["commands"] == none["answer"]["commands"] == []
    nearest = min(whole, key=lambda slots: whole[slots])
    assert none["trials"][0]["settings"] == {"osd_max_backfills": nearest}


def test_a_search_leaves_out_what_the_release_lacks(report: Path) -> None:
    """The report is of 10.2.7: three equal rows were tried, and the first of them credited."""
    asked = ["--fail", "osd.12", "--aim", "whole in 1 s"]
    names = "mclock profile, osd_max_backfills=1/2"
    both = answered(report, *asked, "--search", names, code=1)
    assert {tuple(one["settings"]) for one in both["trials"]} == {("osd_max_backfills",)}
    assert "osd_mclock_profile since 16.2.0" in both["left_out"][0]
    # Where the release has it and nobody heeds it, all its values are what is in force.
    unheard = answered(report, *asked, "--release", "16.2.15", "--search", "mclock profile", code=1)
    assert len(unheard["trials"]) == 1 and unheard["trials"][0]["in_force"]
    words = [report, *asked, "--release", "16.2.15", "--search", "mclock profile"]
    said = " ".join(command("what-if", *words).stdout.split())
    assert "is not met with osd_mclock_profile = high_client_ops (in force)." in said
    assert "No other value that was tried changes anything here." in said


def test_what_mclock_resets_is_searched_with_the_setting_that_stops_it(small: Path) -> None:
    words = ["--drain", "osd.33", "--search", "osd_max_backfills=2/1"]
    now = answered(small, "--drain", "osd.33", "--horizon", "60 d")["answer"]["whole_seconds"]
    found = answered(small, *words, "--horizon", "60 d", "--aim", f"whole in {now - 1:.0f} s")
    assert found["commands"] == [
        "ceph config set osd osd_mclock_override_recovery_settings true",
        "ceph config set osd osd_max_backfills 2",
    ]
    # The slots count: two heal sooner than one.
    ends = {one["settings"]["osd_max_backfills"]: one["measure"] for one in found["trials"]}
    assert ends["2"] < ends["1"]


def test_how_full_a_cluster_may_be_is_searched_and_said_by_every_answer(tmp_path: Path) -> None:
    """The bisection's end is what `--each host` says of either side of it."""
    # Eight hosts of disks hold shards on six, six of flash copies on three racks.
    hosts = Shape(osds=28, osds_per_host=2, racks=3, groups=160, ssd_share=0.43, balancer=False)
    bundle = write_cluster(tmp_path / "bundle", hosts)
    words = ["--search", "fill", "--aim", "any host heals"]
    found = answered(bundle, *words, "-o", tmp_path / "fill.html")
    best = found["best_share"]
    fills = (f"{100 * best + more:.0f}%" for more in (0, 1))
    below, above = (
        answered(bundle, "--each", "host", "--fill", fill, code=more)
        for more, fill in enumerate(fills)
    )
    worst = above["parts"][0]
    tried = {one["share"]: one for one in found["trials"]}
    failing = tried[round(best + 0.01, 2)]
    assert not failing["heals"] and failing["stuck_groups"] == worst["stuck_groups"] > 0
    assert found["ranking"]["parts"] == below["parts"]
    # Without the largest host the rest hold all below 0.85, however even they are.
    plain = answered(bundle)["tables"]
    sizes = {osd["osd"]: osd["capacity_bytes"] for osd in plain["osds"]}
    of_hosts = [sum(sizes[osd] for osd in part["osds"]) for part in found["ranking"]["parts"]]
    assert best < 0.85 * (1 - max(of_hosts) / sum(of_hosts))
    page = (tmp_path / "fill.html").read_text(encoding="utf-8")
    assert f"heals from the failure of any host up to {100 * best:.1f} % full" in page
    # What every answer says of it, by the up sets alone, is within the per cent that is searched.
    (safe,) = plain["safe_fill"]
    assert best <= safe["end_safe_share"] + 0.002 < best + 0.014
    assert safe["end_part"] == worst["name"] and safe["end_share"] > safe["end_safe_share"]
    assert safe["start_safe_share"] is None
    (moved,) = answered(bundle, "--reweight", "osd.0=0.9")["tables"]["safe_fill"]
    assert moved["start_safe_share"] == safe["end_safe_share"]
    said = " ".join(command("what-if", bundle, "--fill", "30%").stdout.split())
    share = f"{100 * safe['end_safe_share']:.1f}"
    # All grows by one factor, so that more or less data has the same safe fill.
    assert f"any host can fail and heal up to {share} % full; it is 30.0 % full." in said


def test_a_cluster_without_a_spare_host_heals_at_no_fill(shared_data: Path) -> None:
    """69 PGs have three copies on three hosts: the third has no other place."""
    words = ["--search", "fill", "--aim", "any host heals"]
    found = answered(shared_data / "ceph" / "modern", *words, code=1)
    assert found["best_share"] is None and not found["holds"]
    assert found["trials"][0]["share"] == 0.01
    assert all(one["stuck_groups"] == 69 for one in found["trials"])
    said = command("what-if", shared_data / "ceph" / "modern").stdout
    assert "PGs find too few other hosts." in " ".join(said.split())
