"""``report.html`` in a real browser, from disk. Without one these tests are *not run*, and say so."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pruner import report
from pruner.model import Cause, Outcome, Removal, Snapshot
from pruner.report.html.trend import _every

from .browser import Browser, browser, find
from .trees import (
    DROP,
    FACT,
    ORPHAN,
    UNREACHED,
    VERDICTS,
    Item,
    a_policy,
    edits_of,
    outcome_of,
    snapshot,
    write,
)

HOSTILE = "pkg/<img src=x onerror=bad()>&amp;"
CLOSING = "</script><script>bad()</script>"
MAIN = b"import a\nif hip():\n    x()\nelse:\n    b()\nend = 1\n"
TREE: dict[str, bytes | Item] = {
    "pkg/main.py": MAIN,
    "pkg/srt/a.py": b"1\n" * 300,
    "pkg/srt/layers/moe/x.py": b"1\n" * 500,
    "pkg/srt/layers/moe/y.py": b"1\n" * 80,
    "pkg/srt/layers/conf.json": b"1\n" * 40,
    "pkg/models/llama.py": b"1\n" * 700,
    "pkg/models/deepseek.py": b"1\n" * 250,
    "pkg/kernels/k.cu": b"1\n" * 60,
    f"{HOSTILE}/x.py": b"1\n" * 90,
    "setup.py": b"1\n" * 10,
    **{f"pkg/many/f{n}.py": b"1\n" for n in range(300)},
}
REMOVED: dict[str, Cause] = {
    "pkg/srt/layers/moe/x.py": Cause(
        "unreached", ("nvidia.hip",), ("pkg.main:3 was its only user", "is_hip() is false")
    ),
    "pkg/srt/layers/conf.json": ORPHAN,
    "pkg/models/llama.py": DROP,
    "pkg/kernels/k.cu": UNREACHED,
    f"{HOSTILE}/x.py": Cause("unreached", (), (CLOSING,)),
} | {f"pkg/many/f{n}.py": UNREACHED for n in range(300)}


EDGES = (
    ("rule:deepseek.models", "pkg", "package", "", 0),
    ("rule:deepseek.models", "pkg.main", "root", "", 0),
    ("pkg.main", "pkg.models.deepseek", "import", "pkg/main.py", 1),
    ("pkg.main", "pkg.models.deepseek:run", "read", "pkg/main.py", 5),
)


def release(version: str, before: int, after: int) -> dict[str, Any]:
    lines = {"before": before, "after": after}
    return {"upstream": version, "version": version, "result": "clean", "python": {"lines": lines}, "folds": 3}


RELEASES = (release("1", 1000, 600), {"upstream": "<b>", "result": "cannot run"}, release("2", 2000, 900))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Snapshot, Outcome, dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("html")
    write(folder / "up", TREE)
    snap = snapshot(folder / "up")
    edits = {"pkg/main.py": edits_of(MAIN, (b"if hip():\n    x()\nelse:\n    b()\n", b"b()\n", FACT))}
    rows = (
        Removal("pkg/main.py", 2, 5, "branch", "", FACT),
        Removal("pkg/main.py", 1, 1, "function", f"pkg.main.{CLOSING}", ORPHAN),
    )
    outcome = replace(outcome_of(snap, removed=REMOVED, edits=edits, rows=rows), edges=EDGES)
    document = report.build(snap, a_policy(), outcome, VERDICTS, extra={"PRUNED.json": b"1\n"})
    (folder / "out").mkdir()
    report.render(document, snap, outcome, folder / "out", extra={"PRUNED.json": b"1\n"}, releases=RELEASES)
    return snap, outcome, document, folder / "out" / "report.html"


def test_page_is_one_file_without_network(made: tuple[Snapshot, Outcome, dict[str, Any], Path]) -> None:
    text = made[3].read_text()
    assert "default-src 'none'" in text
    assert not re.search(r"""(src|href)=["']?(https?:|//|[\w./]+\.(js|css))""", text)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|innerHTML|document\.write", text)
    assert text.count("</script>") == 3, "a name from upstream closed a script element"
    assert HOSTILE not in text and "@@" not in text


