"""What a report says in words is computed from its data and true of it."""

import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from resilver.answer.document import parts
from resilver.report import charts, figure, findings, key_figures, summary, write_html
from resilver.report.faults import fault_seconds
from resilver.report.html import render
from resilver.report.provenance import seed_ranges, study_digest
from resilver.report.sentence import describe
from resilver.report.servers import by_server, finishing
from resilver.report.study import SYSTEMS_MAX
from resilver.study.system_runs import Row, largest, systems
from resilver.tables import ROWS_CARRIED_MAX, Column, Table, to_csv
from resilver.units import format_duration
from resilver.words import against
from tests.browser.report_fixture import MemoryResults, alone, replaced, results

GIB = 2**30


def servers(groups: tuple[int | None, ...] = (1, 5, 0, 0), kinds: str = "") -> list[Row]:
    """Three survivors, of which c rebuilds nothing, and d, which failed."""
    named = zip("abcd", (2, 10, 0, 0), groups, (40.0, 90.0, None, None), strict=True)
    return [
        {
            **dict.fromkeys(("requests_completed", "requests_lost", "write_backlog_requests"), 0),
            **dict.fromkeys(("class", "kind"), kind),
            **{"name": name, "failed": name == "d", "placement_groups_gained": gained},
            **{"rebuilt_objects": pieces, "rebuilt_bytes": pieces * GIB, "finish_seconds": end},
            **{"device_share": 0.09 * pieces, "link_share": 0.025 * pieces},
        }
        for (name, pieces, gained, end), kind in zip(named, kinds.split() or [""] * 4, strict=True)
    ]


def test_findings_of_servers_name_the_busiest_the_idle_and_the_last() -> None:
    # The mean of 2, 10 and 0 is 4, and 10 is 2.5 times that.
    (point,) = systems(results(seeds=1))
    assert by_server(servers(), point).heading == (
        "b rebuilds 10 replicas, 2.5 times the mean of 4, from 5 placement groups; "
        "1 of 3 survivors rebuild nothing"
    )
    # A Poisson count of mean 2 deviates by its root, 71 % of it; 6 groups hold 12 replicas.
    assert by_server(servers(), point).description.endswith(
        "On average servers gain 2 groups of some 2 replicas. Groups so few scatter by chance, by "
        "71 % of that mean up and down where each is drawn by itself; more groups are more even."
    )
    for groups in ((1, 5, 42, 0), (None,) * 4):
        assert "by chance" not in by_server(servers(groups), point).description
    # Two rebuild, until 40 and 90 s; why b is last is not to be read from bytes.
    made = finishing(servers(), point)
    assert made is not None and made.heading == (
        "b finishes last, after 1 min 30 s; half of them are done after 1 min 5 s"
    )
    data = servers(kinds="hdd ssd hdd ssd")
    for made in (by_server(data, point), finishing(data, point)):
        text = json.dumps(made.make())
        assert '"hdd"' in text and '"ssd"' in text


def test_a_coded_system_has_pieces_and_a_rate_its_share_of_ideal() -> None:
    made = results(seeds=1)
    made.study["redundancy"] = {"code": "rs 8+3"}
    (point,) = systems(made)
    assert "b rebuilds 10 pieces" in by_server(servers(), point).heading
    assert "rs 8+3, each piece on another server" in describe(made, point)
    labels = [figure.label for figure in key_figures(made)]
    assert "Pieces rebuilt" in labels and "Replicas rebuilt" not in labels
    # Three copies under the name of a code are replicas.
    made.study["redundancy"] = {"code": "copies 3"}
    assert systems(made)[0].piece == "replica"
    made = results(servers=(8, 64), seeds=3)
    rows = made.runs.to_pylist()
    small, large = (
        sorted(row["aggregate_bytes_per_second"] for row in rows if row["servers"] == size)[1]
        for size in (8, 64)
    )
    share = large / (8 * small)
    assert charts.chart(made, "rate").heading == (
        f"Rebuild rate grows to {large / GIB:.1f} GiB/s at 64 servers, {100 * share:.0f} % of ideal"
    )


