"""Studies drawn at random run to their end, hold every law, and come out alike however they run."""

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import cache

import pytest

from resilver.columns import TABLE_NAMES
from resilver.errors import ConfigError
from resilver.simulate import RunResult
from resilver.spec import Run, Study
from resilver.study import simulate, validate_runs
from tests.front_door import environment, process
from tests.integration.drawn_studies import drawn_study
from tests.scale import numbers

# Each study is run once for all tests.
pytestmark = pytest.mark.xdist_group("drawn studies")

# So many hold something of everything, which the first test says.
NUMBERS = numbers(40)
AGAIN = NUMBERS[::4]
SECONDS = 240


def run_of(number: int) -> Run | None:
    """The run of a drawn study; None where its draws contradict each other."""
    try:
        runs = Study.from_dict(drawn_study(number)).runs()
        validate_runs(runs)
    except ConfigError:
        return None
    return runs[0]


@cache
def found(number: int) -> RunResult | None:
    # The core ends a run that breaks a law with a SimulationError, and a panic is no error of ours.
    run = run_of(number)
    return None if run is None else simulate(run.system, number)


def fingerprint(number: int) -> str:
    """A hash of all that a run has to tell."""
    result = found(number)
    if result is None:
        return "refused"
    tables = [getattr(result, name).to_pydict() for name in TABLE_NAMES[1:]]
    return hashlib.sha256(repr((result.metrics, tables)).encode()).hexdigest()


def printed(numbers: Iterable[int]) -> None:
    """Prints the hashes of these studies, as another process is asked to."""
    print(json.dumps([fingerprint(number) for number in numbers]))


def results() -> dict[int, RunResult]:
    return {number: result for number in NUMBERS if (result := found(number)) is not None}


def test_drawn_studies_run_and_are_worth_running() -> None:
    # Six in forty contradict themselves, at the most.
    assert len(results()) >= 34 * len(NUMBERS) // 40
    # Something of everything happens in them.
    for name in (
        "rebuilt_objects",
        "unrecoverable_objects",
        "gathered_bytes",
        "requests_completed",
        "requests_lost",
        "degraded_reads",
        "strips_rebuilt",
        "packets_dropped",
        "lent_bytes",
        "returned_pieces",
        "returned_objects",
        "surplus_pieces",
        "push_backlog_bytes",
    ):
        values = (result.metrics[name] for result in results().values())
        assert sum(value for value in values if isinstance(value, int)) > 0, name
    for name in ("failed_parts", "failed_disks", "failed_links", "slow_parts"):
        assert any(result.metrics.get(name) for result in results().values()), name
    slow = ",".join(str(result.metrics.get("slow_parts")) for result in results().values())
    assert all(f"{part}." in slow for part in ("server", "switch")) and "-" in slow


def test_pools_add_up_to_what_the_run_tells() -> None:
    several = 0
    for number, result in results().items():
        rows = result.pools.to_pylist()
        several += len(rows) > 1
        for name in (
            "rebuilt_pieces",
            "rebuilt_bytes",
            "affected_objects",
            "unrecoverable_objects",
        ):
            if rows:
                assert sum(row[name] for row in rows) == result.metrics[name], (number, name)
        if any(row["before_seconds"] is not None for row in rows):
            for name in ("before_requests_completed", "during_requests_completed"):
                of_pools = sum(row[name] or 0 for row in rows)
                assert of_pools == (result.metrics[name] or 0), (number, name)
    assert several >= 10


def test_what_is_lent_is_borrowed_and_what_is_gathered_is_sent() -> None:
    for number, result in results().items():
        rows = result.lanes.to_pylist()
        for part in {row["part"] for row in rows}:
            of_part = [row for row in rows if row["part"] == part]
            lent, borrowed, moved = (
                sum(row[name] for row in of_part)
                for name in ("lent_bytes", "borrowed_bytes", "bytes")
            )
            assert lent == borrowed <= moved, (number, part)
        gathered, of_network = result.metrics["gathered_bytes"], result.metrics["network_bytes"]
        if gathered is not None:
            decoded = result.metrics["decoded_bytes"]
            assert isinstance(gathered, int) and isinstance(of_network, int), number
            assert isinstance(decoded, int) and decoded <= gathered <= of_network, number


def test_parts_between_devices_and_ports_pass_no_more_than_devices_are_asked_for() -> None:
    seen = 0
    for number, result in results().items():
        seen += result.parts.num_rows > 0
        rows = result.parts.to_pylist()
        for level in {row["level"] for row in rows}:
            passed = sum(row["bytes"] for row in rows if row["level"] == level)
            read, written = (result.metrics[f"device_bytes_{what}"] for what in ("read", "written"))
            assert isinstance(read, int) and isinstance(written, int)
            # What was under way as statistics began may pass after it: a mebibyte at the most of
            # each of 64 requests.
            assert passed <= read + written + (64 << 20), (number, level)
        assert all(row["busy_fraction"] <= 1 for row in rows), number
    assert seen >= 10


def test_threads_and_processes_change_nothing() -> None:
    script = f"from {__name__} import printed; printed({list(AGAIN)!r})"
    other = environment(RAYON_NUM_THREADS="1", PYTHONHASHSEED="7")
    done = process(sys.executable, "-c", script, env=other, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [fingerprint(number) for number in AGAIN]
