// The data and what a filter makes of it. No drawing here.

const data = JSON.parse(document.getElementById("data").textContent);
const FOLDER = 0, NAME = 1, LANGUAGE = 2, BEFORE = 3, AFTER = 4, SHARES = 5; // columns of data.files
const FILE = 0, FIRST = 1, LAST = 2, WHAT = 3, TITLE = 4, CAUSE = 5; // columns of data.rows

const number = (value) => value.toLocaleString("en-US");
const share = (part, whole) => (whole ? (100 * part / whole).toFixed(1) + "%" : "-");
const pathOf = (file) => (data.folders[file[FOLDER]] ? data.folders[file[FOLDER]] + "/" : "") + file[NAME];
const extent = (row) => row[LAST] - row[FIRST] + 1;

const paths = data.files.map(pathOf);
const lowPaths = paths.map((path) => path.toLowerCase());

function node(name, path, parent, file) {
  return { name, path, parent, file, children: new Map(), before: 0, after: 0, hit: 0, files: 0, left: 0 };
}

// A folder and a file may share a path (a file that became a folder), so leaves have their own key.
const root = node("all", "", null, -1);
const byPath = new Map([["", root]]);

function folderNode(path) {
  const known = byPath.get(path);
  if (known) return known;
  const cut = path.lastIndexOf("/");
  const parent = folderNode(cut < 0 ? "" : path.slice(0, cut));
  const made = node(path.slice(cut + 1), path, parent, -1);
  parent.children.set(path + "/", made);
  byPath.set(path, made);
  return made;
}

for (const path of data.folders) folderNode(path);
data.files.forEach((file, index) => {
  const parent = byPath.get(data.folders[file[FOLDER]]);
  const leaf = node(file[NAME], paths[index], parent, index);
  parent.children.set(paths[index], leaf);
  if (!byPath.has(paths[index])) byPath.set(paths[index], leaf);
});

const rowsOf = data.files.map(() => []);
data.rows.forEach((row, index) => rowsOf[row[FILE]].push(index));

// State lives in the address, so that a view can be linked and Back works.
const EMPTY = { path: "", query: "", kind: "", rule: "", language: "", order: "place", page: 0 };

function readState() {
  const state = { ...EMPTY };
  const words = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(EMPTY)) if (words.has(key)) state[key] = words.get(key);
  state.page = Math.max(0, Number.parseInt(state.page, 10) || 0);
  if (!byPath.has(state.path)) state.path = "";
  if (state.rule && !data.rules.some((rule) => rule[0] === state.rule)) state.rule = "";
  if (state.order !== "lines") state.order = "place";
  return state;
}

function writeState(state) {
  const words = new URLSearchParams();
  for (const key of Object.keys(EMPTY)) if (String(state[key]) !== String(EMPTY[key])) words.set(key, state[key]);
  return "#" + words.toString();
}

// Figures of every folder and file under the filters. `hit` is lines removed by the chosen cause and rule.
function measure(state) {
  const language = data.languages.indexOf(state.language);
  const rule = data.rules.findIndex((row) => row[0] === state.rule);
  const chosen = data.shares.map(([kind, rules]) =>
    (!state.kind || kind === state.kind) && (rule < 0 || rules.includes(rule)));
  for (const item of byPath.values()) clear(item);
  for (const item of byPath.values()) if (item.file < 0) for (const leaf of item.children.values()) clear(leaf);
  const visit = (leaf) => {
    const file = data.files[leaf.file];
    if (language >= 0 && file[LANGUAGE] !== language) return;
    let hit = 0;
    for (let at = 0; at < file[SHARES].length; at += 3) if (chosen[file[SHARES][at]]) hit += file[SHARES][at + 1];
    for (let item = leaf; item; item = item.parent) {
      item.before += Math.max(0, file[BEFORE]);
      item.after += Math.max(0, file[AFTER]);
      item.files += file[BEFORE] >= 0 ? 1 : 0;
      item.left += file[AFTER] >= 0 ? 1 : 0;
      item.hit += hit;
    }
  };
  for (const item of byPath.values())
    if (item.file < 0) for (const leaf of item.children.values()) if (leaf.file >= 0) visit(leaf);
}

function clear(item) {
  item.before = item.after = item.hit = item.files = item.left = 0;
}

// Is a file inside the folder (or the file itself) that is open?
function inside(path, open) {
  return !open || path === open || path.startsWith(open + "/");
}

// The removals that the filters leave, as indexes into data.rows.
function matching(state) {
  const language = data.languages.indexOf(state.language);
  const rule = data.rules.findIndex((row) => row[0] === state.rule);
  const query = state.query.trim().toLowerCase();
  const causes = data.causes.map(([kind, rules]) =>
    (!state.kind || kind === state.kind) && (rule < 0 || rules.includes(rule)));
  const files = data.files.map((file, index) =>
    (language < 0 || file[LANGUAGE] === language) && inside(paths[index], state.path));
  const found = [];
  data.rows.forEach((row, index) => {
    if (!files[row[FILE]] || !causes[row[CAUSE]]) return;
    if (query && !lowPaths[row[FILE]].includes(query) && !row[TITLE].toLowerCase().includes(query)) return;
    found.push(index);
  });
  if (state.order === "lines") found.sort((a, b) => extent(data.rows[b]) - extent(data.rows[a]) || a - b);
  return found;
}

// Lines by cause inside what is open and of the chosen language: [kind, rule or "", removed lines].
function causesHere(state) {
  const language = data.languages.indexOf(state.language);
  const sums = new Map();
  data.files.forEach((file, index) => {
    if ((language >= 0 && file[LANGUAGE] !== language) || !inside(paths[index], state.path)) return;
    for (let at = 0; at < file[SHARES].length; at += 3) {
      const [kind, rules] = data.shares[file[SHARES][at]];
      const rule = (kind === "fact" || kind === "rule") && rules.length ? data.rules[rules[0]][0] : "";
      const key = kind + "\n" + rule;
      sums.set(key, (sums.get(key) || 0) + file[SHARES][at + 1]);
    }
  });
  return [...sums].map(([key, removed]) => [...key.split("\n"), removed])
    .filter((row) => row[2] > 0)
    .sort((a, b) => b[2] - a[2] || (a[0] + a[1] < b[0] + b[1] ? -1 : 1));
}
