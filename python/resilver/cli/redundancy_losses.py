"""What `resilver redundancy` says of bursts of failures and of lost enclosures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from resilver.cli.console import output
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.simulate import CodeTree


@dataclass(frozen=True)
class Asked:
    """What is asked about codes."""

    texts: tuple[str, ...] = argument(
        "CODE",
        text='Codes: "rs 8+3", "lrc 8+5 local 4", "lrc 12+2+2" (12 data, 2 local and 2 global '
        'parities, as Azure\'s), "copies 3", "product rs 4+2 x rs 3+1", or one over another: '
        '"rs 17+3 over rs 8+2"; several are compared.',
        default=(),
    )
    lost: str | None = option(
        "--lost",
        metavar="PIECES",
        text="Pieces that are lost, such as 0,3,12: whether the data survive, and what repairs "
        "gather.",
    )
    bursts: int | None = option(
        "--bursts",
        metavar="FAILURES",
        text="How likely data are lost when 1, 2, ... FAILURES random devices fail at once.",
    )
    groups: int | None = option(
        "--groups",
        metavar="COUNT",
        text="How many groups of devices they fall on, each with a stripe's pieces; by default 1.",
    )
    across: int | None = option(
        "--across",
        metavar="ENCLOSURES",
        text="How likely one lost enclosure loses data, each group dealt over so many.",
    )
    rebuilding: int | None = option(
        "--rebuilding",
        metavar="COUNT",
        text="How many groups lack a random piece at that time; by default none.",
    )


def losses_of(tree: CodeTree, asked: Asked) -> dict[str, Any]:
    """What is asked about one code, as it is printed as JSON.

    Args:
        tree: The code.
        asked: The bursts and enclosures.

    Returns:
        ``bursts`` and ``enclosure``, as far as they are asked about.

    Raises:
        ConfigError: A number is out of range, or asks about nothing.
    """
    from resilver.placement_quality import burst_losses, enclosure_loss_probability

    found: dict[str, Any] = {}
    _check(asked)
    try:
        if asked.bursts is not None:
            groups = asked.groups or 1
            losses = burst_losses(tree.levels, asked.bursts, groups=groups)
            found["bursts"] = {"groups": groups, "losses": [asdict(one) for one in losses]}
        if asked.across is not None:
            rebuilding = 0 if asked.rebuilding is None else asked.rebuilding
            groups = max(rebuilding, 1) if asked.groups is None else asked.groups
            chance = enclosure_loss_probability(
                tree.pieces,
                tree.is_survivable,
                across=asked.across,
                rebuilding=rebuilding,
                groups=groups,
            )
            found["enclosure"] = {
                "groups": groups,
                "across": asked.across,
                "rebuilding": rebuilding,
                "data": chance,
            }
    except ConfigError as error:
        options = {"failures": "--bursts"}
        raise ConfigError(
            Problem(one.rule, one.remedy, options.get(one.key, f"--{one.key}"), one.value)
            for one in error.problems
        ) from None
    return found


def _check(asked: Asked) -> None:
    """Refuse options that say something about what is not asked."""
    if asked.groups is not None and asked.bursts is None and asked.across is None:
        rule = "groups are those that bursts or a lost enclosure fall on"
        value = show(asked.groups)
        raise ConfigError(Problem(rule, "add --bursts 4", key="--groups", value=value))
    if asked.groups is not None and asked.groups < 1:
        rule = "there is at least one group"
        raise ConfigError(Problem(rule, "write 1", key="--groups", value=show(asked.groups)))
    if asked.rebuilding is not None and asked.across is None:
        rule = "groups rebuild while an enclosure is lost"
        value = show(asked.rebuilding)
        raise ConfigError(Problem(rule, "add --across 5", key="--rebuilding", value=value))


def print_losses(tree: CodeTree, found: dict[str, Any]) -> None:
    """Print what `losses_of` found.

    Args:
        tree: The code.
        found: What it returned.
    """
    if "bursts" in found:
        bursts = found["bursts"]
        devices = bursts["losses"][0]["devices"]
        groups = f"{bursts['groups']:,} of {tree.name}"
        output().print(f"Failures at random among the {devices:,} devices of {groups}:")
        output().print(_burst_table(tree, bursts))
    if "enclosure" in found:
        one = found["enclosure"]
        groups = "1 group" if one["groups"] == 1 else f"{one['groups']:,} groups"
        output().print(
            f"{groups} of {tree.name} across {one['across']} enclosures, {one['rebuilding']} "
            f"rebuilding a piece: one enclosure lost loses data with {_chance(one['data'])}",
            soft_wrap=True,
        )


def _burst_table(tree: CodeTree, bursts: dict[str, Any]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("failures", justify="right")
    table.add_column("data lost", justify="right")
    for level in range(1, len(tree.levels)):
        table.add_column(f"some group of level {level} dead", justify="right")
    for one in bursts["losses"]:
        chances = (one["data"], *one["dead_groups"])
        table.add_row(str(one["failures"]), *map(_chance, chances))
    return table


def _chance(probability: float) -> str:
    """A percentage, which is 0 or 100 only where the probability is 0 or 1."""
    if probability in (0, 1):
        return f"{100 * probability:.0f} %"
    if probability < 1e-4:
        return f"{100 * probability:.4g} %"
    return f"{min(100 * probability, 99.9999):.4f} %"
