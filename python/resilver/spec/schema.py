"""The JSON schema of a study file, which editors use to complete and to check it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_DRAFT = "http://json-schema.org/draft-07/schema#"
# Pydantic puts each docstring in as a description, with sections that an editor's tooltip need not
# show.
_SECTIONS = ("\n\nArgs:", "\n\nRaises:", "\n\nExactly one", "\n\nA swept key", "\n\n>>>")


def study_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema (draft 7, as TOML language servers take it) of a study file.

    Args:
        model: The study's model.

    Returns:
        The schema. Quantities are text with a pattern that names their units.
    """
    schema = model.model_json_schema(ref_template="#/definitions/{model}")
    schema["definitions"] = schema.pop("$defs")
    cleaned: dict[str, Any] = _clean(schema)
    return {"$schema": _DRAFT, **cleaned, "title": "resilver study"}


def _clean(value: Any) -> Any:
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _clean(item) for key, item in value.items() if not _noise(key, item, value)}
    if isinstance(made.get("description"), str):
        text: str = made["description"]
        for mark in _SECTIONS:
            text = text.partition(mark)[0]
        made["description"] = " ".join(text.replace("``", "`").split())
    # TOML has no null: a key that may be None is a key that may be absent.
    kinds = made.get("anyOf")
    if isinstance(kinds, list):
        kinds = [kind for kind in kinds if kind != {"type": "null"}]
        if len(kinds) == 1:
            del made["anyOf"]
            made = {**kinds[0], **made}
        else:
            made["anyOf"] = kinds
    return made


def _noise(key: str, item: Any, owner: dict[str, Any]) -> bool:
    """Titles that repeat a key's name, and defaults that only say that a key may be absent."""
    if key == "title":
        return isinstance(item, str)
    return key == "default" and (item is None or isinstance(item, dict) or "$ref" in owner)
