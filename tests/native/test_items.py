"""What is read from C++ text: items, registrations, lists of sources, names of operations."""

from __future__ import annotations

import pytest

from pruner.native.cmake import listed
from pruner.native.items import blank, items
from pruner.native.registered import registrations
from pruner.pipeline.opnames import named


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("void f(int a);", [("prototype", {"f"})]),
        ("void f(int a) { g(); }", [("function", {"f"})]),
        ("static void f() {}\nvoid g();", [("function", {"f"}), ("prototype", {"g"})]),
        ("std::vector<std::pair<int, at::Tensor>> f(\n  at::Tensor x,  // ; {\n  int n = 1);", [("prototype", {"f"})]),
        ("fptr_t\ninit(const std::vector<int>& a, bool b);", [("prototype", {"init"})]),
        ("template <typename T, int N = (2 > 1)>\n__global__ void __launch_bounds__(256) k(T* x) {}", [("function", {"k"})]),
        ("template <>\nvoid f<float>(int a) {}", [("function", {"f"})]),
        ("template void f<int, float>(P& p);", [("function", {"f"})]),
        ("int A::b(int c) const { return 1; }", [("function", {"A", "b"})]),
        ("A::A(int c) : x(c) {}", [("function", {"A"})]),
        ("struct __align__(16) S { int f(); };", [("type", set())]),
        ("using F = void (*)(int);\ntypedef float (*g_t)(int);", [("type", set()), ("type", set())]),
        ("enum class E : int { A, B };", [("type", set())]),
        ("constexpr int n = 3;\nint table[] = {1, 2};", [("variable", {"n"}), ("variable", {"table"})]),
        ("Holder<callee> h;\nint a, b[2];", [("variable", {"h"}), ("variable", {"a", "b"})]),
        ("int a[] = {1, 2}, *p;", [("opaque", {"int", "a", "p"})]),
        ("extern __constant__ float table[4];", [("prototype", {"table"})]),
        ("extern template void f<int>(int);", [("prototype", {"f"})]),
        ('namespace a::b {\nextern "C" {\nvoid f();\n}\n}\nvoid g();', [("prototype", {"f"}), ("prototype", {"g"})]),
        ("namespace {\nvoid f() {}\n}", [("function", {"f"})]),
        ("MACRO(f, 1)\n", [("opaque", {"MACRO", "f"})]),
        ("MACRO(f);\nvoid g() {}", [("opaque", {"MACRO", "f"}), ("function", {"g"})]),
        ('static Registrar r("x", &f);', [("opaque", {"static", "Registrar", "r", "x", "f"} - {"x"})]),
        ("HOST constexpr auto MOST = std::numeric_limits<float>::max();", [("variable", {"MOST"})]),
        ("template <typename T>\nconstexpr int n = of<T>(1, 2), m = 3;", [("variable", {"n"})]),
        ("constexpr auto f() { return g(); }", [("function", {"f"})]),
        ("const auto r = enter(&f);", [("opaque", {"const", "auto", "r", "enter", "f"})]),
        ("static auto r = enter(&f);", [("opaque", {"static", "auto", "r", "enter", "f"})]),
        ("#define X \\\n  void f() {\nvoid g() {}", [("function", {"g"})]),
        ("auto f() -> std::pair<int, int> { return {1, 2}; }", [("function", {"f"})]),
    ],
)  # fmt: skip
def test_items(text: str, kinds: list[tuple[str, set[str]]]) -> None:
    found = [(item.kind, set(item.names)) for item in items(blank(text.encode()))]
    assert found == kinds


@pytest.mark.parametrize(
    "text",
    [
        "a // b\nc /* d\n e */ f",
        'x = "// no comment"; // one',
        "char c = '\"'; int n = 1'000; // x",
        'R"q(\n// text )" )q" /* c */',
        "#if A  // x\n#define B \\\n  C\n#endif\nd",
        '"open\nnext',
    ],
)
def test_blanks_keep_places(text: str) -> None:
    data = text.encode()
    for strings in (True, False):
        after = blank(data, strings)
        assert len(after) == len(data)
        assert [i for i, b in enumerate(after) if b == 10] == [i for i, b in enumerate(data) if b == 10]
        assert all(a in (32, b) for a, b in zip(after, data, strict=True))


