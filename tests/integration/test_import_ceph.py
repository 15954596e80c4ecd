"""`resilver import ceph`: a cluster's dumps become one bundle, with its names or without."""

import json
import os
import shutil
import stat
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver import Results, cli
from resilver.importers import ClusterReport, read_cluster
from resilver.importers.ceph.model import PoolStretch, StretchMode
from tests.reference.ceph_cluster import write_cluster
from tests.terminal import json_output, refusal, texts
from tests.unit.test_importers_bundle import SHAPE, same

NAMES = ("node-", "rack-0", "vms", "archive", "fast", "ec42", '"default', "10.0.", "SERIAL", "0123")
"""What of the made-up cluster names somebody or something: no bundle without names has it."""

FAKE = """#!/bin/sh
# Ceph's command as far as a bundle goes: it keeps what it was asked, and prints a dump.
echo "$*" >> "$FAKE_CEPH/asked"
shift 2
name=$(echo "$*" | sed 's/ -f json$//; s/ /_/g; s/osd_crush_dump/crush/; s/df_detail/df/')
if [ -e "$FAKE_CEPH/fails_$name" ]; then echo 'Error EACCES: access denied' >&2; exit 13; fi
if [ -e "$FAKE_CEPH/sleeps_$name" ]; then exec sleep 30; fi
cat "$FAKE_CEPH/ceph_$name.json"
if [ "$name" = osd_dump ] && [ -e "$FAKE_CEPH/next" ]; then
    mv "$FAKE_CEPH/next" "$FAKE_CEPH/ceph_osd_dump.json"
fi
"""


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return write_cluster(tmp_path / "dumps", SHAPE)


