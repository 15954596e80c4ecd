"""Ceph's settings: defaults by release, what overrides what, and what mClock takes for itself."""

from dataclasses import replace
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.importers.ceph import ConfigEntry, OsdMetadata
from resilver.whatif.configuration import read_setting
from resilver.whatif.declared import SETTINGS
from resilver.whatif.options import Request
from resilver.whatif.releases import version
from resilver.whatif.settings import Setting
from tests.build import refused
from tests.unit.what_if_clusters import of_release, osd_settings, prepared, small_report

DISK, FLASH = 0, 35
"""OSD 0 stands on the first host, of disks; OSD 35 on the last, of flash."""


@pytest.mark.parametrize(
    ("release", "disk", "flash"),
    [
        # (queue, slots, objects under way, sleep, queues, threads a queue)
        ((10, 2, 7), ("wpq", 1, 3, 0.0, 5, 2), ("wpq", 1, 3, 0.0, 5, 2)),
        ((12, 2, 13), ("wpq", 1, 3, 0.1, 5, 1), ("wpq", 1, 3, 0.0, 8, 2)),
        ((16, 2, 15), ("wpq", 1, 3, 0.1, 5, 1), ("wpq", 1, 10, 0.0, 8, 2)),
        # The first Quincy lifted all limits under mClock, 17.2.6 set 10, 10 and 20.
        ((17, 2, 5), ("mclock", 1000, 1000, 0.0, 5, 1), ("mclock", 1000, 1000, 0.0, 8, 2)),
        ((17, 2, 6), ("mclock", 10, 10, 0.0, 5, 1), ("mclock", 10, 20, 0.0, 8, 2)),
        ((17, 2, 7), ("mclock", 1, 3, 0.0, 5, 1), ("mclock", 1, 10, 0.0, 8, 2)),
        ((18, 2, 4), ("mclock", 1, 3, 0.0, 5, 1), ("mclock", 1, 10, 0.0, 8, 2)),
        # One queue of five threads on disks: 18.2.5 and 19.2.1, not 19.2.0 between them.
        ((18, 2, 5), ("mclock", 1, 3, 0.0, 1, 5), ("mclock", 1, 10, 0.0, 8, 2)),
        ((19, 2, 0), ("mclock", 1, 3, 0.0, 5, 1), ("mclock", 1, 10, 0.0, 8, 2)),
        ((19, 2, 1), ("mclock", 1, 3, 0.0, 1, 5), ("mclock", 1, 10, 0.0, 8, 2)),
        ((20, 2, 3), ("mclock", 1, 3, 0.0, 1, 5), ("mclock", 1, 10, 0.0, 8, 2)),
    ],
)
def test_defaults_are_those_of_the_release_and_of_the_kind_of_device(
    release: tuple[int, int, int], disk: Any, flash: Any
) -> None:
    ready = prepared(of_release(*release))
    of_osd = ("max_backfills", "recovery_max_active", "recovery_sleep", "op_num_shards",
              "op_num_threads_per_shard")  # fmt: skip
    for osd, wanted in ((DISK, disk), (FLASH, flash)):
        found = osd_settings(ready, osd)
        assert wanted == (found["queue"]["kind"], *(found[f"osd_{key}"] for key in of_osd))


def shares(found: dict[str, Any]) -> dict[str, tuple[float, float, float | None]]:
    return {
        key: (of["reservation"], of["weight"], of["limit"])
        for key, of in found["queue"]["shares"].items()
    }


@pytest.mark.parametrize(
    ("release", "profile", "client", "recovery", "best_effort"),
    [
        # Ceph's mClockScheduler.cc before and after PR 49975: (reservation, weight, limit).
        ((18, 2, 4), "balanced", (0.5, 1, None), (0.5, 1, None), (0.0, 1, 0.9)),
        ((18, 2, 4), "high_client_ops", (0.6, 2, None), (0.4, 1, None), (0.0, 1, 0.7)),
        ((18, 2, 4), "high_recovery_ops", (0.3, 1, None), (0.7, 2, None), (0.0, 1, None)),
        # Before, every backfill was recovery, so the class that moves misplaced groups has its
        # shares.
        ((17, 2, 6), "balanced", (0.4, 1, 1.0), (0.4, 1, 1.5), (0.4, 1, 1.5)),
        ((17, 2, 6), "high_client_ops", (0.5, 2, None), (0.25, 1, 1.0), (0.25, 1, 1.0)),
        ((17, 2, 6), "high_recovery_ops", (0.3, 1, 0.8), (0.6, 2, 2.0), (0.6, 2, 2.0)),
    ],
)
def test_a_profile_has_the_shares_of_its_release(
    release: tuple[int, int, int], profile: str, client: Any, recovery: Any, best_effort: Any
) -> None:
    ready = prepared(of_release(*release), set_option=f"osd_mclock_profile={profile}")
    wanted = {"client": client, "recovery": recovery, "best_effort": best_effort}
    assert shares(osd_settings(ready, DISK)) == wanted


