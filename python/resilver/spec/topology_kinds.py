"""The kinds of topology that a text can name, what each needs, and how many nodes it has."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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
        rule = f"this topology has {nodes:,} nodes, and one has at most {NODES_MAX:,}"
        raise words.refuse(rule, "make it smaller")
    return nodes


def _inside(words: Words, places: int) -> int:
    """How many routers there are that take the places of hosts, of which one must be left."""
    routers = words.number("routers", 0, least=0)
    if routers >= places:
        rule = f"{routers} routers take the places of hosts, and there are {places:,} places"
        raise words.refuse(rule, f"use at most {places - 1:,} routers")
    return routers


def _sides(words: Words) -> list[int]:
    if words.size is None:
        raise words.refuse(f"a {words.grammar.name} needs its sides")
    sides = words.numbers(words.size, "sides", separator="x", least=2)
    _limited(words, math.prod(sides))
    return sides


def _torus(words: Words) -> Built:
    sides = _sides(words)
    nodes = math.prod(sides)
    routers = _inside(words, nodes)
    content = {"kind": "torus", "sides": sides, "routers": routers, "wiring": "inside"}
    return Built(content, nodes, nodes - routers, routers)


def _mesh(words: Words) -> Built:
    sides = _sides(words)
    nodes = math.prod(sides)
    wiring = words.choice("wiring")
    routers = words.number("routers", 0, least=0)
    if wiring is None:
        # Routers beside the grid leave every place of it to a host.
        wiring = "corner_sides" if len(sides) == 2 and routers else "inside"
    content = {"kind": "mesh", "sides": sides, "routers": routers, "wiring": wiring}
    if wiring == "inside":
        routers = _inside(words, nodes)
        return Built(content, nodes, nodes - routers, routers)
    if len(sides) != 2:
        rule = f"the wiring {wiring} needs a mesh of 2 sides, and this has {len(sides)}"
        raise words.refuse(rule, "use wiring inside, or two sides such as 64x64")
    if not routers:
        raise words.refuse(f"the wiring {wiring} needs routers", "add routers 8")
    step = {"corner_sides": 4, "opposite_sides": 2, "perimeter": 1}[wiring]
    if routers % step:
        rule = f"the wiring {wiring} needs a multiple of {step} routers, and these are {routers}"
        more = routers - routers % step + step
        raise words.refuse(rule, f"use routers {more}, wiring inside or wiring perimeter")
    rim = 2 * sum(sides) - 4
    if wiring == "perimeter" and routers > rim:
        rule = f"{routers} routers share the perimeter, which has {rim} nodes"
        raise words.refuse(rule, f"use at most {rim} routers")
    return Built(content, _limited(words, nodes + routers), nodes, routers)


def _hypercube(words: Words) -> Built:
    if words.size is None:
        raise words.refuse("a hypercube needs its dimensions")
    dimensions = words.numbers(words.size, "dimensions", count=1)[0]
    if dimensions > 24:
        rule = f"this hypercube has 2^{dimensions} nodes, and a topology has at most 2^24"
        raise words.refuse(rule, "use at most 24 dimensions")
    routers = _inside(words, 2**dimensions)
    content = {"kind": "hypercube", "dimensions": dimensions, "routers": routers}
    return Built(content, 2**dimensions, 2**dimensions - routers, routers)


def _butterfly(words: Words) -> Built:
    if words.size is None or "^" not in words.size:
        raise words.refuse("a butterfly needs its radix and its levels, as in 4^4")
    radix, levels = words.numbers(words.size, "radix and levels", separator="^", count=2)
    if radix < 2:
        raise words.refuse(f"a butterfly's radix is at least 2, and this is {radix}", "use 4^4")
    if levels > 24:
        raise words.refuse(f"{levels} levels make more nodes than fit", "use at most 24 levels")
    each = words.number("hosts")
    rows = radix**levels
    nodes = _limited(words, rows * (1 + levels + each))
    content = {"kind": "butterfly", "radix": radix, "levels": levels, "hosts_per_switch": each}
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
    sizes = words.numbers(words.size, "sizes")
    if len(sizes) < 2:
        raise words.refuse("a fat tree has at least two levels, hosts and switches")
    if "up" not in words.options:
        raise words.refuse("a fat tree of stated sizes needs the links up from a node of each")
    uplinks = words.numbers(words.options["up"], "up", count=len(sizes) - 1)
    _limited(words, sum(sizes))
    for lower, upper, up in zip(sizes, sizes[1:], uplinks, strict=False):
        _check_uplinks(words, lower, upper, up)
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
    return Built(content, sum(sizes), sizes[0], sizes[at] if at > 0 else 0)


def _check_uplinks(words: Words, lower: int, upper: int, up: int) -> None:
    """Nodes above are joined evenly: each to all below, or each to the nodes of its group."""
    if up >= upper:
        if up % upper:
            rule = f"{up} links up from a node do not divide evenly over {upper} nodes above"
            raise words.refuse(rule, f"use a multiple of {upper}, or a divisor of it")
        return
    if upper % up:
        rule = f"{upper} nodes do not divide into groups of {up}, the links up from a node below"
        raise words.refuse(rule, f"use a divisor of {upper}")
    groups = upper // up
    if lower % groups:
        rule = f"{lower} nodes do not divide evenly over {groups} groups of {up} nodes above"
        raise words.refuse(rule, f"use a multiple of {groups} nodes")


def _folded_clos(words: Words) -> Built:
    """The classic fat tree of equal switches: a share of an edge switch's ports leads to hosts."""
    levels, ports = words.number("levels"), words.number("ports", least=2)
    taper = words.number("taper", 1)
    if levels not in (2, 3):
        raise words.refuse(f"such a fat tree has 2 or 3 levels, and this has {levels}")
    if ports % (taper + 1):
        rule = f"an edge switch has {taper} ports down for each up, and {ports} do not divide so"
        raise words.refuse(rule, f"use a multiple of {taper + 1} ports")
    if levels == 3 and ports % 2:
        rule = f"with 3 levels half the ports of a middle switch lead up, and {ports} is odd"
        raise words.refuse(rule, "use an even number of ports")
    up = ports // (taper + 1)
    if levels == 2:
        edges, above = ports, up
    else:
        # A pod has ports/2 edge switches and `up` middle ones; each of a middle one's ports/2
        # links up leads to a core switch of its own, which all pods share.
        edges, above = ports * ports // 2, ports * up + up * ports // 2
    places = edges * (ports - up)
    nodes = _limited(words, places + edges + above)
    routers = _inside(words, places)
    content = {
        "kind": "fat_tree",
        "levels": levels,
        "ports": ports,
        "taper": taper,
        "routers": routers,
    }
    return Built(content, nodes, places - routers, routers)


