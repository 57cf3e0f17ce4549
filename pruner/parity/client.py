"""Sends groups of requests to one server and writes down what came back, without what differs from run to run.

Blind to the order and size of a stream's events: only what they add up to is kept.
"""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

from pruner.parity.requests import MODEL, Group, Request

TREE = "<tree>"  # stands for the folder of a tree
# Times, ids and what the server measured of itself; besides, whatever ends like a time.
MOMENTS = re.compile(r"_(?:ts|time|latency|timestamp)$")
# `dp_rank`: which replica had the request; two servers need not deal them out alike.
VOLATILE = frozenset("id rid created call_id timestamp decode_throughput dp_rank".split())
SOMETIMES = frozenset({"decode_throughput", "response_sent_to_client_ts"})  # there or not, as the clock has it
ANY = "*"  # stands for a value that is another in each run
HEX = re.compile(r"\b[0-9a-f]{24,}\b")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
LINE = re.compile(r"(?<=, line )\d+")  # of a traceback: removed lines shift the rest
LABELLED = re.compile(r"^([a-zA-Z_:][\w:]*)(\{[^}]*\})? ", re.MULTILINE)
LABEL = re.compile(r"(\w+)=")
# No proxy: it would answer for both servers, alike.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
BROKEN = (OSError, http.client.HTTPException)


class Client:
    """One server of one tree. ``replace`` maps what requests say to what holds here: checkpoint folders."""

    def __init__(self, port: int, replace: dict[str, str], timeout: float = 90.0) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.port, self.replace, self.timeout = port, replace, timeout

    def healthy(self) -> bool:
        """Whether the server answers at all."""
        try:
            with OPENER.open(f"{self.base}/health", timeout=3) as answer:
                return bool(answer.status == 200)
        except BROKEN:
            return False

    def groups(self, groups: Iterable[Group]) -> dict[str, list[list[Any]]]:
        """Per group the answers of each round. A dead server ends it: later groups have no rounds."""
        return dict(self.each(groups))

    def each(self, groups: Iterable[Group]) -> Iterator[tuple[str, list[list[Any]]]]:
        for group in groups:
            rounds = [self.ask(group) for _ in range(1 if group.once else 2)]
            yield group.name, rounds
            if any(answer.get("status") == 0 for answer in rounds[-1]) and not self.healthy():
                return

    def ask(self, group: Group) -> list[Any]:
        """One round: the answers of a group."""
        if group.flush:
            self.flush()
        return [self.send(request) for request in group.requests]

    def flush(self) -> bool:
        """Empty the prefix cache; refused while a request is still being put away."""
        for _ in range(30):
            if self.send(Request("/flush_cache", {}))["status"] == 200:
                return True
            time.sleep(0.1)
        return False

    def send(self, request: Request) -> dict[str, Any]:
        """``{"status", "body"}``; status 0 is a broken connection, or a stream without its end."""
        text = None if request.body is None else json.dumps(request.body)
        for mark, place in {f'"{MODEL}"': json.dumps(self.replace[MODEL]), **self.places()}.items():
            text = text and text.replace(mark, place)
        data = None if text is None else text.encode()
        call = urllib.request.Request(
            self.base + request.path, data, {"Content-Type": "application/json"}, method=request.method
        )
        try:
            with self.opened(call) as answer:
                if request.stream and answer.status == 200:
                    return self.stream(answer, request)
                return {"status": answer.status, "body": self.clean(parse(answer.read()))}
        except BROKEN as error:
            return {"status": 0, "body": type(error).__name__}

    def opened(self, call: urllib.request.Request) -> Any:
        """The answer; an error is one."""
        try:
            return OPENER.open(call, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            return error

    def prune_digest(self) -> str:
        """What ``/server_info`` says of the build; empty where it says nothing."""
        try:
            with OPENER.open(f"{self.base}/server_info", timeout=10) as answer:
                found = json.loads(answer.read())
        except (*BROKEN, ValueError):
            return ""
        return str(found.get("prune_digest") or "") if isinstance(found, dict) else ""

    def places(self) -> dict[str, str]:
        return {mark: place for mark, place in self.replace.items() if mark != MODEL}

    def stream(self, answer: Any, request: Request) -> dict[str, Any]:
        """What the events add up to; for an aborted stream only that it began."""
        events: list[Any] = []
        for line in answer:
            if not line.startswith(b"data:"):
                continue
            word = line[5:].strip()
            if word == b"[DONE]":
                return {"status": answer.status, "body": self.clean(joined(events))}
            events.append(parse(word))
            if request.abort_after and len(events) == request.abort_after:
                aborted = self.send(Request("/abort_request", {"rid": "", "abort_all": True}))["status"]
                return {"status": answer.status if aborted else 0, "body": {"events": "several", "abort": aborted}}
        return {"status": 0, "body": "a stream without its end", "so far": self.clean(joined(events))}

    def clean(self, value: Any) -> Any:
        """The value without times, ids, folders and ports; that they are there is kept."""
        if isinstance(value, dict):
            return {
                key: self.clean(item) if not volatile(key) or item is None else ANY
                for key, item in value.items()
                if key not in SOMETIMES
            }
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, str):
            for mark, place in self.replace.items():
                value = value.replace(place, mark)
            return LINE.sub("N", PORT.sub("PORT", HEX.sub("ID", value)))
        return value


def volatile(key: str) -> bool:
    """Whether a field says when or how fast, not what."""
    return key in VOLATILE or MOMENTS.search(key) is not None


def parse(data: bytes) -> Any:
    """JSON, the names of metrics with their labels, or text."""
    text = data.decode("utf-8", "backslashreplace")
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.startswith("# HELP"):
        found = LABELLED.findall(text)
        return sorted({f"{name} {sorted(LABEL.findall(labels))}" for name, labels in found})
    return text


def joined(events: list[Any]) -> Any:
    """A stream's events as one value: cumulative ones give the last, deltas are put together, field by field."""
    try:
        if any("choices" in event for event in events):
            return together(events)
        return {"last": events[-1] if events else None, "errors": [event for event in events if "error" in event]}
    except (AttributeError, TypeError):  # no events of a server
        return events


def together(events: list[Any]) -> dict[str, Any]:
    """Deltas as one value: texts and lists end to end, other values in their order, what all events have once."""
    parts: dict[str, Any] = {}
    rest: dict[str, list[Any]] = {}
    common: dict[str, list[Any]] = {}
    for event in events:
        if "choices" not in event:
            rest.setdefault("events", []).append(event)
            continue
        for key, value in event.items():
            if key == "usage" and value:
                rest.setdefault(key, []).append(value)
            elif key not in ("choices", "usage"):
                found = common.setdefault(key, [])
                found += [] if volatile(key) or value in found else [value]
        for choice in event["choices"]:
            delta = choice.get("delta") or {}
            for key, value in [*delta.items(), *(pair for pair in choice.items() if pair[0] not in ("index", "delta"))]:
                name = f"{choice.get('index')} {key}"
                if isinstance(value, str) and key not in ("role", "finish_reason"):
                    parts[name] = parts.get(name, "") + value
                elif isinstance(value, dict) and all(isinstance(items, list) for items in value.values()):
                    for part, items in value.items():  # log-probabilities
                        parts[f"{name} {part}"] = [*parts.get(f"{name} {part}", []), *items]
                elif value is not None:
                    rest.setdefault(name, []).append(value)
    return {"parts": parts, "rest": rest, "common": common}
