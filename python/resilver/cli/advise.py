"""`resilver advise`: where a job's files should go, by what is busy and full now."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, SupportsFloat

from rich.text import Text

from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_output, keep_inputs
from resilver.cli.tables import print_figures
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.center import Advice
    from resilver.center.routes import Routes

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_ROWS_SHOWN = 20


class Format(StrEnum):
    """How the answer is printed."""

    table = "table"
    json = "json"
    lfs = "lfs"


@dataclass(frozen=True)
class Asked:
    """What is advised on."""

    states: tuple[str, ...] = argument(
        "STATE...",
        text="What is busy and full: two dumps of lctl get_param, HDF5 of LMT or TOKIO, lfs df, "
        "lctl dl -t, or a run folder.",
    )
    files: int = option(
        "--files", metavar="N", text="How many files the job writes.", default=MISSING
    )
    stripe: int = option(
        "--stripe", metavar="K", text="Over how many targets each is striped.", default=1
    )
    machine: str | None = option(
        "--machine",
        metavar="MACHINE",
        text="The machine whose nodes write, by routers of their own: a file, or titan.",
    )
    clients: str | None = option(
        "--clients",
        metavar="FILE|random:N|job:N@x,y,z",
        text="The nodes that write. Default: all of the machine's.",
    )
    policy: str = option(
        "--policy",
        metavar="POLICY",
        text="Which router serves whom, as resilver route has it.",
        default="fine_grained",
    )
    avoid: str | None = option(
        "--avoid", metavar="FILL", text="Use no target that is fuller, such as 80%."
    )
    rate: str | None = option(
        "--rate", metavar="RATE", text="What a target moves by itself, such as '500 MB/s'."
    )
    server_rate: str | None = option(
        "--server-rate", metavar="RATE", text="The same of a server. Default: as its targets."
    )
    router_rate: str | None = option(
        "--router-rate", metavar="RATE", text="The same of a router. Default: as targets behind it."
    )
    volume: str | None = option(
        "--volume", metavar="SIZE", text="What the job writes in all, such as '2 TB'."
    )
    filesystem: str | None = option(
        "--filesystem", metavar="NAME", text="Which file system, where the state has several."
    )
    namespace: int = option(
        "--namespace",
        metavar="N",
        text="Which of the machine's file systems it is, from 0.",
        default=0,
    )
    window: str = option(
        "--window", metavar="TIME", text="The end of a series that is averaged.", default="60 s"
    )
    seed: int | None = option(
        "--seed",
        metavar="N",
        text="Draw the order of equal targets, such as by the job's number: jobs that ask at once "
        "then get others.",
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of the machine file. Repeatable.",
        default=(),
    )
    name: str = option(
        "--name",
        metavar="NAME",
        text="What files are called in lines of lfs; {} is a file's number.",
        default="file.{}",
    )
    format: Format = option(
        "--format",
        text="A table, JSON, or a line of lfs setstripe a file.",
        default=Format.table,
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )


def advise(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Recommend the targets for a job's files, by current load and fill.

    What that brings stands beside the file system's own round robin.

    Exits with 1 if no target is left, as where all are avoided.

    Examples:

    resilver advise before.txt after.txt --files 128

    resilver advise lmt.h5 df.txt --files 64 --stripe 4 --avoid 80% --format lfs

    resilver advise lmt.h5 --files 1008 --machine titan --clients random:1008 -o advice.html
    """
    from resilver.center import advise as perform
    from resilver.center import read_state
    from resilver.units import Bytes, Seconds

    keep_inputs(asked.page, asked.states)
    check_output(asked.page)
    window = _given(asked.window, "--window", Seconds.parse) or 0.0
    if window <= 0.0:
        rule = "the time is above 0"
        raise ConfigError(Problem(rule, "such as 60 s", "--window", show(asked.window)))
    volume = _given(asked.volume, "--volume", Bytes.parse)
    rates = _rates(asked)
    found = perform(
        read_state(asked.states, window),
        files=asked.files,
        stripe=asked.stripe,
        rate=rates[0],
        server_rate=rates[1],
        router_rate=rates[2],
        machine=_routes(asked),
        clients=asked.clients,
        avoid=_share(asked.avoid),
        filesystem=asked.filesystem,
        namespace=asked.namespace,
        seed=asked.seed,
    )
    if volume is not None and found.layers.rate is None:
        rule = "how long that takes depends on what a target moves by itself"
        raise ConfigError(Problem(rule, "add --rate", "--volume", show(asked.volume)))
    if asked.page is not None:
        from resilver.report.advice import write_advice

        write_advice(found, volume, asked.page, _command(asked))
    if as_json or asked.format is Format.json:
        print_json(found.to_dict())
    elif asked.format is Format.lfs:
        print("\n".join(lfs_lines(found, asked.name)))
    elif not quiet:
        _print(found, volume)
    if asked.format is not Format.table or as_json:
        for note in found.layers.notes:
            say(f"note: {note}")
    if asked.page is not None and not quiet:
        say(f"wrote {asked.page}")
    return 0


