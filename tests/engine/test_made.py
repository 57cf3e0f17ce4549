"""Objects that are given another value when they are made, copied or through their dictionary: the fact folds nothing.

Each program is run as it is and as it comes out. What folds here and then does something else is wrong, however it is
written; what must fold stands below, so that keeping everything would not pass.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pruner.pipeline.making import Makes
from pruner.scan import made
from tests.engine.program import Pruned, prune, same_behaviour

HEAD = "import collections, copy, dataclasses, functools, itertools, json, operator, typing\n\n\n"
DATA = HEAD + "@dataclasses.dataclass\nclass Args:\n    level: int = 1\n    flag: bool = False\n\n\n"
PLAIN = HEAD + (
    "class Args:\n    def __init__(self, level=1, flag=False):\n        self.level = level\n        self.flag = flag\n\n\n"
)
TUPLE = HEAD + "class Args(typing.NamedTuple):\n    level: int = 1\n    flag: bool = False\n\n\n"
RENAMED = PLAIN.replace("flag=False", "mm=False").replace("= flag", "= mm")
SLOTS = PLAIN.replace("class Args:\n", "class Args:\n    __slots__ = ('level', 'flag')\n\n")
KEPT = PLAIN.replace("level=1, flag=False", "**kw").replace("self.level = level", "self.flag = False")
FROZEN = DATA.replace("dataclass\nclass", "dataclass(frozen=True)\nclass")
BASED = HEAD + (
    "@dataclasses.dataclass\nclass Base:\n    flag: bool = False\n\n\n"
    "@dataclasses.dataclass\nclass Args(Base):\n    level: int = 1\n\n\n"
)
SUB = "@dataclasses.dataclass\nclass Sub(Args):\n    more: int = 0\n\n\n"
APP = (
    "import argparse, copy, dataclasses, functools, itertools, json, operator, types, typing\nimport conf\n"
    "from conf import Args\n\n\ndef read(a):\n    return 1 if a.flag else 2\n\n\n"
)


def method(text: str, base: str = DATA) -> str:
    """The module with one more method of its last class."""
    return base.rstrip("\n") + "\n\n" + "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")) + "\n\n"


def program(body: str, conf: str = DATA, more: str = "") -> dict[str, str]:
    """``f`` makes an object, does what ``body`` says, and reads the attribute."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    app = f"{APP}{more}\n\ndef f(u=True, k='flag'):\n    a = Args()\n{lines}    return read(a)\n"
    return {"conf.py": conf, "app.py": app}


def pruned(files: dict[str, str], rules: str | None = None) -> tuple[Pruned, bool]:
    """The program under the fact, and is the test folded? Both versions do the same."""
    facts = {f"conf.{name}.flag": False for name in ("Args", "Base") if f"class {name}" in files["conf.py"]}
    result = prune(files, facts=facts, plat=False, rules=rules)
    folded = "if a.flag" not in result["app.py"]
    if folded:
        same_behaviour(result, "import app\nRESULT = app.f()")
    return result, folded


