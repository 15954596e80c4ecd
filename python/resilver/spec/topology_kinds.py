"""The kinds of topology that a text can name, what each needs, and how many nodes it has.

How sizes must fit each other the core says, which builds each topology before anything runs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from resilver.spec.topology_words import Grammar, Words

NODES_MAX = 2**24
"""The most nodes of a topology; a 24-dimensional hypercube has as many."""


@dataclass(frozen=True)
class Built:
    """A topology as the core takes it, with its counts.

    Args:
        content: The kind and its parameters, JSON-able.
        nodes: Everything with ports.
        hosts: Nodes with a device.
        routers: Nodes where clients enter.
    """

    content: dict[str, Any]
    nodes: int
    hosts: int
    routers: int


@dataclass(frozen=True)
class Kind:
    """One kind of topology.

    Args:
        grammar: How its text is written.
        build: From the words of a text to the topology.
        about: What it is, in a clause.
    """

    grammar: Grammar
    build: Callable[[Words], Built]
    about: str


WIRINGS = ("inside", "corner sides", "opposite sides", "perimeter")


def _limited(words: Words, nodes: int) -> int:
    if nodes > NODES_MAX:
        count = f"{nodes:,}" if nodes < 2**40 else "more than 2^40"
        rule = f"this topology has {count} nodes, and one has at most {NODES_MAX:,}"
        raise words.refuse(rule, "make it smaller")
    return nodes


def _inside(words: Words, content: dict[str, Any], nodes: int, places: int) -> Built:
    """A topology whose routers take the places of hosts, of which one must be left."""
    routers = words.number("routers", 0, least=0)
    if routers >= places:
        rule = f"{routers} routers take the places of hosts, and there are {places:,} places"
        raise words.refuse(rule, f"use at most {places - 1:,} routers")
    return Built({**content, "routers": routers}, _limited(words, nodes), places - routers, routers)


def _sizes(words: Words, separator: str, **limits: Any) -> list[int]:
    if words.size is None:
        raise words.refuse(f"a {words.grammar.name} needs its {words.grammar.size}")
    return words.numbers(words.size, words.grammar.size, separator=separator, **limits)


def _torus(words: Words) -> Built:
    sides = _sizes(words, "x", least=2)
    nodes = math.prod(sides)
    content = {"kind": "torus", "sides": sides, "routers": 0, "wiring": "inside"}
    return _inside(words, content, nodes, nodes)


def _torus_of_trees(words: Words) -> Built:
    sides = _sizes(words, "x", least=2)
    if "down" not in words.options:
        raise words.refuse("a torus of trees needs its links down from a node of each level")
    down = words.numbers(words.options["down"], "down")
    levels = list(accumulate(down, operator.mul, initial=math.prod(sides)))
    content = {"kind": "torus_of_trees", "sides": sides, "down": down}
    return _inside(words, content, sum(levels), levels[-1])


def _mesh(words: Words) -> Built:
    sides = _sizes(words, "x", least=2)
    nodes = math.prod(sides)
    wiring = words.choice("wiring")
    routers = words.number("routers", 0, least=0)
    if wiring is None:
        # Routers beside the grid leave every place of it to a host.
        wiring = "corner_sides" if len(sides) == 2 and routers else "inside"
    content = {"kind": "mesh", "sides": sides, "routers": routers, "wiring": wiring}
    if wiring == "inside":
        return _inside(words, content, nodes, nodes)
    return Built(content, _limited(words, nodes + routers), nodes, routers)


def _hypercube(words: Words) -> Built:
    (dimensions,) = _sizes(words, ",", count=1)
    nodes = 2 ** min(dimensions, 64)
    return _inside(words, {"kind": "hypercube", "dimensions": dimensions}, nodes, nodes)


def _butterfly(words: Words) -> Built:
    radix, levels = _sizes(words, "^", count=2)
    each = words.number("hosts")
    rows = radix ** min(levels, 64)
    nodes = _limited(words, rows * (1 + levels + each))
    content = {"kind": "butterfly", "radix": radix, "levels": levels, "hosts_per_switch": each}
    if spares := words.number("spares", 0, least=0):
        # The key is left out where there are none, so that other runs keep their keys.
        content["spares_per_switch"] = spares
    return Built(content, nodes, rows * each, rows)


def _fat_tree(words: Words) -> Built:
    given = set(words.options)
    if words.size is None:
        if stray := given & {"up", "routers at"}:
            rule = f'"{min(stray)}" belongs to a fat tree of stated sizes, as 4096,128,64,32'
            raise words.refuse(rule, "add the sizes of its levels, or use levels and ports alone")
        if not given:
            raise words.refuse("a fat tree needs its sizes, or its levels and ports")
        return _folded_clos(words)
    if stray := given & {"levels", "ports", "taper", "routers"}:
        rule = f'"{min(stray)}" belongs to a fat tree of levels and ports, and this one has sizes'
        example = "fat tree levels 3 ports 48"
        raise words.refuse(rule, f'use "routers at", or write it as "{example}"')
    sizes = _sizes(words, ",")
    if "up" not in words.options:
        raise words.refuse("a fat tree of stated sizes needs the links up from a node of each")
    uplinks = words.numbers(words.options["up"], "up", count=len(sizes) - 1)
    at = words.number("routers at", -1)
    if at >= len(sizes):
        rule = f"routers at {at}: the levels above the hosts are 1 to {len(sizes) - 1}"
        raise words.refuse(rule, "name one of them")
    content = {
        "kind": "fat_tree",
        "sizes": sizes,
        "uplinks": uplinks,
        "routers_at": at if at > 0 else None,
    }
    nodes = _limited(words, sum(sizes))
    return Built(content, nodes, sizes[0], sizes[at] if at > 0 else 0)


def _folded_clos(words: Words) -> Built:
    """The classic fat tree of equal switches: a share of an edge switch's ports leads to hosts."""
    levels, ports = words.number("levels"), words.number("ports", least=2)
    taper = words.number("taper", 1)
    up = ports // (taper + 1)
    if levels == 2:
        edges, above = ports, up
    else:
        # A pod has ports/2 edge switches and `up` middle ones; each of a middle one's ports/2
        # links up leads to a core switch of its own, which all pods share.
        edges, above = ports * ports // 2, ports * up + up * ports // 2
    places = edges * (ports - up)
    content = {"kind": "fat_tree", "levels": levels, "ports": ports, "taper": taper}
    return _inside(words, content, places + edges + above, places)


