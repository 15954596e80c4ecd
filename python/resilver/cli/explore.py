"""`resilver explore`: a page that computes, of a study or of a real cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from resilver.cli.command import argument, option
from resilver.cli.console import say
from resilver.cli.options import Quiet
from resilver.cli.saving import check_page, keep_inputs
from resilver.errors import ConfigError, Problem, show

_STUDY = ".toml"
_OF_CLUSTERS = ("load", "network", "devices", "release", "fill", "horizon")


@dataclass(frozen=True)
class Asked:
    """What a page is made of."""

    source: Path = argument(
        "STUDY.toml|BUNDLE",
        text="A study file; or a real Ceph cluster: a `ceph report`, or a folder or an archive of "
        "what its commands print.",
    )
    page: Path = option(
        "--output", "-o", metavar="FILE.html", text="Write the page there.",
        default=Path("explore.html"), show_default=True,
    )  # fmt: skip
    load: tuple[str, ...] = option(
        "--load",
        metavar="LOAD",
        text="What clients ask of a pool of the cluster: 'rbd: 500 reads/s of 16 KiB'.",
        default=(),
    )
    network: str = option(
        "--network", metavar="NETWORK", text="The network of a host of the cluster.", default=""
    )
    devices: tuple[str, ...] = option(
        "--device",
        metavar="[CLASS=]NAME",
        text="The device of the cluster's OSDs, or of those of a class, of the catalog.",
        default=(),
    )
    release: str = option(
        "--release", metavar="RELEASE", text="The release whose defaults hold.", default=""
    )
    fill: str = option(
        "--fill", metavar="SHARE", text="How full all OSDs are together, such as 80%.", default=""
    )
    horizon: str = option(
        "--horizon",
        metavar="TIME",
        text="How long a cluster is followed at the most.",
        default="30 d",
        show_default=True,
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Replace a key of the study, such as cluster.servers=64.",
        default=(),
    )
    seed: int | None = option(
        "--seed", metavar="N", min=0, text="The seed of a study's run; by default its first."
    )
    serve: bool = option(
        "--serve",
        text="Show the page from this machine, to this machine alone, and compute on the native "
        "core: for systems too large for a browser. Ctrl-C ends it.",
        default=False,
    )
    port: int = option(
        "--port",
        metavar="N",
        text="The port of --serve; by default any that is free.",
        default=0,
    )


def explore(asked: Asked, quiet: Quiet = False) -> int:
    """Write one offline page that computes: fail parts of a system by a click and see how it heals.

    The page holds the system and the core itself. Whoever opens it can fail, stop or drain any
    part, at any time, change devices, network and settings, compare two scenarios, rank every part
    by harm, and take the command along that gives the same answer. It needs no installation and no
    network, and nothing leaves the machine.

    Examples:

    resilver explore bundle.tar.zst

    resilver explore study.toml -o study.html

    resilver explore bundle.tar.zst --serve
    """
    if asked.port and not asked.serve:
        rule = "the port is one of a server"
        raise ConfigError(Problem(rule, "add --serve", "--port", show(asked.port)))
    if asked.serve:
        _serve(asked)
    keep_inputs(asked.page, [asked.source])
    check_page(asked.page)
    document = _document(asked)
    from resilver.explore.page import explore_page
    from resilver.report.document import write_page

    write_page(explore_page(document), asked.page, "page")
    if not quiet:
        say(f"wrote {asked.page}")
    return 0


def _serve(asked: Asked) -> NoReturn:
    """Serve the page instead of writing it, until Ctrl-C."""
    document = _document(asked)
    from resilver.explore.page import explore_page
    from resilver.explore.serve import serve

    def page(token: str, path: str) -> str:
        return explore_page(document, {"token": token, "path": path})

    serve(page, asked.port, say)


def _document(asked: Asked) -> Mapping[str, Any]:
    if asked.source.suffix == _STUDY:
        return _of_study(asked)
    if asked.settings or asked.seed is not None:
        option, value = ("--set", asked.settings[0]) if asked.settings else ("--seed", asked.seed)
        rule = "it is one of a study"
        raise ConfigError(Problem(rule, "leave it out", option, show(str(value))))
    from resilver.explore.cluster import cluster_document
    from resilver.whatif.asking import Asked as AskedOfCluster
    from resilver.whatif.cluster import Given
    from resilver.whatif.perform import read_bundle

    given = Given(asked.release, asked.devices, asked.network, asked.fill)
    of_cluster = AskedOfCluster(given, asked.load, asked.horizon)
    report = read_bundle(asked.source)
    return cluster_document(report, asked.source.name, of_cluster).to_json()


def _of_study(asked: Asked) -> Mapping[str, Any]:
    for one in fields(Asked):
        if one.name in _OF_CLUSTERS and getattr(asked, one.name) != one.default:
            name, value = one.metadata["names"][0], show(str(getattr(asked, one.name)))
            raise ConfigError(
                Problem("it is one of a cluster's bundle", "state it in the study", name, value)
            )
    from resilver.explore.study import study_document

    return study_document(asked.source, asked.seed, asked.settings).to_json()
