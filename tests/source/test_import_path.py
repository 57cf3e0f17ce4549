"""Where packages lie in a checkout: the engine's reading and the verifier's are two, and agree."""

from __future__ import annotations

import pytest

from pruner.model import import_path
from pruner.verify.tree import module_of


@pytest.mark.parametrize(
    ("path", "root", "below"),
    [
        ("sglang/a.py", "", "sglang/a.py"),
        ("python/sglang/a.py", "python", "sglang/a.py"),
        ("sgl-kernel/python/sgl_kernel/moe.py", "python", "sgl_kernel/moe.py"),
        ("gateway/bindings/python/src/router/a.py", "python", "router/a.py"),
        ("gateway/bindings/python/setup.py", "python", None),
        ("gateway/bindings/python/src/setup.py", "python", None),
        ("python/setup.py", "python", "setup.py"),
        ("benchmark/run.py", "python", None),
        ("pythonic/python.py", "python", None),
        ("src/pkg/a.py", "src", "pkg/a.py"),
    ],
)
def test_both_readings(path: str, root: str, below: str | None) -> None:
    assert import_path(path, root) == below
    assert module_of(path, root) == (below.removesuffix(".py").replace("/", ".") if below else None)