def _leaf_spine(words: Words) -> Built:
    leaves, spines = _sizes(words, "x", count=2)
    each, links = words.number("hosts"), words.number("links", 1)
    entries = words.number("entries", 0)
    nodes = leaves * each + leaves + spines * (1 + entries)
    content = {
        "kind": "leaf_spine",
        "leaves": leaves,
        "spines": spines,
        "hosts_per_leaf": each,
        "links": links,
    }
    if not entries:
        return _inside(words, content, nodes, leaves * each)
    if words.number("routers", 0, least=0):
        rule = "clients enter at spines, which are entries, or at places of hosts"
        raise words.refuse(rule, 'use "entries" or "routers" alone')
    # The key is left out where there are none, so that other runs keep their keys.
    content |= {"routers": 0, "entries_per_spine": entries}
    return Built(content, _limited(words, nodes), leaves * each, spines * entries)


def _dragonfly(words: Words) -> Built:
    groups, switches = _sizes(words, "x", count=2)
    each, links = words.number("hosts"), words.number("global links")
    content = {
        "kind": "dragonfly",
        "groups": groups,
        "routers_per_group": switches,
        "hosts_per_router": each,
        "global_links": links,
    }
    places = groups * switches * each
    return _inside(words, content, places + groups * switches, places)


def oversubscription(content: dict[str, Any]) -> list[float] | None:
    """The links down to the links up of a switch at each level of a tree, the lowest first.

    Args:
        content: What `resilver.spec.topology.TopologySpec.content` gives.

    Returns:
        The ratios, 1 where a level passes all it gets; None where the network is no tree.

    >>> oversubscription({"kind": "leaf_spine", "hosts_per_leaf": 20, "spines": 4, "links": 1})
    [5.0]
    """
    if content["kind"] == "leaf_spine":
        return [content["hosts_per_leaf"] / (content["spines"] * content["links"])]
    if content["kind"] != "fat_tree":
        return None
    if "ports" in content:
        # Above its edge switches such a tree has as many links up as down.
        return [float(content["taper"])] + [1.0] * (content["levels"] - 2)
    sizes, uplinks = content["sizes"], content["uplinks"]
    return [
        sizes[level - 1] * uplinks[level - 1] / (sizes[level] * uplinks[level])
        for level in range(1, len(uplinks))
    ]


