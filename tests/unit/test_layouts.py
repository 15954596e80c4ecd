"""Where objects and groups are, under every algorithm, and what is refused."""

from collections import Counter
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import ConfigError, Study, redundancy
from resilver.crush import CrushMap
from resilver.errors import Interrupted
from resilver.simulate import (
    LostObjects,
    affected,
    group_sets_of,
    lost_objects,
    parity_group_balance,
    place_objects,
    unrecoverable,
)
from resilver.spec import System
from tests.build import STREAMED, refused
from tests.build import system_of as striped_system
from tests.reference.draws import mix, upper_half
from tests.reference.layouts import LAYOUTS, layout_of, parity_group
from tests.reference.losses import OBJECTS_A_FILE, Layout, file_sizes, object_sizes
from tests.unit.test_affected import system_of


def system(
    servers: int = 12, replicas: int = 3, racks: int | None = None, **placement: Any
) -> System:
    cluster = {"servers": servers} if racks is None else {"servers": servers, "racks": racks}
    description = {
        "cluster": cluster,
        "population": {"file_size": "1 MiB", "files": 1},
        "placement": placement,
        "redundancy": {"replicas": replicas},
    }
    return Study.from_dict(description).runs()[0].system


def sets_of(rows: np.ndarray[Any, Any]) -> list[list[int]]:
    return [[server for server in row if server >= 0] for row in rows.tolist()]


# Sizes for which the parity groups come from each construction, with how many groups then share a
# pair of servers: affine lines (9, 16), triples (15), a projective plane (13 with 4), cosets (13
# with 3), affine images (7 with 2), all (10).
SHAPES = {
    (9, 3): 1, (16, 4): 1, (15, 3): 1, (13, 4): 1, (13, 3): 1, (11, 5): 2, (10, 3): 8, (5, 1): 0,
    (7, 2): 1, (4, 4): 1, (17, 5): 5,
}  # fmt: skip


# Fixed groups need a size; what else they do, the tests of groups say.
WHOLE = {name: place for name, place in LAYOUTS.items() if name != "groups"}


@pytest.mark.parametrize("algorithm", WHOLE)
def test_objects_are_where_the_plain_twin_puts_them(algorithm: str) -> None:
    points = {"ring_points": 20} if algorithm in ("ring", "multi_ring", "xor") else {}
    for servers, replicas in SHAPES:
        at = system(servers, replicas, algorithm=algorithm, **points)
        place = layout_of(at, 5)
        for failed in ([], [1], [0, servers - 1, 2]):
            rows = sets_of(place_objects(at, 5, 2**40, 60, failed))
            expected = [place(number, set(failed)) for number in range(2**40, 2**40 + 60)]
            assert rows == expected, f"{servers} servers, {replicas} replicas, {failed} failed"


