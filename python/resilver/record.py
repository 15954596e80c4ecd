"""Answers as JSON can carry them: attributes by name, and parts of answers field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def record(of: object, *names: str) -> dict[str, Any]:
    """These attributes of an answer by their names, as JSON can carry them."""
    return {name: _plain(getattr(of, name)) for name in names}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_pylist"):
        return value.to_pylist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return record(value, *(field.name for field in fields(value)))
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