def test_data_says_what_the_ledger_says(made: tuple[Snapshot, Outcome, dict[str, Any], Path]) -> None:
    found = re.search(r'id="data">(.*?)</script>', made[3].read_text(), re.S)
    assert found
    data = json.loads(found[1])
    ledger = json.loads(made[3].with_name("ledger.json").read_text())
    for packed, row in zip(data["rows"], ledger["removals"], strict=True):
        file, first, last, what, name, number = packed
        folder, base = data["folders"][data["files"][file][0]], data["files"][file][1]
        kind, rules, chain = data["causes"][number]
        assert row == {
            "path": f"{folder}/{base}" if folder else base,
            "lines": [first, last],
            "what": data["whats"][what],
            "name": name,
            "cause": {
                "kind": kind,
                "rules": [data["rules"][rule][0] for rule in rules],
                "chain": [data["sentences"][sentence] for sentence in chain],
            },
        }
    for packed, row in zip(data["files"], ledger["files"], strict=True):
        assert [None if n < 0 else n for n in packed[3:5]] == row["lines"]
        assert sum(packed[5][1::3]) == sum(share["removed"] for share in row.get("causes", ()))


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    programs = find()
    if programs is None:
        message = "NOT RUN: report.html was not tested in a browser (install chromium and chromium-driver)"
        if os.environ.get("PRUNE_REQUIRE_BROWSER"):
            pytest.fail(message)
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    with browser(programs, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def page(made: tuple[Snapshot, Outcome, dict[str, Any], Path], tab: Browser) -> Iterator[Browser]:
    """The page freshly opened; afterwards nothing may have been logged or asked of the network."""
    tab.open(made[3])
    yield tab
    assert tab.console() == []
    assert tab.js("return performance.getEntriesByType('resource').map((r) => r.name)") == []


def cells(tab: Browser) -> dict[str, str]:
    script = "return [...document.querySelectorAll('#map button.cell')].map((c) => [c.dataset.path, c.ariaLabel])"
    return dict(tab.js(script))


def matches(tab: Browser) -> str:
    return str(tab.js("return document.getElementById('found').textContent"))


def ledger(tab: Browser) -> list[list[str]]:
    script = (
        "return [...document.querySelectorAll('#ledger tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))"
    )
    found: list[list[str]] = tab.js(script)
    return found


def crumb(tab: Browser) -> str:
    return str(tab.js("return document.getElementById('crumbs').innerText.replace(/\\s+/g, ' ')"))


def drill(tab: Browser, path: str) -> None:
    """Click a cell and wait: the address changes at once, the drawing follows it."""
    tab.click(cell(path))
    tab.wait(lambda: crumb(tab).endswith("/ " + path.rpartition("/")[2]))


def cell(path: str) -> str:
    return f'#map button.cell[data-path="{path}"]'


def test_totals_are_the_documents(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser) -> None:
    lines = made[2]["totals"]["lines"]
    assert matches(page) == f"307 removals, {lines['before']:,} lines before, {lines['after']:,} after"
    assert set(cells(page)) == {"pkg", "setup.py"}
    assert cells(page)["setup.py"] == "setup.py, file, 10 lines, 100.0% kept"


def test_cells_fill_the_map_without_overlap_by_their_lines(page: Browser) -> None:
    drill(page, "pkg")
    boxes = page.js(
        "const m = document.getElementById('map'); return [m.clientWidth * m.clientHeight,"
        "[...m.querySelectorAll('button.cell')].map((c) => [c.dataset.path, ...['x', 'y', 'width', 'height']"
        ".map((k) => c.getBoundingClientRect()[k])])]"
    )
    whole, rows = boxes
    areas = {path: width * height for path, _, _, width, height in rows}
    assert abs(sum(areas.values()) - whole) < 0.01 * whole
    assert abs(areas["pkg/srt"] / areas["pkg/models"] - 920 / 950) < 0.02
    for n, (one, left, top, width, height) in enumerate(rows):
        for other, x, y, w, h in rows[n + 1 :]:
            apart = x >= left + width - 0.01 or left >= x + w - 0.01 or y >= top + height - 0.01 or top >= y + h - 0.01
            assert apart, (one, other)


def test_drill_down_and_back(page: Browser) -> None:
    drill(page, "pkg")
    drill(page, "pkg/srt")
    assert crumb(page) == "all files / pkg / srt"
    assert cells(page)["pkg/srt/layers"] == "layers, folder, 620 lines, 12.9% kept"
    assert [row[0] for row in ledger(page)] == ["pkg/srt/layers/conf.json", "pkg/srt/layers/moe/x.py"]
    page.call("POST", "/back", {})
    page.wait(lambda: crumb(page) == "all files / pkg")
    page.click("#crumbs button")
    page.wait(lambda: crumb(page) == "all files")


def test_a_file_can_be_opened(page: Browser) -> None:
    drill(page, "pkg")
    page.choose("#query", "main.py")
    page.wait(lambda: matches(page).startswith("2 removals"))
    page.click("#contents tbody button")
    page.wait(lambda: crumb(page) == "all files / pkg / main.py")
    assert [row[1] for row in ledger(page)] == ["function", "branch"]


def test_keyboard_alone(page: Browser) -> None:
    stops = "return document.querySelectorAll('#map [tabindex=\"0\"]').length"
    assert len(cells(page)) == 2 and page.js(stops) == 1
    page.js("document.querySelector('#crumbs').tabIndex = -1; document.querySelector('#crumbs').focus()")
    page.press("Tab")
    active = "return document.activeElement.dataset.path"
    assert page.js(active) == "pkg"
    page.press("Enter")
    page.wait(lambda: crumb(page) == "all files / pkg")
    first = page.js(active)
    page.press("ArrowRight")
    assert page.js(active) not in (first, None)
    while page.js(active) != "pkg/srt":
        page.press(*(["ArrowLeft"] * 5), *(["ArrowUp"] * 5))
        for _ in range(12):
            if page.js(active) != "pkg/srt":
                page.press("ArrowDown" if page.js(active) == first else "ArrowRight")
    page.press("Enter")
    page.wait(lambda: crumb(page) == "all files / pkg / srt")
    page.press("Backspace")
    page.wait(lambda: crumb(page) == "all files / pkg")
    assert page.js(active) == "pkg/srt", "going up must return to the folder that was left"
    assert page.js(stops) == 1


def test_filter_by_cause(page: Browser) -> None:
    page.choose("#kind", "rule")
    page.wait(lambda: matches(page).startswith("1 removals"))
    assert matches(page).endswith("700 removed by the choice")
    drill(page, "pkg")
    assert cells(page)["pkg/models"] == "models, folder, 950 lines, 26.3% kept, 700 removed by the choice"
    assert cells(page)["pkg/srt"].endswith(", 0 removed by the choice")
    painted = page.js("return document.querySelector(arguments[0]).style.background", cell("pkg/models"))
    assert re.search(r"--hit\) 0(px)? 73\.684.*--kept\) 73\.684", painted), painted


def test_filter_by_rule(page: Browser) -> None:
    page.choose("#rule", "nvidia.hip")
    page.wait(lambda: matches(page).startswith("2 removals"))
    assert matches(page).endswith("504 removed by the choice")
    assert {row[0] for row in ledger(page)} == {"pkg/main.py:2-5", "pkg/srt/layers/moe/x.py"}


def test_filter_by_language_and_clear(page: Browser) -> None:
    page.choose("#language", "CUDA")
    page.wait(lambda: matches(page) == "1 removals, 60 lines before, 0 after")
    page.click("#filters button[type=reset]")
    page.wait(lambda: matches(page).startswith("307 removals"))
    assert page.js("return document.getElementById('language').value") == ""


def test_cause_in_the_table_sets_the_filter(page: Browser) -> None:
    page.js("[...document.querySelectorAll('#causes button')].find((b) => b.innerText === 'fact:nvidia.hip').click()")
    page.wait(lambda: matches(page).startswith("1 removals"))
    assert page.js("return document.getElementById('rule').value") == "nvidia.hip"


def test_search_finds_paths_and_names(page: Browser) -> None:
    page.choose("#query", "LLAMA")
    page.wait(lambda: matches(page).startswith("1 removals"))
    assert [row[0] for row in ledger(page)] == ["pkg/models/llama.py"]
    page.choose("#query", "pkg.main.<")
    page.wait(lambda: [row[1] for row in ledger(page)] == ["function"])
    page.choose("#query", "no such thing")
    page.wait(lambda: matches(page).startswith("0 removals"))
    assert "No removal matches" in page.js("return document.getElementById('ledger').innerText")


def test_a_removal_opens_its_cause_chain(page: Browser) -> None:
    page.choose("#query", "moe/x.py")
    page.wait(lambda: matches(page).startswith("1 removals"))
    page.click("#ledger tbody button")
    chain = page.js("return [...document.querySelectorAll('#ledger .chain li')].map((e) => e.innerText)")
    assert chain == [
        "pkg.main:3 was its only user",
        "is_hip() is false",
        "rule nvidia.hip (assume, rules/nvidia.yaml:14): AMD GPUs are not NVIDIA.",
    ]
    assert page.js("return document.querySelector('#ledger tbody button').ariaExpanded") == "true"
    page.click("#ledger tbody button")
    assert page.js("return document.querySelectorAll('#ledger .chain').length") == 0


def test_pages_and_order(page: Browser) -> None:
    assert len(ledger(page)) == 100
    page.js("[...document.querySelectorAll('.pager button')].at(-1).click()")
    page.wait(lambda: "page 2 of 4" in page.js("return document.querySelector('.pager').innerText"))
    page.choose("#order", "lines")
    page.wait(lambda: ledger(page)[0][0] == "pkg/models/llama.py")


def test_a_folder_of_many_files_is_bounded(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser) -> None:
    page.open(made[3], "#path=pkg%2Fmany")
    assert len(cells(page)) == 250
    assert page.js("return document.querySelector('.cell.rest').innerText") == "50 smaller"


def test_an_address_restores_a_view_and_nonsense_is_ignored(
    made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser
) -> None:
    page.open(made[3], "#path=pkg%2Fsrt&kind=unreached&page=0")
    assert matches(page).startswith("1 removals") and crumb(page) == "all files / pkg / srt"
    page.open(made[3], "#path=no/such&rule=none&page=-3&kind=%00&order=up&x=y")
    assert crumb(page) == "all files"


def test_names_of_upstream_are_text_only(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser) -> None:
    page.js("window.bad = () => { window.hit = true }")
    drill(page, "pkg")
    page.choose("#query", "<")
    page.wait(lambda: len(ledger(page)) == 2)
    page.js("document.querySelectorAll('#ledger tbody button').forEach((b) => b.click())")
    assert CLOSING in page.js("return document.getElementById('ledger').innerText")
    assert page.js("return [window.hit ?? null, document.images.length]") == [None, 0]


def test_light_and_dark(page: Browser) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    try:
        page.scheme("dark")
        dark = page.js(script)
        page.scheme("light")
        light = page.js(script)
        assert (light, dark) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)")
        page.click("#theme")
        page.click("#theme")
        assert page.js(script) == dark and page.js("return document.getElementById('theme').innerText") == "Theme: dark"
    finally:
        page.scheme("")


