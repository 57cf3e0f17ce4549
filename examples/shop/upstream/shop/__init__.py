"""A small shop: prices an order, charges it through a payment vendor, prints a receipt."""

from shop.order import Order

__all__ = ["Order"]
