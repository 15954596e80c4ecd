"""What editors are told of a study file holds for all studies that ship and all keys of traffic."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from resilver.spec import Study

STUDIES = Path(__file__).parents[2] / "studies"
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


@pytest.mark.parametrize(
    "file", sorted(STUDIES.glob("*/study.toml")), ids=lambda file: str(file.parent.name)
)
def test_every_study_that_ships_fits_the_schema(file: Path) -> None:
    assert broken(tomllib.loads(file.read_text()), SCHEMA) == []


SERVING = """
[cluster]
device = { service = "22 ms" }
queue = "reads_first"
[cluster.fabric]
model = "switched"
topology = { graph = "lab.json", routers = ["gateway"] }
link_rate = "1 Gb/s"
forwarding = "cut_through"
hop_limit = 1000
[traffic]
arrivals = { pareto = "1000 /s", shape = 1.5 }
targets = { hot_servers = 0.1, hot_requests = 0.9 }
timeout = "1 s"
duration = "5 s"
[[faults]]
at = "2 s"
fail = { switches = ["host.3"] }
repair_after = "1 s"
"""

STRIPED = """
[cluster]
servers = 288
ports = 2
attachment = "distributed"
device = { service = "0 s" }
[cluster.fabric]
model = "switched"
topology = "leaf spine 24x24 hosts 24 entries 24"
link_rate = "100 Gb/s"
[placement]
algorithm = "groups"
group_size = 24
[redundancy]
code = "lrc 8+5 local 4"
strip = "64 KiB"
coding = { file = "coding.toml" }
[lanes]
clients = 0.9
order = "shares"
devices = true
[traffic]
reads = 1.0
duration = "5 ms"
[traffic.streams]
window = 16
entries = "random"
rate = "2 GB/s"
bursts = { volume = "1 TiB", every = "60 s" }
[[faults]]
corrupt = { groups = [0, 3], code = "rs 8+3", strips = 100, window = 8 }
"""


PRODUCT = STRIPED.replace('"rs 8+3"', '"product rs 4+2 x copies 3"')


@pytest.mark.parametrize("text", [SERVING, STRIPED, PRODUCT])
def test_every_key_of_clients_networks_codes_lanes_and_streams_fits_the_schema(text: str) -> None:
    assert broken(tomllib.loads(text), SCHEMA) == []


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        ('timeout = "1 s"', 'time_out = "1 s"', ".traffic"),
        ("shape = 1.5", "shape = 1", ".traffic.arrivals"),
        ("hot_servers = 0.1", "hot_servers = 2", ".traffic.targets"),
        ("hop_limit = 1000", "hop_limit = 0", ".cluster.fabric.hop_limit"),
        ('"cut_through"', '"wormhole"', ".cluster.fabric.forwarding"),
        ('duration = "5 s"', 'duration = "5 GiB"', ".traffic.duration"),
        ('switches = ["host.3"]', "switches = 0", ".faults.0.fail.switches"),
        ('"lrc 8+5 local 4"', '"lrc 8+5"', ".redundancy.code"),
        ('strip = "64 KiB"', 'strip = "64 KiB/s"', ".redundancy.strip"),
        ('coding = { file = "coding.toml" }', "coding = 5", ".redundancy.coding"),
        ("clients = 0.9", "clients = 1.9", ".lanes.clients"),
        ("clients = 0.9", "client = 0.9", ".lanes"),
        ('order = "shares"', 'order = "turns"', ".lanes.order"),
        ("devices = true", 'devices = "yes"', ".lanes.devices"),
        ("window = 16", "window = 0", ".traffic.streams"),
        ('"random"', '"any"', ".traffic.streams"),
        ('every = "60 s"', 'every = "60 B"', ".traffic.streams"),
        ("[0, 3]", "[0, -3]", ".faults.0.corrupt"),
        ("[0, 3]", "0", ".faults.0.corrupt"),
        ('"rs 8+3"', '"rs 8"', ".faults.0.corrupt"),
        ('"rs 8+3"', '"product rs 4+2 x"', ".faults.0.corrupt"),
        ('"rs 8+3"', '"rs 4+2 over"', ".faults.0.corrupt"),
    ],
)
def test_what_a_study_file_may_not_say_breaks_the_schema(
    right: str, wrong: str, where: str
) -> None:
    (text,) = [text for text in (SERVING, STRIPED) if right in text]
    found = broken(tomllib.loads(text.replace(right, wrong)), SCHEMA)
    assert found and all(text.startswith(where) for text in found), found


def test_a_relative_error_is_below_one_by_the_schema() -> None:
    for error, holds in ((0.05, True), (1, False), (0, False)):
        study = {**tomllib.loads(SERVING), "durability": {"relative_error": error}}
        assert (broken(study, SCHEMA) == []) is holds
