"""The page of routes: policies, who serves a node, what a job gets, and what channels carry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.charts.vega import write_picture
from resilver.report.channels import heat_charts
from resilver.report.job import (
    clients_chart,
    held_chart,
    job_sentences,
    job_table,
    layers_chart,
)
from resilver.report.judged import PageSection, write_judged
from resilver.report.routes import (
    answer_sentences,
    cabinet_chart,
    hops_chart,
    node_policies_table,
    policies_table,
    served_chart,
)

if TYPE_CHECKING:
    from resilver.center.jobs import JobRates
    from resilver.center.routes import RouteFigures, Routes

_JOB = "What the job gets"
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
    charts = _charts(routes, jobs)
    sections = []
    if jobs:
        job = [page.shown("job", "The job by each policy", job_table(jobs))]
        job += [page.figure(chart) for chart in charts.pop(_JOB)]
        sections.append(PageSection(_JOB, (_SHARED,), job))
    parts = [page.shown("policies", "The policies", policies_table(figures))]
    sections.append(PageSection("Policies", (_LAST_CHANNEL,), parts))
    for heading, own in charts.items():
        sections.append(PageSection(heading, (), [page.figure(chart) for chart in own]))
    if node is not None:
        made = page.shown("node", "Its routers by network", node_policies_table(routes, node))
        sections.append(PageSection(f"Who serves {machine.names[node]}", (), [made]))
    title = machine.file.description or "Routers of a file system"
    told = {"Source": machine.file.source, "Made by": command}
    answer = job_sentences(jobs) if jobs else answer_sentences(figures)
    return write_judged(page, path, title, answer, sections, told)


def write_route_figures(
    routes: Sequence[Routes], jobs: Sequence[JobRates], folder: Path, format: str
) -> list[Path]:
    """Write the charts of the page as files, one a chart, named by it.

    Args:
        routes: A choice for each policy.
        jobs: What a job gets by each; none where no job was asked about.
        folder: Where the files go.
        format: "png", "svg" or "pdf".

    Returns:
        The files.

    Raises:
        ConfigError: A file cannot be written.
    """
    written = []
    for charts in _charts(routes, jobs).values():
        for chart in charts:
            path = folder / f"{chart.name}.{format}"
            written.append(write_picture(chart.make(), path, chart.heading, "--figures"))
    return written


def _charts(routes: Sequence[Routes], jobs: Sequence[JobRates]) -> dict[str, list[Chart]]:
    """The charts by the headings of their sections."""
    found = {_JOB: [held_chart(jobs), clients_chart(jobs), layers_chart(jobs)]} if jobs else {}
    return found | {
        "Where routers stand": [cabinet_chart(routes[0].machine)],
        "How far": [hops_chart(routes)],
        "How many clients a router has": [served_chart(routes)],
        "What channels carry": heat_charts(routes),
    }
