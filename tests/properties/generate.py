"""Random programs over predicates: expressions, statement trees, whole packages."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from hypothesis import strategies as st

# What every function may use. ``v`` are the run-time booleans, ``note`` writes the effect log.
HEAD = """\
import contextlib

from plat import arch, is_cuda, is_hip, is_npu

_is_cuda = is_cuda()
_is_hip = is_hip()
_either = _is_cuda or _is_hip
w = "global w"


def note(log, value, answer=True):
    log.append(value)
    return answer


"""
PURE = [
    "is_cuda()", "is_hip()", "not is_hip()", "_is_cuda", "_is_hip", "_either", "is_npu()", "v[0]", "v[1]", "v[2]", "not v[0]", "x", "y",
    'arch() == "cuda"', 'arch() != "cuda"', 'arch() in ("hip", "npu")', "is_cuda() is True", "is_hip() == False", "True", "0", "None", '"t"',
    '{"cuda": True, "hip": 0}.get(arch())', '{"hip": 1}.get(arch(), v[1])', "{True: 0, False: 1}[is_hip()]", 'arch() in {"hip": 1}',
    'arch() in frozenset(("hip", "npu"))', "len(arch()) == 3", "is_hip() in set([True, 2])",
]  # fmt: skip
CALLS = [
    "note(log, {n})",
    "note(log, {n}, False)",
    "note(log, {n}, v[0])",
    "note(log, {n}, v[1])",
    "note(log, is_cuda(), v[2])",
]


class Names:
    """Numbers effects, so that no two write the same thing."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count


@st.composite
def expressions(draw: st.DrawFn, names: Names, depth: int = 3, binds: bool = True) -> str:
    """One expression, any value."""
    kind = draw(
        st.sampled_from(
            ["pure"] * 6
            + ["call"] * 3
            + (
                [
                    "and",
                    "or",
                    "and",
                    "or",
                    "not",
                    "if",
                    "cmp",
                    "paren",
                    "walrus",
                    "any",
                    "list",
                    "text",
                    "bool",
                    "lambda",
                    "own",
                    "chain",
                    "dict",
                    "slice",
                    "format",
                    "entry",
                ]
                if depth
                else []
            )
        )
    )
    if kind == "pure":
        return draw(st.sampled_from(PURE))
    if kind == "call":
        return draw(st.sampled_from(CALLS)).format(n=names.next())
    sub = expressions(names, depth - 1, binds)
    if kind in ("and", "or"):
        parts = [draw(sub) for _ in range(draw(st.integers(2, 3)))]
        joiner = draw(st.sampled_from([f" {kind} "] * 5 + [f"\n        {kind} ", f" {kind}  # why\n        "]))
        return "(" + joiner.join(parts) + ")"
    if kind == "not":
        return f"(not {draw(sub)})"
    if kind == "if":
        return f"({draw(sub)} if {draw(sub)} else {draw(sub)})"
    if kind == "cmp":
        return f"({draw(sub)} {draw(st.sampled_from(['is', 'is not', '==', '!=']))} {draw(st.sampled_from(['True', 'False', 'None', 'v[1]']))})"
    if kind == "walrus" and binds:
        return f"({draw(st.sampled_from(['x', 'y', 'w']))} := {draw(sub)})"
    if kind == "any":
        return f"any({draw(expressions(names, depth - 1, False))} for _ in range(2))"
    if kind == "list":
        return f"[{draw(sub)}, {draw(sub)}]"
    if kind == "text":
        inner = draw(expressions(names, 0, False)).replace('"', "'")
        return "f'{" + inner + "}'" if "'" not in inner else f'f"{{{inner}}}"'
    if kind == "entry":
        pairs = f"{{True: {draw(sub)}, False: {draw(sub)}, {draw(sub)}: {draw(sub)}}}"
        return draw(
            st.sampled_from(
                [f"{pairs}[bool({draw(sub)})]", f"{pairs}.get(is_hip(), {draw(sub)})", f"({draw(sub)} in {pairs})"]
            )
        )
    if kind == "bool":
        return f"bool({draw(sub)})"
    if kind == "own":  # a comprehension or lambda with names of its own
        name = draw(st.sampled_from(["x", "y", "w", "is_cuda", "_is_hip"]))
        inner = draw(expressions(names, depth - 1, False))
        if "()" in inner and name == "is_cuda":
            name = "x"
        return draw(
            st.sampled_from(
                [
                    f"[{inner} for {name} in (v[0], v[1])]",
                    f"(lambda {name}: {inner})(v[1])",
                    f"[1 for {name} in (v[2], 1) if {inner}]",
                    f"{{{name}: {inner} for {name} in (v[0], 2)}}",
                ]
            )
        )
    if kind == "chain":
        return f"({draw(expressions(names, 0))} == {draw(sub)} == {draw(expressions(names, 0))})"
    if kind == "dict":
        return f"{{'k': {draw(sub)}, **{{'l': {draw(sub)}}}}}"
    if kind == "slice":
        return f"[{draw(sub)}, {draw(sub)}][bool({draw(sub)})]"
    if kind == "format":
        return f"'%s' % ({draw(sub)},)"
    if kind == "lambda":
        return f"(lambda: {draw(expressions(names, depth - 1, False))})()"
    return f"({draw(sub)})"


