"""A fact on a property that no kept class has any more, because its readers were folded away."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import verify
from pruner.pipeline import RunOptions, run

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [app]}
  - id: t.fast
    because: It is never fast.
    optional: true
    assume:
      conf.Algo.fast: false
      conf.Algo.of_another_release: false
"""
CONF = "import functools\n\n\nclass Algo:\n    kind = 1\n\n    @{decorator}\n    def fast(self):\n        return self.kind == 'fast'\n"
APP = "from conf import Algo\n\n\ndef f(n):\n    a = Algo()\n    setattr(a, n, 1)\n    if a.fast:\n        return 'yes'\n    return 'no'\n"


def write(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_engine_and_the_verifier_agree(tmp_path: Path) -> None:
    upstream = write(tmp_path / "in", conf=CONF.format(decorator="property"), app=APP)
    (tmp_path / "rules.yaml").write_text(RULES)
    out = tmp_path / "out"
    options = RunOptions((tmp_path / "rules.yaml",), upstream, out, None, 1, False, False, tmp_path / "cache")
    result = run(options, lambda *_: None)
    assert result.findings == () and result.exit_code == 0
    assert "fast" not in (out / "app.py").read_text() + (out / "conf.py").read_text()


@pytest.mark.parametrize(("decorator", "answer"), [("property", "passed"), ("functools.cached_property", "refuted")])
def test_what_can_be_stored_into_is_not_decided(tmp_path: Path, decorator: str, answer: str) -> None:
    upstream = write(tmp_path / "in", conf=CONF.format(decorator=decorator), app=APP)
    (tmp_path / "rules.yaml").write_text(RULES)
    kept = CONF.partition("\n    @")[0].partition("\n\n\n")[2]
    out = write(tmp_path / "out", conf=kept, app=APP.replace("    if a.fast:\n        return 'yes'\n", ""))
    (verdict,) = verify.run(upstream, out, [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("fold",))
    assert verdict.result == answer, verdict.details
