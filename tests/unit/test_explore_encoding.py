"""Answers of the native core are the very bytes that the core in a page answers with."""

import json
from typing import Any

import pyarrow as pa
import pytest

from resilver.browser import CoreRequest
from resilver.errors import ConfigError, SimulationError
from resilver.explore.encoding import encode_done, encode_failure, encode_state
from resilver.simulate.from_page import perform
from tests.browser.core_answers import CORE, RUNNER, answered_by_node, asked_of_node
from tests.browser.core_cases import CLUSTERS, asked
from tests.build import refused

# The module and what it answers are made once for all tests of this file.
pytestmark = pytest.mark.xdist_group("core in a browser")


def decoded(*answers: bytes) -> list[Any]:
    """What `decode` of the page makes of answers, in Node."""
    script = (
        'import { readFileSync } from "node:fs";'
        f"import {{ decode }} from {json.dumps(CORE.as_uri())};"
        f"import {{ plain }} from {json.dumps(RUNNER.as_uri())};"
        "const answers = JSON.parse(readFileSync(0));"
        "const buffers = answers.map((one) => Uint8Array.from(Buffer.from(one, 'hex')).buffer);"
        "process.stdout.write(JSON.stringify(buffers.map((one) => plain(decode(one)))));"
    )
    found: list[Any] = answered_by_node(script, [one.hex() for one in answers])
    return found


# Every kind of column, with and without values that there are not, and slices, which begin inside
# of their buffers. A length that is no multiple of 8 moves what follows.
CELLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "numbers": (pa.int32(), [1, -(2**31), 2**31 - 1]),
    "counts": (pa.int64(), [1, -2, 2**63 - 1]),
    "some counts": (pa.int64(), [0, None, 7]),
    "reals": (pa.float64(), [0.5, -0.0, 1e300]),
    "some reals": (pa.float64(), [None, 2.5, None]),
    "flags": (pa.bool_(), [True, False, True]),
    "some flags": (pa.bool_(), [None, False, True]),
    "texts": (pa.string(), ["a", "", "é𝄞<"]),
    "some texts": (pa.string(), ["", None, "b"]),
    "nothing": (pa.null(), [None, None, None]),
}


def test_every_kind_of_column_is_decoded_as_it_was() -> None:
    whole = pa.table({name: pa.array(cells, type) for name, (type, cells) in CELLS.items()})
    tables = {"whole": whole, "part": whole.slice(1, 2), "none": whole.slice(3), "no": pa.table({})}
    doubled = pa.concat_tables([whole, whole])
    (found,) = decoded(encode_done("0123456789abcdef", {**tables, "doubled": doubled}))
    assert (found["state"], found["digest"]) == ("done", "0123456789abcdef")

    def cell(value: Any) -> Any:
        return str(int(value)) if isinstance(value, int) else value

    for name, table in {**tables, "doubled": doubled}.items():
        own = {one: [cell(of) for of in table[one].to_pylist()] for one in table.column_names}
        assert found["tables"][name] == own


def test_answers_without_tables_are_decoded() -> None:
    table = pa.table({"when": pa.array([1], pa.timestamp("s"))})
    with pytest.raises(TypeError, match=r"column when: timestamp\[s\]"):
        encode_done("0" * 16, {"table": table})
    state = encode_state("healing", simulated_seconds=1.5, unclean_groups=2, groups=3)
    failures = [encode_failure(ConfigError("é is no rate")), encode_failure(SimulationError("it"))]
    assert all((len(one) % 8, len(one[4:]) + 4) == (0, len(one)) for one in (state, *failures))
    assert decoded(state, *failures) == [
        {"state": "healing", "simulated_seconds": 1.5, "unclean_groups": 2, "groups": 3},
        {"state": "failed", "class": "config", "message": "é is no rate"},
        {"state": "failed", "class": "simulation", "message": "it"},
    ]


TWO_KINDS = ["a torus with clients", "clients as flows"]
ASKED = ["copies by straw2 over racks", *TWO_KINDS, "a server that comes back", *CLUSTERS]


def test_a_native_answer_has_the_bytes_of_the_one_in_a_page() -> None:
    """Header, order of tables and columns, places, kinds and every bit of every cell."""
    requests = [asked(name) for name in ASKED]
    theirs = asked_of_node("bytesOf", [json.loads(one.to_json()) for one in requests])
    for name, request, other in zip(ASKED, requests, theirs, strict=True):
        found = perform(request.kind, request.input, request.maps)
        assert encode_done(found.digest, found.tables).hex() == other, name


def test_a_request_is_read_as_it_was_written() -> None:
    request = asked("copies by straw2 over racks")
    assert request.maps
    assert CoreRequest.from_json(request.to_json()) == request
    for text, words in (("[" * 100_000, "too many levels"), ("9" * 5000, "not JSON")):
        assert words in refused(CoreRequest.from_json, text)
