"""Which vendor takes the money; everything else asks here."""

import os


def vendor():
    return os.environ.get("SHOP_VENDOR", "acme")


def is_globex():
    return vendor() == "globex"


_is_globex = is_globex()

# Globex charges by the cent, Acme by the tenth of a cent.
UNIT = 1 if _is_globex else 10
