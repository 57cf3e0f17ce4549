"""``one_batch.py TURNS WHO ALL SWEEPS SIZES options...``: upstream's bench_one_batch, by turns with other processes.

Runs inside the tree that is measured. ``TURNS`` is a file that holds whose turn it is; each repetition of the sweep
waits for its own and then passes it on to the next of ``ALL``, so that the trees are measured by turns on one card.
``SIZES``: batch sizes, tokens in, tokens out, as ``1,8:256:256``.
"""

import sys
import time
from pathlib import Path


def main():
    turns, side, everyone, sweeps = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])
    batches, into, out = sys.argv[5].split(":")
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
            time.sleep(0.005)
        try:
            return original(*args, **kwargs)
        finally:
            other = everyone[(everyone.index(side) + 1) % len(everyone)]
            part = turns.with_name(f"{side}.part")
            part.write_text(other)
            part.replace(turns)

    one_batch.latency_test_run_once = in_turn
    sizes = batches.split(",") * sweeps
    sys.argv = ["one_batch", *sys.argv[6:], "--batch-size", *sizes, "--input-len", into, "--output-len", out]
    one_batch.cli_main()


if __name__ == "__main__":
    main()
