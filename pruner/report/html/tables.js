// The tables: what a folder holds, its causes, the removals with their cause chains.

const PAGE = 100; // removals a page
const LISTED = 400; // files or folders in "Contents"

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  return element;
}

function link(text, act) {
  const button = make("button", text, { type: "button", class: "link" });
  button.addEventListener("click", act);
  return button;
}

function table(caption, heads) {
  const element = make("table");
  element.append(make("caption", caption, { class: "soft" }));
  const row = make("tr");
  for (const head of heads) {
    const figure = head.startsWith(">");
    row.append(make("th", figure ? head.slice(1) : head, { scope: "col", ...(figure ? { class: "figure" } : {}) }));
  }
  element.append(make("thead"), make("tbody"));
  element.tHead.append(row);
  return element;
}

function cells(row, values) {
  for (const value of values) {
    const figure = typeof value === "number";
    const cell = make("td", undefined, figure ? { class: "figure" } : {});
    cell.append(figure ? number(value) : value);
    row.append(cell);
  }
  return row;
}

function scroll(element, name) {
  const box = make("div", undefined, { class: "scroll", role: "group", tabindex: "0", "aria-label": name });
  box.append(element);
  return box;
}

function bar(item, filtered) {
  const box = make("div", undefined, { class: "bar", "aria-hidden": "true" });
  const whole = Math.max(item.before, item.after, 1);
  const hit = filtered ? item.hit : 0;
  const parts = [["kept", item.after], ["gone", Math.max(0, item.before - item.after - hit)], ["hit", hit]];
  for (const [name, part] of parts) {
    const piece = make("span", undefined, { class: name });
    piece.style.width = 100 * part / whole + "%";
    box.append(piece);
  }
  return box;
}

function drawContents(place, state, open, filtered, choose) {
  const query = state.query.trim().toLowerCase();
  let items = open.file >= 0 ? [open] : [...open.children.values()];
  let caption = open.file >= 0 ? "This file" : "Folders and files, most removed first";
  if (query) {
    items = [...byPath.values()].filter((item) => item.path && inside(item.path, state.path) &&
      item.path.toLowerCase().includes(query));
    caption = "Paths that match, most removed first";
  }
  items = items.filter((item) => item.files || item.left);
  const lost = (item) => (filtered ? item.hit : item.before - item.after);
  items.sort((a, b) => lost(b) - lost(a) || (a.path < b.path ? -1 : 1));
  const element = table(caption, ["name", ">files before", ">after", ">lines before", ">after", ">removed", ">by the choice", "kept"]);
  for (const item of items.slice(0, LISTED)) {
    const row = make("tr");
    const name = (query ? item.path : item.name) + (item.file < 0 ? "/" : "");
    const by = filtered ? item.hit : "";
    cells(row, [link(name, () => choose(item.path, true)), item.files, item.left, item.before, item.after,
      item.before - item.after, by, bar(item, filtered)]);
    row.cells[0].className = "place";
    row.cells[7].append(make("span", share(item.after, item.before), { class: "soft" }));
    element.tBodies[0].append(row);
  }
  place.replaceChildren(scroll(element, "Contents"));
  if (!items.length) place.replaceChildren(make("p", "Nothing here matches.", { class: "soft" }));
  if (items.length > LISTED) place.append(make("p", number(items.length - LISTED) + " more; search to narrow.", { class: "soft" }));
}

function drawCauses(place, state, change) {
  const rows = causesHere(state);
  const element = table("Lines removed here; each line has one cause", ["cause", "means", ">lines"]);
  for (const [kind, rule, removed] of rows.slice(0, 40)) {
    const means = rule ? (data.rules.find((row) => row[0] === rule) || ["", "", ""])[2] : data.kinds[kind] || "";
    const name = link(rule ? kind + ":" + rule : kind, () => change({ kind, rule, page: 0 }));
    element.tBodies[0].append(cells(make("tr"), [name, means, removed]));
  }
  place.replaceChildren(rows.length ? scroll(element, "Causes") : make("p", "Nothing was removed here.", { class: "soft" }));
  if (rows.length > 40) place.append(make("p", number(rows.length - 40) + " smaller causes.", { class: "soft" }));
}

function drawLedger(place, state, change) {
  const found = matching(state);
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = Math.min(state.page, pages - 1);
  const element = table("Removals; a place opens its cause chain", ["place", "what", "name", ">lines", "cause"]);
  for (const index of found.slice(page * PAGE, page * PAGE + PAGE)) element.tBodies[0].append(removal(index));
  place.replaceChildren();
  if (!found.length) {
    place.append(make("p", "No removal matches.", { class: "soft" }));
    return 0;
  }
  place.append(pager(page, pages, change), scroll(element, "Removals"));
  return found.length;
}

function pager(page, pages, change) {
  const box = make("div", undefined, { class: "pager" });
  for (const [text, step] of [["Previous", -1], ["Next", 1]]) {
    const button = make("button", text, { type: "button" });
    button.disabled = page + step < 0 || page + step >= pages;
    button.addEventListener("click", () => change({ page: page + step }));
    box.append(button);
  }
  box.append(make("span", "page " + number(page + 1) + " of " + number(pages)));
  return box;
}

function causeName(cause) {
  const rules = cause[1].map((rule) => data.rules[rule][0]);
  return rules.length ? cause[0] + ": " + rules.join(", ") : cause[0];
}

function removal(index) {
  const row = data.rows[index], cause = data.causes[row[CAUSE]];
  const element = make("tr");
  const what = data.whats[row[WHAT]];
  const text = paths[row[FILE]] + (what === "file" ? "" : ":" + row[FIRST] + (row[LAST] > row[FIRST] ? "-" + row[LAST] : ""));
  const button = link(text, () => toggle(element, button, cause, row));
  button.setAttribute("aria-expanded", "false");
  cells(element, [button, what, row[TITLE], extent(row), causeName(cause)]);
  element.cells[0].className = "place";
  return element;
}

function toggle(element, button, cause, removed) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    element.nextSibling.remove();
    return;
  }
  const list = make("ol", undefined, { class: "chain" });
  for (const sentence of cause[2]) list.append(make("li", data.sentences[sentence]));
  if (!cause[2].length) list.append(make("li", data.kinds[cause[0]] || cause[0]));
  for (const index of cause[1]) {
    const [id, verb, because, location] = data.rules[index];
    list.append(make("li", "rule " + id + (location ? " (" + verb + ", " + location + "): " + because : "")));
  }
  const row = make("tr", undefined, { class: "detail" });
  const cell = make("td", undefined, { colspan: "5" });
  cell.append(list);
  row.append(cell);
  element.after(row);
  drawSource(cell, removed);
}
