"""Classes of the tree: enum members as constants, attribute facts, subclass questions.

Blind to attributes that ``__getattr__``, descriptors or metaclasses of outside packages make.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from pruner.verify.gifts import Givers
from pruner.verify.names import module_names
from pruner.verify.record import CALL, NAMED, PASSED, SAME, UNSET
from pruner.verify.scopes import Scope
from pruner.verify.values import UNKNOWN, Val, among
from pruner.verify.world import Symbol, World

COMPUTED = "that is computed"  # said of a base class
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
MIXED = frozenset({"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "str", "int"})


class Classes:
    """Questions about the classes of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._ancestors: dict[Symbol, tuple[list[Symbol], set[str]]] = {}
        self._attributes: dict[str, Val] = {}
        self.calls: dict[str, Val] = {}  # function -> what every call of it gives
        self.asked: set[str] = set()  # "module:Class.attribute" that a guard asks at run time

    def ancestors(self, symbol: Symbol) -> tuple[list[Symbol], set[str]]:
        """The class and its bases in the tree (itself first), and the outside or unknown bases (dotted)."""
        if symbol in self._ancestors:
            return self._ancestors[symbol]
        self._ancestors[symbol] = ([symbol], set())
        own: list[Symbol] = [symbol]
        outside: set[str] = set()
        node = self.world.definition(symbol)
        if not isinstance(node, ast.ClassDef):
            outside.add("?")
        else:
            for base in node.bases:
                while isinstance(base, ast.Subscript):  # Generic[T]
                    base = base.value
                found = self.dotted(base, symbol[1])
                if found is None:
                    outside.add("?" if isinstance(base, ast.Name | ast.Attribute) else COMPUTED)
                elif found[0] == "symbol":
                    if any(row.kind not in ("class", "def", "import") for row in self.world.live(found[1], found[2])):
                        outside.add(COMPUTED)  # Base = ast.NodeVisitor if NEW else object
                    inner, far = self.ancestors(found)
                    own.extend(row for row in inner if row not in own)
                    outside |= far
                else:
                    outside.add(found[1])
        self._ancestors[symbol] = (own, outside)
        return own, outside

    def dotted(self, node: ast.expr, module: str) -> Symbol | None:
        """The symbol of a dotted expression at module level."""
        if isinstance(node, ast.Name):
            return self.world.lookup(module, node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value, module)
            if base is None:
                return None
            if base[0] == "module":
                return self.world.resolve(base[1], node.attr)
            if base[0] == "outside":
                return ("outside", f"{base[1]}.{node.attr}", "")
        return None

    def enum(self, symbol: Symbol | None) -> ast.ClassDef | None:
        """The class statement when the symbol is an enum without members in its bases."""
        node = self.world.definition(symbol)
        if symbol is None or not isinstance(node, ast.ClassDef):
            return None
        return node if self.ancestors(symbol)[1] & ENUMS else None

    def member(self, symbol: Symbol | None, name: str) -> str:
        """``module:Class.NAME`` when that is a member of an enum of the tree, else ``""``."""
        node = self.enum(symbol)
        if symbol is None or node is None or name not in members(node):
            return ""
        return f"{symbol[1]}:{symbol[2]}.{name}"

    def impossible(self, left: Val, name: str, right: Val) -> bool | None:
        """A comparison with an enum member that nothing can produce any more.

        ``Phase(word)``, ``Phase[word]``, iteration and passing the class on are producers of
        every member, so such a class is never decided here.
        """
        for val in (left, right):
            if val.member and not self.possible(val.member):
                if name in ("Is", "IsNot"):
                    return name == "IsNot"
                module, _, rest = val.member.partition(":")
                symbol: Symbol = ("symbol", module, rest.partition(".")[0])
                # "hip" == Kind.HIP is true for a string mixin, whoever produced the string.
                if name in ("Eq", "NotEq") and not self.ancestors(symbol)[1] & MIXED and not self.own_eq(symbol):
                    return name == "NotEq"
        return None

    def different(self, left: Val, name: str, right: Val) -> bool | None:
        """A comparison of two members of one enum by different names, when these cannot be one member.

        ``A = 1; B = 1.0`` can, and so can what calls give, what a decorator makes of the class and what says itself
        what it is equal to.
        """
        if name not in ("Is", "IsNot", "Eq", "NotEq") or not left.member or not right.member:
            return None
        home, _, one = left.member.rpartition(".")
        if home != right.member.rpartition(".")[0]:
            return None
        module, _, owner = home.partition(":")
        symbol: Symbol = ("symbol", module, owner)
        node = self.enum(symbol)
        if node is None or node.keywords or self.own_eq(symbol) or self._numbers(node):
            return None
        if any(self.dotted(d, module) != ("outside", "enum.unique", "") for d in node.decorator_list):
            return None
        values = members(node)
        pair = [values.get(one), values.get(right.member.rpartition(".")[2])]
        known = [literal for literal in map(_literal, pair) if literal is not None]
        counted = [value for value in pair if isinstance(value, ast.Call) and self._auto(value, module)]
        numbers = any(isinstance(row[0], int | float) for row in map(_literal, values.values()) if row is not None)
        apart = known[0] != known[1] if len(known) == 2 else len(counted) == 2 and not numbers
        if len(known) == len(counted) == 1:
            apart = not isinstance(known[0][0], int | float)
        return name in ("IsNot", "NotEq") if apart else None

    def _numbers(self, node: ast.ClassDef) -> bool:
        made = ("__new__", "_generate_next_value_")
        return any(isinstance(item, ast.FunctionDef) and item.name in made for item in node.body)

    def _auto(self, node: ast.Call, module: str) -> bool:
        return self.dotted(node.func, module) == ("outside", "enum.auto", "")

    def gone(self, val: Val) -> bool:
        """Is it a member that a rule drops, and to which nothing else is equal?"""
        module, _, rest = val.member.partition(":")
        if not rest or not self.world.ruled.drops_symbol(module, rest):
            return False
        symbol: Symbol = ("symbol", module, rest.partition(".")[0])
        return not self.ancestors(symbol)[1] & MIXED and not self.own_eq(symbol)

    def own_eq(self, symbol: Symbol) -> bool:
        """Does the class or a base of it in the tree define ``__eq__``?"""
        for row in self.ancestors(symbol)[0]:
            node = self.world.definition(row)
            if isinstance(node, ast.ClassDef) and any(
                isinstance(item, ast.FunctionDef) and item.name == "__eq__" for item in node.body
            ):
                return True
        return False

    def possible(self, member: str) -> bool:
        """Can a value of the program be this member?"""
        module, _, name = member.partition(":")
        if self.world.ruled.drops_symbol(module, name):
            return False
        seen = self.world.seen
        if member in seen.produced or member.rpartition(".")[0] in seen.loose:
            return True
        home, _, own = member.rpartition(".")
        node = self.world.definition(("symbol", module, home.partition(":")[2]))
        others = members(node).keys() - {own} if isinstance(node, ast.ClassDef) else ()
        made = [f"{home}.{other}" for other in others if f"{home}.{other}" in seen.produced]
        return any(self.different(Val(member=member), "Is", Val(member=other)) is None for other in made)

    def method_fact(self, name: str, facts: dict[str, list[tuple[str, Val]]]) -> Val | None:
        """``x.name()`` for an unknown ``x``: known when every kept class with that member has a fact."""
        rows = facts[name]
        seen = self.world.seen
        if not seen.definers.get(name, set()) | seen.definers.get(f"{name}()", set()) <= {owner for owner, _ in rows}:
            return None
        return _union(rows)

    def attribute_fact(
        self,
        node: ast.Attribute,
        scope: Scope,
        facts: dict[str, list[tuple[str, Val]]],
        symbol: Callable[[ast.expr, Scope], Symbol | None],
    ) -> Val:
        """A fact on an attribute of every instance of a class, when no other class and no store contradicts it.

        Where a guard asks the fact at run time, the class itself may store what cannot be told here.
        """
        rows = facts.get(node.attr)
        if not rows or not isinstance(node.ctx, ast.Load):
            return UNKNOWN
        base = symbol(node.value, scope)
        if base is not None and (base[0] != "symbol" or self.world.definition(base) is not None):
            if not self._of_class(base, node.attr, rows):
                return UNKNOWN  # an attribute of a module or of the class itself
        if node.attr not in self._attributes:
            self._attributes[node.attr] = self._attribute(node.attr, rows)
        return self._attributes[node.attr]

    def _attribute(self, name: str, rows: list[tuple[str, Val]]) -> Val:
        owners = {owner for owner, _ in rows}
        value = _union(rows)
        seen = self.world.seen
        if not seen.definers.get(name, set()) <= owners:
            return UNKNOWN  # another class has an attribute of this name
        asked = {owner for owner in owners if f"{owner}.{name}" in self.asked}
        if not asked and ({"*", *owners} & seen.vague_attributes) and not self._fixed(name, owners):
            return UNKNOWN
        for place, module, stored in seen.attributes.get(name, ()):
            called = isinstance(stored, str) and stored.startswith(CALL)
            if stored == SAME or (asked and stored == NAMED) or (place == PASSED and not asked):
                continue
            if (stored == UNSET or called) and place in asked:
                continue
            constants = self._given(module, str(stored).removeprefix(CALL)) if called else (stored,)
            if value.consts is None or not constants:
                return UNKNOWN
            if not {(type(c), c) for c in constants} <= {(type(c), c) for c in value.consts}:
                return UNKNOWN
        if not asked and not self._fixed(name, owners):
            given = Givers(seen.giving).gives({owner.rpartition(":")[2] for owner in owners}, name)
            for stored in (*given, *(value for owner in owners for value in self._own_literal(owner, name))):
                if value.consts is None or (type(stored), stored) not in {(type(c), c) for c in value.consts}:
                    return UNKNOWN
        return value

    def _of_class(self, base: Symbol, name: str, rows: list[tuple[str, Val]]) -> bool:
        """Does the body of a stated class give the attribute nothing but literals that the fact allows?

        Then the class itself has it as well, unless a guard asks the fact: until then the class may store anything.
        """
        place, node = f"{base[1]}:{base[2]}", self.world.definition(base)
        stated = [value.consts for owner, value in rows if owner == place]
        if not isinstance(node, ast.ClassDef) or not stated or None in stated or f"{place}.{name}" in self.asked:
            return False
        allowed = {(type(c), c) for consts in stated for c in consts or ()}
        found = module_names(ast.Module(node.body, []), base[1], True).bindings.get(name, [])
        values = [row.value for row in found if row.kind == "assign"]
        return len(values) == len(found) > 0 and all(
            isinstance(value, ast.Constant) and (type(value.value), value.value) in allowed for value in values
        )

    def _own_literal(self, place: str, name: str) -> tuple[object, ...]:
        """The literal that the body of a class gives an attribute last, as a tuple of one."""
        module, _, owner = place.partition(":")
        node = self.world.definition(("symbol", module, owner))
        found: list[ast.expr] = []
        for item in node.body if isinstance(node, ast.ClassDef) else ():
            targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
            value = getattr(item, "value", None)
            if value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
                found.append(value)
        return (found[-1].value,) if found and isinstance(found[-1], ast.Constant) else ()

    def _fixed(self, name: str, owners: set[str]) -> bool:
        """Can nothing be stored into it: is it a property of every owner, here or, when it went, upstream?"""
        seen = self.world.seen
        if seen.definers.get(name):
            return seen.definers.get(f"{name}@", set()) == owners
        # Nobody reads the property once its readers are folded, so the kept class may have lost it.
        return all(self._property(owner, name) for owner in owners)

    def _property(self, place: str, name: str) -> bool:
        module, _, owner = place.partition(":")
        node = self.world.definition(("symbol", module, owner))
        if not isinstance(node, ast.ClassDef):
            return False
        found = module_names(ast.Module(node.body, []), module, True).bindings.get(name, [])
        return bool(found) and all(
            isinstance(row.node, ast.FunctionDef)
            and len(row.node.decorator_list) == 1
            and isinstance(row.node.decorator_list[0], ast.Name)
            and row.node.decorator_list[0].id == "property"
            for row in found
        )

    def _given(self, module: str, function: str) -> tuple[object, ...]:
        """What a fact says that a call of this function of a module gives; nothing when there is none."""
        node: ast.expr = ast.parse(function, mode="eval").body
        found = self.dotted(node, module)
        if found is None:
            return ()
        known = self.calls.get(f"{found[1]}.{found[2]}" if found[0] == "symbol" else found[1])
        return known.consts or () if known is not None else ()


def _literal(node: ast.expr | None) -> tuple[object] | None:
    try:
        return (ast.literal_eval(node),) if node is not None else None
    except (ValueError, TypeError, SyntaxError):
        return None


def _union(rows: list[tuple[str, Val]]) -> Val:
    """What holds whichever of the classes the object has."""
    values = list(dict.fromkeys(value for _, value in rows))
    if len(values) == 1:
        return values[0]
    if any(value.consts is None for value in values):
        return UNKNOWN
    return among(tuple(c for value in values for c in value.consts or ()))


def members(node: ast.ClassDef) -> dict[str, ast.expr]:
    """The member assignments of an enum class body."""
    found: dict[str, ast.expr] = {}
    for item in node.body:
        if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
            name = item.targets[0].id
            if not name.startswith("_"):
                found[name] = item.value
    return found
