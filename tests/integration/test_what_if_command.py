"""`resilver what-if` as a user types it, on the cluster of 88 OSDs and on small made-up ones."""

import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from resilver.whatif.columns import TABLES
from resilver.whatif.options import FRAMES
from tests.terminal import answered, command, output, refusal


def test_a_failed_osd_is_degraded_until_its_data_has_new_homes(report: Path) -> None:
    found = answered(report, "--fail", "osd.12")
    answer, pool = found["answer"], found["tables"]["pools"][0]
    assert found["holds"] and found["steps"][0]["text"] == "osd.12 fails"
    # Jewel's monitors mark it out 300 s after the grace of 20 s; nothing can be whole before.
    assert 320 < answer["degraded_seconds"] <= answer["whole_seconds"] == pool["whole_seconds"]
    lost = next(osd for osd in found["tables"]["osds"] if osd["osd"] == 12)
    assert lost["groups_end"] == 0 < lost["groups_start"]
    # What it held is the least that must be written, and is what makes the copies anew.
    assert answer["least_bytes"] >= lost["used_start_bytes"] * 0.99
    assert answer["recovered_bytes"] + answer["moved_bytes"] >= answer["least_bytes"]
    said = [row["what"] for row in found["tables"]["history"]]
    assert any("osd.12" in what and "down" in what for what in said)
    assert any("osd.12" in what and "out" in what for what in said)


def test_what_is_stated_twice_is_done_once_and_noted(report: Path, small: Path) -> None:
    words = ["--fail", "osd.12", "--drain", "osd.40", "--flag", "noup"]
    clauses = ["osd.12 fails", "osd.40 is drained by a CRUSH weight of 0", "noup is set"]
    once, twice = (answered(report, *words * count) for count in (1, 2))
    assert twice["steps"] == once["steps"] and twice["digest"] == once["digest"]
    assert sorted(step["text"] for step in twice["steps"]) == sorted(clauses)
    for clause in clauses:
        said = f"The plan says 2 times that {clause} at one time; said again it changes nothing."
        assert said in twice["notes"]
    # Later it is another change, as what was undone between; a host more is another one, too.
    later = answered(report, *words, "--flag", "noup @ 1 h")
    assert len(later["steps"]) == 4
    more = answered(small, *["--add", "1 host like node-000 in rack=rack-00"] * 2)
    assert len(more["tables"]["osds"]) == 36 + 2 * 4
    assert not any("at one time" in note for one in (once, later, more) for note in one["notes"])


def test_larger_devices_take_more_and_a_replaced_one_is_new(small: Path) -> None:
    words = ["--replace", "host=node-000=32 TB"]
    found = answered(small, *words)
    tables, answer = found["tables"], found["answer"]
    assert found["holds"] and found["steps"][0]["text"] == "node-000 gets empty devices of 32 TB"
    new = [osd for osd in tables["osds"] if osd["host"] == "node-000"]
    before = answered(small)["tables"]["osds"][:4]
    for osd, was in zip(new, before, strict=True):
        assert osd["capacity_bytes"] == 2 * was["capacity_bytes"] == 32 * 10**12
        # All that is there was written there.
        assert osd["used_start_bytes"] == 0 < osd["used_end_bytes"] <= osd["received_bytes"]
    # Twice the weight takes more than it had.
    held = sum(osd["used_start_bytes"] for osd in before)
    assert sum(osd["used_end_bytes"] for osd in new) > 1.1 * held
    written = answer["recovered_bytes"] + answer["moved_bytes"]
    assert answer["least_bytes"] <= written
    assert answer["least_bytes"] >= sum(osd["used_end_bytes"] for osd in new) * 0.95
    full = [row for row in tables["room"] if row["state"] == "full"]
    row = max(full, key=lambda row: abs(row["end_bytes"] - row["start_bytes"]))
    said = " ".join(output("what-if", small, *words).split())
    assert f"more fits into pool {row['name']} until osd.{row['end_osd']} is full (0.95)" in said
    # A replaced device is a new one.
    later = ["--replace", "osd.5=16 TB @ 12 d"]
    plain = answered(small, *later)["answer"]
    # What was slow is gone with it.
    slow = answered(small, "--slow", "osd.5=50%", *later)["answer"]
    assert slow["whole_seconds"] == pytest.approx(plain["whole_seconds"], rel=0.01)
    # What it had before it was drained is no longer there, and has to be written.
    drained = answered(small, "--drain", "osd.5", *later)
    (osd,) = [one for one in drained["tables"]["osds"] if one["osd"] == 5]
    assert drained["answer"]["least_bytes"] >= osd["used_end_bytes"] > 0
    assert osd["groups_start"] == 0 == osd["used_start_bytes"]


