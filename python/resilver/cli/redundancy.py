"""`resilver redundancy`: codes in numbers, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from resilver.cli.console import output, print_json
from resilver.cli.options import Json
from resilver.cli.redundancy_losses import Asked, losses_of, print_losses
from resilver.errors import ConfigError, Problem, show

if TYPE_CHECKING:
    from resilver.simulate import Code, CodeTree, Survivable

_EXAMPLE = 'resilver redundancy "rs 8+3" "lrc 12+2+2"'

_LOSS_ROWS_MAX = 14


def redundancy(asked: Asked, as_json: Json = False) -> None:
    """Compare codes: overhead, failures survived, bytes read, written and rebuilt.

    Examples:

      resilver redundancy "rs 8+3" "lrc 12+2+2" "lrc 12+4 local 6"

      resilver redundancy "lrc 8+5 local 4" --lost 0,3,12

      resilver redundancy "rs 17+3 over rs 8+2" --lost 0,1,2 --bursts 40

      resilver redundancy "rs 8+2" --across 5 --rebuilding 2
    """
    if not asked.texts:
        raise ConfigError(Problem("no code is named", f"write {_EXAMPLE}"))
    trees = _trees(asked.texts)
    numbers = None if asked.lost is None else _numbers(asked.lost)
    without = [] if numbers is None else [_lost_json(tree, numbers) for tree in trees]
    losses = [losses_of(tree, asked) for tree in trees]
    if as_json:
        rows = [{**_json(tree), **found} for tree, found in zip(trees, losses, strict=True)]
        for row, found in zip(rows, without, strict=False):
            row["lost"] = found
        print_json(rows[0] if len(rows) == 1 else rows)
        return
    output().print(_table(trees))
    for note in dict.fromkeys(note for tree in trees for note in tree.notes):
        output().print(note)
    for tree in trees:
        if len(tree.levels) > 1:
            output().print(f"{tree.name}, level by level:", soft_wrap=True)
            output().print(_levels_table(tree))
    for tree, found in zip(trees, without, strict=False):
        _print_lost(tree, found)
    for tree, chances in zip(trees, losses, strict=True):
        print_losses(tree, chances)


def _trees(texts: Sequence[str]) -> list[CodeTree]:
    """The codes; a text without quotes comes as its words, and is put together again."""
    from resilver.simulate import code_tree

    try:
        return [code_tree(text) for text in texts]
    except ConfigError:
        if len(texts) > 1:
            try:
                return [code_tree(" ".join(texts))]
            except ConfigError:
                pass
        raise


def _numbers(text: str) -> list[int]:
    numbers = []
    for part in text.split(","):
        word = part.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > 4:
            rule = "lost pieces are their numbers with commas between them"
            raise ConfigError(Problem(rule, "such as 0,3,12", key="--lost", value=show(text)))
        numbers.append(int(word))
    return sorted(set(numbers))


def _single(tree: CodeTree) -> Code | None:
    """The code of a tree of one level."""
    return tree.levels[0] if len(tree.levels) == 1 else None


@cache
def _survivable(tree: CodeTree) -> list[Survivable]:
    """By number of losses, from one to all pieces; counted once for all that is printed."""
    code = _single(tree)
    if code is None:
        return tree.survivable_up_to(tree.pieces)[1:]
    return [code.survivable(losses) for losses in range(1, code.pieces + 1)]


def _json(tree: CodeTree) -> dict[str, Any]:
    code, local = _single(tree), tree.levels[-1]
    row = {
        "code": tree.name,
        "data": tree.data,
        "parity": tree.parity,
        "pieces": tree.pieces,
        "storage_overhead": tree.storage_overhead,
        "redundancy_share": tree.redundancy_share,
        "fault_tolerance": tree.fault_tolerance,
        "locality": local.locality,
        "read_share": code and code.read_share,
        "write_share": code and code.write_share,
        "rebuild_share": code and code.rebuild_share,
        "stripe_read": tree.data,
        "stripe_write": tree.pieces,
        "strip_rebuild": local.strip_rebuild,
        "notes": tree.notes,
        "survivable": [_survivable_json(one) for one in _survivable(tree)],
    }
    if code is None:
        row["levels"] = _levels(tree)
    elif code.is_product:
        by_lines = map(code.survivable_by_lines, range(1, code.pieces + 1))
        row["survivable_by_lines"] = [_survivable_json(one) for one in by_lines]
    return row


def _survivable_json(found: Survivable) -> dict[str, Any]:
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


def _lost_json(tree: CodeTree, lost: Sequence[int]) -> dict[str, Any]:
    for number in lost:
        if number >= tree.pieces:
            rule = f"{tree.name} has no such piece"
            remedy = f"the numbers are 0 to {tree.pieces - 1}"
            raise ConfigError(Problem(rule, remedy, key="--lost", value=show(number)))
    code = _single(tree)
    found: dict[str, Any] = {"pieces": list(lost), "is_survivable": tree.is_survivable(lost)}
    if code is None:
        steps = tree.repairs(lost)
        found["dead_groups"] = tree.dead_groups(lost)
        found["repairs"] = steps and [asdict(step) for step in steps]
        found["gathered_by_level"] = tree.repair_traffic(lost)
        return found
    if code.is_product:
        found["is_survivable_by_lines"] = code.is_survivable_by_lines(lost)
    found["read_gathers"] = code.read(lost)
    found["repairs"] = [{"piece": piece, "gathers": code.repair(piece, lost)} for piece in lost]
    return found


_ROWS: tuple[tuple[str, Callable[[CodeTree], str]], ...] = (
    ("data + parity", lambda tree: f"{tree.data} + {tree.parity}"),
    ("parity / data", lambda tree: _percent(tree.storage_overhead)),
    ("parity / all", lambda tree: _percent(tree.redundancy_share)),
    ("losses survived anywhere", lambda tree: str(tree.fault_tolerance)),
    ("strips a stripe read", lambda tree: str(tree.data)),
    ("strips a stripe written", lambda tree: str(tree.pieces)),
    ("strips a strip rebuilt", lambda tree: _alternatives(tree.levels[-1].repair_sizes)),
    ("read / bandwidth", lambda tree: _share(tree, "read_share")),
    ("write / bandwidth", lambda tree: _share(tree, "write_share")),
    ("rebuild / bandwidth", lambda tree: _share(tree, "rebuild_share")),
)


def _alternatives(sizes: Sequence[int]) -> str:
    return " or ".join(map(str, sorted(set(sizes))))


def _share(tree: CodeTree, name: str) -> str:
    """A share of a server's bandwidth, which is derived for one level, where all are peers."""
    code = _single(tree)
    return "" if code is None else _percent(getattr(code, name))


