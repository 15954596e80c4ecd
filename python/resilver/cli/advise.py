"""`resilver advise`: where a job's files should go, by what is busy and full now."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resilver.answer import Answer
from resilver.cli.console import say
from resilver.cli.options import overrides, page_output
from resilver.request import argument, option, rate, refuse, seconds, share, size, value_of

if TYPE_CHECKING:
    from resilver.center.routes import Routes


_RATE = rate()


@dataclass(frozen=True)
class Asked:
    """What is advised on."""

    states: tuple[str, ...] = argument(
        "STATE...",
        text="What is busy and full: two dumps of lctl get_param, HDF5 of LMT or TOKIO, lfs df, "
        "lctl dl -t, or a run folder.",
    )
    files: int = option(text="How many files the job writes.", default=MISSING)
    stripe: int = option(metavar="K", text="Over how many targets each is striped.", default=1)
    machine: str | None = option(
        metavar="MACHINE",
        text="The machine whose nodes write, by routers of their own: a file, or titan.",
    )
    clients: str | None = option(
        metavar="FILE|random:N|job:N@x,y,z",
        text="The nodes that write. Default: all of the machine's.",
    )
    policy: str = option(
        metavar="POLICY",
        text="Which router serves whom, as resilver route has it.",
        default="fine_grained",
    )
    avoid: str | None = option(
        metavar="FILL",
        text="Use no target that is fuller, such as 80%.",
        quantity=share("80%"),
    )
    rate: str | None = option(
        text="What a target moves by itself, such as '500 MB/s'.",
        quantity=_RATE,
    )
    server_rate: str | None = option(
        text="The same of a server. Default: as its targets.",
        quantity=_RATE,
    )
    router_rate: str | None = option(
        text="The same of a router. Default: as targets behind it.",
        quantity=_RATE,
    )
    volume: str | None = option(
        text="What the job writes in all, such as '2 TB'.",
        quantity=size("2 TB"),
    )
    filesystem: str | None = option(
        metavar="NAME", text="Which file system, where the state has several."
    )
    namespace: int = option(
        text="Which of the machine's file systems it is, from 0.",
        default=0,
    )
    window: str = option(
        text="Average over this end of a series.",
        default="60 s",
        quantity=seconds("60 s"),
    )
    seed: int | None = option(
        text="Draw the order of equal targets, such as by the job's number, so that jobs that ask "
        "at once get different ones.",
    )
    settings: tuple[str, ...] = overrides("the machine file", "fine_grained.zone=6")
    name: str = option(
        metavar="NAME",
        text="What files are called in lines of lfs; {} is a file's number.",
        default="file.{}",
    )
    format: Literal["table", "json", "lfs"] = option(
        text="A table, JSON, or a line of lfs setstripe a file.",
        default="table",
    )
    page: Path | None = page_output()


def advise(asked: Asked, as_json: bool = False) -> Answer:
    """Recommend the targets for a job's files, by current load and fill.

    The gain is over the file system's own round robin.

    Exits with 1 if no target is left, as where all are avoided.

    Examples:

    resilver advise before.txt after.txt --files 128

    resilver advise lmt.h5 df.txt --files 64 --stripe 4 --avoid 80% --format lfs

    resilver advise lmt.h5 --files 1008 --machine titan --clients random:1008 -o advice.html
    """
    from resilver.center import advise as perform
    from resilver.center import read_state
    from resilver.report.advice import advice_answer, lfs_lines

    volume = value_of(asked, "volume")
    advice = perform(
        read_state(asked.states, value_of(asked, "window") or 0.0),
        files=asked.files,
        stripe=asked.stripe,
        rate=value_of(asked, "rate"),
        server_rate=value_of(asked, "server_rate"),
        router_rate=value_of(asked, "router_rate"),
        machine=_routes(asked),
        clients=asked.clients,
        avoid=value_of(asked, "avoid"),
        filesystem=asked.filesystem,
        namespace=asked.namespace,
        seed=asked.seed,
    )
    if advice.layers.rate is None:
        rule = "how long that takes depends on what a target moves by itself"
        refuse(asked, ("volume",), rule, "add --rate")
    answer = advice_answer(advice, volume)
    if asked.format != "lfs" or as_json:
        return answer
    lines = lfs_lines(advice, asked.name)
    for note in answer.notes:
        say(f"note: {note}")
    return replace(answer, text="\n".join([*lines, ""]))


def _routes(asked: Asked) -> Routes | None:
    from resilver.center import MachineFile, machine, route

    if asked.machine is None:
        refuse(asked, ("settings", "router_rate"), "it is of a machine", "add --machine")
        return None
    return route(machine(MachineFile.load(asked.machine, asked.settings)), asked.policy)
