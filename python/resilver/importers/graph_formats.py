"""The three formats of a graph's file, each read into the same vertices and edges."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, Problem, show
from resilver.text import parse_json, refuse
from resilver.units import BytesPerSecond

PARALLEL_MAX = 4096
"""The most parallel links that one entry may stand for."""

NAME_LENGTH_MAX = 200
"""The longest name of a node."""


@dataclass(frozen=True)
class Vertex:
    """A node of a file.

    Args:
        name: Its name.
        place: Where it stands in the file, for messages.
        kind: What it is, in lower case, or None where the file does not say.
        position: Its x and y, or None.
    """

    name: str
    place: str
    kind: str | None = None
    position: tuple[float, float] | None = None


@dataclass(frozen=True)
class Edge:
    """An edge of a file.

    Args:
        source: The name of one end.
        target: The name of the other.
        place: Where it stands in the file, for messages.
        rate: Its rate in B/s, or None where the file does not say.
        count: How many links it stands for.
    """

    source: str
    target: str
    place: str
    rate: float | None = None
    count: int = 1


@dataclass(frozen=True)
class RawGraph:
    """The nodes and edges of a file, in its order."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    is_directed: bool


def read_raw(text: str, path: Path) -> RawGraph:
    """The nodes and edges of a file in any of the formats.

    Returns:
        What it holds; every edge joins two different nodes that are there.

    Raises:
        ConfigError: It is not what it seems to be.
    """
    first = text.lstrip()[:1]
    if first == "<":
        return _graphml(text, path)
    if first in ("{", "["):
        return _json(text, path)
    return _edge_list(text, path)


def _edge_list(text: str, path: Path) -> RawGraph:
    """Two names a line, separated by blanks or a comma, and perhaps a rate; # begins a comment."""
    vertices: dict[str, Vertex] = {}
    edges: list[Edge] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        place = f"{path}, line {number}"
        names = [part for part in re.split(r"\s*,\s*|\s+", content, maxsplit=2) if part]
        if not edges and [name.casefold() for name in names[:2]] in _HEADERS:
            continue
        if len(names) < 2:
            refuse(place, "a line of an edge list has the names of two nodes", 'write "a b"')
        source, target, *rest = names
        rate = _rate(rest[0], place) if rest and rest[0] not in ("{}", ",") else None
        for name in (source, target):
            vertices.setdefault(name, Vertex(_name(name, place), place))
        edges.append(_edge(source, target, place, rate, 1))
    return RawGraph(tuple(vertices.values()), tuple(edges), is_directed=False)


_HEADERS = (["source", "target"], ["from", "to"])
"""First lines that name columns rather than nodes."""


def _json(text: str, path: Path) -> RawGraph:
    """Node-link JSON: nodes with an id, links (or edges) with a source and a target."""
    document = parse_json(text, path)
    form = '{ "nodes": [{ "id": "a" }], "links": [{ "source": "a", "target": "b" }] }'
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        refuse(path, "a graph in JSON is an object with a list of nodes", f"write {form}")
    key = "links" if "links" in document else "edges"
    if not isinstance(document.get(key), list):
        refuse(path, "a graph in JSON has a list of links", f"write {form}")
    vertices: dict[str, Vertex] = {}
    for index, node in enumerate(document["nodes"]):
        place = f"{path}: nodes[{index}]"
        if not isinstance(node, dict) or "id" not in node:
            refuse(place, "a node is an object with an id", 'write { "id": "a" }')
        name = _name(node["id"], place)
        if name in vertices:
            refuse(place, f'there is a node "{name}" already', "give every node an id of its own")
        vertices[name] = _vertex(name, node, place)
    edges = []
    for index, link in enumerate(document[key]):
        place = f"{path}: {key}[{index}]"
        if not isinstance(link, dict) or not {"source", "target"} <= set(link):
            rule = "a link is an object with a source and a target"
            refuse(place, rule, 'write { "source": "a", "target": "b" }')
        source, target = (_name(link[end], place) for end in ("source", "target"))
        for name in (source, target):
            if name not in vertices:
                refuse(
                    place, f'there is no node "{name}"', "add it to the nodes, or correct its id"
                )
        edges.append(_edge_of(source, target, link, place))
    return RawGraph(tuple(vertices.values()), tuple(edges), document.get("directed") is True)


