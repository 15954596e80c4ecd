"""The answer of routes: policies, who serves a node, what a job gets, and what channels carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.center.routes import route_figures
from resilver.report.channels import heat_charts
from resilver.report.job import (
    clients_chart,
    flows_table,
    held_chart,
    job_sentences,
    job_table,
    layers_chart,
)
from resilver.report.routes import (
    answer_sentences,
    cabinet_chart,
    hops_chart,
    node_policies_table,
    node_table,
    policies_table,
    routes_table,
    served_chart,
    sites_sentence,
    sites_table,
)
from resilver.tables import to_csv

if TYPE_CHECKING:
    from resilver.center.jobs import JobRates
    from resilver.center.routes import Routes
    from resilver.center.siting import Sites

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
    policies = policies_table(figures)
    if node is not None:
        nodes = [
            Shown(
                "node", "Its routers by network", node_policies_table(routes, node), is_split=True
            )
        ]
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
            (
                "Policies",
                [
                    Shown(
                        "policies",
                        "The policies",
                        policies,
                        printed=0 if jobs else len(figures),
                        is_turned=True,
                    )
                ],
                _LAST_CHANNEL,
            ),
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
    """The answer of where modules of routers should stand.

    Args:
        sites: Their places, and what paths cost with them.
    """
    modules = Shown("modules", "Where modules should stand", sites_table(sites))
    return Answer(
        "Where router modules should stand",
        [sites_sentence(sites)],
        sections_of(("The modules", [modules])),
        sites.to_dict(),
    )
