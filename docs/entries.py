"""What the reference pages are made of: an entry for each key, command, column and public name.

A page says ``<!-- entries: study -->`` where its entries stand. Nothing is written here that is
declared elsewhere: keys come from the study file's schema, commands from the command itself,
columns from the tables' schemas and from the page that explains them, Python from its docstrings.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from ceph_entries import CEPH_PAGES
from pydantic import BaseModel
from sphinx.ext.autodoc.mock import mock

import resilver
from resilver.center import LotFile, MachineFile, SizingFile
from resilver.columns import SHARD_SCHEMAS
from resilver.spec import DeviceService, DeviceTable, Study
from resilver.spec.study import study_schema
from resilver.spec.toml import write_value

DOCS = Path(__file__).parent
MARK = re.compile(r"^<!-- entries: (\w+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One key, option or column: what it holds with its unit, which values, and what it means."""

    name: str
    value: str
    range: str
    default: str
    example: str
    sentence: str


# ----------------------------------------------------------------------- the keys of a study file


def study_entries() -> Iterator[tuple[str, str, list[Entry]]]:
    """The tables of a study file: where each stands, what it is, and its keys."""
    yield from file_entries(Study)
    for place, model in (("a measured device", DeviceTable), ("a timed device", DeviceService)):
        own = model.model_json_schema(ref_template="#/definitions/{model}")
        keys = [_entry(key, one, own, {}) for key, one in own["properties"].items()]
        yield place, _plain(own["description"].split("\n\n")[0]), keys


def file_entries(*models: type[BaseModel]) -> Iterator[tuple[str, str, list[Entry]]]:
    """The tables of files, by what these are read into."""
    for model in models:
        schema = study_schema(model)
        yield from _tables(schema, schema["definitions"], "", set())


def _tables(
    table: dict[str, Any], models: dict[str, Any], place: str, seen: set[str]
) -> Iterator[tuple[str, str, list[Entry]]]:
    """A table's keys, then those of the tables in it, each at the first place where it stands."""
    inner, entries = [], []
    for key, schema in table["properties"].items():
        found, at = list(_models_of(schema)), f"{place}.{key}" if place else key
        for name, is_list in found:
            if name not in seen:
                seen.add(name)
                inner.append((f"{at}.N" if is_list else at, models[name]))
        if place or not found:
            entries.append(_entry(at, schema, table, models))
    if entries:
        about = _plain(table["description"].split("\n\n")[0])
        yield place or f"the top of {about.split('.')[0].lower()}", about, entries
    for at, model in inner:
        yield from _tables(model, models, at, seen)