def test_the_default_profile_changed_with_the_costs() -> None:
    before, after = prepared(of_release(17, 2, 6)), prepared(of_release(17, 2, 7))
    assert shares(osd_settings(before, DISK))["client"] == (0.5, 2, None)
    assert shares(osd_settings(after, DISK))["client"] == (0.5, 1, None)
    # 25 ms and 5.2 us a byte of a disk count in seconds, 0.011 us a byte of flash in ms.
    assert osd_settings(before, DISK)["queue"]["cost"] == {
        "kind": "iops",
        "per_io": 1.0,
        "per_byte": pytest.approx(5.2e-6),
        "osd_recovery_cost": 20 * 2**20,
    }
    # Recoveries were measured under an earlier release, which took longer than this says.
    first = osd_settings(prepared(of_release(17, 2, 5)), DISK)["queue"]["cost"]
    assert first["osd_recovery_cost"] == round(1.78 * 20 * 2**20)
    cost = osd_settings(before, FLASH)["queue"]["cost"]
    assert cost["per_byte"] == pytest.approx(1.1e-5)
    assert osd_settings(after, DISK)["queue"]["cost"] == {"kind": "bandwidth"}


def test_an_own_profile_has_shares_of_the_capacity_before_in_requests() -> None:
    client = ("res=63", "wgt=3", "lim=126")
    own = ["osd_mclock_profile=custom", *(f"osd_mclock_scheduler_client_{it}" for it in client)]
    # Of 315 requests a second 63 are a fifth and 126 two fifths; 999,999 is no limit.
    found = shares(osd_settings(prepared(of_release(17, 2, 5), set_option=own), DISK))
    assert found["client"] == (pytest.approx(0.2), 3, pytest.approx(0.4))
    assert found["recovery"] == (pytest.approx(1 / 315), 1, None)
    own[1:] = ["osd_mclock_scheduler_client_res=0.2", "osd_mclock_scheduler_client_lim=0.4"]
    found = shares(osd_settings(prepared(of_release(18, 2, 4), set_option=own), DISK))
    assert found["client"] == (0.2, 1, 0.4)
    assert found["recovery"] == (0.0, 1, None)


def test_the_more_particular_setting_wins_and_what_is_stated_wins_over_all() -> None:
    entries = (
        ConfigEntry("osd.1", "", "osd_recovery_sleep_hdd", "0.4"),
        ConfigEntry("global", "", "osd_recovery_sleep_hdd", "0.7"),
        ConfigEntry("osd", "class:hdd", "osd_recovery_sleep_hdd", "0.5"),
        ConfigEntry("osd", "", "osd_recovery_sleep_hdd", "0.6"),
        ConfigEntry("osd", "host:node-001", "osd_recovery_sleep_hdd", "0.300000"),
        ConfigEntry("mon", "", "osd_recovery_sleep_hdd", "0.9"),
        ConfigEntry("osd", "", "something_else", "7"),
    )
    report = of_release(16, 2, 15, config=entries)
    sleeps = [osd_settings(prepared(report), osd)["osd_recovery_sleep"] for osd in (0, 1, 4, 35)]
    # OSD 0 by its class, 1 by its number, 4 by its host (node-001); flash sleeps by another name.
    assert sleeps == [0.5, 0.4, 0.3, 0.0]
    ready = prepared(report, set_option="osd_recovery_sleep_hdd=0.2")
    assert [osd_settings(ready, osd)["osd_recovery_sleep"] for osd in (0, 1, 4)] == [0.2] * 3
    some = prepared(report, set_option="osd.4 osd_recovery_sleep_hdd=0.2")
    assert [osd_settings(some, osd)["osd_recovery_sleep"] for osd in (0, 1, 4)] == [0.5, 0.4, 0.2]


