"""The generated tree as a package: builds its wheel, installs it alone into an empty environment, starts what it offers.

    python -m benchmarks.wheel GENERATED [--report reports/report.json] [--sbom sbom.cdx.json] [--sizes]
                                      [--parser PYTHON]

Each entry point starts, or ends with the name of a package that the project asks for; anything else is a fault (exit 1).
``--sbom`` writes a CycloneDX document of the wheel and what it asks for (needs requirements-sbom.txt), and the wheel beside it. ``--sizes`` asks
the package index that pip is set up with how large the wheels of the dropped dependencies are. Needs an index for the
build backend; nothing of the tree's dependencies is installed. ``--parser``: a Python that has what the server imports
(no card needed; .venv-verify/bin/python); the tree's own parser then reads each command of ``launch/``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

from pruner.pipeline.launch import commands
from pruner.pipeline.needs import imports_of, name_of
from pruner.verify.behaviour.environment import ALWAYS, KERNELS, PROBE

MISSING = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
EPOCH = "315532800"  # 1980, before which an archive knows no time
MODULES = ("sglang", "sglang.launch_server", "sglang.check_env", "sglang.bench_serving", "sglang.bench_one_batch")


def build(tree: Path, folder: Path) -> Path:
    """The wheel. Raises CalledProcessError, with what pip said on stderr.

    Built from a copy: pip leaves build/ and an egg-info folder where it builds, files that `prune verify` refutes.
    """
    copy = folder / "tree"
    left = {"build", *(path.name for path in tree.glob("*.egg-info"))}
    shutil.copytree(tree, copy, symlinks=True, ignore=lambda at, names: left if Path(at) == tree else ())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy)]
    # The same tree, the same bytes: an archive holds times.
    subprocess.run(command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
    shutil.rmtree(copy)
    (wheel,) = folder.glob("*.whl")
    return wheel


def left_out(tree: Path, wheel: Path) -> list[str]:
    """Files of the package that the wheel does not hold."""
    held = set(zipfile.ZipFile(wheel).namelist())
    own = [p.relative_to(tree).as_posix() for p in (tree / "sglang").rglob("*") if p.is_file()]
    return sorted(path for path in own if path not in held and "__pycache__" not in path)


def installed(wheel: Path, folder: Path) -> Path:
    """The Python of an empty environment with this wheel and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True)
    return python


def starts(command: list[str], folder: Path) -> tuple[str, str]:
    """(``starts`` | ``needs`` | ``fails``, the missing package or the last line)."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, check=False)
    if done.returncode == 0:
        return "starts", ""
    last = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
    found = MISSING.search(last)
    return ("needs", found[1].partition(".")[0]) if found else ("fails", last)


def trial(tree: Path, wheel: Path, folder: Path) -> list[dict[str, str]]:
    """What each entry point does in the empty environment."""
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    known = {name for row in project["dependencies"] for name in imports_of(row)}
    python = installed(wheel, folder)
    commands = {f"python -m {module}": [str(python), "-m", module, "--help"] for module in MODULES}
    commands["import sglang"] = [str(python), "-c", "import sglang"]
    commands |= {name: [str(python.parent / name), "--help"] for name in project.get("scripts", {})}
    rows = []
    for name, command in commands.items():
        result, what = starts(command, folder)
        if result == "needs" and what not in known:
            result = "fails"
        rows.append({"command": name, "result": result, "what": what})
    return rows


PARSE = """
import argparse, importlib.util, json, sys
work = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("standins", work["standins"])
standins = importlib.util.module_from_spec(spec)
spec.loader.exec_module(standins)
standins.install(work["names"], ())
from sglang.srt.server_args import ServerArgs
told = []
for name, words in work["commands"]:
    parser = argparse.ArgumentParser(prog=name)
    ServerArgs.add_cli_args(parser)
    try:
        parser.parse_args(words)
        told.append([name, ""])
    except SystemExit as error:
        told.append([name, f"exit {error.code}"])
print("TOLD " + json.dumps(told))
"""


def parsed(tree: Path, python: Path) -> dict[str, str]:
    """File of ``launch/`` → "" where the tree's own parser takes its command, else what it said."""
    work = [(p.name, words) for p in sorted((tree / "launch").iterdir()) for words in commands(p.read_text("utf-8"))]
    given = {"standins": str(PROBE.parent / "standins.py"), "names": [*ALWAYS, *KERNELS], "commands": work}
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [str(python), "-c", PARSE],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.startswith("TOLD "):
            said = [row for row in done.stderr.splitlines() if ": error: " in row]
            rows: list[tuple[str, str]] = json.loads(line[5:])
            return {
                name: next((row for row in said if row.startswith(f"{name}: ")), what) if what else ""
                for name, what in rows
            }
    return {name: (done.stderr.strip() or "said nothing").rpartition("\n")[2] for name, _ in work}


