"""Rates are those of the last moments, fractions weigh runs by their cost, and no bar runs back."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.ansi import AnsiDecoder
from rich.console import Console

from resilver.cli.progress import Display, StudyDisplay
from resilver.cli.progress_view import ProgressView, step_line
from resilver.study import RunProgress, StudyProgress
from resilver.study.meter import Expected, Meter, Window, run_fraction
from resilver.study.phases import PhaseClock
from resilver.study.progress import Counts, RunState


def test_a_window_forgets_and_a_large_run_weighs_more() -> None:
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


@given(st.lists(st.floats(0.001, 3.0), min_size=3, max_size=400), st.floats(0.0, 1e9))
def test_a_steady_growth_has_its_rate_however_often_it_is_looked_at(
    steps: list[float], slope: float
) -> None:
    window, moment = Window(5.0), 0.0
    for step in steps:
        moment += step
        window.add(moment, slope * moment)
    assert window.rate() == pytest.approx(slope, rel=1e-6, abs=1e-6)


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


# Progress in a terminal: everything in its width, one run or two hundred, nothing flickers.


GIB_RUN = RunProgress(
    RunState("rebuilding", 0.32, 40_000_000, 7380.0, 1_204_000, 3_810_000), 0.55, 21.0, 1.82e7, 13.0
)
SCAN = RunProgress(RunState("scanning", 0.5), 0.2, 8.0, None, 31.0)


def drawn(progress: StudyProgress, width: int, height: int = 40) -> list[str]:
    """The lines that a terminal of this size shows."""
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True)
    with console.capture() as captured:
        console.print(ProgressView(progress))
    return [line.plain.rstrip() for line in AnsiDecoder().decode(captured.get().rstrip())]


def study(runs: int, under_way: int, **changes: object) -> StudyProgress:
    """A study of so many runs of which a third is done."""
    shown = {
        f"cluster.servers={2 ** (at % 11)} seed={at}": GIB_RUN if at % 2 == 0 else SCAN
        for at in range(under_way)
    }
    counts = Counts(runs, 1, runs // 3)
    values: dict[str, object] = {"counts": counts, "under_way": shown, "fraction": 0.334}
    values |= {"fraction_reused": 0.01, "elapsed_seconds": 100.0, "runs_per_second": 0.6}
    values |= {"events_per_second": 3.6e7, "seconds_left": 200.0}
    return StudyProgress(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
@pytest.mark.parametrize(("runs", "under_way"), [(1, 1), (200, 2), (200, 64), (100_000, 128)])
def test_no_line_is_wider_than_the_terminal_nor_the_picture_higher(
    width: int, runs: int, under_way: int
) -> None:
    lines = drawn(study(runs, under_way, counts=Counts(runs, 0, 0, runs // 2)), width, 24)
    assert max(map(len, lines)) <= width
    assert len(lines) < 24


@pytest.mark.parametrize("width", [80, 120])
def test_a_run_tells_phase_events_time_objects_and_what_is_left(width: int) -> None:
    text = "\n".join(drawn(study(200, 2), width))
    assert "67 of 200 runs" in text
    for word in ("33 %", "3 min 20 s left", "servers=1", "rebuilding", "32 %", "18.2 M",
                 "2 h 3 min", "13 s", "scanning", "50 %"):  # fmt: skip
        assert word in text, word
    assert ("1.20 of 3.81 M" if width == 120 else "1.20/3.81 M") in text


@pytest.mark.parametrize("width", [80, 120])
def test_a_run_of_traffic_tells_its_requests(width: int) -> None:
    # 1.2 s of 1.6 s are simulated, in which 283,000 requests were answered.
    serving = RunProgress(
        RunState("serving", 0.75, 90_000_000, 1.2, 0, 0, 283_000), 0.75, 5.0, 1.6e7, 2.0
    )
    lines = drawn(replace(study(1, 0), under_way={"seed=1": serving}), width)
    assert "requests" in lines[1] and "rebuilt" not in lines[1]
    for word in ("serving", "75 %", "16.0 M", "1.20 s", "283 k"):
        assert word in lines[2], word
    # Beside a rebuild, the column is of both.
    lines = drawn(replace(study(2, 0), under_way={"seed=1": serving, "seed=2": GIB_RUN}), width)
    assert " done " in lines[1] and "283 k" in lines[2]


def test_runs_beyond_the_screen_are_counted_and_steps_tell_their_share() -> None:
    # A screen of 24 lines has 5 around the rows, so 19 of 64 runs have one.
    lines = drawn(study(200, 64), 120, 24)
    assert lines[-1] == "and 45 more runs under way"
    assert len(lines) == 2 + 19 + 1
    lines = drawn(study(10, 1, counts=Counts(10, 0, 3, 2)), 80)
    assert lines[0].startswith("3 of 10 runs  2 failed")
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with console.capture() as captured:
        console.print(step_line("messages of 64 B", 0.25, 12.4))
    (line,) = [one.plain for one in AnsiDecoder().decode(captured.get().rstrip())]
    assert line.split("━")[0].rstrip() == "messages of 64 B"
    assert line.rstrip().endswith("25 %  12 s left")


def test_what_is_no_terminal_gets_lines_and_texts_alone(capsys: pytest.CaptureFixture[str]) -> None:
    ended = study(3, 1, counts=Counts(3, 0, 1), finished_label="seed=1")
    for verbose in (False, True):
        with StudyDisplay(verbose=verbose) as display:
            display(study(3, 1))
            display(ended)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == ("1/3 seed=1 done\n" if verbose else "")
    for every, said in ((0.0, "half\n"), (3600.0, "")):
        with Display(every=every) as display:
            display.show("half")
        assert capsys.readouterr().err == said
    with Display() as display:
        display.step("disks", 1, 2)
        # Half of the work is done, so that the rest takes as long again.
        assert 0.0 < (display.left(0.5) or 0.0) < 60.0
    assert capsys.readouterr().err == ""
