"""The page of an advice: where files go, what that brings, and the load of every layer."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from resilver.answer import Answer, Shown, sections_of
from resilver.charts.idioms import data_of, lines, series
from resilver.charts.named import bars
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.errors import ConfigError, show
from resilver.quantities import decimal_rate, duration
from resilver.tables import Table, table

if TYPE_CHECKING:
    from resilver.center import Advice

_ROWS = 24
_LESS = 0.995
_HOW = (
    "A job ends with its last file, so what counts is the number of files times the slowest one. "
    "Files of an even size are taken to begin at once."
)
_LOADS = (
    "How many streams share a part, counting one more that joins: 1 is an idle part, 2 one that "
    "gives the new stream half of its rate."
)


def answer_sentences(found: Advice, volume: float | None) -> list[str]:
    """The answer: what the job gets, beside the file system's own round robin.

    Args:
        volume: What the job writes in all, in bytes; None where that was not said.
    """
    ours, other = found.expected, found.round_robin
    files, stripe = found.placed.shape
    what = "1 file" if files == 1 else f"{files:,} files"
    striped = "" if stripe == 1 else f" of {stripe} stripes"
    gain, mean = _ratio(ours.slowest, other.slowest), _ratio(ours.mean, other.mean)
    said = [
        f"The job of {what}{striped} gets {_rate(found, ours.slowest)}, {gain} times what round "
        f"robin gives ({_rate(found, other.slowest)}); its slowest file waits for its "
        f"{ours.binding[:-1]}."
    ]
    shares = ", since files share targets instead of waiting at busy ones"
    said.append(
        f"The mean of its files is {_rate(found, ours.mean)}, {mean} times that of round robin "
        f"({_rate(found, other.mean)}){shares if ours.mean < _LESS * other.mean else ''}."
    )
    if volume is not None and found.layers.rate is not None:
        rates = (ours.slowest, other.slowest)
        ours_takes, others = (duration(volume / rate) if rate else "n/a" for rate in rates)
        said.append(f"Writing takes {ours_takes}, and {others} with round robin.")
    return said


def _rate(found: Advice, value: float) -> str:
    """A rate for people: bytes/s, or how many idle targets move as much."""
    if found.layers.rate is not None:
        return decimal_rate(value)
    return f"the rate of {value:,.4g} idle targets"


def _ratio(ours: float, other: float) -> str:
    return f"{ours / other:.2f}" if other else "infinitely many"


def files_table(found: Advice) -> Table:
    """Where each file goes."""
    clients = [("client", "client", "text", found.client_names)] if found.client_names else []
    return table(
        ("file", "file", "count", range(len(found.placed))),
        *clients,
        ("targets", "targets", "text", [", ".join(row) for row in found.targets]),
    )


def layers_table(found: Advice) -> Table:
    """The load of every layer before and with the job, a row each."""
    of_layer: dict[str, list[tuple[float, float]]] = {}
    for row in found.layer_loads():
        of_layer.setdefault(row["layer"], []).append((row["before"], row["after"]))
    columns = {name: np.array(loads) for name, loads in of_layer.items()}
    return table(
        ("layer", "layer", "text", list(columns)),
        ("parts", "parts", "count", [len(loads) for loads in columns.values()]),
        *(
            (
                f"{which}_{when}",
                f"{which} {when}",
                "number",
                [of(loads[:, at]) for loads in columns.values()],
            )
            for at, when in enumerate(("before", "after"))
            for which, of in (("mean", np.mean), ("most", np.max))
        ),
    )


def targets_table(found: Advice) -> Table:
    """All targets in order, with what they had and get."""
    order, state, layers = found.order.tolist(), found.state, found.layers
    loads = {row["part"]: row for row in found.layer_loads() if row["layer"] == "targets"}
    names = [state.targets[at] for at in order]
    servers = [
        layers.servers[layers.nested.server_of[at]] if layers.servers else "" for at in order
    ]
    return table(
        ("target", "target", "text", names),
        ("streams", "streams of the job", "count", found.streams[order].tolist()),
        *(
            (when, f"load {when}", "number", [loads.get(name, {}).get(when) for name in names])
            for when in ("before", "after")
        ),
        ("fill", "full", "share", state.fill[order].tolist()),
        ("server", "server", "text", servers),
        ("remark", "remark", "text", [layers.reasons[at] for at in order]),
    )


def last_table(found: Advice) -> Table | None:
    """Targets that come last or are not used, and why; None where there are none."""
    order = [at for at in found.order.tolist() if found.layers.reasons[at]]
    if not order:
        return None
    return table(
        ("target", "target", "text", [found.state.targets[at] for at in order]),
        ("streams", "streams of the job", "count", found.streams[order].tolist()),
        ("remark", "why", "text", [found.layers.reasons[at] for at in order]),
    )


def load_chart(found: Advice, layer: str) -> Chart:
    """The load of a layer's parts before and after, the most loaded first."""
    loads = [row for row in found.layer_loads() if row["layer"] == layer]
    kinds = ("before", "after")
    shown = [
        (kind, 100.0 * at / len(loads), load)
        for kind in kinds
        for at, load in enumerate(_falling([row[kind] for row in loads]))
    ]
    made = table(
        ("part", layer[:-1], "text", [row["part"] for row in loads]),
        ("before", "before", "number", [row["before"] for row in loads]),
        ("after", "after", "number", [row["after"] for row in loads]),
    )
    before, after = (max(row[one] for row in loads) for one in kinds)

    def spec() -> Spec:
        across = axis("x", f"% of {layer}, the most loaded first", ends=(0, 100))
        upwards = axis("y", "streams that seem to share one")
        data, named = marks("kind x y", shown), series(kinds)
        return lines(data, across, upwards, named, noun="when", steps="step-after", height=200)

    heading = (
        f"The busiest of {len(loads):,} {layer}: {before:,.4g} before the job, {after:,.4g} with it"
    )
    text = f"All {layer} by their load, before the job and with it."
    return Chart(f"load-{layer}", heading, text, spec, made, layer)