def sizes(dropped: list[dict[str, Any]]) -> dict[str, int]:
    """Bytes of each dropped requirement's wheel, as the index has it; 0 where it does not say."""
    found = {}
    for row in dropped:
        bare = row["requirement"].partition(";")[0].strip()
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed"]
        done = subprocess.run([*command, "--report", "-", bare], capture_output=True, text=True, check=False)
        found[name_of(bare)] = 0
        if done.returncode == 0:
            place = json.loads(done.stdout)["install"][0]["download_info"]["url"]
            if place.startswith("file:"):
                found[name_of(bare)] = Path(urllib.request.url2pathname(place.removeprefix("file://"))).stat().st_size
            else:
                with urllib.request.urlopen(urllib.request.Request(place, method="HEAD"), timeout=30) as answer:
                    found[name_of(bare)] = int(answer.headers.get("Content-Length") or 0)
    return found


def origin(manifest: dict[str, Any]) -> dict[str, str]:
    """What a manifest says of where the tree comes from; a folder has no archive's digest, its files have one."""
    upstream = manifest["upstream"]
    found = {"prune:digest": manifest.get("digest", ""), "prune:rules": manifest["rules"]["digest"]}
    found |= {"prune:upstream": upstream["digest"], "prune:upstream-files": upstream["snapshot"]}
    return {name: value for name, value in found.items() if value}


def sbom(tree: Path, wheel: Path) -> str:
    """CycloneDX 1.6 of the wheel: itself with its digests, and a component for each requirement."""
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    from packageurl import PackageURL

    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    manifest = json.loads((tree / "PRUNED.json").read_text("utf-8"))
    name, version = project["name"], project["version"]
    own = Component(
        name=name,
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=f"{name}=={version}",
        purl=PackageURL("pypi", None, name, version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(wheel.read_bytes()).hexdigest())],
        properties=[Property(name=name, value=value) for name, value in origin(manifest).items()],
    )
    bom = Bom()
    bom.metadata.component = own
    for requirement in project["dependencies"]:
        exact = re.search(r"==\s*([\w.!+-]+)", requirement.partition(";")[0])
        wanted = name_of(requirement)
        part = Component(
            name=wanted,
            version=exact[1] if exact else None,
            bom_ref=requirement,
            purl=PackageURL("pypi", None, wanted, exact[1] if exact else None),
            properties=[Property(name="prune:requirement", value=requirement)],
        )
        bom.components.add(part)
        bom.register_dependency(own, [part])
    # The same tree, the same bytes: no clock and no random number.
    digest = hashlib.sha256(json.dumps([manifest.get("digest"), project["dependencies"]]).encode()).hexdigest()
    from uuid import UUID

    bom.serial_number = UUID(digest[:32])
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    document = json.loads(text)
    document["metadata"].pop("timestamp", None)
    text = json.dumps(document, indent=2, sort_keys=True) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        raise ValueError(f"the document is no CycloneDX 1.6: {fault}")
    return text


def main() -> int:
    """Prints one JSON document."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wheel")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--sbom", type=Path)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--parser", type=Path, metavar="PYTHON")
    options = parser.parse_args()
    tree = options.tree.resolve()
    with tempfile.TemporaryDirectory() as place:
        wheel = build(tree, Path(place))
        rows = trial(tree, wheel, Path(place, "empty"))
        absent = left_out(tree, wheel)
        told: dict[str, Any] = {"wheel": wheel.name, "bytes": wheel.stat().st_size, "entries": rows, "left out": absent}
        if options.sbom:
            options.sbom.write_text(sbom(tree, wheel), "utf-8")
            shutil.copy2(wheel, options.sbom.absolute().parent)  # the file whose digest it tells
    if options.report:
        dropped = json.loads(options.report.read_text("utf-8")).get("packaging", {}).get("dropped", [])
        told["dropped"] = [row["requirement"] for row in dropped]
        if options.sizes:
            told["sizes"] = sizes(dropped)
    if options.parser:
        told["launch"] = parsed(tree, options.parser)
    print(json.dumps(told, indent=1))
    return 1 if absent or any(told.get("launch", {}).values()) or any(row["result"] == "fails" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
