"""`resilver redundancy`: codes in numbers, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer
from resilver.cli.loading import codes_of
from resilver.cli.options import page_output
from resilver.errors import ConfigError, Problem, show
from resilver.record import record
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.simulate import CodeTree, Survivable


@dataclass(frozen=True)
class RedundancyRequest:
    """What is asked about codes."""

    texts: tuple[str, ...] = argument(
        "CODE",
        text='Codes: "rs 8+3" (also "ec 8+3", "8+3"), "copies 3" ("replica 3"), "raid6 8+2", '
        '"raidz2 10", "lrc 8+5 local 4", "lrc 12+2+2" (12 data, 2 local and 2 global parities, as '
        'Azure\'s), "product rs 4+2 x rs 3+1", one over another: "rs 17+3 over rs 8+2", or of '
        'Ceph\'s plugins: "ceph lrc 4+2 local 3", "clay 4+2 d 5", "shec 4+3 c 2"; several are '
        "compared.",
        default=(),
    )
    lost: str | None = option(
        metavar="PIECES",
        text="Pieces that are lost, such as 0,3,12: whether the data survive, and what repairs "
        "gather.",
    )
    bursts: int | None = option(
        metavar="FAILURES",
        text="The probability that 1, 2, ... FAILURES simultaneous random failures lose data.",
    )
    groups: int | None = option(
        metavar="COUNT",
        text="How many groups of devices they fall on, each with a stripe's pieces. Default: 1.",
    )
    across: int | None = option(
        metavar="ENCLOSURES",
        text="The probability that a lost enclosure loses data, each group dealt over so many.",
    )
    rebuilding: int | None = option(
        metavar="COUNT",
        text="How many groups lack a random piece at that time. Default: none.",
    )
    page: Path | None = page_output()


def redundancy(request: RedundancyRequest) -> Answer:
    """Compare codes: overhead, failures survived, bytes read, written and rebuilt.

    Examples:

      resilver redundancy "rs 8+3" "lrc 12+2+2" "lrc 12+4 local 6"

      resilver redundancy "lrc 8+5 local 4" --lost 0,3,12

      resilver redundancy "rs 17+3 over rs 8+2" --lost 0,1,2 --bursts 40

      resilver redundancy "rs 8+2" --across 5 --rebuilding 2
    """
    from resilver.report.redundancy import redundancy_answer
    from resilver.simulate import code_tree

    if not request.texts:
        remedy = 'write resilver redundancy "rs 8+3" "lrc 12+2+2"'
        raise ConfigError("no code is named", remedy)
    trees = [code_tree(text) for text in codes_of(request.texts)]
    numbers = None if request.lost is None else _numbers(request.lost)
    lost = [{} if numbers is None else {"lost": _lost(tree, numbers)} for tree in trees]
    records = [
        {**_record(tree), **_losses(tree, request), **of}
        for tree, of in zip(trees, lost, strict=True)
    ]
    return redundancy_answer(trees, records)


def _numbers(text: str) -> list[int]:
    numbers = []
    for part in text.split(","):
        word = part.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > 4:
            rule = "lost pieces are their numbers with commas between them"
            raise ConfigError(rule, "such as 0,3,12", key="--lost", value=show(text))
        numbers.append(int(word))
    return sorted(set(numbers))


def _record(tree: CodeTree) -> dict[str, Any]:
    """What is known of a code, whatever is asked."""
    code, local = tree.levels[0] if len(tree.levels) == 1 else None, tree.levels[-1]
    counted = (
        tree.survivable_up_to(tree.pieces)[1:]
        if code is None
        else [code.survivable(losses) for losses in range(1, code.pieces + 1)]
    )
    figures = {
        "code": tree.name,
        **record(tree, "data", "parity", "pieces"),
        **record(tree, "storage_overhead", "redundancy_share", "fault_tolerance"),
        "locality": local.locality,
        "read_share": code and code.read_share,
        "write_share": code and code.write_share,
        "rebuild_share": code and code.rebuild_share,
        "stripe_read": tree.data,
        "stripe_write": tree.pieces,
        "strip_rebuild": local.strip_rebuild,
        "notes": tree.notes,
        "survivable": list(map(_survivable, counted)),
    }
    if code is None:
        figures["levels"] = _levels(tree)
    elif code.is_product:
        by_lines = map(code.survivable_by_lines, range(1, code.pieces + 1))
        figures["survivable_by_lines"] = list(map(_survivable, by_lines))
    return figures


def _survivable(found: Survivable) -> dict[str, Any]:
    return {**asdict(found), "share": found.share}


def _levels(tree: CodeTree) -> list[dict[str, Any]]:
    """A row a level, the top one first."""
    rows, groups = [], 1
    for number, code in enumerate(tree.levels):
        row = {
            "level": number,
            "code": code.name,
            "groups": groups,
            "pieces": code.pieces,
            "fault_tolerance": code.fault_tolerance,
            "locality": code.locality,
        }
        rows.append(row)
        groups *= code.pieces
    return rows


def _lost(tree: CodeTree, lost: Sequence[int]) -> dict[str, Any]:
    """Whether the data survive these losses, and what repairs gather."""
    for number in lost:
        if number >= tree.pieces:
            rule = f"{tree.name} has no such piece"
            remedy = f"the numbers are 0 to {tree.pieces - 1}"
            raise ConfigError(rule, remedy, key="--lost", value=show(number))
    found: dict[str, Any] = {"pieces": list(lost), "is_survivable": tree.is_survivable(lost)}
    if len(tree.levels) > 1:
        steps = tree.repairs(lost)
        found["dead_groups"] = tree.dead_groups(lost)
        found["repairs"] = steps and [asdict(step) for step in steps]
        found["gathered_by_level"] = tree.repair_traffic(lost)
        return found
    code = tree.levels[0]
    if code.is_product:
        found["is_survivable_by_lines"] = code.is_survivable_by_lines(lost)
    found["read_gathers"] = code.read(lost)
    found["repairs"] = [{"piece": piece, "gathers": code.repair(piece, lost)} for piece in lost]
    return found


def _losses(tree: CodeTree, request: RedundancyRequest) -> dict[str, Any]:
    """What bursts and a lost enclosure do, as far as they are asked about."""
    from resilver.placement_quality import burst_losses, enclosure_loss_probability

    _check(request)
    found: dict[str, Any] = {}
    try:
        if request.bursts is not None:
            groups = request.groups or 1
            losses = burst_losses(tree.levels, request.bursts, groups=groups)
            found["bursts"] = {"groups": groups, "losses": [asdict(one) for one in losses]}
        if request.across is not None:
            rebuilding = request.rebuilding or 0
            groups = max(rebuilding, 1) if request.groups is None else request.groups
            asked = {"groups": groups, "across": request.across, "rebuilding": rebuilding}
            chance = enclosure_loss_probability(tree.pieces, tree.is_survivable, **asked)
            found["enclosure"] = {**asked, "data": chance}
    except ConfigError as error:
        options = {"failures": "--bursts"}
        raise ConfigError(
            Problem(one.rule, one.remedy, options.get(one.key, f"--{one.key}"), one.value)
            for one in error.problems
        ) from None
    return found


def _check(request: RedundancyRequest) -> None:
    """Refuse options that say something about what is not asked."""
    groups, rebuilding = request.groups, request.rebuilding
    if groups is not None and request.bursts is None and request.across is None:
        rule = "groups are those that bursts or a lost enclosure fall on"
        raise ConfigError(rule, "add --bursts 4", key="--groups", value=show(groups))
    if groups is not None and groups < 1:
        rule = "there is at least one group"
        raise ConfigError(rule, "write 1", key="--groups", value=show(groups))
    if rebuilding is not None and request.across is None:
        rule = "groups rebuild while an enclosure is lost"
        value = show(rebuilding)
        raise ConfigError(rule, "add --across 5", key="--rebuilding", value=value)