@pytest.mark.parametrize(
    ("stated", "removed"),
    [
        ("osd_max_backfills=4", ["osd.1", "osd/class:hdd"]),
        ("osd/class:hdd osd_max_backfills=4", ["osd.1"]),
        # OSD 1 is a disk, which this is not for.
        ("osd/class:ssd osd_max_backfills=4", []),
        ("osd.1 osd_max_backfills=4", []),
        ("osd.2 osd_max_backfills=4", []),
        ("global osd_max_backfills=4", ["osd.1", "osd", "osd/class:hdd"]),
    ],
)
def test_lines_to_paste_take_away_what_would_win_over_them(stated: str, removed: list[str]) -> None:
    entries = (
        ConfigEntry("osd.1", "", "osd_max_backfills", "2"),
        ConfigEntry("osd", "", "osd_max_backfills", "3"),
        ConfigEntry("osd", "class:hdd", "osd_max_backfills", "5"),
        ConfigEntry("mon", "", "osd_max_backfills", "7"),
        ConfigEntry("osd", "", "osd_recovery_sleep", "0"),
    )
    ready = prepared(of_release(16, 2, 15, config=entries), set_option=stated)
    lines = ready.steps[0].commands
    assert lines[:-1] == tuple(f"ceph config rm {who} osd_max_backfills" for who in removed)
    who = stated.rpartition(" ")[0] or "osd"
    assert lines[-1] == f"ceph config set {who} osd_max_backfills 4"


def test_the_kind_of_device_decides_how_long_it_sleeps() -> None:
    ready = prepared(of_release(16, 2, 15), set_option="osd_recovery_sleep=0.05")
    assert [osd_settings(ready, osd)["osd_recovery_sleep"] for osd in (DISK, FLASH)] == [0.05] * 2
    metadata = (OsdMetadata(0, rotational=True, journal_rotational=False),)
    ready = prepared(of_release(16, 2, 15, metadata=metadata))
    assert osd_settings(ready, 0)["osd_recovery_sleep"] == 0.025
    assert osd_settings(ready, 1)["osd_recovery_sleep"] == 0.1
    metadata = (OsdMetadata(0, rotational=False, min_alloc_bytes=8192),)
    ready = prepared(of_release(18, 2, 4, metadata=metadata))
    assert osd_settings(ready, 0)["osd_recovery_max_active"] == 10
    assert ready.input["osds"][0]["min_alloc_bytes"] == 8192


def assumed(ready: Any, name: str) -> list[tuple[str, str, str]]:
    return [(one.value, one.origin, one.sentence) for one in ready.assumptions if one.name == name]


def test_under_mclock_what_is_set_has_no_effect_and_under_wpq_it_holds() -> None:
    report = of_release(18, 2, 4)
    ready = prepared(report, set_option=["osd_max_backfills=4", "osd_recovery_max_active_hdd=8"])
    found = osd_settings(ready, DISK)
    assert (found["osd_max_backfills"], found["osd_recovery_max_active"]) == (1, 3)
    told = [sentence for _, _, sentence in assumed(ready, "osd_max_backfills")]
    assert told and "osd_max_backfills = 4 (osd) has no effect, as mClock resets it" in told[0]
    assert "set osd_mclock_override_recovery_settings to true first" in told[0]
    options = ["osd_max_backfills=4", "osd_mclock_override_recovery_settings=true"]
    ready = prepared(report, set_option=options)
    found = osd_settings(ready, DISK)
    assert (found["osd_max_backfills"], found["osd_recovery_max_active"]) == (4, 3)
    # The first Quincy has no such setting.
    ready = prepared(of_release(17, 2, 5), set_option=options[0])
    assert osd_settings(ready, DISK)["osd_max_backfills"] == 1000
    assert "lets nobody change that" in assumed(ready, "osd_max_backfills")[0][2]
    with pytest.raises(ConfigError, match=r"since 17\.2\.6, and this cluster runs 17\.2\.5"):
        prepared(of_release(17, 2, 5), set_option=options[1])
    options = ["osd_op_queue=wpq", "osd_max_backfills=4", "osd_recovery_max_active=7"]
    found = osd_settings(prepared(of_release(18, 2, 4), set_option=options), DISK)
    assert (found["osd_max_backfills"], found["osd_recovery_max_active"]) == (4, 7)
    assert (found["queue"]["kind"], found["osd_recovery_sleep"]) == ("wpq", 0.1)
    assert found["queue"]["osd_recovery_cost"] == 20 * 2**20


