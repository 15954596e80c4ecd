"""The `resilver` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command with the process's arguments and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command and answer its exit code.

    Args:
        arguments: the words after `resilver`.

    Returns:
        0 done, 1 failed, 2 bad usage or input, 3 a sweep left incomplete, 130 interrupted.
    """
    from resilver.cli.app import app
    from resilver.cli.console import report_error

    try:
        app(arguments, prog_name="resilver")
    except SystemExit as stop:
        code = _exit_code(stop)
    except BrokenPipeError:
        code = _reader_left()
    except BaseException as error:
        code = report_error(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _reader_left()
    return code


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    return stop.code if isinstance(stop.code, int) else 1


def _reader_left() -> int:
    """End quietly when the reader of stdout has what it wanted, as `resilver ... | head` has."""
    # The interpreter flushes stdout once more at exit; without a valid descriptor that would print
    # an error of its own.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
