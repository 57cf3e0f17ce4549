"""Hypothesis profiles: ``ci`` is derandomized; ``PRUNE_HYPOTHESIS=deep`` looks further, with a new seed."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "print_blob": True, "suppress_health_check": list(HealthCheck)}
settings.register_profile("ci", derandomize=True, max_examples=100, database=None, **_COMMON)  # type: ignore[arg-type]
settings.register_profile("deep", max_examples=3000, **_COMMON)  # type: ignore[arg-type]
settings.load_profile(os.environ.get("PRUNE_HYPOTHESIS", "ci"))


def pytest_report_header() -> str:
    """Say which profile ran; a failing example prints the seed's blob (``@reproduce_failure``)."""
    return f"hypothesis: {settings.default}"
