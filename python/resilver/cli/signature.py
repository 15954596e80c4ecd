"""`resilver signature`: the pattern that a job's runs repeat, from logs of servers."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_output, check_writable, keep_inputs, save_whole
from resilver.cli.tables import print_figures
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.center.signatures import FoundSignature

_ROWS_SHOWN = 12
_COMPARE, _SHIFT = "compare", "shift"


class Moved(StrEnum):
    """Which bytes of a log count."""

    writes = "writes"
    reads = "reads"
    both = "both"


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
        "--jobs",
        metavar="JOBS",
        text="When the runs were, where logs have more than one: CSV of start, end and name, or "
        "what sacct prints.",
    )
    zone: str = option(
        "--zone",
        metavar="ZONE",
        text="Where dates in JOBS are of, such as America/Los_Angeles or -08:00.",
        default="UTC",
        show_default=True,
    )
    every: str | None = option(
        "--every",
        metavar="TIME",
        text="How long a sample is, such as '2 s'. Default: the longest of the logs' own.",
    )
    moved: Moved = option(
        "--of", text="Which bytes count.", default=Moved.writes, show_default=True
    )
    name: str = option("--name", metavar="NAME", text="What the job is called.", default="")
    rate: str | None = option(
        "--rate", metavar="RATE", text="Of shift: what the system carries, such as '320 GB/s'."
    )
    over: str | None = option(
        "--over",
        metavar="TIME",
        text="Of shift: for how long both jobs are looked at. Default: 20 of the longer period.",
    )
    outputs: tuple[Path, ...] = option(
        "--output",
        "-o",
        metavar="FILE.toml|FILE.html",
        text="Write the signature, or a page. Repeatable.",
        default=(),
    )


def signature(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Find the I/O pattern that a job's runs share in server logs: period, burst, volume.

    The file that -o writes is traffic: a study's traffic.jobs takes it. compare says whether two
    signatures may be one job's; shift says when the second of two jobs should start so that their
    bursts cost each other least.

    Exits with 1 if the runs do not repeat, and writes no file; compare, if the signatures differ.

    Examples:

    resilver signature run1.h5 run2.h5 run3.h5 -o climate.toml -o climate.html

    resilver signature lmt.h5 --jobs sacct.txt --zone America/Los_Angeles

    resilver signature shift climate.toml fusion.toml --rate "320 GB/s" -o shift.html
    """
    word, *files = asked.logs
    keep: list[str | Path | None] = [*asked.logs, asked.jobs]
    for path in asked.outputs:
        keep_inputs(path, keep)
        if path.suffix.lower() == ".toml":
            check_writable(path)
        else:
            check_output(path)
    if word == _COMPARE:
        return _compare(asked, files, as_json, quiet)
    if word == _SHIFT:
        return _shift(asked, files, as_json, quiet)
    _refuse(asked, ("rate", "over"), "it is of shift", "resilver signature shift A.toml B.toml")
    from resilver.center.signatures import signature as perform
    from resilver.importers.jobs import zone_of
    from resilver.units import Seconds

    every = _given(asked.every, "--every", Seconds.parse)
    if every is not None and every <= 0.0:
        raise ConfigError(Problem("the time is above 0", "such as '2 s'", "--every", asked.every))
    found = perform(
        asked.logs,
        jobs=asked.jobs,
        every=every,
        moved=asked.moved.value,
        name=asked.name,
        zone=zone_of(asked.zone),
    )
    # Before the text, whose reader may leave before its end.
    written = asked.outputs if found.signature is not None else ()
    for path in written:
        if path.suffix.lower() == ".toml":
            assert found.signature is not None
            save_whole(path, found.signature.to_toml())
        else:
            from resilver.report.signature import write_signature

            write_signature(found, path, _command(asked))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _print(found)
    _tell(written, quiet)
    return EXIT_FAILED if found.signature is None else 0


def _compare(asked: Asked, files: list[str], as_json: bool, quiet: bool) -> int:
    from resilver.center.signatures import compare_signatures
    from resilver.report import two_jobs as report

    _refuse_all(asked, ("rate", "over", "outputs"), _COMPARE)
    found = compare_signatures(*_two(files, _COMPARE))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        for sentence in report.compared_sentences(found):
            output().print(Text(sentence, "bold"))
        made = report.compared_table(found)
        print_figures("Both signatures", made, len(made.columns))
    return 0 if found.holds else EXIT_FAILED


