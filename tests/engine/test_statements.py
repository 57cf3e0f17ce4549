"""Folded statements, text for text: what goes, what moves, what stays where it is."""

from __future__ import annotations

import pytest

from tests.engine.program import module, prune, same_behaviour

HEAD = "from plat import arch, is_cuda, is_hip\n"
USES = "\n\ndef uses():\n    return arch, is_cuda, is_hip\n"


def fold(body: str, driver: str = "import app\nRESULT = app.f()") -> str:
    """Prune ``body``, require the same behaviour, and give what became of it."""
    pruned = prune({"app.py": HEAD + "\n\n" + body + USES})
    same_behaviour(pruned, driver)
    text = pruned["app.py"]
    assert text.startswith(HEAD) and text.endswith(USES)
    return text.removeprefix(HEAD).removesuffix(USES).strip("\n") + "\n"


# (name, program, output); every program is run too.
SUITES = [
    (
        "the body takes the place of the if, one level out",
        """\
def f():
    if is_cuda():
        x = 1

        y = [
            2,
        ]
    return x, y
""",
        """\
def f():
    x = 1

    y = [
        2,
    ]
    return x, y
""",
    ),
    (
        "lines of a string do not move",
        '''\
def f():
    if is_cuda():
        x = """one
        two
  three"""
        y = f"""{x}
        four {1 +
        1}"""
        return x, y
''',
        '''\
def f():
    x = """one
        two
  three"""
    y = f"""{x}
        four {1 +
        1}"""
    return x, y
''',
    ),
    (
        "a suite that lost everything keeps a pass",
        """\
def f():
    for n in (1, 2):
        if is_hip():
            return n
    else:
        if is_hip():
            return 3
    while is_hip():
        return 4
""",
        """\
def f():
    for n in (1, 2):
        pass
""",
    ),
    (
        "try parts keep a pass each, an emptied else of a loop goes",
        """\
def f():
    try:
        if is_hip():
            return 1
    except ValueError:
        if is_hip():
            return 2
    else:
        if is_hip():
            return 3
    finally:
        if is_hip():
            return 4
    return 5
""",
        """\
def f():
    try:
        pass
    except ValueError:
        pass
    else:
        pass
    finally:
        pass
    return 5
""",
    ),
    (
        "a tail that cannot be reached any more goes",
        """\
def f():
    if is_cuda():
        return 1
    # of the tail
    x = 2
    return x
""",
        """\
def f():
    return 1
    # of the tail
""",
    ),
    (
        "a tail behind an if whose arms all leave",
        """\
def f(r=1):
    if r:
        return 1
    elif is_cuda():
        raise ValueError
    x = 2
    return x
""",
        """\
def f(r=1):
    if r:
        return 1
    else:
        raise ValueError
""",
    ),
    (
        "a tail that was dead upstream is not ours",
        """\
def f():
    return 1
    return 2
""",
        """\
def f():
    return 1
    return 2
""",
    ),
    (
        "the tail of a loop body",
        """\
def f():
    out = []
    for n in (1, 2):
        if is_cuda():
            continue
        out.append(n)
    else:
        out.append("e")
    return out
""",
        """\
def f():
    out = []
    for n in (1, 2):
        continue
    else:
        out.append("e")
    return out
""",
    ),
    (
        "an assertion of a fact goes, one against a fact stays false",
        """\
def f():
    assert is_cuda(), "message"
    assert not is_hip()
    assert is_hip(), "hip"
""",
        """\
def f():
    assert False, "hip"
""",
    ),
    (
        "cases whose guard is false go",
        """\
def f(x=1):
    match x:
        case 1 if is_hip():
            return 1
        # of the second
        case 1 if is_cuda():
            return 2
        case _:
            return 3
""",
        """\
def f(x=1):
    match x:
        # of the second
        case 1 if True:
            return 2
        case _:
            return 3
""",
    ),
    (
        "the last case stays, dead or not",
        """\
def f(x=1):
    match x:
        case 1 if is_hip():
            return 1
        case 2 if is_hip():
            return 2
    return 3
""",
        """\
def f(x=1):
    match x:
        case 2 if False:
            return 2
    return 3
""",
    ),
    (
        "a one-line if keeps its line",
        """\
def f():
    if is_cuda(): x = 1; y = 2
    if is_hip(): x = 3
    else: y = 4
    return x, y
""",
        """\
def f():
    x = 1; y = 2
    y = 4
    return x, y
""",
    ),
    (
        "semicolons: only the dead statement goes",
        """\
def f():
    x = 1; assert is_cuda(); y = 2
    assert is_cuda(); z = 3
    w = 4; assert is_cuda()
    return x, y, z, w
""",
        """\
def f():
    x = 1; y = 2
    z = 3
    w = 4
    return x, y, z, w
""",
    ),
    (
        "semicolons behind a header",
        """\
def f(r=1):
    if r: assert is_cuda(); x = 1
    if r: y = 2; assert is_cuda()
    if r: assert is_cuda()
    return x, y
""",
        """\
def f(r=1):
    if r: x = 1
    if r: y = 2
    if r: pass
    return x, y
""",
    ),
    (
        "a suite on the next physical line",
        """\
def f():
    if is_cuda(): \\
        x = 2
    return x
""",
        """\
def f():
    x = 2
    return x
""",
    ),
    (
        "decorated definitions",
        """\
def dec(x):
    return x


if is_cuda():
    @dec
    # between
    @dec
    def f():
        return 1
else:
    @dec
    def f():
        return 2
""",
        """\
def dec(x):
    return x


@dec
# between
@dec
def f():
    return 1
""",
    ),
    (
        "a comment stands with the next statement, one inside goes with its block",
        """\
def f():
    # of the first
    x = 1
    if is_hip():
        # inside
        x = 2
        # inside, last
    # of the return
    return x
""",
        """\
def f():
    # of the first
    x = 1
    # of the return
    return x
""",
    ),
    (
        "comments that hang left or right of their block",
        """\
def f():
    if is_cuda():
        # one
      # odd
# left
        x = 1  # two
        # three
    # four
    return x
""",
        """\
def f():
    # one
      # odd
# left
    x = 1  # two
    # three
    # four
    return x
""",
    ),
    (
        "a test over several lines, comments in it",
        """\
def f():
    if (
        is_cuda()  # why
        and not is_hip()
    ):  # header
        return 1
    return 2
""",
        """\
def f():
    return 1
""",
    ),
    (
        "else with an if inside is not an elif",
        """\
def f(r=0):
    if r:
        return 1
    else:
        # in else
        if is_cuda():
            # in if
            return 2
        # behind
""",
        """\
def f(r=0):
    if r:
        return 1
    else:
        # in else
        # in if
        return 2
        # behind
""",
    ),
    (
        "class bodies fold",
        """\
class A:
    if is_hip():
        def m(self):
            return 1
    else:
        def m(self):
            return 2
    n = 1 if is_cuda() else 0


def f():
    return A().m(), A.n
""",
        """\
class A:
    def m(self):
        return 2
    n = 1


def f():
    return A().m(), A.n
""",
    ),
]


