"""Requests: what a question asks, declared once, as the fields of a dataclass.

A field is an option of the command that asks, with its names, its sentence and its default, and an
argument of the API. Where it is a quantity the field says how it is read, its range and an example,
and every command refuses others in the same form.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any, SupportsFloat

from resilver.errors import ConfigError, Problem, show
from resilver.units import Bytes, BytesPerSecond, Seconds

_SHARE = re.compile(r"(\d+(?:\.\d*)?(?:e-?\d+)?)\s*(%?)")


@dataclasses.dataclass(frozen=True)
class Quantity:
    """How a quantity of a request is read.

    Args:
        parse: Reads its text into SI units, and raises `ConfigError` of others.
        example: A value, as it is typed.
        least: What it is above.
        most: What it is at most; infinity where nothing bounds it.
    """

    parse: Callable[[str], SupportsFloat]
    example: str
    least: float = 0.0
    most: float = math.inf

    def read(self, text: str, key: str) -> float:
        """A value in SI units.

        Args:
            text: What was typed.
            key: The option, which an error names.

        Raises:
            ConfigError: It is no such quantity, or beyond its range.
        """
        try:
            value = float(self.parse(text))
        except ConfigError as error:
            raise ConfigError(problem.under(key) for problem in error.problems) from None
        if not self.least < value <= self.most:
            top = f" and at most {self.most:g}" if math.isfinite(self.most) else ""
            rule = f"the value must be above {self.least:g}{top}"
            raise ConfigError(Problem(rule, f"such as {self.example}", key=key, value=show(text)))
        return value


def _share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(Problem("a share is a percentage or a number", value=show(text)))
    return float(match[1]) / (100.0 if match[2] else 1.0)


def seconds(example: str = "10 h") -> Quantity:
    """A duration above 0, in seconds."""
    return Quantity(Seconds.parse, example)


def size(example: str = "20 TB") -> Quantity:
    """A size above 0, in bytes."""
    return Quantity(Bytes.parse, example)


def rate(example: str = "500 MB/s") -> Quantity:
    """A rate above 0, in bytes a second."""
    return Quantity(BytesPerSecond.parse, example)


def share(example: str = "5%", most: float = 1.0) -> Quantity:
    """A share above 0 and at most `most`, as ``5%`` or ``0.05``."""
    return Quantity(_share, example, most=most)


def option(
    *names: str,
    text: str,
    default: Any = None,
    quantity: Quantity | None = None,
    is_output: bool = False,
    **more: Any,
) -> Any:
    """A field of a request that is an option of a command.

    Args:
        names: Its names, as they are typed.
        text: Its help.
        default: Its value where it is not given; a tuple may stand several times.
        quantity: How its text is read by `value_of`; None where it is no quantity.
        is_output: Whether it says where the answer goes, and nothing of what is asked.
        more: What `typer.Option` takes.
    """
    metadata = {"names": names, "text": text, "quantity": quantity, "is_output": is_output}
    return dataclasses.field(default=default, metadata={**metadata, **more, "more": more})


def argument(metavar: str, *, text: str, default: Any = dataclasses.MISSING) -> Any:
    """A field of a request that is an argument of a command; without a default it is required."""
    return dataclasses.field(default=default, metadata={"metavar": metavar, "text": text})


def is_asked(field: dataclasses.Field[Any]) -> bool:
    """Whether a field of a dataclass is an option or an argument."""
    return "text" in field.metadata


def name_of(request: Any, field: str) -> str:
    """The name of an option, as it is typed.

    Args:
        request: A request, or its class.
        field: The name of the field.
    """
    declared = next(one for one in dataclasses.fields(request) if one.name == field)
    return str(declared.metadata["names"][0])


def value_of(request: Any, field: str) -> float | None:
    """A quantity of a request in SI units; None where it was not given.

    Args:
        request: The request.
        field: The name of a field that declares a quantity.

    Raises:
        ConfigError: Its text is no such quantity, or beyond its range.
    """
    text = getattr(request, field)
    if text is None or text == "":
        return None
    declared = next(one for one in dataclasses.fields(request) if one.name == field)
    quantity: Quantity = declared.metadata["quantity"]
    return quantity.read(text, declared.metadata["names"][0])