def _kind(
    build: Callable[[Words], Built],
    form: str,
    example: str,
    about: str,
    *,
    size: str = "",
    options: dict[str, str],
) -> Kind:
    name = form.partition(" <")[0]
    choices = {"wiring": WIRINGS} if "wiring" in options else {}
    return Kind(Grammar(name, form, example, size, options, choices), build, about)


_ROUTERS = {"routers": "routers"}
_HOSTS = {"hosts": "hosts", "hosts per switch": "hosts", "hosts per leaf": "hosts"}

KINDS: tuple[Kind, ...] = (
    _kind(
        _torus,
        "torus <sides> [routers <n>]",
        "torus 16x16x16 routers 128",
        "a grid whose sides close into rings",
        size="sides",
        options=_ROUTERS,
    ),
    _kind(
        _torus_of_trees,
        "torus of trees <sides> down <links of each level> [routers <n>]",
        "torus of trees 4x4 down 4,8 routers 16",
        "a grid whose sides close into rings, each node of which is the root of a tree",
        size="sides",
        options={**_ROUTERS, "down": "down"},
    ),
    _kind(
        _mesh,
        "mesh <sides> [routers <n>] [wiring inside|corner_sides|opposite_sides|perimeter]",
        "mesh 64x64 routers 8",
        "a grid with open sides",
        size="sides",
        options={**_ROUTERS, "wiring": "wiring"},
    ),
    _kind(
        _hypercube,
        "hypercube <dimensions> [routers <n>]",
        "hypercube 12 routers 128",
        "a grid of side two in every dimension",
        size="dimensions",
        options=_ROUTERS,
    ),
    _kind(
        _butterfly,
        "butterfly <radix>^<levels> hosts <n per switch> [spares <n per switch>]",
        "butterfly 4^4 hosts 16",
        "levels of switches between routers and hosts, with one way between each two",
        size="radix and levels",
        options={**_HOSTS, "spares": "spares", "spares per switch": "spares"},
    ),
    _kind(
        _fat_tree,
        "fat tree <sizes> up <links up of each level> [routers at <level>], or "
        "fat tree levels <2|3> ports <n> [taper <n>] [routers <n>]",
        "fat tree 4096,128,64,32 up 1,32,64 routers at 1",
        "a tree whose links thicken upwards; or of equal switches, by levels and ports",
        size="sizes",
        options={
            **_ROUTERS,
            "up": "up",
            "routers at": "routers at",
            "levels": "levels",
            "ports": "ports",
            "taper": "taper",
        },
    ),
    _kind(
        _leaf_spine,
        "leaf spine <leaves>x<spines> hosts <n per leaf> [links <n per pair>] "
        "[routers <n> | entries <n per spine>]",
        "leaf spine 16x4 hosts 20",
        "every leaf switch joined to every spine switch",
        size="leaves and spines",
        options={
            **_ROUTERS,
            **_HOSTS,
            "links": "links",
            "entries": "entries",
            "entries per spine": "entries",
        },
    ),
    _kind(
        _dragonfly,
        "dragonfly <groups>x<switches> hosts <n per switch> global links <n per switch> "
        "[routers <n>]",
        "dragonfly 9x4 hosts 2 global links 2",
        "groups of joined switches, every two groups joined",
        size="groups and switches",
        options={**_ROUTERS, **_HOSTS, "global links": "global links"},
    ),
)