BREAKING = {
    # another object of the class, made from one
    "replace, by keyword": ("a = dataclasses.replace(a, flag=u)",),
    "replace, by keywords that are a mapping": ("a = dataclasses.replace(a, **{k: u})",),
    "replace under another name": ("a = rep(a, **{k: u})", DATA, "from dataclasses import replace as rep\n"),
    "replace under another name, by keyword": ("a = rep(a, flag=u)", DATA, "from dataclasses import replace as rep\n"),
    "replace in a variable": ("r = dataclasses.replace\na = r(a, flag=u)",),
    "a partial of replace": ("a = functools.partial(dataclasses.replace, a)(**{k: u})",),
    "replace in a lambda": ("a = list(map(lambda x: dataclasses.replace(x, **{k: u}), [a]))[0]",),
    "_replace": ("a = a._replace(flag=u)", TUPLE),
    "_replace, by a mapping": ("a = a._replace(**{k: u})", TUPLE),
    "_make": ("a = Args._make([1, u])", TUPLE),
    "__replace__": ("a = a.__replace__(**{k: u})", method("def __replace__(self, **k):\n    return dataclasses.replace(self, **k)")),
    "__class__": ("a = a.__class__(flag=u)",),
    "__class__, by a mapping": ("a = a.__class__(**{k: u})",),
    "__class__, by position": ("a = a.__class__(1, u)",),
    "type()": ("a = type(a)(flag=u)",),
    "type(), by a mapping": ("a = type(a)(**{k: u})",),
    "type(), by position": ("a = type(a)(1, u)",),
    "type() of another, by position": ("print(type('a')(b'x', 'utf-8'))",),
    "type() in a variable": ("t = type(a)\na = t(1, u)",),
    # in the class itself
    "self.__class__": ("a = a.g(u)", method("def g(self, u):\n    return self.__class__(flag=u)")),
    "self.__class__, by position": ("a = a.g(u)", method("def g(self, u):\n    return self.__class__(1, u)")),
    "cls": ("a = Args.g(u)", method("@classmethod\ndef g(cls, u):\n    return cls(flag=u)")),
    "cls, by a mapping": ("a = Args.g(flag=u)", method("@classmethod\ndef g(cls, **u):\n    return cls(**u)")),
    "cls, by position": ("a = Args.g(u)", method("@classmethod\ndef g(cls, u):\n    return cls(1, u)")),
    "cls of another name": ("a = Args.g(u)", method("@classmethod\ndef g(klass, u):\n    return klass(1, u)")),
    "cls in a variable": ("a = Args.g(u)", method("@classmethod\ndef g(cls, u):\n    c = cls\n    return c(flag=u)")),
    "cls.__new__": (
        "a = Args.g(u)",
        method("@classmethod\ndef g(cls, u):\n    o = cls.__new__(cls)\n    o.__dict__.update(flag=u)\n    return o"),
    ),
    "__init__ of an object": (
        "a = Args.g(u)",
        method("@classmethod\ndef g(cls, u):\n    o = cls.__new__(cls)\n    o.__init__(1, u)\n    return o"),
    ),
    "in a base's method": (
        "a = Args.g(flag=u)",
        BASED.replace("    level", "    level").replace(
            "flag: bool = False\n", "flag: bool = False\n\n    @classmethod\n    def g(cls, **u):\n        return cls(**u)\n"
        ),
    ),
    "from a command line": (
        "a = Args.g(argparse.Namespace(level=1, flag=u))",
        method("@classmethod\ndef g(cls, ns):\n    return cls(**{x.name: getattr(ns, x.name) for x in dataclasses.fields(cls)})"),
    ),
    "in a static method": ("a = Args.g(flag=u)", method("@staticmethod\ndef g(**kw):\n    return Args(**kw)")),
    # by position, by partial
    "by position": ("a = Args(1, u)",),
    "by position, a literal": ("a = Args(1, True)",),
    "by position, a row": ("row = [1, u]\na = Args(*row)",),
    "by position, plain": ("a = Args(1, u)", PLAIN),
    "by position, named tuple": ("a = Args(1, u)", TUPLE),
    "by position, a field of the base": ("a = Args(u)", BASED),
    "by position, frozen": ("a = Args(1, u)", FROZEN),
    "by position, slots": ("a = Args(1, u)", SLOTS),
    "another parameter": ("a = Args(mm=u)", RENAMED),
    "by keyword": ("a = Args(flag=u)",),
    "by a mapping": ("a = Args(**{k: u})",),
    "by a mapping that is displayed": ("a = Args(**{'flag': u})",),
    "keywords kept": ("a = Args(flag=u)", KEPT.replace("self.flag = flag", "self.__dict__.update(kw)")),
    "keywords kept by setattr": (
        "a = Args(flag=u)",
        KEPT.replace("self.flag = flag", "for n, v in kw.items():\n            setattr(self, n, v)"),
    ),
    "a partial": ("a = functools.partial(Args, flag=u)()",),
    "a partial that is given more": ("a = functools.partial(Args)(flag=u)",),
    "a partial, by position": ("a = functools.partial(conf.Args, 1, u)()",),
    "a partial of a module": ("a = MK(u)", DATA, "MK = functools.partial(Args, 3)\n"),
    # through the dictionary
    "__dict__.update": ("a.__dict__.update(flag=u)",),
    "__dict__.update, a mapping": ("a.__dict__.update({k: u})",),
    "__dict__, an item": ("a.__dict__['flag'] = u",),
    "__dict__, a computed item": ("a.__dict__[k] = u",),
    "__dict__ |=": ("a.__dict__ |= {k: u}",),
    "__dict__ =": ("a.__dict__ = {'flag': u, 'level': 1}",),
    "__dict__ in a variable": ("d = a.__dict__\nd['flag'] = u",),
    "__dict__.setdefault": ("a.__dict__.pop(k)\na.__dict__.setdefault(k, u)",),
    "__dict__.__setitem__": ("a.__dict__.__setitem__(k, u)",),
    "__dict__ by getattr": ("getattr(a, '__dict__')[k] = u",),
    "vars().update": ("vars(a).update(flag=u)",),
    "vars(), an item": ("vars(a)[k] = u",),
    "vars() in a variable": ("v = vars(a)\nv |= {k: u}",),
    "vars() of self": ("a.g(flag=u)", method("def g(self, **kw):\n    vars(self).update(kw)")),
    "locals()": ("a.g(u)", method("def g(self, flag):\n    self.__dict__.update(locals())")),
    "object.__setattr__": ("object.__setattr__(a, k, u)",),
    "__setattr__": ("a.__setattr__(k, u)",),
    "setattr": ("setattr(a, k, u)",),
    "setattr in a loop": ("for n, v in {k: u}.items():\n    setattr(a, n, v)",),
    "setattr in a variable": ("s = setattr\ns(a, k, u)",),
    "a partial of setattr": ("functools.partial(setattr, a)(k, u)",),
    "setattr, mapped": ("list(map(setattr, [a], [k], [u]))",),
    "setattr on the class": ("setattr(Args, k, u)\na = Args.__new__(Args)", PLAIN.replace("        self.flag = flag\n", "").replace("class Args:\n", "class Args:\n    flag = False\n")),
    # subclasses, other names
    "a subclass": ("a = conf.Sub(flag=u)", DATA + SUB),
    "a subclass, by position": ("a = conf.Sub(1, u)", DATA + SUB),
    "a subclass elsewhere": ("a = Sub(1, u)", DATA, "class Sub(Args):\n    pass\n"),
    "a subclass without capital": ("a = sub(flag=u)", DATA, "class sub(Args):\n    pass\n"),
    "super().__init__": ("a = Sub(u)", DATA, "class Sub(Args):\n    def __init__(self, u):\n        super().__init__(flag=u)\n"),
    "super().__init__, by position": ("a = Sub(u)", DATA, "class Sub(Args):\n    def __init__(self, u):\n        super().__init__(1, u)\n"),
    "super().__init__, by a mapping": ("a = Sub(flag=u)", DATA, "class Sub(Args):\n    def __init__(self, **u):\n        super().__init__(**u)\n"),
    "__init__ of the base": ("a = Sub(u)", DATA, "class Sub(Args):\n    def __init__(self, u):\n        Args.__init__(self, 1, u)\n"),
    "imported under another name": ("a = mk(flag=u)", DATA, "from conf import Args as mk\n"),
    "imported under another name, by position": ("a = A(1, u)", DATA, "from conf import Args as A\n"),
    "another name by assignment": ("b = Args\na = b(**{k: u})",),
    "another name of the module": ("a = Config(**{k: u})", DATA, "Config = Args\n"),
    "as a value": ("a = make(Args, u)", DATA, "def make(t, u):\n    return t(1, u)\n"),
    "as a value, by a mapping": ("a = make(Args, flag=u)", DATA, "def make(t, **u):\n    return t(**u)\n"),
    "in an attribute": ("a = Maker().make(u)", DATA, "class Maker:\n    kind = Args\n    def make(self, u):\n        return self.kind(1, u)\n"),
    "in an annotated attribute": ("a = Maker().make(u)", DATA, "class Maker:\n    kind: Args = Args\n    def make(self, u):\n        return self.kind(1, u)\n"),
    "in a table": ("a = T['a'](1, u)", DATA, "T = {'a': Args}\n"),
    "in a list": ("for c in [Args]:\n    a = c(1, u)",),
    "mapped": ("(a,) = map(Args, [1], [u])",),
    "starmap": ("(a,) = itertools.starmap(Args, [(1, u)])",),
    "getattr of the module": ("a = getattr(conf, 'Args')(1, u)",),
    "a lambda": ("g = lambda *x, **y: Args(*x, **y)\na = g(flag=u)",),
    "a default of a lambda": ("g = lambda c=Args: c(1, u)\na = g()",),
    "a choice": ("a = (Args if u else None)(1, u)",),
    "a walrus": ("a = (q := Args)(1, u)",),
    "what a call gives": ("a = klass()(1, u)", DATA, "def klass():\n    return Args\n"),
    "what a decorator keeps": (
        "a = conf.KEPT[0](1, u)",
        DATA.replace("@dataclasses", "KEPT = []\n\n\ndef keep(c):\n    KEPT.append(c)\n    return c\n\n\n@keep\n@dataclasses"),
    ),
    # passed through
    "passed on": ("a = build(flag=u)", DATA, "def build(**kw):\n    return Args(**kw)\n"),
    "passed on, by position": ("a = build(1, u)", DATA, "def build(*a, **kw):\n    return Args(*a, **kw)\n"),
    "passed on twice": ("a = outer(flag=u)", DATA, "def build(**kw):\n    return Args(**kw)\n\n\ndef outer(**kw):\n    return build(**kw)\n"),
    "from JSON": ("a = Args(**json.loads('{\"flag\": true}'))",),
    "from another object": ("a = Args(**vars(argparse.Namespace(flag=u)))",),
    # classes that only one place knows, or that come out of a computed name
    "a subclass in a function": ("class Sub(Args):\n    pass\na = Sub(1, u)",),
    "a subclass in a class": ("a = H.Sub(1, u)", DATA, "class H:\n    class Sub(Args):\n        pass\n"),
    "a subclass that a function gives": ("a = g()(1, u)", DATA, "def g():\n    class Sub(Args):\n        pass\n    return Sub\n"),
    "a computed name of a module": ("n = 'Args'\na = getattr(conf, n)(1, u)",),
    "a computed name of a module that is imported": ("import importlib\nn = 'Args'\na = getattr(importlib.import_module('conf'), n)(**{k: u})",),
    "a computed name of the globals": ("n = 'Args'\na = globals()[n](1, u)",),
    "__subclasses__": ("a = conf.H.__subclasses__()[0](1, u)", DATA.replace("@data", "class H:\n    pass\n\n\n@data").replace("class Args", "class Args(H)")),
    "__call__ of a metaclass": (
        "a = Args()",
        DATA.replace("@data", "class M(type):\n    def __call__(cls, **k):\n        return super().__call__(**{**k, 'flag': True})\n\n\n@data").replace(
            "class Args", "class Args(metaclass=M)"
        ),
    ),
    "a class of who knows whom, handed on": ("a = g(type(a), u)", DATA, "def g(t, u):\n    return t(1, u)\n"),
    "a mixin of a subclass": ("a = Sub()\na.g(k, u)", DATA, "class Mix:\n    def g(self, k, v):\n        setattr(self, k, v)\n\n\n@dataclasses.dataclass\nclass Sub(Args, Mix):\n    pass\n"),
    "a mixin of a subclass, by a mapping": ("a = Sub.g(flag=u)", DATA, "class Mix:\n    @classmethod\n    def g(cls, **k):\n        return cls(**k)\n\n\n@dataclasses.dataclass\nclass Sub(Args, Mix):\n    pass\n"),
    "__new__ of a subclass": ("a = Sub(u)", TUPLE, "class Sub(Args):\n    def __new__(cls, u):\n        return super().__new__(cls, 1, u)\n"),
    "a literal of the class itself": ("pass", DATA.replace("flag: bool = False", "flag: bool = True")),
    # other objects with the attribute
    "a parser": ("p = argparse.ArgumentParser()\np.add_argument('--flag', action='store_true')\na = p.parse_args(['--flag'])",),
    "a made dataclass": ("a = dataclasses.make_dataclass('Q', [('flag', bool, True)])()",),
    "a made class": ("a = type('Q', (), {'flag': True})()",),
    "a made named tuple": ("import collections\na = collections.namedtuple('Q', 'more flag')(1, u)",),
}  # fmt: skip


