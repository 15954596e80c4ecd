"""A topology's text is read whatever its case and blanks; what cannot be built says what can."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.report.graph import graph_spec
from resilver.report.topology_lines import ARC_PIECES, COLUMNS, STUB_LENGTH, lines_of, sketch
from resilver.simulate.topologies import topology
from resilver.spec.topology import TopologySpec, parse_topology, topology_of
from resilver.spec.topology_kinds import KINDS, oversubscription
from tests.build import assert_said, refused


def counts(spec: TopologySpec) -> tuple[int, int, int]:
    return spec.nodes, spec.hosts, spec.routers


@pytest.mark.parametrize(
    ("text", "nodes", "hosts", "routers"),
    [
        # The eight of the study. 256 routers, 4 levels of 256 switches, 16 hosts on each of the
        # last: 256 + 1024 + 4096.
        ("butterfly 4^4 hosts 16", 5376, 4096, 256),
        ("butterfly 4^4 hosts 16 spares 2", 5376, 4096, 256),
        # 4096 + 128 + 64 + 32.
        ("fat tree 4096,128,64,32 up 1,32,64 routers at 1", 4320, 4096, 128),
        # 2^12 positions, of which 128 are routers.
        ("hypercube 12 routers 128", 4096, 3968, 128),
        # 64 x 64 hosts, and 8 routers beside them.
        ("mesh 64x64 routers 8", 4104, 4096, 8),
        # 64^2 = 16^3 = 8^4 = 4 x 8 x 4 x 8 x 4 = 4096 positions, of which 128 are routers.
        ("torus 64x64 routers 128", 4096, 3968, 128),
        ("torus 16x16x16 routers 128", 4096, 3968, 128),
        ("torus 8x8x8x8 routers 128", 4096, 3968, 128),
        ("torus 4x8x4x8x4 routers 128", 4096, 3968, 128),
        # 48-port switches, 24 ports up: 48 pods of 24 edge switches with 24 hosts each are
        # 27,648 hosts; 48 x 24 edge, 48 x 24 middle and 24 x 24 core switches.
        ("fat tree levels 3 ports 48", 27648 + 1152 + 1152 + 576, 27648, 0),
        # Taper 2: 32 hosts and 16 links up an edge switch. 48 pods of 24 edge and 16 middle
        # switches, and 16 x 24 core switches.
        ("fat tree levels 3 ports 48 taper 2", 36864 + 1152 + 768 + 384, 36864, 0),
        # 48 edge switches with 24 hosts each, and 24 above.
        ("fat tree levels 2 ports 48", 1152 + 48 + 24, 1152, 0),
        # 16 roots, 4 switches each and 8 hosts a switch, of which 16 are routers.
        ("torus of trees 4x4 down 4,8 routers 16", 16 + 64 + 512, 496, 16),
        ("TorusOfTrees 6 down 2", 6 + 12, 12, 0),
        ("leaf spine 16x4 hosts 20", 320 + 16 + 4, 320, 0),
        # 9 groups of 4 switches with 2 hosts each.
        ("dragonfly 9x4 hosts 2 global links 2", 72 + 36, 72, 0),
        # 576 hosts, 48 switches of 48 ports, 24 entries at each of 24 spines.
        ("leaf spine 24x24 hosts 24 entries 24", 576 + 48 + 576, 576, 576),
        # Half of the spines, with as many ports each, or with all the entries of before.
        ("leaf spine 24x12 hosts 24 entries 24", 576 + 36 + 288, 576, 288),
        ("leaf_spine 24x12 hosts 24 entries per spine 48", 576 + 36 + 576, 576, 576),
    ],
)
def test_nodes_are_hosts_routers_and_what_the_structure_needs(
    text: str, nodes: int, hosts: int, routers: int
) -> None:
    """Entries take no place of a host, and routers that are added take one each."""
    spec = parse_topology(text)
    assert counts(spec) == (nodes, hosts, routers)
    if "entries" in text:
        assert spec.content()["entries_per_spine"] * spec.content()["spines"] == routers
    elif not routers:
        assert counts(parse_topology(text, routers=5)) == (nodes, hosts - 5, 5)
        assert "entries_per_spine" not in spec.content()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("torus 16x16 routers 3", "  TORUS 16 X 16,  Routers 3 "),
        ("torus 16x16", "torus 16×16"),
        ("fat tree 8,4 up 1", "Fat-Tree 8, 4 up 1"),
        ("fat tree 8,4 up 1 routers at 1", "fat_tree 8,4 routers_at 1 up 1"),
        ("fat tree levels 2 ports 4", "fattree ports 4 levels 2"),
        ("leaf spine 4x2 hosts 3", "leaf-spine 4x2 hosts-per-leaf 3"),
        ("dragonfly 9x4 hosts 2 global links 2", "dragonfly 9x4 global-links 2 hosts 2"),
        ("mesh 8x8 routers 8", "mesh 8x8 routers 8 wiring corner-sides"),
    ],
)
def test_case_blanks_hyphens_and_order_are_free(one: str, other: str) -> None:
    """Texts that mean the same have the same content, which is what a run's key has of them."""
    assert parse_topology(one).content() == parse_topology(other).content()


