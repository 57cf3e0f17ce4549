"""``report.html``: the ledger as one page that a browser opens from disk, with no network.

The page is ours alone (no library): markup, style and scripts beside this module, the data
as JSON inside. A content security policy in the page forbids every request.
"""

from pruner.report.html.page import page_bytes
from pruner.report.html.sources import packed

__all__ = ["packed", "page_bytes"]
