"""Of a survey: what calls and texts ask for by name.

Blind to names that are put together in ways other than an f-string, a format, ``+``, ``%`` or a plain string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from pruner.verify.built import NOTHING, chain_text, join, regex, returned
from pruner.verify.coded import LISTS, LOADERS, RUN, closed, fields, filled, holds, own_class, shapes, words, written
from pruner.verify.nodes import children, walk
from pruner.verify.record import DOTTED, GETTERS, PASSED, REFLECTION, SAME, UNSET, Survey

# Of importlib.resources and pkgutil: what is given a package by its name.
OF_PACKAGES = frozenset(
    "files path open_text open_binary read_text read_binary is_resource contents get_data resolve_name".split()
)


class Asking:
    """Calls, formats and texts of one file, into its survey."""

    result: Survey
    roots: set[str]
    facts: frozenset[str]
    module: str
    identifiers: set[str]
    attributes: set[str]
    plain: set[str]
    strings: set[str]
    patterns: set[str]
    reflects: set[str]
    methods: dict[str, ast.FunctionDef]
    refined: set[ast.expr]  # built names whose parts are known: no pattern of their own
    fixed: Mapping[str, str] = NOTHING  # variables of the module that hold one text, as patterns
    rebound: set[ast.Call]  # calls of globals() that only put a name in the place of itself

    def __init__(self, result: Survey) -> None:
        self.alias = {row.bound: row.symbol for row in result.imports if row.symbol and row.symbol != row.bound}
        self.keyed: set[ast.expr] = set()  # objects of which one item with a written key is read
        self.shadowed: set[str] = set()  # of eval and exec: variables of that name
        self.texts: list[str] = []
        self._meant: Mapping[str, str] | None = None
        self.built: list[str] = []  # regular expressions of texts that are put together

    def quiet(self, node: ast.AST) -> None:
        """Names and chains that are named, but do not hand the object on (annotations, bases)."""
        raise NotImplementedError

    def conclude(self) -> None:
        """What can be told once the whole file is walked."""
        result = self.result
        run = next((line for name, line in result.loose.items() if name in RUN - self.shadowed), 0)
        run = run or next(
            (line for chain, line in result.chains.items() if chain in ("builtins.eval", "builtins.exec")), 0
        )
        result.open = bool(run)
        result.runs = run or result.runs
        if result.runs:
            for text in self.texts:
                self.strings.update(words(text))
            built = [*self.built, *(filled(text) for text in self.texts if holds(text))]
            found = {shape for pattern in built for shape in shapes(pattern)}
            result.coded = frozenset(found)
            result.gets.extend((result.runs, "", shape, False, "") for shape in sorted(found))
        result.loader = not LOADERS.isdisjoint(self.identifiers) or not LOADERS.isdisjoint(self.attributes)

    def call(self, node: ast.Call, owner: str, stack: list[ast.AST]) -> None:
        head = chain_text(node.func)
        tail = self.alias.get(head, head.rpartition(".")[2])
        if tail in ("iter_modules", "walk_packages") and node.args:
            if isinstance(node.args[0], ast.Name) and node.args[0].id == "__path__":
                self.result.walks.append((node.lineno, "."))  # a package that walks itself
            told = False
            for part in walk(node.args[0]):  # [os.path.dirname(pkg.__file__)]
                told = told or (isinstance(part, ast.Attribute) and part.attr in ("__path__", "__file__"))
                told = told or (isinstance(part, ast.Name) and part.id in ("__path__", "__file__"))
                if isinstance(part, ast.Name) and part.id == "__file__":
                    self.result.walks.append((node.lineno, "."))
                elif isinstance(part, ast.Attribute) and part.attr == "__file__":
                    self.result.walks.append((node.lineno, chain_text(part.value)))
            if not told:
                self.result.walks.append((node.lineno, ""))  # [path]
        if head in GETTERS and len(node.args) > 1:
            name = node.args[1]
            store = head in ("setattr", "delattr")
            base = chain_text(node.args[0])
            if base == "self" and owner:
                base = f"self:{owner}"
            pattern, method = self._refined(name)
            self.result.gets.append((node.lineno, base, pattern, store, method))
            # The object is read by name, not handed on; the name is in the pattern.
            if base.partition(".")[0] in self.roots:
                self.identifiers.add(base.partition(".")[0])
                if "." in base:
                    self.result.chains.setdefault(base, node.lineno)
                stack.extend(node.args[1:])
                return
        elif tail in ("import_module", "__import__") and (named := _named(node)) is not None:
            given = [k.value for k in node.keywords if k.arg == "package"] if tail == "import_module" else []
            given += node.args[1:2] if tail == "import_module" else []
            known = self.meant()
            package = regex(given[0], known) if given else ""
            self.result.loads.append((node.lineno, regex(named, known), package))
        elif tail in OF_PACKAGES and node.args:
            text = regex(node.args[0], self.meant()).replace("\\", "")
            self.result.named.append((node.lineno, text))
        elif tail in LISTS or (head == "vars" and node.args):
            base = chain_text(node.args[0]) if node.args else ""
            if owner and own_class(node.args[0] if node.args else node):
                base = f"self:{owner}"
            elif base == "self":  # vars(self): an instance's own attributes, not the class's methods
                base = "" if head == "vars" else f"self:{owner}"
            self.result.gets.append(
                (node.lineno, base, ".*", False, "dir" if (tail in LISTS and node.args) or base == "cls" else "vars")
            )
        elif head in REFLECTION:
            if node not in self.rebound:
                self.reflects.add(head)
            if head in RUN:
                if not closed(node):
                    self.result.runs = node.lineno
                if closed(node) or written(node):
                    self.identifiers.add(head)
                    stack.extend([*node.args, *(keyword.value for keyword in node.keywords)])
                    return
        elif tail in ("attrgetter", "methodcaller"):
            for argument in node.args if tail == "attrgetter" else node.args[:1]:
                text = regex(argument)
                for shape in shapes(text):
                    self.result.gets.append((node.lineno, "", shape, False, ""))
                if ".*" not in text:
                    self.attributes.update(text.split("\\."))
                    self.plain.update(text.split("\\."))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "format_map"):
            self._format(node.func.value, node.lineno)
        elif head in ("isinstance", "issubclass") and len(node.args) == 2:
            self.identifiers.add(head)
            self.quiet(node.args[1])
            stack.append(node.args[0])
            return
        if tail == "endswith" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == ".py":
            self.result.files.append((node.lineno, r".*\.py"))
        for keyword in node.keywords:
            made = tail in ("replace", "_replace") or tail[:1].isupper()
            if keyword.arg in self.facts and (made or isinstance(keyword.value, ast.Constant)):
                value: object = keyword.value.value if isinstance(keyword.value, ast.Constant) else UNSET
                if isinstance(keyword.value, ast.Attribute) and keyword.value.attr == keyword.arg:
                    value = SAME
                self.result.stores.append((head, str(keyword.arg), node.lineno, value, "" if made else PASSED))
        stack.extend(children(node))

    def entry(self, node: ast.Subscript, owner: str, stack: list[ast.AST]) -> bool:
        """``vars(x)["name"]`` is ``getattr(x, "name")``."""
        call = node.value
        if isinstance(node.slice, ast.Constant) and isinstance(call, ast.Attribute):
            self.keyed.add(call)  # C.__dict__["x"] is a read of x
        if not (isinstance(call, ast.Call) and chain_text(call.func) == "vars" and len(call.args) == 1):
            return False
        if isinstance(call.args[0], ast.Name) and call.args[0].id == "self":
            return False  # an instance's own attributes, not the class's methods
        name = "getattr" if isinstance(node.ctx, ast.Load) else "setattr"
        read = ast.Call(ast.Name(name, ast.Load()), [call.args[0], node.slice], [])
        self.call(ast.copy_location(read, node), owner, stack)
        return True

    def _refined(self, name: ast.expr) -> tuple[str, str]:
        """The pattern of a built name; ``f"forward_{self.device()}"`` is read with what ``device`` returns."""
        if isinstance(name, ast.JoinedStr):
            for item in name.values:
                call = item.value if isinstance(item, ast.FormattedValue) else None
                if isinstance(call, ast.Call) and not call.args and chain_text(call.func).startswith("self."):
                    method = chain_text(call.func).partition(".")[2]
                    found = returned(self.methods.get(method))
                    if found:
                        choice = f"(?:{'|'.join(sorted(map(re.escape, found)))})"
                        parts = [choice if other is item else regex(other) for other in name.values]
                        self.refined.add(name)
                        return join(parts), method
        return regex(name), ""

    def dictionary(self, node: ast.expr, owner: str) -> None:
        """``C.__dict__`` lists the class; an instance's own has no methods."""
        base = f"self:{owner}" if owner and own_class(node) else chain_text(node)
        if base and base != "self":
            self.result.gets.append((node.lineno, base, ".*", False, "dir" if base == "cls" else "vars"))

    def meant(self) -> Mapping[str, str]:
        """What ``__name__``, ``__package__`` and variables that are bound once mean in the file, as patterns."""
        if self._meant is None:
            own = self.module if self.result.path.endswith("__init__.py") else self.module.rpartition(".")[0]
            of_file = {"__name__": re.escape(self.module), "__package__": re.escape(own)} if self.module else {}
            self._meant = {**of_file, **self.fixed}  # NAME = "second"
        return self._meant

    def _module(self, pattern: str, line: int) -> None:
        """A text that is put together and may hold the name of a module."""
        if ".*" in pattern and "\\." in pattern:
            self.result.texts.append((line, re.sub(r"\\(.)", r"\1", pattern.replace(".*", "\0"))))

    def _format(self, node: ast.expr, line: int) -> None:
        """What a format gives, and what the fields of one that is put together read."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.built.append(filled(node.value))
                self._file(filled(node.value), line)
                self._module(filled(node.value), line)
            return
        text = regex(node)
        for shape in shapes(text) if "{" in text else ():
            self.result.gets.append((line, "", shape, False, ""))

    def _file(self, pattern: str, line: int) -> None:
        if pattern.endswith(r"\.py") and ".*" in pattern:
            self.result.files.append((line, pattern))

    def string(self, value: object, line: int) -> None:
        if not isinstance(value, str) or not value:
            return
        self.texts.append(value)
        if len(value) <= 120:
            self.strings.add(value)
        if "{" in value:
            read = fields(value)
            self.attributes.update(read)
            self.plain.update(read)
        if "*" in value and value.endswith(".py"):
            shape = re.sub(r"\\\[.*?\\\]|\\\?", ".", re.escape(value)).replace(r"\*", ".*")  # as glob reads it
            self.result.files.append((line, shape))
        if "." in value:
            self.strings.update(DOTTED.findall(value))

    def pattern(self, node: ast.expr) -> None:
        if node in self.refined:
            return
        text = regex(node)
        self.built.append(text)
        self._file(text, node.lineno)
        self._module(regex(node, self.meant()), node.lineno)
        bare = text.replace(".*", "").replace("\\", "")
        if text != ".*" and bare and bare.replace(".", "").replace(":", "").isidentifier():
            self.patterns.add(text)


def _named(node: ast.Call) -> ast.expr | None:
    """What an import function is to load: its first argument, or ``name=``."""
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "name")]
    return given[0] if given else None
