"""`resilver advise`: tables, JSON and lines of lfs, its page, its exit codes, and refusals."""

import json
import re
from pathlib import Path

import pytest

import resilver
from tests.small_machine import STORED
from tests.terminal import json_output, output, refusal, written


@pytest.fixture
def state(tmp_path: Path) -> list[str]:
    """Twelve targets of which the first four wrote 100 MB/s each for 10 s, and one is full."""
    paths = []
    for at in (0, 1):
        lines = []
        for target in range(12):
            lines += [
                f"obdfilter.fs-OST{target:04x}.stats=",
                f"snapshot_time {1000 + 10 * at}.5 secs.nsecs",
            ]
            if target < 4:
                lines.append(f"write_bytes 9 samples [bytes] 1 2 {10**12 + at * 10**9} 3")
            lines += [
                f"osd-zfs.fs-OST{target:04x}.kbytesfree={100 if target == 11 else 500}",
                f"osd-zfs.fs-OST{target:04x}.kbytestotal=1000",
            ]
        path = written(tmp_path / f"dump{at}.txt", "\n".join(lines) + "\n")
        paths.append(str(path))
    return paths


def test_the_answer_says_rate_time_and_who_is_used_last_as_python_does(state: list[str]) -> None:
    words = ("--files", 4, "--rate", "400 MB/s", "--volume", "1 TB")
    text = " ".join(output("advise", *state, *words).split())
    # Four idle targets of 400 MB/s: 1.6 GB/s, and a terabyte in 625 s.
    assert "gets 1.6 GB/s" in text and "10 min 25 s" in text
    assert "fs-OST000b" in text and "90% full" in text
    # JSON is what Python computes.
    found = resilver.advise(state, files=3, stripe=2, rate=400e6, avoid=0.8)
    asked = (*state, "--files", 3, "--stripe", 2, "--rate", "400 MB/s", "--avoid", "80%")
    for words in (["--json"], ["--format", "json"]):
        out = output("advise", *asked, *words)
        assert json.loads(out) == json.loads(json.dumps(found.to_dict()))
    assert found.to_dict()["remarks"] == {"fs-OST000b": "avoided: 90% full"}
    assert len(found.to_dict()["order"]) == 12 and found.to_dict()["order"][-1] == "fs-OST000b"


def test_lines_of_lfs_name_targets_by_number(state: list[str]) -> None:
    """Targets 4 to 10 are idle; the names have as many digits as the last file's."""
    out = output("advise", *state, "--files", "11", "--format", "lfs", "--name", "out/my {}")
    lines = out.splitlines()
    assert len(lines) == 11
    assert lines[0] == "lfs setstripe -c 1 -i 4 'out/my 00'"
    out = output("advise", *state, "--files", "3", "--stripe", "2", "--format", "lfs")
    chosen = [
        re.fullmatch(r"lfs setstripe -c 2 -o (\d+),(\d+) file\.\d", line)
        for line in out.splitlines()
    ]
    numbers = [int(number) for one in chosen if one for number in one.groups()]
    assert sorted(numbers) == list(range(4, 10))


