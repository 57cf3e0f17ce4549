"""Statements and expressions as :mod:`pruner.verify.loading` runs them, in one scope: a module, a class or a function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pruner.verify.things import NOTHING, Code, Names, Value, catches, known, last
from pruner.verify.tree import absolute

if TYPE_CHECKING:
    from pruner.verify.loading import Loading


class Frame:
    """Runs statements in one scope."""

    def __init__(
        self,
        loading: Loading,
        path: str,
        module: str,
        names: Names,
        scopes: tuple[Names, ...],
        later: bool,
        body: bool = True,
    ) -> None:
        self.loading, self.path, self.module = loading, path, module
        self.names, self.scopes, self.later = names, scopes, later
        self.body = body  # of a module or class, not of a function
        self.given: Value = NOTHING  # what it returns
        self.yielded: Value = NOTHING
        self.shared: dict[str, Names] = {}  # names of other scopes that it binds
        self.owner: int | None = None

    @staticmethod
    def of(loading: Loading, code: Code) -> Frame:
        """A frame for a call of a function."""
        return Frame(loading, code.path, code.module, {}, code.scopes, True, body=False)

    # -- statements ---------------------------------------------------------------------------------

    def suite(self, body: Iterable[ast.stmt]) -> bool:
        """Run statements; does the suite always leave?"""
        return any(self.statement(node) for node in body)

    def statement(self, node: ast.stmt) -> bool:
        """Run one; does it always leave the suite around it?"""
        self.loading.left -= 1
        if self.loading.left <= 0:
            return True
        run = getattr(self, f"_{type(node).__name__}", None)
        if run is not None:
            return bool(run(node))
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part)
        return isinstance(node, ast.Break | ast.Continue)

    def _Return(self, node: ast.Return) -> bool:
        self.given |= self.value(node.value)
        return True

    def _Raise(self, node: ast.Raise) -> bool:
        value = self.value(node.exc)
        self.loading.use(value, self.path, node.lineno)
        return True

    def _Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "stand_in":
            value = frozenset(("stand", t.id) for t in node.targets if isinstance(t, ast.Name))
        for target in node.targets:
            self.bind(target, value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if self.body and not self.later:
            self.value(node.annotation)
        if node.value is None:
            return
        value = self.value(node.value)
        factory = isinstance(node.value, ast.Call) and last(node.value.func) == "field"
        if factory and isinstance(node.target, ast.Name):
            rows = [k.value for k in node.value.keywords if k.arg == "default_factory"]  # type: ignore[attr-defined]
            if rows:
                self.names[f"<factory of {node.target.id}>"] = self.value(rows[0])
        self.bind(node.target, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        target, value = self.value(node.target), self.value(node.value)
        self.loading.use(target, self.path, node.lineno)
        if not isinstance(node.op, ast.BitOr):
            self.loading.use(value, self.path, node.lineno)
        self.loading.taken(target, value)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.pop(target.id, None)

    def _If(self, node: ast.If) -> bool:
        told = known(node.test)
        self.value(node.test)
        if told is not None:
            return self.suite(node.body if told else node.orelse)
        return self.either([lambda: self.suite(node.body), lambda: self.suite(node.orelse)])

    def either(self, arms: Sequence[Callable[[], bool]]) -> bool:
        """Run one of several arms: afterwards names may be what any of them made of them that goes on."""
        before, left, after = dict(self.names), True, []
        for arm in arms:
            self.names.clear()
            self.names.update(before)
            if not arm():
                left = False
                after.append(dict(self.names))
        self.names.clear()
        for names in after or [before]:
            for name, value in names.items():
                self.names[name] = self.names.get(name, NOTHING) | value
        return left

    def _While(self, node: ast.While) -> None:
        self.value(node.test)
        if known(node.test) is not False:
            self.repeat(lambda: self.suite(node.body))
        self.suite(node.orelse)

    def _For(self, node: ast.For) -> None:
        loop = self.loading.iterated(self.value(node.iter), self.path, node.iter.lineno)

        def once() -> bool:
            self.bind(node.target, loop)
            return self.suite(node.body)

        self.repeat(once)
        self.suite(node.orelse)

    _AsyncFor = _For

    def repeat(self, once: Callable[[], bool]) -> None:
        """A loop's body, as often as changes something that can be seen."""
        for _ in range(2):
            self.either([once, lambda: False])

    def _With(self, node: ast.With) -> bool:
        caught = False
        for item in node.items:
            value = self.value(item.context_expr)
            self.loading.use(value, self.path, item.context_expr.lineno)
            call = item.context_expr
            if isinstance(call, ast.Call) and last(call.func) == "suppress":
                caught = caught or any(map(catches, call.args))
            if item.optional_vars is not None:
                self.bind(item.optional_vars, NOTHING if isinstance(call, ast.Name) else value)
        left = self.guarded(node.body, caught)
        return left and not caught

    _AsyncWith = _With

    def guarded(self, body: list[ast.stmt], caught: bool) -> bool:
        """A suite in which an ImportError ends nothing: what fails before the last statement takes the others with it."""
        early = caught and self.suite(body[:-1])
        with self.loading.catching(caught):
            return early or self.suite(body[-1:] if caught else body)

    def _Try(self, node: ast.Try) -> bool:
        first = next((h for h in node.handlers if catches(h.type)), None)
        caught = first is not None and not any(isinstance(inner, ast.Raise) for inner in first.body)
        left = self.guarded(node.body, caught)
        left = (left or self.suite(node.orelse)) and not node.handlers
        return self.suite(node.finalbody) or left

    _TryStar = _Try

    def _Match(self, node: ast.Match) -> bool:
        subject = self.value(node.subject)

        def arm(case: ast.match_case) -> bool:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchValue | ast.MatchClass):
                    self.value(part.value if isinstance(part, ast.MatchValue) else part.cls)
                name = getattr(part, "name", None)
                if name:
                    self.names[name] = subject
            if case.guard is not None:
                self.value(case.guard)
            return self.suite(case.body)

        self.either([*(lambda case=case: arm(case) for case in node.cases), lambda: False])
        return False

    def _Global(self, node: ast.Global) -> None:
        self.shared.update(dict.fromkeys(node.names, self.loading.module(self.module)))

    def _Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            self.shared[name] = next((scope for scope in reversed(self.scopes) if name in scope), self.names)

    def _Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.loading.load(alias.name)
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.bound(alias.asname or name, frozenset({("module", name)}))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        source = absolute(self.loading.tree, self.module, node.level, node.module)
        if source is None or source == "__future__":
            return
        self.loading.load(source)
        for alias in node.names:
            if alias.name == "*":
                if source in self.loading.wanted:
                    for name, value in list(self.loading.module(source).items()):
                        self.bound(name, value)
                continue
            self.loading.load(f"{source}.{alias.name}")
            self.bound(alias.asname or alias.name, self.loading.given(source, alias.name))

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [(self.value(d), d) for d in node.decorator_list]
        self.signature(node.args)
        if not self.later and self.body:
            args = node.args
            rows = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            for note in (*(row.annotation for row in rows if row is not None), node.returns):
                self.value(note)
        self.bound(node.name, self.decorated(decorators, self.made("def", node)))

    _AsyncFunctionDef = _FunctionDef

    def decorated(self, decorators: list[tuple[Value, ast.expr]], value: Value) -> Value:
        """What decorators make of it: those of other packages nothing."""
        for function, node in reversed(decorators):
            name = last(node.func if isinstance(node, ast.Call) else node)
            result = self.loading.call(function, [value], {}, self.path, node.lineno, name)
            value = result or value
        return value

    def made(self, kind: str, node: Any) -> Value:
        """A function; one in a class does not see the names of the class."""
        scopes = self.scopes if self.owner is not None else (*self.scopes, self.names)
        _, index = self.loading.code(self.path, self.module, node, scopes)
        return frozenset({(kind, index)})

    def signature(self, arguments: ast.arguments) -> None:
        """Defaults run where the function is defined."""
        rows = [*arguments.posonlyargs, *arguments.args]
        for arg, default in zip(rows[len(rows) - len(arguments.defaults) :], arguments.defaults, strict=True):
            self.loading.defaults[id(arg)] = self.value(default)
        for arg, kept in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            self.loading.defaults[id(arg)] = self.value(kept)

    def _ClassDef(self, node: ast.ClassDef) -> None:
        loading = self.loading
        decorators = [(self.value(d), d) for d in node.decorator_list]
        bases = [self.value(base) for base in node.bases]
        keywords = {str(k.arg): self.value(k.value) for k in node.keywords}
        code, index = loading.code(self.path, self.module, node, (*self.scopes, self.names))
        code.above, code.names, code.stands = [], {}, False
        for base in bases:
            for atom in loading.settled(base, force=False):
                if atom[0] == "class":
                    code.above.append(atom[1])
                    code.stands |= loading.codes[atom[1]].stands
                code.stands |= atom[0] == "stand"
        inner = Frame(loading, self.path, self.module, code.names, (*self.scopes, self.names), self.later)
        inner.owner = index
        inner.suite(node.body)
        value = frozenset({("class", index)})
        for held in list(code.names.values()):
            for atom in held:
                if atom[0] == "object" and loading.found_in(atom[1], "__set_name__") is not None:
                    hook = loading.attribute(frozenset({atom}), "__set_name__", self.path, node.lineno)
                    loading.call(hook, [value, NOTHING], {}, self.path, node.lineno)
        for above in code.above:
            hook = loading.found_in(above, "__init_subclass__") or NOTHING
            loading.call(hook, [value], {k: v for k, v in keywords.items() if k != "metaclass"}, self.path, node.lineno)
        metas = [atom for atom in keywords.get("metaclass", NOTHING) if atom[0] == "class"]
        space, content = loading.cell(("space", id(node)), True)
        space.fields = dict(code.names)
        for meta in metas:
            for special in ("__new__", "__init__"):
                hook = loading.found_in(meta[1], special) or NOTHING
                first = frozenset({meta}) if special == "__new__" else value
                loading.call(hook, [first, NOTHING, NOTHING, content], {}, self.path, node.lineno)
        self.bound(node.name, self.decorated(decorators, value))

    # -- functions ----------------------------------------------------------------------------------

    def function(self, node: Any, args: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """Run a function's body with these arguments; what it gives."""
        arguments: ast.arguments = node.args
        rows = [*arguments.posonlyargs, *arguments.args]
        for at, row in enumerate(rows):
            default = self.loading.defaults.get(id(row), NOTHING)
            self.names[row.arg] = args[at] if at < len(args) else keywords.get(row.arg, default)
        for row in arguments.kwonlyargs:
            self.names[row.arg] = keywords.get(row.arg, self.loading.defaults.get(id(row), NOTHING))
        if arguments.vararg is not None:
            more, self.names[arguments.vararg.arg] = self.loading.cell(("args", id(node)))
            more.rest |= NOTHING.union(*args[len(rows) :])
        if arguments.kwarg is not None:
            more, self.names[arguments.kwarg.arg] = self.loading.cell(("keywords", id(node)), True)
            named = {row.arg for row in (*rows, *arguments.kwonlyargs)}
            more.fields.update({key: value for key, value in keywords.items() if key not in named})
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        self.suite(node.body)
        if self.yielded:
            made, value = self.loading.cell(("yields", id(node)))
            made.rest |= self.yielded
            return value | self.given
        return self.given

    # -- names --------------------------------------------------------------------------------------

    def bound(self, name: str, value: Value) -> None:
        """Bind a name of this scope, or of another that it says."""
        if name in self.shared:
            scope = self.shared[name]
            scope[name] = scope.get(name, NOTHING) | value
        else:
            self.names[name] = value

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        if isinstance(target, ast.Name):
            self.bound(target.id, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self.loading.use(value, self.path, target.lineno)
            for inner, part in zip(target.elts, self.loading.parts(value, len(target.elts)), strict=True):
                self.bind(inner, part)
        elif isinstance(target, ast.Subscript):
            base, key = self.value(target.value), self.value(target.slice)
            self.loading.use(base, self.path, target.lineno)
            constant = target.slice.value if isinstance(target.slice, ast.Constant) else ...
            self.loading.put(base, constant, key, value)
        elif isinstance(target, ast.Attribute):
            for atom in self.value(target.value):
                if atom[0] == "module" and atom[1] in self.loading.wanted:
                    names = self.loading.module(atom[1])
                    names[target.attr] = names.get(target.attr, NOTHING) | value
                elif atom[0] in ("class", "object"):
                    code = self.loading.codes[atom[1]]
                    names = code.own if atom[0] == "object" else code.names
                    names[target.attr] = names.get(target.attr, NOTHING) | value

    def read(self, name: str) -> Value:
        """What a name may be."""
        if name in self.shared:
            return self.shared[name].get(name, NOTHING)
        for scope in (self.names, *reversed(self.scopes)):
            if name in scope:
                return scope[name]
        return NOTHING

    # -- expressions --------------------------------------------------------------------------------

    def value(self, node: ast.expr | None) -> Value:
        """What an expression may be; what it does is done."""
        if node is None or isinstance(node, ast.Constant):
            return NOTHING
        if isinstance(node, ast.Name):
            return self.read(node.id)
        evaluate = getattr(self, f"_{type(node).__name__}", None)
        if evaluate is not None:
            return evaluate(node) or NOTHING
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part)
        return NOTHING

    def use(self, node: ast.expr | None, value: Value) -> None:
        """What is done with the value of an expression fails on a stand-in."""
        if node is not None:
            self.loading.use(value, self.path, node.lineno)

    def _Attribute(self, node: ast.Attribute) -> Value:
        return self.loading.attribute(self.value(node.value), node.attr, self.path, node.lineno)

    def _Subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        self.value(node.slice)
        if isinstance(node.slice, ast.Slice):
            self.use(node, base)
            return base
        constant = node.slice.value if isinstance(node.slice, ast.Constant) else ...
        return self.loading.entry(base, constant, self.path, node.lineno)

    def _Slice(self, node: ast.Slice) -> None:
        for part in (node.lower, node.upper, node.step):
            self.use(part, self.value(part))

    def _Starred(self, node: ast.Starred) -> Value:
        return self.loading.iterated(self.value(node.value), self.path, node.lineno)

    def _Call(self, node: ast.Call) -> Value:
        loading = self.loading
        function = self.value(node.func)
        name = last(node.func)
        args: list[Value] = []
        for arg in node.args:
            value = self.value(arg)
            args += [value] * 3 if isinstance(arg, ast.Starred) else [value]
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None:
                loading.use(value, self.path, node.lineno)
                for atom in value:
                    if atom[0] == "cell":
                        keywords.update({k: v for k, v in loading.cells[atom[1]].fields.items() if isinstance(k, str)})
            else:
                keywords[keyword.arg] = value
        if name == "super" and not function and self.names:
            first = next(iter(self.names.values()))
            return frozenset(("super", atom[1]) for atom in first if atom[0] in ("object", "class"))
        if (
            name in ("getattr", "hasattr")
            and not function
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Constant)
        ):
            given = loading.attribute(args[0], str(node.args[1].value), self.path, node.lineno)
            return given.union(*args[2:]) if name == "getattr" else NOTHING
        if name in ("type", "NewType") and not function and len(node.args) == 3:
            return frozenset(
                atom for atom in self.loading.entry(args[1], ..., self.path, node.lineno) if atom[0] == "stand"
            )
        return loading.call(function, args, keywords, self.path, node.lineno, name)

    def _Lambda(self, node: ast.Lambda) -> Value:
        self.signature(node.args)
        return self.made("def", node)

    def _IfExp(self, node: ast.IfExp) -> Value:
        told = known(node.test)
        self.value(node.test)
        if told is not None:
            return self.value(node.body if told else node.orelse)
        return self.value(node.body) | self.value(node.orelse)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        found = NOTHING
        for part in node.values:
            found |= self.value(part)
            if known(part) is isinstance(node.op, ast.Or):
                break
        return found

    def _BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        cells = frozenset(atom for atom in left | right if atom[0] == "cell")
        if not isinstance(node.op, ast.BitOr) or cells:
            text = (
                isinstance(node.op, ast.Mod)
                and isinstance(node.left, ast.Constant)
                and isinstance(node.left.value, str)
            )
            if not (text and not {*node.left.value} & {"d", "i", "f", "x"}):  # type: ignore[attr-defined]
                self.use(node, left | right)
        if not cells:
            return NOTHING
        table = any(self.loading.cells[atom[1]].table for atom in cells)
        _, value = self.loading.cell(("sum", id(node)), table)
        self.loading.taken(value, cells)
        return value

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if not isinstance(node.op, ast.Not):
            self.use(node, value)
        return NOTHING

    def _Compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if isinstance(op, ast.In | ast.NotIn):
                self.use(node, right)
            elif not isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
                self.use(node, left | right)
            left = right
        return NOTHING

    def _FormattedValue(self, node: ast.FormattedValue) -> Value:
        value = self.value(node.value)
        if node.conversion == -1:
            self.use(node, value)
        return self.value(node.format_spec)

    def _NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    def _Await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _Yield(self, node: ast.Yield) -> Value:
        self.yielded |= self.value(node.value)
        return NOTHING

    def _YieldFrom(self, node: ast.YieldFrom) -> Value:
        self.yielded |= self.loading.iterated(self.value(node.value), self.path, node.lineno)
        return NOTHING

    def _Tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        cell, value = self.loading.cell(id(node))
        starred = any(isinstance(part, ast.Starred) for part in node.elts)
        for at, part in enumerate(node.elts):
            held = self.value(part)
            if starred:
                cell.rest |= held
            else:
                cell.fields[at] = cell.fields.get(at, NOTHING) | held
        return value

    _List = _Set = _Tuple

    def _Dict(self, node: ast.Dict) -> Value:
        cell, value = self.loading.cell(id(node), True)
        for key, part in zip(node.keys, node.values, strict=True):
            held = self.value(part)
            if key is None:
                self.use(part, held)
                self.loading.taken(value, held)
                continue
            cell.keys |= self.value(key)
            constant = key.value if isinstance(key, ast.Constant) else ...
            self.loading.put(value, constant, NOTHING, held)
        return value

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer = self.names
        scopes = self.scopes
        self.scopes, self.names = (*scopes, outer), {}
        for loop in node.generators:
            each = self.loading.iterated(self.value(loop.iter), self.path, loop.iter.lineno)
            self.bind(loop.target, each)
            for test in loop.ifs:
                self.value(test)
        cell, value = self.loading.cell(id(node), isinstance(node, ast.DictComp))
        if isinstance(node, ast.DictComp):
            cell.keys |= self.value(node.key)
            cell.rest |= self.value(node.value)
        else:
            cell.rest |= self.value(node.elt)
        self.names, self.scopes = outer, scopes
        return value

    _SetComp = _GeneratorExp = _DictComp = _ListComp
