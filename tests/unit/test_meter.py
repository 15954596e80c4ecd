"""Rates are those of the last moments, fractions weigh runs by their cost, and no bar runs back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.study.meter import Expected, Meter, Window, run_fraction
from resilver.study.phases import PhaseClock
from resilver.study.progress import Counts, RunState


def test_a_window_forgets_what_is_older() -> None:
    # 1 a second for 100 s, then 10 a second for 10 s: the window of 5 s knows only the latter.
    window = Window(5.0)
    for tenth in range(1001):
        window.add(tenth / 10, tenth / 10)
    for tenth in range(1, 101):
        window.add(100 + tenth / 10, 100.0 + tenth)
    assert window.rate() == pytest.approx(10.0)
    window = Window(5.0)
    assert window.rate() is None
    window.add(1.0, 1.0)
    window.add(1.0, 2.0)
    assert window.rate() is None


@given(st.lists(st.floats(0.001, 3.0), min_size=3, max_size=400), st.floats(0.0, 1e9))
def test_a_steady_growth_has_its_rate_however_often_it_is_looked_at(
    steps: list[float], slope: float
) -> None:
    window, moment = Window(5.0), 0.0
    for step in steps:
        moment += step
        window.add(moment, slope * moment)
    assert window.rate() == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_a_large_run_weighs_more_than_a_small_one() -> None:
    # Of 10 s of work the runs of 1 s and 3 s are done, and half of the rebuilding of the run of
    # 6 s. Rebuilding is 0.6 of it, so 0.4 + 0.6 / 2 = 0.7 of it is done: (1 + 3 + 4.2) / 10.
    expected = {"a": Expected(1.0), "b": Expected(3.0), "c": Expected(6.0, 0.1, 0.6)}
    meter = Meter(expected, {"c": "seed=3"}, 0.0)
    meter.found(["a"])
    meter.end("b")
    progress = meter.look(1.0, Counts(3, 1, 1), {"c": RunState("rebuilding", 0.5)})
    assert progress.fraction == pytest.approx(0.82)
    assert progress.fraction_reused == pytest.approx(0.1)
    assert progress.under_way["seed=3"].fraction == pytest.approx(0.7)
    assert Meter({}, {}, 0.0).look(0.0, Counts(0), {}).fraction == 1.0


def test_nothing_is_foreseen_while_workers_start_and_no_bar_turns_back() -> None:
    meter = Meter({"a": Expected()}, {"a": "seed=1"}, 0.0)
    meter.look(0.0, Counts(1), {"a": RunState("starting")})
    progress = meter.look(1.0, Counts(1), {"a": RunState("scanning", 0.5)})
    assert progress.seconds_left is None
    assert progress.under_way["seed=1"].seconds_left is None
    meter = Meter({"a": Expected()}, {"a": "seed=1"}, 0.0)
    before = meter.look(1.0, Counts(1), {"a": RunState("rebuilding", 0.5)}).fraction
    again = meter.look(2.0, Counts(1), {"a": RunState("starting")})
    assert again.fraction == before
    assert again.under_way["seed=1"].fraction == 0.0
    # Ten runs alike, one a second: after four, six seconds are left.
    meter = Meter({str(at): Expected() for at in range(10)}, {}, 0.0)
    progress = meter.look(0.0, Counts(10), {})
    assert progress.seconds_left is None
    for done in range(1, 5):
        meter.end(str(done))
        progress = meter.look(float(done), Counts(10, done=done), {})
    assert progress.seconds_left == pytest.approx(6.0)
    assert progress.runs_per_second == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("phase", "expected", "at_half"),
    [
        # The scan takes the other half: 50 + 50 / 2 % of the run are done.
        ("rebuilding", Expected(), 0.75),
        # A run of traffic alone spends 96 % of its time serving: 4 + 96 / 2 % of it are done.
        ("serving", Expected(10.0, 0.0, 0.96), 0.04 + 0.48),
    ],
)
def test_a_run_tells_its_events_a_second_and_its_time_left(
    phase: str, expected: Expected, at_half: float
) -> None:
    # 2,000,000 events and a tenth of the phase every second; at half, 5 s are left.
    meter = Meter({"a": expected}, {"a": "seed=1"}, 0.0)
    for second in range(6):
        state = RunState(phase, second / 10, 2_000_000 * second, 60.0 * second, second, 10)
        progress = meter.look(float(second), Counts(1), {"a": state})
    run = progress.under_way["seed=1"]
    assert run.events_per_second == progress.events_per_second == pytest.approx(2e6)
    assert run.seconds_left == pytest.approx(5.0)
    assert run.fraction == pytest.approx(at_half)
    assert (run.state.simulated_seconds, run.state.rebuilt_pieces) == (300.0, 5)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_phases_of_a_run_follow_one_another_without_a_gap(share: float) -> None:
    ends = [
        run_fraction(RunState(phase, fraction), Expected(1.0, 0.25 * (1.0 - share), share))
        for phase in ("starting", "placing", "scanning", "rebuilding", "storing")
        for fraction in (0.0, 1.0)
    ]
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (0.0, 1.0)
    # Each of the simulation's phases begins where the one before it ended.
    assert ends[3] == ends[4] and ends[5] == ends[6] == pytest.approx(1.0 - share)


@pytest.mark.parametrize(
    ("moments", "phases", "seconds"),
    [
        # The first phase lasts from 0 to 1 s, the scan to 4 s, the rebuild, whose end "done" is no
        # phase of its own, to 9 s.
        ([0.0, 1.0, 2.0, 4.0, 8.0, 9.0], "scanning scanning rebuilding done", (1.0, 3.0, 5.0, 0.0)),
        # Of traffic alone nothing is placing: made at 0 s, it reports at 2 s and ends at 7 s.
        ([0.0, 2.0, 7.0], "serving", (0.0, 0.0, 0.0, 7.0)),
    ],
)
def test_the_phases_of_a_clock_add_up_to_its_whole_time(
    moments: list[float], phases: str, seconds: tuple[float, ...]
) -> None:
    passing = iter(moments)
    clock = PhaseClock(lambda: next(passing))
    for phase in phases.split():
        clock.enter(phase)
    names = ("placing", "scanning", "rebuilding", "serving")
    assert clock.stop() == dict(zip(names, seconds, strict=True))
    assert sum(seconds) == moments[-1]
