"""A folder or an archive of a cluster's dumps is read as it is, or refused in words."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from resilver.errors import ConfigError
from resilver.importers import ClusterReport, packed, read_cluster
from resilver.importers.ceph import BalancerState, ConfigEntry, OsdPerf, Ratios
from resilver.importers.ceph.kinds import parse_dump
from resilver.importers.ceph.pg_dump import _group, _plain_group
from resilver.importers.jsonpath import Node
from tests.build import refused
from tests.reference.ceph_cluster import Shape, documents, write_cluster, write_state

SHAPE = Shape(osds=40, osds_per_host=4, racks=5, groups=400, ssd_share=0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of every dump as a support archive holds them, with lines of stderr."""
    return write_cluster(tmp_path_factory.mktemp("bundle") / "dumps", SHAPE)


@pytest.fixture(scope="module")
def cluster(folder: Path) -> ClusterReport:
    return read_cluster(folder)


def same(one: ClusterReport, other: ClusterReport) -> bool:
    """Whether two clusters are alike in all but the names of their files."""
    keys = set(ClusterReport.__dataclass_fields__) - {"label", "sha256", "dumps"}
    return all(getattr(one, key) == getattr(other, key) for key in keys)


def zstd(data: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstd,
}


def tar_of(folder: Path) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.add(folder, "some/where")
    return sink.getvalue()


