"""Requests: what a question asks, declared once, as the fields of a dataclass.

A field is an option of the command that asks, with its names, its sentence and its default, and an
argument of the API. Where it is a quantity the field says how it is read, its range and an example,
and every command refuses others in the same form.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeVar

from resilver.errors import ConfigError, Problem, Problems, name_remedy, show
from resilver.failure_rates import LongSeconds
from resilver.units import Bytes, BytesPerSecond, Seconds

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Request = TypeVar("_Request", bound="DataclassInstance")
SEPARATOR = "\x1f"
"""Joins the words of an option that takes several; no name can contain it."""
_DAY = 86_400.0
_SHARE = re.compile(r"(\d+(?:\.\d*)?(?:e-?\d+)?)\s*(%?)")


@dataclasses.dataclass(frozen=True)
class Quantity:
    """How a quantity of a request is read.

    Args:
        parse: Reads its text into SI units, and raises `ConfigError` of others.
        example: A value, as it is typed.
        least: What it is above.
        most: What it is at most; infinity where nothing bounds it.
        metavar: What stands for it in a command's help.
    """

    parse: Callable[[str], SupportsFloat]
    example: str
    least: float = 0.0
    most: float = math.inf
    metavar: str = "N"

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
        return self.within(value, key, show(text))

    def within(self, value: float, key: str, shown: str) -> float:
        """The value, if it is one that this quantity may have; `shown` is it as it was given.

        Raises:
            ConfigError: It is beyond its range.
        """
        if not self.least < value <= self.most:
            top = f" and at most {self.most:g}" if math.isfinite(self.most) else ""
            rule = f"the value must be above {self.least:g}{top}"
            raise ConfigError(rule, f"such as {self.example}", key=key, value=shown)
        return value


def _share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        raise ConfigError("a share is a percentage or a number", value=show(text))
    return float(match[1]) / (100.0 if match[2] else 1.0)


def _days(text: str) -> float:
    age = LongSeconds.parse(text) / _DAY
    if age != int(age):
        raise ConfigError("the age is whole days", 'such as "14 d"', value=show(text))
    return age


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError("this is a number", value=show(text)) from None


def seconds(example: str = "10 h") -> Quantity:
    """A duration above 0, in seconds."""
    return Quantity(Seconds.parse, example, metavar="TIME")


def size(example: str = "20 TB") -> Quantity:
    """A size above 0, in bytes."""
    return Quantity(Bytes.parse, example, metavar="SIZE")


def rate(example: str = "500 MB/s") -> Quantity:
    """A rate above 0, in bytes a second."""
    return Quantity(BytesPerSecond.parse, example, metavar="RATE")


def share(example: str = "5%", most: float = 1.0) -> Quantity:
    """A share above 0 and at most `most`, as ``5%`` or ``0.05``."""
    return Quantity(_share, example, most=most, metavar="SHARE")


def days(example: str = "14 d") -> Quantity:
    """An age in whole days."""
    return Quantity(_days, example, least=-math.inf, metavar="DAYS")


def number(example: str = "1000") -> Quantity:
    """A number above 0."""
    return Quantity(_number, example, most=1e18)


def option(
    *names: str,
    text: str,
    default: Any = None,
    quantity: Quantity | None = None,
    is_output: bool = False,
    endings: Sequence[str] | None = None,
    choices: Sequence[str] = (),
    flag: str | None = None,
    of: tuple[str, ...] = (),
    **more: Any,
) -> Any:
    """A field of a request that is an option of a command.

    Args:
        names: Its names, as they are typed, where they are not the field's own.
        text: Its help.
        default: Its value where it is not given; a tuple may stand several times.
        quantity: How its text is read by `value_of`; None where it is no quantity.
        is_output: Whether it says where the answer goes, or what computes it, and not what is
            asked.
        endings: Of such a file, the endings that its name may have; none where it may have any.
            Before anything is computed a command refuses a place where the answer cannot go.
        choices: The texts that it may be, where not any.
        flag: Its value where its name is typed, which then takes none.
        of: The options of which one must be given with it, as "--quality" or "--balance ceph".
        more: What `typer.Option` takes.
    """
    more = ({"metavar": quantity.metavar} if quantity else {}) | more
    metadata: dict[str, Any] = {"names": names, "text": text, "quantity": quantity}
    metadata |= {"is_output": is_output, "endings": endings, "choices": choices}
    metadata |= {"flag": flag, "of": of}
    return dataclasses.field(default=default, metadata={**metadata, **more, "more": more})


def argument(metavar: str, *, text: str, default: Any = dataclasses.MISSING) -> Any:
    """A field of a request that is an argument of a command; without a default it is required."""
    return dataclasses.field(default=default, metadata={"metavar": metavar, "text": text})


def names_of(field: dataclasses.Field[Any]) -> tuple[str, ...]:
    """The names of an option, as they are typed, by default its field's own; none of others."""
    own = ("--" + field.name.replace("_", "-"),)
    return (field.metadata["names"] or own) if "names" in field.metadata else ()


def is_asked(field: dataclasses.Field[Any]) -> bool:
    """Whether a field of a dataclass is an option or an argument."""
    return "text" in field.metadata