@pytest.mark.parametrize("row", BREAKING.values(), ids=BREAKING.keys())
def test_another_value(row: tuple[str, ...]) -> None:
    result, folded = pruned(program(*row))
    assert not folded and "PR221" in result.findings


KEYWORDS = DATA.replace("dataclass\nclass", "dataclass(kw_only=True)\nclass")
OTHER = "@dataclasses.dataclass\nclass Other:\n    size: int = 1\n    more: int = 2\n\n\n"
FOLDING = {
    "nothing": ("pass",),
    "made without arguments": ("a = conf.Args()",),
    "another keyword": ("a = Args(level=2)",),
    "fewer arguments": ("a = Args(2)",),
    "the value of the fact, by position": ("a = Args(2, False)",),
    "the value of the fact": ("a = Args(flag=False)",),
    "the same of another": ("a = Args(flag=a.flag)",),
    "a mapping that is displayed": ("a = Args(**{'level': 2})",),
    "replace of another field": ("a = dataclasses.replace(a, level=3)",),
    "the name of its class": ("print(a.__class__.__name__, type(a).__name__)",),
    "compared classes": ("print(type(a) is Args, type(a) in (Args, int), isinstance(a, (Args, int)))",),
    "another name": ("a = A(3)", DATA, "from conf import Args as A\n"),
    "annotations": ("a = g(a)", DATA, "def g(it: Args, more: 'Args | None' = None) -> typing.Optional[Args]:\n    x: Args = it\n    return x\n"),
    "an alias of types": ("pass", DATA, "Maybe = typing.Optional[Args]\n"),
    "fields": ("print(len(dataclasses.fields(Args)))",),
    "a factory without arguments": ("a = Box().it", DATA, "@dataclasses.dataclass\nclass Box:\n    it: Args = dataclasses.field(default_factory=Args)\n"),
    "a subclass with its own arguments": ("a = Sub(3)", DATA, "class Sub(Args):\n    def __init__(self, level):\n        super().__init__(level)\n"),
    "cls with another argument": ("a = Args.g(3)", method("@classmethod\ndef g(cls, level):\n    return cls(level)")),
    "cls of another class": ("print(conf.Other.g(1, u).more)", DATA + method("@classmethod\ndef g(cls, *row):\n    return cls(*row)", OTHER)),
    "self of another class": ("print(conf.Other().g(more=u).more)", DATA + method("def g(self, **k):\n    return dataclasses.replace(self, **k)", OTHER)),
    "another class, by a mapping": ("print(conf.Other(**{'more': u}), conf.Other(1, u))", DATA + OTHER),
    "another class as a value": ("print(make(conf.Other, u))", DATA + OTHER, "def make(t, u):\n    return t(1, u)\n"),
    "a keyword of a function": ("print(g(flag=u))", DATA, "def g(flag):\n    return [flag]\n"),
    "a keyword of an outside function": ("print(json.dumps({}, indent=u))",),
    "text replaced": ("print('a'.replace('a', 'b'), 'x'.replace(*('x', 'y')))",),
    "the dictionary looked at": ("print(vars(a)['level'], a.__dict__.get('level'), dict(a.__dict__), *vars(a).items())",),
    "its keys": ("for n in vars(a):\n    print(n, n in a.__dict__)",),
    "passed as keywords": ("g(**vars(a))", DATA, "def g(level, flag):\n    print(level)\n"),
    "another attribute": ("setattr(a, 'level', 3)\na.__dict__['level'] = 4\nvars(a).update(level=5)",),
    "the dictionary of another class": ("conf.Other().g('more', u)", DATA + method("def g(self, k, v):\n    self.__dict__[k] = v", OTHER)),
    "the dictionary of another class handed out": ("print(conf.Other().g())", DATA + method("def g(self):\n    d = self.__dict__\n    return self.__dict__", OTHER)),
    "another class's __setattr__": (
        "b = conf.Other()\nb.more = 3\nprint(b.more)",
        DATA + method("def __setattr__(self, k, v):\n    super().__setattr__(k, v)\n    object.__setattr__(self, k, v)", OTHER),
    ),
    "a module's globals": ("vars(conf)['size'] = u\nconf.__dict__[k + 's'] = u\nprint(conf.size)",),
    "by keyword only": ("print(type('a')(b'x', 'utf-8'))", KEYWORDS),
    "a computed name of an object": ("print(getattr(a, k)) if u else getattr(a, k)(1, 2)",),
    "the type said": ("print(type(a), str(type(a)), f'{type(a)}', [type(a)] == [a.__class__])",),
    "a copy": ("a = copy.copy(a)",),
    "a class method": ("a = Args.g()", method("@classmethod\ndef g(cls):\n    return cls()")),
    "__new__ without arguments": ("print(Args.__new__(Args) is a)",),
    "another parser": ("p = argparse.ArgumentParser()\np.add_argument('--flags')\nprint(p.parse_args([]).flags)",),
}  # fmt: skip


