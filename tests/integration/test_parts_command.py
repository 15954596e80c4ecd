"""A tree of parts through the command: what fails, who heals it, and what a slow part costs."""

import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from tests.integration.study_runs import study_row, study_text, table_rows
from tests.terminal import json_output, output

TREE = study_text("tree")
THREE = "[redundancy]\nreplicas = 3\n"


@pytest.mark.parametrize(
    ("fault", "redundancy", "failed"),
    [
        ('{ osds = ["osd.17"] }', THREE, ["osd.17"]),
        ('{ host = ["host.3"] }', THREE, [f"osd.{number}" for number in range(15, 20)]),
        ('{ racks = ["rack.1"] }', THREE, [f"osd.{number}" for number in range(25, 50)]),
        ("{ osd = 1 }", '[redundancy]\ncode = "rs 2+1"\n', None),
        ("{ hosts = 1 }", '[redundancy]\ncode = "rs 2+1"\n', None),
    ],
)
def test_what_fails_is_rebuilt_on_devices_of_its_class(
    fault: str, redundancy: str, failed: list[str] | None, tmp_path: Path
) -> None:
    row = study_row(tmp_path, f"{TREE}{redundancy}[[faults]]\nfail = {fault}\n")
    names = str(row["failed_servers"]).split(",")
    assert failed is None or names == failed
    assert row["rebuilt_objects"] > 0 and row["unrecoverable_objects"] == 0
    servers = table_rows(tmp_path, "servers")
    assert [server["name"] for server in servers] == [f"osd.{number}" for number in range(100)]
    assert servers[17]["host"] == "host.3"
    for number, server in enumerate(servers):
        # The last of each host's five devices is flash, where nothing of this pool goes.
        is_flash = number % 5 == 4
        took_part = server["rebuilt_bytes"] + server["sent_bytes"] + server["device_bytes_read"]
        assert not (is_flash and took_part), server["name"]
        assert server["failed"] == (server["name"] in names)
    # Twenty thousand objects in three pieces on eighty disks: about 750 a disk. In numbers that are
    # binomial within groups, five standard deviations of 4096 groups of 4.9 objects are a quarter.
    disks = sum(number % 5 != 4 for number in map(int, (name[4:] for name in names)))
    assert row["affected_objects"] == pytest.approx(750 * disks, rel=0.25)


def test_a_tree_of_racks_and_servers_heals_as_the_short_form_does(tmp_path: Path) -> None:
    """The same devices under other words are the same system, event by event."""
    rest = "[population]\nfile_size = '4 MiB'\nfiles = 5000\n[[faults]]\nfail = { servers = 1 }\n"
    short = study_row(tmp_path, f"[cluster]\nservers = 24\nracks = 6\n{rest}", out="short")
    levels = 'parts = [{ level = "rack", count = 6 }, { level = "server", in = "rack", count = 4, '
    tree = study_row(tmp_path, f"[cluster]\n{levels} ports = 1 }}]\n{rest}", out="tree")
    assert tree["digest"] == short["digest"]
    assert tree["rebuild_seconds"] == short["rebuild_seconds"]


