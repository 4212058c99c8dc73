// Draws the graph and what stands beside it, and answers to mouse, touch and keys.

const data = JSON.parse(document.getElementById("data").textContent);
const CLASSES = {
  both: "declared and observed", dead: "declared, never observed (dead authority)",
  drift: "observed, not declared (drift)", changed: "sign changed (drift)",
  declared: "declared", observed: "observed",
};
const SYMBOLS = { both: "●", dead: "○", drift: "▲", changed: "◆", declared: "", observed: "" };
const BADGES = { server: "S", tool: "T", resource: "R", prompt: "P", process: "p", module: "M", mfa: "ƒ", boundary: "B" };
const DENSE = 1200;

const nodes = data.nodes.map((node) => ({ ...node, name: shortName(node.id), badge: BADGES[node.kind === "module" ? node.level : node.kind] }));
const byId = new Map(nodes.map((node) => [node.id, node]));
const edges = data.edges;
const size = layout(nodes, edges, document.getElementById("graph").getBoundingClientRect());

const view = { x: 0, y: 0, scale: 1, chosen: null };
const svg = draw();
const canvas = svg.querySelector("#canvas");
aside();
fit();
bind();
if (byId.has(linked())) go(linked());

// A part can be linked to: file.html#its-id.
function linked() {
  return decodeURIComponent(location.hash.slice(1));
}

// The parts of an id after the server and the tag, in the writing of their names.
function shortName(id) {
  const parts = id.split("/").map((part) => part.replace(/%2F/g, "/").replace(/%25/g, "%"));
  if (parts[1] === "server") return parts[0];
  if (parts[1] === "boundary") return parts.slice(3).join("/");
  return parts.length > 4 ? `${parts[2]}.${parts[3]}/${parts[4]}` : parts.slice(2).join("/");
}

// A name written from right to left turns nothing round that stands beside it.
function isolated(name) {
  return `\u2068${name}\u2069`;
}

function shortened(name) {
  return name.length <= LONGEST ? name : `…${name.slice(1 - LONGEST)}`;
}

