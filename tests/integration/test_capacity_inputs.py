"""What a sizing reads: listings of files with ages, and series of `lfs df`."""

import gzip
from pathlib import Path

import pytest
from scipy import stats

from resilver import ConfigError, size
from resilver.center import trend
from resilver.importers.ages import read_ages
from resilver.importers.lfs_df import read_lfs_df
from tests.build import refused
from tests.integration.sizings import sized, values
from tests.terminal import output, refusal, with_page, written

DAY = 86_400
SCAN = 1_500_000_000


def ne2scan(ages: list[float], *, end: str = f"#complete#{SCAN + 60}\n", size: int = 1000) -> str:
    """A file an age in days, the latest of its three times being so long before the scan."""
    head = f"#IDENT#|1.0|1.42|{SCAN}|date|host|/dev/mdt|0|0|0|0|fs|note\n"
    lines = []
    for number, age in enumerate(ages):
        times = [SCAN - round(age * DAY), SCAN - round(age * DAY) - 5, SCAN - round(age * DAY) - 9]
        atime, ctime, mtime = times[number % 3 :] + times[: number % 3]
        owner, path = (number % 2, 1, "100644"), (number, "1:a,2:b", f"d/f|{number}")
        fields = (atime, ctime, mtime, *owner, size, *path)
        lines.append("|".join(map(str, fields)) + "\n")
    return head + "".join(lines) + end


AGES = [0.5, 2, 5.5, 6, 13.9, 14.1, 20, 40, 80, 95, 2000]


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    return written(tmp_path / "scan.txt", ne2scan(AGES))


def test_a_listing_of_ne2scan_says_what_a_purge_frees(listing: Path, tmp_path: Path) -> None:
    """Age is the scan's time less the latest of a file's three: six of 11 are 14 d and older."""
    found = sized(tmp_path, '[capacity]\nusable = "1 MB"\nlisting = "scan.txt"\n')["capacity"]
    frees = {one["days"]: (one["files"], one["bytes"], one["owners"]) for one in found["purges"]}
    for days in (1, 5, 7, 14, 30, 60, 90):
        older = [number for number, age in enumerate(AGES) if age >= days]
        owners = len({number % 2 for number in older})
        assert frees[days] == (len(older), 1000.0 * len(older), owners)
    assert values(found["figures"])["listed_fill"] == pytest.approx(11_000 / 1e6)


def test_the_three_formats_say_the_same(listing: Path, tmp_path: Path) -> None:
    find = [
        f"1000 {SCAN - age * DAY:.0f}.0 {SCAN - age * DAY - 9} {SCAN - age * DAY - 5:.1f} "
        f"{number % 2} d/f {number}\n"
        for number, age in enumerate(AGES)
    ]
    (tmp_path / "find.txt").write_text("".join(find) + f"#complete#{SCAN}\n")
    gpfs = [
        f"{number} 1 0  1000 {int(age)} {int(age) + 3} -- /d/f {number}\n"
        for number, age in enumerate(AGES)
    ]
    with gzip.open(tmp_path / "gpfs.txt.gz", "wt") as file:
        file.write("".join(gpfs) + "#complete#\n")
    wanted = read_ages(listing)
    for name in ("find.txt", "gpfs.txt.gz"):
        found = read_ages(tmp_path / name)
        for days in (1, 5, 7, 14, 30, 60, 90):
            assert found.older(days)[:2] == wanted.older(days)[:2]
    assert read_ages(tmp_path / "find.txt").older(14)[2] == 2
    assert read_ages(tmp_path / "gpfs.txt.gz").older(14)[2] is None


def test_days_begin_with_what_a_listing_says(listing: Path, tmp_path: Path) -> None:
    """The first day's purge takes the six old files, and that of 13.9 d, which is a day older."""
    text = '[capacity]\nusable = "1 MB"\nlisting = "scan.txt"\ninflow = "100 B/d"\n'
    found = sized(tmp_path, text + 'purge = { last_access = "14 d" }\n')["capacity"]
    assert found["days"][0]["purged_bytes"] == pytest.approx(7000)
    assert found["days"][0]["stored_bytes"] == pytest.approx(4000 + 100)
    _, page = with_page(tmp_path, "size", tmp_path / "sizing.toml")
    assert "is published nowhere that could be read" in page


def test_a_few_times_after_the_scan_are_told_and_many_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "scan.txt", ne2scan([3.0] * 200 + [-1.0]))
    found = read_ages(path)
    assert (found.future_files, found.future_bytes) == (1, 1000)
    assert found.older(1)[0] == 200
    # What changed while the scan ran, until its end 60 s later, and clocks that are a minute apart
    # are not told.
    path.write_text(ne2scan([3.0] * 9 + [-119 / DAY]))
    assert read_ages(path).future_files == 0
    path.write_text(ne2scan([3.0] * 9 + [-1.0]))
    assert "10.0 % of the bytes have times after the scan" in refused(read_ages, path)


