"""What is busy and full, from logs: counters, series, fill, servers, run folders; refusals."""

import gzip
from pathlib import Path

import h5py
import numpy as np
import pytest

import resilver
from resilver import ConfigError, read_state
from tests.build import refused

ONE = ("recovery.pipelining=true", "recovery.pipeline_buffer=16 MiB")
DEVICES = "  4 UP osc a-OST0000-osc-ffff88 uuid 5 10.0.0.1@tcp\n"
TABLE = "UUID 1K-blocks Used Available Use% Mounted on\n"


def dump(
    seconds: float,
    written: dict[str, int],
    *,
    read: int = 0,
    clients: dict[str, dict[str, int]] | None = None,
    free: int | None = None,
) -> str:
    """What `lctl get_param` prints: a target's counters, its clients', and its blocks."""
    lines = []
    time = f"snapshot_time             {seconds:.9f} secs.nsecs"
    moved = "9 samples [bytes] 4096 1048576"
    for target, count in written.items():
        lines += [f"obdfilter.{target}.stats=", time]
        lines += [f"read_bytes                {moved} {read} 77"] * bool(read)
        lines += [f"write_bytes               {moved} {count} 123456"] * bool(count)
        lines.append("statfs                    7 samples [usecs] 0 129 331784 2752546")
        for client, size in (clients or {}).get(target, {}).items():
            lines += [f"obdfilter.{target}.exports.{client}.stats=", time]
            lines.append(f"write_bytes               {moved} {size} 1")
        if free is not None:
            lines.append(f"osd-ldiskfs.{target}.kbytesfree={free}")
            lines.append(f"osd-ldiskfs.{target}.kbytestotal=1000")
    return "\n".join(lines) + "\n"


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ------------------------------------------------------------------------------- dumps of counters


def test_two_dumps_say_how_fast_whatever_their_order(tmp_path: Path) -> None:
    """OST0001 wrote (9000 - 1000) B and read 400 - 100 in 10 s; one of its two clients did."""
    first, second = (
        put(
            tmp_path,
            str(seconds),
            dump(
                seconds,
                {"a-OST0001": moved, "a-OST0000": 0},
                read=read,
                clients={"a-OST0001": {"10.0.0.1@tcp": moved, "10.0.0.2@tcp": 50}},
                free=free,
            ),
        )
        for seconds, moved, read, free in ((100, 1000, 100, 400), (110, 9000, 400, 350))
    )
    for paths in ([first, second], [second, first]):
        state = read_state(paths)
        assert state.targets == ("a-OST0000", "a-OST0001")
        assert state.write_bytes_per_second.tolist() == [0.0, 800.0]
        assert state.read_bytes_per_second.tolist() == [30.0, 30.0]
        assert state.streams[1] == 1.0 and np.isnan(state.streams[0])
        assert state.fill == pytest.approx([0.65, 0.65])
        assert state.seconds.tolist() == [110.0, 110.0]


def test_servers_are_dumped_by_their_own_clocks_and_twice(tmp_path: Path) -> None:
    """Each target is timed by its own server: one is a day ahead, and both moved 100 B/s."""
    paths = [
        put(tmp_path, f"{server}{at}", dump(start + 10 * at, {f"a-OST000{server}": 1000 * at}))
        for server, start in ((0, 100), (1, 86_500))
        for at in (0, 1)
    ]
    assert read_state(paths).write_bytes_per_second.tolist() == [100.0, 100.0]
    one = put(tmp_path, "1", dump(1, {"a-OST0000": 1}))
    assert "dump them again" in refused(read_state, [one])
    two = put(tmp_path, "2", dump(9, {"a-OST0000": 1, "a-OST0001": 1}))
    state = read_state([one, two])
    assert any("a-OST0001" in note for note in state.notes)
    assert state.is_load_known.tolist() == [True, False]


