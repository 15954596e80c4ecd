"""What editors are told of a study file holds for all studies that ship and all keys of traffic."""

import re
import tomllib
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest

from resilver.spec import Study
from tests.build import STUDIES, changed, merged
from tests.conftest import ROOT
from tests.unit.test_spec_refused import rows

SCHEMA = Study.json_schema()
_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "boolean": bool,
}  # fmt: skip
# Words that say nothing of whether a value is valid.
_REMARKS = {"$schema", "definitions", "description", "examples", "default", "title"}


def broken(value: Any, schema: dict[str, Any], path: str = "") -> list[str]:
    """Where a value breaks a schema; a word of draft 7 that is not known here is an error."""
    found: list[str] = []
    for word, rule in schema.items():
        if word in _REMARKS:
            continue
        if word == "$ref":
            found += broken(value, SCHEMA["definitions"][rule.rpartition("/")[2]], path)
        elif word == "anyOf":
            if all(broken(value, one, path) for one in rule):
                found.append(f"{path} = {value!r}: none of anyOf")
        elif word == "properties":
            for key, one in rule.items() if isinstance(value, dict) else ():
                found += broken(value[key], one, f"{path}.{key}") if key in value else []
        elif word == "items":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                found += broken(item, rule, f"{path}.{index}")
        elif not _holds(word, rule, value, schema):
            found.append(f"{path} = {value!r}: {word} = {rule!r}")
    return found


def _holds(word: str, rule: Any, value: Any, schema: dict[str, Any]) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if word == "type":
        is_whole = isinstance(value, bool) and rule != "boolean"
        return isinstance(value, _TYPES[rule]) and not is_whole
    if word == "additionalProperties":
        others = set(value) - set(schema.get("properties", {})) if isinstance(value, dict) else ()
        if isinstance(rule, dict):
            return not any(broken(value[key], rule) for key in others)
        return bool(rule) or not others
    tests: dict[str, Any] = {
        "const": lambda: value == rule,
        "enum": lambda: value in rule,
        "required": lambda: not isinstance(value, dict) or set(rule) <= set(value),
        "pattern": lambda: not isinstance(value, str) or re.search(rule, value) is not None,
        "minimum": lambda: not is_number or value >= rule,
        "maximum": lambda: not is_number or value <= rule,
        "exclusiveMinimum": lambda: not is_number or value > rule,
        "exclusiveMaximum": lambda: not is_number or value < rule,
        "minItems": lambda: not isinstance(value, list) or len(value) >= rule,
        "maxItems": lambda: not isinstance(value, list) or len(value) <= rule,
        "uniqueItems": lambda: (
            not isinstance(value, list)
            or all(item not in value[:index] for index, item in enumerate(value))
        ),
    }
    return bool(tests[word]())


def accepted() -> Iterator[dict[str, Any]]:
    """The studies that ship, those of the tests, and all changes of these that are taken."""
    for file in sorted((ROOT / "studies").glob("*/study.toml")):
        yield tomllib.loads(file.read_text())
    yield from STUDIES.values()
    for name, change in rows("taken"):
        yield reduce(merged, change if isinstance(change, list) else [change], STUDIES[name])
    for kind in ("means", "sweeps"):
        for name, (change, *_) in rows(kind):
            yield merged(STUDIES[name], change)


def test_every_study_that_is_taken_fits_the_schema() -> None:
    tables = list(accepted())
    assert len(tables) > 150
    for table in tables:
        assert broken(table, SCHEMA) == [], table


def test_what_a_study_of_one_system_has_fits_the_schema() -> None:
    """Keys that need files beside them, and forms that no other study here has."""
    fabric = {"topology": {"graph": "lab.json", "routers": ["gateway"]}, "hop_limit": 1000}
    study = changed("network", cluster__fabric=fabric, durability={"relative_error": 0.05})
    assert broken(study, SCHEMA) == []
    corrupt = {"groups": [0, 3], "code": "product rs 4+2 x copies 3", "strips": 100, "window": 8}
    keys = {"redundancy__coding": {"file": "coding.toml"}, "cluster__attachment": "distributed"}
    assert broken(changed("streamed", faults=[{"corrupt": corrupt}], **keys), SCHEMA) == []


@pytest.mark.parametrize(
    ("study", "change", "where"),
    [
        ("clients", 'traffic.time_out = "1 s"', ".traffic"),
        ("network", 'traffic.arrivals = { pareto = "1 /s", shape = 1 }', ".traffic.arrivals"),
        ("clients", "traffic.targets.hot_servers = 2", ".traffic.targets"),
        ("clients", "cluster.fabric.hop_limit = 0", ".cluster.fabric.hop_limit"),
        ("clients", 'cluster.fabric.forwarding = "wormhole"', ".cluster.fabric.forwarding"),
        ("clients", 'traffic.duration = "5 GiB"', ".traffic.duration"),
        ("clients", "faults = [{ fail.switches = 0 }]", ".faults.0.fail.switches"),
        ("clients", "durability.relative_error = 1", ".durability.relative_error"),
        ("clients", "durability.relative_error = 0", ".durability.relative_error"),
        ("streamed", 'redundancy.code = "lrc 8+5"', ".redundancy.code"),
        ("streamed", 'redundancy.strip = "64 KiB/s"', ".redundancy.strip"),
        ("streamed", "redundancy.coding = 5", ".redundancy.coding"),
        ("streamed", "lanes.clients = 1.9", ".lanes.clients"),
        ("streamed", "lanes.client = 0.9", ".lanes"),
        ("streamed", 'lanes.order = "turns"', ".lanes.order"),
        ("streamed", 'lanes.devices = "yes"', ".lanes.devices"),
        ("streamed", "traffic.streams.window = 0", ".traffic.streams"),
        ("streamed", 'traffic.streams.entries = "any"', ".traffic.streams"),
        ("streamed", 'traffic.streams.bursts.every = "60 B"', ".traffic.streams"),
        ("streamed", "faults.0.corrupt.groups = [0, -3]", ".faults.0.corrupt"),
        ("streamed", "faults.0.corrupt.groups = 0", ".faults.0.corrupt"),
        ("streamed", 'faults.0.corrupt.code = "rs 8"', ".faults.0.corrupt"),
        ("streamed", 'faults.0.corrupt.code = "product rs 4+2 x"', ".faults.0.corrupt"),
        ("streamed", 'faults.0.corrupt.code = "rs 4+2 over"', ".faults.0.corrupt"),
    ],
)
def test_what_a_study_file_may_not_say_breaks_the_schema(
    study: str, change: str, where: str
) -> None:
    found = broken(changed(study, change), SCHEMA)
    assert found and all(text.startswith(where) for text in found), found
