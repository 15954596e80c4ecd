"""Tables 1 and 2 of papers/003, computed, beside the values that are printed there."""

from __future__ import annotations

from fractions import Fraction

from resilver.analytic.code_figures import CodeFigures

STUDIED_CODES = ("rs 8+3", "lrc 8+5 local 4")
"""The codes of both tables, in their order."""

PRINTED_RATES: dict[str, dict[str, float]] = {
    "rs 8+3": {
        "read_share": 8 / 15,
        "overhead_factor": 0.25,
        "write_share": 1 / 2.25,
        "gathered": 8.0,
        "rebuild_share": 1 / 8,
    },
    "lrc 8+5 local 4": {
        "read_share": 8 / 15,
        "overhead_factor": 0.5,
        "write_share": 1 / 2.5,
        "gathered": 4.0,
        "rebuild_share": 1 / 4,
    },
}
"""Table 1 as printed: rates over a server's bandwidth, the factor x and the strips y."""

PRINTED_SPACE: dict[str, dict[str, float]] = {
    "rs 8+3": {
        "redundancy_share": 0.2727,
        "storage_overhead": 0.375,
        "stripe_read": 8,
        "stripe_write": 11,
        "strip_rebuild": 8,
    },
    "lrc 8+5 local 4": {
        "redundancy_share": 0.3846,
        "storage_overhead": 0.625,
        "stripe_read": 8,
        "stripe_write": 13,
        "strip_rebuild": 4,
    },
}
"""Table 2 as printed: "efficiency" is the redundancy share; strips that the network moves."""


def rates_table(code: CodeFigures) -> dict[str, Fraction]:
    """A code's line of Table 1, computed.

    Args:
        code: The code.

    Returns:
        Shares of a server's bandwidth, the overhead factor x and the strips gathered y.

    >>> from resilver.analytic import code_figures
    >>> rates_table(code_figures("lrc 8+5 local 4"))["write_share"]  # 1 / 2.5
    Fraction(2, 5)
    """
    return {
        "read_share": code.read_share,
        "overhead_factor": code.overhead_factor,
        "write_share": code.write_share,
        "gathered": code.gathered,
        "rebuild_share": code.rebuild_share,
    }


def space_table(code: CodeFigures) -> dict[str, Fraction]:
    """A code's line of Table 2, computed.

    Args:
        code: The code.

    Returns:
        Shares of space, and strips that the network moves to read or write a stripe and to make a
        strip anew.

    >>> from resilver.analytic import code_figures
    >>> space_table(code_figures("rs 8+3"))["stripe_write"]
    Fraction(11, 1)
    """
    return {
        "redundancy_share": code.redundancy_share,
        "storage_overhead": code.storage_overhead,
        "stripe_read": Fraction(code.data),
        "stripe_write": Fraction(code.strips),
        "strip_rebuild": code.gathered,
    }
