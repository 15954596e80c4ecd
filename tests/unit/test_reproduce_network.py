"""The network study: its comparisons, conclusions and pictures, on rows made by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from resilver.reproduce import Published, compare, entry
from resilver.reproduce.bars import bars, bars_figure, bars_table, bars_words
from resilver.reproduce.compare import ABSENT, DIFFERS, FAILS, HOLDS
from resilver.reproduce.conclusions import PARTLY, conclude
from resilver.reproduce.cumulative import cumulative, cumulative_figure, cumulative_table
from resilver.reproduce.curves import curve, curve_table
from resilver.reproduce.evidence import derived, shipped_study
from resilver.reproduce.published import Conclusion, PictureSpec
from resilver.reproduce.serving import labelled, serving_columns


def row(topology: str, faults: str, seed: int, **metrics: float) -> dict[str, object]:
    return {"topology": topology, "faults": faults, "seed": seed, **metrics}


ROWS = [
    row("A", "none", 1, rate=10.0, busy=0.2),
    row("A", "none", 2, rate=12.0, busy=0.3),
    row("B", "none", 1, rate=8.0, busy=0.5),
    row("C", "none", 1, rate=4.0, busy=0.9),
    row("A", "4 disks", 1, rate=9.0, busy=0.2),
    row("A", "4 disks", 2, rate=12.0, busy=0.2),
    row("B", "4 disks", 1, rate=4.0, busy=0.6),
]
BASE = {"faults": "none"}


def number(statistic: str, **more: object) -> Published:
    plain = {"key": "k", "what": "W", "metric": "rate", "spread_over": "topology"}
    return Published(statistic=statistic, **{**plain, **more})  # type: ignore[arg-type]


def test_an_order_is_the_least_ratio_of_one_group_to_the_next() -> None:
    # Medians without faults: A 11, B 8, C 4; the least is 11/8 of A over B, below 8/4 of B over C.
    ordered = number("order", groups=(("A",), ("B",), ("C",)), at=BASE, low=1.0)
    made = compare("e", ordered, ROWS)
    assert made.ours == pytest.approx(11 / 8) and made.verdict == HOLDS
    turned = number("order", groups=(("C",), ("A", "B")), at=BASE, low=1.0)
    made = compare("e", turned, ROWS)
    assert made.ours == pytest.approx(4 / 11) and made.verdict == FAILS
    absent = number("order", groups=(("A",), ("D",)), at=BASE, low=1.0)
    assert compare("e", absent, ROWS).verdict == ABSENT


def test_an_order_may_be_of_ratios_to_the_base_case() -> None:
    # A keeps (9/10 + 12/12)/2 = 0.95 of its rate, B 4/8 = 0.5: 1.9 times.
    ordered = number("order", groups=(("A",), ("B",)), at={"faults": "4 disks"}, over_at=BASE)
    assert compare("e", ordered, ROWS).ours == pytest.approx(1.9)


def test_ratios_pair_runs_of_the_same_seed() -> None:
    least = number("least_ratio", at={"faults": ["4 disks"]}, over_at=BASE)
    greatest = number("greatest_ratio", over_at=BASE)
    assert compare("e", least, ROWS).ours == pytest.approx(0.5)
    assert compare("e", greatest, ROWS).ours == pytest.approx(0.95)
    # A seed without a partner in the base case says nothing.
    alone = [row("B", "4 disks", 9, rate=1.0)]
    assert compare("e", least, alone).verdict == ABSENT


def test_a_rank_correlation_is_that_of_the_groups_medians() -> None:
    # Rates fall A, B, C as busy shares (0.25, 0.5, 0.9) rise.
    made = compare("e", number("rank_correlation", of="busy", at=BASE), ROWS)
    assert made.ours == pytest.approx(-1.0)
    equal = [{**one, "busy": 0.5} for one in ROWS]
    assert compare("e", number("rank_correlation", of="busy", at=BASE), equal).verdict == ABSENT


def test_a_rank_correlation_within_groups_is_the_least_of_their_own() -> None:
    # A's busy shares rise with its rates; B's fall; C has too few rows to say anything.
    rows = [row("A", "none", k, rate=float(k), busy=0.1 * k) for k in (1, 2, 3)]
    rows += [row("B", "none", k, rate=float(k), busy=-0.1 * k) for k in (1, 2, 3)]
    rows += [row("C", "none", 1, rate=1.0, busy=0.5)]
    least = number("least_rank_correlation", of="busy")
    assert compare("e", least, rows).ours == pytest.approx(-1.0)
    assert compare("e", least, rows[:3]).ours == pytest.approx(1.0)
    assert compare("e", least, rows[-1:]).verdict == ABSENT


def test_the_delay_of_a_closed_loop_follows_from_its_rate() -> None:
    # 5,120 outstanding, 80,000 completed in 1 s: 64 ms between a request and its like, of which
    # the pause takes 11 ms.
    run = shipped_study("network-faults", ["study.seeds=1"]).runs()[0]
    served = {"requests_completed": 80_000, "statistics_seconds": 1.0}
    assert derived(served, run)["little_delay_seconds"] == pytest.approx(0.053)
    assert "little_delay_seconds" not in derived({"requests_completed": 0}, run)


def test_a_curve_may_have_a_point_for_each_value_of_a_third_column() -> None:
    spec = PictureSpec(
        "c",
        "curve",
        "C",
        x="busy",
        x_unit="%",
        x_title="busy",
        x_linear=True,
        each="load",
        y="rate",
    )
    rows = [
        {"load": load, "busy": busy, "rate": rate}
        for load, busy, rate in ((1, 0.1, 1.0), (1, 0.2, 3.0), (1, 0.12, 2.0), (2, 0.34, 5.0))
    ]
    made = curve(spec, rows, [])
    assert made is not None
    # Medians of the three rows of the first load; the axis is marked by tenths to beyond 34 %.
    assert (made.lines[0].xs, made.lines[0].ys) == ((0.12, 0.34), (2.0, 5.0))
    assert [made.label(x) for x in made.ticks] == ["0", "10", "20", "30", "40"]
    assert curve_table(made).columns[1].kind == "share"


def test_rows_are_left_out_by_value_and_by_threshold() -> None:
    assert compare("e", number("max", besides={"topology": "A"}), ROWS).ours == 8.0
    assert compare("e", number("min", above={"busy": 0.55}), ROWS).ours == 4.0
    assert compare("e", number("max", above={"busy": 2.0}), ROWS).verdict == ABSENT


def test_a_claim_of_the_source_differs_and_fails_nothing() -> None:
    made = compare("e", number("max", low=100.0, claim=True), ROWS)
    assert made.verdict == DIFFERS


def test_a_conclusion_is_judged_by_its_numbers() -> None:
    good = compare("e", number("max", key="good", low=1.0), ROWS)
    bad = compare("e", number("max", key="bad", low=100.0, claim=True), ROWS)
    plain = compare("e", number("max", key="plain"), ROWS)
    for names, verdict in (
        (("e/good", "e/plain"), HOLDS),
        (("e/good", "e/bad"), PARTLY),
        (("e/bad",), FAILS),
        (("e/plain", "e/other"), ABSENT),
    ):
        said = conclude(Conclusion("It is so.", "section 1", names), [good, bad, plain])
        assert said.verdict == verdict
        assert said.as_record()["numbers"]["e/plain" if "e/plain" in names else names[-1]]


def test_conclusions_rest_on_numbers_that_are_there() -> None:
    whole = entry("network-failures")
    known = {f"{name}/{number.key}" for name in whole.members for number in entry(name).published}
    assert len(whole.conclusions) >= 15
    for said in whole.conclusions:
        assert said.rests_on and set(said.rests_on) <= known, said.claim


BARS = PictureSpec(
    "b", "bars", "Rates", x="topology", x_title="topology", y="rate", y_title="rate", by="faults"
)


def test_bars_are_medians_with_the_range_of_their_runs() -> None:
    made = bars(BARS, ROWS)
    assert made is not None
    assert made.groups == ["A", "B", "C"] and made.series == ["none", "4 disks"]
    first = made.bars[0]
    assert (first.median, first.least, first.most, first.runs) == (11.0, 10.0, 12.0, 2)
    assert "Most: 11 (A, none); least: 4 (C, none)" in bars_words(made)
    figure = bars_figure(made)
    # Two series share 0.84 of a group, a half of it on each side of its middle.
    assert list(figure.data[0].x) == pytest.approx([-0.21, 0.79, 1.79])
    assert len(bars_table(made).rows) == 5


def test_changes_are_from_the_run_of_the_same_seed_in_the_base_case() -> None:
    spec = PictureSpec(
        "c",
        "bars",
        "Change",
        x="topology",
        x_title="topology",
        y="rate",
        y_title="change",
        by="faults",
        change_from=BASE,
    )
    made = bars(spec, ROWS)
    assert made is not None and made.unit == "%" and made.series == ["4 disks"]
    # A: -10 % and 0 %; B: -50 %.
    assert [bar.median for bar in made.bars] == pytest.approx([-5.0, -50.0])
    assert bars(spec, ROWS[:4]) is None


def test_a_cumulative_line_puts_the_runs_of_a_series_together() -> None:
    spec = PictureSpec(
        "d", "cumulative", "Delays", quantity="delay", x_unit="ms", x_title="delay", by="topology"
    )
    rows: list[dict[str, object]] = [{"run": "r1", "topology": "A"}, {"run": "r2", "topology": "A"}]
    table = pa.table(
        {
            "run": ["r1", "r1", "r2", "r2", "r3"],
            "quantity": ["delay", "delay", "delay", "hops", "delay"],
            "low": [0.0, 0.01, 0.01, 1.0, 0.0],
            "high": [0.01, 0.02, 0.02, 2.0, 9.0],
            "count": [1, 2, 5, 7, 9],
        }
    )
    made = cumulative(spec, rows, table)
    assert made is not None
    (line,) = made.lines
    # One of eight is at most 10 ms, all are at most 20 ms; half are at 20 ms.
    assert list(line.xs) == [10.0, 20.0] and list(line.shares) == [0.125, 1.0]
    assert line.median == 20.0 and line.count == 8
    assert len(cumulative_figure(made).data) == 1 and len(cumulative_table(made).rows) == 2
    assert cumulative(spec, [{"run": "r9", "topology": "A"}], table) is None


def test_losses_at_disks_that_serve_nothing_are_counted_apart() -> None:
    servers = pa.table(
        {
            "run": ["r", "r", "r"],
            "requests_completed": [40, 0, 50],
            "requests_lost": [1, 7, 0],
            "requests_read": [20, 0, 25],
            "requests_written": [20, 0, 20],
        }
    )
    runs = [
        {
            "run": "r",
            "requests_completed": 90,
            "requests_lost": 8,
            "statistics_seconds": 1.1,
            "before_mean_delay_seconds": 0.02,
            "during_mean_delay_seconds": 0.04,
        },
        {"run": "rebuild only", "requests_completed": None},
    ]
    made = serving_columns(runs, servers, 0.022)
    assert set(made) == {"r"}
    assert made["r"]["requests_lost_at_dead_disks"] == 7
    assert made["r"]["requests_lost_elsewhere"] == 1
    assert made["r"]["requests_completed_fraction"] == pytest.approx(90 / 98)
    # The busiest served 45; 1.1 s has room for 50 of 22 ms, and the one it was at.
    assert made["r"]["disk_bound_fraction_max"] == pytest.approx(45 / 51)
    assert made["r"]["delay_before_seconds"] == 0.02
    assert made["r"]["delay_during_seconds"] == 0.04


def test_labels_name_a_value_or_a_part_of_it() -> None:
    labels = {"network": {"of": "fabric", "names": {"16x4": "leaf-spine", "torus": "torus"}}}
    assert labelled({"fabric": "leaf spine 16x4 hosts 2"}, labels) == {"network": "leaf-spine"}
    assert labelled({"fabric": "mesh 2x2"}, labels) == {"network": "mesh 2x2"}
    assert labelled({}, labels) == {}