NINE = {"a-OST0000": 9}
THREE = [f"a-OST000{at}" for at in range(3)]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (dump(1, NINE), dump(9, {"a-OST0000": 8}), "falls from 9 to 8"),
        (dump(5, NINE), dump(5, NINE), "of the same time"),
        (
            dump(1, dict.fromkeys(THREE, 1)),
            dump(11, dict.fromkeys(THREE[:2], 2)) + dump(3611, {THREE[2]: 2}),
            "a clock was set",
        ),
        (dump(1, NINE) * 2, dump(9, NINE), "stands twice in one dump"),
        (dump(1, NINE).replace("[bytes] 4096", "[bytes] x"), dump(9, NINE), "line 3"),
        (dump(1, NINE).replace("1.000000000 secs", "now secs"), dump(9, NINE), "is no time"),
        (dump(1, NINE, free=2000), dump(9, NINE), "2,000 free of 1,000"),
    ],
)
def test_dumps_that_cannot_be_compared_are_refused(
    first: str, second: str, said: str, tmp_path: Path
) -> None:
    assert said in refused(read_state, [put(tmp_path, "1", first), put(tmp_path, "2", second)])


@pytest.mark.parametrize("name", ["2.14.0_ddn145_stats.txt", "params-6.2.0-r9.txt", "valid.txt"])
def test_real_dumps_of_lustre_s_releases_are_read(
    name: str, tmp_path: Path, shared_data: Path
) -> None:
    """A real dump and the same 30 s later on its own clock: nothing moved meanwhile."""
    text = (shared_data / "lustre" / "lctl" / name).read_text()
    lines = []
    for line in text.splitlines():
        if line.startswith("snapshot_time"):
            head, seconds, *rest = line.split()
            line = " ".join([head, f"{float(seconds) + 30:.9f}", *rest])
        lines.append(line)
    later = put(tmp_path, "later.txt", "\n".join(lines))
    state = read_state([shared_data / "lustre" / "lctl" / name, later])
    assert len(state.targets) == 2
    assert state.bytes_per_second.tolist() == [0.0, 0.0]
    # Of valid.txt: 1 - 3,875,693,364 / 3,978,095,168 of the first.
    if name == "valid.txt":
        assert state.fill[0] == pytest.approx(1 - 3_875_693_364 / 3_978_095_168)


# --------------------------------------------------------------------------------- series in HDF5


def series(path: Path, *, units: str = "bytes/sec", name: str = "writebytes") -> Path:
    """Two targets, 10 s apart: the first writes 100 and 300, the second is missing in the end."""
    with h5py.File(path, "w") as file:
        file["datatargets/timestamps"] = np.array([1000, 1010, 1020])
        values = np.array([[7.0, 5.0], [100.0, 50.0], [300.0, np.nan]])
        file[f"datatargets/{name}"] = values
        data = file[f"datatargets/{name}"]
        data.attrs["columns"] = np.array([b"a-OST0000", b"a-OST0001"])
        data.attrs["units"] = units
    return path


def test_the_end_of_a_series_is_averaged_and_what_is_unseen_is_not_idle(tmp_path: Path) -> None:
    """In the last 20 s the first wrote (100 + 300) / 2 and the second 50, where it is known."""
    state = read_state([series(tmp_path / "a.hdf5")], window_seconds=20)
    assert state.write_bytes_per_second.tolist() == [200.0, 50.0]
    # As bytes of 10 s each, a tenth of that.
    made = series(tmp_path / "b.hdf5", units="bytes")
    assert read_state([made], window_seconds=20).write_bytes_per_second.tolist() == [20.0, 5.0]
    made = series(tmp_path / "c.hdf5", name="writerates")
    assert read_state([made], window_seconds=5).bytes_per_second[0] == 300.0
    # It writes -0.0 where nothing was seen, as for the rest of the day: the end is the last
    # row with a value, and the second target's only value before it is that of 1,000 s.
    with h5py.File(tmp_path / "day.hdf5", "w") as file:
        file["datatargets/timestamps"] = 10 * np.arange(2000)
        values = np.full((2000, 2), -0.0)
        values[:4] = [[7, 5], [100, -0.0], [0, -0.0], [300, -0.0]]
        file["datatargets/readrates"] = values
        file["datatargets/readrates"].attrs["columns"] = np.array([b"a-OST0000", b"a-OST0001"])
    state = read_state([tmp_path / "day.hdf5"], window_seconds=30)
    assert state.seconds.tolist() == [30.0, 30.0]
    assert state.read_bytes_per_second[0] == pytest.approx(400 / 3)
    assert state.is_load_known.tolist() == [True, False]
    whole = read_state([tmp_path / "day.hdf5"], window_seconds=60)
    assert whole.read_bytes_per_second.tolist() == pytest.approx([407 / 4, 5.0])