@settings(max_examples=80)
@given(
    algorithm=st.sampled_from(sorted(WHOLE)),
    racks=st.integers(2, 7),
    size=st.integers(1, 6),
    replicas=st.integers(1, 4),
    first=st.integers(0, 2**64 - 21),
    seed=st.integers(0, 2**64 - 1),
    failed=st.sets(st.integers(0, 41), max_size=6),
)
def test_racks_are_kept_apart_as_the_plain_twin_does(
    algorithm: str, racks: int, size: int, replicas: int, first: int, seed: int, failed: set[int]
) -> None:
    servers, replicas = racks * size, min(replicas, racks)
    keys: dict[str, Any] = {}
    if algorithm in ("ring", "multi_ring", "xor"):
        keys["ring_points"] = 9
    if algorithm == "copysets":
        keys["scatter_width"] = min(5, servers - 1)
    at = system(servers, replicas, racks, algorithm=algorithm, **keys)
    out = {server for server in failed if server < servers}
    rows = sets_of(place_objects(at, seed, first, 20, sorted(out)))
    place = layout_of(at, seed)
    assert rows == [place(number, out) for number in range(first, first + 20)]
    for row in rows:
        assert len({server // size for server in row}) == len(row) and not out & set(row)


def test_objects_by_crush_and_in_groups_are_where_the_plain_twin_puts_them() -> None:
    for placement in (
        {"algorithm": "crush", "placement_groups": "none"},
        {"algorithm": "crush", "placement_groups": 64},
        {"algorithm": "rendezvous", "placement_groups": 50},
        {"algorithm": "crush", "bucket": "list", "placement_groups": 16},
        {"algorithm": "crush", "bucket": "tree", "placement_groups": 16},
        {"algorithm": "crush", "bucket": "uniform", "placement_groups": 16},
    ):
        at = system(**placement)
        twin = Layout(at, 1)
        for failed in ([], [4]):
            rows = sets_of(place_objects(at, 1, 0, 100, failed))
            assert rows == [twin.set_of_object(n, frozenset(failed)) for n in range(100)]
            if at.placement_group_count is not None:
                groups = sets_of(group_sets_of(at, failed))
                assert len(groups) == at.placement_group_count
                assert groups == [
                    twin.set_of_group(n, frozenset(failed)) for n in range(len(groups))
                ]


@pytest.mark.parametrize(
    ("servers", "replicas", "shared"),
    [*((*shape, pairs) for shape, pairs in SHAPES.items()), (33, 3, 1), (25, 5, 1), (31, 6, 1)],
)
def test_parity_groups_share_every_pair_equally(servers: int, replicas: int, shared: int) -> None:
    at = system(servers, replicas, algorithm="declustered")
    balance, groups = parity_group_balance(at), dict[int, set[int]]()
    # Of 20 objects a group none has one with a chance of e^-20, 2e-9.
    for number, row in enumerate(place_objects(at, 5, 0, 20 * balance.groups).tolist()):
        group, _ = parity_group(number, balance.groups, replicas)
        assert groups.setdefault(group, {*row}) == {*row} and len({*row}) == replicas
    assert len(groups) == balance.groups
    pairs = Counter(pair for group in groups.values() for pair in combinations(sorted(group), 2))
    counts = {pairs[pair] for pair in combinations(range(servers), 2)}
    assert counts == {balance.pairs_min} == {balance.pairs_max} == {shared}
    # Each server meets each other so often, and as many of them in each of its groups.
    load = shared * (servers - 1) // (replicas - 1) if replicas > 1 else 1
    assert {load} == {*Counter(chain(*groups.values())).values()}
    assert balance.load_min == balance.load_max == load


def test_parity_groups_of_a_number_are_even_and_a_seed_draws_copysets_alone() -> None:
    # 1,000 groups of 3 on 50 servers are 60 each; 60 x 2 / 49 = 2.4 shared by a pair on average.
    balance = parity_group_balance(system(50, algorithm="declustered", parity_groups=1000))
    assert (balance.groups, balance.load_min, balance.load_max) == (1000, 60, 60)
    assert (balance.pairs_min, balance.pairs_max) == (2, 3)
    for algorithm in WHOLE:
        at = system(algorithm=algorithm)
        differ = (place_objects(at, 1, 0, 50) != place_objects(at, 2, 0, 50)).any()
        assert differ == (algorithm == "copysets"), algorithm


def test_what_has_no_answer_is_refused() -> None:
    at = system(algorithm="jump")
    assert "count = -1: an answer has at most" in refused(place_objects, at, 1, 0, -1)
    with pytest.raises(ConfigError, match="first = 18446744073709551615: identifiers"):
        place_objects(at, 1, 2**64 - 1, 2)
    with pytest.raises(ConfigError, match="failed = 12: servers are numbered from 0 to 11"):
        place_objects(at, 1, 0, 1, [12])
    assert "each object is placed on its own" in refused(group_sets_of, at)
    assert 'placement.algorithm = "jump": parity groups are' in refused(parity_group_balance, at)
    assert place_objects(at, 1, 2**64 - 1, 1).shape == (1, 3)
    assert place_objects(at, 1, 7, 0).shape == (0, 3)


# Fixed groups of servers: where pieces are, where they go, and what is refused.


in_groups = partial(system, algorithm="groups")


def rows_of(at: System, first: int, count: int, failed: list[int]) -> list[list[int]]:
    return sets_of(place_objects(at, 1, first, count, failed))


@settings(max_examples=60)
@given(
    groups=st.integers(1, 5),
    size=st.integers(1, 70),
    pieces=st.integers(1, 16),
    spares=st.integers(0, 3),
    first=st.integers(0, 2**63),
    order=st.lists(st.integers(0, 349), max_size=12, unique=True),
)
def test_pieces_are_where_the_plain_twin_puts_them(
    groups: int, size: int, pieces: int, spares: int, first: int, order: list[int]
) -> None:
    # Rule: for any groups, spares and failures in any order, every object is where the layout's
    # description puts it; sizes on both sides of 64, where the core's permutation has more room.
    spares = min(spares, size - 1)
    pieces = min(pieces, size - spares)
    keys = {"spare": "dedicated", "spares": spares} if spares else {}
    at = in_groups(groups * size, pieces, group_size=size, **keys)
    failed = [server for server in order if server < groups * size]
    place = layout_of(at, 1)
    out = dict.fromkeys(failed).keys()
    expected = [place(number, out) for number in range(first, first + 15)]
    assert rows_of(at, first, 15, failed) == expected


@settings(max_examples=30)
@given(
    racks=st.sampled_from([2, 3, 4, 6, 12]),
    spare=st.sampled_from(["distributed", "dedicated"]),
    failed=st.lists(st.integers(0, 47), max_size=6, unique=True),
)
def test_racks_are_kept_apart(racks: int, spare: str, failed: list[int]) -> None:
    # Rule: pieces lie in different racks before and after failures: two groups of 24 of 48 servers
    # lie in half of the racks each, or in both of two or of three.
    most = {2: 1, 3: 2, 4: 2, 6: 3, 12: 6}[racks]
    # With one spare the last rack of a group of four lacks none: all racks still hold data.
    at = in_groups(48, most, racks, group_size=24, spare=spare)
    place = layout_of(at, 1)
    out = dict.fromkeys(failed).keys()
    rows = rows_of(at, 7, 30, failed)
    assert rows == [place(number, out) for number in range(7, 37)]
    for row in rows:
        assert len({server // (48 // racks) for server in row}) == len(row)
        assert out.isdisjoint(row)


# Objects that failures make unreadable: counted, and held against placing every object.


CODES = ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3"]
STORED: dict[str, dict[str, Any]] = {
    "groups": {"algorithm": "groups", "group_size": 16},
    "spares": {"algorithm": "groups", "group_size": 16, "spare": "dedicated", "spares": 2},
    "declustered": {"algorithm": "declustered", "parity_groups": 96},
    "copysets": {"algorithm": "copysets"},
    "ring": {"algorithm": "ring", "ring_points": 64, "placement_groups": "none"},
    "rendezvous": {"algorithm": "rendezvous"},
    "crush": {"algorithm": "crush", "placement_groups": "none"},
    "straw": {"algorithm": "crush", "placement_groups": "none", "bucket": "straw"},
}


def stored(code: str, placement: dict[str, Any], **cluster: int) -> System:
    """Some 600 objects of up to 3 MiB on 48 servers."""
    return system_of(placement, {"files": 250}, code, servers=48, **cluster)


def positions_of(system: System, seed: int, number: int) -> list[int]:
    """Where the pieces of an object are, without the code under test."""
    placement, servers = system.placement, system.server_count
    if placement.algorithm != "crush":
        row = layout_of(system, seed)(number, frozenset())
        return row + [-1] * (system.copies - len(row))
    cluster = CrushMap.flat(servers, placement.bucket or "straw2").for_codes()
    inputs = np.array([upper_half(mix(number))], dtype=np.uint32)
    row = cluster.map_rule(0, inputs, system.copies)[0].tolist()
    return [device if device < servers else -1 for device in row]


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
@pytest.mark.parametrize("layout", STORED)
def test_the_counts_are_those_of_placing_every_object(code: str, layout: str) -> None:
    # Rule: for every code and layout, and failures below and beyond what the code survives, the
    # counts equal those of placing every object and asking the code of it.
    system = stored(code, STORED[layout])
    for failed in ([5], [3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6, 30]):
        assert lost_objects(system, failed, seed=3) == counted(system, set(failed), 3)


def test_objects_in_placement_groups_are_lost_with_their_groups() -> None:
    # Rule: with placement groups, what is lost is what the groups lost hold.
    system = stored("rs 8+3", {"algorithm": "crush", "placement_groups": 64}, racks=12)
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
    system = stored("rs 8+3", STORED["groups"])
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
