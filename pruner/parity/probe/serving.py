"""``serving.py REPEATS OUT MODEL NAME=URL...``: upstream's bench_serving against several servers, by turns.

One process measures all, so its own imports and warm-up weigh on none. Upstream's module imports a reader of each kind
of prompts, one of them through the package ``datasets``, which a host without network need not have: only random ids
are asked for, and a stand-in takes its place.
"""

import contextlib
import importlib
import importlib.util
import io
import sys
import types


def main():
    repeats, out, model = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    servers = [word.split("=", 1) for word in sys.argv[4:]]
    importlib.import_module("transformers")  # asks what is installed, and shall not see the stand-in
    absent = importlib.util.find_spec("datasets") is None
    if absent:
        sys.modules["datasets"] = types.ModuleType("datasets")
        sys.modules["datasets"].load_dataset = None
    from sglang.benchmark import serving

    if absent:
        del sys.modules["datasets"]

    for index in range(repeats + 1):
        for who, url in servers:
            file = f"{out}.{who}.jsonl" if index else f"{out}.warm"
            sys.argv = ["serving", "--backend", "sglang", "--base-url", url, "--dataset-name", "random-ids"]
            sys.argv += ["--model", model, "--tokenizer", model, "--num-prompts", "64", "--random-input-len", "256"]
            sys.argv += ["--random-output-len", "64", "--random-range-ratio", "1", "--max-concurrency", "8"]
            sys.argv += ["--seed", "1", "--flush-cache", "--disable-tqdm", "--output-file", file]
            with contextlib.redirect_stdout(io.StringIO()):
                serving.cli_main()
            print(index, who, flush=True)


if __name__ == "__main__":
    main()
