"""Missions simulated in batches: here, in processes or on a cluster; kept, and taken up again.

What a batch gives follows from the system, the method, the seed and the batch's number; which
batches there are follows from what the ones before gave. So an answer is the same wherever it is
simulated, and however often it was interrupted.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from resilver.data_loss.request import Where
from resilver.simulate import version
from resilver.simulate.durability import DurabilityModel
from resilver.simulate.sums import Sums
from resilver.study.executors import choose
from resilver.study.files import replace_text
from resilver.study.progress import RunState

PERFORM = "resilver.data_loss.batches:perform_batch"

_SECONDS_BETWEEN_LOOKS = 0.2

_FEWEST = 16

# Each of the four batches of the first round takes so many events of the core; each round after it
# as many missions as all before it, so that an error is looked at seldom: one that is looked at
# often is small by chance once. An event of a device in more sets than this takes longer, by as
# much.
_FIRST_ROUND = 4
_EVENTS = 100_000
_SETS = 200
_ROUND_MAX = 64


@dataclass(frozen=True)
class Plan:
    """How missions are simulated.

    Attributes:
        text: The system, as the core reads it.
        method: The core's method.
        seed: The key of every draw.
        each: Missions of a batch of the first round.
        most: The most missions.
        relative_error: The standard error over the value at which it ends; zero for never.
    """

    text: str
    method: dict[str, Any]
    seed: int
    each: int
    most: int
    relative_error: float

    @property
    def key(self) -> str:
        """What names its batches: all that they depend on."""
        said = json.dumps([self.text, self.method, self.seed, self.each, version], sort_keys=True)
        return sha256(said.encode()).hexdigest()[:16]

    def rounds(self) -> Iterator[tuple[int, ...]]:
        """The missions of each batch, by rounds that are simulated one after the other.

        >>> plan = Plan("", {}, 0, each=100, most=1500, relative_error=0.05)
        >>> [sum(sizes) for sizes in plan.rounds()], [len(sizes) for sizes in plan.rounds()]
        ([400, 400, 700], [4, 4, 8])
        """
        done, count = 0, _FIRST_ROUND
        while done < self.most:
            wanted = min(self.most - done, done or _FIRST_ROUND * self.each)
            count = min(count, wanted)
            yield tuple(
                (wanted * (at + 1)) // count - (wanted * at) // count for at in range(count)
            )
            count = _FIRST_ROUND if not done else min(2 * count, _ROUND_MAX)
            done += wanted


def batch_size(events: int, trajectories: int, most: int, sets: float) -> int:
    """How many missions a batch has, by what those of a pilot took.

    Args:
        events: Events of the pilot.
        trajectories: Its missions.
        most: The most missions of all batches.
        sets: In how many sets a device is, in the mean.
    """
    each = int(_EVENTS / max(1.0, sets / _SETS) * trajectories / max(events, 1))
    return max(_FEWEST, min(each, -(-most // _FIRST_ROUND), 2**31))


def simulate_batches(
    plan: Plan, where: Where, told: Callable[..., None] | None = None
) -> list[Sums]:
    """Simulate missions until the loss probability is known well enough.

    Args:
        plan: What is simulated, and how well it is to be known.
        where: Where it is performed and kept.
        told: Told of the missions done so far, the most, and the relative error, as `telling` is.

    Returns:
        The sums of every batch, in their order.

    Raises:
        ConfigError: What a folder keeps is not of this question, or a worker cannot be had.
        Interrupted: `told` said so, or Ctrl-C; finished batches are kept.
    """
    folder = None if where.folder is None else where.folder / f"missions-{plan.key}"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    done: list[Sums] = []
    with _Performer(plan, where) as performer:
        for sizes in plan.rounds():
            done += _round(plan, performer, folder, sizes, done, told)
            error = Sums.joined(done).relative_error
            if error is not None and error <= plan.relative_error:
                break
    return done


def _round(
    plan: Plan,
    performer: _Performer,
    folder: Path | None,
    sizes: Sequence[int],
    before: Sequence[Sums],
    told: Callable[..., None] | None,
) -> list[Sums]:
    """The batches of a round: those that are kept, and the others performed."""
    first = len(before) + 1
    sized = dict(enumerate(sizes, first))
    found = {
        number: sums
        for number, size in sized.items()
        if (sums := _kept(folder, number)) is not None and sums.trajectories == size
    }

    def note(number: int, sums: Sums) -> None:
        found[number] = sums
        if folder is not None:
            replace_text(_path(folder, number), json.dumps(sums.to_dict()))
        if told is not None:
            whole = Sums.joined([*before, *found.values()])
            told(whole.trajectories, plan.most, whole.relative_error)

    performer.perform({n: size for n, size in sized.items() if n not in found}, note)
    return [found[number] for number in sized]


def _path(folder: Path, number: int) -> Path:
    return folder / f"batch-{number:06}.json"


def _kept(folder: Path | None, number: int) -> Sums | None:
    """A finished batch that the folder keeps; None where it has none that is whole."""
    if folder is None:
        return None
    try:
        return Sums.from_dict(json.loads(_path(folder, number).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


class _Performer:
    """Performs batches: in this process, or by an executor."""

    def __init__(self, plan: Plan, where: Where) -> None:
        self.plan = plan
        is_here = where.executor is None and not where.workers
        self.choice = None if is_here else choose(where.executor, workers=where.workers)
        self.executor: Any = None

    def __enter__(self) -> _Performer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.executor is not None:
            if kind is not None:
                self.executor.kill()
            self.executor.shutdown(cancel_futures=True)

    def perform(self, sizes: Mapping[int, int], note: Callable[[int, Sums], None]) -> None:
        """Perform batches of some numbers and sizes, and note each as it is finished."""
        plan = self.plan
        calls = {
            number: (plan.text, plan.method, plan.seed, number, size)
            for number, size in sizes.items()
        }
        if self.choice is None:
            for number, call in calls.items():
                note(number, Sums.from_dict(perform_batch(*call, lambda _: True)))
            return
        if calls and self.executor is None:
            # As many as a long answer has at once; it opens no more than there are processors.
            self.executor = self.choice.open(_ROUND_MAX)
        pending: dict[Future[Any], int] = {
            self.executor.submit(PERFORM, *call): number for number, call in calls.items()
        }
        while pending:
            finished, _ = wait(pending, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            for future in finished:
                note(pending.pop(future), Sums.from_dict(future.result()))


def perform_batch(
    text: str,
    method: dict[str, Any],
    seed: int,
    number: int,
    trajectories: int,
    report: Callable[[RunState], bool],
) -> dict[str, Any]:
    """Simulate a batch of missions, in whatever process.

    Args:
        text: The system, as the core reads it.
        method: The core's method.
        seed: The key of every draw.
        trajectories: How many missions it has.
        report: Told how far it is; answers whether to go on.

    Returns:
        Its sums.

    Raises:
        ConfigError: The system cannot be.
        Interrupted: `report` answered False.
    """
    model = _model(text)
    state = RunState("simulating")

    def goes_on(done: int) -> bool:
        return report(state._replace(fraction=done / trajectories))

    return model.batch(method, seed, number, trajectories, goes_on).to_dict()


# The system as the core has it: made once a process, as all its batches ask for it.
_model = functools.lru_cache(maxsize=2)(DurabilityModel)