def test_a_users_own_upmap_is_not_the_balancers(small: Path) -> None:
    group = next(row for row in answered(small)["tables"]["upmaps"] if row["pairs"])
    pgid = f"{group['pool']}.{group['group']:x}"
    words = [small, "--balance", "off", "--upmap", f"{pgid} {group['pairs']}".replace(",", " ")]
    line = f"ceph osd pg-upmap-items {pgid} {group['pairs']}"
    done = command("what-if", *words)
    assert done.stdout.count(line) == 1 and "the balancer's entries:" not in done.stdout
    assert line in done.stdout.partition("Commands:")[2]
    # What the balancer writes beside it is its own.
    assert "the balancer's entries:" in command("what-if", small).stdout


def test_further_failures_are_fatal_by_the_sets_that_hold_the_rest(
    report: Path, tmp_path: Path
) -> None:
    """The chance of loss, counted again pair by pair over the groups that lacked a copy."""
    found = answered(report, "--fail", "osd.12", "--afr", "2%", "--tables", tmp_path / "tables")
    rows = pq.read_table(tmp_path / "tables" / "lacking.parquet").to_pylist()
    longest: dict[str, float] = {}
    for row in rows:
        assert row["survives"] == 1 and len(row["osds"].split()) == 2
        lasts = row["until_seconds"] - row["from_seconds"]
        longest[row["osds"]] = max(lasts, longest.get(row["osds"], 0.0))
    # Both fail within the longest time that a group of theirs lacks its copy.
    rate = -math.log1p(-0.02) / (365.25 * 86_400)
    expected = sum((rate * seconds) ** 2 for seconds in longest.values())
    assert found["answer"]["loss_chance"] == pytest.approx(expected, rel=1e-4)
    assert found["tables"]["risks"][0] | {"loss_chance": 0} == {
        "pool": None, "name": "", "lacking_groups": len(rows), "fewest_failures": 2,
        "critical_osds": 0, "lacking_seconds": found["answer"]["degraded_seconds"],
        "loss_chance": 0,
    }  # fmt: skip
    assert any(one["name"] == "AFR" and one["value"] == "2 %" for one in found["assumptions"])


def test_one_copy_left_makes_each_of_its_holders_fatal(report: Path, tmp_path: Path) -> None:
    """Two hosts at once: the sum over OSDs of the rate times the time with a last copy on it."""
    fails = ("--fail", "osd.12,osd.27", "--afr", "1%", "--tables", tmp_path / "tables")
    found = answered(report, *fails)
    rows = pq.read_table(tmp_path / "tables" / "lacking.parquet").to_pylist()
    last: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row["survives"] == 0:
            last.setdefault(row["osds"], []).append((row["from_seconds"], row["until_seconds"]))
    assert len(last) == found["tables"]["risks"][0]["critical_osds"] > 0
    # All begin together, so that the union of an OSD's times is its longest.
    seconds = sum(max(until - begin for begin, until in times) for times in last.values())
    rate = -math.log1p(-0.01) / (365.25 * 86_400)
    assert found["answer"]["loss_chance"] == pytest.approx(rate * seconds, rel=1e-3)
    assert found["answer"]["at_risk_seconds"] == max(
        until for times in last.values() for _, until in times
    )


