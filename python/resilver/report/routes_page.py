"""Routes on a page: policies, who serves a node, and what a job gets over a machine's routers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.center.routes import route_figures
from resilver.charts.idioms import data_of, lines, series
from resilver.charts.named import bars, dots
from resilver.charts.style import SERIES, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import decimal_rate
from resilver.report.routes import (
    WORDS,
    answer_sentences,
    cabinet_chart,
    heat_charts,
    hops_chart,
    node_policies_table,
    node_table,
    policies_table,
    routes_table,
    served_chart,
    sites_sentence,
    sites_table,
)
from resilver.tables import Table, table, table_of, to_csv
from resilver.words import listed

if TYPE_CHECKING:
    from resilver.center.jobs import JobRates
    from resilver.center.routes import Routes
    from resilver.center.siting import Sites

LAYER_WORDS = {
    "client": "clients",
    "channel_x": "X channels",
    "channel_y": "Y channels",
    "channel_z": "Z channels",
    "router": "routers",
    "server": "servers",
    "target": "targets",
}
"""The layers in words."""

_POINTS = 200
"""Points of a line of clients, so that one of 18,688 is no longer than one of 200."""


def job_sentences(jobs: Sequence[JobRates]) -> list[str]:
    """The answer: what the job gets, and which layer keeps it from more; none for no jobs."""
    said: list[str] = []
    for job in jobs:
        rates = job.client_rates
        span = decimal_rate(float(rates.min()))
        if rates.max() > 1.001 * rates.min():
            span = f"{span} to {decimal_rate(float(rates.max()))}"
        said.append(
            f"{WORDS[job.routes.policy].capitalize()}: {len(rates):,} clients get "
            f"{decimal_rate(job.bytes_per_second)}, each {span}. {_held_sentence(job)}"
        )
        if job.lasting_bytes_per_second < 0.99 * job.bytes_per_second:
            said[-1] += (
                f" If each writes the same amount, the job waits for the slowest and gets "
                f"{decimal_rate(job.lasting_bytes_per_second)}."
            )
    if source := jobs[0].routes.machine.file.rates.source:
        said.append(f"Rates of parts: {source}")
    return said


def _held_sentence(job: JobRates) -> str:
    """How many clients, or flows where a client has several, each layer holds back."""
    held = sorted((one for one in job.layers if one.bound), key=lambda one: -one.bound)
    first, words = held[0], [LAYER_WORDS[one.layer] for one in held]
    if len(held) == 1:
        return f"{words[0].capitalize()} limit all of them."
    noun = "clients" if len(job.rates) == len(job.writes.nodes) else "flows"
    others = [f"{name} {one.bound:,}" for name, one in zip(words[1:], held[1:], strict=True)]
    return f"{words[0].capitalize()} limit {first.bound:,} {noun}, {listed(others)}."


def job_table(jobs: Sequence[JobRates]) -> Table:
    """What the job gets, a row a policy."""
    return table_of(
        jobs,
        ("policy", "policy", "text", _policy),
        ("clients", "clients", "count", lambda job: len(job.client_rates)),
        ("targets", "targets", "count", lambda job: len(np.unique(job.writes.targets))),
        ("bytes_per_second", "all clients", "TB/s"),
        ("lasting_bytes_per_second", "clients × slowest", "TB/s"),
        ("least_bytes_per_second", "slowest client", "TB/s", lambda job: job.client_rates.min()),
        ("median_bytes_per_second", "median client", "TB/s", lambda of: np.median(of.client_rates)),
        ("most_bytes_per_second", "fastest client", "TB/s", lambda job: job.client_rates.max()),
        ("bound_by", "limited by", "text", lambda job: LAYER_WORDS[job.layer.layer]),
    )


def _policy(job: JobRates) -> str:
    return WORDS[job.routes.policy]


def layers_table(jobs: Sequence[JobRates]) -> Table:
    """How each layer is loaded by each policy, a row a layer and policy."""
    quarters = (
        ("lower", 0.25, "lower quarter"),
        ("median", 0.5, "median"),
        ("upper", 0.75, "upper quarter"),
    )
    return table_of(
        [(job, layer) for job in jobs for layer in job.layers],
        ("policy", "policy", "text", lambda row: _policy(row[0])),
        ("layer", "layer", "text", lambda row: LAYER_WORDS[row[1].layer]),
        ("parts", "used", "count", lambda row: row[1].parts),
        ("full", "full", "count", lambda row: row[1].full),
        ("busiest_share", "busiest", "share", lambda row: row[1].busiest),
        ("bound_flows", "limits", "count", lambda row: row[1].bound),
        (
            "bound_bytes_per_second",
            "of rate",
            "TB/s",
            lambda row: row[1].bound_bytes_per_second if row[1].bound else None,
        ),
        *(
            (
                f"{name}_share",
                heading,
                "share",
                lambda row, share=share: np.quantile(row[1].used, share) if row[1].parts else None,
            )
            for name, share, heading in quarters
        ),
    )


def flows_table(job: JobRates) -> Table:
    """Every flow of the job: its client, target and router, its rate, and what holds it back."""
    from resilver.center.jobs import LAYERS
    from resilver.center.storage import storage

    machine, routes = job.routes.machine, job.routes
    nodes = job.writes.nodes[job.writes.clients]
    networks = storage(machine).target_networks[job.writes.targets]
    row = np.searchsorted(routes.networks, networks)
    picked: list[int | None] = [None] * len(row)
    if routes.chosen is not None:
        ranks = np.searchsorted(machine.clients, nodes)
        picked = machine.nids[routes.routers[row, routes.chosen[ranks, row]]].tolist()
    return table(
        ("client", "client", "count", machine.nids[nodes].tolist()),
        ("target", "target", "count", job.writes.targets.tolist()),
        ("network", "network", "count", networks.tolist()),
        ("router", "router", "count", picked),
        ("bytes_per_second", "rate", "TB/s", job.rates.tolist()),
        ("bound_by", "limited by", "text", [LAYERS[layer] for layer in job.binding]),
    )


def held_chart(jobs: Sequence[JobRates]) -> Chart:
    """What the job gets by each policy, by the layer that holds it back."""
    found = [
        (WORDS[job.routes.policy], LAYER_WORDS[one.layer], one.bound_bytes_per_second)
        for job in jobs
        for one in job.layers
        if one.bound
    ]
    policies, layers, rates = zip(*found, strict=True)
    made = table(
        ("policy", "policy", "text", policies),
        ("layer", "held back by", "text", layers),
        ("bytes_per_second", "rate", "TB/s", rates),
    )
    # One layer has one colour in every chart of this kind.
    words = list(LAYER_WORDS.values())
    kinds = [word for word in words if word in layers]
    shades = [SERIES[words.index(word) % len(SERIES)] for word in kinds]

    def spec() -> Spec:
        data = data_of(made, {"x": 1e9}, name="policy", kind="layer", x="bytes_per_second")
        shown = dict(zip(kinds, shades, strict=True))
        across = axis("x", "GB/s, by what holds them back")
        return bars(data, across, shown, noun="policy", room=110, stacked=True)

    first = jobs[0]
    share = "all" if sum(one.bound > 0 for one in first.layers) == 1 else "most"
    heading = f"{WORDS[first.routes.policy].capitalize()}: the job gets "
    heading += f"{decimal_rate(first.bytes_per_second)}; {LAYER_WORDS[first.layer.layer]} hold "
    heading += f"back {share} of it"
    text = "What all clients get while all write, by what holds each back: the part on its way "
    text += "that is full and that gives none more."
    return Chart("held", heading, text, spec, made, "what holds the job back")


def clients_chart(jobs: Sequence[JobRates]) -> Chart:
    """What each client gets, from the slowest to the fastest, a line a policy."""
    kinds: list[str] = []
    shares: list[float] = []
    rates: list[float] = []
    for job in jobs:
        ordered = np.sort(job.client_rates)
        at = np.linspace(0.0, 1.0, min(_POINTS, max(2, len(ordered))))
        kinds += [WORDS[job.routes.policy]] * len(at)
        shares += at.tolist()
        rates += np.quantile(ordered, at, method="nearest").tolist()
    made = table(
        ("policy", "policy", "text", kinds),
        ("share", "share of clients that get at most", "share", shares),
        ("bytes_per_second", "rate", "TB/s", rates),
    )
    names = [WORDS[job.routes.policy] for job in jobs]

    def spec() -> Spec:
        data = data_of(made, {"y": 1e6}, kind="policy", x="share", y="bytes_per_second")
        across = axis("x", "% of clients, the slowest first", ends=(0, 100))
        named, step = series(names), "step-after"
        return lines(data, across, axis("y", "MB/s"), named, noun="policy", steps=step, height=240)

    slowest = min(float(job.client_rates.min()) for job in jobs)
    fastest = max(float(job.client_rates.max()) for job in jobs)
    heading = f"A client gets {decimal_rate(slowest)} to {decimal_rate(fastest)}"
    if fastest <= 1.001 * slowest:
        heading = f"Every client gets {decimal_rate(fastest)}"
    text = "What each client gets while all write, the slowest first."
    return Chart("clients", heading, text, spec, made, "what clients get")


def layers_chart(jobs: Sequence[JobRates]) -> Chart:
    """How much each layer is used: its busiest part, and half of its parts around the median."""
    made = layers_table(jobs)
    at = {column.name: rank for rank, column in enumerate(made.columns)}

    def view(policy: str) -> Spec:
        kept = [row for row in made.rows if row[at["policy"]] == policy and row[at["parts"]]]
        columns = {
            name: [100 * float(row[at[f"{key}_share"]] or 0) for row in kept]
            for name, key in (
                ("low", "lower"), ("mark", "median"), ("high", "upper"), ("x", "busiest")
            )
        }  # fmt: skip
        data = rows(name=[row[at["layer"]] for row in kept], **columns)
        across = axis("x", "% of a part's rate", ends=(0, 105))
        read = tip(
            ("name", "layer"), ("mark", "median, %"), ("x", "busiest, %"), ("high", "upper, %")
        )
        view = dots(data, across, VERMILLION, step=24, room=96, wide=7, read=read)
        return view | {"title": policy}

    full = [
        f"{one.full:,} of {one.parts:,} {LAYER_WORDS[one.layer]}"
        for one in jobs[0].layers
        if one.full
    ]
    heading = f"{WORDS[jobs[0].routes.policy].capitalize()}: {listed(full)} are full"
    text = "How much of its rate each part has in use: the dot is the busiest of a layer, the line "
    text += "its median part, the band the half of its parts around it."
    names = [WORDS[job.routes.policy] for job in jobs]
    return Chart(
        "layers",
        heading,
        text,
        lambda: {"vconcat": [view(one) for one in names]},
        made,
        "Load of each layer",
        printed=40,
        columns=7,
    )


_LAST_CHANNEL = (
    "Loads count the paths that pass a channel. Where channels to a router are the busiest, the "
    "load is largely the clients of one router, whatever the policy."
)
_SHARED = (
    "All clients write at once and share every part of their path max-min fairly: rates rise "
    "together until something on the path of each is full. Nothing else uses the file system."
)


def routes_answer(
    routes: Sequence[Routes], jobs: Sequence[JobRates] = (), node: int | None = None
) -> Answer:
    """The answer of routes.

    Args:
        routes: A choice for each policy.
        jobs: What a job gets by each; none where no job was asked about.
        node: The client whose routers are shown, as a place in the machine's lists.
    """
    machine = routes[0].machine
    figures = [route_figures(one) for one in routes]
    record: dict[str, Any] = {"policies": [one.to_dict() for one in figures]}
    job, nodes = [], []
    if jobs:
        job = [
            Shown("job", "The job by each policy", job_table(jobs), is_turned=True),
            held_chart(jobs),
            clients_chart(jobs),
            layers_chart(jobs),
        ]
    rows_max, every = 0 if jobs else len(figures), policies_table(figures)
    policies = Shown("policies", "The policies", every, printed=rows_max, is_turned=True)
    if node is not None:
        served = node_policies_table(routes, node)
        nodes = [Shown("node", "Its routers by network", served, is_split=True)]
        record["node"] = machine.names[node]
        record["routers"] = {
            one.policy: [
                {column.name: cell for column, cell in zip(made.columns, row, strict=True)}
                for row in made.rows
            ]
            for one in routes
            for made in [node_table(one, node)]
        }
    return Answer(
        machine.file.description or "Routers of a file system",
        job_sentences(jobs) if jobs else answer_sentences(figures),
        sections_of(
            ("What the job gets", job, _SHARED),
            ("Policies", [policies], _LAST_CHANNEL),
            ("Where routers stand", [cabinet_chart(machine)]),
            ("How far", [hops_chart(routes)]),
            ("How many clients a router has", [served_chart(routes)]),
            ("What channels carry", heat_charts(routes)),
            (f"Who serves {record.get('node')}", nodes),
        ),
        record | {"jobs": [one.to_dict() for one in jobs]},
        source={"Source": machine.file.source},
        forms={
            ".csv": Form(
                lambda: to_csv(flows_table(jobs[0]) if jobs else routes_table(routes[0]), None)
            )
        },
    )


def sites_answer(sites: Sites) -> Answer:
    """The answer of where modules of routers should stand."""
    modules = Shown("modules", "Where modules should stand", sites_table(sites))
    return Answer(
        "Where router modules should stand",
        [sites_sentence(sites)],
        sections_of(("The modules", [modules])),
        sites.to_dict(),
    )
