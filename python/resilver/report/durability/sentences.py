"""Sentences about durability: how likely data is lost, from what, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.data_loss.answer import Durabilities, Durability, nines
from resilver.figure import Figure
from resilver.report.durability import words
from resilver.report.durability.tables import bursts_grid, sensitivity_rows
from resilver.words import listed, percent, plural

_NAMED = 6
"""Systems of the Pareto line that a sentence names."""
_ONE_GROUP = "Each is a single group, so these are also the probabilities of a given object."
_ALL = 0.995
_MORE = 1.1
"""The change of a rate whose effect is told."""


def answer_sentences(found: Durability) -> list[str]:
    """The answer for one system, the probability of a loss first."""
    said = [_loss(found), *_expected(found), sensitivity_sentence(found), _bursts(found)]
    said.append(basis_sentence(found))
    return [text for text in said if text]


def _loss(found: Durability) -> str:
    figure, when = found.loss_probability, words.within(found)
    of = "in one group of" if found.groups == 1 else "on"
    subject = f"{words.label(found)} {of} {plural(found.devices, 'device')}"
    if figure.value is None:
        text = f"The probability that {subject} loses data {when} is unknown"
        if figure.trajectories:
            text += f": {figure.trajectories:,} simulated missions lost nothing"
        bound = words.chance(figure)
        return f"{text}, so it is {bound} (95 %)." if figure.high < 1.0 else f"{text}."
    if figure.value == 0.0:
        return f"{subject} cannot lose data {when}, by this model."
    if figure.value >= 1.0:
        return f"{subject} is certain to lose data {when}{_most_often(found)}."
    text = f"{subject} loses data {when} with a probability of {words.chance(figure)}"
    between, count = words.chance_between(figure), _nines(found.annual)
    if words.is_yearly(found):
        more = [f"95 %: {between}"] * bool(between) + [count] * bool(count)
        return f"{text}{_bracketed(more)}{_most_often(found)}."
    text += _bracketed([f"95 %: {between}"] * bool(between))
    text += f", {words.chance(found.annual)} a year{_bracketed([count] * bool(count))}"
    return f"{text}{_most_often(found)}."


def _bracketed(parts: Sequence[str]) -> str:
    return f" ({'; '.join(parts)})" if parts else ""


def _nines(figure: Figure) -> str:
    """The nines as a sentence has them; nothing where there is not one."""
    found = nines(figure.value)
    return "" if found is None or found < 1.0 else f"{words.nines_of(figure)} nines"


def _most_often(found: Durability) -> str:
    """From what data is lost most often, as the end of a sentence."""
    if not found.causes:
        return ""
    cause, share = max(found.causes.items(), key=lambda one: one[1])
    if share > _ALL:
        # What rounding leaves over is no other cause.
        return f", almost always from {cause}" if share < 1.0 - 1e-9 else ""
    often = "most often" if share < 0.5 else "mostly"
    return f", {often} from {cause} ({percent(share)} of losses)"


def _expected(found: Durability) -> list[str]:
    """How long until a loss, how many bytes it takes, and what that is for one object."""
    said = []
    mean, lost = found.mttdl_seconds, found.expected_lost_bytes
    of_object = found.object_loss_probability
    if mean is not None and mean.value is not None and words.span(mean) != "never":
        said.append(f"Mean time to data loss: {words.span(mean)}.")
    if lost is not None and lost.value is not None and found.user_bytes:
        of = f"{words.lost_size(found)} of {words.stored_words(found)}"
        said.append(f"Expected loss {words.within(found)}: {of} stored.")
    is_alone = of_object is not None and of_object.value == found.loss_probability.value
    if of_object is not None and of_object.value and not is_alone:
        text = f"A given object is lost with a probability of {words.chance(of_object)}"
        count = _nines(of_object) if words.is_yearly(found) else ""
        said.append(f"{text}{_bracketed([count] * bool(count))}.")
    return said


def _bursts(found: Durability) -> str:
    """That simultaneous failures lose nothing, where they were tried; else tables say it."""
    if found.bursts is None or not found.bursts.num_rows or bursts_grid(found.bursts) is not None:
        return ""
    most = max(found.bursts["failures"].to_pylist())
    return f"No {most} simultaneous failures or fewer lose data."


def sensitivity_sentence(found: Durability) -> str:
    """What changes the probability of a loss most; empty where that is not known."""
    most, *_ = [*sensitivity_rows(found.sensitivity), {"elasticity": 0.0}]
    if not most["elasticity"]:
        return ""
    ends = (most["low"], most["high"])
    if None not in ends and ends[0] <= 0.0 <= ends[1]:
        return ""
    share = f"{100.0 * (_MORE - 1.0):.0f} %"
    text = f"The most sensitive input is {named_factor(most)}: {share} more makes data loss"
    value, *effects = (
        _MORE ** float(most[key] if most[key] is not None else most["elasticity"])
        for key in ("elasticity", "low", "high")
    )
    if value >= 2.0:
        return f"{text} {value:.1f} times as likely."
    low, high = sorted(abs(end - 1.0) for end in effects)
    error = (high - low) / (3.92 * abs(value - 1.0))
    change = Figure(abs(value - 1.0), low, high, relative_error=error)
    return f"{text} {words.chance(change)} {'more' if value > 1.0 else 'less'} likely."


def named_factor(row: dict[str, Any]) -> str:
    """What an elasticity is of, as in a sentence: ``the repair time``."""
    name = str(row["factor"])
    return name if name.startswith("the ") else f"the {name}"


def basis_sentence(found: Durability) -> str:
    """What a simulated answer rests on; empty where it is exact."""
    figure = found.loss_probability
    if figure.method != "simulated" or figure.value is None or figure.relative_error is None:
        return ""
    text = f"From {figure.trajectories:,} simulated missions: relative standard error "
    text += percent(figure.relative_error)
    if figure.effective:
        text += f", effective sample of {plural(figure.effective, 'loss')}"
    return f"{text}."


# -------------------------------------------------------------------------------- several systems


def compared_sentences(found: Durabilities) -> list[str]:
    """The answer for several systems: the safest, the Pareto line, what is not known."""
    systems = found.systems
    named = dict(zip(map(id, systems), words.labels(systems), strict=True))
    ordered = words.known(systems)
    said = []
    if ordered:
        is_even = words.have_one_overhead(systems)
        first = _even(ordered, named) if is_even else _safest(ordered, named)
        alone = f"Only {_told(ordered[0], named)} has a known probability."
        said.append(first if len(ordered) > 1 else alone)
        if not is_even:
            said.append(_pareto(systems, named, found.compared or "systems"))
        if all(one.groups == 1 for one in systems):
            said.append(_ONE_GROUP)
    unknown = [named[id(one)] for one in systems if one.annual.value is None]
    if unknown:
        most = [*unknown[:_NAMED], f"{len(unknown) - _NAMED:,} more"]
        shown = unknown if len(unknown) <= _NAMED else most
        said.append(f"Unknown: {listed(shown)}, of which no simulated mission lost data.")
    return [text for text in said if text]


def _told(one: Durability, named: dict[int, str]) -> str:
    """A system with its probability: ``rs 8+3 (3.1e-9 a year, 8.5 nines)``."""
    between, count = words.chance_between(one.annual), _nines(one.annual)
    more = [f"{words.chance(one.annual)} a year", *[f"95 %: {between}"] * bool(between)]
    more += [count] * bool(count)
    return f"{named[id(one)]} ({'; '.join(more) if between else ', '.join(more)})"


def _safest(ordered: Sequence[Durability], named: dict[int, str]) -> str:
    """The safest and the least safe, with what they cost."""
    best, worst = ordered[0], ordered[-1]
    text = f"{_told(best, named)} is the most durable, at {best.overhead:.4g}x storage overhead"
    return f"{text}; {_told(worst, named)} is the least durable, at {worst.overhead:.4g}x."


def _even(ordered: Sequence[Durability], named: dict[int, str]) -> str:
    """The same where all cost alike: then how many times matters, as far as it is known."""
    best, worst = ordered[0], ordered[-1]
    if not words.are_apart(best.annual, worst.annual):
        return f"The differences are not significant: about {words.chance(best.annual)} a year."
    text = f"{_told(best, named)} is the most durable"
    near = [one for one in ordered[1:-1] if not words.are_apart(best.annual, one.annual)]
    if near:
        text += f" (not significantly more than {listed([named[id(one)] for one in near])})"
    text += f"; {_told(worst, named)} is the least"
    ratio = (worst.annual.value or 0.0) / best.annual.value if best.annual.value else None
    often = f": it loses data {words.times_words(ratio)} times as often" if ratio else ""
    return f"{text}{often}."


def _pareto(systems: Sequence[Durability], named: dict[int, str], what: str) -> str:
    """The systems that nothing beats, from the cheapest on."""
    line = words.pareto(systems)
    if len(systems) < 3:
        return ""
    parts = [f"{named[id(one)]} ({one.overhead:.4g}x, {_short(one)})" for one in line]
    if len(parts) > _NAMED:
        # The ends and what lies evenly between them.
        at = [round(rank * (len(parts) - 1) / (_NAMED - 1)) for rank in range(_NAMED)]
        parts = [parts[rank] for rank in at]
    rest = f", such as {listed(parts)}" if len(parts) < len(line) else f": {listed(parts)}"
    verb = "is" if len(line) == 1 else "are"
    return (
        f"{len(line):,} of {len(systems):,} {what} {verb} Pareto-optimal (none with the same or "
        f"lower overhead is safer){rest}."
    )


def _short(one: Durability) -> str:
    return _nines(one.annual) or f"{words.chance(one.annual)} a year"