function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, run] of Object.entries(value)) made.addEventListener(event, run);
    else if (value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function draw() {
  const drawing = element("svg:svg", { role: "group", "aria-label": `Graph of ${nodes.length} parts and ${edges.length} edges` });
  const markers = ["both", "dead", "drift", "changed"].map(marker);
  const lines = edges.map((edge) => {
    const line = element("svg:path", { class: `edge ${edge.class}`, d: path(byId.get(edge.from), byId.get(edge.to)) });
    line.setAttribute("marker-end", `url(#${markers.some(({ id }) => id === edge.class) ? edge.class : "both"})`);
    line.append(element("svg:title", {}, sentence(edge)));
    edge.element = line;
    return line;
  });
  const first = nodes.find((node) => node.kind === "server") ?? nodes[0];
  const boxes = nodes.map((node) => box(node, node === first));
  const titles = size.titles.map(({ text, x }) => element("svg:text", { class: "column", x, y: -14 }, text));
  drawing.append(
    element("svg:defs", {}, ...markers),
    element("svg:g", { id: "canvas", class: edges.length > DENSE ? "dense" : null },
      ...titles, element("svg:g", {}, ...lines.filter(quiet)), element("svg:g", {}, ...boxes),
      element("svg:g", { class: "over" }, ...lines.filter((line) => !quiet(line)))),
  );
  document.getElementById("graph").prepend(drawing);
  return drawing;
}

// What is to be found is drawn over the boxes.
function quiet(line) {
  return !line.classList.contains("drift") && !line.classList.contains("changed");
}

function marker(id) {
  const d = id === "drift" ? "M0,0L10,5L0,10L3,5z" : id === "changed" ? "M0,5L5,0L10,5L5,10z" : "M1,1L9,5L1,9z";
  return element("svg:marker", {
    id, class: id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse",
    orient: "auto",
  }, element("svg:path", { d }));
}

function box(node, first) {
  const marks = { unseen: "○", undeclared: "▲" };
  const group = element("svg:g", {
    class: `node ${node.status ?? ""}`, transform: `translate(${node.x},${node.y})`, tabindex: first ? 0 : -1, role: "button",
    "aria-label": described(node), on: { click: () => choose(node), focus: () => reveal(node) },
  },
    element("svg:title", {}, described(node)),
    element("svg:rect", { width: node.width, height: BOX, rx: node.kind === "module" ? 3 : 10 }),
    element("svg:text", { class: "badge", x: 7, y: 14 }, node.badge),
    element("svg:text", { x: 22, y: 14 }, shortened(node.name)),
    element("svg:text", { class: "mark", x: node.width - 16, y: 14 }, marks[node.status] ?? ""));
  node.element = group;
  return group;
}

function described(node) {
  const status = { unseen: ", never observed", undeclared: ", not declared" }[node.status] ?? "";
  return `${node.kind !== "module" ? node.kind : node.level} ${node.name}${status}`;
}

function sentence(edge) {
  const weight = edge.weight === null || edge.weight === undefined ? "" : ` ×${edge.weight}`;
  const signs = edge.class === "changed" ? ` (${edge.declared_sign} → ${edge.observed_sign})` : "";
  return `${SYMBOLS[edge.class]} ${isolated(shortName(edge.from))} → ${isolated(shortName(edge.to))} ${edge.kind}${weight}${signs}, ${CLASSES[edge.class]}`.trim();
}

// --- choosing ---------------------------------------------------------------------------------

function choose(node) {
  view.chosen?.element.classList.remove("chosen");
  document.querySelectorAll(".near").forEach((near) => near.classList.remove("near"));
  view.chosen = node;
  canvas.classList.toggle("focused", node !== null);
  if (node) {
    const touching = edges.filter((edge) => edge.from === node.id || edge.to === node.id);
    for (const edge of touching) {
      edge.element.classList.add("near");
      edge.element.parentNode.append(edge.element);
      for (const id of [edge.from, edge.to]) byId.get(id).element.classList.add("near");
    }
    node.element.classList.add("near", "chosen");
    nodes.forEach((other) => other.element.setAttribute("tabindex", other === node ? 0 : -1));
  }
  details(node);
}

function go(id) {
  const node = byId.get(id);
  choose(node);
  if (view.scale < .8) zoom(.9 / view.scale);
  center(node);
  node.element.focus({ preventScroll: true });
}

// --- the view ---------------------------------------------------------------------------------

function apply() {
  canvas.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
}

// The whole where it stays readable, else its beginning.
function fit() {
  const { width, height } = svg.getBoundingClientRect();
  const whole = Math.min((width - 40) / size.width, (height - 70) / (size.height + 20));
  view.scale = Math.min(1.4, Math.max(.62, whole));
  view.x = whole >= .62 ? (width - size.width * view.scale) / 2 : 20;
  view.y = Math.max(44, (height - size.height * view.scale) / 2);
  if (size.height * view.scale > height) {
    const first = nodes.reduce((a, b) => (b.x < a.x ? b : a));
    view.y = Math.min(44, height / 2 - first.y * view.scale);
  }
  apply();
}

function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
  const scale = Math.min(4, Math.max(.08, view.scale * factor));
  view.x = x - ((x - view.x) * scale) / view.scale;
  view.y = y - ((y - view.y) * scale) / view.scale;
  view.scale = scale;
  apply();
}

function center(node) {
  view.x = svg.clientWidth / 2 - (node.x + node.width / 2) * view.scale;
  view.y = svg.clientHeight / 2 - (node.y + BOX / 2) * view.scale;
  apply();
}

function reveal(node) {
  const x = node.x * view.scale + view.x, y = node.y * view.scale + view.y;
  const seen = x > 0 && y > 0 && x + node.width * view.scale < svg.clientWidth && y + BOX < svg.clientHeight;
  if (!seen) center(node);
}

// --- beside the graph -------------------------------------------------------------------------