def test_what_loses_nothing_or_moves_nothing_says_so(report: Path, small: Path) -> None:
    stopped = answered(report, "--stop", "osd.12", "--start", "osd.12 @ 200 s")["answer"]
    assert stopped["degraded_seconds"] > 0 and stopped["loss_chance"] == 0.0
    # noout keeps a failed OSD in and its data degraded.
    kept = answered(report, "--fail", "osd.12", "--flag", "noout", code=1)
    assert not kept["holds"] and kept["answer"]["degraded_seconds"] is None
    assert kept["answer"]["recovered_bytes"] == 0 and kept["tables"]["stuck"]
    assert kept["commands"] == ["ceph osd set noout"]
    as_it_is = answered(report)
    assert (as_it_is["plan"], as_it_is["steps"]) == ("as it is", [])
    assert as_it_is["answer"]["moved_bytes"] == as_it_is["answer"]["recovered_bytes"] == 0
    # The dumps say that the balancer is on, and groups of the small cluster are not even.
    on, off = answered(small), answered(small, "--balance", "off")
    assert on["answer"]["moved_bytes"] > 0
    assert off["answer"]["moved_bytes"] == 0 and off["tables"]["upmaps"] == []


def test_what_is_drained_moves_and_is_never_degraded(report: Path) -> None:
    found = answered(report, "--drain", "osd.3", "--set-option", "osd_max_backfills=2")
    answer = found["answer"]
    assert answer["degraded_seconds"] == 0 and answer["recovered_bytes"] == 0
    assert answer["moved_bytes"] >= answer["least_bytes"] > 0
    assert found["commands"] == [
        # Jewel's monitors keep no settings.
        "ceph tell osd.* injectargs '--osd_max_backfills 2'",
        "ceph osd crush reweight osd.3 0",
    ]
    drained = next(osd for osd in found["tables"]["osds"] if osd["osd"] == 3)
    assert drained["groups_end"] == 0


@pytest.mark.parametrize("engine", [[], ["--events"]], ids=["flows", "events"])
def test_a_change_after_an_idle_time_happens_at_its_time(report: Path, engine: list[str]) -> None:
    found = answered(report, "--drain", "osd.3", "--drain", "osd.4 @ 6 h", *engine)
    # One OSD takes less than an hour, so that nothing is under way when the second is drained.
    rows = found["tables"]["timeline"]
    idle = [row for row in rows if 3600 < row["time_seconds"] < 6 * 3600]
    assert idle and not any(row["misplaced_objects"] for row in idle)
    assert 6 * 3600 < found["answer"]["whole_seconds"] < 7 * 3600
    assert found["answer"]["moved_bytes"] >= found["answer"]["least_bytes"]


def test_plans_are_compared_with_changes_beside(report: Path, tmp_path: Path) -> None:
    for name, at in (("at-once", "0 s"), ("in-turn", "6 h")):
        text = f'[[steps]]\ndrain = "osd.3"\n[[steps]]\nat = "{at}"\ndrain = "osd.4"\n'
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    plans = [
        word for name in ("at-once", "in-turn") for word in ("--plan", tmp_path / f"{name}.toml")
    ]
    page, tables = tmp_path / "plans.html", tmp_path / "tables"
    words = [*plans, "--flag", "nodown", "-o", page, "--tables", tables]
    found = answered(report, *words)
    assert [one["plan"] for one in found["plans"]] == ["at-once", "in-turn"]
    assert all("nodown is set" in str(one["steps"]) for one in found["plans"])
    ends = [one["answer"]["whole_seconds"] for one in found["plans"]]
    assert ends[1] > max(ends[0], 6 * 3600)
    assert "in-turn" in page.read_text(encoding="utf-8")
    assert pq.read_table(tables / "plan-2" / "fill.parquet").schema.equals(TABLES["fill"])


