"""`resilver redundancy`: codes in numbers, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich import box
from rich.table import Table

from resilver.cli.console import output, print_json
from resilver.errors import ConfigError, Problem, show
from resilver.simulate import Code, Survivable, redundancy

_EXAMPLE = 'resilver redundancy "rs 8+3" "lrc 8+5 local 4"'


def show_codes(texts: Sequence[str], lost: str | None, *, as_json: bool) -> None:
    """Print what codes cost and survive, a column each.

    Args:
        texts: The codes as written; words of one code that came apart are joined.
        lost: Numbers of lost pieces with commas between them, or None.
        as_json: Print JSON: an object, or a list where there are several.

    Raises:
        ConfigError: A text is no code, or a number no piece.
    """
    if not texts:
        raise ConfigError(Problem("no code is named", f"write {_EXAMPLE}"))
    codes = _codes(texts)
    numbers = None if lost is None else _numbers(lost)
    without = [] if numbers is None else [_lost_json(code, numbers) for code in codes]
    if as_json:
        rows = [_json(code) for code in codes]
        for row, found in zip(rows, without, strict=False):
            row["lost"] = found
        print_json(rows[0] if len(rows) == 1 else rows)
        return
    output().print(_table(codes))
    for code, found in zip(codes, without, strict=False):
        _print_lost(code, found)


def _codes(texts: Sequence[str]) -> list[Code]:
    """The codes; a text without quotes comes as its words, and is put together again."""
    try:
        return [redundancy(text) for text in texts]
    except ConfigError:
        if len(texts) > 1:
            try:
                return [redundancy(" ".join(texts))]
            except ConfigError:
                pass
        raise


def _numbers(text: str) -> list[int]:
    numbers = []
    for part in text.split(","):
        word = part.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > 3:
            rule = "lost pieces are their numbers with commas between them"
            raise ConfigError(Problem(rule, "such as 0,3,12", key="--lost", value=show(text)))
        numbers.append(int(word))
    return sorted(set(numbers))


def _survivable(code: Code) -> list[Survivable]:
    """By number of losses, from one to all pieces."""
    return [code.survivable(losses) for losses in range(1, code.pieces + 1)]


def _json(code: Code) -> dict[str, Any]:
    return {
        "code": code.name,
        "data": code.data,
        "parity": code.parity,
        "pieces": code.pieces,
        "storage_overhead": code.storage_overhead,
        "redundancy_share": code.redundancy_share,
        "fault_tolerance": code.fault_tolerance,
        "locality": code.locality,
        "read_share": code.read_share,
        "write_share": code.write_share,
        "rebuild_share": code.rebuild_share,
        "stripe_read": code.stripe_read,
        "stripe_write": code.stripe_write,
        "strip_rebuild": code.strip_rebuild,
        "survivable": [
            {
                "losses": one.losses,
                "survivable": one.survivable,
                "all": one.all,
                "share": one.share,
            }
            for one in _survivable(code)
        ],
    }


def _lost_json(code: Code, lost: Sequence[int]) -> dict[str, Any]:
    for number in lost:
        if number >= code.pieces:
            rule = f"{code.name} has no such piece"
            remedy = f"the numbers are 0 to {code.pieces - 1}"
            raise ConfigError(Problem(rule, remedy, key="--lost", value=show(number)))
    return {
        "pieces": list(lost),
        "is_survivable": code.is_survivable(lost),
        "read_gathers": code.read(lost),
        "repairs": [{"piece": piece, "gathers": code.repair(piece, lost)} for piece in lost],
    }


_ROWS: tuple[tuple[str, Callable[[Code], str]], ...] = (
    ("data + parity", lambda code: f"{code.data} + {code.parity}"),
    ("parity / data", lambda code: _percent(code.storage_overhead)),
    ("parity / all", lambda code: _percent(code.redundancy_share)),
    ("losses survived anywhere", lambda code: str(code.fault_tolerance)),
    ("strips a stripe read", lambda code: str(code.stripe_read)),
    ("strips a stripe written", lambda code: str(code.stripe_write)),
    ("strips a strip rebuilt", lambda code: str(code.strip_rebuild)),
    ("read / bandwidth", lambda code: _percent(code.read_share)),
    ("write / bandwidth", lambda code: _percent(code.write_share)),
    ("rebuild / bandwidth", lambda code: _percent(code.rebuild_share)),
)


def _table(codes: Sequence[Code]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for code in codes:
        table.add_column(code.name, justify="right")
    for title, cell in _ROWS:
        table.add_row(title, *(cell(code) for code in codes))
    # With fewer losses no code's data are lost, and with more every code's are.
    first = min(code.fault_tolerance for code in codes)
    last = max(code.parity for code in codes)
    for losses in range(max(first, 1), last + 1):
        cells = [_survived(code, losses, len(codes) == 1) for code in codes]
        table.add_row(f"survived of {losses} lost", *cells)
    return table


def _survived(code: Code, losses: int, counted: bool) -> str:
    if losses > code.pieces:
        return ""
    found = code.survivable(losses)
    if found.survivable is None:
        return "not counted"
    # A share below one is rounded down, so that it never looks like one.
    share = f"{10_000 * found.survivable // found.all / 100:.2f} %"
    return f"{share}, {found.survivable:,} of {found.all:,} sets" if counted else share


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _print_lost(code: Code, found: dict[str, Any]) -> None:
    verdict = "the data survive" if found["is_survivable"] else "data are lost"
    console = output()
    console.print(f"{code.name} without {_listed(found['pieces'])}: {verdict}", soft_wrap=True)
    if found["read_gathers"] is not None:
        console.print(f"  a read gathers {_listed(found['read_gathers'])}", soft_wrap=True)
    for repair in found["repairs"]:
        gathers = repair["gathers"]
        how = "nothing makes it anew" if gathers is None else f"made anew of {_listed(gathers)}"
        console.print(f"  {repair['piece']}: {how}", soft_wrap=True)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
