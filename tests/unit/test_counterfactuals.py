"""What is said of counterfactuals: the bottleneck, what helps less, and that nothing does."""

from dataclasses import replace

import pyarrow as pa
import pytest

from resilver.report.whatif import answer_of
from resilver.whatif.answer import WhatIf
from resilver.whatif.columns import TABLES
from tests.unit.what_if_answers import answer


def rerun(of: WhatIf, **columns: list[float]) -> WhatIf:
    """An answer whose reruns came to other figures."""
    rows = of.tables["counterfactuals"].to_pydict() | columns
    made = pa.table(rows, schema=TABLES["counterfactuals"])
    return replace(of, tables={**of.tables, "counterfactuals": made})


def test_a_bottleneck_is_named_by_a_rerun_and_never_by_who_waits() -> None:
    # 4 h 35 min 10 s are half of 9 h 10 min 20 s; of PGs' time 41 % is waiting for slots.
    said = answer_of(answer()).verdict
    assert (
        "The bottleneck: devices. Twice as fast, the cluster is healthy after 4 h 35 min, 50 % "
        "sooner."
    ) in said
    bare: dict[str, list[float]] = {name: [] for name in TABLES["counterfactuals"].names}
    text = " ".join(answer_of(rerun(answer(), **bare)).verdict)
    assert "bottleneck" not in text and "limit" not in text


@pytest.mark.parametrize(
    ("shares", "freed", "says"),
    [
        ([0.19, 0.1, 0.0], 0, "No bottleneck alone; what helps most: devices. Twice as fast"),
        ([0.049, 0.01, -0.1], 0, "Nothing on the list helps by 5 %: devices, backfill and"),
        ([-0.1, 0.01, 0.0], 3, "What helps most: devices. Twice as fast, 3 PGs"),
    ],
)
def test_what_helps_less_is_called_no_bottleneck(
    shares: list[float], freed: int, says: str
) -> None:
    made = rerun(answer(), sooner_share=shares, freed_groups=[freed, 0, 0])
    assert any(text.startswith(says) for text in answer_of(made).verdict)
