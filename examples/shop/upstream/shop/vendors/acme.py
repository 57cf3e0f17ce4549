"""Acme Payments."""

from shop.registry import register


@register("acme")
class Client:
    """Pays at once."""

    def pay(self, units):
        """A reference."""
        return f"acme-{units}"
