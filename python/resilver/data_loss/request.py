"""What is asked beside a system: how it fails, how it heals, and how well the answer is known."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

from resilver.data_loss.answer import Origin
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.spec.durability import DurabilityMethod, DurabilityQuestion
from resilver.spec.failures import Failure
from resilver.units import format_duration

METHODS = get_args(DurabilityMethod)

ORDERS: Mapping[str, Mapping[str, Any]] = {
    "priority": {"returns": "groups", "most_lost_first": True},
    "device": {"returns": "devices"},
}
"""In which order data is repaired, and the keys of a section that say so: PG by PG, those with the
fewest copies left first; or device by device, each back as a whole at the end of its repair."""

HOSTS = ("simedc", "never")
"""By what hosts and racks of a cluster fail: an entry of the catalog, the default, or never."""

REPAIR_DEFAULT = "1 d"
"""The repair of a code alone, of which nothing can be simulated, where nothing is said."""

FAILURES_DEFAULT = "backblaze-2025"
"""The entry of the catalog by which devices fail where nothing is said."""


@dataclass(frozen=True)
class Asked:
    """What is asked beside a system. What is empty or None is left to the system's own study.

    Attributes:
        mission: How long data has to last, such as ``10 y``; else a year.
        afr: The share of devices that fails in a year, such as ``1.36 %``; of a class:
            ``hdd=1.36 %``.
        mttf: Instead, the mean time to a device's failure, such as ``1.2e6 h``.
        drive: Instead, a drive or fleet of the catalog, such as ``backblaze-2025``; of a class:
            ``hdd=NAME``.
        repair: How a lost device is made whole: ``10 h``, ``simulate``, the bandwidth that a device
            gives, such as ``50 MiB/s``, or any value of ``durability.repair`` as TOML.
        repairs: ``parallel``, or ``serial``: one at a time in each set.
        crews: Instead, how many repairs run at once in the whole system.
        repair_order: One of `ORDERS`; else what the system does.
        hosts: ``never``, or the entry of the catalog by which hosts and racks of a cluster fail.
        detection: From a loss until its repair may begin, such as ``15 min``.
        replacement: From then until there is something to repair to, such as ``2 d``.
        unreadable: Errors that a repair meets as it reads, such as ``1e-15 /bit``.
        latent_errors: Errors that come up on stored bytes, such as ``0.1 /TB/y``.
        scrub_every: How often all is read and mended, such as ``14 d``.
        device: What a device holds, such as ``20 TB``: of codes alone.
        stored: User bytes in all, such as ``10 PB``: of codes alone.
        groups: How many groups there are, on devices of their own: of codes alone. Else as many
            as `stored` needs on devices of `device`; without these, one.
        method: One of `METHODS`; else ``auto``.
        relative_error: The standard error at which a simulation stops, over its value; else 0.05.
        trajectories: The most missions that are simulated.
        seed: The key of every draw.
        sensitivity: Whether to tell which rate matters most.
        bursts: The most failures at one moment whose loss is told; 0 for none.
    """

    mission: str = ""
    afr: tuple[str, ...] = ()
    mttf: str = ""
    drive: tuple[str, ...] = ()
    repair: str = ""
    repairs: str = ""
    crews: int | None = None
    repair_order: str = ""
    hosts: str = ""
    detection: str = ""
    replacement: str = ""
    unreadable: str = ""
    latent_errors: str = ""
    scrub_every: str = ""
    device: str = ""
    stored: str = ""
    groups: int | None = None
    method: str = ""
    relative_error: float | None = None
    trajectories: int | None = None
    seed: int = 0
    sensitivity: bool = False
    bursts: int = 0


@dataclass(frozen=True)
class Where:
    """Where simulations are performed and kept.

    Attributes:
        folder: Keeps finished batches and repair times, so that a killed run goes on; None for
            none.
        workers: Processes of this machine; None for one a processor, 0 for this process alone.
        executor: As of `resilver.execute`: a Dask scheduler's address, a client, an executor.
    """

    folder: Path | None = None
    workers: int | None = None
    executor: Any = None


def asked_of(options: Mapping[str, Any]) -> Asked:
    """What options by their names ask.

    Args:
        options: Values of the fields of `Asked`; of a field of several texts, one is enough.

    Raises:
        ConfigError: There is no such option, or its value cannot be.
    """
    known = {one.name: one.default for one in fields(Asked)}
    made = {}
    for name, value in options.items():
        if name not in known:
            rule = "durability is asked nothing of this name"
            raise ConfigError(Problem(rule, name_remedy(name, list(known)), key=name))
        if isinstance(known[name], tuple):
            value = (value,) if isinstance(value, str) else tuple(value)
        made[name] = value
    asked = Asked(**made)
    check(asked)
    return asked


def check(asked: Asked) -> None:
    """Refuse what cannot be asked, whatever the system; the rest the study's section refuses.

    Raises:
        ConfigError: With every such value.
    """
    problems = [
        *_whole("groups", 1 if asked.groups is None else asked.groups, 1, 10**12),
        *_whole("seed", asked.seed, 0, 2**63 - 1),
        *_whole("bursts", asked.bursts, 0, 200),
    ]
    for key, known in (("repair_order", tuple(ORDERS)), ("hosts", HOSTS)):
        value = getattr(asked, key)
        if value and value not in known:
            rule = f"this is {' or '.join(known)}"
            problems.append(Problem(rule, "use one of these", key, show(value)))
    if sum(map(bool, (asked.afr, asked.mttf, asked.drive))) > 1:
        rule = "one of afr, mttf and drive says how often devices fail"
        problems.append(Problem(rule, "keep one", "mttf" if asked.mttf else "drive"))
    if problems:
        raise ConfigError(problems)


def _whole(key: str, value: object, least: int, most: int) -> list[Problem]:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return []
    rule = f"this is a whole number from {least} to {most:,}"
    return [Problem(rule, "write one of these", key, show(value))]


@dataclass(frozen=True)
class Question:
    """What is asked of one system, and who says what of it.

    Attributes:
        section: How it fails and heals, and for how long data has to last.
        origins: Of each key of the section who says it; what is not in it is a default.
        asked: The rest.
    """

    section: DurabilityQuestion
    origins: Mapping[str, Origin]
    asked: Asked

    def origin(self, key: str) -> Origin:
        """Who says a key of the section."""
        return self.origins.get(key, "default")

    @property
    def mission_seconds(self) -> float:
        """How long data has to last."""
        return float(self.section.mission)


def question_of(
    asked: Asked, own: DurabilityQuestion | None, *, repair: str = "simulate"
) -> Question:
    """What is asked of a system: the options, else its study's section, else defaults.

    Args:
        asked: The options.
        own: The study's section, if there is one.
        repair: The repair where nothing is said of it.

    Raises:
        ConfigError: A value cannot be.
    """
    table = dict(own.given()) if own is not None else {}
    origins: dict[str, Origin] = dict.fromkeys(table, "study")
    stated = {key: value for key in _KEYS if (value := getattr(asked, key)) not in ("", None)}
    if "repair" in stated:
        stated["repair"] = _repair(str(stated["repair"]))
    stated |= ORDERS.get(asked.repair_order, {})
    devices = _device_failures(asked)
    if devices:
        kept = [one for one in table.get("failures", ()) if not _is_of_devices(one)]
        stated["failures"] = [*devices, *kept]
    table |= stated
    origins |= dict.fromkeys(stated, "stated")
    table.setdefault("repair", repair)
    if not table.get("failures"):
        table["failures"] = [{"like": FAILURES_DEFAULT}]
        origins["failures"] = "catalog"
    try:
        section = DurabilityQuestion.from_table(table, Path.cwd())
    except ConfigError as error:
        known = [f"failures.{index}" for index in range(len(devices))]
        raise ConfigError(_as_option(problem, known) for problem in error.problems) from None
    return Question(section, origins, asked)


def refuse_slow_repairs(section: DurabilityQuestion) -> None:
    """Refuse repairs that take as long as what they repair lasts.

    Raises:
        ConfigError: They do; in the study's own section it was refused as it was read.
    """
    waits = section.detection.mean_seconds + section.replacement.mean_seconds
    repair = waits + (section.repair.times[0].mean_seconds if section.repair.times else 0.0)
    for failure in section.failures:
        lives = failure.mean_seconds
        if lives is None or not _is_of_devices(failure) or repair < lives:
            continue
        rule = f"a device fails after {format_duration(lives)} on average, and is not whole by then"
        remedy = "give a shorter repair, or rarer failures"
        raise ConfigError(Problem(rule, remedy, "repair", show(section.repair.label)))


def _as_option(problem: Problem, stated: list[str]) -> Problem:
    """A problem of failures that options stated, by the name of the option."""
    place, _, law = problem.key.rpartition(".")
    if place not in stated:
        return problem
    return replace(problem, key="drive" if law == "like" else law)


_KEYS = (
    "mission",
    "repair",
    "repairs",
    "crews",
    "detection",
    "replacement",
    "unreadable",
    "latent_errors",
    "scrub_every",
    "method",
    "relative_error",
    "trajectories",
)


def _repair(text: str) -> Any:
    """The value of ``durability.repair`` that a text means."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return tomllib.loads(f"repair = {text}")["repair"]
        except tomllib.TOMLDecodeError:
            remedy = 'write "10 h", "50 MiB/s" or { exponential = "10 h" }'
            problem = Problem("this is no value of TOML", remedy, "repair", show(text))
            raise ConfigError(problem) from None
    return {"device": text} if text.rstrip().endswith("/s") else text


def _device_failures(asked: Asked) -> list[dict[str, str]]:
    """The failures of devices that the options state."""
    made = []
    for law, texts in (
        ("afr", asked.afr),
        ("mttf", (asked.mttf,) if asked.mttf else ()),
        ("like", asked.drive),
    ):
        for text in texts:
            name, sign, value = text.partition("=")
            made.append({"class": name.strip(), law: value.strip()} if sign else {law: text})
    return made


def _is_of_devices(failure: Failure) -> bool:
    """Whether a study's failure is of devices that are lost, which an option replaces."""
    return failure.level is None and failure.lasts is None and failure.burst is None
