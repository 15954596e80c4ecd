"""`resilver route`: which router of a machine serves which client, and what a job gets."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import make_folder, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_writable, keep_inputs
from resilver.cli.tables import print_figures, print_turned
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.center.jobs import JobRates
    from resilver.center.machines import Machine
    from resilver.center.routes import RouteFigures, Routes

_SUFFIXES = (".html", ".csv")
_LAYER_COLUMNS = 6
"""Columns of the table of layers that have room in 60 letters."""


@dataclass(frozen=True)
class Asked:
    """What is routed."""

    machine: str = argument(
        "MACHINE", text="The machine file, or the name of one in the catalog: titan."
    )
    policy: tuple[str, ...] = option(
        "--policy",
        metavar="POLICY",
        text="fine_grained, nearest, round_robin or balanced. Repeatable. Default: all of them.",
        default=(),
    )
    by: str = option(
        "--by",
        metavar="cost|hops",
        text="What nearest and balanced are judged by.",
        default="cost",
    )
    node: str | None = option(
        "--node", metavar="NODE", text="Tell which routers serve this node, by number or name."
    )
    lnet: bool = option(
        "--lnet", text="Print the routes as options of the Lustre network.", default=False
    )
    clients: str | None = option(
        "--clients",
        metavar="JOB",
        text="Say what a job gets on these clients: a file with a node a line; random:N; "
        "job:N@x,y,z for N one after another by number; placed:N for the N placed best, with their "
        "targets.",
    )
    targets: str | None = option(
        "--targets",
        metavar="CHOICE",
        text="Which targets they write to: round_robin (the default), random, optimal, or each for"
        " one on every network.",
    )
    namespace: int | None = option(
        "--namespace", metavar="K", text="On the targets of this namespace alone, from 0."
    )
    place: int | None = option(
        "--place", metavar="N", text="Say where so many modules of routers should stand."
    )
    seed: int = option(
        "--seed", text="Of clients and targets that are drawn, and of that search.", default=1
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of the file, for example --set fine_grained.zone=6. Repeatable.",
        default=(),
    )
    output: Path | None = option(
        "--output",
        "-o",
        metavar="FILE",
        text="Write the page there, or every client's routers, or the job's flows, as a .csv.",
    )
    figures: Path | None = option(
        "--figures", metavar="DIR", text="Write the charts of the page there, a file each."
    )
    format: str = option(
        "--format", metavar="png|svg|pdf", text="As what --figures writes them.", default="png"
    )


def route(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Assign clients to routers, and show channel loads and what a job gets.

    Examples:

    resilver route titan

    resilver route titan --policy fine_grained --node 20

    resilver route titan --policy balanced --lnet

    resilver route titan --clients job:1008@0,0,0 --namespace 0

    resilver route titan --place 108
    """
    from resilver.center import MachineFile, machine
    from resilver.center.routes import POLICIES, route_figures
    from resilver.center.routes import route as perform

    _check(asked)
    keep_inputs(asked.output, [asked.machine, *([asked.clients] if asked.clients else [])])
    check_writable(asked.output)
    if asked.by not in ("cost", "hops"):
        rule = "routers are near by what a way costs or by its hops"
        raise ConfigError(Problem(rule, "give cost or hops", "--by", show(asked.by)))
    found = machine(MachineFile.load(asked.machine, asked.settings))
    if asked.place is not None:
        return _place(asked, found, as_json=as_json)
    policies = asked.policy or POLICIES
    is_one = asked.lnet or (asked.output is not None and asked.output.suffix == ".csv")
    if is_one and len(policies) != 1:
        files = "the routers of every client" if asked.clients is None else "every flow of a job"
        what = "--lnet" if asked.lnet else files
        raise ConfigError(Problem(f"{what} is of one policy", "add --policy POLICY"))
    if asked.output is not None and asked.output.suffix not in _SUFFIXES:
        rule = "the page is .html, and every client's routers a .csv"
        raise ConfigError(Problem(rule, "", "--output", show(str(asked.output))))
    node = None
    if asked.node is not None:
        node = found.node(asked.node)
        if not found.computes[node]:
            rule = "the node does not compute, and is no client"
            raise ConfigError(Problem(rule, "name another", "--node", show(asked.node)))
    routes = [perform(found, policy, asked.by) for policy in policies]
    if asked.lnet:
        from resilver.center.lnet import lnet_routes

        print(lnet_routes(routes[0]), end="")
        return 0
    jobs = _jobs(asked, routes)
    pictures = _pictures(asked, routes, jobs)
    figures = [route_figures(one) for one in routes]
    if asked.output is not None:
        _write(asked, routes, figures, jobs, node)
    if as_json:
        print_json(_record(routes, figures, node) | {"jobs": [one.to_dict() for one in jobs]})
    elif not quiet:
        _print(routes, figures, node, jobs)
    for path in [*pictures, *([asked.output] if asked.output is not None else [])]:
        if not quiet:
            say(f"wrote {path}")
    return 0


