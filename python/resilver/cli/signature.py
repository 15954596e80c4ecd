"""`resilver signature`: the pattern that a job's runs repeat, from logs of servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resilver.answer import Answer
from resilver.cli.options import file_output, stated
from resilver.cli.saving import PAGES, check_output
from resilver.errors import ConfigError
from resilver.request import argument, option, rate, refuse, seconds, value_of


@dataclass(frozen=True)
class Asked:
    """Whose signature is looked for, or what is done with two."""

    logs: tuple[str, ...] = argument(
        "LOG...",
        text="A log a run: HDF5 of TOKIO or LMT, CSV or Parquet with time and bytes or rate, "
        "Darshan with a heat map. Or "
        "compare A.toml B.toml, or shift A.toml B.toml.",
    )
    jobs: Path | None = option(
        metavar="JOBS",
        text="When the runs were, where logs have more than one: CSV of start, end and name, or "
        "what sacct prints.",
    )
    zone: str = stated(
        metavar="ZONE",
        text="Where dates in JOBS are of, such as America/Los_Angeles or -08:00.",
        default="UTC",
    )
    every: str | None = option(
        text="How long a sample is, such as '2 s'. Default: the longest of the logs' own.",
        quantity=seconds("2 s"),
    )
    moved: Literal["writes", "reads", "both"] = stated(
        "--of", text="Which bytes count.", default="writes"
    )
    name: str = option(metavar="NAME", text="What the job is called.", default="")
    rate: str | None = option(
        text="Of shift: what the system carries, such as '320 GB/s'.",
        quantity=rate("320 GB/s"),
    )
    over: str | None = option(
        text="Of shift: how long both jobs run together. Default: 20 of the longer period.",
        quantity=seconds("12 h"),
    )
    outputs: tuple[Path, ...] = file_output(
        "FILE.toml|FILE.html",
        "Write the signature, or a page. Repeatable.",
        (".toml", *PAGES),
        default=(),
    )


def signature(asked: Asked) -> Answer:
    """Find the I/O pattern that a job's runs share in server logs: period, burst, volume.

    A study's traffic.jobs reads the file that -o writes. compare checks whether two signatures may
    be one job's; shift finds the start of the second of two jobs at which their bursts delay each
    other least.

    Exits with 1 if the runs do not repeat, and writes no file; compare, if the signatures differ.

    Examples:

    resilver signature run1.h5 run2.h5 run3.h5 -o climate.toml -o climate.html

    resilver signature lmt.h5 --jobs sacct.txt --zone America/Los_Angeles

    resilver signature shift climate.toml fusion.toml --rate "320 GB/s" -o shift.html
    """
    from resilver.center.signatures import signature as perform
    from resilver.importers.jobs import zone_of
    from resilver.report.signature import signature_answer

    word, *files = asked.logs
    if word in _WITH_TWO:
        for path in asked.outputs:
            check_output(path)
        refuse(asked, ("jobs", "every", "name"), f"it is not of {word}")
        if len(files) != 2:
            rule = f"{word} takes two signatures, and here are {len(files)}"
            remedy = f"write {word} A.toml B.toml; a log of that name is ./{word}"
            raise ConfigError(rule, remedy, "LOG")
        return _WITH_TWO[word](asked, *files)
    remedy = "use resilver signature shift A.toml B.toml"
    refuse(asked, ("rate", "over"), "it is of shift", remedy)
    found = perform(
        asked.logs,
        jobs=asked.jobs,
        every=value_of(asked, "every"),
        moved=asked.moved,
        name=asked.name,
        zone=zone_of(asked.zone),
    )
    return signature_answer(found)


def _compare(asked: Asked, one: str, other: str) -> Answer:
    from resilver.center.signatures import compare_signatures
    from resilver.report.two_jobs import compared_answer

    refuse(asked, ("rate", "over"), "it is not of compare")
    return compared_answer(compare_signatures(one, other))


def _shift(asked: Asked, one: str, other: str) -> Answer:
    from resilver.center.signatures import shift_signatures
    from resilver.report.two_jobs import shift_answer

    rate = value_of(asked, "rate")
    if rate is None:
        rule = "jobs share what the system carries"
        raise ConfigError(rule, "say how much, such as '320 GB/s'", "--rate")
    return shift_answer(shift_signatures(one, other, rate=rate, over=value_of(asked, "over")))


_WITH_TWO = {"compare": _compare, "shift": _shift}
