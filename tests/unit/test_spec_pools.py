"""Several pools of a study: what they say, and what is wrong with them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.simulate.run import maps_of
from resilver.spec import Study

PARTS = [
    {"level": "host", "count": 20},
    {"level": "osd", "in": "host", "count": 3, "class": "hdd", "device": {"service": "8 ms"}},
    {"level": "osd", "in": "host", "count": 1, "class": "ssd", "device": {"service": "0.1 ms"}},
]
TWO: dict[str, Any] = {
    "cluster": {"parts": PARTS, "fabric": {"routers": 4}},
    "pools": [
        {
            "name": "archive",
            "population": {"file_size": "8 MiB", "bytes_per_server": "1 GiB"},
            "placement": {"class": "hdd", "failure_domain": "host"},
            "redundancy": {"code": "rs 4+2"},
            "traffic": {"outstanding": 8, "duration": "2 s"},
        },
        {
            "name": "volumes",
            "population": {"file_size": "4 MiB", "files": 500},
            "placement": {"class": "ssd", "failure_domain": "host"},
            "traffic": {"outstanding": 4, "duration": "2 s", "request_size": "64 KiB"},
        },
    ],
    "faults": [{"fail": {"hosts": 1}}],
}


def changed(**keys: Any) -> dict[str, Any]:
    """The two pools with values put in at dotted paths, underscores doubled for dots."""
    table = deepcopy(TWO)
    for path, value in keys.items():
        *way, last = path.split("__")
        place: Any = table
        for part in way:
            place = place[int(part)] if part.isdecimal() else place.setdefault(part, {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return table


def test_each_pool_has_a_view_of_the_system() -> None:
    system = Study.from_dict(TWO).runs()[0].system
    archive, volumes = system.of_pools
    assert system.pool_names == ("archive", "volumes")
    assert (archive.holder_count, archive.copies) == (60, 6)
    assert (volumes.holder_count, volumes.copies) == (20, 3)
    # 60 disks of a GiB each; the other pool's volume is a number of files.
    assert archive.population_target_bytes == 60 * 2**30
    assert system.population_target_bytes is None
    counts = [pool.placement_group_count or 0 for pool in system.of_pools]
    assert system.placement_group_count == sum(counts) and all(counts)
    assert system.of_pool("volumes").resolved() == volumes.resolved()
    assert not system.is_traffic_only
    # A map for each pool, of its own class.
    assert len(maps_of(system)) == 2


def test_a_study_of_pools_is_written_as_it_is_read() -> None:
    study = Study.from_dict(TWO)
    import tomllib

    again = Study.from_dict(tomllib.loads(study.to_toml()))
    assert again.resolved() == study.resolved()
    resolved = study.resolved()["pools"]
    assert [pool["name"] for pool in resolved] == ["archive", "volumes"]
    assert resolved[0]["population"]["bytes_per_server"] == 2**30
    assert resolved[1]["placement"]["class"] == "ssd"
    assert resolved[1]["traffic"]["request_size"] == 65536
    one = {key: value for key, value in TWO.items() if key != "pools"}
    single = Study.from_dict({**one, "population": {"file_size": "8 MiB", "files": 10}})
    assert "pools" not in single.runs()[0].system.resolved()


def test_a_key_of_a_pool_is_swept() -> None:
    sweep = {"pools.0.redundancy.code": ["rs 4+2", "rs 8+3"], "pools.1.redundancy.replicas": [2, 3]}
    runs = Study.from_dict({**TWO, "study": {"sweep": sweep}}).runs()
    copies = [tuple(pool.copies for pool in run.system.of_pools) for run in runs]
    assert copies == [(6, 2), (6, 3), (11, 2), (11, 3)]
    assert runs[2].swept == {"pools.0.redundancy.code": "rs 8+3", "pools.1.redundancy.replicas": 2}


@pytest.mark.parametrize(
    ("table", "key", "says"),
    [
        (changed(population={"file_size": "1 MiB", "files": 1}), "population", "each pool has its"),
        (changed(pools__1__name="archive"), "pools.1.name", "two pools have this name"),
        (changed(pools__1__name=" "), "pools.1.name", "a pool has a name"),
        (changed(pools__1__name=None), "pools.1.name", "this key is required"),
        (changed(pools__1__population=None), "pools.1.population", "this key is required"),
        (
            changed(pools__0__placement__class="hhd"),
            "pools.0.placement.class",
            'did you mean "hdd"',
        ),
        (
            changed(pools__0__redundancy__code="rs 18+3"),
            "pools.0.redundancy.code",
            "needs 21 failure domains",
        ),
        (
            changed(pools__1__population__bytes="1 TiB"),
            "pools.1.population",
            "exactly one of bytes_per_server, bytes and files",
        ),
        (
            changed(pools__1__traffic__duration="3 s"),
            "pools.1.traffic.duration",
            "another duration",
        ),
        (
            changed(pools__1__traffic__warm_up="1 s"),
            "pools.1.traffic.warm_up",
            "another warm_up",
        ),
        (
            changed(traffic={"outstanding": 5}),
            "pools.0.traffic",
            "[traffic] has clients of all pools",
        ),
        (
            changed(pools__0__traffic={"streams": {"window": 4}}),
            "pools.0.traffic.streams",
            "the clients of one pool issue requests",
        ),
        (changed(pools__0__colour="red"), "pools.0.colour", "there is no such key"),
        (changed(pools={"name": "a"}), "pools", "[[pools]] with double brackets"),
        (
            changed(study={"sweep": {"pools.redundancy.code": ["rs 4+2"]}}),
            'study.sweep."pools.redundancy.code"',
            "named by its place in the list",
        ),
    ],
)
def test_what_is_wrong_is_named(table: dict[str, Any], key: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Study.from_dict(table)
    text = str(raised.value)
    assert key in text and says in text, text
    assert "Traceback" not in text


def test_a_pool_is_asked_for_by_its_name() -> None:
    system = Study.from_dict(TWO).runs()[0].system
    with pytest.raises(ConfigError, match="several pools; name one of archive, volumes"):
        system.of_pool()
    with pytest.raises(ConfigError, match='no such pool; did you mean "volumes"'):
        system.of_pool("volume")
