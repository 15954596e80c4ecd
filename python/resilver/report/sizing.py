"""The page of a sizing: the answer, the demands, the offers, and each figure's derivation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from resilver.answer import Answer, Section, Shown, sections_of
from resilver.answer.model import figures_shown
from resilver.charts.idioms import series
from resilver.charts.named import bars
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import daily, decimal_bytes
from resilver.report.capacity import capacity_sections, capacity_sentences
from resilver.tables import Table, table, table_of
from resilver.words import listed, plural

if TYPE_CHECKING:
    from resilver.center import SizedOffer, Sizing


_DOMINATED = (
    "Nothing is weighed into a score. An offer is dominated where another is no worse in anything "
    "that both state and better in some."
)
_KNEE = "A file system that stays below a knee is larger than what it stores by:"
_ISLANDS = (
    "What is copied where each system has a file system of its own, and not where all share one:"
)


def answer_sentences(sizing: Sizing) -> list[str]:
    """The answer: for each offer how many units are needed, which demand says so, what is short."""
    said = []
    for offer in sizing.offers:
        if offer.needed is None:
            said.append(f"{offer.name}: {plural(offer.units, 'unit')}.")
            continue
        text = f"{offer.name}: {plural(offer.needed, 'unit')}, as {offer.binding} needs"
        of_binding = next(need for need in offer.needs if need.demand == offer.binding)
        if of_binding.least < of_binding.units:
            text += f" ({of_binding.least:,} for that if its disks are at their best)"
        if offer.short_of:
            verb = "is" if offer.units == 1 else "are"
            text += f"; {offer.units:,} {verb} short of {listed(_shortages(offer))}"
        elif offer.units > offer.needed:
            text += f"; {offer.units:,} are more"
        if offer.dominated_by:
            verb = "is" if len(offer.dominated_by) == 1 else "are"
            text += f"; {listed(list(offer.dominated_by))} {verb} no worse in anything"
            text += " and better in some"
        said.append(text + ".")
    return [*said, *capacity_sentences(sizing), *_island_sentences(sizing)]


def _island_sentences(sizing: Sizing) -> list[str]:
    """What islands copy, which a shared file system does not."""
    found = sizing.copied
    if found is None:
        return []
    rate, kept = daily(found.bytes_per_second), decimal_bytes(found.kept_bytes)
    said = [f"Islands copy {rate} and keep {kept} of copies; a shared file system does neither."]
    if found.mover_share is not None and found.mover_share > 1.0:
        more = f"{found.mover_share:.3g} times"
        said.append(f"What moves data between them would have to pass {more} what it does.")
    return said


def _shortages(offer: SizedOffer) -> list[str]:
    """The demands that the units are short of, and of which they are not for certain."""
    least = {need.demand: need.least for need in offer.needs}
    unless = " unless its disks are at their best"
    return [
        f"{demand}{unless if least[demand] <= offer.units else ''}" for demand in offer.short_of
    ]


def offers_table(offers: Sequence[SizedOffer]) -> Table:
    """The offers side by side, a row each; what none says is left out."""

    def named(offer: SizedOffer, of: str) -> str | None:
        return listed(list(getattr(offer, of))) or None

    def below(offer: SizedOffer, key: str) -> float:
        return next(figure.value for figure in offer.figures if figure.key == key)

    def at_random(offer: SizedOffer) -> float | None:
        return offer.random_bytes_per_second and offer.random_bytes_per_second[0]

    return table_of(
        offers,
        ("offer", "offer", "text", lambda one: one.name),
        ("units", "units", "count"),
        ("binding", "bound by", "text"),
        ("short_of", "short of", "text", partial(named, of="short_of")),
        ("disks", "disks", "count"),
        ("usable_bytes", "formatted", "TB"),
        *(
            (figure.key, figure.what.lower(), "TB", partial(below, key=figure.key))
            for figure in offers[0].figures
            if "_below_" in figure.key
        ),
        ("rate_bytes_per_second", "in order", "TB/s"),
        ("random_bytes_per_second", "at random, at least", "TB/s", at_random),
        ("power_watts", "power", "watts"),
        ("price", "price", "text"),
        ("dominated_by", "dominated by", "text", partial(named, of="dominated_by")),
        filled=True,
    )


def units_chart(sizing: Sizing) -> Chart | None:
    """The units that each demand needs of each offer, as bars; None without demands."""
    found = [(offer, need) for offer in sizing.offers for need in offer.needs]
    if not found:
        return None
    offer, need = max(found, key=lambda one: one[1].units)
    text = "Units of an offer that each demand needs by itself; the longest bar binds."
    if any(one.least < one.units for _, one in found):
        text += " The pale end is needed unless the disks are at their best."
    made = table(
        ("offer", "offer", "text", [one.name for one, _ in found]),
        ("demand", "demand", "text", [one.demand for _, one in found]),
        ("units", "units", "count", [one.units for _, one in found]),
        ("least_units", "at best", "count", [one.least for _, one in found]),
    )
    heading = f"{need.demand.capitalize()} needs the most: {plural(need.units, 'unit')}"
    if len(sizing.offers) > 1:
        heading += f" of {offer.name}"
    return Chart("units", heading, text, lambda: _units_spec(sizing), made, "units by demand")


def _units_spec(sizing: Sizing) -> Spec:
    few = len(sizing.offers) == 1
    found = [(offer, need) for offer in sizing.offers for need in offer.needs]
    data = rows(
        name=[need.demand if few else f"{need.demand}, {offer.name}" for offer, need in found],
        kind=[offer.name for offer, _ in found],
        x=[need.least for _, need in found],
        x2=[need.units for _, need in found],
        label=[f"{need.units:,}" for _, need in found],
    )
    across = axis("x", "units", ends=(0.0, 1.12 * max(need.units for _, need in found)))
    read = tip(("name", "demand"), ("x2", "units"), ("x", "at best"))
    return bars(data, across, series(offer.name for offer in sizing.offers), room=190, read=read)


def sizing_answer(sizing: Sizing) -> Answer:
    """The answer of a sizing."""
    asks = "How full it gets" if sizing.outlook is not None else "What islands copy"
    asks = "How large the file system must be" if sizing.offers else asks
    return Answer(
        sizing.file.description.rstrip(".") or asks,
        answer_sentences(sizing),
        _sections(sizing),
        sizing.to_dict(),
        holds=sizing.holds,
        source={"Source": sizing.file.source},
    )


def _sections(sizing: Sizing) -> list[Section]:
    """What an answer shows of demands and offers."""
    offers, side = sizing.offers, None
    if is_compared := len(offers) > 1:
        side = Shown("offers", "The offers", offers_table(offers), is_turned=True)
    of_offers = []
    for rank, offer in enumerate(offers):
        words = f"{offer.name}: {plural(offer.units, 'unit')}"
        figures = figures_shown(f"figures-{rank}", words, offer.figures)
        units = table_of(
            offer.needs,
            ("demand", "demand", "text"),
            ("units", "units", "count"),
            ("least_units", "at best", "count", lambda need: need.least),
            ("derivation", "derivation", "text"),
        )
        needs = Shown(f"needs-{rank}", f"{offer.name}: units by demand", units)
        of_offers.append((offer.name, [needs if offer.needs else None, figures]))
    copied = () if sizing.copied is None else sizing.copied.figures
    return sections_of(
        ("The demand", [figures_shown("demands", "What is asked", sizing.demands)]),
        ("The offers", [side, units_chart(sizing)], _DOMINATED if is_compared else ""),
        *of_offers,
        *capacity_sections(sizing),
        ("Head room", [figures_shown("knees", "Head room", sizing.knees if offers else ())], _KNEE),
        ("Islands", [figures_shown("islands", "Islands", copied)], _ISLANDS),
    )
