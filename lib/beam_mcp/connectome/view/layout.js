// Where every part is drawn: in columns, by how many steps it is away from the server. Modules that no server reaches
// stand by their distance from those that nobody calls, which stand at two steps; what has no edge at all comes last.
// The same graph is always drawn the same.
"use strict";

const ROW = 28, BOX = 20, GAP = 72, CHARACTER = 6.7, LONGEST = 34;

function layout(nodes, edges, room) {
  const next = neighbours(nodes, edges, "from", "to");
  const previous = neighbours(nodes, edges, "to", "from");
  const columns = ranked(nodes, next, previous);
  for (let sweep = 0; sweep < 6; sweep++) {
    columns.forEach((column, at) => sortBy(column, columns[at - 1], previous));
    columns.slice().reverse().forEach((column, at) => sortBy(column, columns[columns.length - at], next));
  }
  return place(columns, bestRows(columns, room));
}

function neighbours(nodes, edges, near, far) {
  const all = new Map(nodes.map((node) => [node.id, []]));
  for (const edge of edges) if (edge.from !== edge.to) all.get(edge[near]).push(edge[far]);
  return all;
}

function ranked(nodes, next, previous) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const rank = new Map();
  const alone = nodes.filter(({ id, kind }) => kind !== "server" && !next.get(id).length && !previous.get(id).length);
  for (const node of alone) rank.set(node.id, -1);

  spread(nodes.filter((node) => node.kind === "server"), 0, rank, next);
  const start = (node) => !rank.has(node.id) && !previous.get(node.id).some((id) => !rank.has(id));
  spread(nodes.filter(start), 2, rank, next);
  // What is left calls in circles: begin with whoever calls most.
  for (const node of [...nodes].sort((a, b) => next.get(b.id).length - next.get(a.id).length)) {
    if (!rank.has(node.id)) spread([node], 2, rank, next);
  }

  const columns = [];
  for (const [id, at] of rank) if (at >= 0) (columns[at] ??= []).push(byId.get(id));
  const shown = columns.map((column, at) => ({ title: title(at), nodes: column })).filter(({ nodes }) => nodes);
  if (alone.length) shown.push({ title: "without edges", nodes: alone });
  return shown.map((column) => Object.assign(column.nodes, { title: column.title }));
}

function spread(roots, from, rank, next) {
  let front = roots.map((node) => node.id).filter((id) => !rank.has(id));
  for (let at = from; front.length; at++) {
    front.forEach((id) => rank.set(id, at));
    front = [...new Set(front.flatMap((id) => next.get(id)))].filter((id) => !rank.has(id));
  }
}

const title = (at) => ["server", "1 step", "2 steps"][at] ?? `${at} steps`;

// A part goes to the height at which its neighbours in the column beside are, on average.
function sortBy(column, beside, neighbours) {
  if (!beside) return;
  const rows = new Map(beside.map((node, row) => [node.id, row / beside.length]));
  const height = new Map(column.map((node, row) => {
    const near = neighbours.get(node.id).map((id) => rows.get(id)).filter((row) => row !== undefined);
    return [node.id, near.length ? near.reduce((a, b) => a + b) / near.length : row / column.length];
  }));
  column.sort((a, b) => height.get(a.id) - height.get(b.id) || (a.id < b.id ? -1 : 1));
}

// A long column stands in several beside each other: with as many rows as let the whole be drawn largest.
function bestRows(columns, room) {
  const scale = (rows) => {
    const { width, height } = place(columns, rows);
    return Math.min(room.width / width, room.height / height);
  };
  const candidates = Array.from({ length: 55 }, (_, at) => at + 10);
  return candidates.reduce((best, rows) => (scale(rows) > scale(best) ? rows : best));
}

function place(columns, rows) {
  const titles = [];
  let x = 0, height = 0;
  for (const column of columns) {
    titles.push({ text: column.title, x });
    const share = Math.ceil(column.length / Math.ceil(column.length / rows));
    for (let first = 0; first < column.length; first += share) {
      const part = column.slice(first, first + share);
      const width = 46 + CHARACTER * Math.max(...part.map((node) => Math.min(LONGEST, node.name.length)));
      const top = ((Math.min(rows, longest(columns)) - part.length) * ROW) / 2;
      part.forEach((node, row) => Object.assign(node, { x, y: top + row * ROW, width }));
      height = Math.max(height, top + part.length * ROW);
      x += width + (first + share < column.length ? 24 : GAP);
    }
  }
  return { titles, width: Math.max(x - GAP, 1), height: Math.max(height, ROW) };
}

const longest = (columns) => Math.max(...columns.map((column) => column.length));

// From the right side of one box to the left side of the other; back to the left where the other is further left.
function path(from, to) {
  const middle = BOX / 2;
  if (from === to) {
    const x = from.x + from.width, y = from.y + middle;
    return `M${x},${y - 5}c26,-14 26,24 0,10`;
  }
  const forward = to.x > from.x + from.width;
  const level = !forward && to.x + to.width > from.x;
  const x1 = forward || level ? from.x + from.width : from.x;
  const x2 = forward ? to.x : to.x + to.width;
  const bend = level ? 34 + Math.abs(to.y - from.y) / 14 : Math.min(160, 26 + Math.abs(x2 - x1) / 3);
  const c1 = forward || level ? x1 + bend : x1 - bend;
  const c2 = forward ? x2 - bend : x2 + bend;
  return `M${x1},${from.y + middle}C${c1},${from.y + middle} ${c2},${to.y + middle} ${x2},${to.y + middle}`;
}
