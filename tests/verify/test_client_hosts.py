"""The verifier on facts that need a device: what runs at import may not rest on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.verify import run

RULES = """\
schema: prune-rules/1
rules:
  - id: gpu
    device: true
    because: a test
    assume:
      plat.is_cuda(): true
  - id: vendor
    because: a test
    assume:
      plat.is_hip(): false
    root: [app]
"""
PLAT = (
    "import host\n\n\ndef is_cuda():\n    return 'cuda' in host.ALL\n\n\ndef is_hip():\n    return 'hip' in host.ALL\n"
)
HEAD = "from plat import is_cuda, is_hip\n"
NATIVE = (
    HEAD
    + "if is_cuda():\n    import native\nelse:\n    native = None\n\n\ndef f():\n    if is_cuda():\n        return native.g()\n"
)
TRAINED = "\n\ndef f():\n    return native.g()\n"
PROGRAMS = {
    "kept and its reader folded": (NATIVE, "from plat import is_cuda\nif is_cuda():\n    import native\nelse:\n    native = None\n" + TRAINED, ""),
    "an import is no longer guarded": (NATIVE, "import native\n" + TRAINED, "runs on every host"),
    "facts of every host fold": (HEAD + "if is_hip():\n    import amd\nX = 1 if is_hip() else 2\n", "X = 2\n", ""),
    "an operand goes, the test stays": (
        HEAD + "if is_cuda() and not is_hip():\n    import native\n\n\ndef f():\n    return native\n",
        "from plat import is_cuda\nif is_cuda():\n    import native\n\n\ndef f():\n    return native\n", ""),
    "a conditional value": (HEAD + "X = 1 if is_cuda() else 2\n", "X = 1\n", "X no longer asks is_cuda"),
    "a definition": (
        HEAD + "if is_cuda():\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n",
        "def f():\n    return 1\n", "runs on every host"),
}  # fmt: skip


@pytest.mark.parametrize(("up", "out", "says"), PROGRAMS.values(), ids=PROGRAMS)
def test_code_at_import(up: str, out: str, says: str, tmp_path: Path) -> None:
    for name, text in (("up", up), ("out", out)):
        (tmp_path / name).mkdir()
        files = {"app.py": text, "plat.py": PLAT, "host.py": "ALL = []\n", "native.py": "def g():\n    return 1\n"}
        for path, content in files.items():
            (tmp_path / name / path).write_text(content, "utf-8")
    (tmp_path / "rules.yaml").write_text(RULES, "utf-8")
    rows = {row.check: row for row in run(tmp_path / "up", tmp_path / "out", [tmp_path / "rules.yaml"], jobs=1)}
    said = [line for line in rows["fold"].details if "every host" in line or "no longer asks" in line]
    if says:
        assert rows["fold"].result == "refuted" and says in "\n".join(said), rows["fold"]
    else:
        assert not said, rows["fold"]
