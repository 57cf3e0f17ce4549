"""Forms that hardly anybody writes: a run says something of them, and does not end."""

from __future__ import annotations

import pytest

from tests.engine.program import module, prune, same_behaviour


@pytest.mark.parametrize("target", ["KEPT[0]", "[a for a in (KEPT,)][0][0]", "(lambda: C)().word", "KEPT[0].word"])
def test_fields_of_a_class_that_are_no_names(target: str) -> None:
    text = f"class C:\n    word = 1\n\n\nKEPT = [C]\n\n\nclass D:\n    {target}: int\n    own: int = 2\n\n\ndef f():\n    return D.own\n"
    same_behaviour(prune({"app.py": text}, roots=["app:f"]), "import app\nRESULT = app.f()")
    assert "own: int = 2" in module(text)


@pytest.mark.parametrize(
    "value", ["(lambda: enum)().auto()", "[enum][0].auto()", "(enum.auto or f)()", "[enum.auto()][0]"]
)
def test_numbers_of_an_enum_by_a_value_that_is_no_chain(value: str) -> None:
    text = (
        "import enum\n\n\ndef f():\n    return 1\n\n\nclass Own(enum.Enum):\n    pass\n\n\n"
        f"class E(Own):\n    GONE = enum.auto()\n    C = {value}\n\n\ndef main():\n    return E.C.value\n"
    )
    pruned = prune({"app.py": text}, roots=["app:main"], drop=["app:E.GONE"])
    same_behaviour(pruned, "import app\nRESULT = app.main()")


@pytest.mark.parametrize("more", ["", "del x\n", "x = 1\ndel x\n"])
@pytest.mark.parametrize("other", ["from app import *\n", "from app import *\nfrom third import *\n"])
def test_modules_that_import_all_of_each_other(more: str, other: str) -> None:
    files = {
        "app.py": f"from a import *\ny = 2\n{more}\n\ndef f():\n    return y, z\n\n\ndef g():\n    return x\n",
        "a.py": f"{other}z = 3\n",
        "third.py": "from a import *\nfrom app import *\n",
    }
    pruned = prune(files, roots=["app:f", "app:g"])
    same_behaviour(pruned, "import app\nRESULT = app.f()\napp.g()")


@pytest.mark.parametrize("last", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_in_a_function_that_stays_whole(end: str, last: str) -> None:
    text = (
        "from plat import is_hip\nLOG = []\n\n\ndef note(x):\n    LOG.append(x)\n\n    x += 1\n    return x\n\n\n"
        "def f(x):\n    if is_hip():\n        return 'hip'\n    return note(x), LOG\n"
    )
    text = text.replace("\n", end).replace(f"LOG.append(x){end}", f"LOG.append(x){last}")
    pruned = prune({"app.py": text}, roots=["app:f"])
    assert b"hip" not in pruned.files["app.py"]
    same_behaviour(pruned, "import app\nRESULT = app.f(1)")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        "    return (\n        a  # or: first\n        or is_hip()  # and second\n        or b  # third\n    )\n",
        "    return (\n        (  # (a\n            a  # a)\n        )  # or\n        and (  # b\n            not is_hip()\n        )\n    )\n",
        "    if is_hip(  # x: y\n    ):  # :\n        return 1\n    elif (  # : z\n        a\n    ):  # w\n        return 2\n    return 3\n",
        "    return (  # if\n        1  # else 5\n        if is_hip()  # if\n        else 2  # else\n    )\n",
    ],
)
def test_comments_between_the_parts_of_what_folds(end: str, text: str) -> None:
    """A lone ``\\r`` ends a comment, too: what stands behind it is code."""
    whole = f"from plat import is_hip\n\n\ndef f(a, b=0):\n{text}".replace("\n", end)
    pruned = prune({"app.py": whole}, roots=["app:f"])
    assert b"is_hip" not in pruned.files["app.py"]
    same_behaviour(pruned, "import app\nRESULT = [app.f(a) for a in (0, 1)]")