@pytest.mark.parametrize(("program", "output"), [s[1:] for s in SUITES], ids=[s[0] for s in SUITES])
def test_text(program: str, output: str) -> None:
    assert fold(program) == output


EFFECTS = [
    ("if", "if note(1) and is_hip():\n        note(2)", "note(1)"),
    ("if not taken", "if note(1, 0) or is_cuda():\n        note(2)", "note(1, 0)\n    note(2)"),
    ("else", "if note(1) and is_hip():\n        note(2)\n    else:\n        note(3)", "note(1)\n    note(3)"),
    ("negated", "if not (note(1) and is_hip()):\n        note(2)", "note(1)\n    note(2)"),
    ("while", "while note(1) and is_hip():\n        note(2)", "note(1)"),
    ("several", "if note(1) and note(2) and is_hip():\n        note(3)", "note(1) and note(2)"),
    ("only those before the decision", "if note(1) and is_hip() and note(2):\n        note(3)", "note(1)"),
    (
        "own parentheses",
        "if (note(1) or note(2)) and note(3) and is_hip():\n        pass",
        "(note(1) or note(2)) and note(3)",
    ),
    (
        "a conditional operand",
        "if (note(1) if note(2) else note(3)) and note(4) and is_hip():\n        pass",
        "(note(1) if note(2) else note(3)) and note(4)",
    ),
    ("folded inside", "if note(is_cuda()) and is_hip():\n        pass", "note(True)"),
    ("in an f-string", "if note(f'{is_cuda()}') and is_hip():\n        pass", "note(f'{True}')"),
    ("over lines", "if (\n        note(1)\n        and is_hip()\n    ):\n        pass", "note(1)"),
    (
        "elif that is decided",
        "if note(1) and is_hip():\n        note(2)\n    elif is_cuda():\n        note(3)",
        "note(1)\n    note(3)",
    ),
    (
        "elif that is not",
        "if note(1) and is_hip():\n        note(2)\n    elif out:\n        note(3)",
        "note(1)\n    if out:\n        note(3)",
    ),
    (
        "emptied else",
        "if note(1) and is_hip():\n        note(2)\n    else:\n        if is_hip():\n            note(3)",
        "note(1)",
    ),
    ("compared", "if note(1) == 1 and is_hip():\n        pass", "note(1) == 1"),
    (
        "a binding",
        "if (x := note(1)) and is_hip():\n        note(2)\n    note(x)",
        "(x := note(1))\n    note(x)",
    ),
]