@pytest.mark.parametrize("row", FOLDING.values(), ids=FOLDING.keys())
def test_what_gives_it_no_other_value(row: tuple[str, ...]) -> None:
    result, folded = pruned(program(*row))
    assert folded and not result.findings


GUARDED = """\
rules:
  - {id: r, because: So., root: [app]}
  - {id: a, because: So., assume: {conf.Args.flag: false}}
  - id: g
    because: It is asked when it is made.
    guard: {at: "conf:Args.__post_init__", where: after, of: self, ask: {flag: {fact: conf.Args.flag}}}
"""
ASKED = method("def __post_init__(self):\n    pass")
SEEN = {
    "by a mapping": ("a = Args(**{k: u})", "", True),
    "by position": ("a = Args(1, u)", "", True),
    "a literal by position": ("a = Args(1, True)", "", False),
    "as a value": ("a = make(Args, u)", "def make(t, u):\n    return t(1, u)\n", True),
    "a keyword of who knows what": ("g(a, lambda **k: k, k)", "def g(it, make, k):\n    make(flag=k)\n", True),
    "another one from it": ("a = dataclasses.replace(a, **{k: u})", "", True),
    "a subclass that nobody looks at": (
        "a = Sub(**{k: u})", "@dataclasses.dataclass\nclass Sub(Args):\n    def __post_init__(self):\n        pass\n", False,
    ),
    "a subclass that asks its base": (
        "a = Sub(**{k: u})", "@dataclasses.dataclass\nclass Sub(Args):\n    def __post_init__(self):\n        super().__post_init__()\n", True,
    ),
    "a parameter's attribute of a name that can be a field": ("g(a, k, u)", "def g(it: Args, k, u):\n    setattr(it, k, u)\n", False),
    "the same, in words": ("g(a, k, u)", "def g(it: 'conf.Args | None', k, u):\n    setattr(it, k, u)\n", False),
    "a parameter's dictionary": ("g(a, k, u)", "def g(it: typing.Optional[Args], k, u):\n    vars(it)[k] = u\n", False),
    "a parameter that is something else": ("print(g.__name__)", "def g(it: list, k, u):\n    setattr(it, k, u)\n", True),
}  # fmt: skip


