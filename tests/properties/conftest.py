"""Hypothesis profiles: ``ci`` is derandomized; ``PRUNE_HYPOTHESIS=deep`` looks further, with a new seed.

``PRUNE_EXAMPLES=600`` sets how far (about 10 examples a second; 3000 is an hour).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "print_blob": True, "suppress_health_check": list(HealthCheck)}
_DEEP = int(os.environ.get("PRUNE_EXAMPLES", "3000"))
settings.register_profile("ci", derandomize=True, max_examples=50, database=None, **_COMMON)  # type: ignore[arg-type]
settings.register_profile("deep", max_examples=_DEEP, **_COMMON)  # type: ignore[arg-type]
settings.load_profile(os.environ.get("PRUNE_HYPOTHESIS", "ci"))


def pytest_report_header() -> str:
    """Say which profile ran; a failing example prints the seed's blob (``@reproduce_failure``)."""
    return f"hypothesis: {settings.default}"