def test_each_setting_has_an_origin() -> None:
    entries = (ConfigEntry("mon", "", "mon_osd_down_out_interval", "900"),)
    report = of_release(18, 2, 4, config=entries)
    ready = prepared(report, set_option="osd_recovery_max_chunk=4M")
    assert assumed(ready, "mon_osd_down_out_interval")[0][:2] == ("15 min 0 s", "config")
    assert assumed(ready, "osd_recovery_max_chunk")[0][:2] == ("4 MiB", "stated")
    assert assumed(ready, "osd_heartbeat_grace")[0][:2] == ("20.0 s", "release default")
    assert ready.input["settings"]["mon_osd_down_out_interval"] == 900
    # Of OSDs of which some have another value, both are told, with whose they are.
    both = prepared(report, set_option="osd.3 osd_recovery_max_chunk=4M")
    rows = [one for one in both.assumptions if one.name == "osd_recovery_max_chunk"]
    told = [(one.value, one.applies_to) for one in rows]
    assert told == [("4 MiB", "osd.3"), ("8 MiB", "35 OSDs")]


@pytest.mark.parametrize(
    ("stated", "release", "origin"),
    [("", "18.2.4", "dump"), ("reef", "18.2.7", "stated"), ("17.2.5", "17.2.5", "stated")],
)
def test_the_release_is_stated_else_the_dumps(stated: str, release: str, origin: str) -> None:
    ready = prepared(of_release(18, 2, 4), Request(release=stated))
    assert assumed(ready, "release")[0][:2] == (release, origin)
    assert ready.facts.release == release


def test_a_release_is_assumed_and_told_where_none_is_known() -> None:
    report = replace(small_report(), release=None, require_osd_release="")
    assert assumed(prepared(report), "release")[0][:2] == ("19.2.3", "assumed")
    named = replace(report, require_osd_release="quincy")
    assert assumed(prepared(named), "release")[0][:2] == ("17.2.9", "assumed")
    entries = (ConfigEntry("osd", "", "osd_recovery_max_active_hdd", "9"),)
    found = osd_settings(prepared(of_release(14, 2, 22, config=entries)), DISK)
    assert found["osd_recovery_max_active"] == 3
    found = osd_settings(prepared(of_release(15, 2, 17, config=entries)), DISK)
    assert found["osd_recovery_max_active"] == 9


def test_every_setting_and_every_value_of_a_dump_is_read_by_its_kind() -> None:
    entries = (ConfigEntry("osd", "class:hdd", "osd_max_backfills", "many"),)
    assert "config dump, osd/class:hdd" in refused(prepared, of_release(18, 2, 4, config=entries))
    for setting in SETTINGS.values():
        for _, value in setting.defaults:
            text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
            assert setting.parse(text) == value


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))
def test_a_setting_is_known_from_its_first_release_to_its_last(setting: Setting) -> None:
    """A release on either side of each end: what is outside is refused and says which release."""
    value = setting.defaults[-1][1]
    text = f"{setting.name}={'true' if value is True else 'false' if value is False else value}"
    major, minor, patch = setting.span.since
    if major:
        before = (major, minor, patch - 1) if patch else (major - 1, 2, 9)
        with pytest.raises(ConfigError, match=f"since {version(setting.span.since)}"):
            read_setting(text, before)
        assert read_setting(text, setting.span.since).name == setting.name
    if (until := setting.span.until) is not None:
        with pytest.raises(ConfigError, match=f"before {version(until)}"):
            read_setting(text, until)
    else:
        assert read_setting(text, (30, 2, 0)).name == setting.name


@pytest.mark.parametrize(
    ("release", "word", "says"),
    [
        ((10, 2, 7), "mclock_scheduler", "since 15.2.0"),
        ((10, 2, 7), "mclock_opclass", "since 12.2.0 and before 15.2.0"),
        ((18, 2, 4), "mclock_client", "since 12.2.0 and before 15.2.0"),
        ((18, 2, 4), "prio", "before 12.2.0"),
    ],
)
def test_a_word_has_its_releases_too(release: Any, word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_setting(f"osd_op_queue={word}", release)
