"""Measured recoveries of other systems against ours, each by a policy of its software."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resilver.reproduce.tables import Row
from resilver.spec import Study
from resilver.spec.code import code_of
from resilver.study import simulate


def policy_rows(
    cases: Sequence[Mapping[str, Any]], codes: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """Each case simulated once.

    Args:
        cases: Of each its ``name``, its ``grade`` (empty where it only stands beside another), the
            ``measured`` seconds, and a ``study`` of one run.
        codes: By name, two ``codes`` of which the first reads ``measured`` times as many pieces to
            make one anew as the second; of grade B.

    Returns:
        A row a case, with ``name``, ``grade``, ``seconds`` of ours, ``measured`` and their
        ``ratio``, ours over measured.
    """
    rows: list[Row] = []
    for case in cases:
        (run,) = Study.from_dict(dict(case["study"])).runs()
        metrics = simulate(run.system, run.seed).metrics
        seconds, measured = float(metrics["rebuild_seconds"] or 0.0), float(case["measured"])
        own = {"seconds": seconds, "measured": measured, "ratio": seconds / measured}
        rows.append({"name": case["name"], "grade": case["grade"], **own})
    for name, given in codes.items():
        read = [code.repair_pieces for code in map(code_of, given["codes"]) if code is not None]
        ratio = read[0] / read[1] / float(given["measured"])
        nothing = {"seconds": None, "measured": None}
        rows.append({"name": name, "grade": "B", **nothing, "ratio": ratio})
    return rows
