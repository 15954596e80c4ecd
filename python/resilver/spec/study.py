"""A study: a system, swept over some of its keys, and an ensemble of seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationInfo, model_validator

from resilver.errors import ConfigError, Problem, collected, raise_all, show
from resilver.spec.assumptions import Assumption, assumptions_of
from resilver.spec.chance import chances
from resilver.spec.check import cross_problems
from resilver.spec.ensemble import Ensemble, values_of, without
from resilver.spec.problems import unknown_key
from resilver.spec.run import Run, canonical_json, canonical_system, run_key
from resilver.spec.section import FilePath, Section, base_folder
from resilver.spec.sections import Sections
from resilver.spec.sweep import (
    Point,
    check_keys,
    expand,
    has_path,
    put,
    read_section,
    swept_keys,
    with_each,
)
from resilver.spec.system import System
from resilver.spec.tables import to_plain
from resilver.spec.toml import split_override, write_toml, write_value
from resilver.text import read_toml


class Study(Sections):
    """A study file: the sections of a system, and which systems and seeds to run.

    Raises:
        ConfigError: With every problem found, in any section and in any system of the sweep.

    A swept key need not stand in its section; its first value stands in for it there.

    >>> from resilver import Cluster, Ensemble, Fault, Population, Study
    >>> study = Study(
    ...     cluster=Cluster(servers=64),
    ...     population=Population(histogram="genomes1000", bytes_per_server="20 TiB"),
    ...     faults=[Fault(fail={"servers": 1})],
    ...     study=Ensemble(seeds=5),
    ... )
    >>> len(study.runs())
    5
    """

    study: Ensemble = Field(default_factory=Ensemble)
    """Which systems and seeds to run."""
    # The ensemble with what `each` sweeps written out.
    _ensemble: Ensemble = PrivateAttr(default_factory=Ensemble)
    _points: tuple[Point, ...] = PrivateAttr(default=())
    # The canonical JSON of each point's system, which keys and comparisons are made from.
    _texts: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="after")
    def _expand(self, info: ValidationInfo) -> Self:
        base = base_folder(info)
        sections = {name: value for name, value in self.given().items() if name != "study"}
        if self.study.aim is not None and not (self.study.sweep or self.study.each):
            rule, remedy = "an aim ranks the systems of a sweep", "add [study.sweep], or remove it"
            raise ConfigError(rule, remedy, key="study.aim", value=show(self.study.aim))
        if self.study.aim is not None and self.cluster.ceph is not None:
            rule, remedy = (
                "it ranks synthetic systems",
                'use resilver what-if --aim "healthy in 1 d"',
            )
            raise ConfigError(rule, remedy, key="study.aim", value=show(self.study.aim))
        self._ensemble = with_each(sections, self.study)
        self._points = expand(sections, self._ensemble, base)
        self._texts = tuple(canonical_system(point.system) for point in self._points)
        systems: dict[str, Point] = {}
        for point, text in zip(self._points, self._texts, strict=True):
            asked = point.system.durability
            content = canonical_json(None if asked is None else asked.content())
            if systems.setdefault(f"{text}\n{content}", point) is not point:
                rule = f"two combinations are the same system: {show(dict(point.swept))}"
                raise ConfigError(rule, "sweep each value once", key="study.sweep")
        return self

    @classmethod
    def load(cls, path: str | Path, overrides: Sequence[str] = ()) -> Self:
        """Read a study file.

        Args:
            path: The TOML file. Paths in it are relative to its folder.
            overrides: ``KEY=VALUE`` texts, such as ``cluster.servers=128``, that replace keys of
                the file. The value is read as TOML, else as text. A swept key that is replaced is
                no longer swept.

        Returns:
            The study.

        Raises:
            ConfigError: The file cannot be read, or with every problem in it.
        """
        file = Path(path).expanduser()
        table: Mapping[str, Any] = read_toml(file)
        problems: list[Problem] = []
        for text in overrides:
            with collected(problems):
                table = _override(table, text)
        raise_all(problems)
        return cls.from_dict(table, file.absolute().parent)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], base: Path | None = None) -> Self:
        """Validate a study given as nested dictionaries, as a TOML file would be read.

        Args:
            table: The sections.
            base: The folder that relative paths are relative to; the working folder by default.

        Returns:
            The study.

        Raises:
            ConfigError: With every problem found.
        """
        base = (base or Path.cwd()).absolute()
        names = list(cls.model_fields)
        problems = [
            unknown_key(str(name), names)
            if isinstance(value, dict | list)
            else Problem(
                "this key stands in no section", f"sections: {', '.join(names)}", str(name)
            )
            for name, value in table.items()
            if name not in names
        ]
        written = table.get("study", {})
        ensemble = Ensemble()
        with collected(problems):
            read = Ensemble.from_table(written, base, "study")
            check_keys(read)
            ensemble = read
        sections = _sections(table, ensemble, base, problems)
        if not (isinstance(written, dict) and (written.get("sweep") or written.get("each"))):
            problems += cross_problems(set(table), sections)
        raise_all(problems)
        return cls.from_table({**sections, "study": ensemble}, base)

    def resolved(self) -> dict[str, Any]:
        """All that affects results, in SI units, with defaults filled in and files by content.

        Returns:
            A JSON-able dictionary with the sections of a system, as `System.resolved` gives them,
            and ``study``: its title, seeds, swept values, and a hash of every system of the sweep.
        """
        system = System.model_construct(**self.sections())
        digest = hashlib.sha256()
        for text in dict.fromkeys(self._texts):
            digest.update(text.encode() + b"\n")
        sweep = {
            key: list(dict.fromkeys(point.swept[key] for point in self._points))
            for key in swept_keys(self._ensemble)
            if _is_of_runs(key)
        }
        ensemble = {
            "title": self.study.title,
            "seeds": list(self.study.seeds),
            "sweep": sweep,
            "systems_sha256": digest.hexdigest(),
        }
        ensemble |= {key: value for key in _SAID if (value := getattr(self.study, key)) is not None}
        return {**system.resolved(), "study": ensemble}

    def to_toml(self, keep: Callable[[Path], str] = str, *, stated: bool = False) -> str:
        """The study as a TOML file: quantities with units, defaults written out.

        Args:
            keep: From the absolute path of a file that the study reads to what stands for it;
                by default the path.
            stated: Whether it is without the defaults.

        Returns:
            Text from which `load` makes a study with the same runs. In a section that the sweep
            changes, only the keys that were given are written, since the defaults of the rest may
            depend on the swept ones.
        """
        swept = {key.split(".")[0] for key in swept_keys(self.study)}
        tables: dict[str, Any] = {}
        unwritten = set(Sections.model_fields) - self.model_fields_set
        # Where nothing is stored, nothing is recovered; Ceph recovers by its own settings.
        real = self.cluster if self.cluster.ceph is not None else None
        idle = set() if self.population or self.pools else {"recovery"}
        for name, section in self.sections().items():
            if section is None or (name in unwritten and (stated or name in swept | idle)):
                continue
            if isinstance(section, Section) and (name in swept or section is real):
                tables[name] = to_plain(section.given(), stated=stated)
            else:
                tables[name] = to_plain(section, stated=stated)
        seeds = self.study.seeds
        counted = seeds == tuple(range(1, len(seeds) + 1))
        ensemble: dict[str, Any] = {"title": self.study.title} if self.study.title else {}
        ensemble["seeds"] = len(seeds) if counted else list(seeds)
        ensemble |= {key: value for key in _SAID if (value := getattr(self.study, key)) is not None}
        if self.study.sweep:
            ensemble["sweep"] = to_plain(self.study.sweep)
        return write_toml(with_files({**tables, "study": ensemble}, keep))

    def __repr__(self) -> str:
        """Its title, and how many systems and seeds it runs."""
        title = f" {self.study.title!r}" if self.study.title else ""
        systems, seeds = len(self._points), len(self.study.seeds)
        words = f"{systems:,} system{'s'[: systems > 1]} x {seeds:,} seed{'s'[: seeds > 1]}"
        return f"<Study{title}: {words}>"

    def _repr_html_(self) -> str:
        """The study file, folded, as a notebook shows it."""
        title = f"<summary>{escape(repr(self))}</summary>"
        return f"<details>{title}<pre>{escape(self.to_toml())}</pre></details>"

    @property
    def points(self) -> tuple[Point, ...]:
        """The swept systems in their order; one without a sweep."""
        return self._points

    def runs(self) -> list[Run]:
        """Every run of the study: the systems in sweep order, and for each its seeds in order.

        No run depends on what is asked of durability, so systems that differ in that alone have
        their runs once, and keys of it are not among what is swept.
        """
        from resilver import __version__

        runs = []
        # Of equal systems the first of the sweep.
        points = dict(reversed([*zip(self._texts, self._points, strict=True)]))
        for text in dict.fromkeys(self._texts):
            system = points[text].system
            swept = {key: one for key, one in points[text].swept.items() if _is_of_runs(key)}
            runs += [
                Run(system, dict(swept), seed, run_key(text, seed, __version__))
                for seed in self.study.seeds
            ]
        return runs

    def assumptions(self) -> list[Assumption]:
        """What results rest on: devices, network, throttle and so on, and who says each.

        Returns:
            Those of the first system of the sweep; what the sweep changes has all its values.
        """
        words: dict[str, list[str]] = {}
        for swept, steps in self.study.sweep.items():
            for key, value in (pair for step in steps for pair in values_of(swept, step)):
                text = value if isinstance(value, str) else write_value(to_plain(value))
                words.setdefault(key, []).append(text)
        unique = {key: list(dict.fromkeys(texts)) for key, texts in words.items()}
        return assumptions_of([point.system for point in self._points], unique)

    def chances(self) -> tuple[str, ...]:
        """What the seeds draw in any system of the sweep; nothing where all give equal runs."""
        drawn = [word for point in self._points for word in chances(point.system)]
        return tuple(dict.fromkeys(drawn))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON schema of a study file, for editors; see `resilver.spec.study`."""
        return study_schema(cls)


