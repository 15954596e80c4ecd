"""What the links between two levels of switches leave of a stream's rate, by counting them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from resilver.analytic.code_figures import CodeFigures
from resilver.spec.attachment import Attachment


@dataclass(frozen=True)
class LevelLoads:
    """Mean loads of the links above the hosts, over what they pass, at the full analytic rate.

    Args:
        up: Of the links from first-level to second-level switches.
        down: Of the same links the other way.
        entry: Of the busier direction of the links between second-level switches and clients.
    """

    up: Fraction
    down: Fraction
    entry: Fraction

    @property
    def bound(self) -> Fraction:
        """The part of the full rate that these links can carry at most, 1 where all of it."""
        return min(Fraction(1), 1 / max(self.up, self.down, self.entry))


def away_share(attachment: Attachment) -> Fraction:
    """The part of traffic between peers that leaves their first-level switch.

    A message goes from port j to port j of another server of the group, each peer as likely.

    Args:
        attachment: How the groups hang at the switches.

    Returns:
        1 - (members of the group at one switch - 1) / (members - 1). A local group within a set of
        switches has all its members at each of them, hence 0; a distributed one has its share.

    >>> away_share(Attachment("distributed", 24, 24, 2, 24))
    Fraction(22, 23)
    """
    size = attachment.group_size
    together = (
        min(size, attachment.slots) if attachment.kind == "local" else size // attachment.sets
    )
    return Fraction(size - together, size - 1)


def level_loads(
    attachment: Attachment,
    code: CodeFigures,
    *,
    spines: int,
    entries_per_spine: int,
    links: int = 1,
    reads: float = 1.0,
    sending: float = 1.0,
) -> LevelLoads:
    """How loaded the links above the hosts were if every server streamed at its full rate.

    The load of a level is all that must cross it over all that its links pass; no routing can
    put less on its busiest link. With D-mod-K and as many hosts at a switch as a multiple of its
    links up, every link of a level has that load.

    Args:
        attachment: How the groups hang at the switches; every place has a port.
        code: The code that is read and written.
        spines: Second-level switches.
        entries_per_spine: Entries of clients at each of them.
        links: Links between a first-level and a second-level switch.
        reads: The share of stripe operations that read, 0 to 1.
        sending: The rate of the streams over the full analytic one, such as 1 - f.

    Returns:
        The loads.

    Source: derived here from the operations of Gonsiorowski et al. (2017), section 5; the
    network is that of its sections 4 and 6.3.

    >>> from resilver.analytic import code_figures
    >>> local = Attachment("local", 24, 24, 2, 24)
    >>> level_loads(local, code_figures("rs 8+3"), spines=12, entries_per_spine=24).bound
    Fraction(15, 16)
    """
    k, spread, share = code.data, code.strips - 1, Fraction(reads)
    # The full rate in stripe operations: one direction of a port carries all its link passes.
    operations = code.mixed_share(share) / k * Fraction(sending)
    peers = operations * (share * (k - 1) + (1 - share) * spread) * away_share(attachment)
    to_clients, from_clients = operations * share * k, operations * (1 - share) * k
    hosts = Fraction(attachment.slots, spines * links)
    entries = Fraction(attachment.leaves * attachment.slots, spines * entries_per_spine)
    return LevelLoads(
        up=hosts * (peers + to_clients),
        down=hosts * (peers + from_clients),
        entry=entries * max(to_clients, from_clients),
    )


def rebuild_ceiling(rebuild_fraction: float, reached: float) -> Fraction:
    """How far above its analytic share lent bandwidth can lift a rebuild.

    Clients that reach only a part of their share leave the rest of their ports to the rebuild
    beside them, which then may take 1 - (1 - f) x reached in place of f.

    Args:
        rebuild_fraction: f, above 0.
        reached: The clients' rate over their analytic one, 0 to 1.

    Returns:
        The rebuild's largest rate over its analytic one, where only ports limit it.

    >>> rebuild_ceiling(0.5, 0.5)
    Fraction(3, 2)
    """
    fraction = Fraction(rebuild_fraction)
    return (1 - (1 - fraction) * Fraction(reached)) / fraction