def test_wirings_of_a_mesh_and_routers_that_follow_from_the_text() -> None:
    """Routers stand inside the grid or beside it; beside it every place keeps its host."""
    assert counts(parse_topology("mesh 8x8 routers 8 wiring inside")) == (64, 56, 8)
    for wiring in ("corner_sides", "opposite_sides", "perimeter"):
        spec = parse_topology(f"mesh 8x8 routers 8 wiring {wiring}")
        assert counts(spec) == (72, 64, 8)
        assert spec.content()["wiring"] == wiring
    # Beside a grid of three sides there are no corners, so routers stand inside.
    assert parse_topology("mesh 4x4x4 routers 8").content()["wiring"] == "inside"
    # A butterfly's routers are its first level, a stated fat tree's a level of it.
    assert "follow from its text" in refused(parse_topology, "butterfly 4^4 hosts 16", routers=8)
    assert "follow from its text" in refused(parse_topology, "fat tree 8,4 up 1", routers=2)
    assert parse_topology("torus 4x4 routers 2", routers=3).routers == 3
    # It is the links down over the links up of a switch at each level.
    # 20 hosts a leaf over 4 x 2 links to spines.
    assert oversubscription(parse_topology("leaf spine 16x4 hosts 20 links 2").content()) == [2.5]
    # 4096 x 1 links onto 128 nodes of 32 up; 128 x 32 links onto 64 nodes of 64 up.
    study = parse_topology("fat tree 4096,128,64,32 up 1,32,64 routers at 1")
    assert oversubscription(study.content()) == [1.0, 1.0]
    tapered = parse_topology("fat tree levels 3 ports 48 taper 2")
    assert oversubscription(tapered.content()) == [2.0, 1.0]
    assert oversubscription(parse_topology("torus 4x4").content()) is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", 'write "torus'),
        ("torsu 3x3", 'did you mean "torus"? For example "torus 16x16x16'),
        ("ring of fire", 'valid kinds: "torus"'),
        ("torus", "a torus needs its sides"),
        ("torus 16x", '"16x" is not a whole number'),
        ("torus 1x3", "1 is below 2"),
        ("torus -3x3", '"-3x3" stands where'),
        ("torus 3x3 router 3", 'did you mean "routers"?'),
        ("torus 3x3 routers", '"routers" needs a number after it'),
        ("torus 3x3 routers ²", "not a whole number"),
        ("torus 3x3 routers 2 routers 2", '"routers" stands twice'),
        ("torus 9999x9999", "99,980,001 nodes"),
        ("TORUS 3 X 3 routers 9", "at most 8 routers"),
        ("torus 999999999x999999999x999999999", "at most 16,777,216"),
        ("hypercube", "needs its dimensions"),
        ("torus of trees 4x4", "needs its links down"),
        ("torus of trees 4x4 down 2 routers 32", "at most 31 routers"),
        ("torus of trees 9x9 down 999,999", "at most 16,777,216"),
        ("leaf spine 4x2 hosts 3 entries 0", "entries: 0 is below 1"),
        ("leaf spine 4x2 hosts 3 entries 2 routers 1", 'use "entries" or "routers" alone'),
        ("leaf spine 4x1000000 hosts 3 entries 17", "at most 16,777,216"),
        ("butterfly 4^4", "needs its hosts"),
        ("mesh 8x8 wiring corner", 'did you mean "corner_sides"?'),
        ("fat tree", "its sizes, or its levels and ports"),
        ("fat tree 8,4", "the links up"),
        ("fat tree 8,4 up 1,2", "1 numbers are needed, and there are 2"),
        ("fat tree 8,4 up 1 routers at 2", "the levels above the hosts are 1 to 1"),
        ("fat tree 8,4 up 1 routers 2", 'use "routers at"'),
        ("fat tree levels 3 ports 48 up 1", '"up" belongs'),
        ("leaf spine 16 hosts 2", "2 numbers are needed"),
        ("leaf spine 16x4", "needs its hosts"),
        ("graph", "the path of its file"),
        ("graph nowhere.txt", "there is no such file"),
        # Other values, and texts too long for one line.
        *((text, "text") for text in (None, 3, "x" * 1001)),
    ],
)
def test_errors_say_what_can_be_built(text: object, part: str) -> None:
    """Every wrong text names the rule it breaks and what to write instead."""
    assert part in refused(parse_topology, text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("butterfly 1^4 hosts 2", "radix=1: a digit has two values or more; give at least 2"),
        ("butterfly 4^4 hosts 16 spares 4", "spares_per_switch=4: ... give at most as many"),
        ("butterfly 3^2 hosts 1 spares 1", "spares_per_switch=1: ... give an even number"),
        ("mesh 8x8 routers 7", "routers=7: ... a multiple of 4"),
        ("mesh 4x4x4 routers 4 wiring perimeter", "sides=4x4x4: ... give two sides"),
        ("mesh 3x3 routers 9 wiring perimeter", "routers=9: ... one or more of the 8 nodes"),
        ("fat tree 8,4 up 3", "uplinks=3: 3 uplinks from 8 nodes to 4"),
        ("fat tree levels 3 ports 48 taper 4", "ports=48: ... a multiple of 5"),
        ("dragonfly 9x5 hosts 2 global links 2", "groups=9: the 10 global links of a group"),
    ],
)
def test_what_the_core_cannot_build_is_refused_before_runs(text: str, part: str) -> None:
    assert_said(part, refused(topology, text))