function aside() {
  document.getElementById("facts").append(...facts());
  document.getElementById("filters").append(
    ...filter("Edges by class", edges, "class", (name) => CLASSES[name], swatch),
    ...filter("Edges by kind", edges, "kind", (name) => name),
    ...filter("Parts by kind", nodes, "kind", (name) => name));
  document.getElementById("findings").append(...["drift", "changed", "dead"].map(findings));
  document.getElementById("difference").hidden = !data.coverage;
  document.getElementById("bound").append(...bound());
  details(null);
}

function facts() {
  const graphs = ["declared", "observed"].filter((side) => data[side]).flatMap((side) => [
    element("h3", {}, side), element("div", { class: "digest" }, `${data[side].algorithm}:${data[side].digest}`)]);
  const rows = Object.entries({ parts: nodes.length, edges: edges.length, ...data.coverage, ...data.window });
  return [table(rows), ...graphs];
}

function table(rows) {
  return element("dl", {}, ...rows.flatMap(([name, value]) => [
    element("dt", {}, name.replace(/_/g, " ")), element("dd", {}, typeof value === "string" ? value : JSON.stringify(value))]));
}

function filter(heading, things, key, text, picture = () => "") {
  const counts = new Map();
  for (const thing of things) counts.set(thing[key], (counts.get(thing[key]) ?? 0) + 1);
  if (counts.size < 2 && key !== "class") return [];
  const choices = [...counts].map(([name, count]) => {
    const input = element("input", { type: "checkbox", checked: "", on: { change: () => filtered(things, key, name, input.checked) } });
    return element("label", { class: "choice" }, input, picture(name), text(name), element("span", { class: "count" }, count));
  });
  return [element("fieldset", { style: "border:0;padding:0;margin:0" }, element("legend", {}, element("h3", {}, heading)), ...choices)];
}

function swatch(name) {
  return element("svg:svg", { width: 44, height: 12, "aria-hidden": "true" },
    element("svg:path", { class: `edge ${name}`, d: "M2,6H28" }),
    element("svg:text", { class: "node", x: 32, y: 10.5, fill: "currentColor", "font-size": 11 }, SYMBOLS[name]));
}

function filtered(things, key, name, on) {
  for (const thing of things) if (thing[key] === name) (thing.hidden ??= new Set())[on ? "delete" : "add"](key);
  for (const node of nodes) node.element.classList.toggle("off", off(node));
  for (const edge of edges) {
    edge.element.classList.toggle("off", off(edge) || off(byId.get(edge.from)) || off(byId.get(edge.to)));
  }
}

function off(thing) {
  return Boolean(thing.hidden?.size);
}

function findings(name) {
  const found = edges.filter((edge) => edge.class === name);
  return element("details", name === "dead" ? {} : { open: "" },
    element("summary", {}, `${SYMBOLS[name]} ${CLASSES[name]}: ${found.length}`),
    list(found, sentence, (edge) => edge.to));
}

function list(things, text, id) {
  return element("ul", {}, ...things.slice(0, 2000).map((thing) => element("li", {},
    element("button", { class: "link", type: "button", on: { click: () => go(id(thing)) } }, text(thing)))));
}

function bound() {
  if (!data.bound) return [element("p", { class: "soft" }, "Not given.")];
  return Object.entries(data.bound).map(([field, entries]) => element("details", {},
    element("summary", {}, `${field.replace(/_/g, " ")}: ${entries.length}`),
    element("ul", {}, ...entries.map((entry) => element("li", {}, plain(entry))))));
}

function plain(entry) {
  if (typeof entry === "string") return entry;
  return entry.list ? `${entry.list}: ${isolated(entry.entry)}` : `${isolated(entry.from)} → ${isolated(entry.to)}`;
}

