"""Six clusters and six studies: the named bottleneck, relaxed, ends it a fifth sooner, and no other
thing on the list by more; or nothing on the list helps, and nothing does.

The tests keep a few (tests/integration/test_what_if_bottleneck.py and test_assumptions.py). Here
devices and network of each cluster are held to a run of an input that is changed by other code.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.simulate.ceph import heal
from resilver.whatif.options import Request
from resilver.whatif.perform import changes_of, read_bundle
from resilver.whatif.request import prepare
from tests.front_door import command
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape

ROOT = Path(__file__).resolve().parents[1]
REAL = "ceph/ceph-report-jewel-88osd.json"
HDD = 8 * 10**12
CLUSTERS: dict[str, tuple[str | Shape, dict[str, str], dict[str, str]]] = {
    "real host": (REAL, {"fail": "host=cloud3-1359"}, {"fill": "60%"}),
    "real first mClock": (
        REAL,
        {"fail": "host=cloud3-1359"},
        {"fill": "60%", "release": "17.2.0"},
    ),
    "disks": (Shape(80, 8, 5, 0.3, 1000, hdd_bytes=HDD, balancer=False), {"fail": "osd.3"}, {}),
    "small, 200 Mb/s": (
        Shape(36, 4, 3, 0.08, 320, 0.5, balancer=False),
        {"fail": "osd.5"},
        {"network": "200 Mb/s"},
    ),
    "drain of flash": (
        Shape(80, 8, 5, 0.3, 1000, hdd_bytes=HDD, balancer=False, version="19.2.0"),
        {"drain": "osd.70"},
        {},
    ),
    "WPQ, returns": (
        Shape(60, 6, 5, 0.3, 600, 0.4, balancer=False, version="16.2.10"),
        {"stop": "osd.3", "start": "osd.3 @ 2 h"},
        {},
    ),
}
STUDIES = (
    "coded-rebuild-under-load",
    "one-pair",
    "rebuild-on-leaf-spine",
    "rebuild-on-loggp",
    "rebuild-on-torus",
    "second-failure",
)


def judged(said: str, shares: dict[str, float]) -> str:
    """What is named, which these shares allow; empty where none is."""
    best = max(shares, key=lambda name: shares[name])
    if "The bottleneck: " in said:
        named = said.partition("The bottleneck: ")[2].partition(". ")[0].partition(" (")[0]
        assert shares[named] >= 0.2 and shares[named] == shares[best], (named, shares)
        return named
    assert shares[best] < 0.2, (said, shares)
    assert ("Nothing on the list helps by 5 %" in said) == (shares[best] < 0.05), (said, shares)
    return ""


def doubled(value: Any, factors: dict[str, float]) -> Any:
    """JSON with numbers of these names multiplied, by a walk of its own."""
    text = json.dumps(value)
    return json.loads(
        text,
        object_pairs_hook=lambda pairs: {
            key: one * factors[key] if key in factors else one for key, one in pairs
        },
    )


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_names_what_a_rerun_shows(name: str, shared_data: Path, tmp_path: Path) -> None:
    of, changes, given = CLUSTERS[name]
    bundle = write_cluster(tmp_path / "c", of) if isinstance(of, Shape) else shared_data / of
    words = [w for key, one in (changes | given).items() for w in (f"--{key}", one)]
    done = command("what-if", bundle, *words, "--counterfactuals", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {row["relaxed"]: row for row in found["tables"]["counterfactuals"]}
    shares = {key: row["sooner_share"] for key, row in rows.items()}
    text = " ".join(command("what-if", bundle, *words, "--counterfactuals").stdout.split())
    print(name, found["answer"]["whole_seconds"], judged(text, shares) or "none", shares)
    # Devices and network once more, by an input that is changed here.
    ready = prepare(read_bundle(bundle), changes_of(changes), Request(**given))  # type: ignore[arg-type]
    for relaxed, factors in (
        ("devices", {"read_seconds": 0.5, "write_seconds": 0.5, "read_bytes_per_second": 2.0,
                     "write_bytes_per_second": 2.0}),
        ("network of a host", {"host_bytes_per_second": 2.0}),
    ):  # fmt: skip
        whole = heal(json.dumps(doubled(ready.input, factors))).tables["pools"]["whole_seconds"]
        assert rows[relaxed]["end_seconds"] == max(whole.to_pylist())


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_names_what_a_rerun_shows(name: str, tmp_path: Path) -> None:
    study = ROOT / "studies" / name / "study.toml"
    words = ("run", study, "-o", tmp_path / "run", "--set", "study.seeds=1", "--sensitivity")
    done = command(*words, "--json", timeout=900)
    assert done.returncode == 0, done.stderr
    effects = json.loads(done.stdout)["sensitivity"]
    shares = {
        one["assumption"]: -one[f"{one['relaxed']}_change"]
        for one in effects
        if one["relaxed"] and one[f"{one['relaxed']}_change"] is not None
    }
    named = judged(" ".join(command(*words).stdout.split()), shares)
    print(name, effects[0]["base_value"], named or "none", shares)
    for one in effects:
        if one["key"] == "cluster.fabric.link_rate" and one["assumption"] == "network rate":
            faster = f'{one["key"]}="{one["high"]}"'
            again = command(*words[:3], tmp_path / "faster", *words[4:6], "--set", faster, "--json")
            # Of a study that sweeps, the system of most devices is turned.
            times = [row["rebuild_seconds"] for row in json.loads(again.stdout)]
            assert one["high_value"] in times
