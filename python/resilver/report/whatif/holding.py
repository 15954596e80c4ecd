"""A change whose data is held and released in steps: its answer, and its steps as a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, KeyFigure, Lines, Shown, sections_of
from resilver.report.whatif.plan import assumption_parts
from resilver.report.whatif.sentences import answer_sentences, assumption_sentences
from resilver.tables import Table, table
from resilver.words import listed, plural, size_of

if TYPE_CHECKING:
    from resilver.whatif.held import HeldChange

_ROWS, _NAMED = 20, 5
_ORDER = "Each step once the one before is done and every PG is active+clean."


def held_answer(held: HeldChange, *, is_script_printed: bool) -> Answer:
    """The answer of a change that is held.

    Args:
        held: The change.
        is_script_printed: Whether its commands stand in the answer, not in a file of their own.
    """
    once = held.at_once
    shown = Shown("steps", "Steps of the release", _table(held), printed=_ROWS)
    script = list(_script(held))
    commands = Lines("script", "Commands", script)
    parts = [shown, *[commands] * is_script_printed] if held.held else []
    left = table(
        ("pgid", "PG", "text", [pgid for pgid, _ in held.loose]),
        ("bytes", "moves at once", "bytes", [size for _, size in held.loose]),
    )
    apart = [Shown("loose", "PGs that cannot be held", left, printed=_NAMED)] if held.loose else []
    what = listed([step.text for step in once.steps] or ["the backfill under way is cancelled"])
    return Answer(
        f"In which steps does data move if {what}?",
        _sentences(held),
        sections_of(("What moves at once", apart), ("What moves in steps", parts, _ORDER)),
        held.to_dict(),
        holds=once.holds and not held.loose,
        figures=[
            *[_figure("PGs not held", [size for _, size in held.loose])] * bool(held.loose),
            _figure("PGs held", [group.bytes for group in held.held]),
            KeyFigure("Steps", len(held.steps), "1", f"{len(held.steps):,}", "of the release"),
        ],
        notes=[*assumption_sentences(once.assumptions), *once.notes],
        basis=assumption_parts(once.assumptions),
        source={"Cluster": once.cluster.label},
        forms={"": Form(lambda: "".join(f"{line}\n" for line in script))},
    )


def _figure(label: str, sizes: list[int]) -> KeyFigure:
    """How many PGs there are of a kind, and what of them moves."""
    return KeyFigure(label, len(sizes), "1", f"{len(sizes):,}", size_of(sum(sizes)))


def _sentences(held: HeldChange) -> list[str]:
    if not held.held and not held.loose:
        return ["The change places no PG elsewhere: there is nothing to hold."]
    said = []
    if held.loose:
        names = [pgid for pgid, _ in held.loose[:_NAMED]]
        names += [f"{len(held.loose) - _NAMED:,} more"] * (len(held.loose) > _NAMED)
        size = size_of(sum(size for _, size in held.loose))
        when, more = "as it does now", ""
        if held.at_once.steps:
            when, more = "as soon as the map has changed", " Smaller changes of weights hold more."
        said = [
            f"{plural(len(held.loose), 'PG')} ({listed(names)}) cannot be held: {size} moves "
            f"{when}.",
            "Their OSDs are out, weigh nothing or break the rule, so that monitors would remove "
            f"the entries, or their set lacks an OSD.{more}",
        ]
    if held.held:
        size = size_of(sum(group.bytes for group in held.held))
        most = size_of(max(sum(group.bytes for group in step) for step in held.steps))
        said.append(
            f"Upmap entries hold {plural(len(held.held), 'PG')} where they are: {size} moves only "
            f"when they are released, in {plural(len(held.steps), 'step')} of at most {most}."
        )
    first = answer_sentences(held.at_once)[0]
    return [*said, f"Without holding: {first[0].lower()}{first[1:]}"]


def _table(held: HeldChange) -> Table:
    return table(
        ("step", "step", "count", [number + 1 for number in range(len(held.steps))]),
        ("groups", "PGs", "count", [len(step) for step in held.steps]),
        ("bytes", "moves", "bytes", [sum(group.bytes for group in step) for step in held.steps]),
    )


def _script(held: HeldChange) -> Iterator[str]:
    """The lines of the whole change; comments say how each part is taken back."""
    change = [line for step in held.at_once.steps for line in step.commands]
    yield from (f"# {text}" for text in _sentences(held))
    if not held.held and not held.loose:
        yield from change
        return
    on, off = (["ceph balancer on"], ["ceph balancer off"]) if held.is_balanced else ([], [])
    waits = [line for line in held.preparing if line.endswith("norebalance")]
    resume = [line.replace(" set ", " unset ") for line in waits]
    yield "# Run a part, see that its check holds, then the next."
    yield f"# Prepare. To go back: {'; '.join([*resume, *on]) or 'nothing'}"
    kept = ["ceph osd getcrushmap -o before.crush"] if change else []
    yield from (*kept, *off, *held.preparing)
    first = "Change the map, and hold" if change else "Hold"
    yield f"# {first} the data. To go back from here on: the lines at the end."
    yield from change
    yield from (line for group in held.held for line in group.hold)
    yield "# Check: ceph status shows no misplaced objects but those of PGs that cannot be held."
    yield from resume
    yield "# Check: ceph status shows every PG active+clean."
    for number, step in enumerate(held.steps, 1):
        size = size_of(sum(group.bytes for group in step))
        yield f"# Step {number} of {len(held.steps)}: {plural(len(step), 'PG')}, {size}"
        yield from (line for group in step for line in group.release)
        yield "# Check: ceph status shows every PG active+clean."
    yield from (f"# At the end: {line}" for line in on)
    yield "# To go back: these lines, without the sign before them."
    crush = ["ceph osd setcrushmap -i before.crush"] if change else []
    lines = [*waits, *crush, *held.returning, *held.back]
    yield from (f"# {line}" for line in (*lines, *resume, *on))
