"""What drop rules name, minus what keep rules name."""

from __future__ import annotations

from fnmatch import fnmatchcase


class Drops:
    """What drop rules name, minus what keep rules name."""

    def __init__(
        self,
        modules: dict[str, str],
        symbols: dict[tuple[str, str], str],
        entries: dict[str, dict[str, str]] | None = None,
        kept_entries: dict[str, list[str]] | None = None,
        members: dict[str, dict[str, str]] | None = None,
    ) -> None:
        self.modules = modules  # module → rule id
        self.symbols = symbols  # (module, name) → rule id
        self.entries = entries or {}  # canonical table or registering function → key pattern → rule id
        self.entry_ends = frozenset(table.rpartition(".")[2] for table in self.entries)  # the last names of those
        self.kept_entries = kept_entries or {}
        self.members = members or {}  # module → "Class.member" → rule id
        self.entries_met: set[str] = set()  # rules whose entry was found

    def module(self, name: str) -> bool:
        """True when the module is dropped."""
        return name in self.modules

    def symbol(self, module: str, name: str) -> bool:
        """True when the global is dropped."""
        return (module, name) in self.symbols

    def member(self, module: str, name: str) -> str:
        """Rule id that drops ``Class.member`` of a module, or ""."""
        return self.members[module].get(name, "") if module in self.members else ""

    def members_of(self, module: str, owner: str) -> dict[str, str]:
        """Members of a class of the module that rules drop: name → rule id."""
        head = owner + "."
        return {n[len(head) :]: r for n, r in self.members.get(module, {}).items() if n.startswith(head)}

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
        for pattern, rule in self.entries.get(table, {}).items():
            if fnmatchcase(key, pattern):
                self.entries_met.add(rule)  # also where a keep rule wins: the rule speaks of what is there
                if not any(fnmatchcase(key, k) for k in self.kept_entries.get(table, ())):
                    return rule
        return ""