def test_a_folder_says_all_that_its_dumps_say(cluster: ClusterReport) -> None:
    assert (cluster.release, cluster.epoch) == ((18, 2, 4), 5000)
    assert cluster.ratios == Ratios(0.85, 0.9, 0.95)
    assert len(cluster.groups) == 400 and len(cluster.usage) == 40
    assert all(load.measured for load in cluster.loads) and cluster.shared_pools == ()
    assert cluster.balancer == BalancerState(True, "upmap")
    assert cluster.perf[5] == OsdPerf(5, 0.004, 0.004)
    profile = ("osd_mclock_profile", "high_recovery_ops")
    assert cluster.config[1] == ConfigEntry("osd", "class:hdd", *profile)
    # Three of ten hosts of four are flash.
    assert [one.rotational for one in cluster.metadata] == [True] * 28 + [False] * 12
    assert {one.min_alloc_bytes for one in cluster.metadata} == {4096}
    one = cluster.usage[0]
    # An OSD's own part is 1 GiB and half a percent of its data, to the KiB.
    assert one.meta_bytes == (2**20 + one.data_bytes // 1024 // 200) * 1024
    assert one.available_bytes == one.capacity_bytes - one.used_bytes
    needed = [(pool.min_size, pool.code) for pool in cluster.pools]
    assert needed == [(2, None), (5, "rs 4+2"), (2, None)]


@pytest.mark.parametrize("packer", PACKERS)
def test_an_archive_is_the_folder(
    folder: Path, cluster: ClusterReport, packer: str, tmp_path: Path
) -> None:
    archive = tmp_path / "upload"
    archive.write_bytes(PACKERS[packer](tar_of(folder)))
    read = read_cluster(archive)
    assert same(read, cluster)
    # What is read decides, not how it is packed.
    assert read.sha256 == cluster.sha256


def test_a_zip_and_single_files_packed_each_are_the_folder(
    folder: Path, cluster: ClusterReport, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    assert same(read_cluster(tmp_path / "a.zip"), cluster)
    each = tmp_path / "each"
    each.mkdir()
    packers = list(PACKERS.values())
    for number, path in enumerate(sorted(folder.iterdir())):
        (each / str(number)).write_bytes(packers[number % 5](path.read_bytes()))
    assert same(read_cluster(each), cluster)


def test_other_dumps_of_a_cluster_say_the_same(
    cluster: ClusterReport, tmp_path: Path, folder: Path
) -> None:
    pretty = write_cluster(tmp_path / "pretty", SHAPE, pretty=True, stderr=False)
    assert same(read_cluster(pretty), cluster)
    state = read_cluster(write_state(tmp_path / "state", SHAPE))
    assert (state.groups, state.usage, state.osds) == (cluster.groups, cluster.usage, cluster.osds)
    assert state.release == (18, 2, 4) and state.config is None
    shutil.copytree(folder, tmp_path / "tree")
    (tmp_path / "tree" / "ceph_osd_df.json").unlink()
    assert same(read_cluster(tmp_path / "tree"), cluster)
    both = tmp_path / "both"
    shutil.copytree(folder, both)
    keys = ("pgid", "state", "up", "acting", "up_primary", "acting_primary")
    rows = [{key: row[key] for key in keys} for row in documents(SHAPE)["pg_dump"]["pg_stats"]]
    (both / "brief.json").write_text(json.dumps({"pg_ready": True, "pg_stats": rows}))
    assert same(read_cluster(both), cluster)
    (both / "ceph_pg_dump.json").unlink()
    read = read_cluster(both)
    assert [group.acting for group in read.groups] == [group.acting for group in cluster.groups]
    assert read.shared_pools == ("vms", "archive", "fast")


def test_the_support_archive_is_read_as_it_is(shared_data: Path) -> None:
    report = read_cluster(shared_data / "ceph" / "modern")
    assert (len(report.groups), len(report.osds), report.release) == (69, 3, (15, 2, 14))
    assert [one.capacity_bytes for one in report.usage] == [104_837_120 * 1024] * 3
    assert {kind for kind, _ in report.dumps} >= {"report", "pg_dump", "osd_df", "osd_metadata"}


def test_groups_share_the_sum_of_their_pool_where_no_dump_has_theirs(
    folder: Path, cluster: ClusterReport, tmp_path: Path
) -> None:
    sums = [sum(load.bytes for load in cluster.loads if load.pool == pool) for pool in (1, 2, 3)]
    for kept in (["ceph_report.json"], ["ceph_osd_dump.json", "ceph_crush.json", "ceph_df.json"]):
        few = tmp_path / kept[0]
        few.mkdir()
        for name in kept:
            shutil.copy(folder / name, few)
        read = read_cluster(few)
        assert read.shared_pools == ("vms", "archive", "fast")
        shares = [[load.bytes for load in read.loads if load.pool == pool] for pool in (1, 2, 3)]
        assert [sum(of_pool) for of_pool in shares] == sums
        assert all(max(of_pool) - min(of_pool) <= 1 for of_pool in shares)


def test_what_is_no_dump_is_passed_over(
    folder: Path, cluster: ClusterReport, tmp_path: Path
) -> None:
    support = tmp_path / "support"
    shutil.copytree(folder, support / "deep" / "er")
    (support / "ceph.conf").write_text("[global]\nfsid = x\n")
    (support / "log").write_text('{"level": "info"}\n{"level": "warn"}\n')
    (support / "binary").write_bytes(bytes(range(256)) * 40)
    (support / "ceph_status.json").write_text('{"health": {}, "quorum": []}')
    (support / "empty").write_text("")
    os.symlink(support / "nowhere", support / "dangling")
    os.mkfifo(support / "pipe")
    assert same(read_cluster(support), cluster)


def write_tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_links_devices_and_outside_names_in_an_archive_are_harmless(
    folder: Path, cluster: ClusterReport, tmp_path: Path
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    odd = []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "../../etc/passwd"
        odd.append((info, b""))
    named = ["/etc/a.json", "../../b.json", "<script>alert(1)</script>", "[bold]\x1b[2J", "c" * 300]
    dumps = [path.read_bytes() for path in sorted(folder.iterdir())]
    names = [*named, *(f"{number}.json" for number in range(len(dumps)))]
    members = [(tarfile.TarInfo(name), data) for name, data in zip(names, dumps, strict=False)]
    archive = write_tar(inside / "odd.tar", *odd, *members)
    read = read_cluster(archive)
    assert same(read, cluster)
    assert all(name.isprintable() and len(name) < 210 for _, name in read.dumps)
    # Nothing was written beside it, nor above.
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inside", "odd.tar"]


def test_a_cut_off_archive_is_an_error_in_words(folder: Path, tmp_path: Path) -> None:
    for packer in PACKERS.values():
        whole = packer(tar_of(folder))
        for share in (0.001, 0.3, 0.9, 0.99):
            path = tmp_path / "cut.tar"
            path.write_bytes(whole[: int(share * len(whole))])
            assert "cut.tar" in refused(read_cluster, path)
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(ConfigError, match=r"it cannot be unpacked: .* fetch it again"):
        read_cluster(tmp_path / "cut.zip")


def test_what_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "UNPACKED_MAX", 2**20)
    bomb = tmp_path / "bomb.tar.xz"
    data = b'{"pg_map": ' + bytes(2**21)
    bomb.write_bytes(
        lzma.compress(write_tar(tmp_path / "b", (tarfile.TarInfo("b"), data)).read_bytes())
    )
    assert "unpacks to more than" in refused(read_cluster, bomb)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pg.json", b'{"pg_map": "' + b"0" * 2**21)
    assert "unpacks to more than" in refused(read_cluster, tmp_path / "bomb.zip")
    monkeypatch.setattr(packed, "FILES_MAX", 3)
    assert "more than 3 files" in refused(read_cluster, write_cluster(tmp_path / "many", SHAPE))


def test_a_group_read_at_once_is_the_group_read_member_by_member() -> None:
    rows = list(documents(SHAPE)["pg_dump"]["pg_stats"])
    counts = {1: 400, 2: 400, 3: 400}
    for row in rows:
        checked = _group(Node(row, "", ""), counts)
        assert _plain_group(row, counts, {"active+clean": "active+clean"}) == checked
    odd = [
        {"up": [0, -1]},
        {"up": [True]},
        {"acting": "x"},
        {"acting_primary": -2},
        {"pgid": "1.g"},
        {"pgid": "1.fff"},
        {"pgid": "4.0"},
        {"state": "unheard"},
        {"stat_sum": {**rows[0]["stat_sum"], "num_bytes": 2.0}},
        {"stat_sum": {**rows[0]["stat_sum"], "num_objects": -1}},
        {"up": [2**31]},
    ]
    for one in odd:
        assert _plain_group({**rows[0], **one}, counts, {"active+clean": ""}) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('dumped all\n{"a": 1}\n', {"a": 1}),
        ('{"a": 1}\ndumped all\n', {"a": 1}),
        ('2026-01-01 12:00 [warn] x\n[{"a": 1}]\nreport 5', [{"a": 1}]),
        ("\ufeff\n\n{}", {}),
    ],
)
def test_lines_of_other_text_around_a_dump_do_not_matter(text: str, value: Any) -> None:
    assert parse_dump(text.encode(), "x") == value


@pytest.mark.parametrize("text", ['{"a": 1}}', '{"a": 1}\n{"b": 2}\n', '{"a": 1', "dumped all\n"])
def test_half_a_dump_and_two_dumps_in_a_file_are_refused(text: str) -> None:
    assert "not valid JSON" in refused(parse_dump, text.encode(), "x")
