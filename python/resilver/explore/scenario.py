"""A scenario of a page of a study: what it makes of the core's input, and of the study file.

The page does the same in TypeScript; here it is said once more to hold both to the command line.
A scenario has ``stops``, the number of a stop by the key of its control, and ``changes``: each with
its ``key``, the number of its ``part``, ``at`` in seconds and, where it has one, its ``share``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resilver.explore.patches import GONE, Patch, patched
from resilver.explore.study_text import edited, text_of
from resilver.spec.toml import write_value


def input_of(document: Mapping[str, Any], scenario: Mapping[str, Any]) -> Any:
    """The core's input of a scenario.

    Args:
        document: The document of a study's page.
        scenario: The scenario.
    """
    stops, patches = scenario["stops"], []
    for group in document["groups"]:
        numbers = [stops.get(one["key"], one["chosen"]) for one in group["controls"]]
        for path, *value in group["patches"][",".join(map(str, numbers))]:
            patches.append(Patch(tuple(path), value[0] if value else GONE))
    made = patched(document["input"], patches)
    place = made
    for key in document["changes_at"]:
        place = place[key]
    for change, words, end in _in_order(document, scenario):
        entry = _filled(change["template"], words)
        if end is not None:
            key, value = document["study"]["ending"]["input"]
            entry[key] = _filled(value, end)
        place.append(entry)
    return made


def exported(document: Mapping[str, Any], scenario: Mapping[str, Any]) -> str:
    """The study file of a scenario, whose run has the same input.

    Args:
        document: The document of a study's page.
        scenario: The scenario.
    """
    study, stops = document["study"], scenario["stops"]
    edits = [
        edit
        for group in document["groups"]
        for control in group["controls"]
        for edit in study["stops"][control["key"]][stops.get(control["key"], control["chosen"])]
    ]
    blocks = edited(study["blocks"], edits)
    for change, words, end in _in_order(document, scenario):
        keys = [_worded(line, words) for line in study["lines"][change["key"]]]
        if end is not None:
            keys.append(_worded(study["ending"]["line"], end))
        blocks.append({"name": "", "header": study["header"], "keys": keys})
    return text_of(blocks)


_Words = dict[str, Any]


def _in_order(
    document: Mapping[str, Any], scenario: Mapping[str, Any]
) -> list[tuple[Mapping[str, Any], _Words, _Words | None]]:
    """What happens by time, then as its kinds are listed; each with the words of what ends it."""
    kinds = {change["key"]: (rank, change) for rank, change in enumerate(document["changes"])}
    ending = document["study"]["ending"]
    if ending is not None:
        kinds[ending["key"]] = (len(kinds), ending)
    found: list[tuple[Mapping[str, Any], _Words, _Words | None]] = []
    parts: list[int] = []
    for one in sorted(scenario["changes"], key=lambda one: (one["at"], kinds[one["key"]][0])):
        _, change = kinds[one["key"]]
        part, at = document["parts"][one["part"]], one["at"]
        words = {"$name": part["name"], "$kind": part["kind"], "$at": at}
        words["$share"] = one.get("share")
        if change is not ending:
            found.append((change, words, None))
            parts.append(one["part"])
            continue
        for number in reversed(range(len(found))):
            before, own, end = found[number]
            if parts[number] == one["part"] and end is None and own["$at"] < at:
                found[number] = (before, own, words)
                break
    return found


def _filled(template: Any, words: _Words) -> Any:
    """A template with values for its words, keys among them."""
    if isinstance(template, dict):
        return {words.get(key, key): _filled(value, words) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, words) for value in template]
    return words.get(template, template) if isinstance(template, str) else template


def _worded(line: list[str], words: _Words) -> list[str]:
    """A line of a study file: a name as TOML writes text, all else as it is."""
    key, text = line
    text = text.replace("$at", repr(float(words["$at"])))
    text = text.replace("$share", repr(words["$share"]))
    name = write_value(words["$name"])
    return [key.replace("$kind", words["$kind"]), text.replace("$name", name)]
