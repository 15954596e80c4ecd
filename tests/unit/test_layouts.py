"""Where objects and groups are, under every algorithm, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import ConfigError, Study
from resilver.simulate import group_sets_of, parity_group_balance, place_objects
from resilver.spec import System
from tests.build import refused
from tests.reference.designs import balanced_design
from tests.reference.layouts import LAYOUTS, layout_of, pair_counts
from tests.reference.losses import Layout


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


# Sizes for which the parity groups come from each construction: affine lines (9, 16), triples
# (15), a projective plane (13 with 4), cosets (13 with 3), affine images (7 with 2), all (10).
SHAPES = [(9, 3), (16, 4), (15, 3), (13, 4), (13, 3), (11, 5), (10, 3), (5, 1), (7, 2), (4, 4)]


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


@pytest.mark.parametrize(("servers", "replicas"), [*SHAPES, (33, 3), (25, 5), (31, 6), (17, 5)])
def test_parity_groups_share_every_pair_equally(servers: int, replicas: int) -> None:
    balance = parity_group_balance(system(servers, replicas, algorithm="declustered"))
    counts = pair_counts(balanced_design(servers, replicas), servers)
    assert (balance.pairs_min, balance.pairs_max) == (min(counts), max(counts))
    assert balance.pairs_min == balance.pairs_max and balance.load_min == balance.load_max


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