def lfs_lines(found: Advice, name: str) -> list[str]:
    """A line of `lfs setstripe` a file.

    Args:
        found: The advice.
        name: What files are called; ``{}`` is a file's number.

    Raises:
        ConfigError: Files would share a name, or targets are not Lustre's.
    """
    if "{}" not in name and len(found.placed) > 1:
        rule = "each file has a name of its own"
        raise ConfigError(Problem(rule, "write {} where its number stands", "--name", show(name)))
    numbers = found.state.numbers
    without = [found.state.targets[at] for at in found.placed.reshape(-1) if numbers[at] is None]
    if without:
        rule = f"{without[0]} is no target of Lustre, whose names end with OST and a number"
        raise ConfigError(Problem(rule, "print a table, or JSON", "--format", "lfs"))
    lines = []
    for file, row in enumerate(found.placed.tolist()):
        chosen = ",".join(str(numbers[at]) for at in row)
        where = f"-i {chosen}" if len(row) == 1 else f"-o {chosen}"
        path = shlex.quote(name.replace("{}", f"{file:0{len(str(len(found.placed) - 1))}d}"))
        lines.append(f"lfs setstripe -c {len(row)} {where} {path}")
    return lines


def _routes(asked: Asked) -> Routes | None:
    from resilver.center import MachineFile, machine, route

    if asked.machine is None:
        for option_name, value in (("--set", asked.settings), ("--router-rate", asked.router_rate)):
            if value:
                raise ConfigError(Problem("it is of a machine", "add --machine", option_name))
        return None
    return route(machine(MachineFile.load(asked.machine, asked.settings)), asked.policy)


def _rates(asked: Asked) -> tuple[float | None, float | None, float | None]:
    from resilver.units import BytesPerSecond

    given = (
        ("--rate", asked.rate),
        ("--server-rate", asked.server_rate),
        ("--router-rate", asked.router_rate),
    )
    first, second, third = (_given(text, key, BytesPerSecond.parse) for key, text in given)
    return first, second, third


def _given(text: str | None, key: str, parse: Callable[[str], SupportsFloat]) -> float | None:
    """A quantity of an option, whose name an error tells."""
    if text is None:
        return None
    try:
        return float(parse(text))
    except ConfigError as error:
        raise ConfigError(one.under(key) for one in error.problems) from None


def _share(text: str | None) -> float | None:
    if text is None:
        return None
    match = _PERCENT.fullmatch(text.strip())
    if match is None or float(match[1]) > 100.0:
        rule = "a fill is a percentage of 0 to 100"
        raise ConfigError(Problem(rule, "such as 80%", "--avoid", show(text)))
    return float(match[1]) / 100.0


def _command(asked: Asked) -> str:
    """What makes the same page again."""
    words = ["resilver", "advise", *(Path(state).name for state in asked.states)]
    words += ["--files", str(asked.files), "--stripe", str(asked.stripe)]
    named = ("machine", "clients", "avoid", "rate", "server_rate", "router_rate", "volume")
    for key in (*named, "filesystem", "seed"):
        if (value := getattr(asked, key)) is not None:
            words += [f"--{key.replace('_', '-')}", str(value)]
    if asked.machine is not None:
        words += ["--policy", asked.policy, "--namespace", str(asked.namespace)]
    words += [word for one in asked.settings for word in ("--set", one)]
    return shlex.join(words)


def _print(found: Advice, volume: float | None) -> None:
    """The answer, then where files go and what layers carry."""
    from resilver.report import advice

    for sentence in advice.answer_sentences(found, volume):
        output().print(Text(sentence, "bold"))
    for note in found.layers.notes:
        output().print(Text(f"Note: {note}.", "dim"))
    files = advice.files_table(found)
    print_figures("Where files go", files, len(files.columns), _ROWS_SHOWN)
    print_figures("Layers, in streams that seem to share a part", advice.layers_table(found), 7)
    if last := advice.last_table(found):
        print_figures("Targets that come last or are not used", last, 3, _ROWS_SHOWN)