def test_skip_link_keeps_the_view(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser) -> None:
    page.open(made[3], "#path=pkg")
    page.press("Tab", "Enter")
    assert page.js("return document.activeElement.id") == "removals"
    assert crumb(page) == "all files / pkg"


def source(tab: Browser) -> list[list[str]]:
    rows: list[list[str]] = tab.wait(
        lambda: tab.js(
            "return [...document.querySelectorAll('.source tbody tr')].map((r) => [...r.cells].map((c) => c.innerText"
            " + (c.className.includes('gone') ? ' GONE' : c.className.includes('new') ? ' NEW' : '')))"
        )
    )
    return rows


def test_removed_code_stands_beside_what_is_left(page: Browser) -> None:
    page.choose("#query", "main.py")
    page.wait(lambda: matches(page).startswith("2 removals"))
    page.js("[...document.querySelectorAll('#ledger tbody button')].at(-1).click()")
    assert source(page) == [
        ["1", "import a", "1", "import a"],
        ["2", "if hip(): GONE", "", ""],
        ["3", "    x() GONE", "", ""],
        ["4", "else: GONE", "", ""],
        ["5", "    b()", "2", "b()"],
        ["6", "end = 1", "3", "end = 1"],
    ]


def test_a_removed_file_shows_its_head(page: Browser) -> None:
    page.choose("#query", "k.cu")
    page.wait(lambda: matches(page).startswith("1 removals"))
    page.click("#ledger tbody button")
    rows = source(page)
    assert len(rows) == 60 and rows[0] == ["1", "1 GONE", "", ""]
    page.choose("#query", "llama")
    page.wait(lambda: [row[0] for row in ledger(page)] == ["pkg/models/llama.py"])
    page.click("#ledger tbody button")
    assert source(page)[-1][3] == "… 500 more lines NEW"


