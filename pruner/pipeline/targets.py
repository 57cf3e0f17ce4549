"""Rule targets against the tree: roots, keeps and drops become modules and symbols."""

from __future__ import annotations

import tomllib
from configparser import ConfigParser
from fnmatch import fnmatchcase

from pruner.graph.drops import Drops
from pruner.graph.live import Marker
from pruner.graph.module import exported_words
from pruner.graph.symbols import ModuleTable
from pruner.model import Dynamic, Policy, Snapshot, Target
from pruner.policy import matches


def matching_modules(table: ModuleTable, pattern: str) -> list[str]:
    """Modules that a target's text names: exact, fnmatch, ``pkg.*`` (children) or ``pkg.**`` (all below)."""
    if pattern.endswith(".**"):
        return table.below(pattern[:-3])
    if pattern.endswith(".*") and "*" not in pattern[:-2]:
        return [m for m in table.children.get(pattern[:-2], ()) if m in table.paths]
    if any(c in pattern for c in "*?["):
        return sorted(m for m in table.paths if matches(pattern, m))
    return [pattern] if pattern in table.paths else []


def named_modules(table: ModuleTable, package: str, member: str) -> list[str]:
    """Modules of a package that a member of a ``dynamic`` declaration names: relative to it, fnmatch."""
    return [m for m in table.below(package) if fnmatchcase(m[len(package) + 1 :], member)]


def unknown_part(row: Dynamic, table: ModuleTable) -> str:
    """What of a ``dynamic`` declaration names nothing in the tree, in words; "" when it speaks of what is there."""
    if row.package not in table:
        return f"{row.package} is no module"
    if row.site and row.site not in table:
        return f"the site {row.site} is no module"
    if row.members and not any(named_modules(table, row.package, member) for member in row.members):
        return f"{row.package} has none of the members {', '.join(row.members)}"
    return ""


def split_symbol(table: ModuleTable, target: Target) -> tuple[str, str] | None:
    """(module, dotted name inside it) of a symbol target."""
    if ":" in target.text:
        module, _, name = target.text.partition(":")
        return (module, name) if module in table else None
    split = table.split(target.text)
    return split if split and split[1] else None


def drops_of(policy: Policy, table: ModuleTable, matched: set[str]) -> Drops:
    """What drop rules name, less what keep rules name."""
    kept = {m for t in policy.keeps if t.kind == "module" for m in matching_modules(table, t.text)}
    kept_symbols = {s for t in policy.keeps if t.kind == "symbol" and (s := split_symbol(table, t))}
    kept |= {module for module, _ in kept_symbols}
    modules: dict[str, str] = {}
    symbols: dict[tuple[str, str], str] = {}
    members: dict[str, dict[str, str]] = {}
    for target in policy.drops:
        if target.kind in ("module", "dotted"):
            named = matching_modules(table, target.text)
            if named:
                matched.add(target.rule)  # also where keep rules win: the rule speaks of what is there
            found = [m for m in named if m not in kept]
            for module in found:
                modules[module] = target.rule
            if found or target.kind == "module":
                continue
        if target.kind in ("symbol", "dotted"):
            split = split_symbol(table, target)
            if not split:
                continue
            if "." not in split[1]:
                matched.add(target.rule)
                if split not in kept_symbols:
                    symbols[split] = target.rule
            elif _has_member(table, *split):
                matched.add(target.rule)
                if split not in kept_symbols:
                    members.setdefault(split[0], {})[split[1]] = target.rule
    entries: dict[str, dict[str, str]] = {}
    for target in policy.drops:
        if target.kind == "entry":
            table_name, _, key = target.text.rpartition("[")
            entries.setdefault(table_name, {})[key.rstrip("]")] = target.rule
    kept_entries: dict[str, list[str]] = {}
    for target in policy.keeps:
        if target.kind == "entry":
            table_name, _, key = target.text.rpartition("[")
            kept_entries.setdefault(table_name, []).append(key.rstrip("]"))
            matched.add(target.rule)
    return Drops(modules, symbols, entries, kept_entries, members)


def _has_member(table: ModuleTable, module: str, dotted: str) -> bool:
    """True when the class of a module binds the member in its body."""
    owner, _, name = dotted.partition(".")
    summary = table.load(module)
    stores = summary.stores.get(owner, ()) if summary is not None else ()
    return any(s.kind == "class" and name in s.stmt[8] for s in stores)


def entry_points(snapshot: Snapshot, text: str) -> list[tuple[str, str]]:
    """(module, attribute) pairs that ``pyproject.toml`` or ``entry_points.txt`` names.

    With them the packages into which the build puts an extension module: its Python sources name no such package.
    """
    found: list[str] = []
    for file in snapshot.files:
        if file.path.rpartition("/")[2] != text or file.path.count("/") > 1:
            continue
        content = snapshot.read(file.path).decode("utf-8")
        if text.endswith(".toml"):
            document = tomllib.loads(content)
            project, tools = document.get("project", {}), document.get("tool", {})
            built = tools.get("setuptools-rust", {}).get("ext-modules", ())
            built = [*built, *tools.get("setuptools", {}).get("ext-modules", ())]
            found += [str(row.get("target", row.get("name", ""))).rpartition(".")[0] for row in built]
            groups = [
                project.get("scripts", {}),
                project.get("gui-scripts", {}),
                *project.get("entry-points", {}).values(),
            ]
            found += [value for group in groups for value in group.values()]
        else:
            parser = ConfigParser(delimiters=("=",))
            parser.optionxform = str  # type: ignore[assignment,method-assign]
            parser.read_string(content)
            found += [value for section in parser.sections() for value in parser[section].values()]
    pairs = []
    for value in found:
        module, _, attribute = value.split("[")[0].strip().partition(":")
        pairs.append((module.strip(), attribute.strip().split(".")[0]))
    return pairs


