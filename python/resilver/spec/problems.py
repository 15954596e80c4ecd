"""Problems with a section in words that need no knowledge of pydantic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from resilver.errors import ConfigError, Problem, name_remedy, show


def unknown_key(key: str, known: list[str], value: str | None = None) -> Problem:
    """The problem of a key that does not exist."""
    return Problem("there is no such key", name_remedy(key, known, "keys"), key=key, value=value)


def problems_of(error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
    """The problems in a pydantic error, in words that need no knowledge of pydantic.

    Args:
        error: What validation raised.
        model: The model that was validated.

    Yields:
        One problem or more for each entry, with keys relative to the model.
    """
    for detail in error.errors(include_url=False):
        location = [str(part) for part in detail["loc"] if not str(part).startswith("function-")]
        key = ".".join(location)
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            yield from [problem.under(key) for problem in cause.problems]
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
            yield _plain(detail, key)


def _model_at(model: type[BaseModel], location: list[str]) -> type[BaseModel] | None:
    """The model of the table at a location, as far as plain annotations lead there."""
    for part in location:
        if part.isdecimal():
            continue
        field = model.model_fields.get(part)
        if field is None:
            return None
        candidates = [field.annotation, *get_args(field.annotation)]
        models = [
            item for item in candidates if isinstance(item, type) and issubclass(item, BaseModel)
        ]
        if not models:
            return None
        model = models[0]
    return model


def _how_to(model: type[BaseModel], location: list[str]) -> str:
    owner = _model_at(model, location[:-1])
    field = owner.model_fields.get(location[-1]) if owner else None
    if field is not None and field.examples:
        return f"{location[-1]} = {show(field.examples[0])}"
    return location[-1]


_WORDS = {
    "int_type": "a whole number is needed",
    "int_from_float": "a whole number is needed",
    "int_parsing": "a whole number is needed",
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
