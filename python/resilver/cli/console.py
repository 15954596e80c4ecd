"""Where the command prints: data to stdout, everything else to stderr."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from resilver.errors import ConfigError, Interrupted, PlacementError, ResilverError, show

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INCOMPLETE = 3
EXIT_DIFFERS = 4
EXIT_INTERRUPTED = 130

DEBUG_VARIABLE = "RESILVER_DEBUG"


def output() -> Console:
    """The console that carries data.

    Returns:
        A console on stdout, without colour unless stdout is a terminal and NO_COLOR is not set.
    """
    return Console(file=sys.stdout, highlight=False, no_color=_no_colour())


def messages() -> Console:
    """The console that carries progress and messages."""
    return Console(file=sys.stderr, highlight=False, no_color=_no_colour())


def _no_colour() -> bool:
    # Any value that is not empty means no colour (no-color.org).
    return bool(os.environ.get("NO_COLOR"))


def print_json(value: Any) -> None:
    """Print a value as JSON on stdout.

    Args:
        value: a JSON-able value; NaN and infinities become null, which JSON can carry.
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(text + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def say(text: str) -> None:
    """Print a message line on stderr.

    Args:
        text: plain text; never wrapped, so that paths in it can be copied.
    """
    messages().print(Text(text), soft_wrap=True)


def say_error(text: str) -> None:
    """Print an error: one `error:` line a problem.

    Args:
        text: the message; its further lines are indented below the first.
    """
    console = messages()
    for line in text.splitlines() or [""]:
        console.print(Text.assemble(("error: ", "bold red"), line), soft_wrap=True)


def make_folder(folder: Path, option: str, *, later: bool = False) -> None:
    """Make a folder that a person named; one that is there already will do.

    Args:
        option: how it was named, such as ``--tables``.
        later: look only whether a file stands where it would be.

    Raises:
        ConfigError: it is a file, or cannot be made.
    """
    files = [one for one in (folder, *folder.parents) if one.exists() and not one.is_dir()]
    if files:
        raise ConfigError("this is a file", "choose a folder", option, show(str(files[0])))
    try:
        if not later:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"it cannot be made ({error.strerror})"
        raise ConfigError(rule, "choose another folder", option, show(str(folder))) from error


def report_error(error: BaseException) -> int:
    """Print an error for a person and choose the exit code."""
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exception(error)
        for failure in getattr(error, "failures", []):
            sys.stderr.write(str(failure.get("details", "")))
    if isinstance(error, Interrupted):
        say(str(error))
        return EXIT_INTERRUPTED
    if isinstance(error, KeyboardInterrupt):
        say("interrupted")
        return EXIT_INTERRUPTED
    # A map that cannot place is bad input just as a study that cannot be read.
    if isinstance(error, (ConfigError, PlacementError)):
        say_error(str(error))
        return EXIT_BAD_INPUT
    if isinstance(error, ResilverError):
        first, *rest = str(error).splitlines() or [""]
        say_error(first)
        for line in rest:
            say(f"  {line}")
        if getattr(error, "bad_input", False):
            return EXIT_BAD_INPUT
        return EXIT_INCOMPLETE if getattr(error, "resumable", False) else EXIT_FAILED
    if isinstance(error, ModuleNotFoundError):
        say_error(f"the Python package {error.name!r} is missing; install resilver again with pip")
        return EXIT_FAILED
    say_error(f"unexpected {type(error).__name__}: {error}")
    say(
        "  this is a defect of resilver: please report it with the command, the study file and its "
        f"seed; {DEBUG_VARIABLE}=1 prints the details"
    )
    return EXIT_FAILED
