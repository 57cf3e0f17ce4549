"""Records what a server executes. Python imports this file at start-up when its folder is on ``PYTHONPATH``.

``PRUNE_TRACE_DIR``: every process writes ``PID.json`` there every two seconds: its title, the modules of sglang that
it holds, and with ``PRUNE_TRACE_LINES=1`` the executed lines by file of the tree in ``PRUNE_TRACE_TREE``
(``sys.monitoring``, so Python 3.12; each line is reported once and then costs nothing). Without ``PRUNE_TRACE_DIR``
this does nothing.

Blind to what torch.compile traces and to kernels, which never run as Python: the lines are a lower bound.
"""

import os


def _start(folder):
    import atexit
    import json
    import sys
    import threading
    import time

    lines = {}
    written = [-1]
    tree = os.environ["PRUNE_TRACE_TREE"] + "/"

    def line(code, number):
        name = code.co_filename
        if name.startswith(tree):
            lines.setdefault(name[len(tree) :], set()).add(number)
        return sys.monitoring.DISABLE

    def title():
        try:
            with open("/proc/self/cmdline", "rb") as file:
                text = file.read().replace(b"\0", b" ").decode().strip()
        except OSError:
            text = "?"
        main = sys.modules.get("multiprocessing")
        return f"{main.current_process().name if main else ''} | {text}"[:200]

    def write():
        modules = sorted(m for m in list(sys.modules) if m == "sglang" or m.startswith("sglang."))
        size = len(modules) + sum(len(numbers) for numbers in list(lines.values()))
        if not modules or size == written[0]:
            return
        seen = {name: sorted(numbers) for name, numbers in list(lines.items())}
        path = f"{folder}/{os.getpid()}.json"
        with open(path + ".part", "w") as file:
            json.dump({"title": title(), "modules": modules, "lines": seen}, file, separators=(",", ":"))
        os.replace(path + ".part", path)
        written[0] = size

    def last():
        for _ in range(9):
            try:
                return write()
            except RuntimeError:  # another thread added a line meanwhile
                time.sleep(0.05)

    def loop():
        while True:
            time.sleep(2)
            try:
                last()
            except OSError:
                return

    def begin():
        written[0] = -1  # a forked process has its parent's lines, and a file of its own
        threading.Thread(target=loop, daemon=True, name="prune-trace").start()

    if os.environ.get("PRUNE_TRACE_LINES") and sys.version_info >= (3, 12):
        monitoring = sys.monitoring
        monitoring.use_tool_id(3, "prune-parity")
        monitoring.register_callback(3, monitoring.events.LINE, line)
        monitoring.set_events(3, monitoring.events.LINE)
    begin()
    os.register_at_fork(after_in_child=begin)
    atexit.register(last)


if os.environ.get("PRUNE_TRACE_DIR"):
    _start(os.environ["PRUNE_TRACE_DIR"])
