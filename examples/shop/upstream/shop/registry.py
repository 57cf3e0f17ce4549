"""Payment clients by name, filled by the modules of ``shop.vendors``."""

import importlib
import pkgutil

import shop.vendors

_CLIENTS = {}


def register(name):
    """Class decorator: the class answers to ``name``."""

    def add(cls):
        _CLIENTS[name] = cls
        return cls

    return add


def find(name):
    """An instance of the client that is registered as ``name``."""
    if not _CLIENTS:
        for found in pkgutil.iter_modules(shop.vendors.__path__):
            importlib.import_module(f"shop.vendors.{found.name}")
    return _CLIENTS[name]()
