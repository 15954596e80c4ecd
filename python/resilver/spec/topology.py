"""A network's topology as one line of text, such as ``torus 16x16x16 routers 128``, or a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from resilver.errors import ConfigError, Problem, name_remedy, raise_all, show
from resilver.importers.graph import GraphFile, read_graph
from resilver.spec.section import TEXT, base_folder, either, file_path
from resilver.spec.topology_kinds import KINDS
from resilver.spec.topology_words import TEXT_LENGTH_MAX, Words, take_apart

_NAMES = {"type": "array", "items": TEXT}
TOPOLOGY_SCHEMA = either(
    {"graph": TEXT, "hosts?": _NAMES, "routers?": _NAMES},
    names=[kind.grammar.example for kind in KINDS],
)
"""The JSON schema of a study file's ``topology``."""


@dataclass(frozen=True)
class TopologySpec:
    """Which nodes there are and which links join them.

    Args:
        label: The text that it was written as.
        nodes: Everything with ports.
        hosts: Nodes with a device.
        routers: Nodes where clients enter.
        definition: The kind and its parameters, as JSON text.
        graph: The file's graph where there is one, with names, places and rates.

    >>> spec = parse_topology("torus 16x16x16 routers 128")
    >>> spec.nodes, spec.hosts, spec.routers
    (4096, 3968, 128)
    """

    label: str
    nodes: int
    hosts: int
    routers: int
    definition: str
    graph: GraphFile | None = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> str:
        """The kind, such as ``fat_tree``."""
        return str(self.content()["kind"])

    @property
    def link_rates(self) -> tuple[float, ...]:
        """The rate of each link in B/s where a graph's file states them all, else empty."""
        return self.graph.rates if self.graph is not None else ()

    def content(self) -> dict[str, Any]:
        """The kind and its parameters, as the core takes them and as a run's key has them."""
        content: dict[str, Any] = json.loads(self.definition)
        return content


def parse_topology(text: str, base: Path | None = None, routers: int | None = None) -> TopologySpec:
    """The topology that a line of text means.

    Args:
        text: A kind with its size and options; case, hyphens and underscores are free. Or
            ``graph`` and the path of a file.
        base: The folder that a file's path is relative to; default the working folder.
        routers: How many routers take places of hosts, instead of what the text says.

    Returns:
        The topology, its counts known.

    Raises:
        ConfigError: The text is none, or what it asks for cannot be built.

    >>> parse_topology("Fat-tree 4096,128,64,32 up 1,32,64 routers at 1").routers
    128
    """
    if not isinstance(text, str) or not text.strip():
        example = KINDS[0].grammar.example
        raise ConfigError("a topology is one line of text", f'write "{example}"', value=show(text))
    if len(text) > TEXT_LENGTH_MAX:
        rule = f"the text of a topology has at most {TEXT_LENGTH_MAX} characters"
        raise ConfigError(rule, "use a graph's file", value=show(text))
    first, *rest = text.split(None, 1)
    if first.casefold() == "graph":
        return _graph_text(text, rest, base or Path.cwd(), routers)
    words = take_apart(text, [kind.grammar for kind in KINDS])
    label = " ".join(text.split())
    if routers is not None:
        words = _with_routers(words, routers)
        label = f"{label} ({routers} routers)"
    kind = next(kind for kind in KINDS if kind.grammar is words.grammar)
    built = kind.build(words)
    definition = json.dumps(built.content)
    return TopologySpec(label, built.nodes, built.hosts, built.routers, definition)


def topology_of(value: object, info: ValidationInfo) -> TopologySpec:
    """The topology that a study file's ``topology`` means.

    Args:
        value: Text, ``{ graph = "file", hosts = [...], routers = [...] }`` or a `TopologySpec`.

    Raises:
        ConfigError: It means none.
    """
    if isinstance(value, TopologySpec):
        return value
    if isinstance(value, str):
        return parse_topology(value, base_folder(info))
    if not isinstance(value, dict):
        remedy = f'write "{KINDS[0].grammar.example}" or {{ graph = "network.graphml" }}'
        rule = "a topology is a line of text, or a table with a graph's file"
        raise ConfigError(rule, remedy, value=show(value))
    known = ["graph", "hosts", "routers"]
    problems = [
        Problem("there is no such key", name_remedy(key, known, "keys"), key=str(key))
        for key in value
        if key not in known
    ]
    if "graph" not in value:
        rule = "this key is required"
        problems.append(Problem(rule, 'add graph = "network.graphml"', key="graph"))
    raise_all(problems)
    path = file_path(value["graph"], info)
    hosts, routers = (_names(value.get(key), key) for key in ("hosts", "routers"))
    return graph_topology(read_graph(path, hosts=hosts, routers=routers))


def graph_topology(graph: GraphFile) -> TopologySpec:
    """The topology of a graph.

    Returns:
        The topology; node n of it is the graph's node n, and link i the graph's link i.
    """
    content: dict[str, Any] = {
        "kind": "graph",
        "nodes": len(graph.names),
        "links": [list(ends) for ends in graph.links],
        "hosts": list(graph.hosts),
        "routers": list(graph.routers),
    }
    if graph.positions is not None:
        # Reports draw the network where its file places it.
        content["positions"] = [list(place) for place in graph.positions]
    label = f"graph {graph.label}"
    counts = len(graph.names), len(graph.hosts), len(graph.routers)
    return TopologySpec(label, *counts, json.dumps(content, separators=(",", ":")), graph)


def _graph_text(text: str, rest: list[str], base: Path, routers: int | None) -> TopologySpec:
    name = rest[0].strip() if rest else ""
    if not name or "\0" in name:
        remedy = 'write "graph network.graphml"'
        raise ConfigError("a graph needs the path of its file", remedy, value=show(text))
    if routers is not None:
        rule = "a graph's routers are the nodes that its file names"
        raise ConfigError(rule, "mark nodes with kind = router there", value=show(text))
    return graph_topology(read_graph(base / Path(name).expanduser()))


def _with_routers(words: Words, routers: int) -> Words:
    """The words with another number of routers."""
    stated = words.grammar.name == "fat tree" and words.size is not None
    if "routers" not in words.grammar.options or stated:
        rule = "the routers of this topology follow from its text"
        remedy = 'use "routers at"' if stated else "leave the number of routers out"
        raise words.refuse(rule, remedy)
    return Words(words.grammar, words.text, words.size, {**words.options, "routers": str(routers)})


def _names(value: object, key: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        rule, remedy = f"{key} are names of nodes", f'write {key} = ["a", "b"]'
        raise ConfigError(rule, remedy, key=key, value=show(value))
    return tuple(value)
