"""The core's codes against formulas, and against the library that storage systems code with."""

import ctypes
import random
from fractions import Fraction

import numpy as np
import pytest

import resilver
from resilver.analytic import code_figures
from resilver.calibration.isal import Library, plain_product
from resilver.errors import ConfigError
from tests.reference.codes import PRODUCTS, power

CODES = ["rs 8+3", "rs 4+2", "rs 10+4", "lrc 8+5 local 4", "lrc 12+4 local 6", "lrc 6+5 local 2"]
ALL = [*CODES, "lrc 6+2+2", "product rs 2+1 x rs 3+1"]


@pytest.fixture(scope="module")
def library() -> Library:
    try:
        return Library()
    except ConfigError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("text", CODES)
def test_the_generator_meets_the_code_s_definition(text: str) -> None:
    """Data stand unchanged; local parities are sums of their groups; of the data and the global
    parities c_j the sums of x^(i j) c_j are zero, i from 0.
    """
    code = resilver.redundancy(text)
    rows = code.generator.tolist()
    k = code.data
    assert rows[:k] == np.eye(k, dtype=int).tolist()
    local = int(text.split("local ")[1]) if "local" in text else 0
    groups = k // local if local else 0
    for group in range(groups):
        assert rows[k + group] == [int(column // local == group) for column in range(k)]
    word = rows[:k] + rows[k + groups :]
    for exponent in range(code.parity - groups):
        total = [0] * k
        for place, row in enumerate(word):
            times = PRODUCTS[power(exponent * place)]
            total = [left ^ times[right] for left, right in zip(total, row, strict=True)]
        assert total == [0] * k
    if groups:
        parities = np.array(rows[k:], dtype=np.uint8)
        assert not np.bitwise_xor.reduce(parities, axis=0).any(), "the implied parity"


def stripe_of(code: resilver.Code, library: Library, seed: int) -> list[np.ndarray]:
    """A stripe of random data with the parity that the library makes."""
    draws = np.random.default_rng(seed)
    data = [draws.integers(0, 256, 4096, dtype=np.uint8) for _ in range(code.data)]
    return data + library.prepared(code.generator[code.data :]).made(data)


@pytest.mark.parametrize("text", ALL)
def test_the_library_encodes_as_our_matrix_says(text: str, library: Library) -> None:
    code = resilver.redundancy(text)
    stripe = stripe_of(code, library, 1)
    expected = plain_product(code.generator, stripe[: code.data])
    assert all(map(np.array_equal, stripe, expected))


@pytest.mark.parametrize("text", ALL)
def test_the_library_decodes_what_our_repairs_and_reads_gather(text: str, library: Library) -> None:
    code = resilver.redundancy(text)
    stripe = stripe_of(code, library, 2)
    draws = random.Random(3)
    for _ in range(40):
        lost = draws.sample(range(code.pieces), draws.randint(1, code.parity))
        for piece in lost:
            gathered = code.repair(piece, lost)
            if gathered is None:
                assert not code.is_survivable(lost)
                continue
            factors = code.decoding(gathered, [piece])
            assert factors is not None and factors.all(), "every piece gathered has a part"
            (made,) = library.prepared(factors).made([stripe[one] for one in gathered])
            assert np.array_equal(made, stripe[piece])
        gathered = code.read(lost)
        if gathered is None:
            continue
        factors = code.decoding(gathered, range(code.data))
        assert factors is not None
        made = library.prepared(factors).made([stripe[one] for one in gathered])
        assert all(map(np.array_equal, made, stripe[: code.data]))


@pytest.mark.parametrize("text", ALL)
def test_the_library_s_own_inverse_decodes_our_parity(text: str, library: Library) -> None:
    """Its `gf_invert_matrix` inverts the rows that a read gathers exactly where we say it can."""
    code = resilver.redundancy(text)
    stripe = stripe_of(code, library, 4)
    invert = ctypes.CDLL(library.path).gf_invert_matrix
    invert.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    draws = random.Random(5)
    for _ in range(40):
        kept = draws.sample(range(code.pieces), code.data)
        lost = [piece for piece in range(code.pieces) if piece not in kept]
        rows = np.ascontiguousarray(code.generator[kept])
        inverse = np.zeros_like(rows)
        failed = invert(rows.ctypes.data, inverse.ctypes.data, code.data) != 0
        assert failed != code.is_survivable(lost)
        if not failed:
            made = library.prepared(inverse).made([stripe[piece] for piece in kept])
            assert all(map(np.array_equal, made, stripe[: code.data]))


FIGURES = (
    "rs 8+3",
    "rs 4+2",
    "rs 10+4",
    "lrc 8+5 local 4",
    "lrc 12+4 local 6",
    "lrc 12+6 local 3",
    "lrc 10+6 local 5",
    "lrc 6+3 local 2",
    "lrc 12+2+2",
    "lrc 6+3+1",
    "lrc 6+2+0",
    "copies 3",
    "copies 2",
    "product rs 4+2 x rs 3+1",
    "product rs 2+2 x lrc 4+3 local 2",
    "product copies 3 x rs 3+2",
)


@pytest.mark.parametrize("name", FIGURES)
def test_formulas_and_the_generator_agree(name: str) -> None:
    """Shares follow from k and p alone; strips gathered are the mean over all single losses; and
    what formulas promise to survive is survived.
    """
    figures, code = code_figures(name), resilver.redundancy(name)
    assert (figures.data, figures.parity, figures.strips) == (code.data, code.parity, code.pieces)
    assert float(figures.read_share) == pytest.approx(code.read_share)
    assert float(figures.write_share) == pytest.approx(code.write_share)
    assert float(figures.storage_overhead) == pytest.approx(code.storage_overhead)
    assert float(figures.redundancy_share) == pytest.approx(code.redundancy_share)
    gathered = [len(code.repair(lost) or []) for lost in range(code.pieces)]
    assert figures.gathered == Fraction(sum(gathered), code.pieces)
    assert figures.tolerance <= code.fault_tolerance
    if "lrc" not in name:
        assert figures.tolerance == code.fault_tolerance