@pytest.fixture
def live(dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder from which a `ceph` of our own on the path answers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ceph").write_text(FAKE)
    (folder / "ceph").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CEPH", str(dumps))
    monkeypatch.chdir(tmp_path)
    return dumps


def test_a_live_cluster_is_only_read(live: Path, tmp_path: Path) -> None:
    told = json_output("import", "ceph", "LIVE", "-o", "bundle.tar.zst")
    assert (told["osds"], told["groups"], told["missing"]) == (40, 400, [])
    asked = (live / "asked").read_text().splitlines()
    # Every command that is ever run; each of them prints, and none changes anything.
    reading = ["osd dump", "config dump", "osd metadata", "osd perf", "balancer status"]
    reading += ["versions", "df detail", "pg dump", "osd df", "osd crush dump", "osd dump"]
    assert asked == [f"--connect-timeout 30 {words} -f json" for words in reading]
    kept, read = read_cluster(tmp_path / "bundle.tar.zst"), read_cluster(live)
    assert same(replace(kept, version=read.version), read)


def test_a_map_that_changes_meanwhile_is_fetched_again(live: Path, tmp_path: Path) -> None:
    later = json.loads((live / "ceph_osd_dump.json").read_text()) | {"epoch": 5003}
    (live / "next").write_text(json.dumps(later))
    _, err = texts("import", "ceph", "live", "-o", "bundle.tar")
    assert "the map went from epoch 5000 to 5003 meanwhile" in err
    assert (live / "asked").read_text().count("pg dump") == 2
    assert read_cluster(tmp_path / "bundle.tar").epoch == 5003


def test_what_is_not_needed_may_fail(live: Path, tmp_path: Path) -> None:
    (live / "fails_config_dump").touch()
    (live / "sleeps_osd_perf").touch()
    words = ["import", "ceph", "LIVE", "-o", "bundle.tar.gz", "--timeout", "1.5"]
    out, said = texts(*words)
    assert "left out `ceph config dump`: Error EACCES: access denied" in said
    assert "left out `ceph osd perf`: it did not answer within 1.5 s" in said
    assert "Not in it: settings: `ceph config dump`" in out
    read = read_cluster(tmp_path / "bundle.tar.gz")
    # The delays of `osd perf` stand beside the groups too.
    assert read.config is None and len(read.perf) == 40
    (live / "fails_pg_dump").touch()
    assert "`ceph pg dump` failed: Error EACCES: access denied; check" in texts(*words, code=2)[1]


def test_a_bundle_is_the_same_bytes_each_time(dumps: Path, tmp_path: Path) -> None:
    for suffix in (".tar.zst", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar"):
        paths = [tmp_path / f"{number}{suffix}" for number in (1, 2)]
        for path in paths:
            assert cli.run(["import", "ceph", str(dumps), "-o", str(path), "--quiet"]) == 0
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert same(read_cluster(paths[0]), read_cluster(dumps))


def test_without_the_command_or_with_a_file_named_live_the_remedy_is_said(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = texts("import", "ceph", "LIVE", "-o", "bundle.tar", code=2)[1]
    assert "the command `ceph` is not here; run this on a machine with it" in said
    assert not Path("bundle.tar").exists()
    (tmp_path / "LIVE").write_text("{}")
    assert "name the file as ./LIVE" in refusal("import", "ceph", "LIVE", "-o", "bundle.tar")


def anonymous(source: Path, target: Path) -> ClusterReport:
    assert cli.run(["import", "ceph", str(source), "-o", str(target), "--anonymise", "-q"]) == 0
    return read_cluster(target)


def test_a_bundle_without_names_names_nobody(dumps: Path, tmp_path: Path) -> None:
    secret = json.loads((dumps / "ceph_config_dump.json").read_text())
    secret += [
        {"section": "mgr", "mask": "", "name": "mgr/dashboard/ssl_key", "value": "node-secret"},
        {"section": "client.rgw.vms", "mask": "", "name": "osd_max_backfills", "value": "7"},
        {"section": "osd", "mask": "host:node-001", "name": "osd_max_backfills", "value": "4"},
        {"section": "osd", "mask": "", "name": "osd_data", "value": "fast"},
        {"section": "mon", "mask": "", "name": "mon_osd_down_out_subtree_limit", "value": "host"},
    ]
    (dumps / "ceph_config_dump.json").write_text(json.dumps(secret))
    read = anonymous(dumps, tmp_path / "out.tar")
    with tarfile.open(tmp_path / "out.tar") as archive:
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            text = file.read().decode()
            assert not [name for name in NAMES if name in text], member.name
    assert read.config is not None
    assert [(entry.section, entry.mask, entry.name, entry.value) for entry in read.config] == [
        ("global", "", "osd_pool_default_size", "3"),
        ("osd", "class:hdd", "osd_mclock_profile", "high_recovery_ops"),
        ("osd.3", "", "osd_mclock_max_capacity_iops_hdd", "287.450000"),
        # The second of ten hosts.
        ("osd", "host:host-02", "osd_max_backfills", "4"),
        ("mon", "", "mon_osd_down_out_subtree_limit", "host"),
    ]


def nameless(node: Any) -> Any:
    """A CRUSH map without the names of its types, items and rules."""
    if isinstance(node, list):
        return [nameless(one) for one in node]
    names = ("name", "rule_name", "item_name")
    is_table = isinstance(node, dict)
    return {k: nameless(v) for k, v in node.items() if k not in names} if is_table else node


def renamed(report: ClusterReport) -> ClusterReport:
    """A cluster without what is a name or comes of one."""
    return replace(
        report,
        label="",
        sha256="",
        fsid="",
        dumps=(),
        version="",
        crushmap=json.dumps(nameless(json.loads(report.crushmap))),
        pools=tuple(
            replace(pool, name="", profile=replace(pool.profile, name="") if pool.profile else None)
            for pool in report.pools
        ),
        osds=tuple(replace(osd, name="", host="") for osd in report.osds),
        metadata=tuple(replace(one, hostname="") for one in report.metadata),
    )


@pytest.mark.parametrize(
    "source", ["modern", "ceph-report-jewel-88osd.json", "ceph-report-compat-two-pools.json"]
)
def test_without_names_a_real_cluster_is_the_same(
    shared_data: Path, source: str, tmp_path: Path
) -> None:
    original = read_cluster(shared_data / "ceph" / source)
    assert renamed(anonymous(shared_data / "ceph" / source, tmp_path / "a.tar.xz")) == renamed(
        original
    )


def test_without_names_the_made_up_cluster_is_the_same(dumps: Path, tmp_path: Path) -> None:
    osd_dump = json.loads((dumps / "ceph_osd_dump.json").read_text())
    osd_dump |= {
        "pg_upmap": [{"pgid": "1.0", "osds": [0, 4, 8]}],
        "pg_upmap_items": [
            {"pgid": "1.1", "mappings": [{"from": 0, "to": 1}, {"from": 2, "to": 99}]}
        ],
        "pg_upmap_primaries": [{"pgid": "1.2", "primary_osd": 1}],
        "pg_temp": [{"pgid": "2.3", "osds": [2, 0, 2147483647, 5, 6, 7]}],
        "primary_temp": [{"pgid": "1.3", "osd": 0}],
    }
    osd_dump["stretch_mode"] = {
        "stretch_mode_enabled": True,
        "stretch_bucket_count": 2,
        "degraded_stretch_mode": 1,
        "recovering_stretch_mode": 0,
        "stretch_mode_bucket": 3,
    }
    asks = {"count": 1, "target": 2, "barrier": 3, "mandatory_member": -2}
    osd_dump["pools"][0] |= {f"peering_crush_bucket_{key}": value for key, value in asks.items()}
    osd_dump["osds"][5] |= {"up": 0, "in": 0, "weight": 0}
    osd_dump["osds"][6] |= {"weight": 0.950012, "primary_affinity": 0.5}
    for name in ("report", "osd_df", "osd_df_tree"):
        (dumps / f"ceph_{name}.json").unlink()
    (dumps / "ceph_osd_dump.json").write_text(json.dumps(osd_dump))
    original, other = read_cluster(dumps), anonymous(dumps, tmp_path / "a.tar.zst")
    assert renamed(other) == renamed(original)
    assert other.stretch_mode == StretchMode(2, 3, is_degraded=True)
    assert [pool.stretch for pool in other.pools[:2]] == [PoolStretch(1, 2, 3, -2), None]
    # Names keep the order that sorting gives the old ones, of ten hosts.
    hosts = [
        sorted(one.buckets.of_kind("host"), key=lambda host: host.name) for one in (original, other)
    ]
    assert [host.id for host in hosts[0]] == [host.id for host in hosts[1]]
    assert [host.name for host in hosts[1]] == [f"host-{number:02d}" for number in range(1, 11)]


def test_a_study_of_a_bundle_without_names_has_the_same_answer(
    dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    anonymous(dumps, tmp_path / "a.tar.zst")
    records, rows = [], []
    for number, source in enumerate(("dumps", "a.tar.zst")):
        text = f'[cluster]\nceph = "{source}"\n[[faults]]\nfail = {{ osds = ["osd.3"] }}\n'
        Path(f"{number}.toml").write_text(text + "[study]\nseeds = 1\n")
        assert cli.run(["run", f"{number}.toml", "-o", f"run-{number}", "-q"]) == 0
        results = Results.open(f"run-{number}")
        records.append([row["digest"] for row in results.to_records()])
        rows.append([(row["failed"], row["sent_bytes"]) for row in results.servers.to_pylist()])
    # The digest is of every event of a run.
    assert records[0] == records[1] and rows[0] == rows[1]
    assert sum(sent for _, sent in rows[0]) > 0
    # The study in the run folder names what the folder keeps, so it can be run elsewhere.
    (kept,) = Path("run-0", "inputs").iterdir()
    shutil.rmtree(dumps)
    shutil.move("run-0", "moved")
    assert cli.run(["check", "moved/study.toml", "--json"]) == 0
    assert kept.name.endswith("-dumps.tar.gz")