def test_a_study_names_a_topology_by_text_or_table(tmp_path: Path) -> None:
    """A file's path is relative to the study's folder."""
    (tmp_path / "net.txt").write_text("a s\nb s\nc s\n", encoding="utf-8")
    # What pydantic gives a validator, as far as a topology looks at it.
    info: Any = SimpleNamespace(context={"base": tmp_path})
    assert counts(topology_of("graph net.txt", info)) == (4, 3, 0)
    table = {"graph": "net.txt", "hosts": ["a"], "routers": "b, c"}
    assert counts(topology_of(table, info)) == (4, 1, 2)
    assert counts(topology_of("torus 4x4", info)) == (16, 16, 0)
    spec = parse_topology("torus 5")
    assert topology_of(spec, info) is spec
    for wrong, part in (
        (3, "a line of text, or a table"),
        ({"grahp": "net.txt"}, 'did you mean "graph"?'),
        ({"graph": "net.txt", "hosts": 3}, "hosts are names of nodes"),
        ({"graph": "net.txt", "hosts": ["z"]}, 'no node "z"'),
        ({"graph": "net.txt", "hosts": ["a"], "routers": ["a"]}, "among the routers"),
        ({"graph": 3}, "a file is named by its path"),
    ):
        assert part in refused(topology_of, wrong, info)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.grammar.name)
def test_examples_are_what_they_show(kind: Any) -> None:
    """The example of each kind parses, to that kind."""
    assert parse_topology(kind.grammar.example).kind == kind.grammar.name.replace(" ", "_")


WORDS = sorted(
    {word for kind in KINDS for word in kind.grammar.name.split()}
    | {word for kind in KINDS for phrase in kind.grammar.options for word in phrase.split()}
    | {"4x4", "4,4", "2^2", "1", "0", "-1", "x", ",", "^", "inside", "corner_sides", "³", "1e3"}
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=9))
def test_any_text_is_a_topology_or_a_stated_problem(words: list[str]) -> None:
    """No text ends in anything but a topology of at least one host or a `ConfigError`."""
    text = " ".join(words)
    if text.split()[:1] == ["graph"]:
        return
    try:
        spec = parse_topology(text)
    except ConfigError as error:
        assert all(problem.rule for problem in error.problems)
    else:
        assert spec.hosts >= 1
        assert spec.nodes >= spec.hosts + spec.routers


# A network's drawing shows every link once, far ones as stubs, and equal ones give equal bytes.