def _leaf_spine(words: Words) -> Built:
    if words.size is None:
        raise words.refuse("a leaf spine needs its leaves and spines, as in 16x4")
    leaves, spines = words.numbers(words.size, "leaves and spines", separator="x", count=2)
    each, links = words.number("hosts"), words.number("links", 1)
    entries = words.number("entries", 0)
    nodes = _limited(words, leaves * each + leaves + spines * (1 + entries))
    content = {
        "kind": "leaf_spine",
        "leaves": leaves,
        "spines": spines,
        "hosts_per_leaf": each,
        "links": links,
        "routers": 0,
    }
    if entries:
        if words.number("routers", 0, least=0):
            rule = "clients enter at spines, which are entries, or at places of hosts"
            raise words.refuse(rule, 'use "entries" or "routers" alone')
        # The key is left out where there are none, so that other runs keep their keys.
        content["entries_per_spine"] = entries
        return Built(content, nodes, leaves * each, spines * entries)
    content["routers"] = routers = _inside(words, leaves * each)
    return Built(content, nodes, leaves * each - routers, routers)


def _dragonfly(words: Words) -> Built:
    if words.size is None:
        raise words.refuse("a dragonfly needs its groups and the switches of each, as in 9x4")
    groups, switches = words.numbers(words.size, "groups and switches", separator="x", count=2)
    if groups < 2:
        raise words.refuse("a dragonfly has at least 2 groups")
    each, links = words.number("hosts"), words.number("global links")
    nodes = _limited(words, groups * switches * (each + 1))
    if switches * links < groups - 1:
        rule = (
            f"every two groups are joined, and a group of {switches} switches with {links} global "
            f"links each reaches {switches * links} of the {groups - 1} others"
        )
        raise words.refuse(rule, "use more global links or switches, or fewer groups")
    if switches * links % (groups - 1):
        rule = (
            f"every two groups are joined alike, and the {switches * links} global links of a "
            f"group do not divide evenly over the {groups - 1} others"
        )
        raise words.refuse(rule, f"use {groups - 1} global links a group, or a multiple of it")
    routers = _inside(words, groups * switches * each)
    content = {
        "kind": "dragonfly",
        "groups": groups,
        "routers_per_group": switches,
        "hosts_per_router": each,
        "global_links": links,
        "routers": routers,
    }
    return Built(content, nodes, groups * switches * each - routers, routers)


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
        "butterfly <radix>^<levels> hosts <n per switch>",
        "butterfly 4^4 hosts 16",
        "levels of switches between routers and hosts, with one way between each two",
        size="radix and levels",
        options=_HOSTS,
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
