"""Reports: one versioned JSON document, and what people and programs read, rendered from it.

``account`` counts the lines, ``build`` makes the document, ``render`` writes the folder of reports, ``manifest`` makes
``PRUNED.json``, ``packed`` what the page unpacks, ``summary`` the rows of the console's last table. See docs/report.md.
"""

from pruner.report.capability import capability_bytes, capability_markdown, counts
from pruner.report.document import Account, account, build, schema
from pruner.report.html import packed
from pruner.report.manifest import manifest
from pruner.report.render import render
from pruner.report.summary import summary

__all__ = [
    "Account",
    "account",
    "build",
    "capability_bytes",
    "capability_markdown",
    "counts",
    "manifest",
    "packed",
    "render",
    "schema",
    "summary",
]
