"""What the command was asked for, and whether that makes sense together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from resilver.cli.place.edits import SEPARATOR, Edit, edits_of
from resilver.errors import ConfigError, Problem


class MapFormat(StrEnum):
    """Forms of a CRUSH map."""

    text = "text"
    json = "json"
    binary = "binary"


class Mode(StrEnum):
    """What `place` does."""

    groups = "groups"
    object = "object"
    tester = "tester"
    quality = "quality"
    compare = "compare"
    affected = "affected"
    write = "write"


@dataclass(frozen=True)
class PlaceRequest:
    """The options of `resilver place`, as given. Their meaning is in `options.py`."""

    words: tuple[str, ...] = ()
    crush: Path | None = None
    pg_dump: Path | None = None
    osd_df: Path | None = None
    settings: tuple[str, ...] = ()
    groups: bool = False
    object_name: str | None = None
    pool: str | None = None
    test: bool = False
    rule: str | None = None
    min_rule: int | None = None
    max_rule: int | None = None
    copies: int | None = None
    min_copies: int | None = None
    max_copies: int | None = None
    x: int | None = None
    first: int | None = None
    last: int | None = None
    pool_id: int | None = None
    weights: tuple[str, ...] = ()
    mappings: bool = False
    statistics: bool = False
    utilization: bool = False
    utilization_all: bool = False
    bad_mappings: bool = False
    quality: bool = False
    fatal: int | None = None
    compare: bool = False
    affected: bool = False
    fail: tuple[str, ...] = ()
    seed: int = 1
    build: int | None = None
    add_item: tuple[str, ...] = ()
    update_item: tuple[str, ...] = ()
    remove_item: tuple[str, ...] = ()
    move: tuple[str, ...] = ()
    reweight_item: tuple[str, ...] = ()
    reweight: bool = False
    location: tuple[str, ...] = ()
    output: Path | None = None
    file_format: MapFormat | None = None
    decompile: bool = False
    dump: bool = False
    tree: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> PlaceRequest:
        """A request of the options as the command line gives them.

        Args:
            options: By name; lists for what may stand several times, None for what was not given.
                Options that are not the request's own, as --json, are passed over.
        """
        known = {field.name for field in fields(cls)}
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in options.items()
            if name in known and value is not None
        }
        return cls(**given)

    @property
    def shows(self) -> bool:
        """Whether crushtool's lines are wanted."""
        return (
            self.mappings
            or self.bad_mappings
            or self.statistics
            or self.utilization
            or self.utilization_all
        )

    @property
    def changes(self) -> bool:
        """Whether the map is changed before anything else."""
        return self.reweight or bool(self.map_edits[0])

    @cached_property
    def map_edits(self) -> tuple[list[Edit], list[Problem]]:
        """The edits of the map in the order in which they stand, and what is wrong with them."""
        return edits_of(
            {
                "--add-item": self.add_item,
                "--update-item": self.update_item,
                "--remove-item": self.remove_item,
                "--move": self.move,
                "--reweight-item": self.reweight_item,
                "--loc": self.location,
            }
        )

    @property
    def edits(self) -> bool:
        """Whether the map is built or changed before anything else."""
        return self.build is not None or self.changes

    @property
    def writes(self) -> bool:
        """Whether the map itself is wanted, as a file or on stdout."""
        return self.decompile or self.dump or self.tree

    @property
    def files(self) -> tuple[Path, ...]:
        """The files named; with --build the words are layers instead."""
        return () if self.build is not None else tuple(Path(word) for word in self.words)

    @property
    def mode(self) -> Mode:
        """What to do.

        Raises:
            ConfigError: Two things are asked for at once, or none.
        """
        wanted = {
            Mode.groups: self.groups,
            Mode.object: self.object_name is not None,
            Mode.quality: self.quality,
            Mode.compare: self.compare,
            Mode.affected: self.affected,
        }
        chosen = [mode for mode, given in wanted.items() if given]
        if self.shows and not (self.test and chosen == [Mode.compare]):
            chosen.append(Mode.tester)
        if not chosen and (self.writes or (self.output is not None and self.rule is None)):
            return Mode.write
        if not chosen and (self.test or self.rule is not None):
            chosen.append(Mode.tester)
        if not chosen and self.edits:
            raise ConfigError(
                "an edited map goes nowhere yet; write it with -o FILE, print it with --decompile, "
                "--dump or --tree, or judge it with --quality or a --show option"
            )
        selects_rule = self.rule is not None and chosen[0:1] in ([Mode.groups], [Mode.object])
        if len(chosen) != 1 or selects_rule:
            example = self.words[0] if self.files else "MAP"
            raise ConfigError(
                "place needs exactly one of --groups, --object NAME, --rule RULE (with --show-... "
                "options or without), --quality, --compare and --affected; for example "
                f"`resilver place {example} --rule 0 --num-rep 3 --show-mappings`"
            )
        return chosen[0]

    def check(self) -> None:
        """Hold together what only makes sense with something else.

        Raises:
            ConfigError: With every option that stands alone.
        """
        problems = []
        needs = [
            (self.fail and not self.affected, "--fail", "add --affected"),
            (self.affected and not self.fail, "--affected", "add --fail osd.12, or host=NAME"),
            (
                self.file_format is not None and self.output is None,
                "--format",
                "add -o FILE, or use --decompile (text) or --dump (JSON) for stdout",
            ),
            (self.fatal is not None and not self.quality, "--fatal", "add --quality"),
        ]
        # crushtool lets the last of these win; options here have no order.
        either = [
            (self.rule, "--rule", (self.min_rule, self.max_rule), "--min-rule and --max-rule"),
            (self.x, "--x", (self.first, self.last), "--min-x and --max-x"),
            (self.copies, "--num-rep", (self.min_copies, self.max_copies), "--min-rep, --max-rep"),
        ]
        problems += [
            Problem(f"it stands in place of {range_}", "give one or the other", option)
            for one, option, both, range_ in either
            if one is not None and any(end is not None for end in both)
        ]
        problems += [
            Problem("it means nothing by itself", what, option)
            for given, option, what in needs
            if given
        ]
        problems += self.map_edits[1]
        problems += self._ignored()
        wanted, needs_files = (2, "--compare takes two files") if self.compare else (1, "one FILE")
        if self.build is None and len(self.words) != wanted:
            remedy = (
                "`resilver place --compare BEFORE AFTER`"
                if self.compare
                else "name a map, a report, a dump or a study, or use --build"
            )
            rule = f"place takes {needs_files}" if wanted == 1 else needs_files
            problems.append(Problem(f"{rule}, and {len(self.words)} are given", remedy))
        if problems:
            raise ConfigError(problems)

    def _ignored(self) -> list[Problem]:
        """Options that what is asked for would pass over in silence."""
        mode = self.mode
        option = f"--{mode}" if mode is not Mode.tester else "--rule"
        named = mode in (Mode.groups, Mode.object, Mode.affected)
        on_map = self.edits or mode in (Mode.tester, Mode.write)
        views = (("--tree", self.tree), ("--dump", self.dump), ("--decompile", self.decompile))
        inputs = (
            ("--num-rep", self.copies),
            ("--x", self.x),
            ("--min-x", self.first),
            ("--max-x", self.last),
            ("--pool-id", self.pool_id),
            ("--weight", self.weights or None),
        )
        found = [
            (name, "print or write the map by itself")
            for name, given in (*views, ("-o", self.output is not None))
            if given and not on_map and not (name == "-o" and mode is Mode.affected)
        ]
        found += [
            (name, "it is an input of --rule")
            for name, given in inputs
            if given is not None and named
        ]
        if self.pool is not None and (self.rule is not None or mode in (Mode.tester, Mode.write)):
            found.append(
                ("--pool", "a rule's inputs are of no pool; --pool-id mixes its number in")
            )
            option = "--rule" if self.rule is not None else option
        return [Problem(f"{option} passes over it", remedy, name) for name, remedy in found]


def pairs(options: tuple[str, ...], option: str, shape: str) -> list[tuple[str, str]]:
    """Options of two words, which arrive joined by a unit separator.

    Args:
        options: Each as given.
        option: The option's name, for the message.
        shape: What it takes, for the message.

    Returns:
        The two words of each.

    Raises:
        ConfigError: A second word is missing.
    """
    found = []
    for given in options:
        first, separator, second = given.partition(SEPARATOR)
        if not separator:
            raise ConfigError(f"{option} = {first}: it takes two words; write {option} {shape}")
        found.append((first, second))
    return found