function details(node) {
  const place = document.getElementById("details");
  if (!node) return place.replaceChildren(element("p", { class: "soft" }, "Choose a part to see its edges."));
  const labels = Object.entries(node.labels);
  const way = (heading, near, far) => {
    const found = edges.filter((edge) => edge[near] === node.id);
    return [element("h3", {}, `${heading}: ${found.length}`), list(found, sentence, (edge) => edge[far])];
  };
  place.replaceChildren(
    element("p", {}, element("strong", {}, described(node))), element("div", { class: "digest" }, node.id),
    ...(labels.length ? [table(labels)] : []), ...way("To", "from", "to"), ...way("From", "to", "from"));
}

// --- mouse, touch and keys ----------------------------------------------------------------------

function bind() {
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 400), event.clientX - at.left, event.clientY - at.top);
  }, { passive: false });
  pointers();
  svg.addEventListener("keydown", key);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape") { search.value = ""; find(); choose(null); }
  });
  const buttons = { in: () => zoom(1.3), out: () => zoom(1 / 1.3), fit, theme };
  for (const [name, run] of Object.entries(buttons)) document.getElementById(name).addEventListener("click", run);
  const search = document.getElementById("search");
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") document.querySelector("#hits button")?.click();
    if (event.key === "ArrowDown") { event.preventDefault(); document.querySelector("#hits button")?.focus(); }
  });
  document.getElementById("hits").addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextSibling", ArrowUp: "previousSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    (event.target.parentNode[step]?.firstChild ?? search).focus();
  });
}

// One pointer moves the view, two zoom it.
function pointers() {
  const down = new Map();
  const middle = () => [...down.values()].reduce((sum, at) => ({ x: sum.x + at.x / down.size, y: sum.y + at.y / down.size }), { x: 0, y: 0 });
  const apart = () => { const [a, b] = [...down.values()]; return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0; };
  svg.addEventListener("pointerdown", (event) => down.set(event.pointerId, { x: event.clientX, y: event.clientY }));
  window.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const before = middle(), distance = apart(), at = svg.getBoundingClientRect();
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = middle();
    view.x += after.x - before.x;
    view.y += after.y - before.y;
    svg.classList.add("moving");
    if (distance) zoom(apart() / distance, after.x - at.left, after.y - at.top); else apply();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, (event) => { down.delete(event.pointerId); svg.classList.remove("moving"); });
  }
}

function key(event) {
  const node = nodes.find((node) => node.element === document.activeElement);
  const run = {
    "+": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit, Enter: () => node && choose(node), " ": () => node && choose(node),
    ArrowDown: () => step(node, 0, 1), ArrowUp: () => step(node, 0, -1), ArrowRight: () => step(node, 1, 0), ArrowLeft: () => step(node, -1, 0),
  }[event.key];
  if (!run) return;
  event.preventDefault();
  run();
}

// To the nearest part that is drawn in that direction.
function step(node, right, downward) {
  if (!node) return;
  const distance = (other) => {
    const dx = other.x - node.x, dy = other.y - node.y;
    const along = dx * right + dy * downward, aside = Math.abs(right ? dy : dx);
    return along > 0 && (right || aside === 0) ? along + aside * 2 : Infinity;
  };
  const nearest = nodes.filter((other) => !off(other)).reduce((best, other) => (distance(other) < distance(best) ? other : best), node);
  if (nearest === node) return;
  node.element.setAttribute("tabindex", -1);
  nearest.element.setAttribute("tabindex", 0);
  nearest.element.focus({ preventScroll: true });
}

function find() {
  const text = document.getElementById("search").value.trim().toLowerCase();
  const found = text ? nodes.filter((node) => node.id.toLowerCase().includes(text) || node.name.toLowerCase().includes(text)) : [];
  for (const node of nodes) node.element.classList.toggle("hit", found.includes(node));
  const hits = found.slice(0, 50).map((node) => element("li", {},
    element("button", { type: "button", on: { click: () => { document.getElementById("hits").replaceChildren(); go(node.id); } } }, described(node))));
  document.getElementById("hits").replaceChildren(...hits);
  document.getElementById("found").textContent = text ? `${found.length} found` : "";
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
