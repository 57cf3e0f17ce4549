"""``serving.py REPEATS URL_A URL_B OUT MODEL``: upstream's bench_serving against two servers, alternately.

One process measures both, so its own imports and warm-up weigh on neither.
"""

import contextlib
import io
import sys


def main():
    repeats, up, output, out, model = int(sys.argv[1]), *sys.argv[2:6]
    from sglang.benchmark import serving

    for index in range(repeats + 1):
        for side, url in (("upstream", up), ("output", output)):
            file = f"{out}.{side}.jsonl" if index else f"{out}.warm"
            sys.argv = ["serving", "--backend", "sglang", "--base-url", url, "--dataset-name", "random-ids"]
            sys.argv += ["--model", model, "--tokenizer", model, "--num-prompts", "64", "--random-input-len", "256"]
            sys.argv += ["--random-output-len", "64", "--random-range-ratio", "1", "--max-concurrency", "8"]
            sys.argv += ["--seed", "1", "--flush-cache", "--disable-tqdm", "--output-file", file]
            with contextlib.redirect_stdout(io.StringIO()):
                serving.cli_main()
            print(index, side, flush=True)


if __name__ == "__main__":
    main()