def _graphml(text: str, path: Path) -> RawGraph:
    """GraphML; attributes have the names of the JSON format's keys."""
    import networkx

    _check_graphml(text, path)
    try:
        graph: Any = networkx.parse_graphml(text, force_multigraph=True)
    except (networkx.NetworkXError, ValueError, KeyError, TypeError, AttributeError) as error:
        refuse(path, f"not usable GraphML: {error}", "write it with networkx, yEd or igraph")
    vertices: dict[str, Vertex] = {}
    for node, attributes in graph.nodes(data=True):
        place = f"{path}: node {str(node)[:40]}"
        name = _name(node, place)
        vertices[name] = _vertex(name, attributes, place)
    edges = []
    for source, target, attributes in graph.edges(data=True):
        place = f"{path}: edge {str(source)[:40]} to {str(target)[:40]}"
        edges.append(_edge_of(_name(source, place), _name(target, place), attributes, place))
    return RawGraph(tuple(vertices.values()), tuple(edges), graph.is_directed())


def _check_graphml(text: str, path: Path) -> None:
    """Refuse what the reader would silently complete: edges without ends, or to no node."""
    import xml.etree.ElementTree as ElementTree

    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        what = str(error).partition(":")[0]
        raise ConfigError(
            f"not valid XML: {what}", place=f"{path}, line {line}, column {column + 1}"
        ) from None
    except ValueError as error:  # A declared encoding that Python does not know.
        refuse(path, f"not valid XML: {error}", "save it as UTF-8")
    nodes = [element for element in root.iter() if element.tag.rpartition("}")[2] == "node"]
    declared = {element.get("id") for element in nodes}
    if len(declared) < len(nodes) or None in declared:
        refuse(path, "two nodes have one id, or a node has none", "give every node its own")
    edges = (element for element in root.iter() if element.tag.rpartition("}")[2] == "edge")
    for index, element in enumerate(edges, 1):
        for end in ("source", "target"):
            name = element.get(end)
            if name not in declared:
                written = "it is missing" if name is None else f'there is no node "{name[:40]}"'
                refuse(f"{path}: edge {index}: {end}", written, "name a node that is declared")


def _vertex(name: str, attributes: Mapping[str, Any], place: str) -> Vertex:
    kind = attributes.get("kind")
    if kind is not None and not isinstance(kind, str):
        refuse(f"{place}: kind = {show(kind)}", "a kind is text", 'write "host" or "switch"')
    position = None
    for across, up in (("x", "y"), ("Longitude", "Latitude"), ("longitude", "latitude")):
        if across in attributes and up in attributes:
            position = _number(attributes, across, place), _number(attributes, up, place)
            break
    return Vertex(name, place, kind.strip().casefold() if kind else None, position)


def _edge_of(source: str, target: str, attributes: Mapping[str, Any], place: str) -> Edge:
    count = attributes.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= PARALLEL_MAX:
        rule = f"an entry stands for 1 to {PARALLEL_MAX} parallel links"
        refuse(f"{place}: count = {show(count)}", rule)
    rate = attributes.get("rate")
    return _edge(source, target, place, None if rate is None else _rate(rate, place), count)


def _edge(source: str, target: str, place: str, rate: float | None, count: int) -> Edge:
    if source == target:
        refuse(place, f'"{source}" is linked to itself', "a link joins two nodes; remove it")
    return Edge(source, target, place, rate, count)


def _name(value: object, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        refuse(f"{place}: {show(value)}", "a node's name is text or a whole number")
    name = show(value) if isinstance(value, int) else value.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX or not name.isprintable():
        rule = f"a node's name has 1 to {NAME_LENGTH_MAX} printable characters"
        refuse(f"{place}: {show(value)}", rule)
    return name


def _number(attributes: Mapping[str, Any], key: str, place: str) -> float:
    value = attributes[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        refuse(f"{place}: {key} = {show(value)}", "a place is a finite number")
    return float(value)


def _rate(value: object, place: str) -> float:
    try:
        rate = BytesPerSecond.parse(value)
    except ConfigError as error:
        raise ConfigError(
            Problem(problem.rule, problem.remedy, place=f"{place}: rate = {show(value)}")
            for problem in error.problems
        ) from None
    if rate <= 0:
        refuse(f"{place}: rate = {show(value)}", "a link's rate is above zero")
    return float(rate)
