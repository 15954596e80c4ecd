"""The reference has an entry for every key, command, column and name, and no entry has a gap."""

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import resilver
from resilver.center import LotFile, MachineFile, SizingFile
from resilver.columns import SHARD_SCHEMAS
from resilver.spec import Study

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _entries() -> ModuleType:
    spec = importlib.util.spec_from_file_location("entries", DOCS / "entries.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # It imports its neighbour, as it does where Sphinx reads it.
    sys.path.insert(0, str(DOCS))
    # A dataclass looks its own module up.
    sys.modules["entries"] = module
    spec.loader.exec_module(module)
    return module


entries = _entries()
OF_STUDY = [entry for _, _, keys in entries.study_entries() for entry in keys]
SIZING = entries.file_entries(SizingFile, LotFile, MachineFile)
OF_SIZING = [entry for _, _, keys in SIZING for entry in keys]
COMMANDS = dict(entries.commands())


@pytest.mark.parametrize("entry", [*OF_STUDY, *OF_SIZING], ids=lambda entry: entry.name)
def test_a_key_has_value_range_default_example_and_sentence(entry: Any) -> None:
    gaps = [name for name in vars(entry) if not getattr(entry, name)]
    assert gaps == []
    # A sentence begins with a capital or with the word that it explains, and ends.
    assert re.match(r"[A-Z`\d]|n for", entry.sentence) and entry.sentence.endswith((".", "`"))


def test_every_key_that_a_study_may_have_has_an_entry() -> None:
    """Counted in the schema, which editors check study files by."""
    schema = Study.json_schema()
    named = {entry.name.rpartition(".")[2] for entry in OF_STUDY}
    keys = {key for model in schema["definitions"].values() for key in model["properties"]}
    assert keys - named == set() and len(keys) > 90
    for section in ("cluster", "population", "placement", "redundancy", "recovery", "study"):
        model = schema["properties"][section]
        name = str(model).partition("#/definitions/")[2].partition("'")[0]
        listed = {entry.name for entry in OF_STUDY}
        assert {f"{section}.{key}" for key in schema["definitions"][name]["properties"]} <= listed


def test_what_is_declared_is_what_the_entry_says() -> None:
    """The declarations of five keys, read as a person would."""
    said = {entry.name: entry for entry in OF_STUDY}
    ports = said["cluster.ports"]
    assert (ports.value, ports.range, ports.default) == ("a whole number", "from 1 to 8", "`1`")
    buffer = said["recovery.pipeline_buffer"]
    assert buffer.default == '`"16 MiB"`' and buffer.value.startswith("a size")
    assert buffer.range == "above zero" and said["faults.N.at"].range == "zero or more"
    points = said["placement.ring_points"]
    assert (
        points.default == "1024" and "Only with `ring` or `multi_ring` or `xor`" in points.sentence
    )
    assert said["placement.placement_groups"].default == '`"none"`; with `crush` `auto`'
    assert said["faults.N.until"].default == "never"
    assert said["faults.N.corrupt.groups"].default == "required"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_and_its_options_are_explained(words: str) -> None:
    command = COMMANDS[words]
    assert command.help
    options = entries.command_entries(command)
    assert options and [one.name for one in options if not (one.sentence and one.value)] == []


def test_the_commands_of_the_help_are_there() -> None:
    for words in ("resilver run", "resilver place", "resilver import sizes", "resilver schema"):
        assert words in COMMANDS


@pytest.mark.parametrize("table", SHARD_SCHEMAS)
def test_a_column_has_its_unit_and_its_meaning(table: str) -> None:
    found = entries.table_entries(table, entries.meanings())
    assert [entry.name for entry in found] == SHARD_SCHEMAS[table].names
    assert [entry.name for entry in found if not (entry.value and entry.sentence)] == []


@pytest.mark.parametrize("name", [name for name, _ in entries.public_names()])
def test_a_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(resilver, name))


def test_pages_have_all_kinds_of_entries_and_no_mark_is_left() -> None:
    marks = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        marks += entries.MARK.findall(text)
        filled = entries.filled(text)
        assert not entries.MARK.search(filled)
        assert len(filled) > 5 * len(text) or not entries.MARK.search(text)
    kinds = ["ceph_settings", "commands", "plan", "python", "sizing", "study", "tables"]
    assert sorted(marks) == kinds
