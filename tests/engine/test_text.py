"""Bytes: line ends, tabs, form feeds, byte order marks, encodings, and where the notice line goes."""

from __future__ import annotations

import pytest

from pruner.pipeline.notice import TEXT
from tests.engine.program import prune, run

BODY = "from plat import is_cuda, is_hip\n\n\ndef f():\n    if is_cuda():\n        x = [\n            'a',\n        ]\n    else:\n        x = 0\n    if is_hip():\n        return 1\n    return x\n"
DRIVER = "import app\nRESULT = app.f()"


def output(data: bytes, driver: str = DRIVER) -> bytes:
    """The output bytes of ``app.py``, run against the input."""
    pruned = prune({"app.py": data})
    assert run(pruned.files, driver) == run(pruned.before, driver)
    return pruned.files["app.py"]


def test_crlf() -> None:
    done = output(BODY.replace("\n", "\r\n").encode())
    assert done.count(b"\n") == done.count(b"\r\n")
    assert done.replace(b"\r\n", b"\n") == output(BODY.encode())


def test_crlf_with_an_inserted_pass() -> None:
    done = output(
        b"from plat import is_hip\r\n\r\n\r\ndef f():\r\n    for n in (1,):\r\n        if is_hip():\r\n            return n\r\n"
    )
    assert b"        pass\r\n" in done and done.count(b"\n") == done.count(b"\r\n")


def test_mixed_line_ends_stay_as_they_are() -> None:
    lines = BODY.encode().splitlines()
    mixed = b"".join(line + (b"\r\n" if n % 2 else b"\n") for n, line in enumerate(lines))
    done = output(mixed)
    kept = [line for line in done.splitlines(keepends=True) if TEXT not in line]
    assert all(line.strip() in {part.strip() for part in mixed.splitlines()} for line in kept)


def test_tabs() -> None:
    done = output(BODY.replace("    ", "\t").encode())
    assert b"\tx = [\n\t\t'a',\n\t]\n\treturn x\n" in done and b" \t" not in done


def test_tabs_and_blanks() -> None:
    """Legal: an outer suite indented by a tab, an inner one by eight blanks and a tab."""
    output(b"from plat import is_cuda\ndef f():\n\tif is_cuda():\n        \tx = 1\n        \ty = 2\n\treturn x + y\n")


def test_form_feeds() -> None:
    output(
        b"from plat import is_cuda\n\x0c\nif is_cuda():\n    a = 1\n\x0c\n    b = 2\n\x0c\ndef f():\n    return a + b\n"
    )


def test_form_feed_in_front_of_an_if() -> None:
    """A form feed sets the column to zero."""
    output(b"from plat import is_cuda\n\x0cif is_cuda():\n    a = 1\n    b = 2\n\x0cdef f():\n    return a + b\n")


def test_no_newline_at_the_end() -> None:
    for tail in (
        "    if is_hip():\n        return 1",
        "    if is_cuda():\n        return 1",
        "    return 1 if is_cuda() else 2",
        "    if is_hip(): return 1",
    ):
        output(f"from plat import is_cuda, is_hip\n\n\ndef f():\n{tail}".encode())


def test_no_newline_at_the_end_of_a_dead_definition() -> None:
    pruned = prune(
        {
            "app.py": b"from m import g\n\n\ndef f():\n    return g()\n",
            "m.py": b"def g():\n    return 1\n\n\ndef h():\n    return 2",
        }
    )
    assert pruned["m.py"].strip() == "def g():\n    return 1"


LATIN = [
    "x = 'é' if is_cuda() else 'è'",
    "x = 'é'; assert is_cuda(); y = 'é'",
    "x = f'é{is_cuda()}' if is_cuda() else 'è'",
    "x = ('é', is_cuda() and 'é')",
    "x = 0  # é\n    if is_hip(): x = 'é'",
]


@pytest.mark.parametrize("line", LATIN)
def test_letters_of_several_bytes(line: str) -> None:
    for cookie in ("", "# -*- coding: utf-8 -*-\n"):
        text = f"{cookie}from plat import is_cuda, is_hip\n\n\ndef f():\n    {line}\n    return x\n"
        done = output(text.encode()).decode()
        assert "is_hip" not in done and "is_cuda" not in done


@pytest.mark.parametrize("line", LATIN)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "koi8-r", "gb2312"])
def test_other_encodings_do_no_harm(line: str, encoding: str) -> None:
    letter = {"koi8-r": "ж", "shift_jis": "。", "gb2312": "。"}.get(encoding, "é")
    line = line.replace("é", letter).replace("è", letter)
    text = f"# coding: {encoding}\nfrom plat import is_cuda, is_hip\n\n\ndef f():\n    {line}\n    return x\n"
    output(text.encode(encoding))


def test_a_file_that_is_not_utf8_is_left_alone_and_reported() -> None:
    data = "# coding: latin-1\nfrom plat import is_cuda\n\n\ndef f():\n    return 'é' if is_cuda() else 1\n".encode(
        "latin-1"
    )
    pruned = prune({"app.py": data})
    assert pruned.files["app.py"] == data
    assert any(f.path == "app.py" for f in pruned.outcome.findings)


def test_a_byte_order_mark_stays_first() -> None:
    done = output(b"\xef\xbb\xbf" + BODY.encode())
    assert done.startswith(b"\xef\xbb\xbf" + TEXT) and done.count(b"\xef\xbb\xbf") == 1
    output(b"\xef\xbb\xbfX = 1 if __name__ else 2; from plat import is_cuda\ndef f(): return X if is_cuda() else 0\n")


