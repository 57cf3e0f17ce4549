"""Methods that a decorator of an outside package takes run, though nobody names them and the base class is called pure."""

from __future__ import annotations

import pytest

from tests.verify.wrong import RULES, Case

PURE = """\
  - id: t.pure
    because: Making such a class does nothing else.
    pure: [pydantic.BaseModel, pydantic.field_validator, pydantic.model_validator, pydantic.model_serializer, kit.checks]
"""
APP = """\
from pydantic import BaseModel, field_validator
import kit
import pydantic
from plat import is_hip


class Request(BaseModel):
    count: int

    if is_hip():
        other: int

    @field_validator("count")
    @classmethod
    def _positive(cls, value):
        return value

    @pydantic.model_validator(mode="after")
    def _whole(self):
        return self

    @pydantic.model_serializer
    def _texts(self):
        return {}

    @kit.checks
    def _more(self):
        return 1

    @property
    def _shown(self):
        return 1

    @staticmethod
    def _made():
        return 1


def f(count):
    return Request(count=count)
"""
METHODS = {
    "decorated twice": '    @field_validator("count")\n    @classmethod\n    def _positive(cls, value):\n        return value\n\n',
    "called": '    @pydantic.model_validator(mode="after")\n    def _whole(self):\n        return self\n\n',
    "plain": "    @pydantic.model_serializer\n    def _texts(self):\n        return {}\n\n",
    "of another package": "    @kit.checks\n    def _more(self):\n        return 1\n\n",
}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("handed"), {"app.py": APP}, RULES + PURE)


@pytest.mark.parametrize("text", METHODS.values(), ids=METHODS)
def test_a_method_that_is_handed_on_is_missed(text: str, case: Case) -> None:
    assert "fold" in case.wrong("app.py", text, "", ("fold",))


def test_what_only_python_decorates_may_go(case: Case) -> None:
    assert case.verdicts(case.out, ("fold",)) == {}
    property_alone = "    @property\n    def _shown(self):\n        return 1\n\n"
    assert case.wrong("app.py", property_alone, "", ("fold",)) == {}