def _falling(loads: list[float]) -> list[float]:
    """Loads from the largest; the last one stands twice, so that its step has an end."""
    ordered = sorted(loads, reverse=True)
    return [*ordered, ordered[-1]]


def expected_chart(found: Advice, volume: float | None) -> Chart:
    """What the job gets, or how long it takes, beside round robin."""
    ours, other = found.expected, found.round_robin
    is_time = volume is not None and found.layers.rate is not None
    unit = 1e9 if found.layers.rate is not None else 1.0
    cases = (
        ("as advised", "slowest file", ours.slowest),
        ("round robin", "slowest file", other.slowest),
        ("as advised", "mean of files", ours.mean),
        ("round robin", "mean of files", other.mean),
    )
    values = [(volume or 0.0) / rate if is_time and rate else rate / unit for _, _, rate in cases]
    kinds, names = [one[0] for one in cases], [one[1] for one in cases]
    title = "GB/s" if found.layers.rate is not None else "idle targets' worth"
    title = "time to write, s" if is_time else title
    made = table(
        ("by", "by", "text", names),
        ("how", "how", "text", kinds),
        ("value", title, "number", values),
    )

    def spec() -> Spec:
        data = data_of(made, name="by", kind="how", x="value")
        shown = series(("as advised", "round robin"))
        return bars(data, axis("x", title), shown, noun="by", step=60, room=90, grouped=True)

    gain = _ratio(ours.slowest, other.slowest)
    heading = f"The job's last file is {gain} times as fast as by round robin"
    text = "The number of files times the slowest and times the mean rate"
    text += ", as the time that the job's bytes take." if is_time else "."
    return Chart("expected", heading, text, spec, made, "expected")


def advice_answer(advice: Advice, volume: float | None = None) -> Answer:
    """The answer of an advice.

    Args:
        volume: What the job writes in all, in bytes, or None.
    """
    files = len(advice.placed)
    layers = list(dict.fromkeys(row["layer"] for row in advice.layer_loads()))
    last, rest = last_table(advice), targets_table(advice)
    placed = Shown("files", "Where files go", files_table(advice), rows=_ROWS, printed=20)
    shared = Shown("layers", "Streams that share a part", layers_table(advice))
    spared = last and Shown("last", "Targets used last or never", last, printed=20)
    targets = Shown("targets", "Targets", rest, rows=_ROWS, printed=0)
    return Answer(
        f"Where {files:,} files should go" if files > 1 else "Where a file should go",
        answer_sentences(advice, volume),
        sections_of(
            ("What the job gets", [expected_chart(advice, volume)], _HOW),
            ("Where files go", [placed]),
            (
                "Load of every layer",
                [shared, *(load_chart(advice, layer) for layer in reversed(layers))],
                _LOADS,
            ),
            ("Targets in order", [spared, targets]),
        ),
        advice.to_dict(),
        notes=[f"{note[0].upper()}{note[1:]}." for note in advice.layers.notes],
    )


def lfs_lines(advice: Advice, name: str) -> list[str]:
    """A line of `lfs setstripe` a file.

    Args:
        name: What files are called; ``{}`` is a file's number.

    Raises:
        ConfigError: Files would share a name, or targets are not Lustre's.
    """
    if "{}" not in name and len(advice.placed) > 1:
        rule = "each file needs a name of its own"
        raise ConfigError(rule, "write {} where its number stands", "--name", show(name))
    numbers = advice.state.numbers
    without = [advice.state.targets[at] for at in advice.placed.reshape(-1) if numbers[at] is None]
    if without:
        rule = f"{without[0]} is no target of Lustre, whose names end with OST and a number"
        raise ConfigError(rule, "print a table, or JSON", "--format", "lfs")
    lines = []
    for file, row in enumerate(advice.placed.tolist()):
        chosen = ",".join(str(numbers[at]) for at in row)
        where = f"-i {chosen}" if len(row) == 1 else f"-o {chosen}"
        path = shlex.quote(name.replace("{}", f"{file:0{len(str(len(advice.placed) - 1))}d}"))
        lines.append(f"lfs setstripe -c {len(row)} {where} {path}")
    return lines
