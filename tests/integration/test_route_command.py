"""`resilver route`: the policies side by side, one node's routers, LNet's options, and refusals."""

import csv
import json
from pathlib import Path

import pytest

import resilver
from resilver.center.routes import POLICIES
from tests.small_machine import SMALL_MACHINE, STORED
from tests.terminal import json_output, output, texts, with_page, written


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return written(tmp_path / "small.toml", SMALL_MACHINE)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return written(tmp_path / "stored.toml", STORED)


def test_json_is_what_python_computes_and_a_node_s_routers_are_told(small: Path) -> None:
    answer = json_output("route", small, "--policy", "nearest", "--node", "x3y2z1n1")
    figures = resilver.route_figures(resilver.route(resilver.machine(small), "nearest"))
    (found,) = answer["policies"]
    assert found == json.loads(json.dumps(figures.to_dict()))
    # Of 192 nodes four are routers, two a network.
    assert found["clients_a_router"][1] == 188 / 2
    (first, second) = answer["routers"]["nearest"]
    assert (first["network"], first["router"], first["hops"]) == (10, "x3y2z2n0", 1)
    assert (second["network"], second["router"], second["hops"]) == (20, "x3y2z2n1", 1)


def test_files_hold_every_client_and_every_row_of_a_large_machine(
    small: Path, tmp_path: Path
) -> None:
    made = tmp_path / "routes.csv"
    output("route", small, "--policy", "nearest", "-o", made)
    rows = list(csv.DictReader(made.open(encoding="utf-8")))
    assert len(rows) == 188
    assert list(rows[0]) == ["client", "network_10", "network_20"]
    _, text = with_page(tmp_path, "route", small, "--policy", "nearest")
    assert "Where routers stand" in text and str(tmp_path) not in text
    out = output("route", small, "--policy", "nearest", "--lnet")
    assert out.count("options lnet routes=") == 2
    # Without a policy all of them stand side by side.
    out = output("route", small)
    assert all(word in out for word in ("fine-grained", "nearest", "round robin", "balanced"))
    # The tables of a page end after 2,000 rows; files that are asked for have all.
    path, made = tmp_path / "large.toml", tmp_path / "routes.csv"
    path.write_text('torus = [16, 16, 16]\n[routers]\ngroups = [["x0y0z0", "x8y8z8"]]\n')
    output("route", path, "--policy", "nearest", "-o", made)
    assert len(made.read_text().splitlines()) == 1 + 16**3 - 2


def test_a_job_is_what_python_computes(stored: Path) -> None:
    words = ("--clients", "random:12", "--targets", "random", "--seed", "3")
    found = json_output("route", stored, *words)["jobs"]
    assert [one["policy"] for one in found] == list(POLICIES)
    for one in found:
        routes = resilver.route(resilver.machine(stored), one["policy"])
        job = resilver.job_rates(routes, "random:12", "random", seed=3)
        assert one == json.loads(json.dumps(job.to_dict()))
        # Six targets of 200 MB/s a network behind two routers of 600: targets hold back all that
        # routers do not.
        assert sum(layer["bound_flows"] for layer in one["layers"]) == 12
        assert one["bytes_per_second"] <= 12 * 200e6 * (1 + 1e-9)


@pytest.mark.parametrize("clients", ["random:20", "job:20@5,3,3", "placed:9", "nodes.txt"])
def test_a_job_is_told_in_sentences_and_files(
    stored: Path, tmp_path: Path, clients: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nodes.txt").write_text("x1y1z1n0\nx1y1z1n1\n17\n")
    told = " ".join(output("route", stored, "--clients", clients).split())
    assert "clients get" in told and "Rates of parts: of this test" in told
    words = (str(stored), "--policy", "nearest", "--clients", clients)
    output("route", *words, "-o", "flows.csv")
    flows = list(csv.DictReader(Path("flows.csv").read_text(encoding="utf-8").splitlines()))
    (job,) = json_output("route", *words)["jobs"]
    assert len(flows) == job["flows"]
    total = sum(float(flow["bytes_per_second"]) for flow in flows)
    assert total == pytest.approx(job["bytes_per_second"])
    _, text = with_page(tmp_path, "route", *words)
    assert "What the job gets" in text and str(tmp_path) not in text


def test_every_chart_of_the_page_is_written_as_a_file(stored: Path, tmp_path: Path) -> None:
    words = ("--clients", "random:9", "--policy", "nearest", "--policy", "balanced")
    folder = tmp_path / "figures"
    _, err = texts("route", stored, *words, "--figures", folder, "--format", "pdf")
    names = {"held", "clients", "layers", "modules", "hops", "served"}
    names |= {"heat-nearest", "heat-balanced"}
    assert {path.name for path in folder.iterdir()} == {f"{name}.pdf" for name in names}
    assert f"wrote {folder}" in " ".join(err.split())
    assert min(path.stat().st_size for path in folder.iterdir()) > 2000


def test_modules_find_their_places(small: Path) -> None:
    found = json_output("route", small, "--place", "4")
    assert [len(group) for group in found["modules"]] == [4]
    assert found["mean_cost"] < found["own_mean_cost"]
    assert "placed at random" in " ".join(output("route", small, "--place", "4").split())


def test_places_are_judged_by_the_clients_that_there_then_are(tmp_path: Path) -> None:
    # Rule: where new modules stand nobody computes, and where the old ones stood somebody does. Of
    # all 1,770 pairs of the 60 chips the least sum of steps to the nearer one is 120, which today's
    # pair has (test_siting.py tries all of a torus): 58 chips, and nothing is gained.
    file = written(
        tmp_path / "m.toml",
        "torus = [5, 4, 3]\nnodes = 2\nweights = [1, 1, 1]\n"
        '[routers]\nnetworks = [10, 20]\ngroups = [["x0y0z0", "x3y2z2"]]\n',
    )
    found = json_output("route", file, "--place", "2")
    assert (found["mean_cost"], found["own_mean_cost"]) == pytest.approx((120 / 58,) * 2, rel=1e-6)
    assert "no better" in " ".join(output("route", file, "--place", "2").split())
