"""Start a probe session: ``python boot.py SETTINGS.json``. Loads its own folder as the package ``probe``."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path


def main(path: str) -> None:
    """Run the session that the settings describe."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        "probe", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is no package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["probe"] = package
    spec.loader.exec_module(package)
    # The folder of this script is first on the path; a tree's own `device` or `surface` must not meet ours.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    session = importlib.import_module("probe.session")
    session.run(session.Settings(**json.loads(Path(path).read_text(encoding="utf-8"))))


# Worker processes that a tree spawns import this file again.
if __name__ == "__main__":
    main(sys.argv[1])
