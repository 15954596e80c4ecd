"""`resilver watch`: the gauges are what other commands say, and Prometheus reads them."""

import errno
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.terminal import answered, command, json_output, output, refusal

EXAMPLES = ROOT / "docs" / "examples" / "watch"
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")


def samples_of(path: Path) -> dict[tuple[str, ...], float]:
    """The samples of a file by gauge and labels."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()  # type: ignore[union-attr]
            of = re.findall(r'"((?:[^"\\]|\\.)*)"', labels or "")
            found[name, *of] = float(value)
    return found


def test_gauges_are_what_the_questions_answer(report: Path, tmp_path: Path) -> None:
    path = tmp_path / "resilver.prom"
    # A level that is named twice has each sample once.
    words = ["--level", "host", "--level", "host", "--grow", "1%/week", "--metrics", path]
    words += ["-o", tmp_path / "watch.html"]
    said = " ".join(output("watch", report, *words).split())
    found = samples_of(path)
    assert (tmp_path / "watch.html").is_file()
    assert len(re.findall("^resilver_safe{", path.read_text(encoding="utf-8"), re.M)) == 1
    ranking = json.loads(command("what-if", report, "--each", "host", "--json").stdout)
    parts = ranking["parts"]
    assert found["resilver_heals", "host"] == 0.0 == float(ranking["holds"])
    assert found["resilver_safe", "host"] == 1.0
    assert not any(part["lost_groups"] or part["inactive_groups"] for part in parts)
    assert found["resilver_worst_part", "host", parts[0]["name"]] == 1.0
    assert found["resilver_heal_seconds", "host"] == float("inf")
    for gauge, key in (("fill_ratio", "peak_share"), ("stuck_pgs", "stuck_groups")):
        most = max(part[key] for part in parts)
        assert found[f"resilver_failure_{gauge}", "host"] == pytest.approx(most)
    chance = max(part["loss_chance"] for part in parts)
    assert found["resilver_data_loss_probability", "host"] == pytest.approx(chance)
    (safe,) = answered(report)["tables"]["safe_fill"]
    assert found["resilver_safe_fill_ratio",] == safe["end_safe_share"]
    assert found["resilver_fill_ratio",] == safe["end_share"]
    room = json_output("place", report, "--room", "--grow", "1%/week")
    (pool,) = room["pools"]
    for until in ("nearfull", "full"):
        assert found["resilver_pool_room_bytes", pool["name"], until] == pool[f"{until}_bytes"]
        seconds = room["reached"][until]["seconds"]
        assert found["resilver_reached_seconds", until] == pytest.approx(seconds)
    assert found["resilver_pool_max_avail_bytes", pool["name"]] == pool["max_avail_bytes"]
    assert f"{parts[0]['name']} has the largest impact." in said
    assert said.index("Any host may fail") < said.index("Safe fill") < said.index("is nearfull in")


def test_a_file_that_cannot_be_written_leaves_the_last_one(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "resilver.prom"
    path.write_text("the last one", encoding="utf-8")

    def is_full(_: Path, __: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    words = ["watch", small, "--level", "rack", "--metrics"]
    monkeypatch.setattr(Path, "write_bytes", is_full)
    assert "cannot be written: No space left on device" in refusal(*words, path)
    assert path.read_text(encoding="utf-8") == "the last one"
    assert [one.name for one in tmp_path.iterdir()] == ["resilver.prom"]
    assert "there is no folder" in refusal(*words, tmp_path / "none" / "resilver.prom")
    (tmp_path / "loop.prom").symlink_to(tmp_path / "loop.prom")
    assert "choose another place" in refusal(*words, tmp_path / "loop.prom")
    assert "choose another place" in refusal(*words, tmp_path / f"{'a' * 300}.prom")
    assert "is written as .prom" in refusal(*words, tmp_path / "resilver.txt")
    assert 'did you mean "rack"?' in refusal("watch", small, "--level", "rak")


def test_the_dashboard_and_the_alerts_ask_for_gauges_that_there_are(
    small: Path, tmp_path: Path
) -> None:
    path = tmp_path / "resilver.prom"
    output("watch", small, "--level", "host", "--grow", "1%/week", "--metrics", path)
    names = {name for name, *_ in samples_of(path)}
    dashboard = (EXAMPLES / "dashboard.json").read_text(encoding="utf-8")
    panels = json.loads(dashboard)["panels"]
    assert len(panels) == 8
    texts = [target["expr"] for panel in panels for target in panel["targets"]]
    texts.append((EXAMPLES / "alerts.yml").read_text(encoding="utf-8"))
    asked = {name for text in texts for name in re.findall(r"\bresilver_[a-z_]+\b", text)}
    page = (ROOT / "docs" / "how-to" / "watch-a-cluster.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`(resilver_[a-z_]+)`", page))
    assert asked <= names | {"resilver_dumps_timestamp_seconds"} and names <= described


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """A folder at a port of the loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus")
def test_prometheus_reads_the_file_and_raises_the_alerts(report: Path, tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    output("watch", report, "--level", "host", "--metrics", tmp_path / "resilver.prom")
    os.replace(tmp_path / "resilver.prom", path)
    rules = EXAMPLES / "alerts.yml"
    subprocess.run(["promtool", "check", "rules", rules], check=True, capture_output=True)
    with path.open("rb") as text:
        subprocess.run(["promtool", "check", "metrics"], stdin=text, check=True)
    short = re.sub(r"for: \w+", "for: 0s", rules.read_text(encoding="utf-8"))
    (tmp_path / "rules.yml").write_text(short, encoding="utf-8")
    with served(tmp_path) as port:
        scraped = {"job_name": "watch", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(tmp_path / "rules.yml")],
            "scrape_configs": [scraped],
        }
        # JSON is YAML.
        (tmp_path / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        with prometheus(tmp_path) as own:
            ends = time.monotonic() + 60
            expected = {"ResilverDoesNotHeal", "ResilverAboveSafeFill", "ResilverOutdated"}
            while (firing := alerts_of(own)) != expected and time.monotonic() < ends:
                time.sleep(0.5)
    assert firing == expected


@contextmanager
def prometheus(folder: Path) -> Iterator[int]:
    """A Prometheus of the folder's configuration at a port of the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    words += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(20)


def alerts_of(port: int) -> set[str]:
    """The alerts that Prometheus fires; none while it is not there yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=5) as answer:
            alerts = json.load(answer)["data"]["alerts"]
    except OSError:
        return set()
    return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}
