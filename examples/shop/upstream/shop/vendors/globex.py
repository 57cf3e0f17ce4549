"""Globex Pay."""

from shop.registry import register


class Session:
    """Globex pays inside a session."""

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False

    def pay(self, text):
        """A reference."""
        return "globex-" + text.replace(" ", "-")


@register("globex")
class Client:
    """One payment, one session."""

    def pay(self, units):
        """A reference."""
        with Session() as session:
            return session.pay(f"{units} cents")
