"""What the client makes of raw answers: two that differ are never one, two of one kind are."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pruner.parity.client import Client
from pruner.parity.compare import exact
from pruner.parity.requests import MODEL, Request

END = b"data: [DONE]\n\n"


@pytest.fixture
def said() -> Iterator[dict[str, Any]]:
    """A server that answers what is put into this mapping: status, body, and whether the length is told."""
    given: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            data = given["body"]
            self.send_response(given.get("status", 200))
            self.send_header("Content-Length", str(len(data) + given.get("more", 0)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    given["port"] = server.server_address[1]
    yield given
    server.shutdown()
    server.server_close()


def answer(said: dict[str, Any], body: bytes, stream: bool = False, **more: Any) -> str:
    said.update({"body": body, "status": 200, "more": 0, **more})
    client = Client(said["port"], {MODEL: "/models/tiny"}, 5.0)
    return exact(client.send(Request("/generate", {}, stream=stream)))


def events(*values: Any, end: bytes = END) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values) + end


def chunk(delta: Any = None, index: int = 0, **more: Any) -> dict[str, Any]:
    event = {key: more.pop(key) for key in ("id", "model", "usage") if key in more}
    return {"object": "chunk", **event, "choices": [{"index": index, "delta": delta, **more}]}


LONG = "x" * 3000
BODIES = {
    "beyond what is shown": (b"[" + LONG.encode() + b"1", b"[" + LONG.encode() + b"2"),
    "bytes that are no text": (b"\xff", b"\xfe"),
    "a field that is gone": (b'{"id": "a", "text": "b"}', b'{"text": "b"}'),
    "no id": (b'{"id": "a"}', b'{"id": null}'),
    "a type": (b'{"x": 1}', b'{"x": true}'),
}
STREAMS = {
    "an end": (events({"text": "a"}), events({"text": "a"}, end=b"")),
    "an error in between": (events({"text": "a"}), events({"error": {"message": "m"}}, {"text": "a"})),
    "an error in a conversation": (
        events(chunk({"content": "a"})),
        events(chunk({"content": "a"}), {"error": {"code": 1}}),
    ),
    "an error at the head": (events(chunk({"content": "a"})), events({"error": {"code": 1}}, chunk({"content": "a"}))),
    "half an event": (events({"text": "a"}), events({"text": "a"}, end=b'data: {"te\n\n' + END)),
    "log-probabilities": tuple(
        events(chunk({"content": "a"}, logprobs={"content": [{"logprob": value}]})) for value in (-0.5, -0.25)
    ),
    "what ended it": tuple(events(chunk({"content": "a"}, finish_reason="stop", matched_stop=n)) for n in (1, 2)),
    "the model": tuple(events(chunk({"content": "a"}, model=name)) for name in "mn"),
    "a text of a completion": tuple(events(chunk(text=text)) for text in "ab"),
    "use": tuple(events(chunk({"content": "a"}, usage={"prompt_tokens": n})) for n in (1, 2)),
    "another choice": (events(chunk({"content": "a"})), events(chunk({"content": "a"}, index=1))),
}


@pytest.mark.parametrize("name", BODIES)
def test_two_bodies(name: str, said: dict[str, Any]) -> None:
    one, other = BODIES[name]
    assert answer(said, one) != answer(said, other)
    assert answer(said, one) != answer(said, one, status=400)


@pytest.mark.parametrize("name", STREAMS)
def test_two_streams(name: str, said: dict[str, Any]) -> None:
    one, other = STREAMS[name]
    assert answer(said, one, stream=True) != answer(said, other, stream=True)


def test_one_kind_is_one_answer(said: dict[str, Any]) -> None:
    """Other ids, times, folders and events of another size."""
    bodies = [
        json.dumps(
            {"id": name, "e2e_latency": 1.5, "created": 7, "model": "/models/tiny/x", "queue_time": number}
        ).encode()
        for number, name in enumerate("ab")
    ]
    assert len({answer(said, body) for body in bodies}) == 1
    sometimes = [b'{"meta_info": {"id": "a", "decode_throughput": 3.5}}', b'{"meta_info": {"id": "b"}}']
    assert len({answer(said, body) for body in sometimes}) == 1  # as the clock has it
    last = chunk({"content": ""}, finish_reason="stop", id="a")
    streams = [
        events(chunk({"role": "assistant"}, id="a"), chunk({"content": "a"}), chunk({"content": "b"}), last),
        events(chunk({"role": "assistant"}, id="b"), chunk({"content": "ab"}), last),
    ]
    assert len({answer(said, body, stream=True) for body in streams}) == 1
    cumulative = [events({"text": "a", "id": "x"}, {"text": "ab", "id": "x"}), events({"text": "ab", "id": "y"})]
    assert len({answer(said, body, stream=True) for body in cumulative}) == 1


@pytest.mark.parametrize("status", [200, 400])
def test_a_body_that_breaks_off_is_no_answer(status: int, said: dict[str, Any]) -> None:
    for stream in (False, True):
        assert json.loads(answer(said, b'{"text": "a"', stream, status=status, more=9))["status"] == 0


def test_a_proxy_is_not_asked(said: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that knows no way to this host would answer for both servers."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert json.loads(answer(said, b'{"text": "a"}')) == {"status": 200, "body": {"text": "a"}}
