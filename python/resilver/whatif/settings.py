"""The settings of Ceph that healing goes by: each once, with its defaults by release.

Sources, by the short names below: ``options`` are the files of `src/common/options` in Ceph's
tree (osd, global, mon, mgr; before Quincy `src/common/options.cc`, before Luminous
`config_opts.h`); ``PR n`` is a pull request of ceph/ceph; ``balancer`` is
`src/pybind/mgr/balancer/module.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.units import BYTE_UNITS, Seconds, exact_bytes, format_duration
from resilver.whatif import releases
from resilver.whatif.releases import ALWAYS, EVER, Release, Span

Value = int | float | bool | str
Kind = Literal["whole", "number", "share", "seconds", "bytes", "flag", "word"]

_SIZE_LETTERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_FLAG_WORDS = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


@dataclass(frozen=True)
class Setting:
    """A setting of Ceph's.

    Attributes:
        name: Its name in `ceph config`.
        daemon: Whose it is: ``osd``, ``mon``, ``mgr``, or ``global`` of several.
        kind: What its value is.
        defaults: (since which release, its default), rising; the last that applies holds.
        sentence: What it does.
        source: Where its defaults are from.
        least: The least value.
        most: The largest; None for no bound.
        words: The words that it may be, where it is a word; none for any.
        span: The releases that have it.
        word_spans: The releases that have a word of it, where those are not all.
    """

    name: str
    daemon: str
    kind: Kind
    defaults: tuple[tuple[Release, Value], ...]
    sentence: str
    source: str = "options"
    least: float = 0
    most: float | None = None
    words: tuple[str, ...] = ()
    span: Span = EVER
    word_spans: Mapping[str, Span] = field(default_factory=dict)

    def problem_in(self, release: Release, value: str, key: str = "") -> Problem | None:
        """That a release has no such setting, or not this value of it; None where it has.

        Args:
            value: The value as text; empty to ask for the setting alone.
            key: Who asks, for the message.
        """
        if not self.span.holds(release):
            return self.span.problem(self.name, release, key)
        span = self.word_spans.get(value, self.span)
        return None if span.holds(release) else span.problem(f"{self.name} = {value}", release, key)

    def default(self, release: Release) -> Value:
        """Its default in a release; that of the first that has it, for those before."""
        held = [value for since, value in self.defaults if since <= release]
        return held[-1] if held else self.defaults[0][1]

    def parse(self, text: str, place: str = "") -> Value:
        """The value that a text means: as Ceph prints it, or with a unit as we write them.

        Args:
            place: Where it stands, for the message.

        Raises:
            ConfigError: It is no value of this setting.
        """
        text = text.strip()
        try:
            value = self._read(text)
        except (ValueError, KeyError, OverflowError):
            raise ConfigError(self._problem(text, place)) from None
        if not isinstance(value, str) and (
            not value >= self.least or (self.most is not None and value > self.most)
        ):
            raise ConfigError(self._problem(text, place))
        return value

    def _read(self, text: str) -> Value:
        if self.kind == "word":
            if not text or (self.words and text not in self.words):
                raise ValueError(text)
            return text
        if self.kind == "flag":
            return _FLAG_WORDS[text.lower()]
        if self.kind == "bytes":
            return _bytes(text)
        if self.kind == "whole":
            # Ceph prints some whole numbers with digits behind the point.
            value = float(text)
            if value != int(value):
                raise ValueError(text)
            return int(value)
        try:
            return float(text)
        except ValueError:
            if self.kind != "seconds":
                raise
            return float(Seconds.parse(text))

    def _problem(self, text: str, place: str) -> Problem:
        if self.kind == "word":
            return Problem(
                f"{self.name} is one of its words",
                name_remedy(text, self.words),
                key=self.name,
                value=show(text),
                place=place,
            )
        rule, example = {
            "whole": ("a whole number", "4"),
            "number": ("a number", "0.5"),
            "share": ("a share", "0.05"),
            "seconds": ("a time in seconds", "30"),
            "bytes": ("a size", "8 MiB"),
            "flag": ("true or false", "true"),
        }[self.kind]
        if self.kind != "flag":
            rule += f" from {self.least:,g}" + (f" to {self.most:,.12g}" if self.most else "")
        return Problem(
            f"{self.name} is {rule}",
            f'such as "{example}"',
            key=self.name,
            value=show(text),
            place=place,
        )

    def words_of(self, value: Value) -> str:
        """A value for people, with its unit."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.kind == "bytes":
            return exact_bytes(int(value))
        if self.kind == "seconds":
            return format_duration(float(value))
        return value if isinstance(value, str) else f"{value:g}" if value < 1e6 else f"{value:.0f}"


def _bytes(text: str) -> int:
    """A size as Ceph reads it, whose letters are powers of 1024, or with a unit such as MiB."""
    number = text.rstrip("kKMGTiB ")
    unit = text[len(number) :].strip()
    scale = BYTE_UNITS.get(unit) or 1024 ** _SIZE_LETTERS[unit.removesuffix("i")]
    size = float(number) * float(scale)
    if size != int(size):
        raise ValueError(text)
    return int(size)


def osd_setting(
    name: str,
    kind: Kind,
    sentence: str,
    *values: Value,
    least: float = 0,
    most: float | None = None,
    source: str = "options",
    words: tuple[str, ...] = (),
    span: Span = EVER,
    word_spans: Mapping[str, Span] | None = None,
    **since: Value,
) -> Setting:
    """A setting of OSDs.

    Args:
        name: Its name in `ceph config`.
        kind: What its value is.
        sentence: What it does.
        values: Its default, if it had one before Luminous.
        least: The least value.
        most: The largest.
        source: Where its defaults are from.
        words: The words that it may be.
        span: The releases that have it.
        word_spans: The releases that have a word, where those are not all.
        since: Its default since Luminous, Nautilus and so on, rising, by names of `releases`.
    """
    defaults = [(ALWAYS, value) for value in values]
    for key, value in since.items():
        if not defaults or value != defaults[-1][1]:
            defaults.append((getattr(releases, key.upper()), value))
    kept = tuple(defaults)
    spans = word_spans or {}
    return Setting(name, "osd", kind, kept, sentence, source, least, most, words, span, spans)


def known(name: str, key: str = "", release: Release | None = None) -> Setting:
    """The setting of a name.

    Args:
        name: The name; a setting of the balancer's may go without ``mgr/balancer/``.
        key: Who asks, for the message.
        release: What the cluster runs, which must have it; None asks for no release.

    Raises:
        ConfigError: None that healing goes by has it, or the release lacks it.
    """
    from resilver.whatif.declared import SETTINGS

    found = SETTINGS.get(name) or SETTINGS.get(f"mgr/balancer/{name}")
    if found is None:
        rule = "healing goes by no setting of this name"
        raise ConfigError(rule, name_remedy(name, list(SETTINGS)), key, show(name))
    if release is not None and (problem := found.problem_in(release, "", key)):
        raise ConfigError(problem)
    return found
