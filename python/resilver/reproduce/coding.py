"""What codes cost and survive, and what lost switches take, exactly and without a run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from resilver import redundancy
from resilver.analytic import (
    Attachment,
    bandwidth_lost,
    code_figures,
    data_loss_probability,
    stripes_lost,
)
from resilver.reproduce.tables import Row


def code_rows(codes: Sequence[str]) -> list[Row]:
    """What each code costs, by formula, and what it survives, by its generator matrix.

    Args:
        codes: The codes as studies write them, such as ``rs 8+3``.

    Returns:
        A row a code with the numbers of `resilver.analytic.CodeFigures`: ``pieces``, shares of a
        server's bandwidth (``read_share``, ``write_share``, ``rebuild_share``) and of space
        (``redundancy_share``, ``storage_overhead``), ``overhead_factor``, and the strips that the
        network moves (``stripe_read``, ``stripe_write``, ``strip_rebuild``); and what `survived`
        gives.
    """
    rows: list[Row] = []
    for name in codes:
        code = code_figures(name)
        shares = ("read_share", "write_share", "rebuild_share", "redundancy_share")
        factors = ("storage_overhead", "overhead_factor")
        exact = {column: float(getattr(code, column)) for column in (*shares, *factors)}
        strips = {"pieces": code.strips, "stripe_read": code.data, "stripe_write": code.strips}
        gathered = float(code.gathered)
        rows.append({"code": name, **exact, **strips, "strip_rebuild": gathered, **survived(name)})
    return rows


def survived(name: str) -> Row:
    """What a code survives, every set of losses tried.

    Args:
        name: The code as studies write it.

    Returns:
        ``fault_tolerance``, ``locality`` and ``survivable_<i>_share``.
    """
    code = redundancy(name)
    found: dict[str, float] = {
        "fault_tolerance": code.fault_tolerance,
        "locality": code.locality,
    }
    for losses in range(code.fault_tolerance + 3):
        found[f"survivable_{losses}_share"] = float(survivable_share(name, losses))
    return found


def survivable_share(name: str, losses: int) -> Fraction:
    """The part of all sets of so many lost pieces that a code survives, every set tried.

    Args:
        name: The code as studies write it.
        losses: How many pieces are lost.
    """
    found = redundancy(name).survivable(losses)
    assert found.survivable is not None, "every set of so few losses is looked at"
    return Fraction(found.survivable, found.all)


def switch_rows(
    leaves: int,
    slots: int,
    ports: int,
    group_size: int,
    codes: Sequence[str],
    switches_max: int,
) -> list[Row]:
    """What first-level switches take away when they fail.

    Args:
        leaves: First-level switches.
        slots: Places for a port at each.
        ports: Ports of a server.
        group_size: Servers of a group.
        codes: The codes of the stripes.
        switches_max: The most switches that fail.

    Returns:
        A row an attachment, code and number of failed ``switches``: ``data_loss_probability``,
        ``ways_to_fail``, and for one switch ``bandwidth_lost``, the largest of any group; then a
        row an attachment and code with ``fatal_switches``, the fewest that may cost data, and
        ``stripes_lost_share``, the expected share of its group's stripes that are then lost.
    """
    rows: list[Row] = []
    for kind in ("local", "distributed"):
        attachment = Attachment(
            kind, leaves=leaves, slots=slots, ports=ports, group_size=group_size
        )
        for name in codes:
            tolerance = code_figures(name).tolerance
            chances = {
                failed: data_loss_probability(attachment, failed, tolerance)
                for failed in range(1, switches_max + 1)
            }
            for failed, chance in chances.items():
                row = {
                    "attachment": kind,
                    "code": name,
                    "switches": failed,
                    "data_loss_probability": float(chance),
                    "ways_to_fail": comb(leaves, failed),
                }
                if failed == 1:
                    row["bandwidth_lost"] = float(_most_lost(attachment))
                rows.append(row)
            fatal = next((failed for failed, chance in chances.items() if chance), None)
            if fatal is not None:
                rows.append(
                    {
                        "attachment": kind,
                        "code": name,
                        "fatal_switches": fatal,
                        "stripes_lost_share": float(_stripes_lost(attachment, name, fatal)),
                    }
                )
    return rows


def _most_lost(attachment: Attachment) -> Fraction:
    """The largest share of any group's ports that one switch takes."""
    return max(
        bandwidth_lost(attachment, {switch}, group)
        for switch in range(attachment.leaves)
        for group in range(attachment.groups)
    )


def _stripes_lost(attachment: Attachment, name: str, switches: int) -> Fraction:
    """The share of a group's stripes that is lost with the first switches, whole sets of them."""
    members = attachment.group(0)
    gone = [one for one in members if set(attachment.switches(one)) <= set(range(switches))]
    figures = code_figures(name)
    fatal = [1 - survivable_share(name, losses) for losses in range(figures.strips + 1)]
    return stripes_lost(attachment.group_size, figures.strips, len(gone), fatal)
