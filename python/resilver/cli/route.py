"""`resilver route`: which router of a machine serves which client, and what a job gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resilver.answer import Answer
from resilver.cli.options import (
    FigureFormat,
    figure_format,
    figures_output,
    file_output,
    overrides,
)
from resilver.cli.saving import PAGES
from resilver.errors import ConfigError, show
from resilver.request import argument, option, refuse

_JOB = ("clients", "targets", "namespace")


@dataclass(frozen=True)
class Asked:
    """What is routed."""

    machine: str = argument(
        "MACHINE", text="The machine file, or the name of one in the catalog: titan."
    )
    policy: tuple[str, ...] = option(
        metavar="POLICY",
        text="fine_grained, nearest, round_robin or balanced. Repeatable. Default: all of them.",
        default=(),
    )
    by: Literal["cost", "hops"] = option(
        text="What makes a router near to nearest and balanced.", default="cost"
    )
    node: str | None = option(
        metavar="NODE", text="Show which routers serve this node, by number or name."
    )
    lnet: bool = option(
        text="Print the routes as options of the Lustre network (LNet).", default=False
    )
    clients: str | None = option(
        metavar="JOB",
        text="Show what a job gets on these clients: a file with a node a line; random:N; "
        "job:N@x,y,z for N one after another by number; placed:N for the N placed best, with their "
        "targets.",
    )
    targets: str | None = option(
        metavar="CHOICE",
        text="Which targets they write to: round_robin (the default), random, optimal, or each for"
        " one on every network.",
    )
    namespace: int | None = option(
        metavar="K", text="Write to the targets of this namespace alone, from 0."
    )
    place: int | None = option(min=1, text="Show where so many modules of routers should stand.")
    seed: int = option(
        text="The seed of clients and targets that are drawn, and of --place.", default=1
    )
    settings: tuple[str, ...] = overrides("the file", "fine_grained.zone=6")
    output: Path | None = file_output(
        "FILE",
        "Write the page there (.html), or every client's routers or the job's flows (.csv).",
        (*PAGES, ".csv"),
    )
    figures: Path | None = figures_output()
    format: FigureFormat = figure_format()


def route(asked: Asked) -> Answer | None:
    """Assign clients to routers, and show channel loads and what a job gets.

    Examples:

    resilver route titan

    resilver route titan --policy fine_grained --node 20

    resilver route titan --policy balanced --lnet

    resilver route titan --clients job:1008@0,0,0 --namespace 0

    resilver route titan --place 108
    """
    from resilver.center import MachineFile, machine
    from resilver.center.jobs import job_rates
    from resilver.center.lnet import lnet_routes
    from resilver.center.routes import POLICIES
    from resilver.center.routes import route as perform
    from resilver.center.siting import sites
    from resilver.report.routes_page import routes_answer, sites_answer

    policies = asked.policy or POLICIES
    _check(asked, len(policies))
    system = machine(MachineFile.load(asked.machine, asked.settings))
    if asked.place is not None:
        return sites_answer(sites(system, asked.place, seed=asked.seed))
    node = None if asked.node is None else system.node(asked.node)
    if node is not None and not system.computes[node]:
        rule = "the node does not compute, and is no client"
        raise ConfigError(rule, "name another", "--node", show(asked.node))
    routes = [perform(system, policy, asked.by) for policy in policies]
    if asked.lnet:
        print(lnet_routes(routes[0]), end="")
        return None
    jobs = [
        job_rates(one, asked.clients, asked.targets, namespace=asked.namespace, seed=asked.seed)
        for one in routes
        if asked.clients is not None
    ]
    return routes_answer(routes, jobs, node)


def _check(asked: Asked, policies: int) -> None:
    """Refuse what means nothing beside other options."""
    apart = "ask for them apart"
    if asked.place is not None:
        rule = "--place shows where routers should stand, and no policies, nodes or jobs"
        refuse(asked, ("policy", "lnet", "node", *_JOB), rule, apart)
    if asked.lnet:
        refuse(asked, ("clients", "output", "figures"), "--lnet prints routes alone", apart)
    if asked.clients is None:
        refuse(asked, _JOB, "it says where a job writes, and there is no job", "add --clients")
    is_csv = asked.output is not None and asked.output.suffix.lower() == ".csv"
    if (asked.lnet or is_csv) and policies != 1 and asked.place is None:
        files = "the routers of every client" if asked.clients is None else "every flow of a job"
        what = "--lnet" if asked.lnet else files
        raise ConfigError(f"{what} is of one policy", "add --policy POLICY")
