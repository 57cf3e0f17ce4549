"""Receipts in several formats."""

from xml.sax.saxutils import escape


def as_text(order, reference):
    """For people."""
    return f"order {order.number}: {order.total() / 100:.2f}, paid as {reference}"


def as_xml(order, reference):
    """For the book-keeping of former days."""
    return f"<receipt order='{escape(order.number)}'>{escape(reference)}</receipt>"


FORMATS = {
    "text": as_text,
    "xml": as_xml,
}
