"""Module patterns."""

from __future__ import annotations

import pytest

from pruner.policy import matches


@pytest.mark.parametrize(
    ("pattern", "module", "answer"),
    [
        ("p.m", "p.m", True),
        ("p.m", "p.m.n", False),
        ("p.m", "p_m", False),
        ("p.*", "p.m", True),
        ("p.*", "p", False),
        ("p.*", "p.m.n", False),
        ("p.**", "p.m", True),
        ("p.**", "p.m.n", True),
        ("p.**", "p", False),
        ("p.**", "pq.m", False),
        ("p.bench_*", "p.bench_one", True),
        ("p.bench_*", "p.bench_one.sub", False),
        ("p.?", "p.mn", False),
        ("p.**.npu", "p.a.b.npu", True),
        ("p.**.npu", "p.npu", False),
    ],
)
def test_matches(pattern: str, module: str, answer: bool) -> None:
    assert matches(pattern, module) is answer