def _pictures(asked: Asked, routes: list[Routes], jobs: list[JobRates]) -> list[Path]:
    """Write the charts of the page, where a folder for them is given."""
    if asked.figures is None:
        return []
    from resilver.report.routes_page import write_route_figures

    make_folder(asked.figures, "--figures", "--figures DIR")
    return write_route_figures(routes, jobs, asked.figures, asked.format)


def _check(asked: Asked) -> None:
    """Refuse what means nothing beside other options."""
    from resilver.charts.vega import FORMATS

    if asked.format not in FORMATS:
        rule = "a chart is written as png, svg or pdf"
        raise ConfigError(Problem(rule, "give one of them", "--format", show(asked.format)))
    if asked.clients is None:
        for key, given in (("--targets", asked.targets), ("--namespace", asked.namespace)):
            if given is not None:
                rule = "it says where a job writes, and there is none"
                raise ConfigError(Problem(rule, "add --clients", key, show(given)))
    if asked.lnet:
        others = (("--clients", asked.clients), ("-o", asked.output), ("--figures", asked.figures))
        for key, other in others:
            if other is not None:
                rule = f"--lnet prints routes and nothing of {key}"
                raise ConfigError(Problem(rule, "ask for them apart"))


def _jobs(asked: Asked, routes: list[Routes]) -> list[JobRates]:
    """What the job gets by every policy; nothing where none is asked about."""
    if asked.clients is None:
        return []
    from resilver.center.jobs import job_rates

    return [
        job_rates(one, asked.clients, asked.targets, namespace=asked.namespace, seed=asked.seed)
        for one in routes
    ]


def _place(asked: Asked, found: Machine, *, as_json: bool) -> int:
    """Where modules should stand, and what that saves."""
    from resilver.center.siting import sites
    from resilver.report.routes import sites_sentence, sites_table

    given = (
        *(asked.policy, asked.lnet, asked.node, asked.output),
        *(asked.clients, asked.targets, asked.figures),
    )
    if any(given) or asked.namespace is not None:
        rule = "--place says where routers should stand, and nothing of policies, nodes or jobs"
        raise ConfigError(Problem(rule, "ask for them apart"))
    if asked.place is not None and asked.place < 1:
        raise ConfigError(
            Problem("modules are 1 at least", "", key="--place", value=show(asked.place))
        )
    made = sites(found, asked.place or 1, seed=asked.seed)
    if as_json:
        print_json(made.to_dict())
        return 0
    output().print(Text(sites_sentence(made), "bold"))
    print_figures("Where modules should stand", sites_table(made), 2)
    return 0


def _record(
    routes: list[Routes], figures: list[RouteFigures], node: int | None
) -> dict[str, object]:
    from resilver.report.routes import node_table

    record: dict[str, object] = {"policies": [one.to_dict() for one in figures]}
    if node is not None:
        record["node"] = routes[0].machine.names[node]
        tables = {one.policy: node_table(one, node) for one in routes}
        record["routers"] = {
            policy: [
                {column.name: cell for column, cell in zip(made.columns, row, strict=True)}
                for row in made.rows
            ]
            for policy, made in tables.items()
        }
    return record


def _write(
    asked: Asked,
    routes: list[Routes],
    figures: list[RouteFigures],
    jobs: list[JobRates],
    node: int | None,
) -> None:
    from resilver.report.job import flows_table
    from resilver.report.routes import routes_table
    from resilver.report.routes_page import write_routes
    from resilver.study.files import replace_text
    from resilver.tables import to_csv

    assert asked.output is not None
    if asked.output.suffix == ".csv":
        made = flows_table(jobs[0]) if jobs else routes_table(routes[0])
        replace_text(asked.output, to_csv(made, rows_max=None))
        return
    words = [word for one in asked.policy for word in ("--policy", one)]
    for name, given in (
        ("--by", asked.by if asked.by != "cost" else None),
        ("--node", asked.node),
        ("--clients", asked.clients and Path(asked.clients).name),
        ("--targets", asked.targets),
        ("--namespace", asked.namespace),
        ("--seed", asked.seed if asked.seed != 1 else None),
    ):
        words += [] if given is None else [name, str(given)]
    words += [word for one in asked.settings for word in ("--set", one)]
    command = shlex.join(["resilver", "route", Path(asked.machine).name, *words])
    write_routes(routes, figures, asked.output, command, jobs=jobs, node=node)


def _print(
    routes: list[Routes], figures: list[RouteFigures], node: int | None, jobs: list[JobRates]
) -> None:
    """The answer, then the policies side by side."""
    from resilver.report.job import job_sentences, job_table, layers_table
    from resilver.report.routes import WORDS, answer_sentences, node_table, policies_table

    for sentence in job_sentences(jobs) if jobs else answer_sentences(figures):
        output().print(Text(sentence, "bold"))
    print_turned(job_table(jobs) if jobs else policies_table(figures))
    for job in jobs:
        made = layers_table([job], with_policy=False)
        print_figures(f"Layers, {WORDS[job.routes.policy]}", made, _LAYER_COLUMNS)
    if node is not None:
        for one in routes:
            title = f"{routes[0].machine.names[node]}, {WORDS[one.policy]}"
            print_figures(title, node_table(one, node), 5)
