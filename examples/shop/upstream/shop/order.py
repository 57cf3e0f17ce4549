"""What a customer buys."""

from shop.config import UNIT


class Order:
    """Lines of (name, count, price in cents)."""

    def __init__(self, number, lines):
        self.number = number
        self.lines = lines

    def total(self):
        """In cents."""
        return sum(count * price for _, count, price in self.lines)

    def total_in_units(self):
        """In the vendor's unit."""
        return self.total() * UNIT

    def total_for_globex(self):
        """Globex wants a string."""
        return f"{self.total()} cents"
