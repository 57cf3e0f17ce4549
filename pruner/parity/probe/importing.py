"""``importing.py MODULE``: seconds, memory and modules of importing it, as JSON; torch and transformers come before."""

import importlib
import json
import resource
import sys
import time


def main():
    importlib.import_module("torch")
    importlib.import_module("transformers")
    start = time.perf_counter()
    importlib.import_module(sys.argv[1])
    seconds = time.perf_counter() - start
    modules = sum(name == "sglang" or name.startswith("sglang.") for name in sys.modules)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"seconds": round(seconds, 2), "modules": modules, "host MiB": peak}))


if __name__ == "__main__":
    main()
