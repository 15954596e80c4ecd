"""`resilver what-if` for pools of Ceph's plugins: what recovery reads, and what is lost."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resilver.data_loss.cluster import Osds, cluster_pools
from resilver.importers import read_cluster
from tests.reference.ceph_bundles import OBJECT_BYTES, Bundle, up_sets, write_bundle
from tests.terminal import command, json_output

CODED = Bundle(
    hosts={f"h{at:02}": [2.0] for at in range(20)},
    steps=("set_choose_tries 100", "take default", "chooseleaf indep 0 type host", "emit"),
    pool={},
    pg_num=128,
    # Queues of this kind have no limit of their own, so that devices limit recovery.
    config=(("osd", "osd_op_queue", "wpq"), ("osd", "osd_max_backfills", "16")),
    coded=True,
)
JERASURE = {"plugin": "jerasure", "k": "4", "m": "2"}
CLAY = {"plugin": "clay", "k": "4", "m": "2"}
LRC = {"plugin": "lrc", "k": "4", "m": "2", "l": "3"}


def bundle(folder: Path, size: int, profile: dict[str, str], **changed: Any) -> Path:
    pool = {"size": size, "min_size": 5, "erasure_code_profile": "p", "stripe_width": 16384}
    osdmap = {"erasure_code_profiles": {"p": profile}}
    return write_bundle(folder, replace(CODED, pool=pool, osdmap=osdmap, **changed))


answered = functools.partial(json_output, "what-if", code=None)


def recovery(folder: Path, size: int, profile: dict[str, str]) -> tuple[float, int, int]:
    """(shards read, shards made, PGs that move another one besides) of a lost OSD."""
    answer = answered(bundle(folder, size, profile), "--out", "osd.0", "--fail", "osd.0")
    assert not [note for note in answer["notes"] if "plugin" in note]
    (pool,) = answer["tables"]["pools"]
    sent = sum(row["sent_bytes"] for row in answer["tables"]["osds"])
    counts = (sent, pool["recovered_bytes"], pool["moved_bytes"])
    read, rebuilt, moved = (count / (CODED.objects * OBJECT_BYTES / 4) for count in counts)
    lost = sum(0 in row for row in up_sets(read_cluster(folder)))
    assert (rebuilt, moved) == (lost, round(moved))
    return read, lost, round(moved)


def seconds(folder: Path, size: int, profile: dict[str, str], place: int) -> float:
    """How long the only PG takes to make the shard of a place, where the network limits it."""
    dumps = bundle(folder, size, profile, pg_num=1)
    (row,) = up_sets(read_cluster(dumps))
    lost = f"osd.{row[place]}"
    words = ("--out", lost, "--stop", lost, "--network", "1 Gb/s")
    whole = answered(dumps, *words)["answer"]["whole_seconds"]
    assert isinstance(whole, float)
    return whole


# Rule: a lone shard of k = 4, m = 2 takes 4 whole ones of jerasure and halves of 5 of Clay: 2.5.
# Where another shard of the PG moves too, as CRUSH places it anew, both are made of 4 whole ones.
def test_clay_reads_less_than_jerasure(tmp_path: Path) -> None:
    read, lost, _ = recovery(tmp_path / "plain", 6, JERASURE)
    assert read == 4 * lost
    read, lost, moved = recovery(tmp_path / "clay", 6, CLAY)
    assert read == 2.5 * (lost - moved) + 4 * moved
    read, lost, _ = recovery(tmp_path / "d4", 6, {**CLAY, "d": "4"})
    assert read == 4 * lost


# Rule: the primary, at place 0, is one of those that are read. Its port takes 3 whole shards of
# jerasure, and the halves of 4 of Clay: two thirds of the time, but for what does not move.
def test_clay_is_faster_than_jerasure(tmp_path: Path) -> None:
    plain = seconds(tmp_path / "plain", 6, JERASURE, 5)
    assert plain / seconds(tmp_path / "clay", 6, CLAY, 5) == pytest.approx(1.5, rel=0.05)


# Rule: of k = 4, m = 2, l = 3 each of the 8 shards is made of the 3 others of its group, and of
# jerasure of 4; but for the primary's own these are 2 and 3.
def test_lrc_reads_its_local_layer(tmp_path: Path) -> None:
    read, lost, _ = recovery(tmp_path / "lrc", 8, LRC)
    assert read == 3 * lost
    layers = '[ [ "DDc_DDc_", "" ], [ "DDDc____", "" ], [ "____DDDc", "" ], ]'
    stated = {"plugin": "lrc", "mapping": "DD__DD__", "layers": layers}
    assert recovery(tmp_path / "layers", 8, stated)[0] == read
    plain = seconds(tmp_path / "plain", 8, {**JERASURE, "m": "4"}, 1)
    assert plain / seconds(tmp_path / "one", 8, LRC, 1) == pytest.approx(1.5, rel=0.05)


def lost_groups(dumps: Path, places: list[int]) -> int:
    """PGs that are lost with the OSDs at these places of the only PG."""
    (row,) = up_sets(read_cluster(dumps))
    answer = answered(dumps, "--fail", ",".join(f"osd.{row[place]}" for place in places))
    return int(answer["tables"]["pools"][0]["lost_groups"])


# Rule: layers DDc_DDc_, DDDc____ and ____DDDc are decoded from the last to the first, once.
@pytest.mark.parametrize(
    ("places", "lost", "of_others"),
    [
        # 0 and its local parity 3: the global layer restores 0, and nothing then 3.
        ([0, 3], 1, 0),
        # 0 by its local layer, 4 and 5 by the global one; of k = 4, m = 2 three are too many.
        ([0, 4, 5], 0, 1),
        # Four shards are left, as many as hold the data of jerasure's k = 4.
        ([0, 1, 2, 3], 1, 0),
    ],
)
def test_an_lrc_loses_what_its_layers_do_not_restore(
    tmp_path: Path, places: list[int], lost: int, of_others: int
) -> None:
    dumps = bundle(tmp_path / "lrc", 8, LRC, pg_num=1)
    assert lost_groups(dumps, places) == lost
    parity = "2" if len(places) == 3 else "4"
    size = 4 + int(parity)
    other = bundle(tmp_path / "other", size, {**JERASURE, "m": parity}, pg_num=1)
    assert lost_groups(other, places) == of_others


# Rule: an lrc's data is not first in a set: pieces of DDc_DDc_ are shards 0, 1, 4, 5, 2, 3, 6, 7.
@pytest.mark.parametrize(
    ("profile", "code"),
    [
        (LRC, "ceph lrc 4+2 local 3"),
        (
            {
                "plugin": "lrc",
                "mapping": "DD-DD--",
                "layers": '[["DDcDDc_", "plugin=isa"],["DDD___c",""],]',
            },
            "ceph lrc DDcDDc_ DDD___c",
        ),
        ({"plugin": "shec", "technique": "single"}, "shec 4+3 c 2 single"),
        ({"plugin": "shec", "k": "5", "m": "2", "c": "1", "technique": "other"}, "shec 5+2 c 1"),
    ],
)
def test_durability_and_anonymous_dumps_have_the_same_code(
    tmp_path: Path, profile: dict[str, str], code: str
) -> None:
    dumps = bundle(tmp_path / "dumps", 8 if profile is LRC else 7, profile, pg_num=1)
    report = read_cluster(dumps)
    (row,) = up_sets(report)
    (pool,) = cluster_pools(report, Osds(report))[0]
    assert pool.code == code
    if profile is LRC:
        assert pool.sets.tolist() == [[row[place] for place in (0, 1, 4, 5, 2, 3, 6, 7)]]
    command("import", "ceph", dumps, "-o", tmp_path / "other.tar", "--anonymise", "-q")
    assert read_cluster(tmp_path / "other.tar").pools[0].code == code
