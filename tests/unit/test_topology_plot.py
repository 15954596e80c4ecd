"""A network's drawing shows every link once, far ones as stubs, and equal ones give equal bytes."""

import json
from typing import Any

import numpy as np
import pytest

from resilver.report.graph import graph_spec
from resilver.report.topology_lines import ARC_PIECES, COLUMNS, STUB_LENGTH, lines_of, sketch


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


def test_far_links_that_close_no_ring_are_bowed_around_what_they_pass() -> None:
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


def test_links_of_a_tree_are_drawn_in_full_and_parallel_ones_side_by_side() -> None:
    """Long links between a few switches and many hosts are no stubs: they show what is joined."""
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


def test_a_drawing_names_the_busiest_links_and_what_failed() -> None:
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


def test_names_that_would_cover_each_other_stay_under_the_pointer() -> None:
    """Two leaves a hundredth of the width apart have no room for two names of six letters."""
    places = [(0.5, 1.0), (0.0, 0.0), (0.01, 0.0), (1.0, 0.0)]
    names = ("switch", "host.0", "host.1", "host.2")
    kinds = ["switch", "host", "host", "host"]
    spec = graph_spec(places, [(0, 1), (0, 2), (0, 3)], kinds, labels=names)
    marks, *_, shown = layers_of(spec)[1:]
    assert [row["part"] for row in marks["data"]["values"]] == [
        "host.0",
        "host.1",
        "host.2",
        "switch",
    ]
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
