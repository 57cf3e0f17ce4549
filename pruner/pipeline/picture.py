"""The module graph of kept code by folder, as DOT and as SVG.

The SVG's layout is our own: folders in columns by their distance from the entry points, each column sorted to put
a folder near what it is used by (the barycentre heuristic of Sugiyama's layered drawing, one sweep). Graphviz
draws the DOT better, where it is installed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from pruner.pipeline.retention import own_sizes
from pruner.pipeline.stored import edges_of

FEW, USES = 60, 3  # links that a picture shows whole; of a larger one, links of a folder
WIDE, HIGH, GAP = 230, 34, 90


@dataclass(frozen=True, slots=True)
class Folders:
    """``sizes``: folder -> (modules, kept lines). ``links``: (from, to) -> how many module imports."""

    sizes: Mapping[str, tuple[int, int]]
    links: Mapping[tuple[str, str], int]
    roots: frozenset[str]


def by_folder(graph: Mapping[str, Any], depth: int, below: str = "") -> Folders:
    """Kept modules grouped by the first ``depth`` components of their package, within ``below`` if given."""
    own = own_sizes(graph)
    groups = {
        module: _folder(module, path, depth)
        for module, (path, _) in own.items()
        if not below or module == below or module.startswith(below + ".")
    }
    sizes: dict[str, tuple[int, int]] = {}
    for module, folder in groups.items():
        count, lines = sizes.get(folder, (0, 0))
        sizes[folder] = (count + 1, lines + own[module][1])
    pairs = {
        (source.partition(":")[0], target.partition(":")[0])
        for source, target, kind, _, _ in edges_of(graph)
        if kind != "package"
    }
    links: Counter[tuple[str, str]] = Counter()
    for one, two in pairs:
        if one in groups and two in groups and groups[one] != groups[two]:
            links[groups[one], groups[two]] += 1
    named = {graph["nodes"][number].partition(":")[0] for number, _ in graph["roots"]}
    roots = {groups[module] for module in named if module in groups}
    return Folders(dict(sorted(sizes.items())), dict(sorted(links.items())), frozenset(roots))


def _folder(module: str, path: str, depth: int) -> str:
    package = module if path.endswith("/__init__.py") else module.rpartition(".")[0] or module
    return ".".join(package.split(".")[:depth])


def dot(folders: Folders) -> str:
    """Graphviz's language; same input, same bytes."""
    out = ["digraph kept {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif", fontsize=11];']
    for name, (count, lines) in folders.sizes.items():
        bold = ", penwidth=2" if name in folders.roots else ""
        label = _quote(f"{name}\n{count} modules, {lines:,} lines")
        out.append(f"  {_quote(name)} [label={label}{bold}];")
    for (one, two), count in folders.links.items():
        out.append(f"  {_quote(one)} -> {_quote(two)} [label={count}, weight={count}];")
    return "\n".join([*out, "}"]) + "\n"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def svg(folders: Folders) -> str:
    """A picture that needs no tool; titles of boxes and lines say what they are."""
    places, width, height = _layout(folders)
    most = max(folders.links.values(), default=1)
    links = _strongest(folders)
    label = f"Module graph of kept code: {len(folders.sizes)} folders, {len(links)} of {len(folders.links)} links"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label)}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    if len(links) < len(folders.links):
        text = f"the {USES} strongest uses of each folder, {len(links)} of {len(folders.links)}; the DOT has all"
        out.append(f'<text x="20" y="{height - 8}" fill="#445">{text}</text>')
    for (one, two), count in links.items():
        (x1, y1), (x2, y2) = places[one], places[two]
        start, end = (x1 + WIDE, x2) if x2 > x1 else (x1, x2 + WIDE)
        if x1 == x2:
            start = end = x1 + WIDE
        bend = GAP / 2 if end >= start else -GAP / 2
        top, bottom = y1 + HIGH / 2, y2 + HIGH / 2
        second = end - bend if x1 != x2 else end + bend
        stroke = 0.5 + 3 * count / most
        out.append(
            f'<path d="M{start:g} {top:g}C{start + bend:g} {top:g} {second:g} {bottom:g} {end:g} {bottom:g}" fill="none" '
            f'stroke="#667" stroke-opacity=".45" stroke-width="{stroke:.1f}" marker-end="url(#tip)">'
            f"<title>{escape(one)} uses {escape(two)}: {count} imports</title></path>"
        )
    for name, (count, lines) in folders.sizes.items():
        x, y = places[name]
        fill = "#dbe8ff" if name in folders.roots else "#f2f2ee"
        shown = name if len(name) <= 36 else "…" + name[-35:]
        out.append(
            f'<g><rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="4" fill="{fill}" stroke="#445"/>'
            f'<text x="{x + 8}" y="{y + 14}">{escape(shown)}</text>'
            f'<text x="{x + 8}" y="{y + 28}" fill="#445">{count} modules, {lines:,} lines</text>'
            f"<title>{escape(name)}</title></g>"
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _strongest(folders: Folders) -> dict[tuple[str, str], int]:
    """All links of a small graph; of a large one those that each folder needs most: hundreds of lines show nothing."""
    if len(folders.links) <= FEW:
        return dict(folders.links)
    rows: dict[str, list[tuple[int, str]]] = {}
    for (one, two), count in folders.links.items():
        rows.setdefault(one, []).append((-count, two))
    chosen = {(one, two) for one, uses in rows.items() for _, two in sorted(uses)[:USES]}
    return {link: count for link, count in folders.links.items() if link in chosen}


def _layout(folders: Folders) -> tuple[dict[str, tuple[int, int]], int, int]:
    distance = _distances(folders)
    columns: dict[int, list[str]] = {}
    for name in folders.sizes:
        columns.setdefault(distance[name], []).append(name)
    row: dict[str, float] = {}
    for column in sorted(columns):
        names = columns[column]
        if column:
            names.sort(key=lambda n: (_centre(n, folders, row), n))
        for index, name in enumerate(names):
            row[name] = index
    places = {
        name: (20 + index * (WIDE + GAP), 20 + at * (HIGH + 12))
        for index, column in enumerate(sorted(columns))
        for at, name in enumerate(columns[column])
    }
    width = 40 + len(columns) * (WIDE + GAP) - GAP
    height = 40 + max((len(names) for names in columns.values()), default=1) * (HIGH + 12)
    return places, width, height


def _distances(folders: Folders) -> dict[str, int]:
    out: dict[str, list[str]] = {}
    for one, two in folders.links:
        out.setdefault(one, []).append(two)
    found = {name: 0 for name in folders.sizes if name in folders.roots}
    todo = deque(sorted(found))
    while todo:
        name = todo.popleft()
        for other in sorted(out.get(name, ())):
            if other not in found:
                found[other] = found[name] + 1
                todo.append(other)
    last = max(found.values(), default=0) + 1
    return {name: found.get(name, last) for name in folders.sizes}


def _centre(name: str, folders: Folders, row: Mapping[str, float]) -> float:
    near = [row[one] for (one, two) in folders.links if two == name and one in row]
    return sum(near) / len(near) if near else 1e9
