"""The report of a study of real Ceph clusters: the answers of its runs, as a what-if's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from resilver.errors import ConfigError
from resilver.study.results import StudyTables
from resilver.study.system_runs import format_swept, short_names, swept_keys

if TYPE_CHECKING:
    from resilver.answer import Answer
    from resilver.whatif.answer import Outcome, WhatIf

ANSWERS_MAX = 12
"""Runs that are shown side by side; of more, the last to be healthy are."""


def is_of_clusters(results: StudyTables) -> bool:
    """Whether a study is of real Ceph clusters."""
    return bool(results.provenance.get("study", {}).get("cluster", {}).get("ceph"))


def answers_of(results: StudyTables) -> list[WhatIf]:
    """The answers of a study's runs, each named by what is swept and by its seed.

    Raises:
        ConfigError: An earlier version made them.
    """
    from resilver.whatif.answer import WhatIf

    table, rows = results.answers, results.runs.to_pylist()
    if not table.num_rows:
        rule = "an earlier version made these runs, by another model of healing"
        raise ConfigError(f"{rule}; run the study again")
    if len(rows) > ANSWERS_MAX:
        times = {row["run"]: row["rebuild_seconds"] for row in rows}
        late = {run: math.inf if one is None else one for run, one in times.items()}
        rows = sorted(rows, key=lambda row: -late[row["run"]])[:ANSWERS_MAX]
    has_seeds = len({row["seed"] for row in rows}) > 1
    swept = swept_keys(results)
    names = short_names(swept)
    answers = []
    for row in rows:
        answer = WhatIf.from_rows(table.filter(pc.equal(table["run"], row["run"])))
        words = [f"{a} = {format_swept(b, row[b])}" for a, b in zip(names, swept, strict=True)]
        words += [f"seed {row['seed']}"] if has_seeds else []
        answers.append(replace(answer, plan=", ".join(words) or answer.plan))
    return answers


def clusters_answer(results: StudyTables) -> Answer:
    """The answer of a study of real clusters: that of its run, or of several side by side.

    Raises:
        ConfigError: An earlier version made them.
    """
    from resilver.report.whatif import answer_of
    from resilver.whatif.several import PlansCompared

    first, *others = answers_of(results)
    answer = answer_of(PlansCompared((first, *others)) if others else first)
    runs = results.runs.num_rows
    if runs > ANSWERS_MAX:
        text = f"Of {runs:,} runs, these are healthy last; runs.parquet in the run folder has all."
        answer = replace(answer, notes=[text, *answer.notes])
    return replace(answer, holds=all(outcome.holds for outcome in _outcomes(results)))


def _outcomes(results: StudyTables) -> Iterator[Outcome]:
    """What came of each run of a study."""
    from resilver.whatif.answer import WhatIf

    for run in results.runs["run"].to_pylist():
        rows = results.answers.filter(pc.equal(results.answers["run"], run))
        if rows.num_rows:
            yield WhatIf.from_rows(rows).outcome