def _shift(asked: Asked, files: list[str], as_json: bool, quiet: bool) -> int:
    from resilver.center.signatures import shift_signatures
    from resilver.report import two_jobs as report
    from resilver.units import BytesPerSecond, Seconds

    _refuse_all(asked, (), _SHIFT)
    one, other = _two(files, _SHIFT)
    rate = _given(asked.rate, "--rate", BytesPerSecond.parse)
    if rate is None:
        rule = "jobs share what the system carries"
        raise ConfigError(Problem(rule, "say how much, such as '320 GB/s'", "--rate"))
    over = _given(asked.over, "--over", Seconds.parse)
    if over is not None and over <= 0.0:
        raise ConfigError(Problem("the time is above 0", "such as '12 h'", "--over", asked.over))
    if tomls := [path for path in asked.outputs if path.suffix.lower() == ".toml"]:
        rule = "shift writes a page"
        raise ConfigError(Problem(rule, "end its name in .html", "--output", f'"{tomls[0]}"'))
    plan = shift_signatures(one, other, rate=rate, over=over)
    for path in asked.outputs:
        words = ["resilver", "signature", _SHIFT, Path(one).name, Path(other).name]
        words += ["--rate", asked.rate or ""] + (["--over", asked.over] if asked.over else [])
        report.write_shift(plan, path, shlex.join(words))
    if as_json:
        print_json(plan.to_dict())
    elif not quiet:
        for sentence in report.answer_sentences(plan):
            output().print(Text(sentence, "bold"))
        print_figures("By the start of the second", report.starts_table(plan), 5)
    _tell(asked.outputs, quiet)
    return 0


def _tell(written: tuple[Path, ...], quiet: bool) -> None:
    for path in () if quiet else written:
        say(f"wrote {path}")


def _two(files: list[str], word: str) -> tuple[str, str]:
    if len(files) != 2:
        rule = f"{word} takes two signatures, and here are {len(files)}"
        remedy = f"write {word} A.toml B.toml; a log of that name is ./{word}"
        raise ConfigError(Problem(rule, remedy, "LOG"))
    return files[0], files[1]


def _refuse_all(asked: Asked, more: tuple[str, ...], word: str) -> None:
    """Refuse options of the search for a signature, and others."""
    _refuse(asked, ("jobs", "every", "name", *more), f"it is not of {word}", "leave it out")


def _refuse(asked: Asked, keys: tuple[str, ...], rule: str, remedy: str) -> None:
    for key in keys:
        if value := getattr(asked, key):
            name = "--output" if key == "outputs" else f"--{key}"
            value = value[0] if isinstance(value, tuple) else value
            raise ConfigError(Problem(rule, remedy, name, show(str(value))))


def _given(text: str | None, key: str, parse: Callable[[object], float]) -> float | None:
    """A quantity of an option, whose name an error tells."""
    if text is None:
        return None
    try:
        return float(parse(text))
    except ConfigError as error:
        raise ConfigError(one.under(key) for one in error.problems) from None


def _command(asked: Asked) -> str:
    """What makes the same page again."""
    words = ["resilver", "signature", *(Path(log).name for log in asked.logs)]
    words += ["--jobs", asked.jobs.name, "--zone", asked.zone] if asked.jobs else []
    words += ["--every", asked.every] if asked.every else []
    words += ["--of", asked.moved.value] if asked.moved is not Moved.writes else []
    return shlex.join(words + (["--name", asked.name] if asked.name else []))


def _print(found: FoundSignature) -> None:
    """The answer, then its figures."""
    from resilver.report import signature as report

    for sentence in report.answer_sentences(found):
        output().print(Text(sentence, "bold"))
    for note in found.notes:
        output().print(Text(f"Note: {note}.", "dim"))
    print_figures("Figures", report.figures_table(found), 3)
    if found.common:
        bursts = report.common_table(found)
        print_figures("Bursts common to runs", bursts, len(bursts.columns), _ROWS_SHOWN)
