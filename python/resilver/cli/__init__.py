"""The `resilver` command."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys

from resilver.without_pandas import leave_pandas_out


def main() -> None:
    """Run the command with the process's arguments and exit with its code."""
    leave_pandas_out()
    # Dumps become millions of objects that stay: looking for circles among them took a tenth of a
    # command's time, and there are few.
    gc.set_threshold(100_000, 50, 50)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command and answer its exit code.

    Args:
        arguments: the words after `resilver`.

    Returns:
        0 done, 1 failed, 2 bad usage or input, 3 a sweep left incomplete, 4 a published number
        differs, 130 interrupted.
    """
    _open_closed_streams()
    _spare_letters()
    try:
        code = _perform(arguments)
    except SystemExit as stop:
        code = _exit_code(stop)
    except BrokenPipeError:
        code = _reader_left()
    except OSError as error:
        code = _output_failed(error)
    except BaseException as error:
        from resilver.cli.console import report_error

        code = report_error(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _reader_left()
    except OSError as error:
        code = _output_failed(error)
    return code


def _perform(arguments: list[str]) -> int:
    if arguments[:1] in (["--version"], ["-V"]):
        # What `cli.app` answers, without the parser, whose import takes ten times as long.
        from resilver import __version__

        print(f"resilver {__version__}")
        return 0
    from resilver.cli.app import app

    app(arguments, prog_name="resilver")
    raise AssertionError("the parser ends by SystemExit")


def _open_closed_streams() -> None:
    """Give a process that was started without stdout or stderr one that takes everything."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _spare_letters() -> None:
    """Let letters that a stream's encoding lacks, as a tick in ASCII, stand as question marks.

    A byte of a name that is no UTF-8 stands as ``\\udcff``, which is JSON too.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_utf8 = stream.encoding.lower() == "utf-8"
            wanted = "backslashreplace" if is_utf8 else "replace"
            if stream.errors != wanted:
                stream.reconfigure(errors=wanted)


def _exit_code(stop: SystemExit) -> int:
    # The parser's library ends with 1 where a pipe is closed, and hides its error behind that.
    if isinstance(stop.__context__, BrokenPipeError):
        return _reader_left()
    if stop.code is None:
        return 0
    return stop.code if isinstance(stop.code, int) else 1


def _reader_left() -> int:
    """End quietly when the reader of stdout has what it wanted, as `resilver ... | head` has."""
    _drop_output()
    return 0


def _output_failed(error: OSError) -> int:
    """Say why stdout takes no more; an error of a named file is told where the file is used."""
    from resilver.cli.console import EXIT_FAILED, report_error, say_error

    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF) or (
        error.filename is not None
    ):
        return report_error(error)
    reason = error.strerror or str(error)
    say_error(f"stdout cannot be written: {reason}; make room, or write elsewhere")
    _drop_output()
    return EXIT_FAILED


def _drop_output() -> None:
    # The interpreter flushes stdout once more at exit; without a valid descriptor that would print
    # an error of its own.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