@pytest.mark.usefixtures("without_loss")
def test_placement_is_judged_by_the_devices_of_its_class(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(f"{TREE}{THREE}[[faults]]\nfail = {{ osd = 1 }}\n")
    (judged,) = json_output("place", "study.toml", "--quality", cwd=tmp_path)
    # Four of each host's five devices are disks; three copies of 4096 groups are 153.6 on each.
    assert (judged["title"], judged["devices"]) == ("crush on 100 osds: 4,096 PGs of 3", 80)
    assert (judged["copy_balance"]["mean"], judged["short_sets"]) == (153.6, 0)
    # No two copies are in one rack, so that a device shares sets with at most the 60 in the others.
    assert judged["scatter_width_max"] == 60


def slow_study(fault: str) -> str:
    # A read takes a second and a write none, so that the two sources' disks are all that takes
    # time: the network passes an object in 34 ms, and only the last one's is not behind a read.
    return (
        '[cluster]\nservers = 3\ndevice = { read_service = "1 s", write_service = "0 s" }\n'
        '[population]\nfile_size = "64 MiB"\nfiles = 60\n[redundancy]\nreplicas = 2\n'
        # All reads are asked for at once, so that none waits for a write behind other reads.
        '[recovery]\npipeline_buffer = "64 MiB"\nreceive_memory = "8 GiB"\nsend_memory = "8 GiB"\n'
        f'[[faults]]\nfail = {{ servers = ["server.0"] }}\n{fault}'
    )


@pytest.mark.parametrize(
    ("when", "begin", "end"),
    [("", 0.0, float("inf")), ('at = "5 s"', 5.0, float("inf")), ('until = "42.5 s"', 0.0, 42.5)],
)
def test_a_slow_source_lengthens_the_rebuild_by_what_it_does_not_get_done(
    when: str, begin: float, end: float, tmp_path: Path
) -> None:
    healthy = study_row(tmp_path, slow_study(""), out="healthy")
    read = {row["source"]: row["objects"] for row in table_rows(tmp_path, "transfers", "healthy")}
    assert healthy["slow_parts"] is None
    assert healthy["rebuild_seconds"] == pytest.approx(max(read.values()), abs=0.2)
    fault = f'[[faults]]\npart = {{ server = ["server.1"] }}\nhealth = 0.1\n{when}\n'
    slow = study_row(tmp_path, slow_study(fault))
    # server.1 reads an object a second before, a tenth of one while it is slow, and one after.
    left = read[1] - begin
    while_slow = min(10 * left, end - begin)
    takes = begin + while_slow + left - while_slow / 10
    assert takes > healthy["rebuild_seconds"] + 1
    assert slow["rebuild_seconds"] == pytest.approx(takes, abs=0.2)
    assert (slow["slow_parts"], slow["failed_servers"]) == ("server.1", "server.0")
    # Nobody takes the slow one out: it sends what it sent before.
    assert {row["source"]: row["objects"] for row in table_rows(tmp_path, "transfers")} == read


def test_slow_parts_are_drawn_among_those_that_do_not_fail(tmp_path: Path) -> None:
    faults = (
        '[[faults]]\nfail = { hosts = 1 }\n[[faults]]\nat = "1 s"\n'
        'part = { host = 19 }\nhealth = 0.5\nuntil = "2 s"\n'
    )
    row = study_row(tmp_path, TREE + THREE + faults)
    failed = {int(name[4:]) // 5 for name in str(row["failed_servers"]).split(",")}
    slow = {int(name[5:]) for name in str(row["slow_parts"]).split(",")}
    assert slow | failed == set(range(20)) and not slow & failed


def test_check_gives_back_what_a_study_states_and_says_what_to_run(tmp_path: Path) -> None:
    text = study_text("tree", population={"file_size": "20 GB", "files": 8})
    (tmp_path / "study.toml").write_text(f"{text}{THREE}[[faults]]\nfail = {{ osd = 1 }}\n")
    words = ["check", "study.toml", "--set", "recovery.send_memory=1536 MiB"]
    said = output(*words, cwd=tmp_path)
    shown, _, following = said.partition("\nNext:\n  ")
    assert following == "resilver run study.toml --set 'recovery.send_memory=1536 MiB'\n"
    stated = dedent(shown.partition("(--json has all):\n")[2])
    table, expected = tomllib.loads(stated), tomllib.loads((tmp_path / "study.toml").read_text())
    assert table.pop("cluster")["parts"][:3] == expected.pop("cluster")["parts"][:3]
    assert table == expected | {"recovery": {"send_memory": "1.5 GiB"}, "study": {"seeds": 1}}
    lines = {line.partition("  ")[0]: line.split() for line in shown.splitlines()}
    assert lines["Devices"] == ["Devices", "100"] and "Servers" not in lines