def _is_of_runs(key: str) -> bool:
    """Whether a swept key changes runs."""
    return key.partition(".")[0] != "durability"


def _sections(
    table: Mapping[str, Any], ensemble: Ensemble, base: Path, problems: list[Problem]
) -> dict[str, Any]:
    """The valid sections of a study file; the problems of the others are added to `problems`."""
    tables: dict[str, Any] = {
        name: table[name] for name in Sections.model_fields if table.get(name) is not None
    }
    firsts = [one for swept, steps in ensemble.sweep.items() for one in values_of(swept, steps[0])]
    for key, first in firsts:
        name, *rest = key.split(".")
        # Deeper keys change a default, or a table that the section must have anyway; but a fabric
        # may leave out what is swept, such as its topology, and cannot be read without.
        is_needed = len(rest) < 2 or (name, rest[:-1]) == ("cluster", ["fabric"])
        if is_needed and not has_path(tables.get(name), rest or ["."]):
            with collected(problems):
                tables[name] = put(tables.get(name, {}), rest, first, key)
    sections: dict[str, Any] = {}
    for name, value in tables.items():
        with collected(problems):
            sections[name] = read_section(name, value, base)
    if "cluster" not in tables:
        remedy = "add [cluster] with servers = 64"
        problems.append(Problem("a study needs a cluster", remedy, key="cluster"))
    return sections


def with_files(value: Any, keep: Callable[[Path], str]) -> Any:
    """A plain value with what `keep` makes of the files in it."""
    if isinstance(value, FilePath):
        return keep(Path(value))
    if isinstance(value, dict):
        return {name: with_files(item, keep) for name, item in value.items()}
    if isinstance(value, list):
        return [with_files(item, keep) for item in value]
    return value


def _override(table: Mapping[str, Any], text: str) -> dict[str, Any]:
    path, value = split_override(text)
    changed: dict[str, Any] = put(dict(table), path, value, ".".join(path))
    ensemble = changed.get("study")
    sweep = ensemble.get("sweep") if isinstance(ensemble, dict) else None
    key = ".".join(path)
    if path[0] == "study" or not isinstance(ensemble, dict) or not isinstance(sweep, dict):
        return changed
    return {**changed, "study": {**ensemble, "sweep": without(sweep, key)}}


_SAID = ("each", "aim")
"""What else a study file says of its ensemble."""
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
