"""A headless Chromium, driven over its own debugging pipe with nothing but the standard library.

The Chrome DevTools Protocol over `--remote-debugging-pipe`: JSON messages that end in a NUL byte,
read by the browser from file descriptor 3 and written by it to 4.
"""

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
    "--force-device-scale-factor=1", "--remote-debugging-pipe",
    # Whatever tried to leave the machine would fail here, and the failure would be on the console.
    "--proxy-server=127.0.0.1:9",
)  # fmt: skip

LEFT = frozenset(
    {
        "Inspected target navigated or closed",
        "Execution context was destroyed.",
        "Cannot find context with specified id",
        "Cannot find default execution context",
    }
)
"""What the browser answers a question to a page that goes while it is asked."""


class PageLeftError(RuntimeError):
    """The page went, or came again, while a question was put to it."""


def find_chromium() -> str | None:
    """The browser's path, or None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Page:
    """One tab: sends commands, keeps every event that the browser reports."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._buffer = b""
        self._last = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, seconds: float = 60.0, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writer, data) :]
        until = time.monotonic() + seconds
        while True:
            answer = self._receive(until, method)
            if answer.get("id") == self._last:
                if "error" in answer:
                    problem = f"{method}: {answer['error']}"
                    left = answer["error"].get("message", "") in LEFT
                    raise PageLeftError(problem) if left else RuntimeError(problem)
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self, until: float, method: str) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0.0 or not select.select([self._reader], [], [], left)[0]:
                raise TimeoutError(f"Chromium did not answer {method}")
            chunk = os.read(self._reader, 1 << 20)
            if not chunk:
                raise RuntimeError(f"Chromium ended during {method}")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, path: Path, width: int, height: int, scheme: str = "light") -> None:
        """Open a report page and wait until it says that its charts are drawn."""
        self.view(width, height, scheme)
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.documentElement?.hasAttribute('data-drawn') === true")

    def view(self, width: int, height: int, scheme: str = "light") -> None:
        """Set the window's size and the preferred colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def wait(self, condition: str, seconds: float = 60.0) -> None:
        """Wait until a JavaScript condition holds."""
        until = time.monotonic() + seconds
        while not self._holds(condition):
            if time.monotonic() > until:
                raise TimeoutError(f"{condition} did not come true; console: {self.complaints()}")
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        """Whether a condition holds; not on a page that comes again while it is asked."""
        try:
            return bool(self.evaluate(condition))
        except PageLeftError:
            return False

    def complaints(self) -> list[str]:
        """Errors and warnings on the console, and exceptions nobody caught."""
        texts = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                texts.append(str(params["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] != "verbose":
                texts.append(str(params["entry"]))
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in (
                "error", "warning", "assert",
            ):  # fmt: skip
                texts.append(str(params["args"]))
        return texts

    def requests(self) -> list[str]:
        """The addresses of all requests so far."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]


@contextlib.contextmanager
def chromium(program: str) -> Iterator[tuple[int, int]]:
    """The pipes of a `Page` in a browser with a profile of its own, which ends with the block."""
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The shell puts the two pipes where the browser looks for them.
        command = 'exec "$0" "$@" 3<&"$IN" 4>&"$OUT"'
        process = subprocess.Popen(
            ["/bin/bash", "-c", command, program, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser, from_browser),
            env={**os.environ, "IN": str(to_browser), "OUT": str(from_browser)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield to_us, from_us
        finally:
            os.close(from_us)
            os.close(to_us)
            process.terminate()
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