CUT = {
    "no end": (ne2scan(AGES, end=""), "does not end with #complete#"),
    "cut in a line": (ne2scan(AGES, end="")[:-60], "is not a line like the first"),
    "cut before a line": (ne2scan(AGES)[: -len(f"#complete#{SCAN + 60}\n") - 1], "#complete#"),
    "files behind the end": (ne2scan(AGES) + "1|2|3\n", "behind the end"),
    "empty": ("", "is no line of a listing with ages"),
    "no file": ("#IDENT#|1|1|5|\n#complete#6\n", "there is no file in the listing"),
    "no sizes": (ne2scan(AGES, size=0), "every file has 0 bytes"),
    "names alone": ("a\nb\n", "is no line of a listing with ages"),
    "a size below zero": (ne2scan(AGES).replace("|1000|3|", "|-1000|3|"), "is not a line like"),
}


@pytest.mark.parametrize("case", CUT)
def test_nothing_is_forecast_from_a_damaged_listing(case: str, tmp_path: Path) -> None:
    text, message = CUT[case]
    (tmp_path / "scan.txt").write_text(text)
    (tmp_path / "a.toml").write_text('[capacity]\nusable = "1 PB"\nlisting = "scan.txt"\n')
    captured = refusal("size", tmp_path / "a.toml")
    assert message in captured and "scan.txt" in captured


def lfs_df(used: list[int], *, header: str = "1K-blocks", inactive: str = "") -> str:
    """A snapshot an hour of two targets of 1,000 blocks."""
    text = ""
    for hour, blocks in enumerate(used):
        text += f"{SCAN + 3600 * hour}\nUUID  {header}  Used  Available Use% Mounted on\n"
        text += "fs-MDT0000_UUID 500 5 495 1% /s[MDT:0]\n"
        text += f"fs-OST0000_UUID 1000 {blocks} {1000 - blocks} 1% /s[OST:0]\n"
        last = "OST0001_UUID         : inactive device\n" if inactive == str(hour) else ""
        text += last or "fs-OST0001_UUID 1000 400 600 40% /s[OST:1]\n"
        text += "\nfilesystem_summary: 2000 1 1 1% /s\n\n"
    return text


def test_a_series_says_when_it_is_full_without_inactive_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 blocks more an hour, 800 of 2,000 in the end: 600 blocks to 70 % are six hours."""
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "df.txt").write_text(lfs_df([100, 200, 300, 400]))
    (tmp_path / "a.toml").write_text('[capacity]\nlfs_df = "df.txt"\n')
    assert "fs: 40 % full, gains 2.458 MB/d" in (out := output("size", tmp_path / "a.toml"))
    assert "70 % full in 6 h to 6 h if it goes on so" in " ".join(out.split())
    (one,) = size({"capacity": {"lfs_df": str(tmp_path / "df.txt")}}).outlook.fills  # type: ignore[union-attr]
    assert one.trend.slope == pytest.approx(100 * 1024 / 3600)
    # The blocks of an inactive target would vanish from one sum: it is left out of every snapshot.
    (tmp_path / "df.txt").write_text(lfs_df([100, 200, 300, 400], inactive="2"))
    (found,) = read_lfs_df([tmp_path / "df.txt"])
    assert (found.targets, found.left_out) == (("OST0000",), ("OST0001",))
    assert found.used_bytes.sum(axis=1).tolist() == [102400.0, 204800.0, 307200.0, 409600.0]


WRONG_DF = {
    "rounded": (lfs_df([1, 2, 3], header="bytes"), "does not count blocks of 1,024 bytes"),
    "rounded rows": (lfs_df([1, 2, 3]).replace("1000 1 ", "1.0K 1.1K "), "are whole numbers"),
    "no time": (lfs_df([1]).partition("\n")[2], "no time stands before this table"),
    "two snapshots": (lfs_df([1, 2]), "has 2 snapshots, and a slope needs at least 3"),
    "more used than there is": (lfs_df([1, 2, 3]).replace("1000 400", "100 400"), "no more than"),
    "other text": (lfs_df([1, 2, 3]) + "hello\n", "is no line of lfs df"),
    "nothing": ("\n", "there is no line of lfs df"),
    "twice": (lfs_df([1, 2, 3]) + lfs_df([1]), "stands twice in one snapshot"),
}


@pytest.mark.parametrize("case", WRONG_DF)
def test_a_damaged_series_is_refused(case: str, tmp_path: Path) -> None:
    text, message = WRONG_DF[case]
    (tmp_path / "df.txt").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_lfs_df([tmp_path / "df.txt"])


def test_332_real_targets_have_scipy_s_slopes(shared_data: Path) -> None:
    """70 snapshots over 23 h of four file systems: fill as printed, slope and interval to 1e-12."""
    series = read_lfs_df([shared_data / "lustre" / "tokio-sample_ost-fullness.txt.gz"])
    counts = {"snx11025": 24, "snx11035": 24, "snx11036": 36, "snx11168": 248}
    assert {one.name: len(one.targets) for one in series} == counts
    for one in series:
        assert one.seconds.shape == (70,) and one.left_out == ()
        for number in range(len(one.targets)):
            ours = trend(one.seconds, one.used_bytes[:, number])
            theirs = stats.theilslopes(one.used_bytes[:, number], one.seconds)
            found = (ours.slope, ours.low, ours.high)
            assert found == pytest.approx((theirs[0], theirs[2], theirs[3]), rel=1e-12)
    # As the last table prints them: 40 to 52 % but for one target of 56 %, and 65 to 82 %.
    assert float(series[0].fill[-1].min()) == pytest.approx(0.652, abs=0.001)
    assert float(series[3].fill[-1].max()) == pytest.approx(0.557, abs=0.001)
