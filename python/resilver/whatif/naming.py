"""What changes name: OSDs, buckets and numbers, as they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from resilver.errors import ConfigError, name_remedy, show
from resilver.whatif.cluster import Cluster
from resilver.whatif.declared.forms import ORCHESTRATOR, has


@dataclass(frozen=True)
class Made:
    """What a change comes to.

    Attributes:
        changes: The core's changes, in order.
        text: What happens, as a clause.
        commands: The lines that do it on the real cluster.
        is_by_choice: Whether the operator decides it, so that a plan that leaves no room is
            refused; a failure is not decided.
    """

    changes: list[dict[str, Any]]
    text: str
    commands: list[str] = field(default_factory=list)
    is_by_choice: bool = True


@dataclass(frozen=True)
class Targets:
    """OSDs that a change names.

    Attributes:
        osds: Their numbers, rising.
        items: The names of the OSDs and buckets that were written.
        text: The same for a sentence.
    """

    osds: list[int]
    items: list[str]
    text: str


def targets(value: str, cluster: Cluster) -> Targets:
    """The OSDs that ``osd.12,host=x`` names; a bucket's name alone will do.

    Raises:
        ConfigError: One names nothing, or a bucket holds no OSD.
    """
    osds: set[int] = set()
    items: list[str] = []
    for word in (part.strip() for part in value.split(",")):
        kind, sign, name = word.partition("=")
        names = cluster.osd_names
        if not word:
            rule = "a change names OSDs or buckets"
            raise ConfigError(rule, 'such as "osd.12" or "host=node3"', value=show(value))
        if sign and kind != cluster.tree.types[0]:
            found, item = cluster.tree.below(cluster.tree.bucket(kind, name).name), name
        elif (wanted := name if sign else word) in names:
            found, item = [names[wanted]], cluster.name_of(names[wanted])
        elif wanted.isdigit() and f"osd.{int(wanted)}" in names:
            found, item = [int(wanted)], cluster.name_of(int(wanted))
        elif not sign and word in cluster.tree.buckets:
            found, item = cluster.tree.below(word), word
        else:
            known = [*names, *cluster.tree.buckets]
            rule = "the cluster has no OSD or bucket of this name"
            raise ConfigError(rule, name_remedy(wanted, known), value=show(wanted))
        existing = [osd for osd in found if osd in cluster.osds]
        if not existing:
            rule, remedy = "there is no OSD below it", "name a bucket that holds OSDs"
            raise ConfigError(rule, remedy, value=show(word))
        osds.update(existing)
        items.append(item)
    return Targets(sorted(osds), items, listed(items))


def listed(words: list[str]) -> str:
    """Words as a sentence lists them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def verb(found: Targets, one: str, several: str) -> str:
    """The verb of a sentence about targets."""
    return one if len(found.items) == 1 else several


def daemon_lines(verb: str, found: Targets, cluster: Cluster) -> list[str]:
    """The lines that start or stop daemons: by the orchestrator, else by systemd on each host."""
    if has(ORCHESTRATOR, cluster.release):
        return [f"ceph orch daemon {verb} osd.{osd}" for osd in found.osds]
    hosts = {osd: cluster.kinds[osd].places.get("host", "its host") for osd in found.osds}
    return [f"systemctl {verb} ceph-osd@{osd}  # on {hosts[osd]}" for osd in found.osds]


def pair(value: str, what: str) -> tuple[str, str]:
    """The two sides of ``NAME=VALUE``; a name may hold the sign itself.

    Raises:
        ConfigError: One is missing.
    """
    name, sign, rest = value.rpartition("=")
    if not sign or not name.strip() or not rest.strip():
        raise ConfigError(f"it is written {what}", value=show(value))
    return name.strip(), rest.strip()


def number(text: str, low: float, high: float, what: str, *, whole: bool = True) -> float:
    """A number within its range.

    Raises:
        ConfigError: It is none.
    """
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        rule = f"{what} is {kind} from {low:,.10g} to {high:,.10g}"
        raise ConfigError(rule, "use a value in that range", value=show(text))
    return value


def share(text: str, low: float, what: str) -> float:
    """A share up to 1, as ``30%`` or ``0.3``.

    Raises:
        ConfigError: It is none, or below `low`.
    """
    digits = text.removesuffix("%")
    try:
        value = float(digits) / (100 if digits != text else 1)
    except ValueError:
        value = float("nan")
    if not low <= value <= 1:
        rule = f"{what} is from {100 * low:g} % to 100 %"
        raise ConfigError(rule, 'such as "30%" or "0.3"', value=show(text))
    return value
