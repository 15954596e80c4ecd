"""Every group is where Ceph's own `osdmaptool` says: up and acting sets, and their primaries."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resilver.importers import ClusterReport, read_cluster, read_report
from resilver.simulate import compare_stated, group_sets
from tests.oracle import crush_text
from tests.oracle.osdmap_file import (
    EXISTS,
    NEEDS_TOOLS,
    UP,
    Answer,
    Gid,
    OsdMapSpec,
    PoolSpec,
    answers,
    tool,
    write,
    write_report,
)
from tests.scale import SCALE, times

pytestmark = NEEDS_TOOLS

ONE = 0x10000
HOLE = 2**31 - 1


def read_dumps(folder: Path) -> ClusterReport:
    """The written map by way of the dumps that an operator has."""
    printed = tool("osdmaptool", "osdmap.bin", "--dump", "json", folder=folder)
    (folder / "osd_dump.json").write_text(printed[printed.index("{") :], encoding="utf-8")
    crush = tool("crushtool", "-i", "crush.bin", "--dump", folder=folder)
    (folder / "crush.json").write_text(crush, encoding="utf-8")
    return read_cluster(folder / "osd_dump.json", crush=folder / "crush.json")


def ours(report: ClusterReport) -> Iterator[tuple[Gid, Answer]]:
    for pool in report.pools:
        sets = group_sets(report, pool.id)
        assert sets.up.shape[0] == pool.pg_num
        for number in range(pool.pg_num):
            yield (
                (pool.id, number),
                Answer(
                    [osd for osd in sets.up[number].tolist() if osd != -1],
                    int(sets.up_primary[number]),
                    [osd for osd in sets.acting[number].tolist() if osd != -1],
                    int(sets.acting_primary[number]),
                ),
            )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[OsdMapSpec, str]:
    """An OSD map, and the text of its CRUSH map."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    count = sum(sizes)
    weights = [ONE, ONE, ONE, 2 * ONE, ONE // 2, 0, 12345]
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    hosts = [
        {osd: draw(st.sampled_from(weights)) for osd in range(start, start + size)}
        for start, size in zip(starts, sizes, strict=True)
    ]
    # OSDs that exist and run, mostly; some down, some gone. What is gone has no weight.
    states = draw(
        st.lists(st.sampled_from([EXISTS | UP] * 6 + [EXISTS, 0]), min_size=count, max_size=count)
    )
    reweight = st.sampled_from([ONE] * 5 + [0]) | st.integers(0, ONE)
    affinity = st.sampled_from([ONE] * 3 + [0]) | st.integers(0, ONE)
    pools = {}
    for pool in draw(st.sets(st.integers(1, 9), min_size=1, max_size=2)):
        rule = draw(st.integers(0, len(crush_text.RULES) - 1))
        pg_num = draw(st.integers(1, 40))
        pools[pool] = PoolSpec(
            size=draw(st.integers(1, 5)),
            pg_num=pg_num,
            pgp_num=draw(st.just(pg_num) | st.integers(1, pg_num)),
            rule=rule,
            erasure=crush_text.RULES[rule][0] == "erasure",
            hashpspool=draw(st.booleans()),
        )
    # A fifth of the numbers of OSDs in exceptions are of none, and some of groups of none.
    osd = st.integers(0, count + count // 4) | st.sampled_from([HOLE])
    groups = st.tuples(st.sampled_from(sorted(pools)), st.integers(0, 40))
    # The tool counts what each primary has, so a temporary one must have a number of an OSD.
    primary = st.integers(0, count - 1)
    pairs = st.lists(st.tuples(osd, osd), min_size=1, max_size=3)
    spec = OsdMapSpec(
        pools,
        states,
        [draw(reweight) if state else 0 for state in states],
        [draw(affinity) if state else ONE for state in states] if draw(st.booleans()) else [],
        draw(st.dictionaries(groups, st.lists(osd, min_size=1, max_size=6), max_size=8)),
        draw(st.dictionaries(groups, pairs, max_size=20)),
        draw(st.dictionaries(groups, st.lists(osd, min_size=1, max_size=6), max_size=8)),
        draw(st.dictionaries(groups, primary, max_size=8)),
    )
    sets = {}
    if draw(st.booleans()):
        # Quarters of a weight, since dumps print six digits of those of choose_args.
        quarter = st.integers(0, 12).map(lambda quarters: quarters * ONE // 4)
        pool = draw(st.sampled_from(sorted(pools)))
        sets[pool] = [draw(st.lists(quarter, min_size=n, max_size=n)) for n in sizes]
    return spec, crush_text.of_hosts(hosts, sets)


# Rule: whatever an OSD map says, every group is where osdmaptool says.
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=times(50),
)
@given(cluster=clusters())
def test_any_osd_map(tmp_path: Path, cluster: tuple[OsdMapSpec, str]) -> None:
    spec, crush = cluster
    write(tmp_path, spec, crush)
    expected = answers(tmp_path)
    found = dict(ours(read_dumps(tmp_path)))
    assert len(found) == sum(pool.pg_num for pool in spec.pools.values())
    assert found == expected


def busy_cluster() -> tuple[OsdMapSpec, str]:
    """Six hosts of four OSDs, all up and in, and upmap entries for half the groups of a pool."""
    hosts = [{4 * host + osd: ONE for osd in range(4)} for host in range(6)]
    pools = {1: PoolSpec(3, 256, 256), 2: PoolSpec(4, 100, 70, rule=2, erasure=True)}
    items = {(1, group): [(group % 24, (group * 7 + 5) % 24)] for group in range(0, 256, 2)}
    items |= {(2, group): [(osd, (osd + 4) % 24) for osd in range(24)] for group in range(30)}
    whole = {(1, group): [group % 4, 4 + group % 4, 8 + group % 4] for group in range(1, 40, 2)}
    spec = OsdMapSpec(pools, [EXISTS | UP] * 24, [ONE] * 24, [], whole, items)
    return spec, crush_text.of_hosts(hosts, {})


# Rule: a binary OSD map, and an osd dump with its CRUSH map as text or compiled, are one cluster,
# weights of choose_args included that six digits do not hold.
def test_every_form_of_a_cluster_is_the_same(tmp_path: Path) -> None:
    spec, _ = busy_cluster()
    hosts = [{4 * host + osd: ONE + 7 * osd for osd in range(4)} for host in range(6)]
    weights = [[12 * ONE + 5 * osd + host for osd in range(4)] for host in range(6)]
    write(tmp_path, spec, crush_text.of_hosts(hosts, {1: weights}))
    expected = answers(tmp_path)
    read_dumps(tmp_path)
    binary, dump = tmp_path / "osdmap.bin", tmp_path / "osd_dump.json"
    assert dict(ours(read_report(binary))) == expected
    for name in ("crush.txt", "crush.bin"):
        assert dict(ours(read_cluster(dump, crush=tmp_path / name))) == expected, name
    # A CRUSH map beside a binary OSD map stands in for the one in it.
    (tmp_path / "other.txt").write_text(crush_text.of_hosts(hosts[::-1], {}), encoding="utf-8")
    other = read_cluster(dump, crush=tmp_path / "other.txt")
    found = dict(ours(read_cluster(binary, crush=tmp_path / "other.txt")))
    assert found == dict(ours(other)) != expected


# Rule: a real cluster's groups are where the cluster says, and where osdmaptool says after marking
# any one OSD out (one in eleven; each of them in verification).
def test_a_real_cluster_after_marking_any_osd_out(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    report = write_report(tmp_path, path)
    stated = compare_stated(report)
    assert (stated.compared, stated.up, stated.acting) == (4096, (), ())
    assert dict(ours(report)) == answers(tmp_path)
    every = 11 if SCALE == 1 else 1
    for osd in report.osds[::every]:
        osds = tuple(replace(one, reweight=0) if one.id == osd.id else one for one in report.osds)
        expected = answers(tmp_path, "--mark-out", str(osd.id))
        assert dict(ours(replace(report, osds=osds))) == expected, osd.name
