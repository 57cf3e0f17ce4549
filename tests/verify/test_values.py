"""Values of the verifier's evaluator."""

from __future__ import annotations

import pytest

from pruner.verify import values as v


@pytest.mark.parametrize(("given", "wanted"), [("0", 0), (" 7 ", 7), (True, 1), (3, 3)])
def test_int_of_a_known_value(given: v.Const, wanted: int) -> None:
    answer = v.integer(v.const(given, stated=True))
    assert answer.consts == (wanted,) and answer.truth == bool(wanted) and answer.stated


@pytest.mark.parametrize("given", ["", "x", 1.5, None])
def test_int_of_what_it_refuses_or_rounds_is_not_known(given: v.Const) -> None:
    assert v.integer(v.const(given)) is v.UNKNOWN


def test_int_of_several_values_is_each_of_them() -> None:
    assert v.integer(v.among(("0", "1"))).consts == (0, 1)
    assert v.integer(v.among(("0", "x"))) is v.UNKNOWN
    assert v.integer(v.among(("0", None))) is v.UNKNOWN
    assert v.text(v.among((90, "a", None, True))).consts == ("90", "a", "None", "True")
    assert v.text(v.UNKNOWN) is v.UNKNOWN
