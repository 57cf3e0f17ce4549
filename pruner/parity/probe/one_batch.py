"""``one_batch.py TURNS SIDE REPEATS options...``: upstream's bench_one_batch, taking turns with another process.

Runs inside the tree that is measured. ``TURNS`` is a file that holds whose turn it is; each repetition of the sweep
waits for its own and then passes it on, so that the two trees are measured alternately on one card.
"""

import sys
import time
from pathlib import Path


def main():
    turns, side, repeats = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    from sglang.benchmark import one_batch

    original = one_batch.latency_test_run_once
    calls = [0]

    def in_turn(*args, **kwargs):
        calls[0] += 1
        if calls[0] == 1:  # the warm-up; the first turn begins when both have done it
            result = original(*args, **kwargs)
            (turns.parent / f"{side}.ready").write_text("")
            return result
        while turns.read_text() != side:
            time.sleep(0.002)
        try:
            return original(*args, **kwargs)
        finally:
            other = {"upstream": "output", "output": "upstream"}[side]
            part = turns.with_name(f"{side}.part")
            part.write_text(other)
            part.replace(turns)

    one_batch.latency_test_run_once = in_turn
    sizes = ["8"] * repeats
    sys.argv = ["one_batch", *sys.argv[4:], "--batch-size", *sizes, "--input-len", "256", "--output-len", "64"]
    one_batch.cli_main()


if __name__ == "__main__":
    main()