def test_files_that_contradict_themselves_or_each_other_are_refused(tmp_path: Path) -> None:
    for change, said in (
        (lambda file: file["datatargets/writebytes"].__setitem__((1, 0), -1.0), "negative"),
        (lambda file: file["datatargets/timestamps"].__setitem__(1, 900), "do not rise"),
        (
            lambda file: file["datatargets/writebytes"].attrs.__setitem__("units", "furlongs"),
            "units",
        ),
        (lambda file: file.__delitem__("datatargets"), "there are no readrates"),
        (lambda file: file["datatargets/writebytes"].attrs.__delitem__("columns"), "TOKIO"),
        (lambda file: file.__delitem__("datatargets/timestamps"), "TOKIO"),
    ):
        path = series(tmp_path / "a.hdf5")
        with h5py.File(path, "a") as file:
            change(file)
        assert said in refused(read_state, [path])
        path.unlink()
    path = series(tmp_path / "a.hdf5")
    assert "given twice" in refused(read_state, [path, path])
    assert "says too" in refused(read_state, [path, series(tmp_path / "b.hdf5")])
    assert "no such file" in refused(read_state, [tmp_path / "none"])
    assert "run folder" in refused(read_state, [tmp_path])


def test_real_logs_of_series_and_servers_are_read(shared_data: Path) -> None:
    """LMT of 24 targets at 5 s: the last 60 s, 12 rows; and 64 burst-buffer devices at 10 s."""
    lmt = shared_data / "lustre" / "tokio-snx11025_2018-01-28.hdf5"
    state = read_state([lmt])
    with h5py.File(lmt) as file:
        expected = file["datatargets/writebytes"][-12:].mean(axis=0)
        used, total = (file[f"fullness/{name}"][-12:] for name in ("bytes", "bytestotal"))
    assert state.targets[0] == "snx11025-OST0000" and len(state.targets) == 24
    assert state.write_bytes_per_second == pytest.approx(expected)
    assert state.fill == pytest.approx((used / total).mean(axis=0))
    other = read_state([shared_data / "lustre" / "tokio-sample_tokiots.hdf5"])
    # Of 16 servers of four devices some were not seen in the last minute.
    assert len(other.targets) == 64 and not other.is_load_known.all()
    assert np.nanmax(other.bytes_per_second) > 0
    # 332 targets of four file systems on 329 servers.
    lustre = shared_data / "lustre"
    state = read_state(
        [lustre / "tokio-sample_ost-fullness.txt.gz", lustre / "tokio-sample_ost-map.txt.gz"]
    )
    assert len(state.targets) == 332 and len(set(state.servers)) == 329
    assert state.filesystems == ("snx11025", "snx11035", "snx11036", "snx11168")
    assert len(state.only("snx11168").targets) == 248
    # The whole file systems were 40 to 82 % full.
    assert all(0.40 < state.only(name).fill.mean() < 0.82 for name in state.filesystems)


# ------------------------------------------------------------------------------ fill and servers


