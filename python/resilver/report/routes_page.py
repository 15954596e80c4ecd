"""The page of routes: policies, who serves a node, what a job gets, and what channels carry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.report.document import Document
from resilver.report.job import (
    clients_chart,
    held_chart,
    job_sentences,
    job_table,
    layers_chart,
    layers_table,
)
from resilver.report.judged import PageSection, write_judged
from resilver.report.routes import (
    answer_sentences,
    cabinet_chart,
    heat_chart,
    hops_chart,
    node_policies_table,
    policies_table,
    served_chart,
)

if TYPE_CHECKING:
    from resilver.center.jobs import JobRates
    from resilver.center.routes import RouteFigures, Routes

_LAST_CHANNEL = (
    "A router's clients all come over the last channels into its chip, and Z is passed last: the "
    "largest load in Z is nearly the clients of one router, whatever the policy."
)
_SHARED = (
    "All clients write at once, and share what they pass max-min fairly: rates rise together until "
    "something on the way of each is full. Nothing else uses the file system."
)


def write_routes(
    routes: Sequence[Routes],
    figures: Sequence[RouteFigures],
    path: str | Path,
    command: str = "",
    *,
    jobs: Sequence[JobRates] = (),
    node: int | None = None,
) -> Path:
    """Write the page of routes.

    Args:
        routes: A choice for each policy.
        figures: What each comes to.
        jobs: What a job gets by each; none where no job was asked about.
        node: The client whose routers are told, as a place in the machine's lists.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    page, machine = Document(), routes[0].machine
    sections = [_job_section(page, jobs)] if jobs else []
    parts = [page.shown("policies", "The policies", policies_table(figures))]
    sections.append(PageSection("Policies", (_LAST_CHANNEL,), parts))
    for heading, charts in (
        ("Where routers stand", [cabinet_chart(machine)]),
        ("How far", [hops_chart(routes)]),
        ("How many clients a router has", [served_chart(routes)]),
        ("What channels carry", [heat_chart(one) for one in routes]),
    ):
        sections.append(PageSection(heading, (), [page.figure(chart) for chart in charts]))
    if node is not None:
        made = page.shown("node", "Its routers by network", node_policies_table(routes, node))
        sections.append(PageSection(f"Who serves {machine.names[node]}", (), [made]))
    title = machine.file.description or "Routers of a file system"
    told = {"Source": machine.file.source, "Made by": command}
    answer = job_sentences(jobs) if jobs else answer_sentences(figures)
    return write_judged(page, path, title, answer, sections, told)


def _job_section(page: Document, jobs: Sequence[JobRates]) -> PageSection:
    """What a job gets, what keeps it from more, and the load of every layer."""
    parts = [page.shown("job", "What the job gets", job_table(jobs))]
    parts += [page.figure(held_chart(jobs)), page.figure(clients_chart(jobs))]
    parts += [page.figure(layers_chart(jobs))]
    parts.append(page.shown("layers", "The load of every layer", layers_table(jobs)))
    return PageSection("What the job gets", (_SHARED,), parts)