@pytest.mark.parametrize(("body", "more", "folds"), SEEN.values(), ids=SEEN.keys())
def test_what_a_guard_sees_when_the_object_is_made(body: str, more: str, folds: bool) -> None:
    result = prune(
        program(body.replace("u}", "not u}").replace(", u)", ", not u)"), ASKED, more), rules=GUARDED, plat=False
    )
    assert ("if a.flag" not in result["app.py"]) is folds
    if folds:
        same_behaviour(result, "import app\nRESULT = app.f()")


def test_a_renamed_class_is_followed_into_another_module() -> None:
    files = program("a = lib.A(1, u)", DATA, "import lib\n") | {"lib.py": "from conf import Args as A\n"}
    assert not pruned(files)[1]


def test_an_attribute_of_who_knows_whom_is_given_by_keyword() -> None:
    """No class is known for what ``get`` gives: any call that may make one counts, functions of the tree do not."""
    conf = DATA + "def get():\n    return ARGS[0]\n\n\nARGS = [Args()]\n"
    for call, breaks in (("Args(flag=u)", True), ("other(flag=u)", False), ("make(flag=u)", True)):
        more = f"def other(flag):\n    return flag\n\n\ndef g(u, make):\n    return {call}\n"
        app = f"{APP}{more}\n\ndef f():\n    return 1 if conf.get().flag else 2\n"
        result = prune({"conf.py": conf, "app.py": app}, facts={"conf.get().flag": False}, plat=False)
        assert bool(result.findings) is breaks


STANDARD = sorted(path for path in Path(os.__file__).parent.glob("*.py") if path.stat().st_size < 60_000)


def test_a_file_that_is_passed_over_makes_no_such_object() -> None:
    """A look at the text spares parsing; the standard library holds most ways to name a class."""
    names = frozenset(
        {"Namespace", "Path", "Thread", "Fraction", "Decimal", "OrderedDict", "Message", "Event", "partial"}
    )
    words = frozenset({"flag", "daemon", "encoding"})
    looks = Makes(names, names, words, words, frozenset(), True)
    over, found = [], 0
    for path in STANDARD:
        data = path.read_bytes()
        sites = made.find(data, names, names, words).sites
        found += len(sites)
        if sites and not looks.at(data):
            over.append((path.name, sites[0]))
    assert not over and found > 100