def _compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "part", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def shift(lines: list[str], by: str = "    ") -> list[str]:
    """Lines one level deeper."""
    return [by + line if line else line for line in lines]


@st.composite
def suites(draw: st.DrawFn, names: Names, depth: int, loop: bool, safe: bool, generator: bool) -> list[str]:
    """A suite: one to three statements."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 5)) == 0:
            lines.append(f"# note {names.next()}")
        lines += draw(statements(names, depth, loop, safe, generator))
    return lines


@st.composite
def statements(draw: st.DrawFn, names: Names, depth: int, loop: bool, safe: bool, generator: bool) -> list[str]:
    """One statement as lines. ``safe``: binds nothing that only a dead arm binds, never yields."""
    simple = ["note"] * 4 + ["set", "set", "return", "raise", "assert", "pass", "line", "import"]
    if not safe:
        simple += ["w", "global"]
    if generator:
        simple += ["yield", "yield"]
    if loop:
        simple += ["break", "continue"]
    block = (
        ["if"] * 6 + ["while", "for", "try", "with", "match", "def", "ifline", "class", "deco", "back", "tryline"]
        if depth
        else []
    )
    kind = draw(st.sampled_from(simple + block))
    expr = lambda d=2: draw(expressions(names, d))  # noqa: E731
    sub = suites(names, depth - 1, loop, safe, generator)
    n = names.next()
    if kind == "note":
        return [f"note(log, ({n}, {expr()}))"]
    if kind == "set":
        return [f"{draw(st.sampled_from(['x', 'y']))} = {expr()}"]
    if kind == "w":
        return [draw(st.sampled_from([f"w = {n}", "note(log, w)", "del w", f"w: int = {n}"]))]
    if kind == "global":
        return [f"note(log, {n})"]
    if kind == "return":
        return ["return"] if generator else [f"return {expr()}"]
    if kind == "raise":
        return [draw(st.sampled_from([f"raise ValueError({n})", f"raise KeyError({n})"]))]
    if kind == "assert":
        return [f"assert {expr()}, note(log, {n})"]
    if kind == "pass":
        return [draw(st.sampled_from(["pass", '"""text\n  of lines"""', "..."]))]
    if kind == "line":
        return [f"note(log, {n}); x = {expr(1)}; note(log, x)".replace("\n", " ").replace("# why", "")]
    if kind == "import":
        return [draw(st.sampled_from(["from plat import is_npu as z", "import plat as z"])), "note(log, z and 1)"]
    if kind == "yield":
        return [draw(st.sampled_from([f"yield {n}", f"x = yield ({n}, {expr(1)})", f"yield from ({n},)"]))]
    if kind in ("break", "continue"):
        return [kind]
    if kind == "ifline":
        body = draw(st.sampled_from([f"note(log, {n})", f"x = {n}; y = {n}", "raise KeyError"]))
        lines = [f"if {expr()}: {body}"]
        if draw(st.booleans()):
            lines.append(f"else: note(log, -{n})")
        return lines
    if kind == "tryline":
        return [
            f"try: note(log, {n}); x = {expr(1)}",
            f"except ValueError: note(log, -{n})",
            f"finally: note(log, {n})",
        ]
    if kind == "back":  # continued lines without parentheses
        word = draw(st.sampled_from(["and", "or"]))
        joined = f" \\\n        {word} ".join(draw(expressions(names, 1)) for _ in range(draw(st.integers(2, 3))))
        form = draw(
            st.sampled_from(
                ["x = {}", "assert {}", "if {}:\n    note(log, 0)", "while {}:\n    break", "note(log, 1 if {} else 2)"]
            )
        )
        return form.format(joined).split("\n")
    if kind == "class":
        body = shift(draw(suites(names, depth - 1, False, True, False)))
        body = [line for line in body if not line.strip().startswith(("return", "yield"))] or ["    pass"]
        text = "\n".join([f"class C{n}:", *body, "    pass"])
        if "return" in text or not _compiles(text):
            return [
                f"class C{n}:",
                f"    if {expr()}:",
                f"        z = {n}",
                "    else:",
                "        def z(self): pass",
                f"note(log, C{n}.z == {n})",
            ]
        return text.split("\n")
    if kind == "deco":
        return [
            f"@(lambda g: note(log, {n}) and g)",
            f"def d{n}(a={expr(1)}, *, b: {expr(0)} = {expr(0)}): return a, b",
            f"note(log, d{n}())",
        ]
    if kind == "if":
        lines = [f"if {expr()}:", *shift(draw(sub))]
        for _ in range(draw(st.integers(0, 2))):
            lines += [f"elif {expr()}:", *shift(draw(sub))]
        if draw(st.booleans()):
            lines += ["else:", *shift(draw(sub))]
        return lines
    inner = suites(names, depth - 1, True, safe, generator)
    if kind == "while":
        lines = [f"t{n} = 0", f"while ({expr()}) and t{n} < 2:", f"    t{n} += 1", *shift(draw(inner))]
        return lines + (["else:", *shift(draw(sub))] if draw(st.booleans()) else [])
    if kind == "for":
        lines = [f"for i{n} in range(2):", *shift(draw(inner))]
        return lines + (["else:", *shift(draw(sub))] if draw(st.booleans()) else [])
    if kind == "try":
        lines = [
            "try:",
            *shift(draw(sub)),
            "except ValueError as error:",
            "    note(log, str(error))",
            *shift(draw(sub)),
        ]
        if draw(st.booleans()):
            lines += ["else:", *shift(draw(sub))]
        if draw(st.booleans()):
            lines += ["finally:", *shift(draw(sub))]
        return lines
    if kind == "with":
        return [
            draw(st.sampled_from(["with contextlib.suppress(ValueError):", "with contextlib.nullcontext(1) as x:"])),
            *shift(draw(sub)),
        ]
    if kind == "match":
        lines = [f"match {expr(1)}:"]
        for _ in range(draw(st.integers(1, 3))):
            pattern = draw(st.sampled_from(["True", "False", "1", "1 | None", "'cuda' | 'x'", "[x, *_]", "str() as y"]))
            guard = f" if {expr(1)}" if draw(st.booleans()) else ""
            lines += [f"    case {pattern}{guard}:", *shift(shift(draw(sub)))]
        return lines + (["    case _:", *shift(shift(draw(sub)))] if draw(st.booleans()) else [])
    assert kind == "def"
    own = suites(names, depth - 1, False, safe, False)
    head = [f"def g{n}(x=0, y=0):"]
    if not safe and draw(st.booleans()):
        head += ["    nonlocal w"] if draw(st.booleans()) else ["    note(log, w)"]
        if "nonlocal" in head[-1]:
            return [f"w = {n}", *head, *shift(draw(own)), f"note(log, g{n}())"]
    return [*head, *shift(draw(own)), f"note(log, g{n}())"]


@st.composite
def functions(draw: st.DrawFn, depth: int = 3, safe: bool = False) -> str:
    """A module with one function ``f(v, log)``."""
    names = Names()
    generator = not safe and draw(st.integers(0, 3)) == 0
    body = draw(suites(names, depth, False, safe, generator))
    body += draw(suites(names, depth, False, safe, generator))
    lead = ["x = v[0]", "y = v[1]"]
    if not safe and draw(st.integers(0, 3)) == 0 and not any("nonlocal" in line for line in body):
        at = draw(st.sampled_from(["if is_hip():", "if is_cuda():", "if v[0]:"]))
        lead += [at, "    global w", "    w = 7"]
        body = [line for line in body if "w: int" not in line]
    return HEAD + "def f(v, log):\n" + "\n".join(shift([*lead, *body, "note(log, 'end')"])) + "\n"


# -- packages -------------------------------------------------------------------------------------------

FLAGS = [
    "is_cuda()",
    "is_hip()",
    "not is_hip()",
    "is_cuda() and not is_hip()",
    "is_npu() or is_cuda()",
    'arch() == "cuda"',
    'arch() == "hip"',
]


@dataclass
class Exports:
    """Names that a module offers so far."""

    flags: list[str]
    functions: list[str]


@st.composite
def packages(draw: st.DrawFn) -> dict[str, str]:
    """A package ``kit`` of three to four modules and a registry, used by ``app.main(v)``."""
    count = draw(st.integers(2, 3))
    files = {
        "kit/__init__.py": "",
        "kit/registry.py": "TABLE = {}\n\n\ndef register(key):\n    def wrap(made):\n        TABLE[key] = made\n        return made\n\n    return wrap\n",
    }
    offered: dict[str, Exports] = {}
    for number in range(count):
        name = f"m{number}"
        text, exports = draw(_modules(number, offered))
        files[f"kit/{name}.py"] = text
        offered[name] = exports
    if draw(st.booleans()):
        chosen = draw(st.sampled_from(sorted(offered)))
        files["kit/__init__.py"] = draw(
            st.sampled_from(
                [
                    f"from kit.{chosen} import *\n",
                    f"from .{chosen} import " + (", ".join(offered[chosen].functions) or "__name__ as who") + "\n",
                ]
            )
        )
    files["app.py"] = draw(_mains(offered))
    return files


def _imports(draw: st.DrawFn, offered: dict[str, Exports]) -> tuple[list[str], list[str], list[str]]:
    """Import lines with the flags and functions that they bring."""
    lines: list[str] = []
    flags: list[str] = []
    functions: list[str] = []
    for name, exports in offered.items():
        way = draw(st.sampled_from(["no", "names", "star", "module", "alias", "relative"]))
        if way == "no":
            continue
        if way == "star":
            lines.append(f"from kit.{name} import *")
            flags += [f for f in exports.flags if not f.startswith("_")]
            functions += exports.functions
        elif way in ("names", "relative"):
            every = [*exports.flags, *exports.functions]
            if every:
                lines.append(f"from kit.{name} import " + ", ".join(every))
                flags += exports.flags
                functions += exports.functions
        elif way == "module":
            lines.append(f"import kit.{name}")
            flags += [f"kit.{name}.{f}" for f in exports.flags]
            functions += [f"kit.{name}.{f}" for f in exports.functions]
        else:
            lines.append(f"from kit import {name} as other_{name}")
            flags += [f"other_{name}.{f}" for f in exports.flags]
            functions += [f"other_{name}.{f}" for f in exports.functions]
    return lines, flags, functions


@st.composite
def _modules(draw: st.DrawFn, number: int, offered: dict[str, Exports]) -> tuple[str, Exports]:
    lines, flags, functions = _imports(draw, offered)
    lines.insert(0, "from plat import arch, is_cuda, is_hip, is_npu")
    lines.append("from kit.registry import register")
    own_flags, own_functions = [], []
    for at in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(["FLAG", "_flag"])) + f"_{number}_{at}"
        known = [*FLAGS, *flags, *own_flags]
        form = draw(st.sampled_from(["plain", "if", "both", "lazy"]))
        first = draw(st.sampled_from(known))
        if form == "plain":
            lines.append(f"{name} = {first}")
        elif form == "if":
            lines += [f"if {first}:", f"    {name} = True", "else:", f"    {name} = False"]
        elif form == "both":
            lines.append(f"{name} = {first} and ({draw(st.sampled_from(known))})")
        else:
            lines += [f"{name} = None", f"if {first}:", f"    {name} = 'set'"]
        own_flags.append(name)
    every = [*FLAGS[:2], *flags, *own_flags]
    for at in range(draw(st.integers(1, 3))):
        name = f"work_{number}_{at}"
        calls = [f"{f}(v)" for f in [*functions, *own_functions]] or ["v[0]"]
        lines += ["", ""]
        if draw(st.integers(0, 2)) == 0:
            lines.append(f"@register('{name}')")
        form = draw(st.sampled_from(["def", "def", "two", "class", "lazy"]))
        one, two, flag = draw(st.sampled_from(calls)), draw(st.sampled_from(calls)), draw(st.sampled_from(every))
        if form == "def":
            lines += [
                f"def {name}(v):",
                f"    if {flag}:",
                f"        return ['{name}', {one}]",
                f"    return [-1, {two}]",
            ]
        elif form == "two":
            if lines[-1].startswith("@"):
                lines.pop()
            lines += [
                f"if {flag}:",
                f"    def {name}(v):",
                f"        return {one}",
                "else:",
                f"    def {name}(v):",
                f"        return {two}",
            ]
        elif form == "class":
            lines += [
                f"class {name}:",
                "    def __new__(cls, v):",
                f"        return cls.yes(v) if {flag} else cls.no(v)",
                "    @staticmethod",
                "    def yes(v):",
                f"        return {one}",
                "    @staticmethod",
                "    def no(v):",
                f"        return {two}",
            ]
        else:
            source = draw(st.sampled_from(sorted(offered))) if offered else "registry"
            lines += [
                f"def {name}(v):",
                f"    if v[1] and {flag}:",
                f"        from kit.{source} import {(offered[source].functions or ['__name__'])[0] if offered else 'TABLE'} as got",
                "        return str(got)[:5]",
                f"    return {one}",
            ]
        own_functions.append(name)
    if draw(st.integers(0, 3)) == 0:
        own_flags = [f for f in own_flags if not f.startswith("_")]
        lines += ["", f"__all__ = {[*own_flags, *own_functions]!r}"]
    return "\n".join(lines) + "\n", Exports(own_flags, own_functions)


@st.composite
def _mains(draw: st.DrawFn, offered: dict[str, Exports]) -> str:
    lines, flags, functions = _imports(draw, offered)
    lines.insert(0, "from plat import is_cuda, is_hip")
    lines += ["from kit.registry import TABLE", "", "", "def main(v):", "    out = []"]
    for value in [*flags, *(f"{f}(v)" for f in functions)]:
        form = draw(st.sampled_from(["plain", "if", "skip", "run"]))
        if form == "plain":
            lines.append(f"    out.append({value})")
        elif form == "if":
            lines += [f"    if {draw(st.sampled_from([*FLAGS[:2], *flags]))}:", f"        out.append({value})"]
        elif form == "run":
            lines += ["    if v[2]:", f"        out.append({value})"]
    if draw(st.booleans()):
        lines += ["    for key in sorted(TABLE):", "        out.append(key)"]
    lines.append("    return repr(out)")
    return "\n".join(lines) + "\n"
