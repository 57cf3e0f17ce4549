"""``python -m pruner.parity``: the part that runs on the GPU host. Needs Python's standard library and the trees.

run UPSTREAM OUTPUT --work DIR --results DIR   cells, one line of ``cells.jsonl`` each
bench UPSTREAM OUTPUT ... --model v2-lite      speed, into ``bench.jsonl``
meet UPSTREAM OUTPUT ...                       trees that work together, into ``meetings.jsonl``
plan                                           the cells and what is not run
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pruner.parity.bench import BENCHES, Plan, measure
from pruner.parity.cells import CELLS, NOT_RUN, SM100_CELLS, Cell
from pruner.parity.driver import ALIKE, SCHEMA, Run, make_checkpoints
from pruner.parity.loads import LOADS
from pruner.parity.meeting import MEETINGS, meet
from pruner.parity.server import Host, card


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m pruner.parity")
    commands = top.add_subparsers(dest="command", required=True)
    for name in ("run", "bench", "meet"):
        command = commands.add_parser(name)
        command.add_argument("upstream", type=Path, help="folder that holds upstream's sglang/")
        command.add_argument("output", type=Path, help="folder that holds the generated sglang/")
        command.add_argument("--work", type=Path, required=True, help="checkpoints, JIT caches, logs")
        command.add_argument("--results", type=Path, required=True)
        command.add_argument("--site", type=Path, help="packages that this Python lacks")
        command.add_argument("--seconds", type=float, default=3600.0, help="start nothing that cannot end by then")
        command.add_argument("--only", default="", help="names of cells or benches, with commas, in order")
        command.add_argument("--skip", default="", help="names left out, with commas")
        command.add_argument("--slots", type=int, default=4, help="cells at once")
        command.add_argument("--limit", type=float, default=240.0, help="seconds a cell may take")
        command.add_argument("--cards", type=int, default=0, help="only cells that need so many cards")
        command.add_argument("--no-trace", action="store_true", help="do not record executed lines")
        if name == "bench":
            command.add_argument("--model", choices=sorted(LOADS), default="tiny", help="what the speed is measured on")
            command.add_argument("--pairs", type=int, default=6, help="processes of each tree")
            command.add_argument("--runs", type=int, default=0, help="runs of each process; 0: the benchmark's own")
    commands.add_parser("plan")
    return top


def main(words: Sequence[str]) -> int:
    """0 when nothing differs, 3 when a cell does, 2 for faults of the call."""
    options = parser().parse_args(words)
    if options.command == "plan":
        for cell in CELLS:
            print(cell.name, cell.checkpoint, cell.cards, " ".join(cell.options()))
        unrun = {cell.name: " ".join(cell.options()) for cell in SM100_CELLS}
        for what, needs in NOT_RUN:
            print(f"not run: {what}; needs {needs}" + (f"; {unrun[what]}" if what in unrun else ""))
        return 0
    trees = {"upstream": options.upstream.resolve(), "output": options.output.resolve()}
    for side, tree in trees.items():
        if not (tree / "sglang" / "__init__.py").is_file():
            print(f"{side}: {tree.name} holds no sglang/", file=sys.stderr)
            return 2
    host = Host(options.work.resolve(), options.site.resolve() if options.site else None)
    run = Run(host, trees, options.results.resolve(), options.seconds, options.slots, options.limit)
    run.trace = not options.no_trace
    only, skip = list(filter(None, options.only.split(","))), set(options.skip.split(","))
    if options.command == "meet":
        chosen = [one for one in MEETINGS if (one.name in only or not only) and one.name not in skip]
        worst = 0
        for record in meet(host, trees, run.results, chosen, options.slots, options.limit):
            print(json.dumps(record), flush=True)
            worst = max(worst, 3 if record["result"] == "differs" else 0)
        return worst
    if options.command == "run":
        return cells(run, only, skip, options.cards)
    return benches(run, Plan(LOADS[options.model], options.pairs, options.runs), only, skip)


def cells(run: Run, only: Sequence[str], skip: set[str], cards: int) -> int:
    """Run the chosen cells, in the order in which they are named: the longest first fills the slots best."""
    known = {cell.name: cell for cell in CELLS}
    if unknown := sorted(set(only) - set(known)):
        print(f"no cell is called {unknown}", file=sys.stderr)
        return 2

    def chosen(cell: Cell) -> bool:
        return cell.name not in skip and (not cards or cell.cards == cards)

    worst = 0
    for record in run.run([known[name] for name in only or known if chosen(known[name])]):
        bad = {name: row["result"] for name, row in record.get("groups", {}).items() if row["result"] not in ALIKE}
        print(f"{record['cell']}: {record['result']} {record['seconds']} s {record.get('why', '')} {bad}", flush=True)
        print(f"   {record.get('startup seconds')} {record.get('host MiB')} {record.get('card MiB')}", flush=True)
        worst = max(worst, 3 if record["result"] == "differs" else 0)
    return worst


def benches(run: Run, plan: Plan, only: Sequence[str], skip: set[str]) -> int:
    """Run the chosen benches, one at a time. A line after each wave: the last of a bench has all of it."""
    if unknown := sorted(set(only) - set(BENCHES)):
        print(f"no bench is called {unknown}", file=sys.stderr)
        return 2
    run.host.prepare()
    run.results.mkdir(parents=True, exist_ok=True)
    run.card = card()
    load = plan.load
    if load.model is None:
        make_checkpoints(run.host, [load.cell])
    load.write(run.model(load.cell))
    for name in BENCHES:
        if (only and name not in only) or name in skip or run.left() < 45:
            continue
        start = time.monotonic()
        for label, figures in measure(run, plan, name):
            record: dict[str, Any] = {"schema": SCHEMA, "bench": label, "card": run.card, "figures": figures}
            record["seconds"] = round(time.monotonic() - start, 1)
            with (run.results / "bench.jsonl").open("a") as file:
                file.write(json.dumps(record, sort_keys=True) + "\n")
            print(json.dumps(record), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