def test_registrations_of_each_shape() -> None:
    text = b"""\
TORCH_LIBRARY(lib, m) {
  // m.def("commented");
  m.def("a(Tensor x) -> ()", {tag()});
  m.impl("a", torch::kCUDA, &ns::a_impl);
  m.def(
      "b("
      "int n) -> ()", &b);
  m.def(NAME, &c);
  helper(m);
  m.class_<T>("d").def("e", &T::e);
  if (x) { m.impl("f", &f); }
}
TORCH_LIBRARY_IMPL(lib, CUDA, k) { k.impl("lib::a", &a2); }
void g(M& m) { m.def("outside"); }
TORCH_LIBRARY_FRAGMENT(NAME, m) { m.def("of_a_macro"); }
"""
    rows = registrations(text)
    assert [(r.library, r.operation, r.verb) for r in rows] == [
        ("lib", "a", "def"), ("lib", "a", "impl"), ("lib", "b", "def"), ("lib", "a", "impl"), ("NAME", "of_a_macro", "def")
    ]  # fmt: skip
    assert (
        "a_impl" in rows[1].words and text[rows[1].start : rows[1].stop] == b'm.impl("a", torch::kCUDA, &ns::a_impl);'
    )


def test_lists_of_sources() -> None:
    text = b"""\
# "no.cu"
set(S a.cu "b/c.cpp" "${V}/d.cu" [[e.cu]] #[[ f.cu ]] g.txt
    # h.cu
    i-j.cc)
target_sources(t PRIVATE k.cu)
message("not.cu in a text")
"""
    found = [(row.name, row.command, text[row.start : row.stop]) for row in listed(text)]
    assert found == [
        ("a.cu", "set", b"a.cu"),
        ("b/c.cpp", "set", b'"b/c.cpp"'),
        ("i-j.cc", "set", b"i-j.cc"),
        ("k.cu", "target_sources", b"k.cu"),
    ]


@pytest.mark.parametrize(
    ("text", "names", "open_"),
    [
        ("torch.ops.lib.a(x)", {"a"}, False),
        ("torch.ops.lib.a.default(x)", {"a"}, False),
        ("from torch import ops\nops.lib.a(x)", {"a"}, False),
        ("f('lib::a')", {"a"}, False),
        ("hasattr(torch.ops.lib, 'a')", {"a"}, False),
        ("# torch.ops.lib.a\nx = other.lib.b", set(), False),
        ("'lib'.a", set(), False),
        ("ns = torch.ops.lib\nns.a(x)", {"ns", "torch", "ops", "lib", "a", "x"}, True),
        ("getattr(torch.ops.lib, n)\nb = 1", {"getattr", "torch", "ops", "lib", "n", "b"}, True),
        ("getattr(torch.ops, n).c", {"getattr", "torch", "ops", "n", "c"}, True),
        ("getattr(torch.ops, 'other').c", set(), False),
        ("f(f'lib::{n}')\nd", {"f", "lib", "n", "d"}, True),
        ("f('lib::' + n)\nd", {"f", "lib", "n", "d"}, True),
        ("from torch.ops import lib", {"from", "torch", "ops", "import", "lib"}, True),
        ("lib = broken(", {"lib", "broken"}, False),
    ],
)
def test_names_of_operations(text: str, names: set[str], open_: bool) -> None:
    found = named("lib", {"x.py": text.encode()}, {})
    assert bool(found.open) == open_
    assert set(found.places) >= names if open_ else set(found.places) == names


def test_a_source_may_name_an_operation() -> None:
    assert named("lib", {}, {"x.cc": b'find("lib::a");'}).places == {"a": "x.cc:1"}
