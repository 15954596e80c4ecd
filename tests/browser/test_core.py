"""The core in a browser answers as natively, to the last bit, and whatever it is given, says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from resilver.browser import CoreRequest, cluster_request, system_request
from tests.browser.chromium import Page
from tests.browser.core_answers import (
    Answer,
    asked_of_node,
    differences,
    in_chromium,
    in_node,
    of_cluster,
    of_system,
)
from tests.browser.core_cases import CLUSTERS, SYSTEMS, asked, demo, real_cluster, real_study
from tests.unit.what_if_clusters import prepared

NAMES = [*SYSTEMS, *CLUSTERS]
OF_REAL = ["two OSDs of a real cluster, as a study", "an OSD of a real cluster, as a what-if"]
# What makes their answers makes them for all tests of this file.
pytestmark = pytest.mark.xdist_group("core in a browser")


@pytest.fixture(scope="module")
def requests() -> dict[str, CoreRequest]:
    return {name: asked(name) for name in NAMES}


@pytest.fixture(scope="module")
def native() -> dict[str, Answer]:
    answers = {name: of_system(SYSTEMS[name]()) for name in SYSTEMS}
    return answers | {name: of_cluster(CLUSTERS[name]()) for name in CLUSTERS}


@pytest.fixture(scope="module")
def answers_of_node(requests: dict[str, CoreRequest]) -> dict[str, Answer]:
    return dict(zip(requests, in_node(list(requests.values())), strict=True))


@pytest.fixture(scope="module")
def answers_of_chromium(
    page: Page, requests: dict[str, CoreRequest], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Answer]:
    folder = tmp_path_factory.mktemp("core")
    answers = in_chromium(page, folder, list(requests.values()))
    assert page.complaints() == []
    return dict(zip(requests, answers, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_node_answers_as_natively(
    name: str, native: dict[str, Answer], answers_of_node: dict[str, Answer]
) -> None:
    """Digest, metrics and every cell of every table."""
    assert differences(native[name], answers_of_node[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_chromium_answers_as_natively(
    name: str, native: dict[str, Answer], answers_of_chromium: dict[str, Answer]
) -> None:
    assert differences(native[name], answers_of_chromium[name]) == []


def test_a_real_cluster_is_answered_as_natively(
    shared_data: Path, page: Page, tmp_path: Path
) -> None:
    cases = [real_study(shared_data), real_cluster(shared_data)]
    requests, natively = [cluster_request(one) for one in cases], [of_cluster(one) for one in cases]
    for answers in (in_node(requests), in_chromium(page, tmp_path, requests)):
        pairs = zip(OF_REAL, natively, answers, strict=True)
        found = {name: told for name, *both in pairs if (told := differences(*both))}
        assert not found


def test_the_comparison_tells_a_last_digit(native: dict[str, Answer]) -> None:
    """One bit of one cell is a difference, and so are a missing column and another digest."""
    answer = native["an OSD fails"]
    for change in ("cell", "column", "digest"):
        other: dict[str, Any] = json.loads(json.dumps(answer))
        if change == "cell":
            cells = other["tables"]["timeline"]["time_seconds"]
            cells[-1] = cells[-1] * (1 + 2**-52)
        elif change == "column":
            del other["tables"]["timeline"]["time_seconds"]
        else:
            other["digest"] = "0" * 16
        assert len(differences(answer, other)) == 1


def _without(request: CoreRequest, key: str) -> str:
    given = json.loads(request.input)
    del given[key]
    return json.dumps(given)


def test_what_is_refused_is_refused_in_words(requests: dict[str, CoreRequest]) -> None:
    """Each with the field's path or the rule, as natively, and the core goes on answering."""
    system, cluster = requests["copies by straw2 over racks"], requests["an OSD fails"]
    (whole,) = system.maps
    slow = json.loads(system.input)
    slow["devices"]["kinds"][0]["service"]["table"]["read"]["rate"] = 0
    cases = [
        (CoreRequest("system", ""), "config", "EOF"),
        (CoreRequest("system", system.input[:-9], system.maps), "config", "EOF"),
        (CoreRequest("system", '{"seed": "one"}'), "config", "seed: invalid type"),
        (CoreRequest("system", _without(system, "retry"), system.maps), "config", "`retry`"),
        (
            CoreRequest("system", json.dumps(slow), system.maps),
            "config",
            "service.table.read.rate: 0 B/s",
        ),
        (CoreRequest("system", "[" * 100_000), "config", "invalid type: sequence"),
        (CoreRequest("system", system.input), "config", "there is no such map"),
        (CoreRequest("system", system.input, (b"",)), "placement", "maps[0]"),
        (CoreRequest("system", system.input, (whole[:50],)), "placement", "maps[0]"),
        (CoreRequest("system", system.input, (whole[:-3],)), "placement", "maps[0]"),
        (CoreRequest("cluster", system.input), "config", "unknown field"),
        (CoreRequest("cluster", _without(cluster, "pools")), "config", "`pools`"),
        (CoreRequest("cluster", "null"), "config", "invalid type"),
    ]
    kinds: list[Any] = [json.loads(one.to_json()) for one, _, _ in cases]
    kinds += [{"kind": "nothing", "input": "{}", "maps": []}, json.loads(system.to_json())]
    *refused, nothing, after = asked_of_node("answersOf", kinds)
    for (_, of_class, words), answer in zip(cases, refused, strict=True):
        assert answer["error"] == "CoreError", answer
        assert answer["class"] == of_class and words in answer["message"], answer
    assert "no kind of run" in nothing["message"]
    assert after["state"] == "done"


def test_want_of_memory_is_told(requests: dict[str, CoreRequest]) -> None:
    """4 GiB are all that WebAssembly has; another core, in the same thread, answers afterwards."""
    ring = json.loads(requests["copies by a ring, two servers one after the other"].input)
    ring["pools"][0]["placement"]["ring"]["points"] = 2**31
    request = CoreRequest("system", json.dumps(ring))
    trapped, after = in_node([request, requests["copies by straw2 over racks"]])
    assert trapped["error"] == "CoreTrap" and "more memory" in trapped["message"], trapped
    assert after["state"] == "done"


@pytest.mark.parametrize("kind", ["system", "cluster"])
def test_a_run_is_dropped_between_any_steps(kind: str) -> None:
    """Thirty runs that are dropped take no more memory than ten; one behind is not disturbed."""
    if kind == "system":
        run = demo(
            population={"file_size": "8 MiB", "bytes_per_server": "8 GiB"},
            recovery={"pipeline_buffer": "64 KiB"},
        )
        request, natively = system_request(run.system, run.seed), of_system(run)
    else:
        ready = prepared(fail="osd.3")
        request, natively = cluster_request(ready), of_cluster(ready)
    found = asked_of_node("cancelled", json.loads(request.to_json()), 10, 30)
    states, sizes = found["states"], found["bytes"]
    assert len(states) == 300 and {one["state"] for one in states} <= {"working", "healing"}
    assert states[:10] * 30 == states
    # Freed memory falls into pieces, and the next run may not fit: some runs later it does.
    assert max(sizes[10:]) == sizes[9]
    assert found["digest"] == natively["digest"]
    if kind == "system":
        assert {one["phase"] for one in states} <= {"placing", "scanning", "rebuilding"}
        assert all(0 <= one["fraction"] <= 1 for one in states)
        assert states[9]["events"] > 0 and states[9]["simulated_seconds"] > 0
    else:
        assert states[9]["unclean_groups"] > 0 and states[9]["groups"] > 300
        assert all(0 <= one["fraction"] <= 1 for one in states)