CODE = "from plat import is_hip\n\n\ndef f():\n    return 1 if is_hip() else __doc__\n"
NOTICES = [
    ("nothing above", "", ""),
    ("a licence", "# Copyright\n#\n# Licensed under\n", ""),
    ("a licence and a blank line", "# Copyright\n\n", ""),
    ("a shebang", "#!/usr/bin/env python\n", ""),
    ("a shebang and a cookie", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# Copyright\n", ""),
    ("a cookie", "# coding: utf-8\n", ""),
    ("a docstring", "", '"""Doc."""\n'),
    ("a licence and a docstring", "# Copyright\n", '"""Doc."""\n'),
    ("a docstring and a future import", "# Copyright\n", '"""Doc."""\n\nfrom __future__ import annotations\n\n'),
    ("blank lines first", "", "\n\n"),
]


@pytest.mark.parametrize(("above", "below"), [n[1:] for n in NOTICES], ids=[n[0] for n in NOTICES])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_notice_stands_behind_the_header(above: str, below: str, end: str) -> None:
    data = (above + below + CODE).replace("\n", end).encode()
    lines = output(data).decode().split(end)
    at = lines.index(TEXT.decode())
    header = [line for line in above.split("\n") if line]
    assert lines[:at] == header
    assert lines.count(TEXT.decode()) == 1


def test_a_cookie_on_the_second_line_stays_there() -> None:
    done = output(
        "\n# -*- coding: utf-8 -*-\nfrom plat import is_cuda\ndef f():\n    if is_cuda():\n        return 'é'\n".encode()
    )
    assert done.splitlines()[1] == b"# -*- coding: utf-8 -*-"


def test_an_edit_at_the_place_of_the_notice() -> None:
    """The first statement goes, is replaced or is guarded: the notice is still one line of its own."""
    for first in ("import json", "if is_hip():\n    pass", "assert is_cuda()", "x = is_cuda()"):
        head = "" if first == "import json" else "from plat import is_cuda, is_hip\n"
        text = (
            f"{head}{first}\n"
            + ("from plat import is_cuda\n" if not head else "")
            + "\n\ndef f():\n    return 1 if is_cuda() else json\n"
        )
        done = output(text.encode())
        assert done.splitlines()[0] == TEXT


def test_an_untouched_file_has_no_notice() -> None:
    pruned = prune({"app.py": "def f():\n    return 1\n"})
    assert pruned.files["app.py"] == b"def f():\n    return 1\n" and "app.py" not in pruned.outcome.files


def test_the_notice_is_not_written_twice() -> None:
    once = prune(
        {
            "app.py": "from m import g\n\n\ndef f():\n    return g()\n",
            "m.py": "def g():\n    return 1\n\n\ndef h():\n    return 2\n",
        }
    )
    twice = prune({**once.files, "m.py": once.files["m.py"] + b"\n\ndef i():\n    return 3\n"})
    assert twice.files["m.py"].count(TEXT) == 1


UNREAD = [
    "from kit import (one,  # both\n  two)\n\n\ndef f():\n    return one() + two()\n",
    "from kit import one, \\\n  two\n\n\ndef f():\n    return one() + two()\n",
    "import kit as k\n\n\ndef f():\n    return k.one() + k.two()\n",
    "def f():\n    import other, \\\n  kit\n    return kit.one() + kit.two() + other.zero\n",
    "import other; import kit\n\n\ndef f():\n    return kit.one() + kit . two() + other.zero\n",
    "import kit\n\n\ndef g(m):\n    return m.one() + m.two()\n\n\ndef f():\n    return g(kit)\n",
    "import kit\n\n\ndef f():\n    return getattr(kit, 'one')() + getattr(kit, 'two')()\n",
    "from kit import *\n\n\ndef f():\n    return one() + two()\n",
    "from kit import one as a, two as b\n\n\ndef f():\n    return a() + b()\n",
    "import pkg.part as p\nfrom pkg import part\n\n\ndef f():\n    return p.kit.one() + part.kit.two()\n",
    "from pkg.part import kit as k\n\n\ndef f():\n    return k.one() + k.two()\n",
]
KEPT = {
    "kit.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n",
    "other.py": "zero = 0\n",
    "pkg/__init__.py": "",
    "pkg/part.py": "import kit\n",
}


@pytest.mark.parametrize("text", UNREAD)
def test_a_file_that_is_not_edited_keeps_what_its_text_names(text: str) -> None:
    app = "from plat import is_cuda\nimport unread\n\nif is_cuda():\n    X = unread.f()\n"
    data = f"# coding: latin-1\n# \u00e9\n{text}".encode("latin-1")
    pruned = prune({"app.py": app, "unread.py": data, **KEPT}, roots=["app:X"])
    assert pruned.files["unread.py"] == data and "is_cuda" not in pruned["app.py"]
    assert run(pruned.files, "import app; RESULT = app.X") == run(pruned.before, "import app; RESULT = app.X")


@pytest.mark.parametrize("text", UNREAD)
def test_a_broken_file_keeps_what_its_text_names(text: str) -> None:
    app = "try:\n    import unread\nexcept SyntaxError:\n    X = 1\n"
    pruned = prune({"app.py": app, "unread.py": f"{text}print 1\n", **KEPT}, roots=["app:X"])
    assert pruned.files["unread.py"].decode() == f"{text}print 1\n"
    assert "def one" in pruned["kit.py"] and "def two" in pruned["kit.py"]
    assert all(name in pruned.files for name in ("other.py", "pkg/part.py") if name[:5].strip("/.") in text)
