"""Progress in a terminal: everything in its width, one run or two hundred, nothing flickers."""

import io
from dataclasses import replace

import pytest
from rich.ansi import AnsiDecoder
from rich.console import Console

from resilver.cli.progress import Display, StudyDisplay
from resilver.cli.progress_view import ProgressView, step_line
from resilver.study import Counts, RunProgress, RunState, StudyProgress

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
    values: dict[str, object] = {
        "counts": Counts(runs, 1, runs // 3),
        "under_way": shown,
        "fraction": 0.334,
        "fraction_reused": 0.01,
        "elapsed_seconds": 100.0,
        "runs_per_second": 0.6,
        "events_per_second": 3.6e7,
        "seconds_left": 200.0,
    }
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


def test_runs_beyond_the_screen_are_counted_and_failures_stand_out() -> None:
    # A screen of 24 lines has 5 around the rows, so 19 of 64 runs have one.
    lines = drawn(study(200, 64), 120, 24)
    assert lines[-1] == "and 45 more runs under way"
    assert len(lines) == 2 + 19 + 1
    lines = drawn(study(10, 1, counts=Counts(10, 0, 3, 2)), 80)
    assert lines[0].startswith("3 of 10 runs  2 failed")


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


def test_a_step_tells_its_name_share_and_time_left() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with console.capture() as captured:
        console.print(step_line("messages of 64 B", 0.25, 12.4))
    (line,) = [one.plain for one in AnsiDecoder().decode(captured.get().rstrip())]
    assert line.split("━")[0].rstrip() == "messages of 64 B"
    assert line.rstrip().endswith("25 %  12 s left")
