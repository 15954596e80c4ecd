"""`resilver place`, from its options to its answer."""

from __future__ import annotations

from resilver.answer import Answer
from resilver.cli.place.options import FORMS, Asked
from resilver.cli.saving import PAGES, TABLES, check_output
from resilver.errors import ConfigError, Problem, raise_all
from resilver.request import unused_options


def place(asked: Asked) -> Answer:
    """Show where data is placed, how evenly, and what a change would move.

    Examples:

    resilver place report.json --groups --pool rbd

    resilver place report.json --object disk.7 --pool rbd

    resilver place report.json --affected --fail host=ceph-07 -o affected.csv

    resilver place report.json --room

    resilver place report.json --quality

    resilver place --compare before.bin after.bin --rule 0

    resilver place report.json --balance bytes --entries 50 -o upmaps.sh
    """
    from importlib import import_module

    form = _form(asked)
    suffixes = () if asked.balance else (*TABLES, *PAGES) if asked.affected else PAGES
    check_output(asked.output, suffixes, (*asked.words, asked.crush, asked.pg_dump, asked.osd_df))
    module = import_module(f"resilver.cli.place.{FORMS[form][0]}")
    answer: Answer = getattr(module, f"{form.removeprefix('--')}_answer")(asked)
    return answer


def _form(asked: Asked) -> str:
    """What is asked; refused where two things are asked for at once, or none."""
    chosen = [form for form, (_, field) in FORMS.items() if getattr(asked, field)]
    if len(chosen) != 1:
        example = asked.words[0] if asked.words else "report.json"
        more = " (`resilver crush` tests a rule by itself)" if asked.rule is not None else ""
        raise ConfigError(
            f"place needs exactly one of {', '.join(FORMS)}; for example "
            f"`resilver place {example} --quality`{more}"
        )
    problems = unused_options(asked)
    if asked.affected and not asked.fail:
        problems.append(
            Problem("it needs what fails", "add --fail osd.12, or --fail host=NAME", "--affected")
        )
    if asked.pool is not None and asked.rule is not None:
        rule = "inputs of a rule belong to no pool"
        problems.append(Problem(rule, "give --pool or --rule", "--pool"))
    count = 2 if asked.compare else 1
    if len(asked.words) != count:
        rule = f"place {chosen[0]} takes {['one FILE', 'two files'][count - 1]}, and "
        rule += f"{len(asked.words)} are given"
        remedy = "name a cluster's dumps, a CRUSH map or a study"
        if asked.compare:
            remedy = "`resilver place --compare BEFORE AFTER`; `resilver crush` edits a map"
        problems.append(Problem(rule, remedy))
    raise_all(problems)
    return chosen[0]
