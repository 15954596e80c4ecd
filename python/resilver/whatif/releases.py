"""Ceph's releases, and from which of them to which something exists."""

from __future__ import annotations

from dataclasses import dataclass

from resilver.errors import Problem, show

Release = tuple[int, int, int]

ALWAYS: Release = (0, 0, 0)
KRAKEN: Release = (11, 0, 0)
LUMINOUS: Release = (12, 0, 0)
MIMIC: Release = (13, 0, 0)
NAUTILUS: Release = (14, 0, 0)
OCTOPUS: Release = (15, 0, 0)
PACIFIC: Release = (16, 0, 0)
QUINCY: Release = (17, 0, 0)
LIMITS_CUT: Release = (17, 2, 6)
"""PR 49437 brought `osd_max_backfills` under mClock from 1000 to 10, and made it settable."""
COSTS_FIXED: Release = (17, 2, 7)
"""PR 49973, the backport of PR 49975 (Reef 18.2.0): mClock counts bytes a second, not requests."""

REEF: Release = (18, 0, 0)

RELEASE_NAMES = {
    "jewel": (10, 2, 11),
    "kraken": (11, 2, 1),
    "luminous": (12, 2, 13),
    "mimic": (13, 2, 10),
    "nautilus": (14, 2, 22),
    "octopus": (15, 2, 17),
    "pacific": (16, 2, 15),
    "quincy": (17, 2, 9),
    "reef": (18, 2, 7),
    "squid": (19, 2, 3),
    "tentacle": (20, 2, 1),
}
"""A late version of each release, for maps that say its name alone."""

ASSUMED_RELEASE = RELEASE_NAMES["squid"]
"""What a cluster runs where no dump says it."""


def version(release: Release) -> str:
    """A release for people; the first stable version of a major one has the minor number 2."""
    major, minor, patch = release
    return f"{major}.{minor}.{patch}" if minor else f"{major}.2.0"


@dataclass(frozen=True)
class Span:
    """The releases that have something.

    Attributes:
        since: The first of them.
        until: The first release that no longer has it; None where it is still there.
    """

    since: Release = ALWAYS
    until: Release | None = None

    def holds(self, release: Release) -> bool:
        """Whether a release has it."""
        return self.since <= release and (self.until is None or release < self.until)

    @property
    def words(self) -> str:
        """From when to when, as a clause; empty for all releases."""
        since = f"since {version(self.since)}" if self.since > ALWAYS else ""
        until = f"before {version(self.until)}" if self.until else ""
        return " and ".join(filter(None, (since, until)))

    def problem(self, what: str, release: Release, key: str = "", value: str = "") -> Problem:
        """That a release does not have it.

        Args:
            what: Its name.
            release: What the cluster runs.
            key: Who asks, for the message.
            value: What was asked, likewise.
        """
        running = ".".join(map(str, release))
        rule = f"Ceph has {what} {self.words}, and this cluster runs {running}"
        remedy = "leave it out, or state the release that the cluster will run with --release"
        return Problem(rule, remedy, key, show(value) if value else None)


EVER = Span()
"""Every release."""