@pytest.mark.parametrize(("program", "output"), [e[1:] for e in EFFECTS], ids=[e[0] for e in EFFECTS])
def test_an_effect_of_a_decided_test_stays(program: str, output: str) -> None:
    frame = "def f():\n    out = []\n\n    def note(value, answer=1):\n        out.append(value)\n        return answer\n\n    {}\n    return out\n"
    assert fold(frame.format(program)) == frame.format(output)


def test_names_of_a_dead_operand_are_not_left_behind() -> None:
    """``(is_hip() and a()) and (flag and ...)``: the second half never runs, so it must not stay unbound."""
    text = module(
        HEAD
        + "_flag = is_cuda() or arch() == 'hip'\n\n\ndef f(a):\n    if (is_hip() and a(1)) and (_flag and a(is_cuda())):\n        return 1\n"
    )
    assert "_flag" not in text or "_flag =" in text
    assert "is_cuda" not in text or "import" in text


HAZARDS = [
    # A binding that only a dead arm makes is read elsewhere: the name would become global.
    ("local becomes global", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        x = 1\n    return x", "UnboundLocalError"),
    ("local becomes global in an elif", "x = 'global'\n\n\ndef f(r=0):\n    if r:\n        pass\n    elif is_hip():\n        x = 1\n    return x", "UnboundLocalError"),
    ("walrus in a dead operand", "x = 'global'\n\n\ndef f():\n    if is_hip() and (x := 1):\n        pass\n    return x", "UnboundLocalError"),
    ("for target", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        for x in (1,):\n            pass\n    return x", "UnboundLocalError"),
    ("import in a dead arm", "os = 'global'\n\n\ndef f():\n    if is_hip():\n        import os\n    return os", "UnboundLocalError"),
    ("deleted name", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        x = 1\n    del x", "UnboundLocalError"),
    ("read by an inner function", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        x = 1\n\n    def g():\n        return x\n    return g()", "NameError"),
    ("read by a comprehension", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        x = 1\n    return [x for _ in (1,)]", "NameError"),
    ("nonlocal of an inner function", "def f():\n    if is_hip():\n        x = 0\n\n    def g():\n        nonlocal x\n        x = 1\n    g()\n    return 3", ""),
    ("in a tail that goes", "x = 'global'\n\n\ndef f(r=1):\n    if r:\n        return x\n    if is_cuda():\n        return 2\n    x = 3\n    return x", "UnboundLocalError"),
    ("capture of a dead case", "x = 'global'\n\n\ndef f():\n    match 1:\n        case x if is_hip():\n            pass\n        case _:\n            pass\n    return x", ""),
    ("class body", "x = 'global'\n\n\ndef f():\n    class A:\n        if is_hip():\n            x = 1\n        y = x\n    return A.y", ""),
    # The last yield makes the function a generator.
    ("yield in a dead arm", "def f():\n    if is_hip():\n        yield 1\n    return", ""),
    ("yield in a dead tail", "def f():\n    if is_cuda():\n        return\n    yield 1", ""),
    ("yield in a dead operand", "def f():\n    return is_hip() and (yield 1)", ""),
    # `global` acts on the whole function.
    ("global in a dead arm", "x = 'global'\n\n\ndef f():\n    if is_hip():\n        global x\n    x = 2\n    return globals()['x']", ""),
    ("global in a dead elif", "x = 'global'\n\n\ndef f(r=0):\n    if r:\n        pass\n    elif is_hip():\n        global x\n    x = 2\n    return globals()['x']", ""),
    ("global in a dead else", "x = 'global'\n\n\ndef f(r=0):\n    if r:\n        pass\n    elif is_cuda():\n        pass\n    else:\n        global x\n    x = 2\n    return globals()['x']", ""),
    ("global in a dead else of a taken if", "x = 'global'\n\n\ndef f():\n    if is_cuda():\n        pass\n    else:\n        global x\n    x = 2\n    return globals()['x']", ""),
    ("nonlocal in a dead arm", "def f():\n    x = 1\n\n    def g():\n        if is_hip():\n            nonlocal x\n        x = 2\n    g()\n    return x", ""),
    ("global in a dead while", "x = 'global'\n\n\ndef f():\n    while is_hip():\n        global x\n    x = 2\n    return globals()['x']", ""),
    ("nonlocal of an inner function that goes", "def f(v=1):\n    if is_hip():\n        w = 3\n\n        def g():\n            nonlocal w\n            w = 4\n        g()\n    elif v:\n        w = 1\n        return w\n    return 1", ""),
    ("global of an inner function that goes", "w = 'global'\n\n\ndef f(v=1):\n    if is_hip():\n        def g():\n            global w\n            w = 4\n        g()\n    w = 1\n    return w, globals()['w']", ""),
    ("global of an inner class that goes", "w = 'global'\n\n\ndef f(v=1):\n    if is_hip():\n        class A:\n            global w\n            w = 4\n    w = 1\n    return w, globals()['w']", ""),
    ("a walrus of an inner function", "w = 'global'\n\n\ndef f():\n    if is_hip():\n        w = 1\n\n    def g():\n        return (w := 2)\n    g()\n    return w", "UnboundLocalError"),
    ("a binding of an inner function", "w = 'global'\n\n\ndef f():\n    if is_hip():\n        w = 1\n\n    def g():\n        w = 2\n        return w\n    g()\n    return w", "UnboundLocalError"),
    # Exceptions that a context manager or handler may swallow.
    ("with that swallows", "import contextlib\n\n\ndef g():\n    raise ValueError\n\n\ndef f():\n    with contextlib.suppress(ValueError):\n        if is_cuda():\n            return g()\n    return 'tail'", ""),
    ("handler that swallows", "def g():\n    raise ValueError\n\n\ndef f():\n    try:\n        if is_cuda():\n            return g()\n    except ValueError:\n        pass\n    return 'tail'", ""),
    ("finally that returns", "def f():\n    try:\n        if is_cuda():\n            return 1\n    finally:\n        return 2", ""),
    ("break inside finally", "def f():\n    for n in (1, 2):\n        try:\n            if is_cuda():\n                return n\n        finally:\n            break\n    return 'tail'", ""),
    ("while true with a break", "def f():\n    while is_cuda():\n        break\n    return 'tail'", ""),
    # A stray string must not become the docstring.
    ("docstring by removal", "def g():\n    if is_hip():\n        return 1\n    'stray'\n    return 2\n\n\ndef f():\n    return g.__doc__", ""),
    ("docstring by promotion", "def g():\n    if is_cuda():\n        'stray'\n        return 1\n\n\ndef f():\n    return g.__doc__", ""),
    ("docstring by promotion of an else", "def g():\n    if is_hip():\n        return 1\n    else:\n        'stray'\n        return 1\n\n\ndef f():\n    return g.__doc__", ""),
    ("docstring of a class", "class A:\n    if is_cuda():\n        'stray'\n        x = 1\n\n\ndef f():\n    return A.__doc__", ""),
    ("docstring twice promoted", "def g():\n    if is_cuda():\n        if not is_hip():\n            'stray'\n            return 1\n\n\ndef f():\n    return g.__doc__", ""),
    ("docstring by an assertion", "def g():\n    assert is_cuda()\n    'stray'\n\n\ndef f():\n    return g.__doc__", ""),
    ("docstring by an import", "def g():\n    from plat import is_npu\n    'stray'\n    if is_npu():\n        return 1\n\n\ndef f():\n    return g.__doc__", ""),
]  # fmt: skip


@pytest.mark.parametrize(("program", "raised"), [h[1:] for h in HAZARDS], ids=[h[0] for h in HAZARDS])
def test_hazard(program: str, raised: str) -> None:
    pruned = prune({"app.py": HEAD + "\n\n" + program + "\n"})
    driver = "import app\nRESULT = app.f()\nRESULT = list(RESULT) if hasattr(RESULT, 'send') else RESULT"
    assert same_behaviour(pruned, driver)["raised"].split(":")[0] == raised


def test_a_stray_string_does_not_become_the_module_docstring() -> None:
    for text in (
        "from plat import is_cuda\n'stray'\nX = 1 if is_cuda() else 2\n",
        "from plat import is_cuda\nif is_cuda():\n    'stray'\n    X = 1\n",
    ):
        same_behaviour(prune({"app.py": text}), "import app\nRESULT = app.__doc__")


def test_a_frozen_branch_stays_behind_a_literal() -> None:
    text = module("from plat import is_hip\n\n\ndef f():\n    if is_hip():\n        x = 1\n    return x\n")
    assert "if False:\n        x = 1\n" in text and "is_hip" not in text
