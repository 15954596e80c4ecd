"""A Dask scheduler that is running already: its address, and the connection to it."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, Problem, raise_all, show
from resilver.study.executors.build import Build, own_build
from resilver.study.executors.interface import missing_package
from resilver.study.executors.on_dask import REMEDY, DaskExecutor, quiet_dask
from resilver.study.executors.remote import build_of_worker

KEY = "--cluster"

_CONNECT_SECONDS = 10.0

# Workers that were asked for by hand are there, or start now and come within a minute; that covers
# the restart of a killed worker by its nanny too.
_WAIT_SECONDS = 60.0

# A worker answers at once unless its machine is stuck.
_ANSWER_SECONDS = 30.0

_ADDRESS = re.compile(
    r"(?P<scheme>tcp|tls|ws|wss|ucx|ucxx)://(?P<host>\[[^\]]+\]|[^:/\s]+):\d{1,5}"
)


def check_address(text: str) -> str:
    """The address of a scheduler, from the address or from its scheduler file.

    Args:
        text: such as "tcp://node1:8786", or the path of a scheduler file.

    Raises:
        ConfigError: it is neither.

    >>> check_address("tcp://node1:8786")
    'tcp://node1:8786'
    """
    if "://" in text:
        if _ADDRESS.fullmatch(text) is None:
            rule = "a scheduler's address is tcp://HOST:PORT"
            remedy = "copy it from what `dask scheduler` printed, such as tcp://node1:8786"
            raise ConfigError(rule, remedy, key=KEY, value=show(text))
        return text
    path = Path(text).expanduser()
    try:
        address = json.loads(path.read_text(encoding="utf-8"))["address"]
    except FileNotFoundError:
        rule = "there is no such file, and it is no address and no batch system"
        remedy = "give tcp://HOST:PORT, a scheduler file, slurm, pbs, lsf or allocation"
        raise ConfigError(rule, remedy, key=KEY, value=show(text)) from None
    except (OSError, ValueError, KeyError, TypeError):
        rule = "this is not a scheduler file: it has no JSON with the key 'address'"
        remedy = "give the file that `dask scheduler --scheduler-file FILE` wrote"
        raise ConfigError(rule, remedy, key=KEY, value=show(text)) from None
    if not isinstance(address, str) or _ADDRESS.fullmatch(address) is None:
        rule = f"its key 'address' is {show(address)}, which is no address"
        raise ConfigError(rule, key=KEY, value=show(text))
    return address


def connect(address: str) -> DaskExecutor:
    """An executor on a running scheduler.

    Returns:
        The executor, whose workers have been found to run this resilver.

    Raises:
        ConfigError: Dask is not installed, no scheduler answers, or a worker runs another resilver.
    """
    client = connected(address, address)
    return on_client(client, f"the Dask cluster at {address}", client.close)


def connected(target: Any, shown: str) -> Any:
    """A Dask client.

    Args:
        target: an address or a Dask cluster object.
        shown: the target in messages.

    Returns:
        The connected `distributed.Client`.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise missing_package(error, KEY) from error
    quiet_dask()
    try:
        if isinstance(target, str) and target.startswith(("tcp://", "tls://")):
            # Dask tries again and again where nobody listens; one refusal is enough.
            host, _, port = target.partition("://")[2].rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        return _in_time(
            lambda: Client(target, timeout=_CONNECT_SECONDS, set_as_default=False),
            _CONNECT_SECONDS + 2.0,
        )
    except Exception as error:
        # Dask raises what its transport raised, and that is of many kinds.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        rule = f"no Dask scheduler answers there ({reason})"
        remedy = "see that `dask scheduler` runs there and that this machine can reach it"
        raise ConfigError(rule, remedy, key=KEY, value=show(shown)) from error


def _in_time(call: Callable[[], Any], seconds: float) -> Any:
    """Call a function that may never return, as Dask does where something else listens.

    Raises:
        TimeoutError: it has not returned; it is left alone in a thread that ends with the process.
    """
    answer: Future[Any] = Future()

    def answer_call() -> None:
        try:
            # Only resilver decides the results, and its build is compared by itself.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=answer_call, daemon=True).start()
    try:
        return answer.result(seconds)
    except FutureTimeoutError:
        if answer.done():
            raise
        raise TimeoutError("what answers there is no Dask scheduler") from None


def on_client(
    client: Any,
    where: str,
    close: Callable[[], Any],
    *,
    first_wait_seconds: float | None = _WAIT_SECONDS,
) -> DaskExecutor:
    """An executor on a connected client.

    Args:
        client: a connected `distributed.Client`.
        where: the cluster in words.
        close: called when the executor is shut down.
        first_wait_seconds: how long to wait for a first worker; None for any time.

    Raises:
        ConfigError: a worker runs another resilver; `close` has been called.
    """
    try:
        _refuse_other_builds(client, where)
    except TimeoutError:
        _quietly(close)
        rule = f"a worker does not answer within {_ANSWER_SECONDS:g} s"
        raise ConfigError(rule, "restart it", key=KEY, value=show(where)) from None
    except BaseException:
        _quietly(close)
        raise
    try:
        return DaskExecutor(
            client,
            where,
            first_wait_seconds=first_wait_seconds,
            lost_wait_seconds=_WAIT_SECONDS,
            close=lambda: _quietly(close),
        )
    except BaseException:
        _quietly(close)
        raise


def _quietly(close: Callable[[], Any]) -> None:
    # A cluster that is gone already cannot be closed, and that is as good.
    with contextlib.suppress(Exception):
        close()


def _refuse_other_builds(client: Any, where: str) -> None:
    """Compare the workers that are there; those that come later are compared task by task."""
    answers = _in_time(lambda: client.run(build_of_worker, on_error="return"), _ANSWER_SECONDS)
    problems = []
    for address, answer in answers.items():
        if isinstance(answer, Build):
            difference = own_build().difference(answer)
        elif isinstance(answer, ModuleNotFoundError):
            difference = f"has no Python package '{answer.name}'"
        elif isinstance(answer, OSError):
            # It is dying or restarting; its tasks are compared when it is back.
            difference = None
        else:
            difference = f"cannot tell which resilver it runs ({answer})"
        if difference is not None:
            rule = f"the worker at {address} {difference}"
            problems.append(Problem(rule, REMEDY, key=KEY, value=show(where)))
    raise_all(problems)
