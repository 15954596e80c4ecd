"""The figures of codes by formula against the core, which tries every loss over the generator."""

from fractions import Fraction

import pytest

import resilver
from resilver.analytic import code_figures

CODES = (
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


@pytest.mark.parametrize("name", CODES)
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


def test_the_quadruples_that_the_studied_local_code_does_not_survive() -> None:
    """What `docs/models/burst-buffer.md` says of stripes lost with four servers."""
    found = resilver.redundancy("lrc 8+5 local 4").survivable(4)
    assert (found.survivable, found.all) == (713, 715)
