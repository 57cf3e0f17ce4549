"""Folded expressions: operands, conditional expressions, literals, f-strings."""

from __future__ import annotations

import itertools

import pytest

from tests.engine.program import prune, same_behaviour

HEAD = "from plat import arch, is_cuda, is_hip, is_npu\n\n\ndef f(a=1, b=0, g=repr):\n"
USES = "\n\ndef uses():\n    return arch, is_cuda, is_hip, is_npu\n"


def fold(body: str) -> str:
    """Output of a function body; both versions are run with every truth of ``a`` and ``b``."""
    pruned = prune({"app.py": HEAD + "".join(f"    {line}\n" if line else "\n" for line in body.split("\n")) + USES})
    same_behaviour(pruned, "import app\nRESULT = [app.f(a, b) for a in (0, 2, '') for b in (0, 3, '')]")
    text = pruned["app.py"]
    assert text.startswith(HEAD) and text.endswith(USES)
    return "\n".join(line.removeprefix("    ") for line in text[len(HEAD) : -len(USES)].rstrip("\n").split("\n"))


VALUES = [
    # Value position: an operand is given back, not a boolean.
    ("return is_cuda() and a", "return a"),
    ("return is_hip() or a", "return a"),
    ("return a and is_cuda()", "return a and True"),
    ("return a or is_hip()", "return a or False"),
    ("return a and is_hip()", "return a and False"),
    ("return is_hip() and a", "return False"),
    ("return is_cuda() or g(a)", "return True"),
    ("return a and is_cuda() and b", "return a and b"),
    ("return a or is_hip() or b", "return a or b"),
    ("return a or is_cuda() or b", "return a or True"),
    ("return not is_cuda()", "return False"),
    ("return not (a and is_hip())", "return True"),
    ("return not (a and is_cuda())", "return not (a)"),
    ("return bool(a and is_cuda())", "return bool(a and True)"),
    # Strings and numbers decide, but stay as they are written.
    ('return arch()', "return arch()"),
    ('return arch() == "cuda"', "return True"),
    ('return arch() in ("hip", "npu")', "return False"),
    ('return arch().startswith("cu")', "return True"),
    ("return is_cuda() is True", "return True"),
    ("return is_hip() == False", "return True"),
    ("return is_hip() is not None", "return True"),
    # Test position.
    ("return 1 if a and is_cuda() else 2", "return 1 if a else 2"),
    ("return 1 if (a or b) and is_cuda() else 2", "return 1 if (a or b) else 2"),
    ("return 1 if is_cuda() and (a or b) else 2", "return 1 if (a or b) else 2"),
    ("return 1 if is_hip() or a and b else 2", "return 1 if a and b else 2"),
    ("return 1 if a and (is_hip() or b) else 2", "return 1 if a and (b) else 2"),
    ("return 1 if not (is_hip() or b) else 2", "return 1 if not (b) else 2"),
    # Conditional expressions.
    ("return a if is_cuda() else b", "return a"),
    ("return a if is_hip() else b", "return b"),
    ("return (a, 1) if is_cuda() else b", "return (a, 1)"),
    ("return a if is_hip() else (b, 1)", "return (b, 1)"),
    ("return a if is_hip() else b if is_cuda() else 3", "return b"),
    ("return a if b else 2 if is_cuda() else 3", "return a if b else 2"),
    ("return (a if is_cuda() else b) + 1 if a != '' else 0", "return (a) + 1 if a != '' else 0"),
    ("return [a if is_cuda() else b, *(1,)]", "return [a, *(1,)]"),
    ("return g(a if is_hip() else b)", "return g(b)"),
    ("return g(a)if is_cuda()else g(b)", "return g(a)"),
    ("return g(a)if is_hip()else g(b)", "return g(b)"),
    ("return is_cuda()if a else is_hip()", "return True if a else False"),
    ("return 1 if(a)and is_cuda()else 2", "return 1 if(a)else 2"),
    ("return 1if is_cuda()else 2", "return 1"),
    # Lambdas, comprehensions, subscripts, calls, stars.
    ("return (lambda: a if is_cuda() else b)()", "return (lambda: a)()"),
    ("return [n for n in (1, 2) if is_cuda() and n > 1]", "return [n for n in (1, 2) if n > 1]"),
    ("return [n for n in (1, 2) if is_hip()]", "return [n for n in (1, 2) if False]"),
    ("return {is_cuda(): a, 'k': is_hip()}", "return {True: a, 'k': False}"),
    ("return (1, 2)[is_hip()]", "return (1, 2)[False]"),
    ("return dict(x=is_cuda())", "return dict(x=True)"),
    ("return [*(a if is_hip() else (b,))]", "return [*((b,))]"),
    ("x: bool = is_cuda()\nreturn x", "x: bool = True\nreturn True"),
    ("x = y = is_cuda()\nreturn x, y", "x = y = True\nreturn x, y"),
    ("a += is_cuda() if a != '' else ''\nreturn a", "a += True if a != '' else ''\nreturn a"),
    ("return is_hip() < 1", "return True"),
    ("return 0 < is_cuda() < 2", "return True"),
    ("return -is_cuda()", "return -True"),
    # f-strings.
    ("return f'{is_cuda()}'", "return f'{True}'"),
    ("return f'{a if is_cuda() else b}'", "return f'{a}'"),
    ("return f'{is_cuda()!r:>{5 if is_cuda() else 6}}'", "return f'{True!r:>{5}}'"),
    ("return f'{is_cuda()=}'", "return f'{is_cuda()=}'"),
    ("return f'{{is_cuda()}} {is_hip()}'", "return f'{{is_cuda()}} {False}'"),
    ('return f"""\n  {is_cuda()}\n"""', 'return f"""\n  {True}\n"""'),
    ("return 'x' f'{is_cuda()}' 'y' f'{is_hip()}'", "return 'x' f'{True}' 'y' f'{False}'"),
    ("return f'é {is_cuda()} é', 'é' if is_cuda() else 'e'", "return f'é {True} é', 'é'"),
    ("return f\"{f'{is_cuda()}'}\"", "return f\"{f'{True}'}\""),
    # Lines.
    ("return (\n    a\n    if is_cuda()\n    else b\n)", "return (\n    a\n)"),
    ("return (\n    a\n    if is_hip()\n    else b\n)", "return (\n    b\n)"),
    ("if (\n    a\n    and is_cuda()\n    and b\n):\n    return 1", "if (\n    a\n    and b\n):\n    return 1"),
    ("if (\n    is_cuda()\n    and a\n    and b\n):\n    return 1", "if (\n    a\n    and b\n):\n    return 1"),
    ("if (\n    a\n    # of is_cuda\n    and is_cuda()\n    # of b\n    and b\n):\n    return 1", "if (\n    a\n    # of is_cuda\n    # of b\n    and b\n):\n    return 1"),
    ("if a and \\\n        is_cuda():\n    return 1", "if a:\n    return 1"),
    ("if is_cuda() and \\\n        a:\n    return 1", "if a:\n    return 1"),
    ("assert b != 3 or b \\\n    or is_hip()\nreturn b", "assert b != 3 or b\nreturn b"),
    ("x = a or \\\n    is_hip() or \\\n    b\nreturn x", "x = a or \\\n    b\nreturn x"),
    ("return a if is_cuda() \\\n    else b", "return a"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "output"), VALUES, ids=[v[0].replace("\n", "|") for v in VALUES])
def test_text(program: str, output: str) -> None:
    assert fold(program) == output


@pytest.mark.parametrize("operator", ["and", "or"])
def test_every_chain_of_operands(operator: str) -> None:
    """Chains of three over facts, literals, values and calls, as value and as test, negated and not."""
    atoms = ["is_cuda()", "is_hip()", "a", "g(b)", "(a or is_hip())", "not b"]
    rows = list(itertools.product(atoms, repeat=3))
    lines = []
    for row in rows:
        chain = f" {operator} ".join(row)
        lines.append(f"out.append(({chain}, 1 if {chain} else 2, not ({chain}), [n for n in (1,) if {chain}]))")
    text = (
        "from plat import is_cuda, is_hip\n\n\ndef f(a, b, g):\n    out = []\n"
        + "".join(f"    {line}\n" for line in lines)
        + "    return out\n"
    )
    driver = "import app\nRESULT = []\nfor a in (0, 2):\n    for b in (0, 3):\n        log = []\n        RESULT.append((app.f(a, b, lambda n: log.append(n) or n), log))"
    same_behaviour(prune({"app.py": text}), driver)
