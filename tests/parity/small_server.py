"""A program named ``sglang`` that answers as a server would, without a model: what the driver is tested on."""

from __future__ import annotations

from pathlib import Path

SERVER = """
import argparse, json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHIFT, BROKEN, REFUSES, DIES = {shift}, {broken!r}, {refuses!r}, {dies!r}


def answer(ids):
    return {{"output_ids": [(sum(ids) + SHIFT + i) % 97 for i in range(4)], "meta_info": {{"id": str(time.time())}}}}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send(200, {{"path": self.path, "id": time.time()}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"null") or {{}}
        if self.path in DIES:
            os._exit(1)
        if self.path in BROKEN:
            self.connection.close()
            return
        if self.path == "/flush_cache":
            return self.send(200, "flushed")
        if self.path == "/generate" and "input_ids" in body:
            ids = body["input_ids"]
            many = isinstance(ids[0], list)
            made = [answer(one) for one in ids] if many else answer(ids)
            if not body.get("stream"):
                return self.send(200, made)
            events = [made] * 5
        elif body.get("stream"):
            words = [{{"choices": [{{"index": 0, "delta": {{"content": str(n)}}}}]}} for n in range(3)]
            events = words
        else:
            known = "model" in body or self.path in ("/separate_reasoning", "/parse_function_call")
            return self.send(200 if known else 400, {{"asked": sorted(body), "created": time.time()}})
        self.send_response(200)
        self.end_headers()
        for event in events:
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\\n\\n")
        self.wfile.write(b"data: [DONE]\\n\\n")

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        pass


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
options, rest = parser.parse_known_args()
if REFUSES:
    sys.exit("ValueError: " + REFUSES)
ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
"""


def write(
    folder: Path, shift: int = 0, broken: tuple[str, ...] = (), refuses: str = "", dies: tuple[str, ...] = ()
) -> Path:
    """A tree of this program. ``shift`` changes its answers, ``broken`` are paths that it hangs up on, ``dies`` end it."""
    package = folder / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    text = SERVER.format(shift=shift, broken=broken, refuses=refuses, dies=dies)
    (package / "launch_server.py").write_text(text)
    return folder