def test_fill_servers_and_rates_join_and_the_last_counts(tmp_path: Path) -> None:
    text = f"{TABLE}a-OST0000_UUID 1000 900 100 90% /a\na-OST0001_UUID 1000 100 900 10% /a\n"
    df = put(tmp_path, "df", text + "OST0002             : inactive device\n")
    lines = (
        f"  {4 + at} {state} osc a-OST000{at}-osc-ffff88 uuid 5 10.0.0.{server}@tcp\n"
        for at, (state, server) in enumerate((("UP", 1), ("UP", 1), ("IN", 2)))
    )
    devices = put(tmp_path, "dl", "".join(lines))
    state = read_state([df, devices, series(tmp_path / "s.hdf5")])
    assert state.fill[:2].tolist() == [0.9, 0.1] and np.isnan(state.fill[2])
    assert state.servers == ("10.0.0.1@tcp", "10.0.0.1@tcp", "10.0.0.2@tcp")
    assert state.states == ("up", "up", "inactive")
    assert state.is_load_known.tolist() == [True, True, False]
    assert any("s.hdf5 does not have a-OST0002" in note for note in state.notes)
    rows = "a-OST0000_UUID 1000 {} 1 1% /a\n"
    df = f"BEGIN 1000000000\n{TABLE}{rows.format(100)}BEGIN 1000000900\n{TABLE}{rows.format(300)}"
    path = tmp_path / "df.gz"
    path.write_bytes(gzip.compress(df.encode()))
    state = read_state([path])
    assert state.fill.tolist() == [0.3] and state.seconds.tolist() == [1_000_000_900]
    newer = put(tmp_path, "1", dump(1_000_100_000, {"a-OST0000": 0}))
    other = put(tmp_path, "2", dump(1_000_100_010, {"a-OST0000": 0}))
    (note,) = read_state([path, newer, other]).notes
    assert "df.gz is" in note and "older" in note


def test_a_run_folder_says_what_its_devices_moved(tmp_path: Path, root: Path) -> None:
    """The one lost server of two seeds of a pair: what devices read and wrote over their lives."""
    study = resilver.Study.load(
        root / "studies" / "one-pair" / "study.toml", ["study.seeds=2", *ONE]
    )
    results = resilver.execute(study, tmp_path / "run")
    state = read_state([tmp_path / "run"])
    lived = dict(
        zip(*(results.runs[name].to_pylist() for name in ("run", "simulated_seconds")), strict=True)
    )
    rows = results.servers.to_pylist()
    for at, name in enumerate(state.targets):
        rates = [
            row["device_bytes_written"] / lived[row["run"]] for row in rows if row["name"] == name
        ]
        assert state.write_bytes_per_second[at] == pytest.approx(np.mean(rates))
    assert state.states.count("inactive") == len({row["name"] for row in rows if row["failed"]})


# ----------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (b"\x00\x01\x02", "binary"),
        (b"\x89HDF\r\n\x1a\n", "no HDF5 file"),
        (b"\xff\xfe", "not UTF-8"),
        (b"hello\n", "nothing says"),
        (b"  4 UP osc a-OST0000-osc-ffff88 uuid 5\n", "no address"),
        (b"  4 UP mgc MGC uuid 5\n", "no object target"),
        (TABLE.encode() + b"a-OST0000_UUID 10 20 1 1% /a\n", "no more than it has"),
        (b"UUID Inodes IUsed\n", "1,024"),
    ],
)
def test_what_is_no_log_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    assert said in refused(read_state, [put(tmp_path, "given", content)])


def test_a_broken_heap_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resilver.importers.tokio._WALK_SECONDS", 1.0)
    data = series(tmp_path / "a.hdf5").read_bytes()
    size = data.index(b"GCOL") + 24  # Of the heap's first object: the next one is before it.
    broken = data[:size] + (2**64 - 16).to_bytes(8, "little") + data[size + 8 :]
    with pytest.raises(ConfigError, match="never ends with its attributes"):
        read_state([put(tmp_path, "b.hdf5", broken)])