def test_clients_of_a_machine_get_targets_by_routers(state: list[str], tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(STORED)
    words = ["--files", "6", "--machine", str(tmp_path / "machine.toml"), "--clients", "random:6"]
    advice = json_output("advise", *state, *words)
    files = advice["files"]
    assert len({one["client"] for one in files}) == 6
    # Two modules of two nodes each are the routers.
    routers = [one["part"] for one in advice["layers"] if one["layer"] == "routers"]
    assert sorted(routers) == ["x0y0z0n0", "x0y0z0n1", "x3y2z2n0", "x3y2z2n1"]
    assert len({target for one in files for target in one["targets"]}) == 6
    err = refusal("advise", *state, *words, "--set", "routers.networks=[10, 20]")
    assert "networks without routers: 11" in err


def lfs_df(states: dict[int, str], header: str = "1K-blocks", unit: str = "") -> str:
    """What `lfs df` prints (Lustre's lfs-df(1)): targets 1, 3 and 4, each with its letters."""
    lines = [f"UUID {header} Used Available Use% Mounted on"]
    for number, used in ((1, 21.6), (3, 22.7), (4, 22.7)):
        size, free = (f"{value:.1f}{unit}" for value in (62.3, 62.3 - used))
        row = f"{size} {used}{unit} {free}"
        if not unit:
            row = " ".join(str(int(float(word) * 1e9)) for word in row.split())
        lines.append(f"fs1-OST000{number}_UUID {row} 37% /fs1[OST:{number}]{states[number]}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("letters", ["R", "N", "S", "I", "DR", "D", "fD"])
@pytest.mark.parametrize(("header", "unit"), [("1K-blocks", ""), ("bytes", "T")])
def test_targets_that_lfs_df_marks_get_no_files(
    letters: str, header: str, unit: str, tmp_path: Path
) -> None:
    # Rule: read-only (R), no precreate (N), no space (S), no inodes (I) cannot take files; a
    # degraded one (D) is slow and comes last. Of 1, 3 and 4 number 3 is marked.
    (tmp_path / "df.txt").write_text(
        lfs_df({1: "", 3: f" {letters}", 4: ""}, header, unit), encoding="utf-8"
    )
    state = str(tmp_path / "df.txt")
    out = output("advise", state, "--files", 2, "--format", "lfs", "--name", "f{}")
    assert out.splitlines() == ["lfs setstripe -c 1 -i 1 f0", "lfs setstripe -c 1 -i 4 f1"]
    found = json_output("advise", state, "--files", 300)
    on_marked = sum(one["targets"] == ["fs1-OST0003"] for one in found["files"])
    is_last = set(letters) <= set("fD")
    assert on_marked == 0 and found["remarks"]["fs1-OST0003"]
    parts = {row["part"] for row in found["layers"] if row["layer"] == "targets"}
    assert ("fs1-OST0003" in parts) == is_last
    assert any("degraded" in note for note in found["notes"]) == is_last
    # A file over all three needs the marked one: a slow one will do.
    wide = ("advise", state, "--files", 1, "--stripe", 3)
    if is_last:
        # Its stripe moves half, and a file is as fast as its slowest stripe: 3 x 1/2.
        assert json_output(*wide)["expected"]["slowest"] == pytest.approx(1.5)
    else:
        refusal(*wide, code=1)


def test_lctl_s_degraded_targets_come_last_and_an_inactive_one_counts_in_no_mean(
    tmp_path: Path,
) -> None:
    (tmp_path / "df.txt").write_text(lfs_df({1: "", 3: "", 4: ""}), encoding="utf-8")
    lines = "\n".join(f"obdfilter.fs1-OST000{at}.degraded={int(at == 3)}" for at in (1, 3, 4))
    (tmp_path / "degraded.txt").write_text(lines + "\n", encoding="utf-8")
    states = [str(tmp_path / name) for name in ("df.txt", "degraded.txt")]
    found = json_output("advise", *states, "--files", 2)
    assert [one["targets"] for one in found["files"]] == [["fs1-OST0001"], ["fs1-OST0004"]]
    assert "degraded" in found["remarks"]["fs1-OST0003"]
    (tmp_path / "degraded.txt").write_text("obdfilter.fs1-OST0001.degraded=maybe\n")
    refusal("advise", *states, "--files", 2)
    # Rule: two files on three idle targets that work: (2 + 2 + 1) / 3 streams, not a fourth of 6.
    text = lfs_df({1: "", 3: "", 4: ""}) + "OST0002             : inactive device\n"
    (tmp_path / "df.txt").write_text(text, encoding="utf-8")
    out = output("advise", tmp_path / "df.txt", "--files", "2")
    (row,) = [words for line in out.splitlines() if (words := line.split())[:2] == ["targets", "3"]]
    assert float(row[4]) == pytest.approx(5 / 3, abs=0.06)
    assert "fs1-OST0002" in out.partition("used last")[2]
