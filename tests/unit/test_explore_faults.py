"""What a page adds to a study leaves what the study itself lets fail as it was."""

import json
import tomllib
from functools import cache
from typing import Any

import pytest

from resilver import Study
from resilver.explore.study import study_document
from resilver.simulate.devices import named_faults
from tests.browser.page_scenarios import Made, made_by_page

pytestmark = pytest.mark.xdist_group("explore study")

STUDY = {
    "cluster": {"servers": 16, "racks": 4},
    "population": {"file_size": "64 MiB", "files": 400},
    "faults": [{"at": "5 s", "fail": {"servers": 1}}],
}


@cache
def document() -> dict[str, Any]:
    return json.loads(json.dumps(study_document(Study.from_dict(STUDY), seed=3).to_json()))


def victim() -> str:
    """What the seed draws: asked of the study as it is."""
    (run,) = Study.from_dict({**STUDY, "study": {"seeds": [3]}}).runs()
    ((name,),) = named_faults(run.system, run.seed)
    return name


def explored(*changes: tuple[str, str, float]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The faults of the core's input, and those of the study file, which must be taken."""
    names = [part["name"] for part in document()["parts"]]
    told = [{"key": key, "part": names.index(name), "at": at} for key, name, at in changes]
    made: Made
    (made,) = made_by_page(document(), [{"stops": {}, "changes": told}])
    (run,) = Study.from_dict(tomllib.loads(made.text)).runs()
    named_faults(run.system, run.seed)
    return made.input["faults"]["faults"], tomllib.loads(made.text)["faults"]


def test_what_fails_by_itself_stays_where_it_was_and_fails_once_until_it_comes_back() -> None:
    """A draw passes over what others name, so that drawn anew it would be another server."""
    first = victim()
    others = [f"server.{at}" for at in range(16) if f"server.{at}" != first]
    for other in (others[0], others[7], others[-1]):
        own, added = explored(("fail", other, 20.0))[0]
        assert own["part"] == {"server": [first]} and added["part"] == {"server": [other]}
    # Neither before nor after; a rack that takes it along before leaves nothing to fail.
    after, _ = explored(("fail", first, 9.0))
    assert [one["at"] for one in after] == [5]
    before, in_file = explored(("cut", first, 1.0))
    assert [one["at"] for one in before] == [1] and len(in_file) == 1
    rack = f"rack.{int(first.split('.')[1]) // 4}"
    taken, in_file = explored(("fail", rack, 2.0))
    assert [one["part"] for one in taken] == [{"rack": [rack]}] and len(in_file) == 1
    # By an end of its own fault; and only from then on may it fail again.
    (own,), (in_file,) = explored(("repair", first, 30.0))
    assert own["until"] == 30 and in_file["until"] == "30.0 s"
    own, again = explored(("repair", first, 30.0), ("fail", first, 40.0))[0]
    assert (own["until"], again["at"]) == (30, 40)
    # Before it failed there is nothing to bring back.
    (own,), _ = explored(("repair", first, 2.0))
    assert own["until"] is None