def unused_options(*requests: Any) -> list[Problem]:
    """What is wrong with options given without the one that they apply to.

    Args:
        requests: All requests of a command.
    """
    given: dict[str, tuple[str, ...]] = {}
    values: set[str] = set()
    for request in requests:
        for field in dataclasses.fields(request):
            value = getattr(request, field.name)
            names = names_of(field)
            if names and value != field.default:
                name = names[0]
                given[name] = field.metadata["of"]
                values.add(f"{name} {value}")
    return [
        Problem(f"it applies only with {' or '.join(of)}", "add that, or leave it out", name)
        for name, of in given.items()
        if of and not any(one in given or one in values for one in of)
    ]


def name_of(request: Any, field: str) -> str:
    """The name of an option, as it is typed.

    Args:
        request: A request, or its class.
        field: The name of the field.
    """
    declared = next(one for one in dataclasses.fields(request) if one.name == field)
    return names_of(declared)[0]


def refuse(request: Any, fields: Iterable[str], rule: str, remedy: str = "leave it out") -> None:
    """Refuse options that mean nothing beside others.

    Args:
        fields: The names of their fields.
        rule: Why, as a clause.
        remedy: What to do instead.

    Raises:
        ConfigError: One of them is given, which is to say not its default.
    """
    declared = {field.name: field for field in dataclasses.fields(request)}
    for name in fields:
        value = getattr(request, name)
        if value is not None and value != declared[name].default:
            value = value[0] if isinstance(value, tuple) else value
            value = show(value if isinstance(value, int | float) else str(value))
            raise ConfigError(rule, remedy, key=name_of(request, name), value=value)


def value_of(request: Any, field: str) -> float | None:
    """A quantity of a request in SI units; None where it was not given.

    Args:
        field: The name of a field that declares a quantity; an API may give a number for its text.

    Raises:
        ConfigError: Its text is no such quantity, or beyond its range.
    """
    text = getattr(request, field)
    if text is None or text == "":
        return None
    declared = next(one for one in dataclasses.fields(request) if one.name == field)
    quantity: Quantity = declared.metadata["quantity"]
    if isinstance(text, int | float):
        return quantity.within(text, field, str(text))
    return quantity.read(text, names_of(declared)[0])


def request_of(kind: type[_Request], options: Mapping[str, Any]) -> _Request:
    """The request that options by their names make.

    Args:
        kind: Its class.
        options: Values of its fields; of a field of several texts, one is enough.

    Raises:
        ConfigError: There is no such option, or its value cannot be.
    """
    known = {field.name: field.default for field in dataclasses.fields(kind)}
    values = {}
    for name, value in options.items():
        if name not in known:
            remedy = name_remedy(name, list(known))
            raise ConfigError("there is no option of this name", remedy, key=name)
        is_many = isinstance(known[name], tuple)
        values[name] = ((value,) if isinstance(value, str) else tuple(value)) if is_many else value
    request = kind(**values)
    check(request)
    return request


def check(request: DataclassInstance) -> None:
    """Refuse values that are none of an option's choices or beyond its range.

    Raises:
        ConfigError: With every such value.
    """
    if problems := list(_problems(request)):
        raise ConfigError(problems)


def _problems(request: DataclassInstance) -> Problems:
    for field in dataclasses.fields(request):
        value, declared = getattr(request, field.name), field.metadata
        choices, least = declared.get("choices"), declared.get("min")
        if value == field.default:
            continue
        if choices and value not in choices:
            rule = f"this is {', '.join(choices[:-1])} or {choices[-1]}"
            yield Problem(rule, name_remedy(str(value), choices), field.name, show(value))
        most = declared.get("max", math.inf)
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if least is not None and not (is_number and least <= value <= most):
            rule = f"this is a whole number from {least:,}"
            rule += f" to {most:,}" if math.isfinite(most) else " on"
            yield Problem(rule, f"such as {least}", field.name, show(value))


def places_of(*requests: Any) -> dict[str, Any]:
    """Where an answer goes: the values of the options that say so, by their names.

    Args:
        requests: All requests of a command.
    """
    return {
        names_of(field)[0]: getattr(request, field.name)
        for request in requests
        for field in dataclasses.fields(request)
        if field.metadata.get("is_output")
    }


def words_of(
    request: DataclassInstance, *, has_folders: bool = False
) -> tuple[list[str], list[str]]:
    """The arguments and the options that ask the same again, as they are typed.

    Args:
        request: The request. What has its default is left out, and so is where the answer goes.
        has_folders: Whether files keep their folders, of which a page tells none.
    """

    def word(value: Any) -> str:
        text = str(value)
        level, sign, path = text.rpartition("=")
        is_file = isinstance(value, Path) or ("/" in path and Path(path).exists())
        return f"{level}{sign}{Path(path).name}" if is_file and not has_folders else text

    words: list[str] = []
    options: list[str] = []
    for field in dataclasses.fields(request):
        value = getattr(request, field.name)
        if not is_asked(field) or field.metadata.get("is_output"):
            continue
        names = names_of(field)
        if value in (None, field.default) and names:
            continue
        values = value if isinstance(value, tuple) else (value,)
        if not names:
            words += map(word, values)
        elif value is True or field.metadata["flag"]:
            options.append(names[0])
        else:
            for one in values:
                parts = one.split(SEPARATOR) if isinstance(one, str) else [one]
                options += [names[0], *map(word, parts)]
    return words, options