def _variants(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The forms that a value may have, without that of nothing."""
    found = []
    for one in schema.get("anyOf", schema.get("oneOf", [schema])):
        nested = _variants(one) if "anyOf" in one else [one]
        found += [form for form in nested if form.get("type") != "null"]
    return found


def _models_of(schema: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The models that a value may be of, or that are the items of its list."""
    for form in _variants(schema):
        inside = form["items"] if isinstance(form.get("items"), dict) else form
        for one in (inside, *inside.get("allOf", ())):
            if "$ref" in one:
                yield one["$ref"].rpartition("/")[2], inside is not form


def _entry(
    key: str, schema: dict[str, Any], table: dict[str, Any], models: dict[str, Any]
) -> Entry:
    name = key.rpartition(".")[2]
    forms = _variants(schema)
    values = list(dict.fromkeys(text for form in forms if (text := _value(form, models))))
    ranges = list(dict.fromkeys(text for form in forms if (text := _range(form))))
    if any(map(_unit, forms)):
        ranges.append("zero or more" if {"enum": [0, "0"]} in forms else "above zero")
    is_required = name in table.get("required", ())
    default = "required" if is_required else _default(schema)
    return Entry(
        name=key,
        value=" or ".join(values),
        range=", ".join(ranges) or "any",
        default=default,
        example=_example(key, schema, forms, default),
        sentence=_plain(schema.get("description", "")),
    )


def _value(form: dict[str, Any], models: dict[str, Any]) -> str:
    """What a form of a value is, with its unit."""
    if "$ref" in form:
        return "a table"
    if "enum" in form or "const" in form:
        return ", ".join(f"`{write_value(word)}`" for word in _words(form))
    kind = form.get("type")
    if kind == "string" and (unit := _unit(form)):
        return f"{unit}, such as `{write_value(form['examples'][0])}`"
    if kind == "object" and "properties" in form:
        return "`{ " + ", ".join(f"{key} = ..." for key in form["properties"]) + " }`"
    if kind == "array":
        items = form.get("items")
        inside = _value(items, models) if isinstance(items, dict) else ""
        return f"a list, each {inside}" if inside else "a list"
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return {**words, "string": "text", "object": "a table"}.get(str(kind), "")


def _words(form: dict[str, Any]) -> list[Any]:
    """The words that a form of a value may be; zero needs no unit, and is no word of its own."""
    words = form.get("enum", [form["const"]] if "const" in form else [])
    return [word for word in words if word not in (0, "0") or isinstance(word, bool)]


def _unit(form: dict[str, Any]) -> str:
    """What kind of quantity a form of a value is, by the units of its pattern; empty for none."""
    pattern = form.get("pattern", "")
    kinds = {"%": "share", "/KiB": "rate of errors", "KiB/s": "rate", "KiB": "size"}
    kinds |= {"ms|": "time", "/min": "frequency", "kW": "power"}
    return next((f"a {kind}" for unit, kind in kinds.items() if unit in pattern), "")


def _range(form: dict[str, Any]) -> str:
    """Which numbers a form of a value may be."""
    low, high, above = map(form.get, ("minimum", "maximum", "exclusiveMinimum"))
    limits = (("from", low), ("above", above), ("to", high))
    text = " ".join(f"{word} {limit:,}" for word, limit in limits if limit is not None)
    items = form.get("items")
    inside = _range(items) if isinstance(items, dict) else ""
    return text or inside


def _default(schema: dict[str, Any]) -> str:
    """What a key is where it is not given: as declared, else as its sentence says."""
    text = schema.get("description", "")
    if schema.get("default") not in (None, "", []):
        of_kinds = re.findall(r"Default (with [^:]+): (.+?)\.(?=\s|$)", text)
        others = [f"{_plain(kinds)} `{value}`" for kinds, value in of_kinds]
        return "; ".join([f"`{write_value(schema['default'])}`", *others])
    said = re.findall(r"Default: (.+?)\.(?=\s|$)", text)
    return _plain("; ".join(said)) if said else "none"


def _example(key: str, schema: dict[str, Any], forms: list[dict[str, Any]], default: str) -> str:
    """How a key is written: as its declaration shows it, else its default, else its least value."""
    name, given = key.rpartition(".")[2], list(schema.get("examples", ()))
    if not given and default.startswith("`"):
        return f"`{name} = {default.split('`')[1]}`"
    if not given and any(map(_unit, forms)) and re.fullmatch(r"[\d.]+ \w+", default):
        given = [default]
    given += [one for form in forms for one in form.get("examples", ())]
    given += [word for form in forms for word in _words(form)]
    given += [form["minimum"] for form in forms if "minimum" in form]
    if given:
        return f"`{name} = {write_value(given[0])}`"
    # A table stands below a header of its own.
    tables = {is_list for _, is_list in _models_of(schema)}
    return ("`[[{}]]`" if True in tables else "`[{}]`").format(key) if tables else ""


def _plain(text: str) -> str:
    """Text of a docstring as a page writes it."""
    return " ".join(text.replace("``", "`").split())


# -------------------------------------------------------------------------------- the commands


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words, as the command line has it."""
    from resilver.cli.app import app

    def below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", None)
        if not inner or (words.count(" ") and getattr(command, "params", None)):
            yield words, command.made() if hasattr(command, "made") else command
        for name, one in (inner or {}).items():
            if not one.hidden:
                yield from below(f"{words} {name}", one)

    yield from below("resilver", typer.main.get_command(app))


def command_entries(command: Any) -> list[Entry]:
    """The arguments and options of a command."""
    return [_option(one) for one in command.params if not getattr(one, "hidden", False)]


def _option(option: Any) -> Entry:
    is_argument = option.param_type_name == "argument"
    names = [option.name.upper()] if is_argument else [*option.opts, *option.secondary_opts]
    annotation = option.type_descriptor.annotation
    kind = option.metavar or getattr(annotation, "__name__", str(annotation))
    is_flag = getattr(option, "is_flag", False)
    default = "required" if option.required else "off" if is_flag else "none"
    if option.default not in (None, (), [], False) and not callable(option.default):
        default = f"`{getattr(option.default, 'value', option.default)}`"
    limits = (("from", option.min), ("to", option.max))
    ranges = [f"{word} {limit:,}" for word, limit in limits if limit is not None]
    ranges += ["any number of times"] if option.multiple or option.nargs != 1 else []
    return Entry(
        name=", ".join(f"`{name}`" for name in names),
        value="a flag" if is_flag else f"`{str(kind).strip('<>[]{}')}`",
        range=", ".join(ranges) or "any",
        default=default,
        example=names[0],
        sentence=_plain(option.help or ""),
    )


# ----------------------------------------------------------------------------- tables of results

_OF_SUFFIX = {
    "_bytes_per_second": "B/s",
    "_seconds": "s",
    "_bytes": "B",
    "_fraction": "share, 0 to 1",
    "_ratio": "ratio",
    "share": "share, 0 to 1",
    "bytes": "B",
    "seconds": "s",
    "_bytes_read": "B",
    "_bytes_written": "B",
    "_fraction_max": "share, 0 to 1",
}
_OF_TYPE = {"string": "text", "bool": "true or false", "double": "number"}


def meanings() -> dict[str, dict[str, str]]:
    """What each column of each table means, as the page of tables says."""
    found: dict[str, dict[str, str]] = {}
    page = (DOCS / "tables.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        columns = {
            column: meaning
            for names, meaning in re.findall(r"^\| (`.+?) \| (.+?) \|$", text, re.MULTILINE)
            for column in re.findall(r"`(\w+)`", names)
        }
        prose = " ".join(text.split("\n\n")[1:2]).strip()
        for table in re.findall(r"`(\w+)`", heading):
            found[table] = {"": prose, **columns}
    return found


def table_entries(table: str, explained: dict[str, dict[str, str]]) -> list[Entry]:
    """The columns of a table of results."""
    own, runs = explained.get(table, {}), explained["runs"]
    entries = []
    for column in SHARD_SCHEMAS[table]:
        kind, name = str(column.type), column.name
        ends = [unit for end, unit in _OF_SUFFIX.items() if name.endswith(end)]
        unit = ends[0] if ends and kind in ("double", "int64") else _OF_TYPE.get(kind, "count")
        key = "the key of the run" if column.name == "run" else ""
        meaning = own.get(column.name) or runs.get(column.name) or key
        entries.append(Entry(column.name, unit, "", "null where there is none", "", meaning))
    return entries


# ---------------------------------------------------------------------------- Python, and pages


MOCKED = [] if importlib.util.find_spec("resilver._core") else ["resilver._core"]
"""What is named and not loaded: `dev.py docs` needs no compiler, and so no core."""


def public_names() -> Iterator[tuple[str, str]]:
    """Every public name of Python, and whether it is a class, a function or a module."""
    for name in resilver.__all__:
        with mock(MOCKED):
            item = getattr(resilver, name)
        if inspect.ismodule(item):
            yield name, "module"
        elif name != "__version__":
            yield name, "class" if inspect.isclass(item) else "function"


def _keys(tables: Iterator[tuple[str, str, list[Entry]]]) -> Iterator[str]:
    for place, about, entries in tables:
        yield f"## `{place}`" if " " not in place else f"## {place.capitalize()}"
        yield about
        for one in entries:
            head = "| value | range | default | example |\n|---|---|---|---|\n"
            row = f"| {one.value} | {one.range} | {one.default} | {one.example} |"
            yield f"### `{one.name}`\n\n{one.sentence}\n\n{head}{row}"


def _commands() -> Iterator[str]:
    for words, command in commands():
        yield f"## `{words}`"
        yield from _paragraphs(command.help or "")
        rows = [
            f"| {one.name} | {one.value} | {one.range} | {one.default} | {one.sentence} |"
            for one in command_entries(command)
        ]
        head = "| option | value | range | default | meaning |\n|---|---|---|---|---|\n"
        yield head + "\n".join(row.replace("\\|", "|") for row in rows)


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; examples, which stand indented, as they are typed."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text.replace("\b", "").replace("\f", ""))):
        lines = part.strip("\n").splitlines()
        is_typed = all(line.strip().startswith(("resilver ", "$ ")) for line in lines)
        yield "```text\n" + "\n".join(map(str.strip, lines)) + "\n```" if is_typed else _plain(part)


def _tables_of_results() -> Iterator[str]:
    explained = meanings()
    for table in SHARD_SCHEMAS:
        yield f"## `{table}`"
        entries = table_entries(table, explained)
        rows = [f"| `{one.name}` | {one.value} | {one.sentence} |" for one in entries]
        yield "| column | unit | meaning |\n|---|---|---|\n" + "\n".join(rows)


def _python() -> Iterator[str]:
    options = {
        "function": "",
        "class": "\n   :members:\n   :exclude-members: model_config, kind_key, defaults_beside",
        # What stands at the front has its entry there.
        "module": f"\n   :members:\n   :exclude-members: {', '.join(resilver.__all__)}",
    }
    for name, kind in public_names():
        yield f"## `resilver.{name}`"
        yield f"```{{eval-rst}}\n.. auto{kind}:: resilver.{name}{options[kind]}\n```"


_PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "study": lambda: _keys(study_entries()),
    "sizing": lambda: _keys(file_entries(SizingFile, LotFile, MachineFile)),
    **CEPH_PAGES,
    "commands": _commands,
    "tables": _tables_of_results,
    "python": _python,
}


def filled(page: str) -> str:
    """A page's source with its entries in place of their marks."""
    return MARK.sub(lambda mark: "\n\n".join(_PAGES[mark[1]]()), page)


def setup(app: Any) -> dict[str, bool]:
    """Fill each page as Sphinx reads it, and read it anew in every build."""

    def fill(_: Any, __: str, source: list[str]) -> None:
        source[0] = filled(source[0])

    def outdated(*_: Any) -> list[str]:
        # The declarations may have changed, of which Sphinx knows nothing.
        return [f"reference/{page.stem}" for page in (DOCS / "reference").glob("*.md")]

    def signature(_: Any, kind: str, __: str, item: Any, *___: Any) -> tuple[str, str] | None:
        # The keys of a section stand below it, each with its meaning.
        is_section = kind == "class" and issubclass(item, BaseModel)
        return ("(**keys)", "") if is_section else None

    def mocked(_: Any, config: Any) -> None:
        config.autodoc_mock_imports = MOCKED

    app.connect("config-inited", mocked)
    app.connect("autodoc-process-signature", signature)
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
