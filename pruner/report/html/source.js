// Removed code beside what is left. A file's blocks are unpacked when a removal of it is first opened.

let packed = null; // number of a file -> its base64
const unpacked = new Map();
const SHOWN = 400; // lines of one removal

function packedOf(file) {
  if (!packed) {
    packed = new Map();
    for (const row of document.getElementById("sources").textContent.split("\n")) {
      const cut = row.indexOf(" ");
      if (cut > 0) packed.set(Number(row.slice(0, cut)), row.slice(cut + 1));
    }
  }
  return packed.get(file);
}

// [first upstream line, upstream lines, first generated line, generated lines], or null when it is not in the page.
async function blocksOf(file) {
  if (!unpacked.has(file)) {
    const text = packedOf(file);
    if (!text || typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(file, JSON.parse(await new Response(stream).text()));
  }
  return unpacked.get(file);
}

// The lines of both sides in rows: those of a longest common subsequence face each other, the rest is removed
// or put in. Compared without indentation, since the body of a branch that was decided moves to the left.
function pair(old, now) {
  const a = old.map((line) => line.trim()), b = now.map((line) => line.trim());
  const wide = b.length + 1, best = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      best[i * wide + j] = a[i] === b[j] ? best[(i + 1) * wide + j + 1] + 1
        : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
  const rows = [];
  let left = 0, right = 0;
  while (left < a.length || right < b.length) {
    if (left < a.length && right < b.length && a[left] === b[right]) rows.push([left++, right++]);
    else if (right >= b.length || (left < a.length && best[(left + 1) * wide + right] >= best[left * wide + right + 1]))
      rows.push([left++, -1]);
    else rows.push([-1, right++]);
  }
  return rows;
}

function side(row, at, first, lines, css) {
  const here = at >= 0;
  row.append(make("td", here ? String(first + at) : "", { class: "line" }));
  row.append(make("td", here ? lines[at] : "", { class: "code " + (here ? css : "none") }));
}

async function drawSource(place, row) {
  const blocks = await blocksOf(row[FILE]);
  if (!blocks) {
    place.append(make("p", "The source is not in this page; it is in changes.diff.", { class: "soft" }));
    return;
  }
  const element = table("Upstream on the left, the generated tree on the right", ["line", "upstream", "line", "generated"]);
  element.className = "source";
  let left = SHOWN;
  for (const [first, old, start, now] of blocks) {
    if (first > row[LAST] || first + old.length <= row[FIRST]) continue;
    for (const [a, b] of pair(old, now)) {
      if (left-- <= 0) break;
      const line = make("tr");
      const own = a >= 0 && first + a >= row[FIRST] && first + a <= row[LAST];
      side(line, a, first, old, b >= 0 ? "same" : own ? "gone" : "other");
      side(line, b, start, now, a >= 0 ? "same" : "new");
      element.tBodies[0].append(line);
    }
  }
  place.append(scroll(element, "Removed code"));
  if (left < 0) place.append(make("p", "More in changes.diff.", { class: "soft" }));
}
