"""``python -m pruner.parity``: the part that runs on the GPU host. Needs Python's standard library and the trees.

run UPSTREAM OUTPUT --work DIR --results DIR   cells, one line of ``cells.jsonl`` each
bench UPSTREAM OUTPUT ... --model v2-lite      speed, into ``bench.jsonl``
meet UPSTREAM OUTPUT ...                       trees that work together, into ``meetings.jsonl``
plan                                           the cells and what is not run
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from pruner.parity.bench import BENCHES, Plan, measure
from pruner.parity.cells import CELLS, NOT_RUN, SM100_CELLS
from pruner.parity.driver import ALIKE, SCHEMA, Run, append, build_of, finished, make_checkpoints, verdict
from pruner.parity.loads import LOADS
from pruner.parity.meeting import MEETINGS, meet, with_references
from pruner.parity.server import Host, card, end_all


def count(text: str) -> int:
    """An argument that is a number of things, at least one."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def names(text: str) -> list[str]:
    return list(filter(None, text.split(",")))


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
        command.add_argument("--only", type=names, default=[], help="names, with commas, in order; run again too")
        command.add_argument("--skip", type=names, default=[], help="names left out, with commas")
        command.add_argument("--slots", type=count, default=4, help="cells at once")
        command.add_argument("--limit", type=float, default=240.0, help="seconds a cell may take")
        command.add_argument("--cards", type=int, default=0, help="only cells that need so many cards")
        command.add_argument("--no-trace", action="store_true", help="do not record executed lines")
        if name == "bench":
            command.add_argument("--model", choices=sorted(LOADS), default="tiny", help="what the speed is measured on")
            command.add_argument("--pairs", type=count, default=6, help="processes of each tree")
            command.add_argument("--runs", type=int, default=0, help="runs of each process; 0: the benchmark's own")
    commands.add_parser("plan")
    return top


def main(words: Sequence[str]) -> int:
    """0 when all that ran is alike, 1 when something could not be compared, 3 when a cell differs, 2: cannot run."""
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
            return cannot(f"{side}: {tree.name} holds no sglang/")
    if build_of(trees["upstream"]):
        return cannot(f"upstream: {trees['upstream'].name} is a pruned tree; upstream's comes first, the output second")
    kinds = {"run": ("cell", [cell.name for cell in CELLS]), "bench": ("bench", list(BENCHES))}
    kind, known = kinds.get(options.command, ("meeting", [one.name for one in MEETINGS]))
    if unknown := sorted({*options.only, *options.skip} - set(known)):
        return cannot(f"no {kind} is called {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [name for name in options.only or known if name not in options.skip]
    host = Host(options.work.resolve(), options.site.resolve() if options.site else None)
    run = Run(host, trees, options.results.resolve(), options.seconds, options.slots, options.limit)
    run.trace = not options.no_trace
    try:
        host.prepare()
        run.results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return cannot(f"{error.filename}: cannot be written: {error.strerror}")
    try:
        if options.command == "bench":
            return benches(run, Plan(LOADS[options.model], options.pairs, options.runs), chosen)
        cards = int(card()["count"])
        if cards < (2 if options.command == "meet" else 1):
            return cannot(f"a {kind} needs more cards than the {cards} that nvidia-smi lists")
        return meetings(run, chosen) if options.command == "meet" else cells(run, chosen, options)
    except ModuleNotFoundError as error:
        return cannot(f"this Python has no {error.name}, which the checkpoints are made with; use the server's")


def cannot(text: str) -> int:
    """Say why nothing was run."""
    print(text, file=sys.stderr)
    return 2


def meetings(run: Run, chosen: Collection[str]) -> int:
    """Run the chosen meetings, and upstream's with itself of each kind, which the others are held to."""
    results = []
    wanted = with_references(chosen)
    if not wanted:
        return cannot("no meeting is left to run")
    for record in meet(run.host, run.trees, run.results, wanted, run.slots, run.limit):
        print(json.dumps(record), flush=True)
        results.append(record["result"])
    return verdict(results)


def cells(run: Run, names: Sequence[str], options: argparse.Namespace) -> int:
    """Run the chosen cells, in the order in which they are named: the longest first fills the slots best.

    Without ``--only``, those that the results folder has an answer of for this build are not run again.
    """
    known = {cell.name: cell for cell in CELLS}
    done = {} if options.only else finished(run)
    chosen = [known[name] for name in names if not options.cards or known[name].cards == options.cards]
    had = [cell.name for cell in chosen if cell.name in done]
    if had:
        print(f"{len(had)} cells of this build are in {run.results.name} already; --only runs one again", flush=True)
    left = [cell for cell in chosen if cell.name not in done]
    if not chosen:
        return cannot("no cell is left to run")
    results = [done[name] for name in had]
    for record in run.run(left) if left else ():
        bad = {name: row["result"] for name, row in record.get("groups", {}).items() if row["result"] not in ALIKE}
        print(f"{record['cell']}: {record['result']} {record['seconds']} s {record.get('why', '')} {bad}", flush=True)
        print(f"   {record.get('startup seconds')} {record.get('host MiB')} {record.get('card MiB')}", flush=True)
        results.append(record["result"])
    return verdict(results)


def benches(run: Run, plan: Plan, chosen: Collection[str]) -> int:
    """Run the chosen benches, one at a time. A line after each wave: the last of a bench has all of it."""
    if not chosen:
        return cannot("no bench is left to run")
    run.card = card()
    load = plan.load
    if load.model is None:
        make_checkpoints(run.host, [load.cell])
    load.write(run.model(load.cell))
    without = set(chosen)
    for name in BENCHES:
        if name not in chosen or run.left() < 45:
            continue
        start = time.monotonic()
        for label, figures in measure(run, plan, name):
            record: dict[str, Any] = {"schema": SCHEMA, "bench": label, "card": run.card, "figures": figures}
            record["seconds"] = round(time.monotonic() - start, 1)
            record["build"] = run.build()
            append(run.results / "bench.jsonl", record)
            print(json.dumps(record), flush=True)
            (without.add if "failed" in figures else without.discard)(name)
    return 1 if without else 0


def listen() -> None:
    """Have signals that end this process end its servers as well."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end_all)


if __name__ == "__main__":
    listen()
    sys.exit(main(sys.argv[1:]))
