"""Codes of Ceph's plugins against small oracles, written from Ceph's pages."""

from itertools import combinations

import pytest

import resilver
from resilver.spec.code import code_of
from tests.build import refused
from tests.reference.codes import INVERSES, PRODUCTS, is_survivable


def layers_of(data: int, parity: int, local: int) -> list[str]:
    """The layers that the plugin makes of k, m and l, as its page describes the shards' order."""
    groups = (data + parity) // local
    each = "D" * (data // groups) + "c" * (parity // groups) + "_"
    own = "D" * local + "c"
    empty = "_" * len(own)
    return [each * groups, *(empty * at + own + empty * (groups - 1 - at) for at in range(groups))]


def restores(layers: list[str], lost: tuple[int, ...]) -> bool:
    """Whether walking the layers in reverse order, once, restores every lost shard."""
    missing = set(lost)
    for layer in reversed(layers):
        holes = {place for place in missing if layer[place] in "Dc"}
        missing -= holes if len(holes) <= layer.count("c") else set()
    return not missing


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("ceph lrc 4+2 local 3", layers_of(4, 2, 3)),
        ("ceph lrc 8+4 local 6", layers_of(8, 4, 6)),
        ("ceph lrc 2+1 local 3", layers_of(2, 1, 3)),
        ("ceph lrc _cDD_cDD cDDD____ ____cDDD", ["_cDD_cDD", "cDDD____", "____cDDD"]),
        ("ceph lrc DDcc", ["DDcc"]),
    ],
)
def test_an_lrc_survives_what_its_layers_restore(text: str, layers: list[str]) -> None:
    """Every set of lost shards; and the rank of its equations survives no less."""
    code = resilver.redundancy(text)
    piece = {place: number for number, place in enumerate(code.places)}
    rows = code.generator.tolist()
    survived = 0
    for losses in range(1, code.parity + 1):
        for lost in combinations(range(code.pieces), losses):
            pieces = [piece[place] for place in lost]
            expected = restores(layers, lost)
            assert code.is_survivable(pieces) == expected, lost
            assert not expected or is_survivable(rows, pieces)
            survived += expected
    # Of k = 4, m = 2, l = 3: a lost local parity and another shard of its group are too many, 3
    # sets for each of two groups, of 28 pairs.
    if text == "ceph lrc 4+2 local 3":
        assert (code.fault_tolerance, code.survivable(2).survivable) == (1, 22)
    assert survived > 0


def shec_rows(data: int, parity: int, kinds: list[tuple[int, int]]) -> list[list[int]]:
    """The parities: jerasure's Vandermonde rows by column operations, their shingles cut out."""
    rows = [[1] * data for _ in range(data + parity)]
    for number, row in enumerate(rows):
        for column in range(1, data):
            row[column] = PRODUCTS[row[column - 1]][number]
    rows[0] = [1] + [0] * (data - 1)
    rows[-1] = [0] * (data - 1) + [1]
    for pivot in range(data):
        inverse = INVERSES[rows[pivot][pivot]]
        for row in rows:
            row[pivot] = PRODUCTS[row[pivot]][inverse]
        for column in set(range(data)) - {pivot}:
            factor = rows[pivot][column]
            for row in rows:
                row[column] ^= PRODUCTS[row[pivot]][factor]
    lower = rows[data:]
    for column in range(data):
        inverse = INVERSES[lower[0][column]]
        for row in lower:
            row[column] = PRODUCTS[row[column]][inverse]
    lower = [[PRODUCTS[cell][INVERSES[row[0]]] for cell in row] for row in lower]
    ends = [
        (at * data // count, (at + covers) * data // count)
        for count, covers in kinds
        for at in range(count)
    ]
    kept = [{column % data for column in range(*end)} for end in ends]
    return [
        [cell if column in kept[number] else 0 for column, cell in enumerate(row)]
        for number, row in enumerate(lower)
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        # (parities, how many of them have each data shard) of each kind of shingle; of two kinds
        # Ceph chooses by the mean of what lone losses read.
        ("shec 4+3 c 2 single", [(3, 2)]),
        ("shec 6+3 c 2 single", [(3, 2)]),
        ("shec 8+4 c 3 single", [(4, 3)]),
        ("shec 4+3 c 2", [(1, 1), (2, 1)]),
        ("shec 8+4 c 3", [(2, 1), (2, 2)]),
        ("shec 4+2 c 2", [(0, 0), (2, 2)]),
    ],
)
def test_shec_survives_by_the_rank_of_its_matrix(text: str, kinds: list[tuple[int, int]]) -> None:
    code = resilver.redundancy(text)
    parities = shec_rows(code.data, code.parity, kinds)
    unit = [[int(row == column) for column in range(code.data)] for row in range(code.data)]
    assert code.generator.tolist() == unit + parities
    for losses in range(1, code.parity + 1):
        for lost in combinations(range(code.pieces), losses):
            assert code.is_survivable(lost) == is_survivable(unit + parities, lost), lost
    # A lone data shard reads the narrowest shingle that it is in, and a parity its own.
    widths = [sum(cell > 0 for cell in row) for row in parities]
    for shard in range(code.data):
        least = min(width for width, row in zip(widths, parities, strict=True) if row[shard])
        assert code.repair_sizes[shard] == least
    assert list(code.repair_sizes[code.data :]) == widths


def test_clay_reads_parts_of_shards_and_studies_have_no_plugins() -> None:
    """Halves of five shards; what a study gathers is whole pieces."""
    code = resilver.redundancy("Clay 4+2")
    assert (code.name, code.strip_rebuild, code.repair_sizes) == ("clay 4+2 d 5", 2.5, (5,) * 6)
    assert "are those of real clusters" in refused(code_of, "clay 4+2")