def test_commands_say_which_are_for_later(small: Path) -> None:
    words = ("--reweight", "osd.1=0.9", "--reweight", "osd.2=0.9 @ 2 h", "--reweight")
    option = ("--set-option", "bluestore_min_alloc_size_hdd=65536")
    found = answered(small, "--balance", "off", *words, "osd.3=0.9 @ 2 h", *option)
    lines = found["commands"]
    later = lines.index("# 2 h after the start:")
    assert [line.split()[3] for line in lines[later + 1 :]] == ["osd.2", "osd.3"]
    assert "ceph osd reweight osd.1 0.9" in lines[:later]
    assert sum("OSDs keep the unit that they began with" in note for note in found["notes"]) == 1


def test_each_host_fails_in_turn_and_the_worst_comes_first(small: Path) -> None:
    found = answered(small, "--each", "host", "--horizon", "60 d", code=1)
    parts = found["parts"]
    assert len(parts) == 9
    # The coded pool needs all six hosts of disks, and three copies all three of flash: whichever
    # host is gone, some groups stay without a place, and nothing is lost.
    assert all(one["stuck_groups"] > 0 and one["lost_groups"] == 0 for one in parts)
    order = [(one["stuck_groups"], one["inactive_groups"]) for one in parts]
    assert order == sorted(order, reverse=True)
    assert sum(len(one["osds"]) for one in parts) == 36


def test_slow_osds_delay_their_clients_and_whoever_heals_from_them(small: Path) -> None:
    words = ("--drain", "osd.1", "--load", "vms: 200 reads/s of 16 KiB")
    plain, slow = (answered(small, *words, *more) for more in ((), ("--slow", "osd.1,osd.5=30%")))
    assert slow["answer"]["whole_seconds"] > plain["answer"]["whole_seconds"]
    # A request to osd.5 takes three times as long, and more than one in a hundred goes there.
    assert slow["answer"]["p99_seconds"] > 2 * plain["answer"]["p99_seconds"]
    assert "osd.1, osd.5 work at 30 % speed" in [row["what"] for row in slow["tables"]["history"]]


def test_tables_have_their_schema_and_the_film_adds_up_to_what_was_received(
    small: Path, tmp_path: Path
) -> None:
    found = answered(small, "--drain", "osd.1", "--tables", tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(TABLES)
    tables = {name: pq.read_table(tmp_path / f"{name}.parquet") for name in TABLES}
    assert all(tables[name].schema.equals(schema) for name, schema in TABLES.items())
    film, osds = tables["film"], tables["osds"]
    received = dict(zip(osds["osd"].to_pylist(), osds["received_bytes"].to_pylist(), strict=True))
    assert 10 < len(set(film["time_seconds"].to_pylist())) <= FRAMES
    written = dict.fromkeys(received, 0.0)
    for row in film.to_pylist():
        seconds = row["time_seconds"] - row["since_seconds"]
        written[row["osd"]] += row["written_bytes_per_second"] * seconds
    assert written == pytest.approx(received, rel=1e-9)
    # Whoever does not ask for tables is not filmed, and the run is the same.
    assert found == answered(small, "--drain", "osd.1")


def test_a_plan_that_does_not_fit_may_be_followed(small: Path) -> None:
    """Its groups wait for ever, which the answer and the exit code say."""
    problem = refusal("what-if", small, "--drain", "root=default", code=1)
    words = ("--drain", "root=default", "--anyway", "--horizon", "1 h")
    found = answered(small, *words, code=1)
    assert found["answer"]["whole_seconds"] is None
    assert problem.removeprefix("error: ") in found["notes"]


# Steady rates that had not settled used to stand until the next change, which may be days away.
@pytest.mark.parametrize(
    "changes",
    [
        ("--add", "2 hosts like cloud3-1359"),
        ("--crush-reweight", "osd.12=0", "--fail", "osd.40 @ 30 min"),
    ],
)
def test_the_last_groups_do_not_stand_still(report: Path, changes: tuple[str, ...]) -> None:
    by_flows, by_events = (
        answered(report, *changes, *how)["answer"]["whole_seconds"] for how in ((), ("--events",))
    )
    assert by_flows == pytest.approx(by_events, rel=0.1)
