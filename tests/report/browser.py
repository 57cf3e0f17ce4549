"""A headless Chromium over the W3C WebDriver protocol: the dozen calls that the page's test needs.

The protocol is JSON over HTTP on the loopback; a client library would bring ten more pinned packages.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's key of an element reference
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Backspace": "\ue003", "Escape": "\ue00c", "ArrowRight": "\ue014"}
KEYS |= {"ArrowDown": "\ue015", "ArrowLeft": "\ue012", "ArrowUp": "\ue013"}
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1000",
)


def find() -> tuple[str, str] | None:
    """(chromedriver, chromium), or None when either is absent."""
    driver = shutil.which("chromedriver")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return (driver, browser) if driver and browser else None


class Browser:
    """One tab."""

    def __init__(self, base: str, session: str) -> None:
        self._base = f"{base}/session/{session}"

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return _request(method, self._base + path, body if method == "POST" else None)

    def open(self, page: Path, fragment: str = "") -> None:
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": page.as_uri() + fragment})
        self.wait(lambda: self.js("return document.documentElement.dataset.ready") == "yes")

    def js(self, script: str, *arguments: Any) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector: str) -> None:
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{found[ELEMENT]}/click", {})

    def press(self, *keys: str) -> None:
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def choose(self, selector: str, value: str) -> None:
        """Set a select or an input as a person does, with its event."""
        self.js(
            "const [q, v] = arguments, e = document.querySelector(q); e.value = v;"
            "e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true}));",
            selector,
            value,
        )

    def wait(self, true: Callable[[], Any], seconds: float = 20) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := true():
                return value
            time.sleep(0.02)
        raise AssertionError(f"still not true after {seconds} s")

    def console(self) -> list[str]:
        """What the page logged since the last call, errors and refused requests included."""
        return [row["message"] for row in self.call("POST", "/se/log", {"type": "browser"})]

    def scheme(self, name: str) -> None:
        """Pretend that the system prefers ``light`` or ``dark``."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        body = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        self.call("POST", "/goog/cdp/execute", body)


def _request(method: str, url: str, body: dict[str, Any] | None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback: never through a proxy
    try:
        with opener.open(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read().decode(errors="replace")) from error


@contextmanager
def browser(programs: tuple[str, str], profile: Path) -> Iterator[Browser]:
    """Start both programs with an empty profile; end exactly those two."""
    driver, chromium = programs
    process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        port = next(m[1] for line in process.stdout if (m := re.search(r"started successfully on port (\d+)", line)))
        base = f"http://127.0.0.1:{port}"
        options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = _request("POST", f"{base}/session", {"capabilities": {"alwaysMatch": wanted}})
        tab = Browser(base, made["sessionId"])
        try:
            yield tab
        finally:
            tab.call("DELETE", "")
    finally:
        process.terminate()
        process.wait(20)
