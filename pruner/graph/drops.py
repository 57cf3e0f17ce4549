"""What drop rules name, minus what keep rules name."""

from __future__ import annotations


class Drops:
    """What drop rules name, minus what keep rules name."""

    def __init__(
        self, modules: dict[str, str], symbols: dict[tuple[str, str], str], entries: dict[str, dict[str, str]] | None = None
    ) -> None:
        self.entries = entries or {}  # canonical table or registering function → key → rule id
        self.entries_met: set[str] = set()  # rules whose entry was found
        self.modules = modules  # module → rule id
        self.symbols = symbols  # (module, name) → rule id

    def module(self, name: str) -> bool:
        """True when the module is dropped."""
        return name in self.modules

    def symbol(self, module: str, name: str) -> bool:
        """True when the global is dropped."""
        return (module, name) in self.symbols

    def find(self, module: str, name: str) -> tuple[str, str] | None:
        """(dropped name, rule id) for what ``from module import name`` asks for, or None."""
        if module in self.modules:
            return module, self.modules[module]
        whole = f"{module}.{name}"
        if name and whole in self.modules:
            return whole, self.modules[whole]
        if (module, name) in self.symbols:
            return f"{module}:{name}", self.symbols[module, name]
        return None

    def entry(self, table: str, key: str) -> str:
        """Rule id that drops this entry of a table, or ""."""
        rule = self.entries.get(table, {}).get(key, "")
        if rule:
            self.entries_met.add(rule)
        return rule