def test_times_count_from_the_first_fault_and_key_figures_are_medians() -> None:
    made, point = alone(results(seeds=1, faults=({"at": "5 s", "fail": {"servers": 1}},)))
    last = charts.chart(made, "finish").table.rows[0][4]
    table = made.servers.to_pylist()
    finish = max(row["finish_seconds"] or 0.0 for row in table)
    assert last == pytest.approx(finish - 5.0) and point.first_fault_seconds == 5.0
    made = results(seeds=3)
    times = sorted(made.runs["rebuild_seconds"].to_pylist())
    first = key_figures(made)[0]
    assert (first.label, first.value, first.unit) == ("Rebuild time", times[1], "s")
    low, high = (format_duration(value) for value in (times[0], times[2]))
    assert first.detail == f"min {low}, max {high}"
    assert dict(summary(made))["Rebuild time"] == f"{first.text} ({first.detail})"
    shown = figure(results(seeds=2), "finish")._repr_mimebundle_()
    title = shown["application/vnd.vegalite.v6+json"]["title"]["text"]
    assert "finishes last, after" in " ".join(title)
    assert shown["image/png"].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(1.0, "equal to x"), (1.04, "4.0 % above x"), (0.9, "10 % below x"), (3.21, "3.2 times x"),
     (12.3, "12 times x")],
)  # fmt: skip
def test_ratios_read_as_people_say_them(ratio: float, words: str) -> None:
    assert against(ratio, "x") == words


def test_the_sentence_says_what_the_system_is_and_what_breaks_it() -> None:
    made = results(servers=(16, 64), seeds=2)
    text = describe(made, largest(systems(made)))
    assert text == (
        "64 servers with jbod10-sata devices, CRUSH with straw buckets, 4,096 placement groups, "
        "3 replicas, each on another server. Files sized as in genomes1000 in objects of 64 MiB, "
        "20 TiB per server before redundancy. Network: qdr-infiniband, LogGP. "
        "Lost at time zero: 1 server at random. "
        "Swept: cluster.servers over 16, 64 (4 runs, 2 seeds)."
    )
    made = results(seeds=1, extra_swept={"population.file_size": ["1 GiB", "1 TiB"]})
    small, large = systems(made)
    assert "Files of 1 GiB each in objects of 64 MiB" in describe(made, small)
    assert "Files of 1 TiB each in objects of 64 MiB" in describe(made, large)
    made = results(seeds=1)
    made.study["cluster"]["racks"] = 8
    made.study["faults"] = [
        {"at": "600 s", "fail": {"servers": 2}},
        {"at": "0 s", "fail": {"servers": ["server.3"]}},
        {"at": "600 s", "fail": {"racks": 1}},
    ]
    text = describe(made, systems(made)[0])
    assert "Lost at time zero: server.3. Lost at 10 min 0 s: 2 servers at random, 1 rack" in text
    both = ({"fail": {"servers": 1}}, {"at": "60 s", "fail": {"servers": 1}})
    made = results(seeds=1, faults=both, extra_swept={"faults.1.at": ["60 s", "1 h"]})
    for point, seconds in zip(systems(made), (60.0, 3600.0), strict=True):
        assert fault_seconds(point) == (0.0, seconds)


@pytest.mark.parametrize(
    ("values", "first", "last"),
    [
        ([1, 3], "1 server at random", "3 servers at random"),
        ([["server.5"], ["server.5", "server.7"]], "server.5", "server.5, server.7"),
        ([2, ["server.7"]], "2 servers at random", "server.7"),
    ],
)
def test_the_sentence_has_the_swept_fault(values: list[object], first: str, last: str) -> None:
    made = results(seeds=1, extra_swept={"faults.0.fail.servers": values})
    for point, lost in zip(systems(made), (first, last), strict=True):
        assert f"Lost at time zero: {lost}." in describe(made, point)


def test_a_folder_whose_inputs_are_gone_still_says_what_its_tables_say() -> None:
    made = results(seeds=1)
    made.study["cluster"]["device"] = {"file": "/nowhere/hdd.toml"}

    class Moved(MemoryResults):
        systems = ()
        study_file = ""

    gone = Moved(**vars(made))
    text = describe(gone, systems(gone)[0])
    assert text == "64 servers. Lost: server.0. 1 run, 1 seed."
    assert "All data is fully redundant" in render(gone)


