"""``serving.py MODEL``: upstream's bench_serving against several servers, by turns, for each job on standard input.

A job is a line of JSON: ``servers`` (name -> URL), ``repeats``, ``out`` (the start of the files' names), ``options``.
One process measures all, so its own imports and warm-up weigh on none; the first repeat of a job warms its servers up
and counts for nothing. ``OUT.done`` says that a job is finished.
Upstream's module imports a reader of each kind of prompts, one of them through the package ``datasets``, which a host
without network need not have: only random ids are asked for, and a stand-in takes its place.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import sys
import types
from pathlib import Path


def main():
    model = sys.argv[1]
    importlib.import_module("transformers")  # asks what is installed, and shall not see the stand-in
    absent = importlib.util.find_spec("datasets") is None
    if absent:
        sys.modules["datasets"] = types.ModuleType("datasets")
        sys.modules["datasets"].load_dataset = None
    from sglang.benchmark import serving

    if absent:
        del sys.modules["datasets"]

    for line in sys.stdin:
        job = json.loads(line)
        for index in range(job["repeats"] + 1):
            servers = list(job["servers"].items())
            for who, url in servers if index % 2 else servers[::-1]:  # who is first differs
                file = f"{job['out']}.{who}.jsonl" if index else f"{job['out']}.warm"
                sys.argv = ["serving", "--backend", "sglang", "--base-url", url, "--dataset-name", "random-ids"]
                sys.argv += ["--model", model, "--tokenizer", model, "--output-file", file, *job["options"]]
                with contextlib.redirect_stdout(io.StringIO()):
                    serving.cli_main()
                print(index, who, flush=True)
        Path(f"{job['out']}.done").write_text("")


if __name__ == "__main__":
    main()
