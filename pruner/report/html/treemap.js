// The treemap: squarified, one level to act on and, where there is room, two more to look at.

const MOST_CELLS = 250; // a folder of 600 configurations would be 600 unreadable slivers
const LABEL = 18; // pixels

// Rectangles for values sorted downwards (Bruls, Huizing, van Wijk: squarified treemaps).
function squarify(values, x, y, width, height) {
  const out = [];
  let total = values.reduce((sum, value) => sum + value, 0);
  let at = 0;
  while (at < values.length && total > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height), scale = width * height / total;
    let sum = values[at], count = 1, worst = ratio(values[at], values[at], sum, side, scale);
    while (at + count < values.length) {
      const next = ratio(values[at], values[at + count], sum + values[at + count], side, scale);
      if (next > worst) break;
      sum += values[at + count];
      worst = next;
      count += 1;
    }
    const thick = sum * scale / side;
    let along = 0;
    for (let index = at; index < at + count; index += 1) {
      const long = values[index] * scale / thick;
      out.push(width >= height ? [x, y + along, thick, long] : [x + along, y, long, thick]);
      along += long;
    }
    if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
    total -= sum;
    at += count;
  }
  return out;
}

function ratio(largest, smallest, sum, side, scale) {
  const area = sum * scale, wide = side * side;
  return Math.max(wide * largest * scale / (area * area), area * area / (wide * smallest * scale));
}

// From the bottom: what the chosen cause removed, what others removed, what is kept.
function paint(element, item, filtered) {
  const gone = Math.min(100, Math.max(0, 100 * (item.before - item.after) / item.before));
  const hit = filtered ? Math.min(100, 100 * item.hit / item.before) : 0;
  const top = Math.max(gone, hit);
  element.style.background = "linear-gradient(to top, var(--hit) 0 " + hit + "%, var(--gone) " + hit + "% " + top +
    "%, var(--kept) " + top + "%)";
}

// In shares of what it stands in: paper has another width than the window, and says so to nobody.
function place(element, [x, y, width, height], whole, high) {
  element.style.left = 100 * x / whole + "%";
  element.style.top = 100 * y / high + "%";
  element.style.width = 100 * width / whole + "%";
  element.style.height = 100 * height / high + "%";
}

function shown(item) {
  return [...item.children.values()].filter((child) => child.before > 0)
    .sort((a, b) => b.before - a.before || (a.name < b.name ? -1 : 1));
}

function describe(item, filtered) {
  const kind = item.file < 0 ? "folder" : "file";
  const hit = filtered ? ", " + number(item.hit) + " removed by the choice" : "";
  return item.name + ", " + kind + ", " + number(item.before) + " lines, " + share(item.after, item.before) + " kept" + hit;
}

function drawMap(map, open, filtered, choose) {
  map.replaceChildren();
  const items = open.file >= 0 ? [open].filter((item) => item.before > 0) : shown(open);
  const rest = items.splice(MOST_CELLS);
  const values = items.map((item) => item.before);
  const more = rest.reduce((sum, item) => sum + item.before, 0);
  const whole = map.clientWidth, high = map.clientHeight;
  const boxes = squarify(more ? [...values, more] : values, 0, 0, whole, high);
  items.forEach((item, index) => {
    const cell = document.createElement("button");
    cell.type = "button";
    cell.className = "cell";
    cell.dataset.path = item.path;
    cell.tabIndex = index ? -1 : 0; // one stop for Tab, arrows inside
    cell.setAttribute("aria-label", describe(item, filtered));
    cell.title = describe(item, filtered);
    place(cell, boxes[index], whole, high);
    paint(cell, item, filtered);
    const [, , width, height] = boxes[index];
    if (item.file < 0 && width > 30 && height > LABEL + 12) drawInner(cell, item, filtered, width - 2, height - 2, 2);
    if (width > 34 && height > 14) {
      const label = document.createElement("span");
      label.className = "label";
      label.textContent = item.name + " " + share(item.after, item.before);
      cell.append(label);
    }
    cell.addEventListener("click", (event) => choose(item.path, event.detail === 0));
    map.append(cell);
  });
  if (more) {
    const cell = document.createElement("div");
    cell.className = "cell rest kept";
    cell.textContent = number(rest.length) + " smaller";
    place(cell, boxes[items.length], whole, high);
    map.append(cell);
  }
}

const ROOM = 150; // pixels of the shorter side from which on a folder shows what is in it

function drawInner(cell, item, filtered, width, height, depth) {
  const items = shown(item).slice(0, 60);
  const boxes = squarify(items.map((child) => child.before), 0, LABEL, width, height - LABEL);
  items.forEach((child, index) => {
    const [, , wide, high] = boxes[index];
    if (wide < 3 || high < 3) return;
    const mini = document.createElement("span");
    mini.className = "mini";
    place(mini, boxes[index], width, height);
    paint(mini, child, filtered);
    if (depth > 1 && child.file < 0 && Math.min(wide, high) > ROOM) {
      drawInner(mini, child, filtered, wide - 2, high - 2, depth - 1);
    }
    if (wide > 60 && high > 16) {
      const label = document.createElement("span");
      label.className = "label";
      label.textContent = child.name;
      mini.append(label);
    }
    cell.append(mini);
  });
}

// The nearest cell in an arrow's direction; sideways distance weighs double.
function neighbour(cells, from, key) {
  const middle = (cell) => [cell.offsetLeft + cell.offsetWidth / 2, cell.offsetTop + cell.offsetHeight / 2];
  const [x, y] = middle(from);
  let best = null, least = Infinity;
  for (const cell of cells) {
    if (cell === from) continue;
    const [a, b] = middle(cell);
    const ahead = { ArrowRight: a - x, ArrowLeft: x - a, ArrowDown: b - y, ArrowUp: y - b }[key];
    const aside = key === "ArrowRight" || key === "ArrowLeft" ? Math.abs(b - y) : Math.abs(a - x);
    if (ahead > 1 && ahead + 2 * aside < least) {
      least = ahead + 2 * aside;
      best = cell;
    }
  }
  return best;
}
