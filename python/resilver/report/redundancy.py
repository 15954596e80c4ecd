"""The answer of `resilver redundancy`: codes in numbers, what losses they survive, and repairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Lines, Section, Shown, sections_of
from resilver.tables import Table, table, table_of

if TYPE_CHECKING:
    from resilver.simulate import CodeTree

_LOSS_ROWS_MAX = 14
_LAST_SHARE = 1e-4
"""Of levels whose losses go on long, the least share of sets survived that is shown."""

Record = Mapping[str, Any]
"""What is known of a code, as `resilver redundancy --json` prints it."""


def redundancy_answer(trees: Sequence[CodeTree], records: Sequence[Record]) -> Answer:
    """The answer about codes, with what is known of each in the same order."""
    names = ", ".join(one["code"] for one in records)
    levels = [
        Shown(f"levels-{rank}", f"{one['code']}, level by level", _levels(one["levels"]))
        for rank, one in enumerate(records, 1)
        if "levels" in one
    ]
    lost = [
        Lines(f"lost-{rank}", f"{one['code']} without {_listed(one['lost']['pieces'])}", lines)
        for rank, one in enumerate(records, 1)
        if "lost" in one and (lines := _repairs(one))
    ]
    bursts = [
        Shown(f"bursts-{rank}", _burst_title(one), _bursts(one["bursts"]["losses"]))
        for rank, one in enumerate(records, 1)
        if "bursts" in one
    ]
    codes = Shown("codes", "Codes", _codes(trees, records), is_turned=True)
    return Answer(
        f"Redundancy of {names}",
        [*map(_summary, records), *_lost_verdicts(records), *_enclosures(records)],
        [
            Section("Side by side", (codes,)),
            *sections_of(
                ("Level by level", levels), ("Repairs", lost), ("Simultaneous failures", bursts)
            ),
        ],
        records[0] if len(records) == 1 else list(records),
        notes=list(dict.fromkeys(note for tree in trees for note in tree.notes)),
    )


def _summary(one: Record) -> str:
    """What a code survives, and what that costs."""
    survives, overhead = one["fault_tolerance"], one["pieces"] / one["data"]
    losses = f"any {survives} losses" if survives > 1 else "any single loss" if survives else "none"
    return f"{one['code']} survives {losses} at {overhead:.4g}x storage overhead."


def _lost_verdicts(records: Sequence[Record]) -> list[str]:
    said = []
    for one in records:
        if "lost" not in one:
            continue
        lost = one["lost"]
        verdict = "the data survive" if lost["is_survivable"] else "data are lost"
        text = f"{one['code']} without {_listed(lost['pieces'])}: {verdict}"
        if lost.get("is_survivable_by_lines", lost["is_survivable"]) != lost["is_survivable"]:
            text += "; by rows and columns, one after the other: data are lost"
        said.append(f"{text}.")
    return said


def _enclosures(records: Sequence[Record]) -> list[str]:
    said = []
    for one in records:
        if "enclosure" in one:
            of = one["enclosure"]
            groups = "1 group" if of["groups"] == 1 else f"{of['groups']:,} groups"
            said.append(
                f"{groups} of {one['code']} across {of['across']} enclosures, {of['rebuilding']} "
                "rebuilding a piece: one lost enclosure loses data with a probability of "
                f"{_chance(of['data'])}."
            )
    return said


def _codes(trees: Sequence[CodeTree], records: Sequence[Record]) -> Table:
    """Codes and their measures, a row a code."""

    def share(key: str) -> list[str]:
        # A share of a server's bandwidth is derived for one level, where all are peers.
        return ["n/a" if one[key] is None else _percent(one[key]) for one in records]

    def read(tree: CodeTree) -> str:
        code = tree.levels[-1]
        parts = f" x 1/{code.repair_parts}" if code.repair_parts > 1 else ""
        return " or ".join(f"{size}{parts}" for size in sorted(set(code.repair_sizes)))

    columns = [
        ("code", "code", [one["code"] for one in records]),
        ("sizes", "data + parity", [f"{one['data']} + {one['parity']}" for one in records]),
        ("overhead", "storage overhead", [f"{of['pieces'] / of['data']:.4g}x" for of in records]),
        ("parity", "parity / all", [_percent(one["redundancy_share"]) for one in records]),
        ("tolerance", "losses always survived", [str(one["fault_tolerance"]) for one in records]),
        ("reads", "strips read per stripe", [str(one["stripe_read"]) for one in records]),
        ("writes", "strips written per stripe", [str(one["stripe_write"]) for one in records]),
        ("rebuilds", "strips read per rebuild", [read(tree) for tree in trees]),
        ("read_share", "read / bandwidth", share("read_share")),
        ("write_share", "write / bandwidth", share("write_share")),
        ("rebuild_share", "rebuild / bandwidth", share("rebuild_share")),
    ]
    is_alone = len(records) == 1
    for losses in _losses_shown(records):
        columns.append(
            (
                f"survived_{losses}",
                f"survived of {losses} lost",
                [_survived(one["survivable"], losses, is_alone) for one in records],
            )
        )
    by_lines = records[0].get("survivable_by_lines") if is_alone else None
    for losses in range(records[0]["fault_tolerance"] + 1, records[0]["parity"] + 1):
        if by_lines is not None:
            heading = f"of {losses}, by rows and columns"
            columns.append((f"lines_{losses}", heading, [_survived(by_lines, losses, True)]))
    return table(*((name, heading, "text", cells) for name, heading, cells in columns))


def _losses_shown(records: Sequence[Record]) -> range:
    """Losses between those of which no code's data are lost and those of which all are."""
    first = max(min(one["fault_tolerance"] for one in records), 1)
    last = max(map(_last_survived, records))
    is_long = any("levels" in one for one in records)
    return range(first, last + 1, -(-(last + 1 - first) // _LOSS_ROWS_MAX) if is_long else 1)


def _last_survived(one: Record) -> int:
    """The most losses of which a code survives any set; of several levels, one in ten thousand.

    Where they are not counted, it is the first number that is not.
    """
    if "levels" not in one:
        return int(one["parity"])
    last = int(one["fault_tolerance"])
    for of in one["survivable"]:
        if of["share"] is None:
            return int(of["losses"])
        last = of["losses"] if of["share"] >= _LAST_SHARE else last
    return last


def _survived(survivable: Sequence[Record], losses: int, is_counted: bool) -> str:
    """The share of the sets of so many losses that are survived; n/a where there are fewer."""
    if losses > len(survivable):
        return "n/a"
    one = survivable[losses - 1]
    if one["survivable"] is None:
        return "not counted"
    # A share below one is rounded down, so that it never looks like one.
    share = f"{10_000 * one['survivable'] // one['all'] / 100:.2f} %"
    sets = f"{one['survivable']:,} of {one['all']:,} sets"
    return f"{share}, {sets}" if is_counted and len(sets) <= 40 else share


def _levels(levels: Sequence[Record]) -> Table:
    headings = ("level", "code", "groups", "pieces", "losses survived", "read by a repair")
    kinds = ("count", "text", "count", "count", "count", "count")
    return table_of(levels, *zip(levels[0], headings, kinds, strict=True))


def _repairs(one: Record) -> list[str]:
    """What repairs of lost pieces gather, a line each."""
    lost = one["lost"]
    if "levels" in one:
        return _repairs_of_levels(lost, len(one["levels"]))
    lines = []
    if lost["read_gathers"] is not None:
        lines.append(f"a read gathers {_listed(lost['read_gathers'])}")
    for repair in lost["repairs"]:
        gathers, how = repair["gathers"], "cannot be reconstructed"
        if gathers is not None:
            how = f"reconstructed from {_listed(gathers)}"
        lines.append(f"{repair['piece']}: {how}")
    return lines


def _repairs_of_levels(lost: Record, count: int) -> list[str]:
    lines = [
        f"lost groups of level {level}: {_listed(groups)}"
        for level, groups in enumerate(lost["dead_groups"], 1)
        if groups
    ]
    for step in lost["repairs"] or ():
        gathered = _listed(step["gathered"])
        lines.append(f"{step['piece']}: reconstructed at level {step['level']} from {gathered}")
    for level, pieces in enumerate(lost["gathered_by_level"] or ()):
        where = "within its groups" if level + 1 == count else f"across groups of level {level + 1}"
        lines.append(f"level {level} gathers {pieces} pieces {where}")
    return lines


def _burst_title(one: Record) -> str:
    bursts = one["bursts"]
    devices = bursts["losses"][0]["devices"]
    return f"Random failures among the {devices:,} devices of {bursts['groups']:,} x {one['code']}"


def _bursts(losses: Sequence[Record]) -> Table:
    levels = range(1, len(losses[0]["dead_groups"]) + 1)
    heads = ["data lost", *(f"a group of level {level} lost" for level in levels)]
    chances = [[one["data"], *one["dead_groups"]] for one in losses]
    return table(
        ("failures", "failures", "count", [one["failures"] for one in losses]),
        *(
            ("value", head, "text", map(_chance, column))
            for head, column in zip(heads, zip(*chances, strict=True), strict=True)
        ),
    )


def _chance(probability: float) -> str:
    """A percentage, which is 0 or 100 only where the probability is 0 or 1."""
    if probability in (0, 1):
        return f"{100 * probability:.0f} %"
    if probability < 1e-4:
        return f"{100 * probability:.4g} %"
    return f"{min(100 * probability, 99.9999):.4f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
