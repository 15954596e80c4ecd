"""Objects that failures make unreadable: counted, and held against placing every object."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from resilver import ConfigError, Study, redundancy
from resilver.crush import CrushMap
from resilver.errors import Interrupted
from resilver.simulate import (
    LostObjects,
    affected,
    group_sets_of,
    lost_objects,
    place_objects,
    unrecoverable,
)
from resilver.spec import System
from tests.build import STREAMED, refused
from tests.build import system_of as striped_system
from tests.reference.draws import mix, upper_half
from tests.reference.layouts import layout_of
from tests.reference.losses import OBJECTS_A_FILE, file_sizes, object_sizes

CODES = ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3"]
LAYOUTS: dict[str, dict[str, Any]] = {
    "groups": {"algorithm": "groups", "group_size": 16},
    "spares": {"algorithm": "groups", "group_size": 16, "spare": "dedicated", "spares": 2},
    "declustered": {"algorithm": "declustered", "parity_groups": 96},
    "copysets": {"algorithm": "copysets"},
    "ring": {"algorithm": "ring", "ring_points": 64, "placement_groups": "none"},
    "rendezvous": {"algorithm": "rendezvous"},
    "crush": {"algorithm": "crush", "placement_groups": "none"},
    "straw": {"algorithm": "crush", "placement_groups": "none", "bucket": "straw"},
}


def system_of(code: str, placement: dict[str, Any], **cluster: Any) -> System:
    """Some 1,700 objects of up to 3 MiB on 48 servers."""
    bins = [["0 B", "4 KiB", 40], ["4 KiB", "2 MiB", 30], ["2 MiB", "20 MiB", 8]]
    description = {
        "cluster": {"servers": 48, **cluster},
        "population": {"histogram": {"bins": bins}, "objects": {"chunk": "3 MiB"}, "files": 700},
        "placement": placement,
        "redundancy": {"code": code},
    }
    return Study.from_dict(description).runs()[0].system


def positions_of(system: System, seed: int, number: int) -> list[int]:
    """Where the pieces of an object are, without the code under test."""
    placement = system.placement
    if placement.algorithm != "crush":
        row = layout_of(system, seed)(number, frozenset())
        return row + [-1] * (system.copies - len(row))
    cluster = CrushMap.flat(system.server_count, placement.bucket or "straw2").for_codes()
    inputs = np.array([upper_half(mix(number))], dtype=np.uint32)
    return [
        device if device < system.server_count else -1
        for device in cluster.map_rule(0, inputs, system.copies)[0].tolist()
    ]


def counted(system: System, failed: set[int], seed: int) -> LostObjects:
    """The counts, by placing every object of the population."""
    code = redundancy(system.code.label)
    losses: Counter[int] = Counter()
    objects = size_bytes = pieces = lost = lost_bytes = 0
    for file, file_size in enumerate(file_sizes(system, seed)):
        for place, size in enumerate(object_sizes(system, file_size)):
            row = positions_of(system, seed, file * OBJECTS_A_FILE + place)
            if failed.isdisjoint(row):
                continue
            lacking = [i for i, device in enumerate(row) if device in failed or device == -1]
            objects, size_bytes = objects + 1, size_bytes + size
            pieces += sum(device in failed for device in row)
            losses[len(lacking)] += 1
            if not code.is_survivable(lacking):
                lost, lost_bytes = lost + 1, lost_bytes + size
    return LostObjects(objects, size_bytes, pieces, dict(sorted(losses.items())), lost, lost_bytes)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_counts_are_those_of_placing_every_object(code: str, layout: str) -> None:
    # Rule: for every code and layout, and failures below and beyond what the code survives, the
    # counts equal those of placing every object and asking the code of it.
    system = system_of(code, LAYOUTS[layout])
    for failed in ([5], [3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6, 30]):
        assert lost_objects(system, failed, seed=3) == counted(system, set(failed), 3)


def test_objects_in_placement_groups_are_lost_with_their_groups() -> None:
    # Rule: with placement groups, what is lost is what the groups lost hold.
    system = system_of("rs 8+3", {"algorithm": "crush", "placement_groups": 64}, racks=12)
    # Three of twelve racks and half of a fourth: eleven pieces lack from two to four.
    failed = list(range(14))
    groups = group_sets_of(system)
    lacking = (np.isin(groups, failed) | (groups == -1)).sum(axis=1)
    table = affected(system, failed)
    group_of = [mix(number) % 64 for number in table["object"].to_pylist()]
    expected = [bool(lacking[group] > 3) for group in group_of]
    found = lost_objects(system, failed)
    assert 0 < found.unrecoverable_objects == sum(expected) < len(expected)
    assert unrecoverable(system, table["object"].to_numpy(), failed).tolist() == expected


def test_what_fails_nowhere_loses_nothing_and_what_cannot_be_is_refused() -> None:
    system = system_of("rs 8+3", LAYOUTS["groups"])
    assert lost_objects(system, []) == LostObjects(0, 0, 0, {}, 0, 0)
    assert unrecoverable(system, [], [3]).tolist() == []
    # All of a group of 16 fail: every object with a piece there has all of them there.
    whole = lost_objects(system, list(range(16)))
    assert whole.objects_by_losses == {11: whole.affected_objects}
    assert whole.unrecoverable_bytes == whole.affected_bytes > 0
    assert "failed = 'server.48'" in refused(lost_objects, system, ["server.48"])
    assert "failed = 48" in refused(unrecoverable, system, [1], [48])
    with pytest.raises(Interrupted):
        lost_objects(system, [1], progress=lambda _: False)
    description = {
        "cluster": {"servers": 4, "fabric": {"routers": 2}},
        "traffic": {"outstanding": 1, "duration": "1 ms"},
    }
    nothing = Study.from_dict(description).runs()[0].system
    assert "population: nothing is stored in this study" in refused(lost_objects, nothing, [1])
    # The groups that streams go over hold nothing either.
    with pytest.raises(ConfigError, match="population: nothing is stored in this study"):
        place_objects(striped_system(STREAMED), seed=1, first=0, count=3)
