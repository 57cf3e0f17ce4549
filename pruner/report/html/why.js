// The way from a rule to the open file, drawn from the top down.

const STEP = 58, BOX = 30; // pixels

function wayTo(file) {
  const steps = [];
  for (let at = data.ways.of[file]; at !== undefined && at >= 0; at = data.ways.nodes[at][1]) steps.unshift(data.ways.nodes[at]);
  return steps;
}

function svg(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function edgeText([, , kind, file, line]) {
  return kind + (file >= 0 ? " at " + paths[file] + (line ? ":" + line : "") : "");
}

function drawWay(section, place, open) {
  const steps = open.file >= 0 && open.after > 0 ? wayTo(open.file) : [];
  section.hidden = !steps.length;
  place.replaceChildren();
  if (!steps.length) return;
  const name = (step) => step[0].startsWith("rule:") ? "rule " + step[0].slice(5) : step[0];
  const longest = Math.max(...steps.flatMap((step) => [name(step).length, edgeText(step).length + 3]));
  const width = Math.max(320, longest * 7.4 + 40), height = steps.length * STEP;
  const told = steps.map((step, index) => (index ? edgeText(step) + ": " : "") + name(step)).join("; ");
  const picture = svg("svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": told, class: "way" });
  steps.forEach((step, index) => {
    const y = index * STEP;
    if (index) {
      picture.append(svg("path", { d: "M20 " + (y - STEP + BOX) + "V" + (y - 5) + "m-4 -5l4 5l4 -5" }));
      picture.append(svg("text", { x: 32, y: y - 10, class: "edge" }, edgeText(step)));
    }
    picture.append(svg("rect", { x: 1, y: y + 1, width: name(step).length * 7.4 + 24, height: BOX - 2, rx: 5,
      class: index === steps.length - 1 ? "last" : step[0].startsWith("rule:") ? "rule" : "" }));
    picture.append(svg("text", { x: 12, y: y + 20 }, name(step)));
  });
  place.append(scroll(picture, "Why it is kept"));
}
