"""`resilver what-if` where an OSD has more PGs than it takes on, or a rule gives up too early."""

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.crush import CrushMap
from resilver.importers import read_cluster
from tests.reference.ceph_bundles import Bundle, crush_text, up_sets, write_bundle
from tests.terminal import command, json_output, written

HARD = Bundle(
    hosts={f"h{at}": [2.0] * 4 for at in range(4)},
    steps=("take default", "chooseleaf firstn 0 type host", "emit"),
    pool={"size": 3, "min_size": 2},
    pg_num=1024,
    objects=2,
    # osd.16 runs and has no place in the CRUSH map yet.
    osdmap={
        "max_osd": 17,
        "osds": [{"osd": osd, "up": 1, "in": 1, "weight": 1} for osd in range(17)],
    },
)
LARGE = replace(HARD, hosts={**HARD.hosts, "h4": [18.0]})
"""With a fifth host of one large OSD, osd.16."""


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "dumps", HARD)


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    return written(tmp_path / "larger.txt", crush_text(LARGE))


def wanted_of(dumps: Path, osd: int) -> int:
    """PGs that the larger map gives an OSD."""
    crush = written(dumps.parent / "crush17.json", CrushMap.from_text(crush_text(LARGE)).to_json())
    return sum(osd in row for row in up_sets(read_cluster(dumps / "osd_dump.json", crush=crush)))


answered = functools.partial(json_output, "what-if", code=None)


def stuck(found: dict[str, Any]) -> list[str]:
    return [row["state"] for row in found["tables"]["stuck"]]


# Rule: an OSD takes on 250 x 3 PGs; what it is to have beyond stays activating and serves nobody.
def test_pgs_beyond_the_hard_limit_stay_activating(dumps: Path, larger: Path) -> None:
    wanted = wanted_of(dumps, 16)
    assert wanted > 750
    found = answered(dumps, "--map", larger, "--load", "rbd: 100 reads/s of 4 KiB")
    assert stuck(found) == ["activating+remapped"] * (wanted - 750)
    assert found["tables"]["timeline"][-1]["inactive_groups"] == wanted - 750
    shown = " ".join(command("what-if", dumps, "--map", larger).stdout.split())
    assert f"osd.16 is to have {wanted} PGs and takes on no more than 750" in shown
    assert "All data is in its place" not in shown
    # What it names is enough.
    (ratio,) = re.findall(r"a ratio of ([0-9.]+) lets them in", shown)
    option = f"osd_max_pg_per_osd_hard_ratio={ratio}"
    assert 250 * (float(ratio) - 0.1) < wanted <= 250 * float(ratio)
    assert stuck(answered(dumps, "--set-option", option, "--map", larger)) == []


@pytest.mark.parametrize("option", ["osd_max_pg_per_osd_hard_ratio=4", "mon_max_pg_per_osd=400"])
def test_a_higher_limit_lets_them_in(dumps: Path, larger: Path, option: str) -> None:
    found = answered(dumps, "--set-option", option, "--map", larger)
    assert stuck(found) == [] and found["answer"]["whole_seconds"] is not None
    later = answered(dumps, "--map", larger, "--set-option", f"osd {option} @ 6 h")
    assert stuck(later) == []
    assert later["tables"]["pools"][0]["inactive_seconds"] == 6 * 3600


def test_the_limit_is_the_releases_and_the_configurations(tmp_path: Path, larger: Path) -> None:
    # Before 12.2.2 there was none; 12.2.2 had 200 x 2.
    for version, most in (("12.2.1", 0), ("12.2.2", 400), ("12.2.13", 750)):
        dumps = write_bundle(tmp_path / version, replace(HARD, version=version))
        beyond = wanted_of(dumps, 16) - most if most else 0
        assert len(stuck(answered(dumps, "--map", larger))) == beyond, version
    config = (("osd", "osd_max_pg_per_osd_hard_ratio", "3.2"),)
    dumps = write_bundle(tmp_path / "config", replace(HARD, config=config))
    assert len(stuck(answered(dumps, "--map", larger))) == wanted_of(dumps, 16) - 800


# Rule: an OSD has room again when what it has left over is deleted.
def test_a_pg_is_taken_on_when_another_is_gone(dumps: Path) -> None:
    sets = up_sets(read_cluster(dumps))
    held = {osd: sum(osd in row for row in sets) for osd in range(4)}
    first, second, *_, full = sorted(held, key=lambda osd: held[osd])
    leaves = next(number for number, row in enumerate(sets) if full in row)
    comes = next(number for number, row in enumerate(sets) if second in row)
    config = (
        ("global", "mon_max_pg_per_osd", str(held[full])),
        ("osd", "osd_max_pg_per_osd_hard_ratio", "1"),
    )
    tight = write_bundle(dumps.parent / "tight", replace(HARD, config=config))
    # All on one host: one PG comes to the OSD that is at its limit, and one leaves it.
    words = ["--upmap", f"1.{comes:x} {second} {full}"]
    alone = answered(tight, *words)
    assert stuck(alone) == ["activating+remapped"]
    both = answered(tight, *words, "--upmap", f"1.{leaves:x} {full} {first}")
    assert stuck(both) == [] and both["tables"]["pools"][0]["inactive_seconds"] > 0


CODED = Bundle(
    hosts={f"h{at}": [4.0 if at < 7 else 1.0 if at == 7 else 0.4] for at in range(9)},
    steps=("take default", "chooseleaf indep 0 type host", "emit"),
    pool={"size": 9, "min_size": 7, "erasure_code_profile": "ec63", "stripe_width": 24576},
    osdmap={"erasure_code_profiles": {"ec63": {"k": "6", "m": "3", "plugin": "jerasure"}}},
    coded=True,
)


def short_of(folder: Path, bundle: Bundle, tries: int) -> int:
    """How many sets have a hole under a number of tries, placed by a map whose rule says so."""
    crush = folder / f"crush-{tries}.json"
    steps = (f"set_choose_tries {tries}", *bundle.steps)
    text = crush_text(replace(bundle, steps=steps))
    crush.write_text(CrushMap.from_text(text).to_json(), encoding="utf-8")
    sets = up_sets(read_cluster(folder / "dumps" / "osd_dump.json", crush=crush))
    return sum(any(osd >= 9 for osd in row) or len(row) < 9 for row in sets)


def test_a_rule_that_gives_up_too_early_is_told_its_tries_where_hosts_suffice(
    tmp_path: Path,
) -> None:
    dumps = write_bundle(tmp_path / "dumps", CODED)
    stuck = answered(dumps, "--horizon", "1 h")["tables"]["stuck"]
    # The tunable choose_total_tries 50 does not count the first try.
    assert len(stuck) == short_of(tmp_path, CODED, 51) > 0
    (tries,) = {re.search(r"set_choose_tries ([0-9]+)", row["reason"])[1] for row in stuck}
    assert short_of(tmp_path, CODED, int(tries)) == 0 < short_of(tmp_path, CODED, int(tries) - 1)
    shown = " ".join(command("what-if", dumps, "--horizon", "1 h").stdout.split())
    assert f"step set_choose_tries {tries}" in shown
    # Where hosts are too few no tries are promised.
    dumps = write_bundle(tmp_path / "dumps", CODED)
    stuck = answered(dumps, "--fail", "host=h0", "--horizon", "1 h")["tables"]["stuck"]
    assert len(stuck) == 256
    assert not any("tries" in row["reason"] for row in stuck)