def _table(trees: Sequence[CodeTree]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for tree in trees:
        table.add_column(tree.name, justify="right")
    for title, cell in _ROWS:
        table.add_row(title, *(cell(tree) for tree in trees))
    for losses in _losses_shown(trees):
        found = [_survivable(tree)[losses - 1 : losses] for tree in trees]
        cells = [_survived(one[0], len(trees) == 1) if one else "" for one in found]
        table.add_row(f"survived of {losses} lost", *cells)
    code = _single(trees[0])
    if len(trees) == 1 and code is not None and code.is_product:
        for losses in range(code.fault_tolerance + 1, code.parity + 1):
            by_lines = _survived(code.survivable_by_lines(losses), counted=True)
            table.add_row(f"of {losses}, by rows and columns", by_lines)
    return table


def _losses_shown(trees: Sequence[CodeTree]) -> range:
    """Losses between those of which no code's data are lost and those of which all are."""
    first = max(min(tree.fault_tolerance for tree in trees), 1)
    last = max(_last_survived(tree) for tree in trees)
    is_long = any(len(tree.levels) > 1 for tree in trees)
    return range(first, last + 1, -(-(last + 1 - first) // _LOSS_ROWS_MAX) if is_long else 1)


def _last_survived(tree: CodeTree) -> int:
    """The most losses of which a code survives any set; of several levels, one in ten thousand.

    Where they are not counted, it is the first number that is not.
    """
    if (code := _single(tree)) is not None:
        return code.parity
    last = tree.fault_tolerance
    for one in _survivable(tree):
        if one.share is None:
            return one.losses
        last = one.losses if one.share >= 1e-4 else last
    return last


def _survived(found: Survivable, counted: bool) -> str:
    if found.survivable is None:
        return "not counted"
    # A share below one is rounded down, so that it never looks like one.
    share = f"{10_000 * found.survivable // found.all / 100:.2f} %"
    sets = f"{found.survivable:,} of {found.all:,} sets"
    return f"{share}, {sets}" if counted and len(sets) <= 40 else share


def _levels_table(tree: CodeTree) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for title in ("level", "code", "groups", "pieces", "losses survived", "a repair gathers"):
        table.add_column(title, justify="left" if title == "code" else "right")
    for row in _levels(tree):
        table.add_row(*map(str, row.values()))
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _print_lost(tree: CodeTree, found: dict[str, Any]) -> None:
    verdict = "the data survive" if found["is_survivable"] else "data are lost"
    lines = [f"{tree.name} without {_listed(found['pieces'])}: {verdict}"]
    if found.get("is_survivable_by_lines", found["is_survivable"]) != found["is_survivable"]:
        lines.append("  by rows and columns, one after the other: data are lost")
    if _single(tree) is None:
        lines += _plan_lines(tree, found)
    else:
        if found["read_gathers"] is not None:
            lines.append(f"  a read gathers {_listed(found['read_gathers'])}")
        for repair in found["repairs"]:
            gathers = repair["gathers"]
            how = (
                "it cannot be reconstructed"
                if gathers is None
                else f"reconstructed from {_listed(gathers)}"
            )
            lines.append(f"  {repair['piece']}: {how}")
    for line in lines:
        output().print(line, soft_wrap=True)


def _plan_lines(tree: CodeTree, found: dict[str, Any]) -> list[str]:
    """What of several levels is dead, and how each piece is made anew."""
    lines = [
        f"  dead groups of level {level}: {_listed(groups)}"
        for level, groups in enumerate(found["dead_groups"], 1)
        if groups
    ]
    for step in found["repairs"] or ():
        gathered = _listed(step["gathered"])
        lines.append(f"  {step['piece']}: reconstructed at level {step['level']} from {gathered}")
    for level, gathered in enumerate(found["gathered_by_level"] or ()):
        is_lowest = level + 1 == len(tree.levels)
        where = "within its groups" if is_lowest else f"across groups of level {level + 1}"
        lines.append(f"  level {level} gathers {gathered} pieces {where}")
    return lines


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
