"""Problems with a section in words that need no knowledge of pydantic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from resilver.errors import ConfigError, Problem, Problems, name_remedy, show


def unknown_key(key: str, known: list[str], value: str | None = None) -> Problem:
    """The problem of a key that does not exist."""
    return Problem("there is no such key", name_remedy(key, known, "keys"), key=key, value=value)


def problems_of(error: ValidationError, model: type[BaseModel]) -> Problems:
    """The problems in a pydantic error, in words that need no knowledge of pydantic.

    Args:
        error: What validation raised.
        model: The model that was validated.

    Yields:
        One problem or more for each entry, with keys relative to the model.
    """
    details = error.errors(include_url=False)
    for detail in details:
        place = detail["loc"]
        inside = (other["loc"] for other in details if len(other["loc"]) > len(place))
        if detail["type"] == "too_short" and any(loc[: len(place)] == place for loc in inside):
            # A list is short of the values that are wrong.
            continue
        location = [str(part) for part in detail["loc"] if not str(part).startswith("function-")]
        key = ".".join(location)
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            for problem in cause.problems:
                if not (problem.key or problem.remedy or problem.place):
                    problem = replace(problem, remedy=_such_as(model, location))
                yield problem.under(key)
        elif detail["type"] == "extra_forbidden":
            owner = _model_at(model, location[:-1])
            fields = owner.model_fields.items() if owner else ()
            known = [field.alias or name for name, field in fields]
            found = unknown_key(location[-1], known, show(detail["input"]))
            yield found.under(".".join(location[:-1]))
        elif detail["type"] == "missing":
            rule = "this key is required"
            yield Problem(rule, f"add it: {_how_to(model, location)}", key=key)
        else:
            problem = _plain(detail, key)
            word = getattr(_model_at(model, location), "word", "")
            if word:
                near = name_remedy(detail["input"], [word], "words")
                remedy = near if near.startswith("did you mean") else problem.remedy
                problem = replace(problem, rule=f'{problem.rule}, or "{word}"', remedy=remedy)
            yield replace(problem, remedy=problem.remedy or _such_as(model, location))


def kinds_in(annotation: Any) -> Iterator[type[Any]]:
    """The classes that an annotation names, in a list or beside others too."""
    if isinstance(annotation, type):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from kinds_in(part)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a key of this annotation holds, if it holds one."""
    return next((kind for kind in kinds_in(annotation) if issubclass(kind, BaseModel)), None)


def field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of a model's key, as a study file calls it."""
    return next((one for name, one in model.model_fields.items() if key in (name, one.alias)), None)


def _model_at(model: type[BaseModel] | None, location: list[str]) -> type[BaseModel] | None:
    """The model of the table at a location, as far as plain annotations lead there."""
    for part in location:
        if model is not None and not part.isdecimal():
            field = field_of(model, part)
            model = model_in(field.annotation) if field else None
    return model


def _field_at(model: type[BaseModel], location: list[str]) -> FieldInfo | None:
    owner = _model_at(model, location[:-1])
    return field_of(owner, location[-1]) if owner and location else None


def _how_to(model: type[BaseModel], location: list[str]) -> str:
    field = _field_at(model, location)
    if field is not None and field.examples:
        return f"{location[-1]} = {show(field.examples[0])}"
    return location[-1]


def _such_as(model: type[BaseModel], location: list[str]) -> str:
    """A remedy for a key: its examples, and to leave it out where it has no default."""
    field = _field_at(model, location)
    if field is None or not field.examples:
        return ""
    words = "such as " + " or ".join(map(show, field.examples))
    return words if field.default is not None else f"{words}, or leave it out"


_WORDS = {
    "int_type": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "int_parsing": "a whole number is needed",
    "float_type": "a number is needed",
    "finite_number": "a finite number is needed",
    "bool_type": "true or false is needed",
    "string_type": "text is needed",
    "tuple_type": "a list is needed",
    "list_type": "a list is needed",
    "dict_type": "a table is needed",
    "model_type": "a table is needed",
    "model_attributes_type": "a table is needed",
}


def _plain(detail: ErrorDetails, key: str) -> Problem:
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    remedy = ""
    if kind == "literal_error":
        names = [
            part.strip("'") for part in str(context["expected"]).replace(" or ", ", ").split(", ")
        ]
        rule, remedy = "this is not one of the choices", name_remedy(value, names, "choices")
        if remedy.startswith("did you mean"):
            remedy += " (choices: " + ", ".join(f'"{name}"' for name in names) + ")"
    elif kind == "greater_than_equal":
        rule = f"this must be at least {context['ge']}"
    elif kind == "greater_than":
        rule = f"this must be above {context['gt']}"
    elif kind == "less_than":
        rule = f"this must be below {context['lt']:g}"
    elif kind == "less_than_equal":
        rule = f"this must be at most {context['le']}"
    elif kind == "too_short":
        rule = f"at least {context['min_length']} value is needed"
    elif kind == "value_error":
        rule = str(context.get("error", detail["msg"]))
    else:
        message = detail["msg"]
        rule = _WORDS.get(kind, message[:1].lower() + message[1:])
    return Problem(rule, remedy, key=key, value=show(value))
