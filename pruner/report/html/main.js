// Wiring: the address holds the state; every change of it draws the page anew.

const $ = (id) => document.getElementById(id);
let state = readState();
let byKeyboard = false, cameFrom = null, typing = 0, sizing = 0;

function change(part) {
  const next = writeState({ ...state, ...part });
  if (next === (location.hash || "#")) draw();
  else location.hash = next;
}

function choose(path, keyboard) {
  if (path === state.path) return;
  byKeyboard = keyboard;
  cameFrom = inside(state.path, path) ? state.path : null;
  change({ path, page: 0 });
}

function fill(select, all, options) {
  select.append(new Option(all, ""));
  for (const [value, text] of options) select.append(new Option(text, value));
}

function drawCrumbs(open) {
  const chain = [];
  for (let item = open; item; item = item.parent) chain.unshift(item);
  $("crumbs").replaceChildren(...chain.flatMap((item, index) => {
    const name = item.parent ? item.name : "all files";
    if (index === chain.length - 1) return [make("span", name, { "aria-current": "location" })];
    return [link(name, () => choose(item.path, true)), make("span", "/", { "aria-hidden": "true" })];
  }));
}

function draw() {
  state = readState();
  const open = byPath.get(state.path);
  const filtered = Boolean(state.kind || state.rule);
  $("kind").value = state.kind;
  $("rule").value = state.rule;
  $("language").value = state.language;
  $("order").value = state.order;
  if ($("query").value !== state.query) $("query").value = state.query;
  measure(state);
  drawCrumbs(open);
  drawMap($("map"), open, filtered, choose);
  drawContents($("contents"), state, open, filtered, choose);
  drawCauses($("causes"), state, change);
  drawWay($("why"), $("way"), open);
  const removals = drawLedger($("ledger"), state, change);
  $("found").textContent = number(removals) + " removals, " + number(open.before) + " lines before, " +
    number(open.after) + " after" + (filtered ? ", " + number(open.hit) + " removed by the choice" : "");
  if (byKeyboard) focusCell(cameFrom);
  byKeyboard = false;
}

// A keyboard user stays in the map: on the folder left behind when going up, else on the first cell.
function focusCell(path) {
  const all = [...$("map").querySelectorAll("button.cell")];
  const cell = all.find((item) => path && inside(path, item.dataset.path)) || all[0];
  if (cell) activate(cell);
}

function activate(cell) {
  for (const other of $("map").querySelectorAll("button.cell")) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

function keys(event) {
  const cell = event.target.closest("button.cell");
  if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key.startsWith("Arrow")) {
    const next = neighbour($("map").querySelectorAll("button.cell"), cell, event.key);
    if (next) activate(next);
    event.preventDefault();
  } else if (event.key === "Backspace" || event.key === "Escape") {
    const up = byPath.get(state.path).parent;
    if (up) choose(up.path, true);
    event.preventDefault();
  }
}

const THEMES = ["system", "light", "dark"];

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = "Theme: " + name;
}

function nextTheme() {
  const now = document.documentElement.dataset.theme || "system";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

const lines = new Map();
for (const file of data.files)
  for (let at = 0; at < file[SHARES].length; at += 3)
    for (const rule of data.shares[file[SHARES][at]][1]) lines.set(rule, (lines.get(rule) || 0) + file[SHARES][at + 1]);
const kinds = [...new Set([...data.causes, ...data.shares].map((cause) => cause[0]))].sort();
fill($("kind"), "any cause", kinds.map((kind) => [kind, kind]));
fill($("rule"), "any rule", data.rules.map((rule, index) => [rule[0], lines.get(index) || 0])
  .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  .map(([id, count]) => [id, id + " (" + number(count) + " lines)"]));
fill($("language"), "any language", [...data.languages].sort().map((name) => [name, name]));
for (const id of ["kind", "rule", "language", "order"])
  $(id).addEventListener("change", (event) => change({ [id]: event.target.value, page: 0 }));
$("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => change({ query: $("query").value, page: 0 }), 150);
});
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  change({ query: "", kind: "", rule: "", language: "", page: 0 });
});
$("map").addEventListener("keydown", keys);
$("theme").addEventListener("click", nextTheme);
addEventListener("hashchange", draw);
addEventListener("resize", () => {
  clearTimeout(sizing);
  sizing = setTimeout(draw, 150);
});
// The address is the state's, so the skip link must not write to it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("removals").focus();
  $("removals").scrollIntoView();
});
draw();
document.documentElement.dataset.ready = "yes";
