"""`resilver what-if`: what changes do to a real Ceph cluster, before they happen."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields, make_dataclass, replace
from functools import partial
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer
from resilver.cli.options import file_output
from resilver.cli.progress import HealDisplay
from resilver.cli.replying import command_line
from resilver.errors import Problem, raise_all, show
from resilver.request import argument, option
from resilver.whatif.kinds import KINDS, ChangeKind
from resilver.whatif.options import FRAMES, Request

if TYPE_CHECKING:
    from resilver.whatif.answer import WhatIf
    from resilver.whatif.several import FillSearch, Maintenance, PlansCompared, Ranking, Search

    Found = WhatIf | PlansCompared | Ranking | Maintenance | Search | FillSearch


def _change(kind: ChangeKind) -> tuple[str, Any, Any]:
    """The field of a kind of change, which is an option."""
    example = f"{kind.option} {shlex.quote(kind.example)}"
    declared = option(
        kind.option,
        metavar=kind.metavar,
        text=f"{kind.sentence} Such as {example}.",
        default=(),
        rich_help_panel="Changes",
    )
    # A keyword of Python is no name of a field.
    return f"{kind.key}_" if iskeyword(kind.key) else kind.key, tuple[str, ...], declared


def kinds_class(kinds: Iterable[ChangeKind]) -> type:
    """A class with an option a kind."""
    return make_dataclass("Kinds", map(_change, kinds), frozen=True)


def values_of(changes: Any) -> dict[str, tuple[str, ...]]:
    """The values of each kind by its key."""
    return {one.name.rstrip("_"): getattr(changes, one.name) for one in fields(changes)}


_KINDS = kinds_class(reversed(KINDS))


class Changes(_KINDS):  # type: ignore[misc, valid-type]
    """The changes of a plan: an option a kind."""


_question = partial(option, rich_help_panel="Questions")


@dataclass(frozen=True)
class Question:
    """What is asked beside the changes."""

    bundle: Path = argument(
        "BUNDLE",
        text="The cluster: a `ceph report`, or a folder or an archive of what its commands print.",
    )
    plans: tuple[Path, ...] = _question(
        "--plan",
        metavar="FILE.toml",
        text="A plan of changes with times; several plans are compared. Changes given as options "
        "are added to each.",
        default=(),
    )
    each: str | None = _question(
        metavar="LEVEL[ @ TIME]",
        text="Fail every osd, host or rack (or another level) in turn and rank by impact. With "
        "changes: after they have settled ('host @ settled') or at a time ('host @ 2 d'), next to "
        "the same failures today.",
    )
    maintain: str | None = _question(
        metavar="WORK",
        text="Rolling maintenance: stop and start every host (or another level) in turn, such as "
        "'each host, 20 min, noout', each once the cluster is healthy again.",
    )
    search: str | None = _question(
        metavar="SETTINGS",
        text="Try settings until --aim is met, such as 'osd_max_backfills, mclock profile' or "
        "'osd_max_backfills=1/2/4'; 'fill' finds the highest fill at which it is met.",
    )
    aim: str | None = _question(
        metavar="AIM",
        text="The goal: 'healthy in 1 d', 'degraded under 6 h', 'clients p99 under 50 ms', "
        "'fullest OSD under 85%', 'chance of loss under 1e-9', or several with and between; for "
        "--search fill 'any host heals', or another level.",
    )
    since: Path | None = option(
        metavar="OLDER",
        rich_help_panel="Questions",
        text="Dumps taken a little earlier, such as a minute, while the cluster recovers: devices "
        "work at the pace that recovery had between the two.",
    )
    page: Path | None = file_output("FILE.html", "Write the answer as a page.")
    tables: Path | None = option(
        metavar="DIR",
        text="Write the tables of the answer to this folder, as Parquet.",
        is_output=True,
    )


def what_if(
    changes: Changes,
    question: Question,
    request: Request,
    as_json: bool = False,
    quiet: bool = False,
) -> Answer:
    """Predict what a failure, an expansion or another change does to a real Ceph cluster.

    Shows when the cluster is healthy again, how long data is degraded or at risk, which OSDs get
    full, which PGs wait and why, what would help, what clients notice, and the commands to run.
    Changes happen at the start, or at a time: 'host=node3 @ 2 h'. Without changes, the cluster
    recovers from its present state.

    Exits with 1 if PGs are stuck or lost at the end, if no settings meet the goal, or if the data
    does not fit (unless --anyway is given).

    Examples:

    resilver what-if bundle.tar.zst --fail osd.12

    resilver what-if bundle.tar.zst --add "4 hosts like node1 in rack=r2" --flag noout -o page.html

    resilver what-if bundle.tar.zst --drain host=node3 --set-option osd_max_backfills=4

    resilver what-if bundle.tar.zst --plan halves.toml --plan at-once.toml

    resilver what-if bundle.tar.zst --each host

    resilver what-if now.tar.zst --since a-minute-ago.tar.zst

    resilver what-if bundle.tar.zst --maintain "each host, 20 min, noout"

    resilver what-if bundle.tar.zst --fail osd.12 --search "mclock profile" --aim "healthy in 1 d"
    """
    from resilver.report.whatif import answer_of

    _check(question, request)
    with HealDisplay(quiet=quiet or as_json) as told:
        found = _ask(question, request, changes, told)
    why, following = _following(found, question, changes, request)
    typed, shared = (
        [command_line("what-if", *following, has_folders=one)] * bool(following)
        for one in (True, False)
    )
    return answer_of(found).then(typed, why, shared)


def _check(question: Question, request: Request) -> None:
    """Refuse questions that do not go together."""
    problems = []
    turns = {"--each": question.each, "--maintain": question.maintain}
    by_turns = [(name, text) for name, text in turns.items() if text is not None]
    is_one_plan = not by_turns and question.search is None and len(question.plans) < 2
    if request.counterfactuals and not is_one_plan:
        rule = "what would help is listed for one plan"
        problems.append(Problem(rule, "ask for one plan alone", "--counterfactuals"))
    if len(by_turns) > 1:
        rule = "a part fails or is maintained, and not both"
        problems.append(Problem(rule, "leave --each or --maintain out", "--maintain"))
    for name, text in by_turns * bool(question.plans):
        rule = "parts take their turns beside one set of changes"
        problems.append(Problem(rule, "leave --plan out", name, show(text)))
    if question.search is not None and (len(question.plans) > 1 or by_turns):
        rule = "settings are searched for one plan"
        problems.append(Problem(rule, "ask for one", "--search", show(question.search)))
    if (question.search is None) != (question.aim is None):
        rule = "settings are searched for an aim"
        given = "--aim" if question.search is None else "--search"
        other = "--search" if question.search is None else "--aim"
        problems.append(Problem(rule, f"add {other}", given, show(question.aim or question.search)))
    is_of_fill = question.search is not None and question.search.strip() == "fill"
    if question.tables is not None and (by_turns or is_of_fill):
        rule = "an answer of many runs has no tables of each"
        problems.append(Problem(rule, "ask with --json", "--tables", show(str(question.tables))))
    raise_all(problems)


def _ask(question: Question, request: Request, changes: Changes, told: HealDisplay) -> Found:
    from resilver.whatif import each, maintaining, pace, perform, searching

    # The film is for whoever reads the tables of a plan.
    if question.tables is not None and question.search is None:
        request = replace(request, frames=FRAMES)
    report = perform.read_bundle(question.bundle)
    if question.since is not None:
        request = pace.paced(report, perform.read_bundle(question.since), request, told)
    beside = perform.changes_of(values_of(changes))
    if question.each is not None:
        return each.rank_failures(report, question.each, beside, request, told)
    if question.maintain is not None:
        return maintaining.maintain(report, question.maintain, beside, request, told)
    plans = perform.plans_of(question.plans, beside)
    if len(plans) > 1:
        return perform.compare_plans(report, plans, request, told)
    if question.search is not None and question.aim is not None:
        if question.search.strip() == searching.FILL:
            return searching.search_fill(report, plans[0], request, question.aim, told)
        return searching.search(report, plans[0], request, question.search, question.aim, told)
    return perform.answer_of(report, plans[0], request, told)


def _following(
    found: Found, question: Question, changes: Changes, request: Request
) -> tuple[str, tuple[Question, Changes, Request] | tuple[()]]:
    """What the question that an answer leads to is for, and that question; none of most answers."""
    from resilver.whatif.searching import against_defaults
    from resilver.whatif.several import FillSearch, Maintenance, PlansCompared, Ranking, Search

    if isinstance(found, (FillSearch, PlansCompared, Search)):
        return "", ()
    if isinstance(found, Maintenance):
        # Where parts are marked out while they are down, the same with noout.
        question = replace(question, maintain=f"{question.maintain}, noout")
        is_moving = found.is_long and found.moved_bytes
        return "Next, without marking them out", (question, changes, request) if is_moving else ()
    if not isinstance(found, Ranking):
        names, aim, left = against_defaults(changes.set_option, found)
        asked = replace(question, search=names, aim=aim), replace(changes, set_option=left)
        request = replace(request, counterfactuals=None)
        return "Next, to compare with the default", (*asked, request) if names else ()
    if found.holds:
        return "", ()
    worst, level = found.harms[0], found.level
    if worst.outcome.toofull_groups:
        question = replace(question, each=None, search="fill", aim=f"any {level} heals")
        heals = f"how full it may be so that any {level} heals"
        return f"Next, to find {heals}", (question, changes, replace(request, fill=""))
    if level == "osd" or "its rule finds" not in worst.reason:
        return "", ()
    more = replace(changes, add=(*changes.add, f"1 {level} like {worst.name}"))
    return f"Next, to add a {level} that the rule can use", (question, more, request)