def test_losses_are_in_the_headline_and_the_key_figures() -> None:
    made = replaced(
        results(seeds=3), unrecoverable_objects=[0, 7, 2], unrecoverable_bytes=[0, 7 * GIB, 2 * GIB]
    )
    (point,) = systems(made)
    words = "Data loss in 2 of 3 seeds: up to 7 objects (7.0 GiB), unrecoverable."
    assert str(findings.losses(point)).startswith(words)
    assert words in render(made)
    # Medians of 0, 7, 2 and of their bytes.
    second = key_figures(made)[1]
    assert (second.label, second.text, second.detail) == (
        "Objects lost", "2", "min 0, max 7; 2.0 GiB",
    )  # fmt: skip
    alone = replaced(results(seeds=1), unrecoverable_objects=[1], unrecoverable_bytes=[512])
    assert findings.losses(systems(alone)[0]) == ("Data loss: 1 object (512 B) is unrecoverable.")
    assert findings.losses(systems(results(seeds=2))[0]) is None
    made = replaced(results(seeds=2), unrecoverable_objects=[3, 3])
    assert findings.losses(systems(made)[0]) == (
        "Data loss in each of 2 seeds: 3 objects, unrecoverable."
    )
    made = results(seeds=2)
    assert "Objects lost" not in dict(summary(made))
    assert "Objects lost" in dict(summary(replaced(made, unrecoverable_objects=[5, 0])))
    made = replaced(
        results(seeds=1), first_redundant_seconds=[90.0], last_redundant_seconds=[7200.0]
    )
    figure = dict(summary(made))["First object fully redundant"]
    assert figure == "1 min 30 s (last after 2 h 0 min)"


def test_a_table_is_bounded_and_its_csv_keeps_si_numbers() -> None:
    rows = [(f"s{at}", at) for at in range(ROWS_CARRIED_MAX + 5)]
    table = Table((Column("name", "server", "text"), Column("bytes", "data", "bytes")), rows)
    shown = str(parts().details("x", "x", table))
    assert shown.count("<tr>") == 1 + 40 and f"of {ROWS_CARRIED_MAX + 5:,} rows" in shown
    assert len(to_csv(table).splitlines()) == 1 + ROWS_CARRIED_MAX
    columns = (Column("name", "server", "text"), Column("finish_seconds", "after", "seconds"))
    table = Table(columns, [('a "b", c', 1.5), ("d", None), ("e", float("nan"))])
    read = list(csv.reader(io.StringIO(to_csv(table))))
    assert read == [["name", "finish_seconds"], ['a "b", c', "1.5"], ["d", ""], ["e", ""]]


def test_equal_results_make_equal_pages_in_which_names_are_text() -> None:
    assert render(results(seeds=2)) == render(results(seeds=2))
    # A Ceph report may name a host anything; in the page such a name must stay text, and no
    # name may end the script element that holds the figures.
    page = render(results(seeds=1, prefix="</script><img src=x onerror=alert(1)>"))
    assert "<img src=x" not in page
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', page)
    assert found is not None and json.loads(found[1])["charts"]


def test_pages_stay_small_name_no_host_and_have_ranges_of_seeds_and_a_digest() -> None:
    made = results(servers=tuple(range(8, 8 + 3 * SYSTEMS_MAX)), seeds=1, objects_per_group=2)
    page = render(made)
    assert page.count("<option") == SYSTEMS_MAX
    assert f"{SYSTEMS_MAX} of {3 * SYSTEMS_MAX} systems are on this page" in page
    assert f"selected>cluster.servers = {7 + 3 * SYSTEMS_MAX}</option>" in page
    made = results((2000,), groups=None, pairs=60_000, seeds=1, objects_per_group=3)
    assert len(render(made).encode()) < 10_000_000
    page = render(results(objects_per_group=0))
    assert "the system stores no objects" in page
    made = replaced(results(seeds=1), rebuilt_objects=0, failed_servers="")
    assert "nothing fails" in str(findings.nothing_rebuilt(systems(made)[0]))
    made = results(seeds=1)
    made.provenance |= {
        "host": "secret-host", "platform": "Linux-on-secret-host",
        "command": ["/home/me/bin/resilver", "run", "/home/me/plans/study.toml", "-o", "/data/r"],
    }  # fmt: skip
    page = render(made)
    assert "secret-host" not in page and "/home/me" not in page and "/data/r" not in page
    assert "resilver run study.toml -o r" in page
    assert "bytes_per_server = &#34;20 TiB&#34;" in page
    assert seed_ranges([3, 1, 2, 7, 9, 10, 1]) == "1 to 3, 7, 9, 10"
    made = results(seeds=3)
    first, second, _ = made.runs["digest"].to_pylist()
    other = replaced(made, digest=[first, second, "0" * 16])
    assert study_digest(other) != study_digest(made)


def test_a_link_is_followed_and_a_pipe_is_written_into(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "page.html", tmp_path / "link.html", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert write_html(results(seeds=1), link) == link
    assert link.is_symlink() and target.stat().st_size > 10_000
    os.mkfifo(pipe)
    with subprocess.Popen(["wc", "-c", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_html(results(seeds=1), pipe)
        counted, _ = reader.communicate(timeout=60)
    assert pipe.is_fifo() and int(counted.split()[0]) > 10_000
