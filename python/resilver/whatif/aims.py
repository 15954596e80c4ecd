"""What settings are searched for: aims, and the values of settings that are tried."""

from __future__ import annotations

import re
from dataclasses import dataclass

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.units import Seconds
from resilver.whatif.answer import Outcome
from resilver.whatif.declared import SETTINGS
from resilver.whatif.releases import Release
from resilver.whatif.settings import Setting, known

_PART = re.compile(r"\s*(.+?)\s+(?:in|within|under|below|by)\s+(.+?)\s*")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_PROBABILITY = re.compile(r"\d*\.?\d+(?:e-?\d+)?")
_EXAMPLE = 'such as "healthy in 1 d", or with --search fill "any host heals"'

_TIMES = {
    "healthy": "whole_seconds",
    "degraded": "degraded_seconds",
    "at risk": "at_risk_seconds",
    "inactive": "inactive_seconds",
    "clients p99": "p99_seconds",
}
_FILL = "fullest OSD"
_LOSS = "chance of loss"
WORDS = (*_TIMES, _FILL, _LOSS)
"""What an aim may be about."""

# From what clients feel least to what heals fastest.
_TRIED: dict[str, tuple[str, ...]] = {
    "osd_max_backfills": ("1", "2", "4", "8"),
    "osd_recovery_max_active": ("1", "3", "5", "10", "20"),
    "osd_recovery_max_active_hdd": ("1", "3", "5", "10"),
    "osd_recovery_max_active_ssd": ("3", "10", "20", "40"),
    "osd_recovery_sleep": ("0.5", "0.1", "0.025", "0.001"),
    "osd_recovery_sleep_hdd": ("0.5", "0.1", "0.025", "0"),
    "osd_recovery_sleep_hybrid": ("0.1", "0.025", "0.01", "0"),
    "osd_recovery_sleep_ssd": ("0.025", "0.01", "0"),
    "osd_mclock_profile": ("high_client_ops", "balanced", "high_recovery_ops"),
    "osd_op_queue": ("mclock_scheduler", "wpq"),
    "osd_recovery_max_chunk": ("1048576", "8388608", "33554432"),
    "osd_recovery_max_single_start": ("1", "2", "4"),
    "osd_op_num_shards_hdd": ("1", "5"),
    "target_max_misplaced_ratio": ("0.01", "0.05", "0.1", "0.2"),
    "mon_osd_down_out_interval": ("3600", "1800", "600", "300", "60"),
    "mgr/balancer/upmap_max_optimizations": ("10", "50", "100"),
}
_VALUES_MAX = 32


@dataclass(frozen=True)
class Goal:
    """One part of an aim.

    Attributes:
        word: What it is about, of `WORDS`.
        most: The most it may be: seconds, a share, or a probability.
    """

    word: str
    most: float

    @property
    def needs_load(self) -> bool:
        """Whether nothing can be said of it without a load."""
        return self.word == "clients p99"

    @property
    def is_of_time(self) -> bool:
        """Whether it asks for haste, and not for clients or room."""
        return self.word in ("healthy", "degraded", "at risk", "inactive", _LOSS)

    def measure(self, found: Outcome) -> float | None:
        """The figure that it is about; None where it never comes about."""
        if self.word == _FILL:
            return found.peak_share
        if self.word == _LOSS:
            return found.loss_chance
        value: float | None = getattr(found, _TIMES[self.word])
        return value

    def is_met(self, found: Outcome) -> bool:
        """Whether an outcome meets it."""
        measured = self.measure(found)
        return measured is not None and measured <= self.most


def read_aim(text: str) -> tuple[Goal, ...]:
    """The goals of an aim: ``healthy in 1 d and clients p99 under 50 ms``.

    Raises:
        ConfigError: It is not written so.
    """
    return tuple(_goal(part, text) for part in text.split(" and "))


def _goal(part: str, text: str) -> Goal:
    match = _PART.fullmatch(part)
    if match is None:
        rule = "an aim says what is to be under which figure"
        raise ConfigError(rule, _EXAMPLE, key="--aim", value=show(text))
    word = re.sub(r"^(not|no longer)\s+|^clients'\s+", "", match[1]).removeprefix("clients ")
    word = {"p99": "clients p99", "whole": "healthy"}.get(word, word)
    if word not in WORDS:
        rule = "nothing of this name is aimed at"
        raise ConfigError(rule, name_remedy(match[1], WORDS), key="--aim", value=show(text))
    if word == _FILL:
        percent = _PERCENT.fullmatch(match[2])
        if percent is None or not 0 < float(percent[1]) <= 100:
            rule = "how full an OSD gets is a percentage above 0 and up to 100"
            raise ConfigError(rule, 'such as "85%"', key="--aim", value=show(match[2]))
        return Goal(word, float(percent[1]) / 100)
    if word == _LOSS:
        if _PROBABILITY.fullmatch(match[2]) is None or not 0 < float(match[2]) < 1:
            rule = "a chance is a number between 0 and 1"
            raise ConfigError(rule, 'such as "1e-6"', key="--aim", value=show(match[2]))
        return Goal(word, float(match[2]))
    try:
        return Goal(word, float(Seconds.parse(match[2])))
    except ConfigError as error:
        raise ConfigError(problem.under("--aim") for problem in error.problems) from None


@dataclass(frozen=True)
class Axis:
    """A setting that is searched.

    Attributes:
        setting: The setting.
        values: What is tried of it, from what clients feel least on.
    """

    setting: Setting
    values: tuple[str, ...]


def read_axes(text: str, release: Release) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
    """The settings that are searched: ``osd_max_backfills=1/2/4, mclock profile``.

    Args:
        text: Names with commas between, each with the values to try, or without for the usual.
        release: What the cluster runs.

    Returns:
        The settings with the values that the release has, and why others are left out.

    Raises:
        ConfigError: A name is no setting's, stands twice, nothing says what to try of it, or the
            release has none of them.
    """
    axes: list[Axis] = []
    left_out: list[Problem] = []
    for part in text.split(","):
        name, sign, values = (one.strip() for one in part.partition("="))
        setting = _named(name)
        if sign:
            tried = tuple(one.strip() for one in values.split("/"))
            for one in tried:
                setting.parse(one, "--search")
        else:
            tried = _TRIED.get(setting.name, ())
        problem = ""
        if setting.name in [axis.setting.name for axis in axes]:
            problem = "this setting stands twice"
        elif not 2 <= len(set(tried)) <= _VALUES_MAX:
            problem = f"from 2 to {_VALUES_MAX} values are tried of a setting"
        if problem:
            remedy = f'such as "{setting.name}=1/2/4"'
            raise ConfigError(problem, remedy, key="--search", value=show(part.strip()))
        lacking = {one: setting.problem_in(release, one, "--search") for one in tried}
        has = tuple(one for one, problem in lacking.items() if problem is None)
        # A setting that the release lacks, it lacks with each of its values.
        left_out += {one.rule: one for one in lacking.values() if one is not None}.values()
        axes += [Axis(setting, has)] if has else []
    if not axes:
        raise ConfigError(left_out)
    return tuple(axes), tuple(f"Left out: {one.rule}." for one in left_out)


def _named(name: str) -> Setting:
    """The setting of a name, which may leave out its first words and have blanks."""
    joined = name.replace(" ", "_")
    ends = [one for one in SETTINGS if one.endswith(f"_{joined}") or one.endswith(f"/{joined}")]
    if joined in SETTINGS or not ends:
        return known(joined, "--search")
    return SETTINGS[min(ends, key=len)]
