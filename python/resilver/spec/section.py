"""What every section of a study file shares: frozen models and problems in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from resilver.errors import ConfigError, Problem, Problems, raise_all, show
from resilver.failure_rates import LongSeconds, WrittenQuantity
from resilver.quantities import LinkRate
from resilver.spec.declared import texts_below
from resilver.spec.problems import kinds_in, problems_of, unknown_key
from resilver.units import (
    Bytes,
    BytesPerSecond,
    PerSecond,
    Seconds,
    exact_bytes,
    exact_duration,
    exact_frequency,
    exact_rate,
)

Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1."""

Share = Annotated[float, Field(strict=True, ge=0, le=1)]
"""A share of a whole, from 0 to 1."""

Flag = Annotated[bool, Field(strict=True)]
"""True or false, and no word or number for it."""


class _AboveZero:
    """In the annotation of a quantity that must not be zero, nor endless."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def read(value: object, inner: Callable[[object], Any]) -> Any:
            quantity = inner(value)
            if 0 < quantity < math.inf:
                return quantity
            is_time = isinstance(quantity, Seconds | LongSeconds)
            what = "size" if isinstance(quantity, Bytes) else "time" if is_time else "rate"
            rule = f"the {what} must be {'finite' if quantity else 'above zero'}"
            raise ConfigError(rule, value=show(written(value)))

        return core_schema.no_info_wrap_validator_function(read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        made: dict[str, Any] = _without_zero(handler(schema))
        return made


_Quantity = TypeVar("_Quantity")
Positive = Annotated[_Quantity, _AboveZero()]
"""A quantity that is above zero and finite."""


def _without_zero(schema: Any) -> Any:
    """A schema of quantities without the zero that needs no unit."""
    if isinstance(schema, list):
        return [_without_zero(one) for one in schema if one != {"enum": [0, "0"]}]
    if isinstance(schema, dict):
        return {key: _without_zero(item) for key, item in schema.items()}
    return schema


class Only:
    """Says of a key, in its annotation, with which kinds of its section it has a meaning.

    Args:
        kinds: The kinds, as the section's key of kinds names them.
        default: What the key is with these where it is not given; None for what it is by itself.
        elsewhere: Whether the key has a meaning with other kinds too, and only its default is
            theirs.
    """

    def __init__(self, *kinds: str, default: Any = None, elsewhere: bool = False) -> None:
        self.kinds = kinds
        self.default = default
        self.elsewhere = elsewhere

    def __str__(self) -> str:
        """The same as sentences, for those who read what a key means."""
        listed = " or ".join(f"``{kind}``" for kind in self.kinds)
        told = "" if self.elsewhere else f"Only with {listed}."
        if self.default is None:
            return told
        where = f" with {listed}" if self.elsewhere else ""
        return f"{told} Default{where}: {written(self.default)}.".lstrip()


# The metaclass of pydantic's models is what a call such as Cluster(...) goes through, and nothing
# else does.
_ModelMeta: type = type(BaseModel)


if TYPE_CHECKING:
    _SectionBase = BaseModel
else:

    class _SectionMeta(_ModelMeta):
        """Lets a model that is called raise `ConfigError`, as reading a study file does."""

        def __call__(cls, *args, **values):
            """Build and validate a section from keyword arguments."""
            try:
                return super().__call__(*args, **values)
            except ValidationError as error:
                raise ConfigError(problems_of(error, cls)) from None

    class _SectionBase(BaseModel, metaclass=_SectionMeta):
        pass


class Section(_SectionBase):
    """A table of the study file.

    Build one from keyword arguments: ``Recovery(pipeline_buffer="16 MiB")``. A quantity is given as
    text with its unit or as a value that `resilver.units` made; a bare number other than zero is an
    error, here as in a study file.

    Raises:
        ConfigError: With every problem found.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, defer_build=True, allow_inf_nan=False
    )

    kind_key: ClassVar[str] = ""
    """The key that says of which kind the section is, where others have a meaning by it."""

    word: ClassVar[str] = ""
    """What stands for the table without keys, where a word does."""

    @classmethod
    def defaults_beside(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults that depend on the keys that are given, and do not count as given.

        Args:
            given: The keys that are given, by their names in a study file.

        Returns:
            The defaults of others.

        Raises:
            ConfigError: A key that is given has no meaning with the section's kind.
        """
        if not cls.kind_key:
            return {}
        kinds, named = cls.model_fields[cls.kind_key], given.get(cls.kind_key)
        kind = kinds.default if named is None else named
        defaults, problems = {}, []
        # A kind that there is not has a problem of its own.
        for key, name in cls.names().items() if kind in get_args(kinds.annotation) else ():
            for only in cls._kinds_of(name):
                if kind in only.kinds and only.default is not None:
                    defaults[key] = only.default
                elif key in given and not (kind in only.kinds or only.elsewhere):
                    rule = f'this key has no meaning with {cls.kind_key} = "{kind}"'
                    remedy = f"remove it, or use {' or '.join(only.kinds)}"
                    if named is None and len(only.kinds) == 1:
                        remedy = f'add {cls.kind_key} = "{only.kinds[0]}", or remove it'
                    problems.append(Problem(rule, remedy, key=key, value=show(given[key])))
        raise_all(problems)
        return defaults

    @classmethod
    def sentences(cls) -> dict[str, str]:
        """What each key means, by its name in Python: the text below its declaration.

        Pydantic reads these itself where `use_attribute_docstrings` is set, of every section
        whenever resilver starts, which took 0.2 s; only schema and reference page need them.
        """
        found: dict[str, str] = {}
        for base in (one for one in reversed(cls.__mro__) if issubclass(one, Section)):
            for name, text in texts_below(base).items():
                if name in cls.model_fields:
                    found[name] = " ".join([text, *map(str, cls._kinds_of(name))])
        return found

    @classmethod
    def _kinds_of(cls, name: str) -> list[Only]:
        return [one for one in cls.model_fields[name].metadata if isinstance(one, Only)]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The section's JSON schema, each key with its sentences."""
        made: dict[str, Any] = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        sentences = cls.sentences()
        for key, name in cls.names().items():
            if key in properties:
                properties[key] |= {"description": sentences[name]} if name in sentences else {}
                properties[key] |= _default_of(cls.model_fields[name].default)
                kinds = kinds_in(cls.model_fields[name].annotation)
                words = [word for kind in kinds if (word := getattr(kind, "word", ""))]
                if words and (table := properties[key].pop("$ref", None)):
                    properties[key]["anyOf"] = [{"$ref": table}]
                if words:
                    properties[key]["anyOf"].insert(0, {"enum": words})
        return made

    @model_validator(mode="wrap")
    @classmethod
    def _fill_in(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if cls.word and (data is None or data == cls.word):
            data = {}
        is_plain = cls.defaults_beside.__func__ is Section.defaults_beside.__func__  # type: ignore[attr-defined]
        if not isinstance(data, dict) or (is_plain and not cls.kind_key):
            return handler(data)
        given = {key: value for key, value in data.items() if value is not None}
        made = handler({**cls.defaults_beside(given), **given})
        unwritten = {name for key, name in cls.names().items() if key not in given}
        made.model_fields_set.difference_update(unwritten)
        return made

    @model_validator(mode="after")
    def _refuse(self) -> Self:
        raise_all(list(self._problems()))
        return self

    def _problems(self) -> Problems:
        """What is wrong with its keys beside each other; a section's own rules."""
        yield from ()

    def problem(self, name: str, rule: str, remedy: str = "") -> Problem:
        """What is wrong with the value of an attribute, shown as a study file writes it."""
        value = getattr(self, name)
        label = getattr(value, "label", None)
        shown = label if isinstance(label, str) else written(value)
        key = type(self).model_fields[name].alias or name
        return Problem(rule, remedy, key=key, value=None if value is None else show(shown))

    def exactly_one(self, names: tuple[str, ...], remedy: str) -> Problems:
        """The problem of keys of which not exactly one is given."""
        given = [name for name in names if getattr(self, name) not in (None, ())]
        if len(given) != 1:
            words = f"{' and '.join(given)} are given" if given else "none is given"
            rule = f"exactly one of {', '.join(names[:-1])} and {names[-1]} is needed, and {words}"
            yield Problem(rule, "keep one" if given else remedy, key=given[1] if given else "")

    @classmethod
    def names(cls) -> dict[str, str]:
        """The name in Python of each key; a key that is a word of Python's goes by another."""
        return {field.alias or name: name for name, field in cls.model_fields.items()}

    def given(self) -> dict[str, Any]:
        """The section's own keys that were given, with their validated values."""
        return {
            key: getattr(self, name)
            for key, name in self.names().items()
            if name in self.model_fields_set
        }

    def own_keys(self) -> dict[str, Any]:
        """The keys that only the kind of this section has, with their values."""
        kind = getattr(self, self.kind_key)
        return {
            key: getattr(self, name)
            for key, name in self.names().items()
            if any(kind in one.kinds and not one.elsewhere for one in self._kinds_of(name))
        }

    @classmethod
    def from_table(cls, table: object, base: Path, key: str = "") -> Self:
        """Validate a table as read from TOML.

        Args:
            base: The folder that relative paths in it are relative to.
            key: Where the table stands in the file, for messages.

        Returns:
            The section.

        Raises:
            ConfigError: With every problem found.
        """
        try:
            return cls.model_validate(table, context={"base": base})
        except ValidationError as error:
            raise ConfigError(problem.under(key) for problem in problems_of(error, cls)) from None
        except RecursionError:
            raise ConfigError("the values are nested too deeply", key=key) from None


def written(value: Any) -> Any:
    """A quantity as a study file writes it, such as ``64 MiB``, and a section as a table of them;
    any other value as it is.
    """
    if isinstance(value, Section):
        return {key: written(item) for key, item in value.given().items()}
    if isinstance(value, Bytes):
        return exact_bytes(value)
    if isinstance(value, Seconds):
        return exact_duration(value)
    if isinstance(value, BytesPerSecond):
        return exact_rate(value, bits=isinstance(value, LinkRate))
    if isinstance(value, WrittenQuantity):
        return value.as_text()
    return exact_frequency(value) if isinstance(value, PerSecond) else value


def _default_of(value: object) -> dict[str, object]:
    """The default of a key in a schema, where it is a quantity or another plain value."""
    plain = value.word if isinstance(value, Section) else written(value)
    return {"default": plain} if isinstance(plain, bool | str | int | float) and plain != "" else {}


class FilePath(str):
    """The path of a file where a study is written down, so that a run folder can keep the file."""


TEXT: dict[str, Any] = {"type": "string"}
"""Any text, in a JSON schema."""


def either(*tables: dict[str, Any], names: list[str] | None = None) -> dict[str, Any]:
    """The JSON schema of a value that is text or one of some tables.

    Args:
        tables: The schema of each key of each table. A table needs its keys, but for those with a
            question mark.
        names: Texts to suggest.
    """
    forms: list[dict[str, Any]] = [{**TEXT, **({"examples": names} if names else {})}]
    for table in tables:
        needed = [key for key in table if not key.endswith("?")]
        keys = {key.removesuffix("?"): schema for key, schema in table.items()}
        form = {"type": "object", "properties": keys, "additionalProperties": False}
        forms.append({**form, "required": needed} if needed else form)
    return {"anyOf": forms}


def base_folder(info: ValidationInfo) -> Path:
    """The folder of relative paths: the study file's, or the working folder in Python."""
    context = info.context
    return context["base"] if isinstance(context, dict) and "base" in context else Path.cwd()


def file_path(value: object, info: ValidationInfo) -> Path:
    """The absolute path that a study file's text means.

    Raises:
        ConfigError: It is not text.
    """
    if isinstance(value, Path):
        return base_folder(info) / value
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError("a file is named by its path, as text", value=show(value))
    return base_folder(info) / Path(value).expanduser()


AnyFile = Annotated[Path, PlainValidator(file_path), WithJsonSchema({"type": "string"})]
"""A file by its path, which may be relative to the one that names it."""


def one_key(table: Mapping[object, object], known: tuple[str, ...]) -> str:
    """The single key of an inline table that must have exactly one of `known`.

    Raises:
        ConfigError: It has another number of keys, or an unknown one.
    """
    for key in table:
        if key not in known:
            raise ConfigError(unknown_key(str(key), list(known)))
    if len(table) != 1:
        rule = f"exactly one of {', '.join(known)} is needed" if len(known) > 1 else ""
        rule = rule or f"the key {known[0]} is needed"
        remedy = "keep one" if table else "give it" if len(known) == 1 else "give one"
        raise ConfigError(rule, remedy, value=show(dict(table)))
    return str(next(iter(table)))
