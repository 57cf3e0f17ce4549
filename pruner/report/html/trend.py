"""Lines before and kept over releases, as an SVG chart that also prints and reads aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from pruner.report.text import number, share

WIDE, HIGH, LEFT, BOTTOM = 720, 260, 90, 40


def trend(releases: Sequence[Mapping[str, Any]], current: str = "") -> str:
    """A chart and its table; "" without two releases that were pruned. Rows are those of ``matrix.json``."""
    rows = [row for row in releases if "python" in row]
    if len(rows) < 2:
        return ""
    mark_every = _every(max(row["python"]["lines"]["before"] for row in rows))
    marks = -(-max(row["python"]["lines"]["before"] for row in rows) // mark_every)
    most = max(1, mark_every * marks)
    step = (WIDE - LEFT) / len(rows)
    out = [
        f'<svg class="trend" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-labelledby="trend-title" '
        'xmlns="http://www.w3.org/2000/svg">'
    ]
    scale = (HIGH - BOTTOM - 20) / most
    floor = HIGH - BOTTOM
    for value in range(0, most + 1, mark_every):
        y = floor - value * scale
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
    for index, row in enumerate(rows):
        lines = row["python"]["lines"]
        name = row.get("version") or row["upstream"]
        x, wide = LEFT + step * index + step * 0.15, step * 0.7
        before, after = lines["before"] * scale, lines["after"] * scale
        text = f"{name}: {number(lines['before'])} lines, {number(lines['after'])} kept ({share(lines['after'], lines['before'])})"
        mark = " here" if name == current else ""
        out.append(
            f'<g class="release{mark}"><title>{escape(text)}</title>'
            f'<rect class="gone" x="{x:.1f}" y="{floor - before:.1f}" width="{wide:.1f}" height="{before - after:.1f}"/>'
            f'<rect class="kept" x="{x:.1f}" y="{floor - after:.1f}" width="{wide:.1f}" height="{after:.1f}"/>'
            f'<text class="tick" x="{x + wide / 2:.1f}" y="{floor + 16}" text-anchor="middle">{escape(name)}</text>'
            f'<text class="tick" x="{x + wide / 2:.1f}" y="{floor + 31}" text-anchor="middle">'
            f"{share(lines['after'], lines['before'])}</text></g>"
        )
    out.append("</svg>")
    cells = "".join(
        f"<tr><td>{escape(r.get('version') or r['upstream'])}</td><td>{escape(r['result'])}</td>"
        f'<td class="figure">{number(r["python"]["lines"]["before"])}</td>'
        f'<td class="figure">{number(r["python"]["lines"]["after"])}</td>'
        f'<td class="figure">{share(r["python"]["lines"]["after"], r["python"]["lines"]["before"])}</td>'
        f'<td class="figure">{number(r["folds"])}</td></tr>'
        for r in rows
    )
    heads = "".join(
        f'<th scope="col"{" class=figure" if i > 1 else ""}>{h}</th>'
        for i, h in enumerate(("release", "result", "Python lines", "kept", "share", "folds"))
    )
    return (
        '<section aria-labelledby="trend-title">\n<h2 id="trend-title">Releases</h2>\n'
        '<p class="legend"><span class="kept">kept</span> <span class="gone">removed</span> Python lines</p>\n'
        + "\n".join(out)
        + f"\n<details><summary>The figures</summary><table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>"
        "</details>\n</section>"
    )


def _every(most: int) -> int:
    """A round distance between marks, of which three to six fit: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for round_one in (power, 2 * power, 5 * power):
            if most <= 6 * round_one:
                return round_one
        power *= 10


def trend_page(releases: Sequence[Mapping[str, Any]], heads: Sequence[str], cells: Sequence[Sequence[str]]) -> bytes:
    """A page of its own: the chart, and the whole table with links to the reports beside it."""
    style = resources.files("pruner.report.html").joinpath("style.css").read_text("utf-8")
    head = "".join(f'<th scope="col">{escape(text.lstrip(">"))}</th>' for text in heads)
    body = ""
    for release, row in zip(releases, cells, strict=True):
        name = escape(release["upstream"])
        first = f'<a href="{name}/reports/report.html">{escape(row[0])}</a>' if "python" in release else escape(row[0])
        body += f"<tr><td>{first}</td>" + "".join(f"<td>{escape(text)}</td>" for text in row[1:]) + "</tr>\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'img-src data:">\n<link rel="icon" href="data:,">\n'
        f"<title>Release matrix</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n"
        f'<h1>Release matrix</h1>\n{trend(releases)}\n<h2 id="all">All figures</h2>\n'
        '<div class="scroll" tabindex="0" role="group" aria-labelledby="all">'
        f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>\n</main>\n</body>\n</html>\n"
    ).encode()