def test_source_of_upstream_is_text_only(tmp_path: Path, tab: Browser) -> None:
    bad = b"<img src=x onerror=alert(1)></script>\nif hip():\n    '</td>'\n\xff\n"
    write(tmp_path / "up", {"pkg/a.py": bad})
    snap = snapshot(tmp_path / "up")
    edits = {"pkg/a.py": edits_of(bad, (b"if hip():\n    '</td>'\n", b"", FACT))}
    outcome = outcome_of(snap, edits=edits, rows=(Removal("pkg/a.py", 2, 3, "branch", "", FACT),))
    (tmp_path / "out").mkdir()
    report.render(report.build(snap, a_policy(), outcome, VERDICTS), snap, outcome, tmp_path / "out")
    tab.open(tmp_path / "out" / "report.html")
    tab.click("#ledger tbody button")
    assert [row[1] for row in source(tab)][:3] == [
        "<img src=x onerror=alert(1)></script>",
        "if hip(): GONE",
        "    '</td>' GONE",
    ]
    assert tab.js("return document.images.length") == 0 and tab.console() == []


def test_the_sources_are_bounded(
    made: tuple[Snapshot, Outcome, dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pruner.report.html import sources

    snap, outcome, _, _ = made
    places = {file.path: number for number, file in enumerate(snap.files)}
    everything = list(sources.chunks(sources.packed(snap, outcome), places))
    assert everything[0].split()[0] == str(places["pkg/main.py"]), "edited files come first"
    monkeypatch.setattr(sources, "MOST", 2000)
    some = list(sources.chunks(sources.packed(snap, outcome), places))
    assert 0 < len(some) < len(everything) and sum(map(len, some)) <= 2000 and some == everything[: len(some)]


def test_why_a_file_is_kept_is_drawn(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser) -> None:
    assert page.js("return document.getElementById('why').hidden")
    page.open(made[3], "#path=pkg/models/deepseek.py")
    told = page.js("return document.querySelector('.way').getAttribute('aria-label')")
    assert told == "rule deepseek.models; root: pkg.main; import at pkg/main.py:1: pkg.models.deepseek"
    assert page.js("return document.querySelectorAll('.way rect').length") == 3
    page.open(made[3], "#path=pkg/models/llama.py")
    assert page.js("return document.getElementById('why').hidden"), "it is not kept"


def test_release_trend(page: Browser) -> None:
    names = page.js("return [...document.querySelectorAll('.trend .release title')].map((t) => t.textContent)")
    assert names == ["1: 1,000 lines, 600 kept (60.0%)", "2: 2,000 lines, 900 kept (45.0%)"]
    heights = page.js("return [...document.querySelectorAll('.trend .kept')].map((r) => r.height.baseVal.value)")
    assert abs(heights[1] / heights[0] - 1.5) < 0.01
    marks = page.js("return [...document.querySelectorAll('.trend text[text-anchor=end]')].map((t) => t.textContent)")
    assert marks == ["0", "500", "1,000", "1,500", "2,000"], "round figures, up to the tallest"


@pytest.mark.parametrize("most", [1, 6, 7, 30, 31, 59, 60, 61, 1_799_772, 10**9])
def test_marks_are_round_and_few(most: int) -> None:
    every = _every(most)
    assert str(every).rstrip("0") in ("1", "2", "5") and 1 <= -(-most // every) <= 6


def test_the_map_fits_any_paper(page: Browser) -> None:
    """Nothing redraws the map for a printer: its cells are shares of what they stand in."""
    drill(page, "pkg")
    page.js("document.getElementById('map').style.width = '300px'")
    outside = page.js(
        "const m = document.getElementById('map').getBoundingClientRect();"
        "return [...document.querySelectorAll('#map .cell, #map .mini')].map((c) => c.getBoundingClientRect())"
        ".filter((c) => c.right > m.right + 1 || c.bottom > m.bottom + 1).length"
    )
    assert outside == 0


def test_a_folder_with_room_shows_two_levels(page: Browser) -> None:
    deep = "return [...document.querySelectorAll('#map .mini .mini')].map((c) => c.innerText)"
    assert len(page.js(deep)) > 2, "one folder holds everything: what is in its folders shows as well"


def test_print(page: Browser) -> None:
    page.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}})
    try:
        shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
        assert page.js(shown, "#filters") == "none" and page.js(shown, "#map") != "none"
        assert page.js("return getComputedStyle(document.querySelector('#ledger .scroll')).overflow") == "visible"
    finally:
        page.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": ""}})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(made: tuple[Snapshot, Outcome, dict[str, Any], Path], page: Browser, scheme: str) -> None:
    """axe-core is not ours to ship: PRUNE_AXE names its axe.min.js."""
    axe = os.environ.get("PRUNE_AXE")
    if not axe:
        pytest.skip("NOT RUN: PRUNE_AXE does not name axe.min.js")
    try:
        page.scheme(scheme)
        for fragment in ("", "#path=pkg/models/deepseek.py", "#query=main.py"):
            page.open(made[3], fragment)
            page.js("document.querySelector('#ledger tbody button')?.click()")
            if "query" in fragment:
                source(page)
            page.js(Path(axe).read_text("utf-8"))
            script = "axe.run().then((r) => arguments[0](r.violations.map((v) => [v.id, v.nodes[0].html])))"
            assert page.call("POST", "/execute/async", {"script": script, "args": []}) == []
    finally:
        page.scheme("")
