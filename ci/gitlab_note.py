"""Put a comment under the merge request of a branch: ``gitlab_note.py FILE BRANCH``, in a job of GitLab's CI."""

from __future__ import annotations

import json
import os
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """One call of the project's interface. Raises urllib.error.URLError."""
    base = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
    headers = {"PRIVATE-TOKEN": os.environ["PRUNE_TOKEN"], "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(base + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def main(file: str, branch: str) -> None:
    """Find the open merge request and comment."""
    query = urllib.parse.urlencode({"state": "opened", "source_branch": branch})
    for row in call("GET", f"/merge_requests?{query}"):
        call("POST", f"/merge_requests/{row['iid']}/notes", {"body": Path(file).read_text("utf-8")})


if __name__ == "__main__":
    main(*sys.argv[1:3])
