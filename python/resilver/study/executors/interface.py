"""What a sweep asks of the thing that performs its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from resilver.errors import ConfigError, SimulationError
from resilver.study.progress import RunState


class ClusterLost(SimulationError):
    """The cluster can perform no more runs: its scheduler or all of its workers are gone, or what
    they run is another resilver. Runs that are finished are kept.
    """


@runtime_checkable
class StudyExecutor(Protocol):
    """The `concurrent.futures` interface and what a sweep needs beyond it.

    Functions are named as "package.module:function", so that a worker imports them itself and
    never the caller's main module. They are called with the arguments and, last, a report: a
    function of the task's state that answers whether to go on.
    """

    @property
    def workers(self) -> int:
        """How many tasks can be performed at once: a cluster's number grows and falls."""

    @property
    def shares_folder(self) -> bool:
        """Whether workers surely see the run folder; otherwise each looks for itself."""

    def submit(self, function: str, /, *arguments: Any) -> Future[Any]:
        """Have a worker call a function.

        Args:
            function: "package.module:function".
            arguments: picklable arguments.

        Returns:
            The future result. It ends with `WorkerDied` where the task ended its worker, and with
            `ClusterLost` where no worker is left.
        """

    def under_way(self) -> Mapping[Future[Any], RunState]:
        """What the tasks that are being performed reported last."""

    def stop(self) -> None:
        """Ask tasks to stop at their next report."""

    def kill(self) -> None:
        """End at once what has not stopped."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give back what the executor holds.

        Args:
            wait: return only when that is done.
            cancel_futures: drop tasks that no worker has begun.
        """


def tell_of_cancelling(future: Future[Any], then: Callable[[], object]) -> None:
    """Have a future that no worker takes up end when it is cancelled.

    `concurrent.futures.wait` counts a cancelled future as done only once its executor says that it
    has seen it.

    Args:
        future: a future that its executor only sets.
        then: called when it has been cancelled.
    """

    def see(done: Future[Any]) -> None:
        if done.cancelled():
            done.set_running_or_notify_cancel()
            then()

    future.add_done_callback(see)


def missing_package(error: ModuleNotFoundError, key: str) -> ConfigError:
    """The error of a way to execute whose packages are not installed.

    Args:
        error: the failed import.
        key: the option that asked for it.

    Returns:
        The error, which names the extra.
    """
    return ConfigError(
        f"the Python package '{error.name}' is needed and not installed",
        "install it with `pip install '.[cluster]'` in resilver's source folder",
        key=key,
    )