def mark_roots(marker: Marker, snapshot: Snapshot, policy: Policy, matched: set[str]) -> None:
    """Everything that execution starts from, or that outsiders use."""
    table = marker.table
    for target in (*policy.roots, *policy.keeps):
        if target.kind in ("entry", "path"):
            continue
        before = len(marker.out.roots)
        if target.kind == "project":
            for module, name in entry_points(snapshot, target.text):
                _root_symbol(marker, module, name, target.rule)
        elif target.kind == "module" or (target.kind == "dotted" and matching_modules(table, target.text)):
            for module in matching_modules(table, target.text):
                if not marker.drops.module(module):
                    _root_module(marker, module, target.rule)
        else:
            split = split_symbol(table, target)
            if split and not has_symbol(marker, *split):
                if (
                    split[0] in table.paths
                ):  # the module was meant, if not this name: it stays, and the rule is a finding
                    marker.execute(split[0], f"rule:{target.rule}", "root", "", 0)
            elif split:
                _root_symbol(marker, split[0], split[1].split(".")[0], target.rule)
                for part in split[1].split(".")[1:]:
                    marker.use_name(part)
        if len(marker.out.roots) > before:
            matched.add(target.rule)
    for dynamic in policy.dynamics:
        if not unknown_part(dynamic, table):
            matched.add(dynamic.rule)
        if not dynamic.site:
            node = f"rule:{dynamic.rule}"
            marker.out.roots.append((node, dynamic.rule))
            marker.members(dynamic.package, dynamic.members, node)


def has_symbol(marker: Marker, module: str, dotted: str) -> bool:
    """Does the module have the name, as far as its text tells? A star of an outside package may bring any."""
    name = dotted.partition(".")[0]
    if not name or f"{module}.{name}" in marker.table:
        return True
    summary = marker.table.load(module)
    if summary is None:  # a folder without a file, or one that cannot be read
        return module in marker.table.paths
    known = summary.stores.keys() | summary.rebinds.keys()
    if name in known or "__getattr__" in known or name.startswith("__"):
        return True
    for stmt, _ in summary.stars:
        source = marker.table.absolute(summary, stmt[3], stmt[4])
        if source not in marker.table or (source != module and has_symbol(marker, source, name)):
            return True
    return any(
        path[-1] == f".{name}" or path[-1].startswith("[")
        for root, path, _, _ in summary.part_stores
        if root == "globals"
    )


def _root_module(marker: Marker, module: str, rule: str) -> None:
    marker.out.roots.append((module, rule))
    _expose(marker, module, f"rule:{rule}", set())


def _expose(marker: Marker, module: str, node: str, seen: set[str]) -> None:
    """Outsiders use the module: its public names, and those of the modules that are among them."""
    if module in seen or marker.drops.module(module) or module not in marker.table.paths:
        return
    seen.add(module)
    marker.exposed.add(module)
    marker.execute(module, node, "root", "", 0)
    state = marker.state(module)
    if state is None:
        return
    exported = exported_words(state.summary)
    marker.all_of_stars(module, node)
    for name, items in state.names.items():
        public = not name.startswith("_")
        if any(i.kind == "import" for i in items):
            aliased = any(
                i.kind == "import" and i.stmt[0] == "from" and i.stmt[5][i.index][1] == name == i.stmt[5][i.index][0]
                for i in items
            )
            public = (public and state.summary.package) or aliased
        # A drop wins over the root of a module: of the name, or of the entry that its definition is registered as.
        gone = marker.drops.symbol(module, name) or (bool(items) and all(item.dropped for item in items))
        if (public or name in exported) and not gone:
            marker.need(module, name, node, "root", 0)
            _expose_named(marker, module, name, node, seen)
    for name in sorted(exported - state.names.keys()):  # `import *` loads what `__all__` names
        if marker.need(module, name, node, "root", 0):
            _expose_named(marker, module, name, node, seen)
    for source, name, _ in marker.brought(module):
        _expose_named(marker, source, name, node, seen, _own(marker, source, name))
    for items in state.names.values():
        for item in items:  # `import pkg.sub` in pkg/__init__.py
            path = item.stmt[3][item.index][0] if item.kind == "import" and item.stmt[0] == "import" else ""
            if path.startswith(f"{module}."):
                _expose(marker, path, node, seen)


def _own(marker: Marker, module: str, name: str) -> bool:
    """Does the module define the name, or say that it is its own? A star brings what a script imports as well."""
    state = marker.state(module)
    if state is None or state.summary.package or name in exported_words(state.summary):
        return True
    return any(item.kind != "import" for item in state.names.get(name, ()))


def _expose_named(marker: Marker, module: str, name: str, node: str, seen: set[str], own: bool = True) -> None:
    """Outsiders use what the module has under this name, a module or, where it is the module's ``own``, a class perhaps."""
    if own:
        marker.offer(module, name)
    for inner in marker.world.modules_behind(marker.world.attribute(module, name)):
        _expose(marker, inner, node, seen)


def _root_symbol(marker: Marker, module: str, name: str, rule: str) -> None:
    node = f"rule:{rule}"
    if module not in marker.table:
        return
    marker.out.roots.append((f"{module}:{name}" if name else module, rule))
    if module in marker.table.paths:
        marker.execute(module, node, "root", "", 0)
    if name:
        marker.exposed.add(f"{module}:{name}")
        marker.need(module, name, node, "root", 0)
        _expose_named(marker, module, name, node, set())
