"""`resilver explore`: a page that computes, of a study or of a real cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from resilver.cli.console import say
from resilver.cli.options import Quiet
from resilver.cli.saving import check_output
from resilver.errors import ConfigError, show
from resilver.request import argument, names_of, option
from resilver.whatif.options import ClusterRequest, Request

_STUDY = ".toml"


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
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Replace a key of the study, such as cluster.servers=64.",
        default=(),
    )
    seed: int | None = option(min=0, text="The seed of a study's run; by default its first.")
    serve: bool = option(
        text="Show the page from this machine, to this machine alone, and compute on the native "
        "core: for systems too large for a browser. Ctrl-C ends it.",
        default=False,
    )
    port: int = option(
        text="The port of --serve; by default any that is free.",
        default=0,
    )


def explore(asked: Asked, cluster: ClusterRequest, quiet: Quiet = False) -> int:
    """Write one offline page that simulates: fail parts with a click and watch them heal.

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
        raise ConfigError(rule, "add --serve", "--port", show(asked.port))
    if asked.serve:
        _serve(asked, cluster)
    check_output(asked.page, reads=[asked.source])
    document = _document(asked, cluster)
    from resilver.answer.document import write_page
    from resilver.explore.page import explore_page

    write_page(explore_page(document), asked.page, "page")
    if not quiet:
        say(f"wrote {asked.page}")
    return 0


def _serve(asked: Asked, cluster: ClusterRequest) -> NoReturn:
    """Serve the page instead of writing it, until Ctrl-C."""
    document = _document(asked, cluster)
    from resilver.explore.page import explore_page
    from resilver.explore.serve import serve

    def page(token: str, path: str) -> str:
        return explore_page(document, {"token": token, "path": path})

    serve(page, asked.port, say)


def _document(asked: Asked, cluster: ClusterRequest) -> Mapping[str, Any]:
    if asked.source.suffix == _STUDY:
        return _of_study(asked, cluster)
    if asked.settings or asked.seed is not None:
        option, value = ("--set", asked.settings[0]) if asked.settings else ("--seed", asked.seed)
        rule = "it is one of a study"
        raise ConfigError(rule, "leave it out", option, show(str(value)))
    from resilver.explore.cluster import cluster_document
    from resilver.whatif.perform import read_bundle

    report = read_bundle(asked.source)
    return cluster_document(report, asked.source.name, Request(**asdict(cluster))).to_json()


def _of_study(asked: Asked, cluster: ClusterRequest) -> Mapping[str, Any]:
    for one in fields(cluster):
        given = getattr(cluster, one.name)
        if given != one.default:
            text = given[0] if isinstance(given, tuple) else str(given)
            name, value = names_of(one)[0], show(text)
            raise ConfigError(
                "it is one of a cluster's bundle", "state it in the study", name, value
            )
    from resilver.explore.study import study_document

    return study_document(asked.source, asked.seed, asked.settings).to_json()