def torus(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and links of a square torus, its nodes a unit apart."""
    nodes = np.arange(side * side)
    row, column = nodes // side, nodes % side
    right = row * side + (column + 1) % side
    down = (row + 1) % side * side + column
    places = np.stack([column, -row], axis=1) / (side - 1)
    return places, np.concatenate([np.stack([nodes, right], 1), np.stack([nodes, down], 1)])


def test_rings_close_by_stubs_and_each_link_is_drawn_once() -> None:
    """A 5 x 5 torus has 40 links within the grid, and 10 that close its rings as 20 stubs."""
    places, ends = torus(5)
    lines = lines_of(places, ends)
    assert np.count_nonzero(~lines.is_stub) == 40
    assert np.count_nonzero(lines.is_stub) == 20
    assert set(lines.link.tolist()) == set(range(50))
    stubs = lines.segments[lines.is_stub]
    lengths = np.hypot(*(stubs[:, 1] - stubs[:, 0]).T)
    assert lengths == pytest.approx(np.full(20, STUB_LENGTH * 0.25))
    # Outwards: every tip is beyond the grid, whose places are within 0 to 1 and -1 to 0.
    tips = stubs[:, 1]
    beyond = (tips[:, 0] < 0) | (tips[:, 0] > 1) | (tips[:, 1] > 0) | (tips[:, 1] < -1)
    assert beyond.all()
    # A 5 x 5 torus has 40 links within the grid, and two stubs for each of the other 10.
    for load in (None, np.linspace(0.0, 1.0, 50)):
        spec = graph_spec(places, ends, ["host"] * 25, load=load)
        paths = "".join(row["p"] for row in layers_of(spec)[0]["data"]["values"])
        assert paths.count("M") == 60


def test_far_links_are_bowed_and_trees_and_parallel_links_drawn_in_full() -> None:
    """In a row of 4 the link from the first to the third passes the second, which it leaves out."""
    places = np.array([[float(x), float(-y)] for y in range(2) for x in range(4)])
    row = [[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7], [0, 4], [1, 5], [2, 6], [3, 7]]
    lines = lines_of(places, np.array([*row, [0, 2]]))
    assert not lines.is_stub.any()
    pieces = lines.segments[lines.link == 10]
    assert len(pieces) == ARC_PIECES
    assert pieces[0, 0] == pytest.approx([0.0, 0.0])
    assert pieces[-1, 1] == pytest.approx([2.0, 0.0])
    # The bow is highest in its middle, above the second node, where its one mark may stand.
    assert pieces[lines.takes_mark[lines.link == 10]].mean(axis=1)[0] == pytest.approx(
        [1.0, 0.35], abs=0.01
    )
    # Long links between a few switches and many hosts are no stubs: they show what is joined.
    hosts = np.stack([np.linspace(0, 1, 12), np.zeros(12)], axis=1)
    switches = np.array([[0.2, 0.5], [0.5, 0.5], [0.8, 0.5], [0.5, 1.0]])
    ends = np.array(
        [[host, 12 + host // 4] for host in range(12)] + [[12 + s, 15] for s in (0, 1, 2)]
    )
    assert not lines_of(np.concatenate([hosts, switches]), ends).is_stub.any()
    # Three links between two nodes are three lines, evenly apart around the straight one.
    places = np.array([[0.0, 0.0], [1.0, 0.0]])
    lines = lines_of(places, np.array([[0, 1], [1, 0], [0, 1]]))
    heights = sorted(lines.segments[:, 0, 1].tolist())
    assert heights[1] == 0.0
    assert heights[0] == -heights[2] < 0


def layers_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return list(spec.get("vconcat", [spec])[0]["layer"])


def test_a_drawing_names_what_is_busy_and_has_room() -> None:
    """The list below the picture has the links of the highest load that work, in order."""
    places, ends = torus(4)
    load = np.linspace(0.1, 0.41, 32)
    names = [f"n{node}" for node in range(16)]
    kinds = ["host"] * 15 + ["router"]
    spec = graph_spec(places, ends, kinds, load=load, failed=[31], labels=names)
    words = [row["text"] for row in spec["vconcat"][1]["data"]["values"]]
    # Link 31, from n15 down to n3, has failed; 30 is n14 to n2, at 10 % + 30 of 31 steps of 1 %.
    assert words[0] == "1   n14 – n2: 40 %" and len(words) == 5
    texts = json.dumps(layers_of(spec), ensure_ascii=False)
    assert '"15 hosts", "1 router"' in texts and "n15 – n3: failed" in texts
    # Two leaves a hundredth of the width apart have no room for two names of six letters.
    places = [(0.5, 1.0), (0.0, 0.0), (0.01, 0.0), (1.0, 0.0)]
    names = ("switch", "host.0", "host.1", "host.2")
    kinds = ["switch", "host", "host", "host"]
    spec = graph_spec(places, [(0, 1), (0, 2), (0, 3)], kinds, labels=names)
    marks, *_, shown = layers_of(spec)[1:]
    assert [row["part"] for row in marks["data"]["values"]] == [*names[1:], names[0]]
    rows = shown["data"]["values"]
    assert [row["text"] for row in rows] == ["switch", "host.0", "host.2"]
    # All links of a leaf lead up, so that its name stands below it.
    assert [row["d"] > 0 for row in rows] == [False, True, True]


def test_a_sketch_is_as_wide_as_its_room() -> None:
    """A square network fills its height; one link across is a line of the whole width."""
    places = np.array([[0.0, 0.5], [1.0, 0.5]])
    (line,) = sketch(places, np.array([[0, 1]], dtype=np.int32))
    assert len(line) == COLUMNS
    assert len(set(line)) == 1
    tall = sketch(*(part if i == 0 else part.astype(np.int32) for i, part in enumerate(torus(3))))
    assert 1 < len(tall) <= 18
    assert all(len(line) <= COLUMNS for line in tall)
