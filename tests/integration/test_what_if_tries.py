"""`resilver what-if` where a rule gives up before it has found an OSD for every place."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from resilver.crush import CrushMap
from resilver.importers import read_cluster
from tests.front_door import command
from tests.reference.ceph_bundles import Bundle, crush_text, up_sets, write_bundle

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


def test_a_rule_that_gives_up_too_early_is_told_the_tries_it_needs(tmp_path: Path) -> None:
    dumps = write_bundle(tmp_path / "dumps", CODED)
    done = command("what-if", dumps, "--horizon", "1 h", "--json")
    stuck = json.loads(done.stdout)["tables"]["stuck"]
    # The tunable choose_total_tries 50 does not count the first try.
    assert len(stuck) == short_of(tmp_path, CODED, 51) > 0
    (tries,) = {re.search(r"set_choose_tries ([0-9]+)", row["reason"])[1] for row in stuck}
    assert short_of(tmp_path, CODED, int(tries)) == 0 < short_of(tmp_path, CODED, int(tries) - 1)
    shown = " ".join(command("what-if", dumps, "--horizon", "1 h").stdout.split())
    assert f"step set_choose_tries {tries}" in shown


def test_where_hosts_are_too_few_no_tries_are_promised(tmp_path: Path) -> None:
    dumps = write_bundle(tmp_path / "dumps", CODED)
    done = command("what-if", dumps, "--fail", "host=h0", "--horizon", "1 h", "--json")
    stuck = json.loads(done.stdout)["tables"]["stuck"]
    assert len(stuck) == 256
    assert not any("tries" in row["reason"] for row in stuck)
